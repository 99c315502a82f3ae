"""`tandem bridge --drive`: a lab commands an arm of Universal Robots; ur_driven.py plays its controller."""
import json
import math
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from mqtt import Client  # noqa: E402
from rig import Rig, free_port  # noqa: E402
from ur_driven import DrivenController  # noqa: E402
from waiting import limit_s, pass_time  # noqa: E402

WORK = [0.0, -1.2, 1.2, -1.5, -1.5, 0.0]
AWAY = [0.6, -1.2, 1.2, -1.5, -1.5, 0.2]


class Lab:
    """The lab's controller: sends commands, and collects replies."""

    def __init__(self, rig, pair):
        self.rig, self.pair, self.count, self.lock = rig, pair, 0, threading.Lock()
        self.replies, self.connections = [], []
        self.client = Client(rig.broker_port, f"lab-{pair}", clean=True, on_message=self.on_message,
                             topics=[f"tandem/v1/{pair}/real/reply", f"tandem/v1/{pair}/real/connection"])
        assert self.client.subscribed.wait(limit_s(10))

    def on_message(self, topic, payload):
        with self.lock:
            (self.replies if topic.endswith("reply") else self.connections).append(json.loads(payload))

    def send(self, op, **members):
        self.count += 1
        name = f"{self.pair}-{self.count}"
        self.client.publish(f"tandem/v1/{self.pair}/command", json.dumps({"id": name, "op": op, **members}))
        return name

    def answers(self, name):
        with self.lock:
            return [r for r in self.replies if r["id"] == name]

    def reply(self, name, status, seconds=20):
        self.rig.wait(lambda: self.answers(name), f"a reply to {name}", seconds)
        (reply,) = self.answers(name)
        assert reply["status"] == status, reply
        return reply

    def expect_order(self, *names):
        with self.lock:
            order = [r["id"] for r in self.replies if r["id"] in names]
        assert order == list(names), order

    def move(self, q, status="done", **members):
        return self.reply(self.send("movej", q_rad=q, **members), status)

    def wait_state(self, state, reason=""):
        def is_so():
            with self.lock:
                last = self.connections[-1] if self.connections else {}
            return last.get("state") == state and reason in last.get("reason", "")
        self.rig.wait(is_so, f"{state} {reason}", 20)


def near(got, want, most, what):
    assert abs(got - want) <= most, f"{what}: {got}, {want} +- {most} was expected"


def test_moves(lab, arm):
    for target, v, a in ((AWAY, 1.05, 1.4), (WORK, 2.0, 4.0)):
        reply = lab.move(target, v_radps=v, a_radps2=a)
        size = 0.6
        speed = min(v, math.sqrt(a * size))
        near(reply["t"] - reply["t_start"], size / speed + speed / a, 0.02, "motion")
        assert all(abs(reply["values"][f"q{i + 1}_rad"] - target[i]) < 1e-6 for i in range(6)), reply
        assert "calibrate" not in reply, reply
    names = [lab.send("movej", q_rad=q, v_radps=3, a_radps2=20) for q in (AWAY, WORK, AWAY, WORK)]
    for name in names:
        lab.reply(name, "done")
    order = [r["id"] for r in lab.replies if r["id"] in names]
    assert order == names, order
    assert len(arm.uploads) == 1
    lab.reply(lab.send("speedj", qd_radps=[0.1, 0, 0, 0, 0, 0], time_s=0.2), "done")


def test_stops(lab, arm):
    name = lab.send("movej", q_rad=AWAY, v_radps=0.3)
    waiting = lab.send("movej", q_rad=WORK)
    lab.rig.wait(lambda: arm.playing, "it moves")
    pass_time(0.5)
    halt = lab.send("halt", a_radps2=3)
    at_rest = lab.reply(halt, "done")
    lab.expect_order(name, waiting, halt)
    assert lab.reply(name, "halted")["detail"] == "stopped by halt"
    assert "had not begun" in lab.reply(waiting, "halted")["detail"]
    lasted_s = at_rest["t"] - at_rest["t_start"]
    assert 0.3 / 3 - 0.02 < lasted_s < 0.3 / 3 + limit_s(0.3), f"the stop took {lasted_s} s"
    near(at_rest["values"]["q1_rad"], stopped_at(arm)[0], 1e-6, "where it rests")
    stopped = lab.move(stopped_at(arm))
    assert 0.05 < stopped["values"]["q1_rad"] < 0.55, stopped
    lab.reply(lab.send("halt"), "done")
    lab.move(WORK)
    assert "nothing is locked" in lab.reply(lab.send("unlock"), "ignored")["detail"]


