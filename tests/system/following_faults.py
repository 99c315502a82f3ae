"""Faults of a lab, one after the other, while a virtual vessel follows a real one. Every effort that the virtual
vessel receives is a number within its limits, and it follows again by itself each time. In the end the journal
replays to the same efforts and figures.
"""
import datetime
import json
import math
import os
import pathlib
import signal
import threading
import time

from relay import Relay, Writer
from rig import Rig, member, replay
from waiting import limit_s, pass_time

STEM = "tandem/v1/r1"
TOKEN = "secret-of-the-test"
LIMITS = [200, 200, 120]
WINDOW_S = 2
TIMES_LESS = 20
PAIR = f"""r1:
    probe_interval_s: 0.5
    following:
      model: usv3
      real: iacquabot
      virtual: wamv
      limits: {str(LIMITS)[1:-1]}
      noise_sd: 0.0003, 0.0003, 0.0003
      pose_per_s2: 6
      window_s: {WINDOW_S}"""
ROBOTS = """real:
  vessel: iacquabot
  actuation: allocated
  noise_u_mps: 0.0003
  noise_v_mps: 0.0003
  noise_r_radps: 0.0003
virtual:
  vessel: wamv
  effort_timeout_s: 0.5
"""


class Pilot:
    """Drives the real vessel, and at first the virtual one with the same efforts."""

    def __init__(self, rig):
        self.both = True
        self.real, self.virtual = Writer(rig, "raw/r1/real/control"), Writer(rig, f"{STEM}/virtual/control")
        threading.Thread(target=self.steer, daemon=True).start()

    def steer(self):
        began = time.monotonic()
        while True:
            t = time.monotonic() - began
            tau = [50 + 15 * math.sin(t / 2), 0, 10 + 8 * math.sin(t / 1.4) + 4 * math.sin(t * 2)]
            self.real.say(json.dumps({"tau": tau}))
            if self.both:
                self.virtual.say(json.dumps({"tau": tau, "by": "pilot"}))
            pass_time(0.05)


class Lab:
    def __init__(self, rig):
        self.rig = rig
        (rig.folder / "robots.yaml").write_text(ROBOTS)
        # A persistent session: it misses nothing that the broker accepted.
        self.received = rig.folder / "efforts"
        self.silences = []
        rig.run(["mosquitto_sub", "-p", rig.broker_port, "-c", "-i", "listener", "-q", "1", "-t",
                 f"{STEM}/virtual/control", "-F", "%p"], stdout=open(self.received, "w"))
        rig.start_daemon()
        self.probes = Relay(rig, f"{STEM}/real/probe", "raw/r1/real/probe")
        self.relays = [Relay(rig, f"raw/r1/real/{what}", f"{STEM}/real/{what}") for what in ("telemetry", "echo")]
        self.robots = {}
        self.start_robot("real")
        self.start_robot("virtual")
        self.pilot = Pilot(rig)

    def start_robot(self, side):
        prefix = ("--prefix", "raw") if side == "real" else ()
        self.robots[side] = self.rig.start("robot", "--kind", "usv3", "--pair", "r1", "--side", side, "--telemetry-rate",
                                           "50", "--parameters", self.rig.folder / "robots.yaml", *prefix)

    def stop_robot(self, side):
        self.robots[side].terminate()
        assert self.robots[side].wait(limit_s(10)) == 0

    def get(self, what):
        return self.rig.get(f"/api/v1/pairs/r1/{what}")

    def follow(self):
        self.pilot.both = False
        self.rig.fetch("/api/v1/pairs/r1/following", "PUT", b'{"active":true}', TOKEN)

    def rmse(self):
        states = self.get("fidelity")["states"]
        return [states[name]["rmse"] for name in "uvr"]

    def state_is(self, *states):
        return self.get("following")["state"] in states

    def wait_state(self, *states, seconds=15):
        self.rig.wait(lambda: self.state_is(*states), f"{states}, but {self.get('following')}", seconds)

    def follows(self):
        return self.state_is("TRACKING") and all(now is not None and now * TIMES_LESS <= before
                                                 for now, before in zip(self.rmse(), self.before))

    def wait_follows(self, what, seconds=90):
        """Waits until the twin follows as accurately as required, over a window that begins now."""
        began = time.monotonic()
        pass_time(WINDOW_S + 0.1)
        try:
            self.rig.wait(self.follows, what, seconds)
        except AssertionError as e:
            raise AssertionError(f"{what}: {self.before} before, {self.rmse()} now, {self.get('following')}") from e
        print(f"{what}: follows again after {time.monotonic() - began:.1f} s, {self.rmse()}", flush=True)

    def network(self, **faults):
        """Telemetry of the real robot from now on."""
        for relay in self.relays:
            for name, value in faults.items():
                setattr(relay, name, value)

    def stay_silent(self, seconds):
        """No effort computed meanwhile may be published, not even later."""
        began = time.time()
        pass_time(seconds)
        self.silences.append((began + 0.05, time.time() - 0.05))

    def open_loop(self):
        """The gap when both get the same efforts, over some windows."""
        pass_time(3)
        squares = [0, 0, 0]
        for _ in range(4):
            pass_time(WINDOW_S)
            squares = [s + r * r / 4 for s, r in zip(squares, self.rmse())]
        self.before = [math.sqrt(s) for s in squares]
        assert self.get("following")["sent"] == 0


