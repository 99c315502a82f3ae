#!/usr/bin/env python3
"""A LeRobot data set (v2.1 or v3.0) as one CSV per episode: t_s, then JOINT_command and JOINT_position of every joint.

usage: lerobot_to_csv.py DATASET OUT [--degrees] [--per-unit JOINT=RAD]...

Needs pyarrow. Values of `action` and `observation.state` are multiplied: by 1, by the radians of a degree, or by the
factor of their joint. Data sets do not name their unit: degrees, or -100 to 100 of a joint's range.
"""
import argparse
import csv
import json
import math
import pathlib
import sys

import pyarrow.parquet

COLUMNS = ["timestamp", "episode_index", "frame_index", "action", "observation.state"]


def read_joints(info):
    features = info["features"]
    count = features["observation.state"]["shape"][0]
    if features["action"]["shape"][0] != count:
        sys.exit("action and observation.state differ in length: which command belongs to which joint is unknown")
    names = features["observation.state"].get("names") or [f"joint{k + 1}" for k in range(count)]
    names = next(iter(names.values())) if isinstance(names, dict) else names
    return [str(name).replace(".pos", "").replace(" ", "_") for name in names]


def read_episodes(dataset):
    """{episode: [(frame, action, state)]}, in the order of frames."""
    episodes = {}
    for path in sorted(dataset.glob("data/chunk-*/*.parquet")):
        table = pyarrow.parquet.read_table(path, columns=COLUMNS).to_pydict()
        for _, episode, frame, action, state in zip(*(table[name] for name in COLUMNS)):
            episodes.setdefault(episode, []).append((frame, action, state))
    return {episode: sorted(rows) for episode, rows in episodes.items()}


def write_episode(path, joints, factors, fps, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["t_s"] + [f"{joint}_{what}" for joint in joints for what in ("command", "position")])
        for frame, action, state in rows:
            pairs = zip(action, state, factors)
            writer.writerow([f"{frame / fps:.6f}"] + [f"{x * k:.9g}" for a, s, k in pairs for x in (a, s)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--degrees", action="store_true")
    parser.add_argument("--per-unit", action="append", default=[], metavar="JOINT=RAD")
    words = parser.parse_args()
    info = json.loads((words.dataset / "meta/info.json").read_text())
    joints = read_joints(info)
    own = {joint: float(value) for joint, _, value in (word.partition("=") for word in words.per_unit)}
    factors = [own.get(joint, math.radians(1) if words.degrees else 1.0) for joint in joints]
    words.out.mkdir(parents=True, exist_ok=True)
    for episode, rows in read_episodes(words.dataset).items():
        write_episode(words.out / f"episode_{episode:06d}.csv", joints, factors, info["fps"], rows)


if __name__ == "__main__":
    main()
