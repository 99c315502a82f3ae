"""faults.py - runs rounds of faults by kind and number, stores their results, and prints a table. See run.sh --help.

A round is a process of its own (--one KIND NUMBER), so one that hangs is ended with all that it started.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import kinds_clients  # noqa: F401 - each fills the table
import kinds_clock  # noqa: F401
import kinds_disk  # noqa: F401
import kinds_network  # noqa: F401
import kinds_power  # noqa: F401
import kinds_process  # noqa: F401
from kinds import KINDS
from round import Round
from waiting import limit_s

ROUND_S = 240  # the longest takes some 80
LISTS = ("lost", "twice", "untrue", "differs", "history", "failed")
COUNTS = ("said", "acknowledged", "entries", "ambiguous", "reported")


def run_one(name, number):
    """Runs a round in this process; prints its result as one line of JSON."""
    began = time.monotonic()
    found = Round(KINDS[name], number).play()
    row = {count: getattr(found, count) for count in COUNTS}
    row |= {what: getattr(found, what)[:10] for what in LISTS}
    row |= {f"{what}_count": len(getattr(found, what)) for what in LISTS}
    print(json.dumps({"kind": name, "number": number, "held": found.held(), "seconds": round(time.monotonic() - began, 1),
                      **row}))


def run_apart(name, number):
    process = subprocess.Popen([sys.executable, __file__, "--one", name, str(number)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    words = ""
    try:
        out, words = process.communicate(timeout=limit_s(ROUND_S))
        return json.loads(out.splitlines()[-1])
    except subprocess.TimeoutExpired:
        words = f"not done within {limit_s(ROUND_S):g} s"
    except (IndexError, ValueError):
        words = "the round broke: " + words[-500:]
    finally:
        end_group(process)
    return {"kind": name, "number": number, "held": False, "seconds": ROUND_S, **dict.fromkeys(COUNTS, 0),
            **{what: [] for what in LISTS}, **{f"{what}_count": 0 for what in LISTS}, "failed": [words], "failed_count": 1}


def end_group(process):
    """Ends the processes that a round left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def commit(source):
    """The commit under test; "" outside a repository."""
    def git(*words):
        return subprocess.run(["git", "-C", str(source), *words], capture_output=True, text=True).stdout.strip()
    if not shutil.which("git") or not git("rev-parse", "HEAD"):
        return ""
    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")


def read_rows(path, version):
    """Earlier rounds of this version."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return [row for row in rows if row["commit"] == version]


def choose(arguments):
    """(kind, number) of the next rounds; every kind runs once before any runs again."""
    names = arguments.kinds or list(KINDS)
    for name in names:
        if name not in KINDS:
            sys.exit(f"no kind {name}: {' '.join(KINDS)}")
    if arguments.number:
        return [(name, arguments.number) for name in names]
    count = arguments.rounds or len(names)
    return [(names[i % len(names)], 1 + i // len(names)) for i in range(count)]


def print_row(row):
    faults = ", ".join(f"{row[f'{what}_count']} {what}" for what in LISTS if row[f"{what}_count"])
    print(f"{row['kind']} {row['number']}: {'held' if row['held'] else 'DID NOT HOLD: ' + faults}, "
          f"{row['acknowledged']} acknowledged, {row['entries']} entries, {row['seconds']} s", flush=True)
    for what in LISTS:
        for words in row[what][:3]:
            print(f"    {what}: {words[:600]}", flush=True)


def table(rows, version):
    """A Markdown table of the rounds, for tests/faults/results.tsv."""
    kinds = collections.defaultdict(list)
    for row in rows:
        kinds[row["kind"]].append(row)
    names = [name for name in KINDS if name in kinds]
    yield f"{datetime.date.today()}, commit {version or 'unknown'}, `tests/faults/run.sh`, {len(rows)} rounds:"
    yield ""
    yield ("| kind | rounds | held | acknowledged | entries | lost | twice | untrue | store ≠ HTTP ≠ replay | readers misled | "
           "ambiguous | loss reported |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"

    def line(name, some):
        def total(what):
            return sum(row[what] for row in some)
        return (f"| {name} | {len(some)} | {total('held')} | {total('acknowledged')} | {total('entries')} | "
                f"{total('lost_count')} | {total('twice_count')} | {total('untrue_count')} | {total('differs_count')} | "
                f"{total('history_count')} | {total('ambiguous')} | {total('reported')} |")
    for name in names:
        yield line(f"`{name}`", kinds[name])
    yield line("all", rows)


def parse():
    parser = argparse.ArgumentParser(prog="tests/faults/run.sh", description="Rounds of faults in a whole lab: nothing lost, "
                                     "nothing twice, nothing untrue, nothing silent.")
    parser.add_argument("kinds", nargs="*", help="kinds to play (all)")
    parser.add_argument("--quick", action="store_true", help="every kind once: some minutes")
    parser.add_argument("--rounds", type=int, help="so many rounds in all, kind after kind (every kind once)")
    parser.add_argument("--number", type=int, help="this round of each kind: the same draws again")
    parser.add_argument("--jobs", type=int, default=max(2, (os.cpu_count() or 2) * 3 // 2), help="rounds at once (%(default)s)")
    parser.add_argument("--fresh", action="store_true", help="play rounds again that were played with this commit")
    parser.add_argument("--table", action="store_true", help="no rounds, only the table of those played")
    parser.add_argument("--list", action="store_true", help="the kinds, and what they do")
    parser.add_argument("--one", nargs=2, metavar=("KIND", "NUMBER"), help=argparse.SUPPRESS)
    return parser.parse_args()


def play_all(rounds, jobs, version, path):
    mounts = os.environ.get("FAULTS_MOUNTS") == "yes"
    skipped = sorted({name for name, _ in rounds if KINDS[name].mounts and not mounts})
    if skipped:
        print(f"SKIPPED, for a small disk cannot be mounted here (root can): {' '.join(skipped)}", flush=True)
    rounds = [(name, number) for name, number in rounds if name not in skipped]
    played = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, open(path, "a") as out:
        for done in concurrent.futures.as_completed(pool.submit(run_apart, *one) for one in rounds):
            row = {"commit": version, "t": round(time.time()), **done.result()}
            out.write(json.dumps(row) + "\n")
            out.flush()
            print_row(row)
            played.append(row)
    return played


def main():
    arguments = parse()
    if arguments.one:
        return run_one(arguments.one[0], int(arguments.one[1]))
    if arguments.list:
        return print("\n".join(f"{name}: {one.words}" for name, one in KINDS.items()))
    folder = pathlib.Path(os.environ["FAULTS_FOLDER"])
    os.environ.setdefault("FAULTS_KEPT", str(folder / "kept"))
    folder.mkdir(parents=True, exist_ok=True)
    version, path = commit(os.environ["SOURCE"]), folder / "rounds.jsonl"
    rounds = choose(arguments)
    rows = [] if arguments.fresh else [row for row in read_rows(path, version)
                                       if arguments.table or (row["kind"], row["number"]) in rounds]
    if not arguments.table:
        have = {(row["kind"], row["number"]) for row in rows}
        rows += play_all([one for one in rounds if one not in have], arguments.jobs, version, path)
    print()
    print("\n".join(table(rows, version)))
    bad = [f"{row['kind']} {row['number']}" for row in rows if not row["held"]]
    if bad:
        print(f"\n{len(bad)} of {len(rows)} rounds did not hold: {', '.join(bad)}; their folders: {os.environ['FAULTS_KEPT']}")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