def test_slow_stop(lab, arm):
    """A move that comes while the arm still brakes waits until it rests."""
    name = lab.send("movej", q_rad=AWAY, v_radps=0.3)
    lab.rig.wait(lambda: arm.playing, "it moves")
    pass_time(0.5)
    stop = lab.send("stopj", a_radps2=0.1)
    back = lab.send("movej", q_rad=WORK)
    lab.reply(back, "done")
    lab.expect_order(name, stop, back)
    assert lab.reply(name, "halted")["detail"] == "stopped by stopj"
    stopped = lab.reply(stop, "done")
    assert stopped["t"] - stopped["t_start"] > 0.3 / 0.1 - 0.1, stopped


def test_harder_stop(lab, arm):
    """A second stop brakes harder than the first one: the first would go on for 100 s."""
    name = lab.send("movej", q_rad=AWAY, v_radps=0.3)
    lab.rig.wait(lambda: arm.playing, "it moves")
    pass_time(0.5)
    slow = lab.send("stopj", a_radps2=0.003)
    lab.reply(name, "halted")
    pass_time(0.5)
    halt = lab.send("halt")
    lab.reply(halt, "done")
    lab.expect_order(name, slow, halt)
    assert lab.reply(slow, "halted")["detail"] == "stopped by halt"
    lab.move(WORK)


def stopped_at(arm):
    with arm.lock:
        return arm.q


def test_refusals(lab, arm):
    before = arm.number(24)
    for members, word in (({"q_rad": [7.0] + WORK[1:]}, "joint_limit"), ({"pose": [2.0, 0, 0, 0, 0, 0]}, "out_of_reach"),
                          ({"q_rad": [0.0, 1.0] + WORK[2:]}, "collision"), ({}, "bad_value"),
                          ({"q_rad": AWAY, "time_s": 0.01}, "too_fast")):
        detail = lab.reply(lab.send("movej", **members), "error")["detail"]
        assert detail.startswith(word), (members, detail)
    for members, word in (({"qd_radps": [9.0] * 6, "time_s": 1}, "too_fast"), ({"qd_radps": [0.1] * 6}, "bad_value")):
        detail = lab.reply(lab.send("speedj", **members), "error")["detail"]
        assert detail.startswith(word), (members, detail)
    lab.reply(lab.send("lidar"), "ignored")
    lab.reply(lab.send("mode", external=True), "ignored")
    assert arm.number(24) == before, "a refused command was sent"


def test_pause(lab, arm):
    """More than the pair's timeout_s, and it is no timeout. No virtual arm answers here: earlier commands end first."""
    lab.rig.wait(lambda: lab.rig.get("/api/v1/pairs/arm")["outstanding"] == 0, "earlier commands are over", 30)
    name = lab.send("movej", q_rad=AWAY, v_radps=0.6)
    lab.rig.wait(lambda: arm.playing, "it moves")
    arm.set_slider(0.0)
    lab.rig.publish("tandem/v1/arm/virtual/reply", {"id": name, "status": "done"})
    pass_time(13.0)
    assert not lab.answers(name)
    arm.set_slider(1.0)
    reply = lab.reply(name, "done")
    assert reply["calibrate"] is False and "scaled" in reply["detail"], reply
    lab.rig.wait_stored("arm")
    (entry,) = [e for e in map(json.loads, lab.rig.records("arm", "entries")) if e["id"] == name]
    assert entry["real_lap_s"] > 13, f"a pause is a timeout: {entry}"
    lab.move(WORK)


def test_protective_stop(lab, arm):
    name = lab.send("movej", q_rad=AWAY, v_radps=0.3)
    lab.rig.wait(lambda: arm.playing, "it moves")
    arm.protective_stop()
    lab.reply(name, "blocked")
    lab.wait_state("offline", "protective stop")
    assert "protective stop" in lab.move(WORK, "error")["detail"]
    assert "5 s" in lab.reply(lab.send("unlock"), "error")["detail"]
    uploads = len(arm.uploads)
    pass_time(5.2)
    assert len(arm.uploads) == uploads, "a program was started although nobody has unlocked"
    lab.reply(lab.send("unlock"), "done")
    lab.wait_state("online")
    assert arm.orders[-1] == "unlock protective stop" and len(arm.uploads) == uploads + 1
    lab.move(WORK)


