"""A pair of arms in link mode: both execute a command, or both refuse it with a reason and the share of the path.
Stops overtake other commands. Telemetry reports joints, tool, set points and currents. A later command interrupts
an arm. Every message satisfies its schema.
"""
import json
import math
import subprocess
import sys

sys.path.insert(0, "tests/support")
from message_schemas import check_messages, load  # noqa: E402
from rig import SOURCE, Rig  # noqa: E402
from waiting import limit_s  # noqa: E402

HALF_PI = math.pi / 2
WORK = [0, -HALF_PI, -HALF_PI, -HALF_PI, HALF_PI, 0]
POSE = [0.4869, -0.10915, 0.431859, -2.221441469, 2.221441469, 0]
FIRST = ["q1_rad", "q2_rad", "q3_rad", "q4_rad", "q5_rad", "q6_rad", "tcp_error_m", "path_error_m"]


class Lab:
    def __init__(self, rig):
        self.rig = rig
        self.path = rig.folder / "heard"
        rig.run(["mosquitto_sub", "-p", rig.broker_port, "-q", "1", "-R", "-t", "tandem/v1/#", "-F", "%t %p"],
                stdout=open(self.path, "w"))
        rig.wait(lambda: rig.publish("tandem/v1/probe/is/there", {}) or self.path.stat().st_size > 0, "a listener")

    def messages(self):
        lines = (line.split(" ", 1) for line in self.path.read_text().split("\n")[:-1])
        return [(topic.removeprefix("tandem/v1/"), json.loads(text)) for topic, text in lines if text]

    def replies(self, topic, id):
        return [m for t, m in self.messages() if t == topic and m.get("id") == id]

    def send(self, topic, id, op, **members):
        self.rig.publish(f"tandem/v1/{topic}", {"id": id, "op": op, **members})

    def answer(self, topic, id, seconds=20):
        self.rig.wait(lambda: self.replies(topic, id), f"an answer to {id} on {topic}", seconds)
        return self.replies(topic, id)[0]

    def both(self, id, status, word=""):
        for side in ("real", "virtual"):
            reply = self.answer(f"a1/{side}/reply", id)
            assert reply["status"] == status and word in reply.get("detail", ""), (side, reply)
        return self.answer("a1/reply", id)


def moves(lab):
    lab.send("a1/command", "j1", "movej", q_rad=[0.5, *WORK[1:]], v_radps=2, a_radps2=4)
    reply = lab.both("j1", "done")
    assert list(reply["values"])[:8] == FIRST, reply
    assert abs(reply["values"]["q1_rad"] - 0.5) < 1e-4 and reply["values"]["tcp_error_m"] < 1e-4, reply
    duration_s = reply["t"] - reply["t_start"]
    assert abs(duration_s - 2 * math.sqrt(0.5 / 4)) < 1e-3, duration_s
    lab.send("a1/command", "j2", "movej", pose=POSE)
    assert abs(lab.both("j2", "done")["values"]["x_m"] - POSE[0]) < 1e-4
    lab.send("a1/command", "l1", "movel", pose=[0.4869, -0.10915, 0.531859, *POSE[3:]], v_mps=0.5)
    reply = lab.both("l1", "done")
    assert abs(reply["values"]["z_m"] - 0.531859) < 1e-4 and reply["values"]["path_error_m"] < 1e-4, reply
    lab.send("a1/command", "c1", "movec", via=[0.4369, -0.05915, 0.531859],
             pose=[0.4869, -0.00915, 0.531859, *POSE[3:]])
    assert abs(lab.both("c1", "done")["values"]["y_m"] + 0.00915) < 1e-4
    lab.send("a1/command", "s1", "speedj", qd_radps=[0.5, 0, 0, 0, 0, 0], time_s=0.5)
    lab.both("s1", "done")
    lab.send("a1/command", "s2", "speedl", twist=[0, 0, -0.1, 0, 0, 0], time_s=0.5)
    lab.both("s2", "done")


def refusals(lab):
    before = lab.answer("a1/reply", "s2")["values"]
    lab.send("a1/command", "r1", "movel", pose=[-0.4, *POSE[1:]])
    lab.both("r1", "error", " of the path: ")
    lab.send("a1/command", "r2", "movej", q_rad=[7, 0, 0, 0, 0, 0])
    lab.both("r2", "error", "joint_limit: at 1.000 of the path: a joint would leave its range")
    lab.send("a1/command", "r3", "movej", q_rad=[1, 2])
    lab.both("r3", "error", "bad_value: ")
    lab.send("a1/command", "r4", "speedj", qd_radps=[1, 0, 0, 0, 0, 0])
    lab.both("r4", "error", "time_s")
    lab.send("a1/command", "r5", "movej", q_rad=[0] * 7)
    reply = lab.answer("a1/reply", "r5")
    assert reply["status"] == "error" and reply["code"] == "too_many" and reply["from"] == "tandem", reply
    lab.send("a1/command", "m1", "mode", cartesian=True)
    after = lab.both("m1", "done")["values"]
    assert all(abs(after[name] - before[name]) < 1e-3 for name in FIRST[:6]), (before, after)


