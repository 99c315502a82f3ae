"""wheels.py - a robot on two wheels that follows velocity commands, by docs/protocol.md alone: a stand-in for
simulators that accept efforts and only some of the parameters.

    Wheels(rig, "car", "virtual", theta, pilot, refuses=("coupling_spm",))
"""
import json
import math
import random
import subprocess
import threading
import time

from relay import Writer

NAMES = ("forward_inertia_s", "turn_inertia_s", "centrifugal_sm", "forward_drag_ratio", "coupling_spm", "turn_drag_ratio")
STEP_S = 0.002
SAMPLE_S = 0.02
SILENT_S = 0.5  # after this time without an effort the pilot's velocities count


class Wheels:
    def __init__(self, rig, pair, side, theta, pilot, refuses=(), noise=(0.002, 0.004)):
        self.stem = f"tandem/v1/{pair}/{side}"
        self.own, self.theta, self.refuses, self.noise, self.pilot = list(theta), list(theta), refuses, noise, pilot
        self.random = random.Random(f"{pair} {side}")
        self.nu, self.pose, self.tau, self.reported_s = [0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0], -SILENT_S
        self.lock, self.at = threading.Lock(), time.time()
        self.telemetry = Writer(rig, f"{self.stem}/telemetry")
        self.ack = Writer(rig, f"{self.stem}/parameters/ack")
        self.rig, self.boots = rig, 0
        self.boot()
        self.subscribe("control", self.set_effort)
        self.subscribe_parameters()
        threading.Thread(target=self.live, daemon=True).start()

    def boot(self):
        """Restarts at another place, with its own parameters; retained messages remain at the broker."""
        with self.lock:
            self.boots += 1
            self.seq = 0
            self.nu, self.theta = [0.0, 0.0], list(self.own)
            self.pose = [self.random.uniform(-5, 5), self.random.uniform(-5, 5), self.random.uniform(-3, 3)]

    def subscribe(self, what, on_message):
        reader = self.rig.run(["mosquitto_sub", "-p", self.rig.broker_port, "-t", f"{self.stem}/{what}", "-F", "%p"],
                              stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, args=[reader.stdout, on_message], daemon=True).start()

    def subscribe_parameters(self):
        """Receives retained messages, and later ones."""
        self.subscribe("parameters", self.receive_parameters)

    def listen(self, lines, on_message):
        for line in lines:
            with self.lock:
                on_message(json.loads(line))

    def set_effort(self, message):
        self.advance()
        tau = message["tau"]
        self.tau, self.reported_s = [tau[0], tau[-1]], time.monotonic()

    def receive_parameters(self, message):
        values = message.get("values", {})
        applied = [name for name in NAMES if name in values and name not in self.refuses]
        self.theta = [values[name] if name in applied else own for name, own in zip(NAMES, self.own)]
        self.ack.say(json.dumps({"version": message["version"], "applied": applied, "refused": [
            {"name": name, "reason": "cannot be set here"} for name in values if name not in applied]}))

    def step(self):
        t1, t2, t3, t4, t5, t6 = self.theta
        u, w = self.nu
        self.nu = [u + STEP_S * (self.tau[0] + t3 * w * w - t4 * u) / t1,
                   w + STEP_S * (self.tau[1] - t5 * u * w - t6 * w) / t2]
        x, y, psi = self.pose
        middle = psi + STEP_S * w / 2
        self.pose = [x + STEP_S * u * math.cos(middle), y + STEP_S * u * math.sin(middle),
                     math.remainder(psi + STEP_S * w, 2 * math.pi)]

    def advance(self):
        """Simulates until now, under the latest effort."""
        while self.at < time.time():
            self.step()
            self.at += STEP_S

    def live(self):
        due = time.monotonic()
        while True:
            with self.lock:
                self.advance()
                if time.monotonic() - self.reported_s >= SILENT_S:
                    self.tau = list(self.pilot(self.at))
                sample = {"t": round(self.at, 6), "seq": self.seq, "boot": f"b{self.boots}",
                          "nu": [self.nu[0] + self.random.gauss(0, self.noise[0]), 0,
                                 self.nu[1] + self.random.gauss(0, self.noise[1])],
                          "tau": [self.tau[0], 0, self.tau[1]], "pose": self.pose}
                self.seq += 1
            self.telemetry.say(json.dumps(sample))
            due = max(due + SAMPLE_S, time.monotonic() - SAMPLE_S)
            time.sleep(max(0, due - time.monotonic()))
