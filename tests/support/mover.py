"""mover.py - a robot that turns and drives, by docs/protocol.md alone: a stand-in for foreign simulators, whose moves
have parts that cannot be set: start and stop times, wheels that slip.

    Mover(rig, "r1", "virtual", own={"angular_speed_radps": 6, "linear_speed_mps": 2}, start=(0, 0.1, 0.08), slip=0.8)
"""
import json
import random
import subprocess
import threading
import time

from relay import Writer

TERMS = ("t0_s", "ta_s", "tr_s", "angular_speed_radps", "linear_speed_mps")


class Mover:
    def __init__(self, rig, pair, side, own, start=(0, 0, 0), slip=1, form=None, refuses=()):
        """start: seconds of every move, turn and drive. form: of its acknowledgements; only "relative" reads adjust."""
        self.stem = f"tandem/v1/{pair}/{side}"
        self.own = {term: own.get(term, 0) for term in TERMS}
        self.now, self.start, self.slip, self.form, self.refuses = dict(self.own), start, slip, form, refuses
        self.random = random.Random(f"{pair} {side}")
        self.rig, self.boots, self.due, self.changed = rig, 0, [], threading.Condition()
        self.writers = {word: Writer(rig, f"{self.stem}/{word}") for word in ("reply", "parameters/ack", "connection")}
        self.subscribe(f"tandem/v1/{pair}/command", self.command)
        if side == "virtual":
            self.subscribe(f"{self.stem}/parameters", self.parameters)
        threading.Thread(target=self.live, daemon=True).start()
        self.boot()

    def say(self, word, **payload):
        self.writers[word].say(json.dumps(payload))

    def boot(self):
        """Restarts with its own settings."""
        self.boots += 1
        self.now = dict(self.own)
        self.say("connection", state="online", boot=f"b{self.boots}")

    def subscribe(self, topic, on_message):
        reader = self.rig.run(["mosquitto_sub", "-p", self.rig.broker_port, "-q", "1", "-t", topic, "-F", "%p"],
                              stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, args=[reader.stdout, on_message], daemon=True).start()

    def listen(self, lines, on_message):
        for line in lines:
            on_message(json.loads(line))

    def lap_s(self, turn, drive):
        wait = [self.now[term] + own for term, own in zip(TERMS, self.start)]
        return wait[0] + (wait[1] + abs(turn) / (self.now[TERMS[3]] * self.slip) if turn else 0) + \
            (wait[2] + abs(drive) / (self.now[TERMS[4]] * self.slip) if drive else 0)

    def command(self, message):
        start = time.time()
        lap_s = self.lap_s(message.get("rotation_rad", 0), message.get("displacement_m", 0))
        with self.changed:
            self.due.append((start, start + max(lap_s + self.random.gauss(0, 0.004), 0.01), message["id"]))
            self.changed.notify()

    def parameters(self, message):
        values = message["values"]
        adjust = message.get("adjust", {}) if self.form == "relative" else {}
        if message["version"] == 0:
            self.now = dict(self.own)
        applied = [name for name in values if name in TERMS and name not in self.refuses]
        for name in applied:
            change = adjust.get(name)
            value = self.own[name] * change.get("factor", 1) + change.get("add", 0) if change else values[name]
            self.now[name] = max(value, 0)
        refused = [{"name": name, "reason": "cannot be set here"} for name in values if name not in applied]
        self.say("parameters/ack", version=message["version"], applied=applied, refused=refused,
                 **({"form": self.form} if self.form else {}))

    def live(self):
        while True:
            with self.changed:
                while not self.due:
                    self.changed.wait()
                start, end, name = self.due.pop(0)
            time.sleep(max(0, end - time.time()))
            self.say("reply", id=name, status="done", t_start=start, t=end)
