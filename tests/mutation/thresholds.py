#!/usr/bin/env python3
"""Tests that the named test of each threshold fails for other values.

usage: thresholds.py run [ROW...] [--minutes M] [--jobs N] [--nice N]
                              judge rows (identification/travel/travel/BEND_MIN), those without a record or with a
                              part of one (?) first; write thresholds.tsv
       thresholds.py find [ROW...] [--minutes M] [--jobs N] [--nice N]
                              print the tests that fail

A threshold is set to 0, to half, to twice its value and out of reach, and its test runs each time. The programs are
linked once with tables whose names read the environment, so a new value needs no build. `find` first runs unit,
golden and property tests once, and each program writes which thresholds it read. Selftest scenarios run with 20
recordings.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "arch")]
from builds import ROOMS, Build  # noqa: E402
from judge import run_test  # noqa: E402
from changed import run  # noqa: E402
import importlib.util  # noqa: E402

arch = importlib.util.spec_from_file_location("rows", HERE.parent / "arch/thresholds.py")
tables = importlib.util.module_from_spec(arch)
arch.loader.exec_module(tables)

TABLE = HERE / "thresholds.tsv"
COLUMNS = ("commit", "row", "value", "test", "none", "half", "double", "beyond")
PROGRAMS = re.compile(r"tests/tests_(unit|golden|stat|property)$|tandem$")
FACTORS = {"none": 0.0, "half": 0.5, "double": 2.0, "beyond": 1e6}
KINDS = re.compile(r"(unit|golden|property)\.test_\w+$")
LIMIT_S, CPU_LIMIT_S = 600, 60

READER = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
double threshold_value(unsigned id, double value);
static unsigned char was_read[4096];
static long changed = -1;
static double other;
static void write_read(void)
{
    const char *path = getenv("TANDEM_THRESHOLDS_READ");
    const int to = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    for (unsigned i = 0; to >= 0 && i < sizeof was_read; i++) {
        if (was_read[i]) {
            dprintf(to, "%u\\n", i);
        }
    }
}
__attribute__((constructor)) static void begin(void)
{
    const char *given = getenv("TANDEM_THRESHOLD");
    if (given) {
        char *end = NULL;
        changed = strtol(given, &end, 10);
        other = strtod(end + 1, NULL);
    }
    atexit(write_read);
}
double threshold_value(unsigned id, double value)
{
    was_read[id] = 1;
    return changed == (long)id ? other : value;
}
"""


class ThresholdBuild(Build):
    """The preset dev, its thresholds read at run time."""

    compiled = (*ROOMS, "service/evidence/")

    def read_rules(self):
        programs, archives, _, libraries = super().read_rules()
        programs = {name: own for name, own in programs.items() if PROGRAMS.match(name)}
        return programs, archives, sorted({o for own in programs.values() for o in own}), libraries

    def copy_sources(self):
        super().copy_sources()
        for table in {row.table for row in ROWS}:
            lines = ["#pragma once", "double threshold_value(unsigned id, double value);"]
            lines += [f"#define {row.name} ({'(int)' if row.whole else ''}threshold_value({k}, {row.value}))"
                      for k, row in enumerate(ROWS) if row.table == table]
            (self.sources / table).write_text("\n".join(lines) + "\n")

    def link_library(self):
        for name in self.compile:
            source = self.sources / name
            text = source.read_text() if source.exists() else ""  # the build makes some
            if "_thresholds.def" in text and not self.compile_text(name, text, self.object_of(name)):
                sys.exit(f"thresholds.py: {name} does not compile with thresholds of run time")
        target = self.folder / "reader.o"
        if not self.compile_text("base/numbers/number.c", READER, target, "-D_GNU_SOURCE"):
            sys.exit("thresholds.py: the reader does not compile")
        self.rooms["reader"] = target
        super().link_library()

    def environment(self, test, scratch):
        if test in self.reach.tests:
            environment, properties = super().environment(test, scratch)
            return {**environment, "TANDEM_RUNS": "1"} if test.startswith("stat.") else environment, properties
        return {**os.environ, "TMPDIR": str(scratch)}, {}

    def command(self, test):
        selftest = tables.SELFTEST.fullmatch(test)
        if selftest:
            return [str(self.folder / "tandem"), "selftest", "--model", selftest[1], "--scenario", selftest[2],
                    "--runs", "20"]
        return super().command(test)


ROWS = list(tables.read_rows(ROOT))


def value_of(row, factor):
    value = eval(row.value, {"__builtins__": {}})  # a number of our own tables, such as 0.5 * 3.84
    beyond = 1.0 if row.unit == "probability" else 1e6 * abs(value)
    changed = beyond if factor == FACTORS["beyond"] else factor * value
    return min(changed, 1.0) if row.unit == "probability" else min(changed, 2e9) if row.whole else changed


