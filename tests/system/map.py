"""map.py: see map.sh."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/support")
from lidar_tour import RAYS, Journal, tour, wall_distance  # noqa: E402

TANDEM = os.environ["TANDEM"]
LAB = "name: room\npairs:\n  r1: {timeout_s: 60}\n  r2: {timeout_s: 60}\n"


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
    assert "30 of the real robot of r1, 0 too soon, 0 refused" in page and "matched 29" in page, page
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
    journal.sweep((5.0, 2.0, 0.0), (5.0, 2.0, 0.0), range_m=2.0)
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
