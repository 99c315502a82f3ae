"""Following with learnt parameters is as good as with those of the lab file, for vessels and for robots on wheels:
over the broker, after a promotion of which the wheels' simulator refuses parts, after reboots and after a restart
of the daemon.
"""
import json
import math
import sys
import threading
import time

from relay import Writer
from rig import Rig
from wheels import NAMES, Wheels
from waiting import limit_s, pass_time

TOKEN = "secret-of-the-test"
WINDOW_S = 4
RATIO = 1.1
# Limits for u v r, or v w: on a busy machine one pair is served 5 ms later than the other, with accelerations up to
# 0.5 m/s2 and 2 rad/s2. unit.test_pair_following compares without that.
LATE = {"boat": (0.001, 0.001, 0.001), "car": (0.002, 0.01)}
WELL = (0.05, 0.1, 0.05)  # u v r, or v w: what the other pair reaches once its window has no earlier samples
REAL = (0.25, 0.18, 0.03, 1.05, 0.15, 1.08)
VIRTUAL = (0.2, 0.24, 0.02, 0.9, 0.1, 1.3)
LEARNS = "dynamics: {model: %s, window_s: 20, sides: both, refit_s: 0}"
VESSEL_NOISE = 0.002


def text(values):
    return ", ".join(f"t{k + 1}={value}" for k, value in enumerate(values))


def lab():
    vessel = f'model: usv3, limits: "200, 200, 120", noise_sd: "{VESSEL_NOISE}, {VESSEL_NOISE}, {VESSEL_NOISE}"'
    wheels = 'model: diffdrive, limits: "2, 8", noise_sd: "0.002, 0.004"'
    more = f"window_s: {WINDOW_S}, target_m: 0"
    return f"""boat:
    {LEARNS % "usv3"}
    following: {{{vessel}, {more}}}
  boat_told:
    following: {{{vessel}, {more}, real: iacquabot, virtual: wamv}}
  car:
    {LEARNS % "diffdrive"}
    following: {{{wheels}, {more}}}
  car_told:
    following: {{{wheels}, {more}, real: "{text(REAL)}", virtual: "{text(VIRTUAL)}"}}"""


def steer_wheels(t):
    """The efforts have no steps: the cost of a step depends on when a pair's samples come, which differs between
    pairs.
    """
    return (0.2 + 0.25 * math.sin(1.1 * t) + 0.12 * math.sin(2.3 * t + 1),
            0.8 * math.sin(0.9 * t) + 0.7 * math.sin(1.7 * t + 1) + 0.3 * math.sin(3.1 * t))


class Boats:
    """The shipped vessels, and a pilot who drives the simulated ones with the same efforts until they follow."""

    def __init__(self, rig):
        self.rig, self.both = rig, True
        (rig.folder / "robots.yaml").write_text("".join(
            f"{side}: {{vessel: {vessel}, noise_u_mps: {VESSEL_NOISE}, noise_v_mps: {VESSEL_NOISE}, "
            f"noise_r_radps: {VESSEL_NOISE}}}\n" for side, vessel in (("real", "iacquabot"), ("virtual", "wamv"))))
        self.robots = {}
        for pair in ("boat", "boat_told"):
            for side in ("real", "virtual"):
                self.start(pair, side)
        self.writers = {(pair, side): Writer(rig, f"tandem/v1/{pair}/{side}/control")
                        for pair in ("boat", "boat_told") for side in ("real", "virtual")}
        threading.Thread(target=self.steer, daemon=True).start()

    def start(self, pair, side):
        self.robots[pair, side] = self.rig.start("robot", "--kind", "usv3", "--pair", pair, "--side", side,
                                                 "--telemetry-rate", "50", "--parameters", self.rig.folder / "robots.yaml")

    def boot(self):
        for pair, side in self.robots:
            self.robots[pair, side].terminate()
            assert self.robots[pair, side].wait(limit_s(10)) == 0
            self.start(pair, side)

    def steer(self):
        while True:
            t = time.time()
            part = int(t / 2.1) % 5
            tau = [(80, 20, 60, -30, 50)[part], (0, 25, -20, 10, -15)[part],
                   (12, -14, 5, 16, -8)[part] + 6 * math.sin(1.7 * t)]
            for (_, side), writer in self.writers.items():
                if side == "real" or self.both:
                    writer.say(json.dumps({"tau": tau}))
            pass_time(0.05)