def outcome_of(build, row, test, factor):
    """?: the machine was too busy."""
    setting = f"{ROWS.index(row)}={value_of(row, factor)!r}"
    outcome = run_test(build, test, LIMIT_S, CPU_LIMIT_S, {"TANDEM_THRESHOLD": setting})
    return "?" if outcome.status is None else "passes" if outcome.passed else "fails"


def passes_as_is(build, test, known={}):
    """A test that fails with the right values, or takes too long, judges nothing."""
    if test not in known:
        known[test] = run_test(build, test, LIMIT_S, CPU_LIMIT_S).passed
        if not known[test]:
            print(f"{test} fails as it is, and judges nothing", file=sys.stderr, flush=True)
    return known[test]


def judge_row(build, row, test):
    return {name: outcome_of(build, row, test, factor) for name, factor in FACTORS.items()}


def read_measured(path):
    """{test: [CPU seconds, rows that it reads]}; a missing test was not measured with these rows."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text())
    return stored["tests"] if stored["rows"] == [row.key for row in ROWS] else {}


def measure(build, jobs):
    """{row index: tests that read it, quick ones first}, stored in measured.json; delete that to measure again."""
    path = build.folder / "measured.json"
    measured = read_measured(path)
    tests = [name for name, test in build.reach.tests.items()
             if KINDS.match(name) and "command" in test and name not in measured]

    def measure_one(test):
        with tempfile.NamedTemporaryFile() as file:
            outcome = run_test(build, test, LIMIT_S, CPU_LIMIT_S, {"TANDEM_THRESHOLDS_READ": file.name})
            found = {int(line) for line in pathlib.Path(file.name).read_text().split()}
            return test, outcome, found

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for test, outcome, found in pool.map(measure_one, tests):
            if not outcome.passed:
                print(f"{test} fails without a change, and judges nothing", file=sys.stderr, flush=True)
            measured[test] = [outcome.cpu_s, sorted(found) if outcome.passed else []]
            path.write_text(json.dumps({"rows": [row.key for row in ROWS], "tests": measured}))
    readers = {k: [] for k in range(len(ROWS))}
    for test, (cpu_s, found) in measured.items():
        for k in found:
            readers[k].append((cpu_s, test))
    return {k: [test for _, test in sorted(found)] for k, found in readers.items()}


def read_table():
    if not TABLE.exists():
        return {}
    lines = [line.split("\t") for line in TABLE.read_text().splitlines()[1:]]
    return {line[1]: dict(zip(COLUMNS, line)) for line in lines}


def write_table(records):
    known = {row.key for row in ROWS}
    lines = ["\t".join(records[key][c] for c in COLUMNS) for key in sorted(records) if key in known]
    TABLE.write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n")


def is_judged(row, record):
    return (record.get("test"), record.get("value")) == (row.test, row.value) and "?" not in record.values()


def run_rows(build, rows, options):
    commit = run("git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD").strip()
    records, end = read_table(), time.monotonic() + 60 * options.minutes
    rows = sorted(rows, key=lambda row: is_judged(row, records.get(row.key, {})))

    def run_one(row):
        judges = time.monotonic() < end and passes_as_is(build, row.test)
        return row, judge_row(build, row, row.test) if judges else None

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row, result in pool.map(run_one, rows):
            if result:
                records[row.key] = dict(result, commit=commit, row=row.key, value=row.value, test=row.test)
                print(row.key, row.test, *(f"{k} {v}" for k, v in result.items()), flush=True)
                write_table(records)


def find_tests(build, rows, options):
    readers, end = measure(build, options.jobs), time.monotonic() + 60 * options.minutes

    def find_one(row):
        for test in readers[ROWS.index(row)]:
            result = judge_row(build, row, test) if time.monotonic() < end else {}
            if "fails" in result.values():
                print(row.key, test, *(f"{k} {v}" for k, v in result.items()), flush=True)
            if list(result.values()).count("fails") >= 3:
                return
        print(row.key, f"({len(readers[ROWS.index(row)])} tests read it)", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(find_one, rows))


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    options.add_argument("what", choices=("run", "find"))
    options.add_argument("rows", nargs="*", metavar="ROW")
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--nice", type=int, default=15)
    given = options.parse_args()
    unknown = set(given.rows) - {row.key for row in ROWS}
    if unknown:
        sys.exit(f"thresholds.py: no row {', '.join(sorted(unknown))}")
    build = ThresholdBuild(ROOT, "thresholds")
    build.make()
    os.nice(given.nice)
    rows = [row for row in ROWS if not given.rows or row.key in given.rows]
    (run_rows if given.what == "run" else find_tests)(build, rows, given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
