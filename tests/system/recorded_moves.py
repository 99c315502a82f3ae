"""recorded_moves.py DATA: see recorded_moves.sh."""
import csv
import json
import pathlib
import sys
import time

from rig import Rig, cut_records, member, replay
from waiting import limit_s

# The virtual robots move at nominal speeds.
NOMINAL_V, NOMINAL_W = 0.08, 0.5


def read_moves(data, robot):
    with open(pathlib.Path(data) / "mrclam_d6" / f"robot{robot}_moves.csv") as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


def recording(pairs, path):
    """pairs: {id: moves}. The command comes at the start, the real reply at the end, the virtual reply by nominal
    speeds; replies have start and end on the robots' clocks.
    """
    lines = []
    for pair, moves in pairs.items():
        for k, move in enumerate(moves):
            start, rotation, distance = move["t_start_s"], move["rotation_abs_rad"], move["displacement_m"]
            ends = {"real": move["duration_s"], "virtual": rotation / NOMINAL_W + distance / NOMINAL_V}
            command = {"id": f"m{k}", "op": "go", "rotation_rad": rotation, "displacement_m": distance}
            lines.append((start, f"{pair}/command", command))
            for side, lap in ends.items():
                lines.append((start + lap, f"{pair}/{side}/reply",
                              {"id": f"m{k}", "status": "done", "t_start": round(start, 6), "t": round(start + lap, 6)}))
    lines.sort(key=lambda line: line[0])
    with open(path, "w") as file:
        for t, topic, payload in lines:
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1248444187 + int(t)))
            file.write(json.dumps({"tst": f"{stamp}.{round(t % 1 * 1e6) % 1000000:06d}Z", "topic": f"tandem/v1/{topic}",
                                   "qos": 1, "retain": 0, "payload": payload}) + "\n")


def entries_of(text):
    return [json.loads(record) for record in cut_records(text, "entries")]


def play(rig, path, speed, pairs, count):
    rig.start_daemon()
    player = rig.start("play", "--speed", speed, path)
    assert player.wait(limit_s(300)) == 0
    rig.wait(lambda: sum(p["entries"] for p in rig.get("/api/v1/pairs")["pairs"]) >= count, "all entries", 60)
    rig.wait_stored(*pairs)
    live = {pair: {"entries": [json.loads(e) for e in rig.records(pair, "entries")],
                   "travel_time": rig.fetch(f"/api/v1/pairs/{pair}/travel-time").strip()} for pair in pairs}
    rig.stop_daemon()
    return live


def at_its_own_speed(data):
    """Short moves in real time: the same laps and verdicts."""
    moves = [m for m in read_moves(data, 4) if m["duration_s"] < 1.5][:10]
    start = 0.0
    for move in moves:
        move["t_start_s"] = start
        start += 2.0
    with Rig("m4: {}") as rig:
        path = rig.folder / "moves.jsonl"
        recording({"m4": moves}, path)
        live = play(rig, path, 1, ["m4"], len(moves))["m4"]
        offline = entries_of(member(member(replay(rig.lab, path), "pairs"), "m4"))
        assert len(live["entries"]) == len(offline) == len(moves)
        for one, other in zip(live["entries"], offline):
            assert one["id"] == other["id"] and one["verdict"] == other["verdict"], (one, other)
            assert max(abs(one[lap] - other[lap]) for lap in ("real_lap_s", "virtual_lap_s", "lag_s")) < 0.002, (one, other)
        print(f"{len(moves)} moves of robot 4 at their own speed: the same entries")


def faster(data):
    """All moves of all five robots, 20 times as fast: laps shrink, durations by the robots' clocks do not."""
    pairs = {f"m{robot}": read_moves(data, robot) for robot in range(1, 6)}
    count = sum(len(moves) for moves in pairs.values())
    lab = "\n  ".join(f"{pair}: {{timeout_s: 1000, outstanding_max: 16}}" for pair in pairs)
    with Rig(lab) as rig:
        path = rig.folder / "moves.jsonl"
        recording(pairs, path)
        live = play(rig, path, 20, pairs, count)
        document = replay(rig.lab, path)
        for pair, moves in pairs.items():
            results = member(member(document, "pairs"), pair)
            offline = entries_of(results)
            ids, want = (sorted(e["id"] for e in entries) for entries in (live[pair]["entries"], offline))
            assert ids == want, (pair, ids, want)
            assert len(offline) == len(moves)
            fit, fit_live = json.loads(member(results, "travel_time")), json.loads(live[pair]["travel_time"])
            assert fit["real"]["n"] == min(128, len(moves))
            for side in ("real", "virtual"):
                for name, value in fit[side]["values"].items():
                    other = fit_live[side]["values"][name]
                    assert value == other or abs(value - other) < 1e-6 * abs(value), (pair, side, name, value, other)
            v, w = (fit["real"]["values"][k] for k in ("linear_speed_mps", "angular_speed_radps"))
            print(f"{pair}: {len(moves)} moves, v = {v:.4f} m/s, w = {w:.3f} rad/s, live and offline alike")


def main():
    at_its_own_speed(sys.argv[1])
    faster(sys.argv[1])


main()
