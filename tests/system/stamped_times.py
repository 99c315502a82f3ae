"""A table of entries has laps, and motions by the robot's own stamps, which are without the network's 20 ms. A fit
takes the motions and says so; rows without one count by their lap; a column that is named is taken.
"""
import json
import os
import random
import subprocess
import tempfile

T0_S, NETWORK_S = 0.048, 0.020


def write(path, seed, side, stamped):
    chance = random.Random(seed)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"pair,op,rotation_rad,displacement_m,{side}_lap_s,{side}_status,{side}_motion_s\n")
        for k in range(60):
            turn = chance.choice((0, chance.uniform(-2, 2)))
            drive = chance.uniform(0.1, 1) if turn == 0 else chance.choice((0, chance.uniform(0.1, 1)))
            motion = T0_S + abs(turn) / 3 + drive / 0.9 + chance.gauss(0, 0.002)
            file.write(f"r1,go,{turn},{drive},{motion + NETWORK_S:.6f},done,{f'{motion:.6f}' if k < stamped else ''}\n")


def write_arm(path, stamped):
    chance = random.Random(3)
    with open(path, "w", encoding="ascii") as file:
        file.write("op,rotation_rad,displacement_m,real_lap_s,real_status" + (",real_motion_s\n" if stamped else "\n"))
        for _ in range(60):
            turn = chance.uniform(0.1, 3)  # at 1.05 rad/s and 1.4 rad/s^2
            time_s = turn / 1.05 + 0.75 if turn > 0.7875 else 2 * (turn / 1.4) ** 0.5
            motion = T0_S + time_s + chance.gauss(0, 0.002)
            late = f"{motion + NETWORK_S:.6f},done,{motion:.6f}" if stamped else f"{motion:.6f},done"
            file.write(f"movej,{turn},0,{late}\n")


def identify(path, side, *options, model="travel_time"):
    command = [os.environ["TANDEM"], "identify", "--model", model, "--side", side, *options, path]
    page = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True).stdout
    values = subprocess.run([*command[:-1], "--json", path], stdout=subprocess.PIPE, check=False).stdout
    document = json.loads(values)
    values, counts = document["values"], (document["motions"], document["laps"])
    return page, values.get("t0_s", values.get("joint_t0_s")), counts


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "entries.csv")
        for seed, side in enumerate(("real", "virtual")):
            write(path, seed, side, 60)
            page, t0_s, counts = identify(path, side)
            assert counts == (60, 0), counts
            assert "times: 60 by the robot's stamps of start and end, 0 laps" in page, page
            assert abs(t0_s - T0_S) < 0.004, t0_s
            page, t0_s, counts = identify(path, side, "--columns", f"lap_s={side}_lap_s")
            assert counts == (0, 60), counts
            assert "times:" not in page and abs(t0_s - T0_S - NETWORK_S) < 0.004, (t0_s, page)
            write(path, seed, side, 0)
            page, t0_s, counts = identify(path, side)
            assert counts == (0, 60), counts
            assert "times: 0 by the robot's stamps of start and end, 60 laps" in page, page
            assert abs(t0_s - T0_S - NETWORK_S) < 0.004, t0_s
        arms = []
        for stamped in (True, False):
            write_arm(path, stamped)
            page, t0_s, counts = identify(path, "real", model="arm_time")
            assert counts == ((60, 0) if stamped else (0, 60)), counts
            assert ("times: 60 by" in page) == stamped, page
            arms.append(t0_s)
        assert arms[0] == arms[1] is not None, arms
        write(path, 7, "real", 25)  # held-out moves do not count
        assert identify(path, "real", "--validate", path)[2] == (25, 35)


if __name__ == "__main__":
    main()
