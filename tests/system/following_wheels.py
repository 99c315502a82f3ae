"""Robots of `tandem robot --kind diffdrive` over a real broker: under velocity commands the simulated one follows
the real one by the lab file's parameters and by learnt ones; when it no longer follows, it turns and drives by
commands.
"""
import json
import math
import threading
import time

from relay import Writer
from rig import Rig
from waiting import pass_time

TOKEN = "secret-of-the-test"
LAG_S = {"real": 0.2, "virtual": 0.12}
GAIN = {"real": 1, "virtual": 0.9}
NOISE = 'limits: "0.5, 4", noise_sd: "0.002, 0.01", window_s: 4'
WELL = (0.04, 0.25)  # m/s, rad/s, of 0.17 and 0.6: a period of 25 ms, samples every 50 ms, on a busy machine


def theta(side):
    return f"t1={LAG_S[side]}, t2={LAG_S[side]}, t3=0, t4={1 / GAIN[side]}, t5=0, t6={1 / GAIN[side]}"


PAIRS = f"""told:
    following: {{model: diffdrive, {NOISE}, real: "{theta("real")}", virtual: "{theta("virtual")}"}}
  learnt:
    dynamics: {{model: diffdrive, window_s: 20, sides: both, refit_s: 0}}
    following: {{model: diffdrive, {NOISE}}}"""


class Pilot:
    """Sends velocities to the real robots, and to the simulated ones until they follow."""

    def __init__(self, rig):
        self.both = True
        self.writers = {(pair, side): Writer(rig, f"tandem/v1/{pair}/{side}/control")
                        for pair in ("told", "learnt") for side in ("real", "virtual")}
        threading.Thread(target=self.steer, daemon=True).start()

    def steer(self):
        while True:
            t = time.time()
            tau = [0.15 + 0.1 * math.sin(1.1 * t), 0, 0.5 * math.sin(0.9 * t) + 0.4 * math.sin(1.7 * t + 1)]
            for (_, side), writer in self.writers.items():
                if side == "real" or self.both:
                    writer.say(json.dumps({"tau": tau}))
            pass_time(0.05)


def follows(rig, pair):
    following = rig.get(f"/api/v1/pairs/{pair}/following")
    states = rig.get(f"/api/v1/pairs/{pair}/fidelity")["states"]
    rmse = [states[name]["rmse"] for name in ("v", "w")]
    follows.last = f"{pair}: {following['state']}, {following['obstacle']}, {rmse}"
    return following["state"] == "TRACKING" and all(r is not None and r <= well for r, well in zip(rmse, WELL))


def main():
    with Rig(PAIRS) as rig:
        rig.start_daemon()
        (rig.folder / "robots.yaml").write_text("".join(
            f"{side}: {{dead_zone: 0, ripple_ratio: 0, motor_lag_s: {LAG_S[side]}, gain_left_ratio: {GAIN[side]}, "
            f"gain_right_ratio: {GAIN[side]}, linear_speed_mps: 0.5, angular_speed_radps: 6.25}}\n" for side in LAG_S))
        for pair in ("told", "learnt"):
            for side in LAG_S:
                rig.start("robot", "--kind", "diffdrive", "--pair", pair, "--side", side, "--telemetry-rate", 20,
                          "--parameters", rig.folder / "robots.yaml")
        pilot = Pilot(rig)
        rig.wait(lambda: all(p and p["source"] == "fit" for p in
                             rig.get("/api/v1/pairs/learnt/following")["parameters"].values()), "fits", 90)
        pilot.both = False
        for pair in ("told", "learnt"):
            rig.fetch(f"/api/v1/pairs/{pair}/following", "PUT", b'{"active":true}', TOKEN)
            pass_time(5)
            try:
                rig.wait(lambda pair=pair: follows(rig, pair), "follows", 60)
            except AssertionError as e:
                raise AssertionError(follows.last) from e
            print(follows.last)
            rig.fetch(f"/api/v1/pairs/{pair}/following", "PUT", b'{"active":false}', TOKEN)
        pass_time(1)  # the last effort no longer counts
        rig.publish("tandem/v1/told/command", {"id": "c1", "op": "go", "rotation_rad": 1, "displacement_m": 0.2})
        before = rig.get("/api/v1/pairs/told/trajectory")["virtual"][-1]
        rig.wait(lambda: rig.records("told", "entries"), "the entry", 30)
        [entry] = [json.loads(e) for e in rig.records("told", "entries")]
        assert entry["virtual_status"] == "done", entry

        def moved():
            after = rig.get("/api/v1/pairs/told/trajectory")["virtual"][-1]
            moved.by = (math.remainder(after[3] - before[3], 2 * math.pi),
                        math.hypot(after[1] - before[1], after[2] - before[2]))
            return abs(moved.by[0] - 1) < 0.1 and abs(moved.by[1] - 0.2) < 0.03
        try:
            rig.wait(moved, "it is where it was to be", 10)
        except AssertionError as e:
            raise AssertionError(moved.by) from e
        print(f"turned by {moved.by[0]:.3f} rad, went {moved.by[1]:.3f} m")


main()
