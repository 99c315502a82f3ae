"""A real and a wrong virtual position servo over a real broker, twenty times as fast as real time: dynamics identified
from telemetry, promoted over HTTP, applied and acknowledged by the simulator. Afterwards both move alike.
"""
import json
import random
import subprocess
import threading

from rig import Rig, cut_records, member, replay
from waiting import limit_s

TOKEN = "secret-of-the-test"
PACE, RATE_HZ, HOLD_S = 20, 50, 0.03
TRUTH = {"error_per_acceleration_s2": 0.0031, "error_per_velocity_s": 0.12, "dead_band_rad": 0.012, "droop_rad": -0.02}
WRONG = {"error_per_acceleration_s2": 0.008, "error_per_velocity_s": 0.3, "dead_band_rad": 0.002, "droop_rad": 0.0}
MEASURED = "encoder_step_rad: 0.001534\nnoise_radps: 0.02\n"
PAIR = ("elbow: {kind: joint, virtual_clock: simulation, dynamics: {model: position_servo, sides: real, window: 2000, "
        "window_s: 30, refit_s: 1}}")
STEM = "tandem/v1/elbow"


class Operator(threading.Thread):
    """Commands both servos to the same positions."""

    def __init__(self, rig):
        super().__init__(daemon=True)
        self.draw = random.Random(5)
        self.ended = threading.Event()
        self.pipes = [rig.run(["mosquitto_pub", "-p", rig.broker_port, "-q", "0", "-l", "-t", f"{STEM}/{side}/control"],
                              stdin=subprocess.PIPE, text=True) for side in ("real", "virtual")]

    def run(self):
        while not self.ended.wait(HOLD_S * self.draw.uniform(0.3, 1.5)):
            message = json.dumps({"tau": [round(self.draw.uniform(-0.6, 0.6), 4)]})
            for pipe in self.pipes:
                try:
                    pipe.stdin.write(message + "\n")
                    pipe.stdin.flush()
                except (BrokenPipeError, ValueError):
                    return

    def stop(self):
        self.ended.set()
        self.join()
        for pipe in self.pipes:
            pipe.stdin.close()
            pipe.wait(limit_s(10))


def start_robots(rig):
    sides = "".join(f"{side}:\n" + "".join(f"  {name}: {value}\n" for name, value in values.items())
                    for side, values in (("real", TRUTH), ("virtual", WRONG)))
    parameters = rig.folder / "servos.yaml"
    parameters.write_text(MEASURED + sides)
    return rig.start("robot", "--kind", "position_servo", "--pair", "elbow", "--side", "both", "--pace", PACE,
                     "--telemetry-rate", RATE_HZ, "--parameters", parameters)


def changes(rig):
    return rig.get("/api/v1/pairs/elbow/parameters/changes?order=oldest&limit=500")["changes"]


def count(rig, action):
    return sum(c["action"] == action for c in changes(rig))


def go(rig, name):
    """Lag of a pair's move: real less virtual, s of the robots."""
    before = len(rig.records("elbow", "entries"))
    rig.publish(f"{STEM}/command", {"id": name, "op": "go", "rotation_rad": 0.5 if int(name[1:]) % 2 else -0.5})
    rig.wait(lambda: len(rig.records("elbow", "entries")) > before, f"{name} is judged", 30)
    entry = json.loads(rig.records("elbow", "entries")[-1])
    return PACE * abs(entry["real_motion_s"] - entry["virtual_motion_s"])


def main():
    with Rig(PAIR) as rig:
        rig.start_daemon()
        robots = start_robots(rig)
        rig.wait_online("elbow")
        before = [go(rig, f"a{k}") for k in range(4)]
        operator = Operator(rig)
        operator.start()
        rig.wait(lambda: any(c["action"] == "proposed" and c["set"]["verdict"] == "PASS" for c in changes(rig)),
                 "a fit passes its checks", 90)
        proposed = next(c for c in changes(rig) if c["action"] == "proposed" and c["set"]["verdict"] == "PASS")
        found, fit = proposed["set"]["values"], proposed["fit"]
        for name, truth in TRUTH.items():
            assert abs(found[name] - truth) < 5 * fit["se"][name] + 0.01 * abs(truth), (name, found[name], truth)
            assert fit["se"][name] < 0.1 * abs(truth), (name, fit["se"][name])
        assert abs(fit["derived"]["natural_frequency_radps"]["value"] - 17.96) < 1.0, fit["derived"]
        rig.fetch("/api/v1/pairs/elbow/parameters/promote", "POST", b'{"accept": "marginal"}', TOKEN)
        rig.wait(lambda: count(rig, "acknowledged") >= 1, "the simulator applies the set", 30)
        acknowledged = next(c for c in changes(rig) if c["action"] == "acknowledged")
        assert acknowledged["detail"] == "4 applied", acknowledged
        operator.stop()
        after = [go(rig, f"b{k}") for k in range(4)]
        assert sum(before) > 4 * 0.5 and sum(after) < 0.25 * sum(before), (before, after)
        robots.terminate()
        robots.wait(limit_s(10))
        rig.wait(lambda: all(rig.get("/api/v1/pairs/elbow")[s]["connection"] == "offline" for s in ("real", "virtual")),
                 "both are gone", 20)
        rig.wait(lambda: rig.get("/api/v1/pairs/elbow/dynamics")["real"]["job"] is None, "no fit is under way", 60)
        live = cut_records(rig.fetch("/api/v1/pairs/elbow/parameters/changes?order=oldest&limit=500"), "changes")
        rig.stop_daemon()
        document = replay(rig.lab, rig.folder / "journal")
        assert cut_records(member(member(document, "pairs"), "elbow"), "changes") == live, "other changes replayed"
        print(f"lags of {sum(before) / 4:.3f} s before, {sum(after) / 4:.3f} s after; {len(live)} changes replay to the "
              f"same bytes; natural frequency {fit['derived']['natural_frequency_radps']['value']:.2f} rad/s, truth 17.96")


main()
