"""lidar_tour.py - recordings of a robot with a lidar and wrong wheels in a room with furniture, and where it was in truth."""
import json
import math
import random
import time

T0 = 1795154400
ROOM = [[(0, 0), (10, 0), (10, 6), (0, 6)], [(2, 4.5), (3.5, 4.5), (3.5, 5.5), (2, 5.5)], [(6, .3), (7, .3), (7, 1), (6, 1)],
        [(.1, 2.6), (.5, 2.6), (.5, 3.6), (.1, 3.6)], [(4.8, 2.8), (5.2, 2.8), (5.2, 3.2), (4.8, 3.2)]]
WALLS = [(a, b) for ring in ROOM for a, b in zip(ring, ring[1:] + ring[:1])]
WAY = [(8.8, 1.6), (9.0, 3.8), (7.0, 4.6), (4.2, 4.2), (1.2, 4.0), (1.2, 1.3)]
RANGE_M, RAYS = 12.0, 90


def cast(x, y, angle, range_m=RANGE_M):
    """The range to the nearest wall by the two equations of ray and segment."""
    dx, dy, nearest = math.cos(angle), math.sin(angle), range_m
    for (ax, ay), (bx, by) in WALLS:
        ex, ey = bx - ax, by - ay
        det = ex * dy - ey * dx
        if abs(det) > 1e-12:
            far = (ex * (ay - y) - ey * (ax - x)) / det
            part = (dx * (ay - y) - dy * (ax - x)) / det
            nearest = far if 0 < far < nearest and 0 <= part <= 1 else nearest
    return nearest


def named(pose):
    return dict(zip(("x_m", "y_m", "psi_rad"), pose))


class Journal:
    def __init__(self):
        self.lines, self.t, self.n = [], 1.0, 0

    def add(self, topic, payload):
        self.t += 0.01
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(T0 + int(self.t))) + f".{round(self.t % 1 * 1e6):06d}Z"
        self.lines.append(json.dumps({"tst": stamp, "topic": f"tandem/v1/r1/{topic}", "qos": 1, "retain": 0, "payload": payload}))

    def command(self, op, status, values, virtual=None, **more):
        self.n += 1
        self.add("command", {"id": f"c{self.n}", "op": op, **more})
        self.add("real/reply", {"id": f"c{self.n}", "status": status, "values": values})
        if virtual:
            self.add("virtual/reply", {"id": f"c{self.n}", "status": status, "values": virtual})

    def telemetry(self, pose, side="real"):
        self.add(f"{side}/telemetry", {"t": T0 + self.t, "nu": [0, 0, 0], "pose": pose})

    def sweep(self, truth, odometry, rays=RAYS, creep=0.0, noise=lambda: 0.0, end="done", range_m=RANGE_M, virtual=None):
        """A ray a command, as the lab robot does; telemetry now and then. virtual: odometry of the virtual robot, at the
        same place."""
        for k in range(rays):
            angle = 2 * math.pi * k / rays
            far = cast(truth[0], truth[1], truth[2] + angle, range_m)
            ray = {"angle_rad": angle, "range_m": far + noise() if far < range_m else far}
            self.command("resume" if k else "lidar", "data", ray, virtual and ray)
            if k % 20 == 0:
                self.telemetry([odometry[0] + creep * k / rays, *odometry[1:]])
                if virtual:
                    self.telemetry(virtual, "virtual")
        self.command("resume", end, named(odometry), virtual and named(virtual))

    def write(self, path):
        path.write_text("".join(line + "\n" for line in self.lines))


def tour(stops, seed, both=False):
    """Wheels with 3 % error, a sweep each metre at most; returns the journal and the true poses. both: the virtual robot
    takes the same sweeps, and states the true poses."""
    dice, journal, corner, truths = random.Random(seed), Journal(), 0, []
    x, y, yaw = 1.2, 1.3, 0.0
    seen = [x, y, yaw]
    for stop in range(stops):
        if stop:
            if math.dist((x, y), WAY[corner]) < 0.5:
                corner = (corner + 1) % len(WAY)
            turn = math.remainder(math.atan2(WAY[corner][1] - y, WAY[corner][0] - x) - yaw, 2 * math.pi)
            far = min(1.0, math.dist((x, y), WAY[corner]))
            yaw += turn
            x, y = x + far * math.cos(yaw), y + far * math.sin(yaw)
            seen[2] = math.remainder(seen[2] + turn * (1.03 + dice.gauss(0, .01)) + dice.gauss(0, .01), 2 * math.pi)
            went = far * (1.03 + dice.gauss(0, .01))
            seen[0] += went * math.cos(seen[2])
            seen[1] += went * math.sin(seen[2])
            journal.telemetry([seen[0] - 0.03, seen[1], seen[2]])  # still driving
            journal.command("go", "done", named(seen), both and named((x, y, yaw)), rotation_rad=turn, displacement_m=far)
        journal.sweep((x, y, yaw), seen, noise=lambda: dice.gauss(0, 0.01), virtual=(x, y, yaw) if both else None)
        truths.append((x, y, yaw))
    return journal, truths


def wall_distance(x, y):
    def one(a, b):
        ex, ey = b[0] - a[0], b[1] - a[1]
        t = max(0, min(1, ((x - a[0]) * ex + (y - a[1]) * ey) / (ex * ex + ey * ey)))
        return math.hypot(x - a[0] - t * ex, y - a[1] - t * ey)
    return min(one(a, b) for a, b in WALLS)
