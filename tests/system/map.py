"""map.py: see map.sh."""
import json
import math
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

TANDEM = os.environ["TANDEM"]
T0 = 1795154400
LAB = "name: room\npairs:\n  r1: {timeout_s: 60}\n  r2: {timeout_s: 60}\n"
ROOM = [[(0, 0), (10, 0), (10, 6), (0, 6)], [(2, 4.5), (3.5, 4.5), (3.5, 5.5), (2, 5.5)], [(6, .3), (7, .3), (7, 1), (6, 1)],
        [(.1, 2.6), (.5, 2.6), (.5, 3.6), (.1, 3.6)], [(4.8, 2.8), (5.2, 2.8), (5.2, 3.2), (4.8, 3.2)]]
WALLS = [(a, b) for ring in ROOM for a, b in zip(ring, ring[1:] + ring[:1])]
WAY = [(8.8, 1.6), (9.0, 3.8), (7.0, 4.6), (4.2, 4.2), (1.2, 4.0), (1.2, 1.3)]
RANGE_M, RAYS = 12.0, 90


def cast(x, y, angle):
    """The range to the nearest wall by the two equations of ray and segment."""
    dx, dy, nearest = math.cos(angle), math.sin(angle), RANGE_M
    for (ax, ay), (bx, by) in WALLS:
        ex, ey = bx - ax, by - ay
        det = ex * dy - ey * dx
        if abs(det) > 1e-12:
            far = (ex * (ay - y) - ey * (ax - x)) / det
            part = (dx * (ay - y) - dy * (ax - x)) / det
            nearest = far if 0 < far < nearest and 0 <= part <= 1 else nearest
    return nearest


class Journal:
    def __init__(self):
        self.lines, self.t, self.n = [], 1.0, 0

    def add(self, topic, payload):
        self.t += 0.01
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(T0 + int(self.t))) + f".{round(self.t % 1 * 1e6):06d}Z"
        self.lines.append(json.dumps({"tst": stamp, "topic": f"tandem/v1/r1/{topic}", "qos": 1, "retain": 0, "payload": payload}))

    def command(self, op, status, values, **more):
        self.n += 1
        self.add("command", {"id": f"c{self.n}", "op": op, **more})
        self.add("real/reply", {"id": f"c{self.n}", "status": status, "values": values})

    def telemetry(self, pose):
        self.add("real/telemetry", {"t": T0 + self.t, "nu": [0, 0, 0], "pose": pose})

    def sweep(self, truth, odometry, rays=RAYS, creep=0.0, noise=lambda: 0.0, end="done"):
        """A ray a command, as the lab robot does; telemetry now and then."""
        for k in range(rays):
            angle = 2 * math.pi * k / rays
            far = cast(truth[0], truth[1], truth[2] + angle)
            self.command("resume" if k else "lidar", "data", {"angle_rad": angle, "range_m": far + noise() if far < RANGE_M else far})
            if k % 20 == 0:
                self.telemetry([odometry[0] + creep * k / rays, *odometry[1:]])
        self.command("resume", end, dict(zip(("x_m", "y_m", "psi_rad"), odometry)))

    def write(self, path):
        path.write_text("".join(line + "\n" for line in self.lines))


def tour(stops, seed):
    """Wheels with 3 % error, a sweep each metre at most; returns the journal and the true poses."""
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
            journal.command("go", "done", dict(zip(("x_m", "y_m", "psi_rad"), seen)), rotation_rad=turn, displacement_m=far)
        journal.sweep((x, y, yaw), seen, noise=lambda: dice.gauss(0, 0.01))
        truths.append((x, y, yaw))
    return journal, truths


def tandem(*words, code=0, says=""):
    run = subprocess.run([TANDEM, "map", *map(str, words)], capture_output=True, text=True)
    assert run.returncode == code and says in run.stderr, (words, run.returncode, run.stdout, run.stderr)
    return run


