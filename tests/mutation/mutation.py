#!/usr/bin/env python3
"""Measures how many faults the tests detect: small faults are inserted into the core, one at a time, and the tests
judge each.

usage: mutation.py measure            which lines each test runs, and how long it takes (build/mutation/measured.json)
       mutation.py run [--seed N] [--count N] [--minutes M] [--room ROOM] [--share S] [--nice N]
                                      judge mutants that were not judged before, append them to table.tsv
       mutation.py again [--minutes M] [--room ROOM]
                                      judge once more the mutants that lived, after tests were added
       mutation.py survivors [ROOM]   the mutants that lived, with the line
       mutation.py report             write the table into CONTRIBUTING.md

A mutant is one operator at one place of a file of the core; --share S of them lie in the rooms that matter most. It
is judged by the tests that tests/changed.py names and that ran the line when last measured: C tests, recorded cases
and scripts that compute, not tests that wait for robots. A mutant that gives the same machine code at -O2 does not
count. equivalent.tsv lists mutants that change nothing, with the reason. Every command can be interrupted and
started again.
"""
import argparse
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import report  # noqa: E402
from builds import Build, count_core  # noqa: E402
from changed import run  # noqa: E402
from coverage import Measurement, unreached  # noqa: E402
from judge import judge, order, run_limited  # noqa: E402
from operators import mutants_of  # noqa: E402
from report import key_of, read_table, room_of  # noqa: E402

TABLE = HERE / "table.tsv"
COLUMNS = ("commit", "seed", "file", "line", "operator", "before", "after", "text", "verdict", "test", "how")
HEAVY = ("twin/pair", "logger/message", "identification/numeric", "identification/travel")
BUDGET_S = 240  # for all tests of a mutant that lives


def print_words(*words):
    print(time.strftime("%H:%M:%S"), *words, flush=True)


def append_row(row):
    if not TABLE.exists():
        TABLE.write_text("\t".join(COLUMNS) + "\n")
    with TABLE.open("a") as file:
        file.write("\t".join(str(row[c]) for c in COLUMNS) + "\n")


def short(text):
    """On one line; a long one by its beginning and a digest, so that it stays a key."""
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:70] + "…" + hashlib.sha1(text.encode()).hexdigest()[:8]


def describe(name, source, mutant):
    line_start = source.rfind("\n", 0, mutant.start) + 1
    line_end = source.find("\n", mutant.start)
    line = source[line_start:line_end]
    column = mutant.start - line_start - (len(line) - len(line.lstrip()))
    return {"file": name, "line": source.count("\n", 0, mutant.start) + 1, "operator": mutant.operator,
            "before": short(source[mutant.start:mutant.end]), "after": short(mutant.text) or "nothing",
            "text": f"{column}: {short(line)}"}


