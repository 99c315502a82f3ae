"""mover.py - moves of a pair whose durations a test sets."""
import json
import math
import subprocess
import time


class Mover:
    """Both robots of a pair, whose moves have durations that the test sets."""

    def __init__(self, lab):
        self.lab = lab
        self.pipes = {topic: lab.run(["mosquitto_pub", "-p", lab.broker_port, "-q", "1", "-l", "-t",
                                      f"tandem/v1/r1/{topic}"], stdin=subprocess.PIPE, text=True)
                      for topic in ("command", "real/reply", "virtual/reply")}

    def send(self, topic, **message):
        self.lab.write_line(self.pipes[topic], json.dumps(message))

    def move(self, k, late_s=0):
        """Turns, drives, and moves that do both; their times are those of a robot with two constant speeds."""
        rotation, displacement = (0.4 + k % 4 * 0.2) * (k % 3 != 1), (0.1 + k % 5 * 0.1) * (k % 3 != 0)
        self.send("command", id=f"c{k}", op="go", rotation_rad=rotation, displacement_m=displacement)
        self.lab.wait(lambda: self.lab.get("/api/v1/pairs/r1")["commands"] == k, f"command {k}")
        lasts = 0.01 + 0.05 * rotation + 0.1 * displacement + 0.001 * math.sin(7 * k)
        time.sleep(lasts)
        for side, later in (("virtual", 0), ("real", late_s)):
            time.sleep(later)
            now = time.time()
            self.send(f"{side}/reply", id=f"c{k}", status="done", t_start=now - lasts - later, t=now)
        self.lab.wait(lambda: self.lab.entries("r1") == k, f"entry {k}")
