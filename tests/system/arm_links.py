"""A virtual arm with the links of the real one: the poses of a real arm with wrong links are recorded from its
telemetry, its corrections are identified, and a virtual arm is started with them. Both do the same moves before
and after.
"""
import csv
import json
import math
import random
import statistics
import subprocess
import sys

sys.path.insert(0, "tests/support")
from rig import TANDEM, Rig  # noqa: E402
from waiting import limit_s  # noqa: E402

NOISE_M, NOISE_RAD = 5e-5, 1e-4
WORK = [0, -1.57, -1.57, -1.57, 1.57, 0]
# Link errors of the real arm: up to 1 mm and 3 mrad a link, and a wrist of 0.8 mm.
LINKS = {"link1_y_m": 0.0004, "link1_rx_rad": 0.0015, "link2_rx_rad": -0.002, "link2_x_m": -0.0008,
         "link3_rx_rad": 0.0027, "link3_x_m": 0.001, "link4_ry_rad": -0.001, "link4_rx_rad": 0.0012, "link5_rx_rad": 0.001, "link6_z_m": 0.0008}


class Lab:
    def __init__(self, rig):
        self.rig, self.path, self.count = rig, rig.folder / "heard", 0
        rig.run(["mosquitto_sub", "-p", rig.broker_port, "-q", "1", "-t", "tandem/v1/a1/#", "-F", "%t %p"],
                stdout=open(self.path, "w"))

    def said(self, topic):
        lines = (line.split(" ", 1) for line in self.path.read_text().split("\n")[:-1])
        return [json.loads(text) for t, text in lines if t == f"tandem/v1/a1/{topic}"]

    def move(self, q):
        """Moves both arms there and returns their replies."""
        self.count += 1
        id = f"m{self.count}"
        self.rig.publish("tandem/v1/a1/command", {"id": id, "op": "movej", "q_rad": q, "v_radps": 3, "a_radps2": 30})

        def answered():
            found = [[r for r in self.said(f"{side}/reply") if r["id"] == id] for side in ("real", "virtual")]
            answered.replies = [r[0] for r in found if r]
            return len(answered.replies) == 2
        self.rig.wait(answered, id, 20)
        return answered.replies

    def gap_mm(self, replies):
        assert all(r["status"] == "done" for r in replies), replies
        return 1e3 * math.dist(*([r["values"][name] for name in ("x_m", "y_m", "z_m")] for r in replies))


def draw_places(count, seed):
    """Joint angles around the work pose, the wrist in all directions, no two poses too close together."""
    source = random.Random(seed)
    spread = [1.2, 0.5, 0.6, 1.0, 1.0, 2.5]
    return [[q + source.uniform(-s, s) for q, s in zip(WORK, spread)] for _ in range(count)]


def record(lab, places, path):
    """Rows of angles and poses at rest from telemetry, with noise as a tracker would add."""
    gaps, noise = [], random.Random(path.name)
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow([*(f"q{j}" for j in range(1, 7)), "x", "y", "z", "rx", "ry", "rz"])
        for q in places:
            replies = lab.move(q)
            gaps.append(lab.gap_mm(replies))

            def rests():
                samples = [m for m in lab.said("real/telemetry")[-40:] if m["t"] > replies[0]["t"] + 0.1]
                rests.last = samples[-1:]
                return samples
            lab.rig.wait(rests, "a sample at rest")
            [m] = rests.last
            sd = 3 * [NOISE_M] + 3 * [NOISE_RAD]
            out.writerow([*m["pose"], *(x + noise.gauss(0, s) for x, s in zip(m["tcp"], sd))])
    return gaps


def start_virtual(rig, boots, *more):
    robot = rig.start("robot", "--kind", "arm6", "--pair", "a1", "--side", "virtual", "--pose", ",".join(map(str, WORK)),
                      *more)
    rig.wait(lambda: len(boots()) > start_virtual.count, "a virtual arm", 20)
    start_virtual.count = len(boots())
    return robot


start_virtual.count = 0


def main():
    with Rig("a1: {arm: ur5}") as rig:
        rig.start_daemon()
        lab = Lab(rig)

        def boots():
            return [m for m in lab.said("virtual/connection") if m["state"] == "online"]
        links = ", ".join(f"{name}: {value}" for name, value in LINKS.items())
        (rig.folder / "real.yaml").write_text(f"clearance_m: -1\nreal: {{{links}, noise_q_rad: 0.00005}}\n")
        rig.start("robot", "--kind", "arm6", "--pair", "a1", "--telemetry-rate", 25, "--parameters",
                  rig.folder / "real.yaml", "--pose", ",".join(map(str, WORK)))
        (rig.folder / "virtual.yaml").write_text("clearance_m: -1\n")
        nominal = start_virtual(rig, boots, "--parameters", rig.folder / "virtual.yaml")
        rig.wait_online("a1")
        files = [rig.folder / name for name in ("poses.csv", "others.csv")]
        before = record(lab, draw_places(40, 1), files[0]) + record(lab, draw_places(10, 2), files[1])
        nominal.terminate()
        assert nominal.wait(limit_s(10)) == 0
        links = rig.folder / "links.json"
        with open(links, "w") as out:
            subprocess.run([TANDEM, "identify", "--model", "arm_kinematics", "--json", "--validate", files[1],
                            files[0]], check=True, stdout=out)
        fit = json.loads(links.read_text())
        assert fit["verdict"] == "PASS", (fit["verdict"], fit["reasons"])
        start_virtual(rig, boots, "--parameters", rig.folder / "virtual.yaml", "--links", links)
        rig.wait_online("a1")
        lab.move(WORK)  # the new arm is in the work pose, the real one where it was
        after = [lab.gap_mm(lab.move(q)) for q in draw_places(12, 3)]
        print(f"tools apart: {statistics.fmean(before):.2f} mm, at most {max(before):.2f}, with nominal links; "
              f"{statistics.fmean(after):.4f} mm, at most {max(after):.4f}, with those that were found "
              f"(held out {1e3 * fit['held_out']['mean_m']:.4f} mm)")
        assert statistics.fmean(before) > 1.0 and statistics.fmean(after) < 0.05 and max(after) < 0.1, (before, after)
        line = lab.said("virtual/reply")[-1]["values"]
        assert line["tcp_error_m"] < 1e-4, line
    print("arm_links: fine")


if __name__ == "__main__":
    main()