class Lab:
    def __init__(self, rig):
        self.rig = rig
        rig.start_daemon()
        self.boats = Boats(rig)
        self.cars = {(pair, side): Wheels(rig, pair, side, REAL if side == "real" else VIRTUAL, steer_wheels,
                                          NAMES[3:] if pair == "car" else ())
                     for pair in ("car", "car_told") for side in ("real", "virtual")}

    def get(self, pair, what):
        return self.rig.get(f"/api/v1/pairs/{pair}/{what}")

    def sources(self, pair):
        parameters = self.get(pair, "following")["parameters"]
        return [parameters[side] and parameters[side]["source"] for side in ("real", "virtual")]

    def send(self, pair, what, body, method="PUT"):
        self.rig.fetch(f"/api/v1/pairs/{pair}/{what}", method, json.dumps(body).encode(), TOKEN)

    def rmse(self, pair):
        states = self.get(pair, "fidelity")["states"]
        names = ("u", "v", "r") if "u" in states else ("v", "w")
        return [states[name]["rmse"] for name in names]

    def alike(self, pair):
        """The error is that of the pair with given parameters, both over the window that ends now, and the state is
        tracking throughout.
        """
        following, other = self.get(pair, "following"), self.get(f"{pair}_told", "following")
        learnt, instructed = self.rmse(pair), self.rmse(f"{pair}_told")
        self.last = f"{pair}: {following['state']}, {following['obstacle']}, {learnt} against {instructed}"
        return (following["state"] == other["state"] == "TRACKING" and following["counts"]["held"] == 0 and
                all(a is not None and b is not None and a <= RATIO * b + late and b <= well
                    for a, b, late, well in zip(learnt, instructed, LATE[pair], WELL)))

    def check(self, what):
        pass_time(WINDOW_S + 2)
        for pair in ("boat", "car"):
            try:
                self.rig.wait(lambda pair=pair: self.alike(pair), what, 90)
            except AssertionError as e:
                raise AssertionError(f"{what}: {self.last}; {self.get(pair, 'following')}") from e
            print(f"{what}: {self.last}; {self.sources(pair)}", flush=True)


def learn(lab):
    lab.rig.wait(lambda: all(lab.sources(pair) == ["fit", "fit"] for pair in ("boat", "car")), "fits", 120)
    lab.boats.both = False
    for pair in ("boat", "boat_told", "car", "car_told"):
        lab.send(pair, "following", {"active": True})
    lab.check("learnt")


def promote(lab):
    for pair, source in (("boat", "set"), ("car", "set_partly")):
        lab.send(pair, "parameters/promote", {"model": lab.get(pair, "following")["model"], "accept": "marginal"}, "POST")
        lab.rig.wait(lambda pair=pair, source=source: lab.sources(pair) == ["fit", source], f"{pair}: {source}", 20)
    used = lab.get("car", "following")["parameters"]["virtual"]["values"]
    has = dict(zip(NAMES, lab.cars["car", "virtual"].theta))
    assert all(abs(used[name] - has[name]) < 1e-12 for name in NAMES[:3]), (used, has)
    lab.check("promoted")


def boot(lab):
    lab.boats.boot()
    for car in lab.cars.values():
        car.boot()
        car.rig.publish(f"{car.stem}/connection", {"state": "online", "boot": f"b{car.boots}"})
    lab.cars["car", "virtual"].subscribe_parameters()
    lab.check("after reboots")


def restart_learning(lab):
    lab.rig.stop_daemon()
    lab.rig.start_daemon()
    assert lab.sources("boat") == ["fit", "set"] and lab.sources("car") == ["fit", "set_partly"]
    lab.check("after the daemon restarted")


def main():
    with Rig(lab()) as rig:
        at_work = Lab(rig)
        for step in (learn, promote, boot, restart_learning):
            step(at_work)
    sys.stdout.flush()


main()