def no_robot(lab):
    for side, state in (("real", "STOPPING"), ("virtual", "LOST")):
        lab.stop_robot(side)
        lab.wait_state(state)
        lab.start_robot(side)
        lab.wait_follows(f"the {side} robot was away")


def bad_network(lab):
    lab.network(late_s=0.15)
    pass_time(2)
    assert lab.state_is("TRACKING"), lab.get("following")
    lab.network(late_s=0.0)
    lab.wait_follows("150 ms late for 2 s")
    lab.network(twice=True, swap=True)
    pass_time(2)
    assert lab.state_is("TRACKING"), lab.get("following")
    gates = lab.get("following")["telemetry"]["real"]
    assert gates["duplicate"] > 20 and gates["old"] > 20, gates
    lab.network(twice=False, swap=False)
    lab.wait_follows("everything twice and in the wrong order for 2 s")


def no_broker(lab):
    lab.rig.broker.terminate()
    lab.rig.broker.wait(limit_s(10))
    lab.stay_silent(1.5)
    lab.rig.start_broker()
    lab.wait_follows("no broker for 1.5 s")


def frozen_daemon(lab):
    lab.rig.daemon.send_signal(signal.SIGSTOP)
    lab.stay_silent(1.5)
    lab.rig.daemon.send_signal(signal.SIGCONT)
    lab.wait_follows("the daemon was frozen for 1.5 s")


def robot_clock(lab):
    for clock_s in (3600, 0):
        lab.network(clock_s=clock_s)
        pass_time(1)
        lab.wait_follows(f"the robot's clock is set {clock_s} s ahead")


def lab_clock(lab):
    """The journal makes the daemon restart at a time that is a minute ahead of the wall clock, as after the clock
    was set back.
    """
    lab.rig.stop_daemon()
    newest = max((lab.rig.folder / "journal").iterdir(), key=lambda path: path.stat().st_mtime)
    with open(newest, "a") as journal:
        tst = datetime.datetime.fromtimestamp(time.time() + 60, datetime.UTC).isoformat(timespec="microseconds")
        journal.write(json.dumps({"tst": tst.replace("+00:00", "Z"), "topic": "tandem/v1/$lab/stop", "qos": 1, "retain": 0,
                                  "payloadlen": 2, "payload": {}}) + "\n")
    lab.rig.start_daemon()
    lab.wait_follows("the daemon's clock a minute ahead")
    assert " clock_behind: " in lab.rig.daemon_log.read_text()
    assert lab.get("fidelity")["t"] > time.time() + 50


def check_priority(lab):
    """The thread that computes the efforts is real-time, or the log says why not."""
    tasks = pathlib.Path(f"/proc/{lab.rig.daemon.pid}/task").iterdir()
    urgent = [os.sched_getscheduler(int(task.name)) == os.SCHED_FIFO for task in tasks
              if (task / "comm").read_text() == "tandem-lab\n"]
    assert urgent == [" not_real_time: " not in lab.rig.daemon_log.read_text()], urgent


def check_efforts(lab):
    messages = [json.loads(line) for line in lab.received.read_text().split("\n")[:-1]]
    ours = [m for m in messages if "by" not in m]
    assert len(ours) > 1000
    for m in ours:
        assert all(isinstance(f, float | int) and abs(f) <= limit for f, limit in zip(m["tau"], LIMITS, strict=True)), m
        assert not any(since < m["t"] < until for since, until in lab.silences), (m, lab.silences)
    return len(ours)


def same_again(lab):
    """With both robots gone there are no control periods any more: nothing changes until the end."""
    lab.stop_robot("real")
    lab.stop_robot("virtual")
    lab.wait_state("LOST")
    pass_time(0.5)
    live = {what: lab.rig.fetch(f"/api/v1/pairs/r1/{what}").strip() for what in ("following", "fidelity")}
    lab.rig.stop_daemon()
    pair = member(member(replay(lab.rig.lab, lab.rig.folder / "journal"), "pairs"), "r1")
    for what, text in live.items():
        assert f'"{what}":{text}' in pair, f"{what}: served {text}, replayed {json.loads(pair)[what]}"
    return json.loads(live["following"])


def main():
    with Rig(PAIR, broker="queue_qos0_messages true\n") as rig:
        lab = Lab(rig)
        check_priority(lab)
        lab.open_loop()
        lab.follow()
        lab.wait_follows(f"following: {TIMES_LESS} times less than {lab.before}", 60)
        no_robot(lab)
        bad_network(lab)
        no_broker(lab)
        frozen_daemon(lab)
        robot_clock(lab)
        lab_clock(lab)
        following = same_again(lab)
        count = check_efforts(lab)
        print(f"{count} efforts received, all within limits; {following['sent']} replayed, hash {following['efforts_hash']}")


main()