class Judge:
    def __init__(self, options):
        self.options = options
        self.commit = run("git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD").strip()
        self.measurement = Measurement(ROOT)
        if not self.measurement.times:
            sys.exit("mutation.py: nothing is measured; run `mutation.py measure` first")
        self.build = Build(ROOT, "judging")
        self.build.make()
        self.sources = {name: (self.build.sources / name).read_text() for name in self.build.compile}
        self.optimized = {}
        self.end = time.monotonic() + 60 * options.minutes

    def same_code(self, name, text):
        """Whether a mutant compiles to the machine code of its source."""
        def code(of):
            target = self.build.folder / "optimized.o"
            if not self.build.compile_text(name, of, target, "-O2", "-frandom-seed=1"):
                return None
            return subprocess.run(["objdump", "-d", "-r", "-s", "--no-show-raw-insn", str(target)],
                                  stdout=subprocess.PIPE).stdout
        if name not in self.optimized:
            self.optimized[name] = code(self.sources[name])
        return code(text) == self.optimized[name]

    def judge_mutant(self, name, mutant, seed):
        """The row of the table; None when it does not compile or changes nothing."""
        row = describe(name, self.sources[name], mutant)
        text = mutant.apply(self.sources[name])
        right = self.build.object_of(name)
        wrong = self.build.folder / "mutant.o"
        if not self.build.compile_text(name, text, wrong) or self.same_code(name, text):
            return None
        tests = order(self.measurement.covering(self.build.reach, name, row["line"]), self.measurement.times)
        member = next(o for o, path in self.build.rooms.items() if path == right)
        try:
            self.build.rooms[member] = wrong
            self.build.link_library()
            killer, how, ran = judge(self.build, tests, self.measurement.times, BUDGET_S)
        finally:
            self.build.rooms[member] = right
        if killer and (how == "time" or killer.startswith("system.")):  # these may fail on a busy machine
            self.build.link_library()
            if not run_limited(self.build, killer, self.measurement.times).passed:
                print_words(f"{killer} fails without a mutant, too")
                return None
        row.update(commit=self.commit, seed=seed, verdict="killed" if killer else "lived", test=killer or f"{ran} ran",
                   how=how)
        return row

    def draw(self, random_one):
        """A file by its room's weight, then any of its mutants."""
        sizes = {name: len(text) for name, text in self.sources.items()
                 if not self.options.room or room_of(name) == self.options.room}
        heavy = [n for n in sizes if room_of(n) in HEAVY]
        light = [n for n in sizes if n not in set(heavy)]
        if heavy and light:
            names = heavy if random_one.random() < self.options.share else light
            if names is heavy:  # each of these rooms has the same weight, whatever its size
                room = random_one.choice(HEAVY)
                names = [n for n in heavy if room_of(n) == room]
        else:
            names = heavy or light
        name = random_one.choices(sorted(names), [sizes[n] for n in sorted(names)])[0]
        found = mutants_of(self.sources[name])
        return (name, random_one.choice(found)) if found else (name, None)

    def run(self):
        seed = self.options.seed
        random_one = random.Random(seed)
        judged = {key_of(row) for row in read_table(TABLE)}
        count = 0
        while count < self.options.count and time.monotonic() < self.end:
            name, mutant = self.draw(random_one)
            if mutant is None or key_of(describe(name, self.sources[name], mutant)) in judged:
                continue
            start = time.monotonic()
            row = self.judge_mutant(name, mutant, seed)
            if row is None:
                continue
            judged.add(key_of(row))
            append_row(row)
            count += 1
            print_words(count, f"{name}:{row['line']}", row["operator"], row["before"], "->", row["after"], row["verdict"],
                 row["test"], f"{time.monotonic() - start:.0f} s")

    def again(self):
        equivalent = report.read_equivalent()
        for row in report.latest(read_table(TABLE)).values():
            if row["verdict"] != "lived" or key_of(row) in equivalent or time.monotonic() > self.end:
                continue
            if self.options.room and room_of(row["file"]) != self.options.room:
                continue
            source = self.sources.get(row["file"])
            found = [m for m in mutants_of(source or "")
                     if key_of(describe(row["file"], source, m)) == key_of(row)]
            if not found:
                print_words(f"{row['file']}:{row['line']}: the line is gone: {row['text']}")
                continue
            # A file may have the same line twice.
            mutant = min(found, key=lambda m: abs(describe(row["file"], source, m)["line"] - int(row["line"])))
            new = self.judge_mutant(row["file"], mutant, row["seed"])
            if new:
                append_row(new)
                print_words(f"{new['file']}:{new['line']}", new["before"], "->", new["after"], new["verdict"], new["test"])


def measure(options):
    plain = Build(ROOT, "plain")
    plain.make()
    counted = Build(ROOT, "counted", count_core(ROOT))
    counted.make()
    measurement = Measurement(ROOT)
    commit = run("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()
    measurement.measure(plain, counted, commit, print_words)
    faults = list(unreached(measurement, plain.reach))
    for test, file in faults:
        print_words(f"tests/changed.py overlooks that {test} runs {file}")
    report.write_coverage(measurement)
    return 1 if faults else 0


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    options.add_argument("what", choices=("measure", "run", "again", "survivors", "report"))
    options.add_argument("room", nargs="?")
    options.add_argument("--room", dest="room", metavar="ROOM")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--share", type=float, default=0.7, help=f"of mutants in {', '.join(HEAVY)}")
    options.add_argument("--nice", type=int, default=19)
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.nice(given.nice)
    if given.what == "measure":
        return measure(given)
    if given.what in ("run", "again"):
        getattr(Judge(given), given.what)()
    elif given.what == "survivors":
        report.print_survivors(read_table(TABLE), given.room)
    else:
        report.write(read_table(TABLE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
