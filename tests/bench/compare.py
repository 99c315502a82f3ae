"""compare.py [PAIRS [MOVES]]: CPU time of `tandem compare` of two recordings, against that of replaying both.

In B the simulator drives 2 % slower, and all laps scatter, so nothing is equal but the commands.
"""
import heapq
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

TANDEM = os.environ["TANDEM"]
RUNS = 3
START_S = 1795154400.0  # 2026-11-20T06:00:00Z


def messages(pair, moves, seed, slower, start_s):
    """Yields (time, topic, payload) of one pair, by time: its commands are those of every recording."""
    plan, noise = random.Random(pair), random.Random(f"{seed} {pair}")
    t_s = start_s + 0.037 * pair
    for n in range(moves):
        turn, drive = round(plan.uniform(0.3, 3.1), 2), round(plan.uniform(0.1, 1.4), 2)
        moves_s = 0.34 + turn / 1.2 + drive / 0.2
        laps = {"real": moves_s + noise.gauss(0, 0.02), "virtual": moves_s * slower + noise.gauss(0, 0.01)}
        yield t_s, f"r{pair}/command", f'{{"id":"{seed}-{n}","op":"go","rotation_rad":{turn},"displacement_m":{drive}}}'
        for side in sorted(laps, key=laps.get):
            yield t_s + laps[side], f"r{pair}/{side}/reply", f'{{"id":"{seed}-{n}","status":"done","values":{{"x_m":{drive}}}}}'
        t_s += max(laps.values()) + 2


def write(path, pairs, moves, seed, slower, start_s):
    with open(path, "w") as out:
        for t_s, topic, payload in heapq.merge(*(messages(p, moves, seed, slower, start_s) for p in range(pairs))):
            out.write(f'{{"tst":{t_s:.6f},"topic":"tandem/v1/{topic}","qos":1,"retain":0,"payloadlen":{len(payload)},'
                      f'"payload":{payload}}}\n')


def cpu_s(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([TANDEM, *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    pairs, moves = ([int(word) for word in sys.argv[1:]] + [100, 10000][len(sys.argv) - 1:])[:2]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = pathlib.Path(name)
        lab, a, b = folder / "lab.yaml", folder / "a.jsonl", folder / "b.jsonl"
        lab.write_text("pairs:\n" + "".join(f"  r{p}: {{}}\n" for p in range(pairs)))
        write(a, pairs, moves, "a", 1.0, START_S)
        write(b, pairs, moves, "b", 1.02, START_S + 1e6)
        runs = sorted((cpu_s("compare", "-c", lab, a, b), sum(cpu_s("replay", "-c", lab, path) for path in (a, b)))
                      for _ in range(RUNS))
    ours, floor = runs[RUNS // 2]
    print(json.dumps({"bench": "compare", "pairs": pairs, "commands": moves, "cpu_s": round(ours, 2),
                      "floor": "replay of both", "floor_s": round(floor, 2), "ratio": round(ours / floor, 2)}))


if __name__ == "__main__":
    main()
