"""relay.py - disturbs messages between a robot and the lab: forwards one topic to another, with the broker's own tools.

    relay = Relay(rig, "raw/r1/real/telemetry", "tandem/v1/r1/real/telemetry")
    relay.late_s = 0.2; relay.twice = True; relay.swap = True; relay.clock_s = 3600
"""
import heapq
import itertools
import json
import subprocess
import threading
import time


class Writer:
    """mosquitto_pub with a line a message; a new one after the broker was gone."""

    def __init__(self, rig, topic):
        self.rig, self.topic, self.process = rig, topic, None

    def say(self, line):
        for _ in range(2):
            if self.process is None or self.process.poll() is not None:
                self.process = self.rig.run(["mosquitto_pub", "-p", self.rig.broker_port, "-l", "-t", self.topic],
                                            stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
            try:
                self.process.stdin.write(line.encode() + b"\n")
                self.process.stdin.flush()
                return
            except BrokenPipeError:
                self.process.wait()


class Relay:
    def __init__(self, rig, source, target):
        self.late_s, self.clock_s = 0.0, 0.0  # transport; offset of the sender's clock
        self.twice, self.swap = False, False  # repeats every message; swaps every second one with the next
        self.writer = Writer(rig, target)
        self.due, self.numbers = [], itertools.count()
        self.changed = threading.Condition()
        reader = rig.run(["mosquitto_sub", "-p", rig.broker_port, "-t", source, "-F", "%p"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=self.read, args=[reader.stdout], daemon=True).start()
        threading.Thread(target=self.write, daemon=True).start()

    def read(self, lines):
        held = None
        for line in lines:
            message = json.loads(line)
            for stamp in {"t", "t_received"} & message.keys():
                message[stamp] += self.clock_s
            text = json.dumps(message)
            if self.swap and held is None:
                held = text
                continue
            for said in (text, held) if held else (text,):
                for _ in range(2 if self.twice else 1):
                    self.forward(said)
            held = None

    def forward(self, text):
        with self.changed:
            heapq.heappush(self.due, (time.monotonic() + self.late_s, next(self.numbers), text))
            self.changed.notify()

    def write(self):
        while True:
            with self.changed:
                wait_s = self.due[0][0] - time.monotonic() if self.due else None
                if wait_s is None or wait_s > 0:
                    self.changed.wait(wait_s)
                    continue
                text = heapq.heappop(self.due)[2]
            self.writer.say(text)
