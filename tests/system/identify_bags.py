"""identify_bags.py: see identify_bags.sh."""
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import ros_bag

TANDEM = os.environ["TANDEM"]
T0 = 1795154400 * 10**9
GAIN, TAU, DELAY, DT = 0.92, 0.3, 0.1, 0.05
TYPES = {"/cmd_vel": "geometry_msgs/msg/Twist", "/odom": "nav_msgs/msg/Odometry"}


def tandem(*words, code=0):
    run = subprocess.run([TANDEM, *map(str, words)], capture_output=True, text=True)
    assert run.returncode == code, (words, run.returncode, run.stdout, run.stderr)
    return run


def identify(*words, code=0):
    return tandem("identify", *words, code=code)


def drive(seed=1):
    """A robot with a gain and a time constant; the odometry arrives 20 ms late, and up to 60 ms later than that. Its
    clock is 1000 s behind the recorder's. Rows (t, command, speed) are the truth.
    """
    draw = random.Random(seed)
    messages, rows = [], []
    command, until, v, w = (0.0, 0.0), 0.0, 0.0, 0.0
    applied = []
    for k in range(2400):
        t = k * DT
        if t >= until:
            command, until = (draw.uniform(0.1, 0.6), draw.uniform(-1.2, 1.2)), t + draw.uniform(1, 3)
        if k % 4 == 0:
            messages.append(("/cmd_vel", T0 + round(t * 1e9), ros_bag.twist(*command)))
            held = command
        applied.append(held)
        late = applied[max(0, k - round(DELAY / DT))]
        a = math.exp(-DT / TAU)
        stamp = T0 + round(t * 1e9) - 1000 * 10**9
        log = T0 + round((t + 0.02 + abs(draw.gauss(0, 0.015))) * 1e9)
        noisy = v + draw.gauss(0, 0.003), w + draw.gauss(0, 0.01)
        messages.append(("/odom", log, ros_bag.odometry(stamp, *noisy)))
        rows.append((t, *held, *noisy))
        v, w = a * v + (1 - a) * GAIN * late[0], a * w + (1 - a) * late[1]
    messages.sort(key=lambda m: m[1])
    return messages, rows


def forward(document):
    """Gain and time constant of driving."""
    values = document["values"]
    return 1 / values["forward_drag_ratio"], values["forward_inertia_s"] / values["forward_drag_ratio"]


