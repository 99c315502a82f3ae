"""sweeps.py - every I/O call of a short life (life.py) fails, one after the other: once, then on and on until it is
released.

    tests/faults/run.sh sweep                    all; prints the totals of docs/reliability.md
    tests/faults/run.sh sweep --sample 40 --seed 7   some, drawn
    tests/faults/run.sh sweep --only write on 12     one life
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

from faults import commit, end_group
from io_faults import KINDS, MODES, build
from life import Life

LIFE_S = 150
WRONG = ("lost", "doubled", "untrue", "failed", "deaths")
# Calls whose failure has no effect, so that no report is needed: function and file, phases, reason.
HARMLESS = [
    (r"close ", "starting running stopping", "the descriptor is closed all the same; what was written was synced before"),
    (r"accept ", "starting running stopping", "the client waits in the kernel's queue until the next look"),
    (r"(send|sendmsg|sendfile) ", "starting running stopping", "of HTTP: its client sees that the connection is cut"),
    (r"writev ", "stopping", "the last packet to the broker, which sees that the connection is closed"),
    (r"unlink(at)? ", "starting running stopping", "a remaining file is not used: a log without rows, changes of an older checkpoint"),
    (r"ftruncate /store.db$", "starting running stopping", "the store's file stays longer than it must be"),
    (r"(pread|pwrite|fdatasync) /store.db(-wal)?$", "stopping", "SQLite leaves its log to the next start"),
    (r"open /store.db(-wal)?$", "starting running", "SQLite opens it for reading only, and a reader needs no more"),
    (r"pread /store.db(-wal)?$", "starting", "the place to resume the stream of events is unknown: its clients get an error"),
    (r"pread /store.db(-wal)?$", "running", "an answer of HTTP is computed again, not cached"),
    (r"fopen /checkpoint$", "starting", "read once more for the names of models"),
    (r"(scandir|open|openat|read|pread) /journal", "starting running", "the reader tries again"),
    (r"scandir /journal$", "stopping", "the next run removes old files"),
]
# Reports of a life without a fault: the start without the store.
USUAL = {"log store_lacks", "alarm storage", "log alarm"}


def run_one(library, kind, mode, at):
    began = time.monotonic()
    life = Life(library, kind, mode, at)
    found = life.play()
    reported = sorted(life.reported - USUAL)
    row = {"kind": kind, "mode": mode, "at": at, "hits": life.hits, "first": life.first, "calls": life.calls,
           "acknowledged": found.acknowledged, "lost": found.lost[:5], "doubled": found.twice[:5],
           "untrue": found.untrue[:5] + found.differs[:5], "failed": found.failed[:5], "deaths": life.deaths[:3],
           "phase": life.phase, "reported": reported, "seconds": round(time.monotonic() - began, 1)}
    print(json.dumps(row))


def run_apart(library, kind, mode, at):
    """Runs a life; repeats it if another life had the same port."""
    for _ in range(3):
        row = run_once(library, kind, mode, at)
        if "already in use" not in str(row):
            break
    return row


def run_once(library, kind, mode, at):
    process = subprocess.Popen([sys.executable, __file__, "--one", library, kind or "", mode or "", str(at)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    words = ""
    try:
        out, words = process.communicate(timeout=LIFE_S)
        return json.loads(out.splitlines()[-1])
    except subprocess.TimeoutExpired:
        words = f"not done within {LIFE_S} s"
    except (IndexError, ValueError):
        words = "the life broke: " + words[-800:]
    finally:
        end_group(process)
    return {"kind": kind, "mode": mode, "at": at, "hits": 0, "first": "", "calls": {}, "acknowledged": 0, "lost": [],
            "doubled": [], "untrue": [], "failed": [words], "deaths": [], "phase": "", "reported": [], "seconds": LIFE_S}


def is_harmless(row):
    return any(re.match(what, row["first"]) and row["phase"] in phases.split() for what, phases, _ in HARMLESS)


def is_silent(row):
    """A daemon that is killed at once after its first failure has no time to report it."""
    return bool(row["hits"] and row["phase"] != "killed" and not row["reported"] and not is_harmless(row))


def held(row):
    return not (any(row[what] for what in WRONG) or is_silent(row))


def print_row(row):
    wrong = [f"{what}: {str(row[what])[:700]}" for what in WRONG if row[what]]
    wrong += ["SILENT"] if is_silent(row) else []
    print(f"{row['kind']} {row['mode']} {row['at']}: {row['first'] or 'no such call'}, {row['phase']}: "
          f"{'; '.join(wrong) or ', '.join(row['reported']) or 'harmless'}", flush=True)


class Sweep:
    def __init__(self, library, jobs, path, version):
        self.preload, self.path, self.version = library, path, version
        self.pool, self.rows = concurrent.futures.ThreadPoolExecutor(jobs), []

    def known(self):
        """Earlier lives of this commit."""
        if not self.path.exists():
            return {}
        rows = [json.loads(line) for line in self.path.read_text().splitlines() if line.endswith("}")]
        return {(row["kind"], row["mode"], row["at"]): row for row in rows if row["commit"] == self.version}

    def live(self, lives):
        known = self.known()
        self.rows += [known[life] for life in lives if life in known]
        futures = [self.pool.submit(run_apart, self.preload, *life) for life in lives if life not in known]
        with open(self.path, "a") as out:
            for done in concurrent.futures.as_completed(futures):
                row = {"commit": self.version, "t": round(time.time()), **done.result()}
                out.write(json.dumps(row) + "\n")
                out.flush()
                print_row(row)
                self.rows.append(row)

    def count(self):
        """How many calls of each kind a life makes: the maximum of three lives, because the order of threads varies."""
        counts = list(self.pool.map(lambda _: run_apart(self.preload, None, None, 0), range(3)))
        for row in counts:
            if row["failed"] or row["deaths"] or row["lost"] or set(row["reported"]):
                sys.exit(f"a life without a fault does not hold: {row}")
        return {kind: max(row["calls"][kind] for row in counts) for kind in KINDS}


def table(rows, calls, version):
    yield f"{datetime.date.today()}, commit {version or 'unknown'}, `tests/faults/run.sh sweep`, {len(rows)} lives:"
    yield ""
    yield "| kind of call | calls swept | lives | acknowledged | lost | doubled | untrue | harmless | silent | deaths | failed |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"

    def line(name, some, swept):
        def total(what):
            return sum(len(row[what]) for row in some)
        return (f"| {name} | {swept} | {len(some)} | {sum(row['acknowledged'] for row in some)} | {total('lost')} | "
                f"{total('doubled')} | {total('untrue')} | {sum(row['hits'] > 0 and not row['reported'] and is_harmless(row) for row in some)} | "
                f"{sum(map(is_silent, some))} | {total('deaths')} | {total('failed')} |")
    all_swept = 0
    for kind in calls:
        some = [row for row in rows if row["kind"] == kind]
        if not some:
            continue
        swept = len({row["at"] for row in some if row["hits"]})
        all_swept += swept
        yield line(f"`{kind}`", some, swept)
    yield line("all", rows, all_swept)


def parse():
    parser = argparse.ArgumentParser(prog="tests/faults/run.sh sweep", description=__doc__.split("\n")[0])
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--sample", type=int, help="number of lives, drawn by the seed")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--only", nargs=3, metavar=("KIND", "MODE", "N"), help="one life")
    parser.add_argument("--jobs", type=int, default=4 * (os.cpu_count() or 2), help="lives at once (%(default)s)")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args()


def choose(arguments, calls):
    lives = [(kind, mode, at) for kind in arguments.kinds for mode in MODES for at in range(1, calls[kind] + 1)]
    if arguments.sample:
        print(f"seed {arguments.seed}", flush=True)
        lives = random.Random(arguments.seed).sample(lives, min(arguments.sample, len(lives)))
    return lives


def main():
    arguments = parse()
    if arguments.one:
        library, kind, mode, at = arguments.one
        return run_one(library, kind or None, mode, int(at))
    folder = pathlib.Path(os.environ["FAULTS_FOLDER"])
    os.environ.setdefault("FAULTS_KEPT", str(folder / "kept"))
    folder.mkdir(parents=True, exist_ok=True)
    version = commit(os.environ["SOURCE"])
    sweep = Sweep(str(build(folder / "io_faults.so")), arguments.jobs, folder / "sweeps.jsonl", version)
    if arguments.only:
        kind, mode, at = arguments.only
        row = run_apart(sweep.preload, kind, mode, int(at))
        print_row(row)
        return sys.exit(not held(row))
    calls = sweep.count()
    print("calls of a life:", ", ".join(f"{kind} {count}" for kind, count in calls.items()), flush=True)
    sweep.live(choose(arguments, calls))
    print("\n".join(table(sweep.rows, calls, version)))
    return sys.exit(not all(map(held, sweep.rows)))


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
main()
