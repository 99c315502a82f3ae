"""A simulated vessel follows virtual/control and virtual/parameters, and reports its motion."""
import json
import subprocess
import sys

sys.path.insert(0, "tests/support")
from rig import Rig  # noqa: E402
from waiting import limit_s  # noqa: E402

STEM = "tandem/v1/boat/virtual"


class Listener:
    """The telemetry and replies of the robot, as they come."""

    def __init__(self, rig):
        self.path = rig.folder / "heard.jsonl"
        self.process = rig.run(["mosquitto_sub", "-p", rig.broker_port, "-F", "%J", "-t",
                                f"{STEM}/#"], stdout=open(self.path, "w"))

    def received(self, word):
        lines = self.path.read_text().split("\n")[:-1]
        messages = [json.loads(line) for line in lines if line.startswith("{")]
        return [m["payload"] for m in messages if m["topic"] == f"{STEM}/{word}"]

    def sample(self):
        last = self.received("telemetry")[-1]
        return last[-1] if isinstance(last, list) else last


def near(got, want, tolerance):
    return len(got) == len(want) and all(abs(a - b) <= tolerance for a, b in zip(got, want))


def efforts(rig, listener):
    rig.publish(f"{STEM}/control", {"tau": [62.45, 0, 0]})  # the force for 1 m/s
    rig.wait(lambda: near(listener.sample()["tau"], [62.45, 0, 0], 1e-9), "the effort is reported")
    rig.wait(lambda: near(listener.sample()["nu"], [1.0, 0, 0], 0.002), "1 m/s", 20)
    rig.publish(f"{STEM}/control", {"tau": [1, 2]})
    rig.publish(f"{STEM}/control", {"tau": "much"})
    later = len(listener.received("telemetry")) + 10
    rig.wait(lambda: len(listener.received("telemetry")) >= later, "telemetry goes on")
    assert near(listener.sample()["tau"], [62.45, 0, 0], 1e-9), "a wrong effort was accepted"
    samples = listener.received("telemetry")
    assert len(samples) > 20 and samples[-1]["pose"][0] > 1, samples[-1]


def parameters(rig, listener):
    rig.publish(f"{STEM}/parameters", {"version": 1, "values": {"surge_linear_kgps": 0.0001,
                                                                "surge_quadratic_kgpm": 62.45}})
    rig.wait(lambda: listener.received("parameters/ack"), "they are acknowledged")
    rig.publish(f"{STEM}/control", {"tau": [62.45 * 0.25, 0, 0]})
    rig.wait(lambda: near(listener.sample()["nu"], [0.5, 0, 0], 0.005), "half the speed", 30)


def halt(rig, listener):
    rig.publish("tandem/v1/boat/virtual/command", {"id": "h1", "op": "halt"})
    rig.wait(lambda: near(listener.sample()["tau"], [0, 0, 0], 0), "the thrusters stop")
    rig.wait(lambda: listener.received("reply"), "the halt is answered")
    assert [r["status"] for r in listener.received("reply")] == ["done"], listener.received("reply")


def main():
    with Rig() as rig:
        listener = Listener(rig)
        robot = rig.start("robot", "--kind", "usv3", "--pair", "boat", "--side", "virtual", "--mode",
                          "link", "--telemetry-rate", 20, "--pace", 3,
                          stderr=subprocess.PIPE, text=True)
        rig.wait(lambda: listener.received("telemetry"), "telemetry comes")
        efforts(rig, listener)
        parameters(rig, listener)
        halt(rig, listener)
        robot.terminate()
        assert robot.wait(limit_s(10)) == 0, robot.stderr.read()
    print("vessel: fine")


if __name__ == "__main__":
    main()
