"""A tour of a robot with wrong wheels is played to a daemon whose pair makes a live map. The poses are right, the picture
is that of `tandem map` on the journal, cell by cell, and neither a kill nor a replay changes a byte of it.
"""
import json
import math
import re
import signal
import struct
import subprocess
import urllib.request
import zlib

from lidar_tour import tour
from rig import TANDEM, Rig, member, replay
from waiting import limit_s

STOPS = 8
PAIRS = "r1: {timeout_s: 60, live_map: {range_m: 12, x_min_m: -1, y_min_m: -1, x_max_m: 11, y_max_m: 7, every_s: 0.1}}"


def read_png(data):
    """The numbers of the pixels' colours, row by row from the top: a reader of its own."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    chunks, at = {}, 8
    while at < len(data):
        length, = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack_from(">I", data, at + 8 + length)[0], kind
        chunks[kind], at = body, at + 12 + length
    width, height, bits, colours = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    assert (bits, colours) == (8, 3) and len(chunks[b"tRNS"]) == 3 and chunks[b"tRNS"][0] == 0, chunks[b"IHDR"]
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[y * (width + 1):(y + 1) * (width + 1)] for y in range(height)]
    assert all(row[0] == 0 for row in rows), "filters"
    assert len(chunks[b"PLTE"]) == 9, chunks[b"PLTE"]
    return width, height, b"".join(row[1:] for row in rows)


def read_pgm(path):
    data = path.read_bytes()
    head = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", data)
    return int(head[1]), int(head[2]), data[head.end():].translate(bytes.maketrans(b"\xcd\xfe\x00", b"\x00\x01\x02"))


def fetch_picture(rig):
    with urllib.request.urlopen(f"http://127.0.0.1:{rig.http_port}/api/v1/pairs/r1/map.png", timeout=limit_s(10)) as answer:
        assert answer.headers["Content-Type"] == "image/png", answer.headers
        return read_png(answer.read())


def check_poses(live, truth):
    for side in ("real", "virtual"):
        robot = live["robots"][side]
        assert math.dist(robot["pose"][:2], truth[:2]) <= 0.05, (side, robot, truth)
        assert abs(math.remainder(robot["pose"][2] - truth[2], 2 * math.pi)) <= math.radians(1), (side, robot, truth)
    real, virtual = live["robots"]["real"], live["robots"]["virtual"]
    assert real["added"] == STOPS and real["matched"]["matched"] == STOPS - 1 and real["drift_m"] > 0.05, real
    assert virtual["added"] == 0 and virtual["matched"]["matched"] >= STOPS - 1 and virtual["drift_m"] < 0.05, virtual


def check_offline(rig, live):
    """The same sweeps by `tandem map`, with the lab file's section as its defaults."""
    run = subprocess.run([TANDEM, "map", "-c", rig.lab, "--pair", "r1", "--json", "-o", rig.folder / "room", rig.folder / "journal"],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    assert document["sweeps"] == STOPS and document["early"] == live["robots"]["real"]["early"], document
    assert document["poses"][-1]["pose"] == live["robots"]["real"]["pose"], (document["poses"][-1], live)
    assert fetch_picture(rig) == read_pgm(rig.folder / "room.pgm"), "the same cells"


def fetch_map(rig):
    return rig.get("/api/v1/pairs/r1/map.json")


with Rig(pairs=PAIRS) as rig:
    journal, truths = tour(STOPS, 1, both=True)
    journal.write(rig.folder / "tour.jsonl")
    rig.start_daemon()
    assert fetch_map(rig)["sweeps"] == 0 and fetch_picture(rig)[:2] == (240, 160)
    assert rig.start("play", rig.folder / "tour.jsonl").wait(limit_s(120)) == 0
    rig.wait(lambda: sum(fetch_map(rig)["robots"]["virtual"]["matched"].values()) == STOPS, "all sweeps", 20)
    live = fetch_map(rig)
    check_poses(live, truths[-1])
    check_offline(rig, live)
    metrics = rig.fetch("/metrics")
    assert f'tandem_map_sweeps_total{{pair="r1",side="real",outcome="matched"}} {STOPS - 1}\n' in metrics, metrics
    rig.daemon.send_signal(signal.SIGKILL)
    rig.daemon.wait()
    rig.start_daemon()
    assert fetch_map(rig) == live, (fetch_map(rig), live)
    check_offline(rig, live)
    rig.stop_daemon()
    again = json.loads(member(member(member(replay(rig.lab, rig.folder / "journal"), "pairs"), "r1"), "map"))
    assert {"pair": "r1", **again} == live, (again, live)
    print(f"{STOPS} sweeps: real {live['robots']['real']['drift_m']:.3f} m off by odometry, apart {live['apart_m']:.3f} m")
