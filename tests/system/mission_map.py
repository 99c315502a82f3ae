"""A room as a ROS map: a robot drives around the furniture and through the door without touching anything, it says why it
cannot reach what is enclosed, metrics count the missions, and a replay reaches the same states.
"""
import json
import subprocess
import sys

sys.path.insert(0, "tests/support")
from rig import TANDEM, Rig, member, replay  # noqa: E402

CELL_M = 0.05
WIDTH, HEIGHT = 120, 80  # from [-1, -2] to [5, 2]
# x, y of the middle, width, depth in m
BOXES = {"partition_a": (2.0, -0.75, 0.1, 2.5), "partition_b": (2.0, 1.75, 0.1, 0.5), "table": (0.9, 0.3, 0.6, 0.6),
         "shelf": (3.2, 0.6, 0.4, 1.0), "closet_a": (4.5, -1.0, 1.0, 0.1), "closet_b": (4.0, -1.5, 0.1, 1.1)}
PAIRS = "r1: {mode: link, missions_max: 3, map: map.yaml, timeout_s: 600}\n"


def is_occupied(column, row):
    x, y = -1 + CELL_M * (column + 0.5), -2 + CELL_M * (row + 0.5)
    return any(abs(x - cx) <= width / 2 and abs(y - cy) <= depth / 2 for cx, cy, width, depth in BOXES.values())


def write_maps(folder):
    """The ROS map of the lab, and the same room for the simulated robots."""
    pixels = bytes(0 if is_occupied(i, HEIGHT - 1 - j) else 254 for j in range(HEIGHT) for i in range(WIDTH))
    (folder / "map.pgm").write_bytes(b"P5\n# a room\n%d %d\n255\n" % (WIDTH, HEIGHT) + pixels)
    (folder / "map.yaml").write_text(f"image: map.pgm\nresolution: {CELL_M}\norigin: [-1, -2, 0]\nnegate: 0\n"
                                     "occupied_thresh: 0.65\nfree_thresh: 0.196\nunknown: 3\n")
    shapes = "".join(f"  {name}: {{shape: box, x_m: {x}, y_m: {y}, width_m: {w}, depth_m: {d}}}\n"
                     for name, (x, y, w, d) in BOXES.items())
    (folder / "room.yaml").write_text(f"obstacles:\n{shapes}")


class Lab(Rig):
    def journal_lines(self):
        return [line for file in sorted((self.folder / "journal").glob("*.jsonl")) for line in
                file.read_text().splitlines()]

    def send(self, mission):
        self.publish("tandem/v1/r1/mission", {"return": "never", **mission})

    def await_state(self, mission, state, seconds=60):
        def reached():
            missions = json.loads(self.fetch("/api/v1/pairs/r1/missions"))["missions"]
            return next((m for m in missions if m["id"] == mission and m["state"] == state), None)
        return self.wait(reached, f"{mission} is {state}", seconds)


def drives_around(rig):
    rig.send({"id": "around", "kind": "NAVIGATE", "goal_m": [4, 1.5], "clearance_m": 0.2})
    done = rig.await_state("around", "done", 120)
    assert done["step"] == 1 and "detail" not in done, done
    replies = [json.loads(line)["payload"] for line in rig.journal_lines() if '/real/reply"' in line]
    end = replies[-1]["values"]
    assert abs(end["x_m"] - 4) < 0.1 and abs(end["y_m"] - 1.5) < 0.1, end
    assert len(replies) >= 4 and all(reply["status"] == "done" for reply in replies), replies
    trajectory = json.loads(rig.fetch("/api/v1/pairs/r1/trajectory"))
    cells = trajectory["map"]["cells"]
    assert len(cells["rows"]) == HEIGHT and cells["width"] == WIDTH and "o" in cells["rows"][0], cells["rows"][0]


def says_why(rig):
    rig.send({"id": "closet", "kind": "NAVIGATE", "goal_m": [4.6, -1.5], "clearance_m": 0.2})
    failed = rig.await_state("closet", "failed")
    assert failed["code"] == "no_route" and "it can reach 1" in failed["detail"], failed
    rig.send({"id": "wall", "kind": "NAVIGATE", "goal_m": [2, -1]})
    refused = rig.await_state("wall", "refused")
    assert refused["code"] == "in_obstacle" and "occupied cell" in refused["detail"], refused
    metrics = rig.fetch("/metrics")
    for line in ('tandem_missions_total{pair="r1",state="done"} 1',
                 'tandem_missions_failed_total{pair="r1",reason="no_route"} 1', 'tandem_missions_waiting{pair="r1"} 0'):
        assert line in metrics, line


def replays_alike(rig):
    """The journal says which map the routes were planned on."""
    start = next(json.loads(line)["payload"] for line in rig.journal_lines() if '/$lab/start"' in line)
    assert start["maps"].startswith("map.yaml=") and len(start["maps"]) == len("map.yaml=") + 17, start
    live = rig.fetch("/api/v1/pairs/r1/missions").strip()
    rig.stop_daemon()
    document = replay(rig.lab, *sorted((rig.folder / "journal").glob("*")))
    assert member(member(document, "r1"), "missions") == live, "a replay reaches other states"


def refuses_a_bad_map(rig):
    for name, old, new, words in (("map.yaml", "unknown: 3", "unknown: 0", "a factor of 1 to 50"),
                                  ("map.yaml", "map.pgm", "map.png", "cannot open its image map.png")):
        good = (rig.folder / name).read_text()
        (rig.folder / name).write_text(good.replace(old, new))
        run = subprocess.run([TANDEM, "config", rig.lab], capture_output=True, text=True, check=False)
        (rig.folder / name).write_text(good)
        assert run.returncode != 0 and words in run.stderr, run


def main():
    with Lab(pairs=PAIRS) as rig:
        write_maps(rig.folder)
        rig.start_daemon()
        for side, seed in (("real", 1), ("virtual", 2)):
            rig.start("robot", "--kind", "diffdrive", "--pair", "r1", "--mode", "link", "--side", side, "--map",
                      rig.folder / "room.yaml", "--pace", 5, "--seed", seed)
        rig.wait_online("r1")
        drives_around(rig)
        says_why(rig)
        replays_alike(rig)
        refuses_a_bad_map(rig)
    print("missions on a map: fine")


if __name__ == "__main__":
    main()