def test_local_mode(lab, arm):
    name = lab.send("movej", q_rad=AWAY, v_radps=0.3)
    lab.rig.wait(lambda: arm.playing, "it moves")
    arm.set_remote(False)
    lab.rig.wait(lambda: lab.answers(name), "the end of the move", 20)
    assert lab.answers(name)[0]["status"] in ("halted", "error"), lab.answers(name)
    lab.wait_state("offline", "local mode")
    assert "local mode" in lab.move(WORK, "error")["detail"]
    clients = arm.clients
    arm.set_remote(True)
    lab.wait_state("online")
    assert arm.clients > clients, "RTDE was not connected anew"
    lab.move(WORK)


def test_other_program(lab, arm):
    """Somebody starts a program of his own: the bridge does not end it."""
    uploads = len(arm.uploads)
    with arm.lock:
        arm.end_program()
        arm.registers[28] = 0
    lab.wait_state("offline", "stopped")
    assert "unlock" in lab.move(WORK, "error")["detail"]
    pass_time(0.5)
    assert len(arm.uploads) == uploads
    lab.reply(lab.send("unlock"), "done")
    lab.wait_state("online")
    lab.move(AWAY)


def test_refused_program(rig):
    """The controller takes no program, and says nothing."""
    arm = DrivenController()
    arm.takes_programs = False
    lab = Lab(rig, "mute")
    bridge = start_bridge(rig, arm, "mute")
    lab.wait_state("offline", "the controller starts no program")
    assert "30001" in lab.move(WORK, "error")["detail"]
    arm.takes_programs = True
    lab.wait_state("online")
    arm.kill()
    lab.wait_state("offline", "no RTDE")
    bridge.terminate()
    bridge.wait(limit_s(10))


def test_in_use(rig, arm):
    """A second bridge at the same controller."""
    log = rig.folder / "second.log"
    with open(log, "w") as out:
        lab = Lab(rig, "second")
        second = start_bridge(rig, arm, "second", stdout=out, stderr=out)
        rig.wait(lambda: "IN_USE" in log.read_text(), "a message about the registers", 20)
        lab.wait_state("offline", "IN_USE")  # from now on it receives commands
        reply = lab.move(WORK, "error")
        assert "IN_USE" in reply["detail"] and "values" not in reply and "t" not in reply, reply
        second.terminate()
        second.wait(limit_s(10))


def test_killed(lab, arm, bridge):
    """The watchdog ends the program of a bridge that was killed."""
    name = lab.send("movej", q_rad=WORK, v_radps=0.2)
    lab.rig.wait(lambda: arm.playing, "it moves")
    bridge.kill()
    bridge.wait()
    lab.rig.wait(lambda: not arm.playing, "the arm is stopped")
    assert not lab.answers(name)


class Ports:
    def __init__(self):
        self.port, self.primary_port, self.dashboard_port = free_port(), free_port(), free_port()


