"""pilot.py - efforts for the real vessel of the pair "boat", drawn at random, so that its motion is informative."""
import json
import random
import subprocess
import threading
import time

from waiting import limit_s


class Pilot(threading.Thread):
    def __init__(self, rig, period_s, stamped):
        super().__init__(daemon=True)
        self.period_s, self.stamped = period_s, stamped
        self.draw, self.ended = random.Random(7), threading.Event()
        self.pipe = rig.run(["mosquitto_pub", "-p", rig.broker_port, "-q", "0", "-l", "-t", "tandem/v1/boat/real/control"],
                            stdin=subprocess.PIPE, text=True)

    def run(self):
        while not self.ended.wait(self.period_s):
            tau = [round(self.draw.uniform(-a, b), 2) for a, b in ((60, 110), (60, 60), (50, 50))]
            stamp = {"t": time.time()} if self.stamped else {}
            self.pipe.stdin.write(json.dumps({**stamp, "tau": tau}) + "\n")
            self.pipe.stdin.flush()

    def stop(self):
        self.ended.set()
        self.join()
        self.pipe.stdin.close()
        self.pipe.wait(limit_s(10))
