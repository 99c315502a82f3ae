"""A real and a wrong virtual vessel over a real broker, ten times as fast as real time: dynamics identified online
and in batches, promoted over HTTP, applied by the simulator; the daemon is killed in between; the journal replays.
"""
import json
import random
import signal
import subprocess
import threading

from rig import Rig, cut_records, member, replay
from waiting import limit_s

TOKEN = "secret-of-the-test"
PACE, RATE_HZ, HOLD_S = 10, 100, 0.2
TRUTH = {"surge_mass_kg": 150.0, "sway_mass_kg": 140.0, "yaw_inertia_kgm2": 90.0, "surge_linear_kgps": 40.0}
PAIR = ("boat: {kind: usv3, dynamics: {model: usv3, window: 800, window_s: 80, refit_s: 8, gap_s: 2}}")


class Pilot(threading.Thread):
    """Sends the same efforts to both, in steps of HOLD_S."""

    def __init__(self, rig):
        super().__init__(daemon=True)
        self.draw = random.Random(7)
        self.ended = threading.Event()
        self.pipes = [rig.run(["mosquitto_pub", "-p", rig.broker_port, "-q", "0", "-l", "-t",
                               f"tandem/v1/boat/{side}/control"], stdin=subprocess.PIPE, text=True)
                      for side in ("real", "virtual")]

    def run(self):
        while not self.ended.wait(HOLD_S):
            tau = [self.draw.uniform(-60, 110), self.draw.uniform(-60, 60), self.draw.uniform(-50, 50)]
            for pipe in self.pipes:
                try:
                    pipe.stdin.write(json.dumps({"tau": [round(x, 2) for x in tau]}) + "\n")
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
    theta = "".join(f"  {name}: {value}\n" for name, value in TRUTH.items())
    noise = "noise_u_mps: 0.01\nnoise_v_mps: 0.005\nnoise_r_radps: 0.004\n"
    parameters = rig.folder / "boats.yaml"
    parameters.write_text(noise + "real:\n" + theta)
    return rig.start("robot", "--kind", "usv3", "--pair", "boat", "--side", "both", "--pace", PACE,
                     "--telemetry-rate", RATE_HZ, "--parameters", parameters)


def published(rig):
    """The daemon's latest report of the dynamics; {} before the first."""
    done = subprocess.run(["mosquitto_sub", "-p", str(rig.broker_port), "-C", "1", "-W", "3", "-t",
                           "tandem/v1/boat/calibration/dynamics"], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["dynamics"] if done.stdout.strip() else {}


def idle(rig):
    state = rig.get("/api/v1/pairs/boat/dynamics")
    return state["real"]["job"] is None and state["virtual"]["job"] is None


def changes(rig):
    return rig.get("/api/v1/pairs/boat/parameters/changes?order=oldest")["changes"]


def count(rig, action):
    return sum(c["action"] == action for c in changes(rig))


def post(rig, what, body=b""):
    rig.fetch(f"/api/v1/pairs/boat/parameters/{what}", "POST", body, TOKEN)


def check_values(values, where, tolerance):
    for name, truth in TRUTH.items():
        assert abs(values[name] / truth - 1) < tolerance, f"{where}: {name} {values[name]}, {truth} expected"


def follow(rig, side, tolerance, seconds):
    """Waits until the filter of this side has found the real vessel's parameters."""
    def found():
        state = published(rig)
        estimate = state and state[side]["estimate"]
        return estimate and all(abs(estimate["values"][n] / t - 1) < tolerance for n, t in TRUTH.items())
    rig.wait(found, f"the {side} vessel's filter within {tolerance}", seconds)
    return published(rig)[side]


def kill(rig):
    rig.daemon.send_signal(signal.SIGKILL)
    rig.daemon.wait(limit_s(60))
    rig.start_daemon()


def main():
    with Rig(PAIR) as rig:
        rig.start_daemon()
        robots = start_robots(rig)
        pilot = Pilot(rig)
        pilot.start()
        rig.wait(lambda: count(rig, "proposed") >= 1, "a fit passes its checks", 60)
        first = next(c for c in changes(rig) if c["action"] == "proposed")
        check_values(first["set"]["values"], "batch", 0.15)
        rig.wait(lambda: published(rig).get("real", {}).get("fit"), "the fit is published")
        before = published(rig)
        kill(rig)
        have = count(rig, "proposed")
        assert have >= 1, "what was proposed is gone after a restart"
        rig.wait(lambda: count(rig, "proposed") > have, "fits go on after a restart", 60)
        post(rig, "promote", b'{"accept": "marginal"}')
        rig.wait(lambda: count(rig, "acknowledged") >= 1, "the simulator applies the set", 20)
        promoted = next(c for c in changes(rig) if c["action"] == "promoted")
        acknowledged = next(c for c in changes(rig) if c["action"] == "acknowledged")
        assert promoted["set"]["model"] == "usv3" and acknowledged["detail"] == "9 applied", acknowledged
        real = follow(rig, "real", 0.1, 60)
        virtual = follow(rig, "virtual", 0.15, 90)
        pilot.stop()
        robots.terminate()
        robots.wait(limit_s(10))
        # The report comes after all samples are processed: no fit starts later.
        rig.wait(lambda: all(rig.get("/api/v1/pairs/boat")[side]["connection"] == "offline" for side in ("real", "virtual")),
                 "both are gone", 20)
        rig.wait(lambda: idle(rig), "no fit is under way", 180)
        live = cut_records(rig.fetch("/api/v1/pairs/boat/parameters/changes?order=oldest&limit=500"), "changes")
        want = member(rig.fetch("/api/v1/pairs/boat/dynamics"), "fit")
        rig.stop_daemon()
        document = replay(rig.lab, rig.folder / "journal")
        results = member(member(document, "pairs"), "boat")
        got = cut_records(results, "changes")
        assert got == live, f"{len(got)} changes replayed, {len(live)} served"
        assert member(member(results, "dynamics"), "fit") == want, "the last batch fit is another one"
        assert replay(rig.lab, rig.folder / "journal") == document, "two replays differ"
        print(f"{len(live)} changes are the same bytes; real: {real['gates']['used']} samples used, virtual: "
              f"{virtual['gates']['used']}; surge mass {before['real']['fit']['values']['surge_mass_kg']:.1f} kg in the "
              f"first batch, {real['estimate']['values']['surge_mass_kg']:.1f} kg followed, "
              f"{virtual['estimate']['values']['surge_mass_kg']:.1f} kg the simulator's; truth 150")


main()
