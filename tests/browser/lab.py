"""lab.py - a live lab for the page: robots that answer, a base on a map, a vessel that follows, one whose parameters
are learnt, an arm.
"""
import json
import math
import subprocess
import threading
import time

from rig import SOURCE, Rig

TOKEN = "secret-of-the-test"
MAP = SOURCE / "config/missions/room.yaml"
PAIRS = f"""r1: {{probe_interval_s: 1, calibration: {{publish_every: 1}}}}
  base: {{mode: link, map: {MAP}, timeout_s: 20}}
  boat:
    kind: usv3
    probe_interval_s: 1
    following: {{model: usv3, real: iacquabot, virtual: wamv, limits: "200, 200, 120",
      noise_sd: "0.0005, 0.0005, 0.0003", pose_per_s2: 4, window_s: 5}}
  vessel:
    kind: usv3
    dynamics: {{model: usv3, method: weak_iv, window: 400, window_s: 40, refit_s: 60, gap_s: 2}}
  ur: {{mode: link, arm: ur5}}
  quiet: {{}}
machines: [{SOURCE}/config/machines/drive.drawio]"""
WORK = (0, -1.5708, -1.5708, -1.5708, 1.5708, 0)  # of an arm
VESSELS = """real: {vessel: iacquabot, actuation: allocated, noise_u_mps: 0.0005, noise_v_mps: 0.0005,
  noise_r_radps: 0.0003}
virtual: {vessel: wamv, effort_timeout_s: 0.5}
"""


class Lab(Rig):
    """With robots, once start_robots() was called. `pairs` replaces the lab's."""

    def __init__(self, pairs=PAIRS, extra=""):
        super().__init__(pairs=pairs, extra=extra)
        self.piloting = threading.Event()

    def __exit__(self, *args):
        self.piloting.set()
        super().__exit__(*args)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.http_port}/"

    def start_robots(self):
        for side, speed in (("real", "0.5"), ("virtual", "0.56")):
            self.start("robot", "--pair", "r1", "--side", side, "--linear-speed", speed, "--angular-speed", "4",
                       "--noise", "0.004", "--telemetry-rate", "5", "--delay", "0.01",
                       "--seed", "1" if side == "real" else "2")
            self.start("robot", "--kind", "diffdrive", "--pair", "base", "--side", side, "--mode", "link",
                       "--telemetry-rate", "5", "--map", MAP, "--linear-speed", "1", "--angular-speed", "6")
        vessels = self.folder / "vessels.yaml"
        vessels.write_text(VESSELS)
        for side in ("real", "virtual"):
            self.start("robot", "--kind", "usv3", "--pair", "boat", "--side", side, "--parameters", vessels,
                       "--telemetry-rate", "20")
            self.start("robot", "--kind", "usv3", "--pair", "vessel", "--side", side, "--parameters", vessels,
                       "--telemetry-rate", "10")
            self.start("robot", "--kind", "arm6", "--pair", "ur", "--side", side, "--mode", "link", "--telemetry-rate", "10",
                       "--pose", ",".join(map(str, WORK)))
        self.wait(lambda: all(self.online(pair) for pair in ("r1", "base", "boat", "vessel", "ur")), "all robots are there", 40)
        self.start("drive", "--pair", "r1", "--interval", "0.15", "--turn-max", "1", "--drive-max", "0.4")
        self.start("drive", "--pair", "base", "--mode", "link", "--interval", "0.2", "--turn-min", "0.5",
                   "--turn-max", "2.4", "--drive-min", "0.1", "--drive-max", "0.35", "--timeout", "20")
        self.pilots = [self.run(["mosquitto_pub", "-p", self.broker_port, "-q", "0", "-l",
                                 "-t", f"tandem/v1/{topic}"], stdin=subprocess.PIPE, text=True)
                       for topic in ("ur/command", "boat/real/control", "vessel/real/control", "vessel/virtual/control")]
        threading.Thread(target=self.steer, daemon=True).start()

    def steer(self):
        """Turns and straights that do not repeat."""
        begin = time.monotonic()
        moves = 0
        while not self.piloting.wait(0.05):
            t = time.monotonic() - begin
            if t > 3 * moves:
                moves += 1
                q = [angle + 0.4 * math.sin(2.4 * moves + k) for k, angle in enumerate(WORK)]
                self.write_line(self.pilots[0], json.dumps({"id": f"ur{moves}", "op": "movej", "q_rad": q}))
            tau = (50 + 15 * math.sin(t / 2.1), 0, 10 + 8 * math.sin(t / 1.4) + 4 * math.sin(2 * t))
            for pilot in self.pilots[1:]:
                self.write_line(pilot, '{"tau":[%.3f,%.3f,%.3f]}' % tau)

    @staticmethod
    def write_line(pilot, line):
        try:
            pilot.stdin.write(line + "\n")
            pilot.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # the lab ends

    def online(self, pair):
        state = self.get(f"/api/v1/pairs/{pair}")
        return all(state[side]["connection"] == "online" for side in ("real", "virtual"))

    def entries(self, pair):
        return self.get(f"/api/v1/pairs/{pair}")["entries"]

    def put(self, path, body):
        return self.fetch(path, "PUT", body.encode(), TOKEN)
