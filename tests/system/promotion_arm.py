"""Two arms that differ: the virtual one moves as commanded, the real one slower, later, and more so on lines. With
`promote: auto` the virtual arm gets the real one's times, and the tools stay together during moves.
"""
import json
import math
import random
import statistics
import sys

from message_schemas import check_messages, load
from rig import SOURCE, Rig, cut_records, member, replay

HALF_PI = math.pi / 2
WORK = [0, -HALF_PI, -HALF_PI, -HALF_PI, HALF_PI, 0]
POSE = [0.4869, -0.10915, 0.431859, -2.221441469, 2.221441469, 0]
REAL = "{speed_ratio: 0.9, t0_s: 0.05, line_acceleration_ratio: 0.8, noise_s: 0.002}"
QUICK = dict(v_radps=2, a_radps2=8), dict(v_mps=0.4, a_mps2=4)
BEFORE = 20  # fewer moves promote nothing
MOVES = 40


class Arms:
    def __init__(self, rig):
        self.rig, self.count, self.random = rig, 0, random.Random(3)
        self.received = rig.folder / "heard"
        rig.run(["mosquitto_sub", "-p", rig.broker_port, "-q", "1", "-R", "-t", "tandem/v1/#", "-F", "%t %p"],
                stdout=open(self.received, "w"))
        rig.wait(lambda: rig.publish("tandem/v1/probe/is/there", {}) or self.received.stat().st_size > 0, "a listener")

    def messages(self):
        lines = (line.split(" ", 1) for line in self.received.read_text().split("\n")[:-1])
        return [(topic, json.loads(text)) for topic, text in lines if text and "/probe/" not in topic]

    def command(self, op, **members):
        self.count += 1
        self.rig.publish("tandem/v1/a1/command", {"id": f"c{self.count}", "op": op, **members})
        self.rig.wait(lambda: self.rig.get("/api/v1/pairs/a1")["entries"] == self.count, f"entry {self.count}")

    def drive(self, moves):
        """Moves out and back with the joints, up and down with the tool, half of them too short for full speed.
        Median |lag| in s, median gap in mm: on a busy machine single moves are late.
        """
        joints, lines = QUICK
        before = self.count
        for k in range(moves // 4):
            turn = self.random.choice((0.2, 1.5)) * self.random.uniform(0.2, 1)
            self.command("movej", q_rad=[turn if k % 2 else -turn, *WORK[1:]], **joints)
            self.command("movej", q_rad=WORK, **joints)
            up = self.random.choice((0.04, 0.25)) * self.random.uniform(0.2, 1)
            self.command("movel", pose=[*POSE[:2], POSE[2] + up, *POSE[3:]], **lines)
            self.command("movel", pose=POSE, **lines)
        self.rig.wait_stored("a1")
        entries = [json.loads(entry) for entry in self.rig.records("a1", "entries")[before:]]
        lag_s = statistics.median(abs(e["real_motion_s"] - e["virtual_motion_s"]) for e in entries)
        gap_mm = statistics.median(e["tool_gap_max_mm"] for e in entries if "tool_gap_max_mm" in e)
        print(f"lag {lag_s:.4f} s, gap {gap_mm:.1f} mm, {self.parameters()['simulator']}")
        return lag_s, gap_mm

    def objections(self):
        changes = json.loads(self.rig.fetch("/api/v1/pairs/a1/parameters/changes?limit=20"))["changes"]
        return [[k for k in change.get("checks", []) if k["verdict"] != "PASS"] for change in changes]

    def parameters(self):
        return self.rig.get("/api/v1/pairs/a1/parameters")


def main():
    with Rig("a1: {arm: ur5, parameters: {promote: auto, propose_every: 5}}") as rig:
        (rig.folder / "arms.yaml").write_text(f"arm: ur5\nreal: {REAL}\nvirtual: {{noise_s: 0.002}}\n")
        rig.start_daemon()
        arms = Arms(rig)
        rig.start("robot", "--kind", "arm6", "--pair", "a1", "--side", "both", "--parameters", rig.folder / "arms.yaml",
                  "--telemetry-rate", 50)
        rig.wait_online("a1")
        arms.command("movej", q_rad=WORK)
        before = arms.drive(BEFORE)
        arms.drive(MOVES)
        assert arms.parameters()["active"], arms.objections()
        after = arms.drive(MOVES)
        assert after[0] < 0.01 and after[0] < before[0] / 5, (before, after)
        assert after[1] < before[1] / 3, (before, after)
        sent = arms.parameters()
        assert sent["simulator"]["state"] != "misses", sent
        assert abs(sent["active"]["values"]["joint_speed_ratio"] - 0.9) < 0.02, sent
        assert abs(sent["active"]["adjust"]["line_acceleration_ratio"]["factor"] - 0.8) < 0.1, sent
        check_messages(load(SOURCE), "tandem/v1", arms.messages())
        rig.wait_stored("a1")
        path = "/api/v1/pairs/a1/parameters/changes?order=oldest&limit=500"
        live = cut_records(rig.fetch(path), "changes")
        rig.stop_daemon()
        document = replay(rig.lab, rig.folder / "journal")
        assert cut_records(member(member(document, "pairs"), "a1"), "changes") == live
        print(f"promotion_arm: {len(live)} changes replay to the same bytes")


if __name__ == "__main__":
    sys.exit(main())