def stops(lab):
    for stop in ("halt", "stopj"):
        # So slow that the arm still moves when a busy machine sends the stop.
        lab.send("a1/command", f"long-{stop}", "movej", q_rad=[3, *WORK[1:]], v_radps=0.05)
        lab.rig.wait(lambda: any(t == "a1/real/telemetry" and abs(m["nu"][0]) > 0.03 for t, m in lab.messages()[-8:]),
                     "it moves")
        lab.send("a1/command", stop, stop)
        assert lab.both(stop, "done")["values"]["q1_rad"] < 2.5
        lab.both(f"long-{stop}", "halted")


def interrupts(lab):
    robot = lab.rig.start("robot", "--kind", "arm6", "--pair", "b1", "--parameters", lab.rig.folder / "busy.yaml",
                          "--pose", "0,-1.5,-1.5,-1.5,1.5,0", "--telemetry-rate", 25, stdout=subprocess.PIPE, text=True)
    lab.rig.wait(lambda: any(t == "b1/real/connection" for t, _ in lab.messages()), "another arm")
    lab.send("b1/command", "i1", "movej", q_rad=[2, -1.5, -1.5, -1.5, 1.5, 0], v_radps=0.05)
    lab.rig.wait(lambda: any(t == "b1/real/telemetry" and m["nu"][0] > 0.03 for t, m in lab.messages()), "it moves")
    lab.send("b1/command", "i2", "movej", q_rad=[0, -1.5, -1.5, -1.5, 1.5, 0])
    first, second = lab.answer("b1/real/reply", "i1"), lab.answer("b1/real/reply", "i2")
    assert first["status"] == "halted" and second["status"] == "done", (first, second)
    assert first["t"] <= second["t_start"] + 1e-6 and abs(second["values"]["q1_rad"]) < 1e-3, (first, second)
    robot.terminate()
    said = robot.communicate(timeout=limit_s(10))[0]
    assert "2 commands, 2 replies" in said, said


def telemetry(lab):
    samples = {side: [m for t, m in lab.messages() if t == f"a1/{side}/telemetry"] for side in ("real", "virtual")}
    for side, messages in samples.items():
        assert len(messages) > 50, side
        for sample in messages[-10:]:
            for name in ("pose", "nu", "tau", "current_a", "tcp", "q_target", "qd_target"):
                assert len(sample[name]) == 6 and all(math.isfinite(x) for x in sample[name]), (name, sample)
            assert sample["mode"] == 1, sample


def main():
    with Rig("a1: {mode: link, value_tolerance_abs: 0.002}") as rig:
        (rig.folder / "busy.yaml").write_text("busy: interrupt\nreal: {speed_ratio: 0.9}\n")
        (rig.folder / "arms.yaml").write_text("arm: ur5\nvirtual: {lag1_s: 0.05}\n")
        rig.start_daemon()
        lab = Lab(rig)
        robots = rig.start("robot", "--kind", "arm6", "--pair", "a1", "--side", "both", "--mode", "link",
                           "--parameters", rig.folder / "arms.yaml", "--telemetry-rate", 25, stdout=subprocess.PIPE,
                           text=True)
        rig.wait_online("a1")
        moves(lab)
        refusals(lab)
        stops(lab)
        telemetry(lab)
        interrupts(lab)
        rig.wait(lambda: rig.get("/api/v1/pairs/a1")["outstanding"] == 0, "all is closed")
        rig.wait_stored("a1")
        entries = [json.loads(e) for e in rig.records("a1", "entries")]
        whole = [e for e in entries if e["op"] not in ("stopj", "halt") and not e["id"].startswith("long")]
        assert whole and all(e["consistent"] is not False for e in whole), whole
        check_messages(load(SOURCE), "tandem/v1", [(f"tandem/v1/{t}", m) for t, m in lab.messages()
                                                   if not t.startswith("probe") and '"id": "r5"' not in json.dumps(m)])
        robots.terminate()
        said = robots.communicate(timeout=limit_s(10))[0]
        assert " 0 dropped, 0 malformed" in said, said
    print("arm: fine")


if __name__ == "__main__":
    main()