def read_map(prefix):
    """Read both files as their formats are described; the state of each cell, and where its centre is."""
    text = prefix.with_suffix(".yaml").read_text()
    facts = dict(re.fullmatch(r"(\w+): (.*)", line).groups() for line in text.splitlines())
    assert list(facts) == ["image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh"], text
    data = (prefix.parent / facts["image"].strip("'")).read_bytes()
    head = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", data)
    width, height = int(head[1]), int(head[2])
    pixels = data[head.end():]
    assert len(pixels) == width * height and facts["negate"] == "0"
    origin, cell = json.loads(facts["origin"]), float(facts["resolution"])
    states = {}
    for k, value in enumerate(pixels):
        p = (255 - value) / 255
        state = "occupied" if p > float(facts["occupied_thresh"]) else "free" if p < float(facts["free_thresh"]) else "unknown"
        states[k % width, height - 1 - k // width] = state
    return states, lambda i, j: (origin[0] + cell * (i + .5), origin[1] + cell * (j + .5)), (width, height)


def wall_distance(x, y):
    def one(a, b):
        ex, ey = b[0] - a[0], b[1] - a[1]
        t = max(0, min(1, ((x - a[0]) * ex + (y - a[1]) * ey) / (ex * ex + ey * ey)))
        return math.hypot(x - a[0] - t * ex, y - a[1] - t * ey)
    return min(one(a, b) for a, b in WALLS)


def check_tour(folder):
    journal, truths = tour(30, 1)
    journal.write(folder / "tour.jsonl")
    words = ["-c", folder / "lab.yaml", "--pair", "r1", "-o", folder / "it's a room", folder / "tour.jsonl"]
    document = json.loads(tandem(*words, "--json").stdout)
    assert document["sweeps"] == 30 and sum(document["refused"].values()) == 0, document
    assert document["outcomes"]["matched"] == 29 and document["poses"][0]["outcome"] == "first", document["outcomes"]
    odometry = 0.0
    for row, truth in zip(document["poses"], truths):
        assert math.dist(row["pose"][:2], truth[:2]) <= 0.05, (row, truth)
        assert abs(math.remainder(row["pose"][2] - truth[2], 2 * math.pi)) <= math.radians(1), (row, truth)
        assert row["rays"] == RAYS and 0 < row["cov"][0] < 0.01 and len(row["cov"]) == 9, row
        odometry = max(odometry, math.dist(row["odometry"][:2], truth[:2]))
    assert odometry > 0.3, odometry  # the sweeps did it, not the wheels
    prefix = folder / "it's a room"
    prefix.with_suffix(".yaml").write_text(prefix.with_suffix(".yaml").read_text().replace("''", "'"))
    states, centre, size = read_map(prefix)
    counts = {s: sum(v == s for v in states.values()) for s in ("occupied", "free", "unknown")}
    assert [*size] == [document["map"]["width"], document["map"]["height"]] and size[0] < 240, size
    assert counts == {s: document["map"][s] for s in counts}, (counts, document["map"])
    wrong = [at for at, s in states.items() if s == "occupied" and wall_distance(*centre(*at)) > 0.075]
    assert len(wrong) <= 0.03 * counts["occupied"] and counts["occupied"] > 300, (len(wrong), counts)
    # Not mirrored: free where the robot stood, and the cupboard of the upper left is no free place.
    near = {centre(*at): s for at, s in states.items()}
    for x, y, _ in truths:
        assert near[min(near, key=lambda c: math.dist(c, (x, y)))] == "free", (x, y)
    assert all(s != "free" for c, s in near.items() if 2.1 < c[0] < 3.4 and 4.6 < c[1] < 5.4)
    page = tandem(*words).stdout
    assert "30 of the real robot of r1, 0 refused" in page and "matched 29" in page, page
    given = tandem(*words, "--size", "-1,-1,11,7", "--cell", "0.1", "--json")
    assert json.loads(given.stdout)["map"]["width"] == 120, given.stdout[:500]


def check_refused(folder):
    """A creep of 2 cm, a halted one and one that a move cuts off are refused, the others are not."""
    journal, at = Journal(), (2.0, 2.0, 0.4)
    journal.sweep(at, at, rays=100, creep=0.02)
    journal.sweep(at, at, rays=100, end="halted")
    journal.command("lidar", "data", {"angle_rad": 0.0, "range_m": 1.0})
    journal.command("go", "done", {"x_m": 2.0, "y_m": 2.0, "psi_rad": 0.4})
    path = folder / "refused.jsonl"
    words = ["-c", folder / "lab.yaml", "--pair", "r1", "-o", folder / "none", path]
    journal.write(path)
    tandem(*words, code=1, says="all 3 sweeps of the real robot of r1 are refused: motion in it, cut off")
    assert not (folder / "none.pgm").exists()
    journal.sweep(at, at, rays=100, creep=0.004)
    journal.sweep(at, at, rays=20)
    journal.write(path)
    document = json.loads(tandem(*words, "--json").stdout)
    assert document["sweeps"] == 2 and document["outcomes"]["few_rays"] == 1, document
    assert document["refused"] == {"motion in it": 1, "no pose": 0, "cut off": 2, "more than 720 rays": 0}, document
    assert tandem(*words, "--range", "20").stderr == "", "a longest ray that occurs once is no range"
    far = Journal()
    far.sweep((2.0, 2.0, 0.4), (1e6, 0.0, 0.0))
    journal.lines += far.lines
    journal.write(path)
    tandem(*words, code=1, says="cells of 0.05 m, expected at most 2000 along a side")


def check_words(folder):
    journal = Journal()
    journal.command("go", "done", {"x_m": 0.0, "y_m": 0.0, "psi_rad": 0.0})
    journal.write(folder / "moves.jsonl")
    lab, moves = ["-c", folder / "lab.yaml"], folder / "moves.jsonl"
    tandem(*lab, "--pair", "r1", "-o", folder / "x", moves, code=1, says="the real robot of r1 has no sweeps in it")
    tandem(*lab, "--pair", "r9", "-o", folder / "x", moves, code=2, says="the lab file has no pair 'r9'")
    tandem(*lab, "-o", folder / "x", moves, code=2, says="--pair ID is needed")
    tandem(*lab, "--pair", "r1", moves, code=2, says="-o PREFIX is needed")
    tandem(*lab, "--pair", "r1", "-o", folder / "x", "--size", "1,1,0,2", moves, code=2, says="expected X0,Y0,X1,Y1 in m")
    tandem(*lab, "--pair", "r1", "-o", folder / "absent/x", folder / "tour.jsonl", code=1,
           says="absent/x.pgm: cannot be written: No such file or directory")
    # A lidar of 2 m that says 2 m when it sees nothing: walls in the air, and a hint.
    journal = Journal()
    global RANGE_M
    RANGE_M = 2.0
    journal.sweep((5.0, 2.0, 0.0), (5.0, 2.0, 0.0))
    journal.write(folder / "short.jsonl")
    words = [*lab, "--pair", "r1", "-o", folder / "short", folder / "short.jsonl"]
    tandem(*words, says="if the lidar sees no further: --range 2")
    assert tandem(*words, "--range", "2").stderr == ""


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    (root / "lab.yaml").write_text(LAB)
    check_tour(root)
    check_refused(root)
    check_words(root)