def check_fit(folder, messages, rows):
    ros_bag.write_mcap(folder / "walk.mcap", TYPES, messages)
    ros_bag.write_sqlite(folder / "walk.db3", TYPES, messages)
    with open(folder / "walk.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow("t_s v_cmd_mps w_cmd_radps v_mps w_radps".split())
        writer.writerows([[f"{x:.12g}" for x in row] for row in rows])
    results = {end: json.loads(identify("--model", "diffdrive", "--json", folder / f"walk.{end}").stdout)
               for end in ("mcap", "db3", "csv")}
    for end in ("mcap", "db3"):
        gain, tau = forward(results[end])
        assert abs(gain - GAIN) < 0.01 and abs(tau - TAU) < 0.03, (end, gain, tau)
        assert abs(tau - forward(results["csv"])[1]) < 0.02, (end, tau, results["csv"]["values"])
    delays = [json.loads(identify("--model", "diffdrive", "--json", "--clock", clock, folder / "walk.mcap").stdout)
              ["delay_s"]["value"] for clock in ("stamps", "log")]
    print("delay by stamps and by log time:", *delays)
    assert abs(delays[0] - DELAY) < abs(delays[1] - DELAY), delays
    named = identify("--model", "diffdrive", "--json", "--columns", "u_cmd=/cmd_vel.linear.x,w_cmd=/cmd_vel.angular.z,"
                     "u=/odom.twist.twist.linear.x,w=/odom.twist.twist.angular.z", folder / "walk.db3").stdout
    assert abs(forward(json.loads(named))[0] - GAIN) < 0.01


def check_list(folder):
    out = identify("--list", folder / "walk.mcap").stdout.splitlines()
    assert len(out) == 2 and "decodable" in out[0] and " 600 " in out[0], out
    data = (folder / "walk.mcap").read_bytes()
    (folder / "torn.mcap").write_bytes(data[:len(data) * 2 // 3])
    assert "torn" in identify("--list", folder / "torn.mcap").stdout
    run = identify("--model", "diffdrive", folder / "torn.mcap")
    assert "torn" in run.stderr, run.stderr


def check_joint(folder):
    """A joint of many, by its name; the order of names changes on the way."""
    draw = random.Random(5)
    messages, v = [], 0.0
    for k in range(3000):
        effort = 2.0 * math.sin(0.002 * k * (1 + k / 3000)) + draw.choice((-0.5, 0.5))
        joints = {"base": (0, 9, 9), "left elbow": (0.0, v, effort), "wrist/roll": (1, 1, 1)}
        if k % 2:
            joints = dict(reversed(joints.items()))
        messages.append(("/joint_states", T0 + k * 10**7, ros_bag.joint_state(T0 + k * 10**7, joints)))
        v += 0.01 * (effort - 0.5 * v) / 0.2
    ros_bag.write_mcap(folder / "arm.mcap", {"/joint_states": "sensor_msgs/msg/JointState"}, messages)
    words = "effort=/joint_states.effort[left elbow],velocity=/joint_states.velocity[left elbow]"
    fit = json.loads(identify("--model", "joint", "--json", "--columns", words, folder / "arm.mcap").stdout)
    assert abs(fit["values"]["inertia"] - 0.2) < 0.01, fit["values"]


def check_errors(folder, messages):
    two = {**TYPES, "/teleop": "geometry_msgs/msg/Twist"}
    ros_bag.write_mcap(folder / "two.mcap", two, messages + [("/teleop", T0, ros_bag.twist(0, 0))])
    assert "two topics of Twist: /cmd_vel, /teleop; say which by --topics" in identify(
        "--model", "diffdrive", folder / "two.mcap", code=2).stderr
    identify("--model", "diffdrive", "--topics", "command=/cmd_vel", folder / "two.mcap")
    base = ["--model", "diffdrive", folder / "walk.mcap"]
    for words, code, said in [
            (["--topics", "command=/none"], 1, "/cmd_vel Twist, /odom Odometry"),
            (["--topics", "drive=/odom"], 2, "drive"),
            (["--columns", "u=/odom.twist.linear.x"], 2, "twist.linear.x"),
            (["--columns", "u=/nothing.x"], 1, "there are /cmd_vel Twist"),
            (["--clock", "sun"], 2, "stamps|log")]:
        run = identify(*base, *words, code=code)
        assert said in run.stderr, (words, run.stderr)
    odometry = {"/odom": TYPES["/odom"]}
    ros_bag.write_mcap(folder / "odom.mcap", odometry, [m for m in messages if m[0] == "/odom"])
    assert "no topic of Twist" in identify("--model", "diffdrive", folder / "odom.mcap", code=1).stderr
    # Some messages are cut, then all of them.
    broken = [(t, ns, data[:40] if t == "/odom" and k % 50 == 7 else data) for k, (t, ns, data) in enumerate(messages)]
    ros_bag.write_mcap(folder / "broken.mcap", TYPES, broken)
    run = identify("--model", "diffdrive", folder / "broken.mcap")
    assert "messages cannot be decoded; the first: /odom, message" in run.stderr, run.stderr
    first = next(k for k, m in enumerate(messages) if m[0] == "/odom")
    rest = [(t, ns, data if k == first or t != "/odom" else data[:9]) for k, (t, ns, data) in enumerate(messages)]
    ros_bag.write_mcap(folder / "all.mcap", TYPES, rest[:first] + rest[first + 1:])
    identify("--model", "diffdrive", folder / "all.mcap", code=1)
    damaged = bytearray((folder / "walk.mcap").read_bytes())
    damaged[20000] ^= 4
    (folder / "damaged.mcap").write_bytes(damaged)
    assert "CRC" in identify("--model", "diffdrive", folder / "damaged.mcap", code=1).stderr
    lab = folder / "lab.yaml"
    lab.write_text("pairs: {r1: {}}\n")
    for name in ("walk.mcap", "walk.db3"):
        for words in (["replay"], ["report", "-o", folder / "no.html"], ["export", "-o", folder / "no.jsonl"],
                      ["compare"]):
            again = [folder / name] if words == ["compare"] else []
            said = tandem(*words, "-c", lab, folder / name, *again, code=1).stderr
            assert "tandem identify reads it" in said and "nothing is in it" not in said and said.count("\n") <= 2, said
    whole = (folder / "walk.db3").read_bytes()
    for missing in (1, 2000, 4096):
        (folder / "cut.db3").write_bytes(whole[:-missing])
        for words in (["--list"], ["--model", "diffdrive"]):
            assert "cannot be read as a bag" in identify(*words, folder / "cut.db3", code=1).stderr, missing
    (folder / "note.txt").write_text("no bag\n")
    identify("--list", folder / "note.txt", code=1)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        messages, rows = drive()
        check_fit(folder, messages, rows)
        check_list(folder)
        check_joint(folder)
        check_errors(folder, messages)
    print("identify: bags give the robot that was recorded")


sys.exit(main())