def test_simulated(rig):
    """A simulated arm is commanded the same way, along lines and arcs, too."""
    ports = Ports()
    rig.start("robot", "--kind", "arm6", "--pair", "bench", "--rtde", f"127.0.0.1:{ports.port}",
              "--primary", f"127.0.0.1:{ports.primary_port}", "--dashboard", f"127.0.0.1:{ports.dashboard_port}")
    lab = Lab(rig, "sim")
    bridge = start_bridge(rig, ports, "sim", arm="ur5")
    lab.wait_state("online")
    start = [0.0, -1.5708, -1.5708, -1.5708, 1.5708, 0.0]
    there = lab.move([0.4, -1.4, -1.7, -1.6, 1.5, 0.2], v_radps=2)
    assert abs(there["values"]["q1_rad"] - 0.4) < 1e-3, there
    back = lab.move(start, v_radps=2)["values"]
    pose = [back["x_m"] - 0.1, back["y_m"] + 0.05, back["z_m"]]
    turn = [-2.2214, 2.2214, 0.0]
    line = lab.reply(lab.send("movel", pose=pose + turn, v_mps=0.5), "done")
    assert max(abs(line["values"][k] - p) for k, p in zip(("x_m", "y_m", "z_m"), pose)) < 1e-3, line
    near(line["t"] - line["t_start"], math.hypot(0.1, 0.05) / 0.3663 + 0.3663 / 1.2, 0.1, "a triangle of speed")
    via = [pose[0] + 0.05, pose[1], pose[2] + 0.05]
    arc = lab.reply(lab.send("movec", via=via, pose=[pose[0] + 0.1, pose[1], pose[2]] + turn), "done")
    assert abs(arc["values"]["x_m"] - pose[0] - 0.1) < 1e-3, arc
    assert "turns" in lab.reply(lab.send("movec", via=via, pose=pose + turn, turns=2), "error")["detail"]
    name = lab.send("movej", q_rad=[1.5] + start[1:], v_radps=0.3)
    pass_time(1.0)
    halt, back = lab.send("halt", a_radps2=0.1), lab.send("movej", q_rad=start)
    lab.reply(back, "done")
    lab.reply(name, "halted")
    stop = lab.reply(halt, "done")
    assert stop["t"] - stop["t_start"] > 0.3 / 0.1 - 0.5, stop
    lab.expect_order(name, halt, back)
    name = lab.send("movej", q_rad=[1.5] + start[1:], v_radps=0.3)
    pass_time(1.0)
    slow, halt = lab.send("stopj", a_radps2=0.003), lab.send("halt")
    lab.reply(halt, "done")
    lab.expect_order(name, slow, halt)
    lab.move(start, v_radps=2)
    lab.reply(lab.send("speedj", qd_radps=[0.2, 0, 0, 0, 0, 0], time_s=0.5), "done")
    name = lab.send("movej", q_rad=[1.5] + start[1:], v_radps=0.3)
    lab.reply(lab.send("lidar"), "ignored")  # so the move before it has been sent
    bridge.terminate()
    assert bridge.wait(limit_s(10)) == 0
    assert lab.reply(name, "halted")["detail"] == "the bridge ends"


def test_options(rig):
    """An option that would do nothing is refused at the start."""
    bridge = ["bridge", "--ur", "127.0.0.1:1"]
    robot = ["robot", "--kind", "arm6", "--rtde", "127.0.0.1"]
    for line, word in ((bridge + ["--mode", "link"], "--mode"), (bridge + ["--arm", "ur5"], "--arm"),
                       (bridge + ["--floor", "0"], "--floor"), (bridge + ["--dashboard-port", "9"], "--dashboard-port"),
                       (bridge + ["--drive", "--commands", "received"], "--commands received"),
                       (robot + ["--primary", "0.0.0.0"], "--primary 0.0.0.0"),
                       (robot + ["--dashboard", "0.0.0.0", "--without-password"], "--allow-writes")):
        done = rig.start(*line, stderr=subprocess.PIPE, text=True)
        text = done.communicate(timeout=limit_s(10))[1]
        assert done.returncode == 2 and word in text and len(text.splitlines()) == 1, (line, text)


def start_bridge(rig, where, pair, arm="ur5e", **streams):
    return rig.start("bridge", "--ur", f"127.0.0.1:{where.port}", "--pair", pair, "--drive", "--arm", arm, "--floor", "0",
                     "--primary-port", str(where.primary_port), "--dashboard-port", str(where.dashboard_port), **streams)


def main():
    arm = DrivenController()
    arm.q = list(WORK)
    with Rig(pairs="arm: {timeout_s: 12}\n  mute: {timeout_s: 60}\n  second: {timeout_s: 60}\n  sim: {timeout_s: 60}\n  bench: {timeout_s: 60}") as rig:
        rig.start_daemon()
        lab = Lab(rig, "arm")
        log = rig.folder / "bridge.log"
        with open(log, "w") as out:
            bridge = start_bridge(rig, arm, "arm", stdout=out, stderr=out)
        try:
            lab.wait_state("online")
            assert "not a safety function" in log.read_text()
            test_moves(lab, arm)
            test_stops(lab, arm)
            test_slow_stop(lab, arm)
            test_harder_stop(lab, arm)
            test_refusals(lab, arm)
            test_pause(lab, arm)
            test_protective_stop(lab, arm)
            test_local_mode(lab, arm)
            test_other_program(lab, arm)
            test_in_use(rig, arm)
            test_killed(lab, arm, bridge)
            test_refused_program(rig)
            test_simulated(rig)
            test_options(rig)
        except BaseException:
            print(log.read_text(), file=sys.stderr)
            print(*lab.replies[-6:], *lab.connections[-4:], sep="\n", file=sys.stderr)
            raise
    print("ur_drive: fine")


main()
