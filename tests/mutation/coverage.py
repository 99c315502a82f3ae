"""Measures by gcov which lines of the rooms each test runs, and how long the test takes."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile

from changed import differing
from judge import KINDS, SKIPPED, run_test

LIMIT_S = 6  # of a test that judges mutants; longer ones are left out
SLOWED = 4  # the slowdown by counting
COUNTERS = 0x01A10000


def candidates(reach):
    """C tests, recorded cases and scripts that compute, without those that only ./test --full runs."""
    def place(name):
        kind = name.split(".")[0]
        return KINDS.index(kind) if kind in KINDS else len(KINDS)

    for name, test in sorted(reach.tests.items(), key=lambda item: place(item[0])):
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        kind = name.split(".")[0]
        waits = kind in ("system", "sim") and properties.get("PROCESSORS", 1) < 3
        judges = kind not in ("arch", "browser", "full", "threads") and "computes" not in properties["LABELS"]
        if judges and not waits and "command" in test:  # the program of sim.daemon is not built
            yield name


def has_counts(path):
    """Whether a .gcda file holds a counter that is not zero: gcc writes zeros as a negative length."""
    data = path.read_bytes()
    at = 16
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == COUNTERS and length > 0:
            return True
        at += 8 + max(length, 0)
    return False


class Measurement:
    """Stored below the build folder, test by test, so that it can be interrupted."""

    def __init__(self, root):
        self.root = root
        self.path = root / "build" / "mutation" / "measured.json"
        self.data = {"commit": None, "lines": {}, "tests": {}}
        if self.path.exists():
            self.data = json.loads(self.path.read_text())

    def save(self):
        self.path.write_text(json.dumps(self.data, separators=(",", ":")))

    @property
    def times(self):
        return {name: test["s"] for name, test in self.data["tests"].items() if "s" in test}

    def measure(self, plain, counted, commit, report):
        if self.data["commit"] != commit:
            reused = self.unchanged(plain.reach) if self.data["commit"] else {}
            self.data = {"commit": commit, "lines": self.executable_lines(counted), "tests": reused}
        for name in candidates(plain.reach):
            if name in self.data["tests"]:
                continue
            outcome = run_test(plain, name, 40 * LIMIT_S, LIMIT_S)
            time_s = outcome.wall_s if name.startswith("system.") else outcome.cpu_s
            if outcome.passed and outcome.status != SKIPPED and time_s <= LIMIT_S:
                self.data["tests"][name] = {"s": round(time_s, 3), "lines": self.lines_of(counted, name)}
            else:
                self.data["tests"][name] = {"left_out": outcome.status}
                report(f"{name}: left out, status {outcome.status} after {time_s:.0f} s")
            self.save()

    def unchanged(self, reach):
        """The measurements of tests that reach nothing that has changed."""
        changed = set(differing(self.root, self.data["commit"]))
        return {name: test for name, test in self.data["tests"].items() if name in reach.tests and
                not any(changed & part.files.keys() for part in reach.of(name) or ())}

    def lines_of(self, counted, name):
        with tempfile.TemporaryDirectory(prefix="tandem-counts-", dir="/dev/shm") as folder:
            run_test(counted, name, 40 * LIMIT_S, SLOWED * LIMIT_S, {"GCOV_PREFIX": folder})
            found = [p for p in pathlib.Path(folder).rglob("*.gcda") if has_counts(p)]
            for path in found:
                built = pathlib.Path("/") / path.relative_to(folder)
                path.with_suffix(".gcno").symlink_to(built.with_suffix(".gcno"))
            return {file: sorted(line for line, count in lines.items() if count)
                    for file, lines in self.count(found, counted).items()}

    def executable_lines(self, counted):
        notes = [counted.object_of(name).with_suffix(".gcno") for name in counted.compile]
        return {file: sorted(lines) for file, lines in self.count(notes, counted).items()}

    def count(self, paths, counted):
        """{file: {line: count}}"""
        files = {}
        for first in range(0, len(paths), 100):
            command = ["gcov", "--json-format", "--stdout", *map(str, paths[first:first + 100])]
            done = subprocess.run(command, cwd=counted.core_from, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True)
            for document in done.stdout.splitlines():
                for file in json.loads(document)["files"] if document.startswith("{") else ():
                    full = file["file"]
                    full = pathlib.PurePath(os.path.normpath(counted.core_from / full))
                    if full.is_relative_to(self.root):
                        lines = files.setdefault(str(full.relative_to(self.root)), {})
                        for line in file["lines"]:
                            number = line["line_number"]
                            lines[number] = lines.get(number, 0) + line["count"]
        return files

    def covering(self, reach, file, line):
        """Tests that may detect a fault in a line: those that ran it when last measured, and changed ones."""
        selected = [t for t in reach.select([file]) if t in self.times]
        changed = set(differing(self.root, self.data["commit"]))
        if file in changed or line not in self.data["lines"].get(file, ()):
            return selected
        return [t for t in selected if line in self.data["tests"][t]["lines"].get(file, ()) or
                any(f in changed for part in reach.of(t) or () for f in part.files if f.startswith("tests/"))]

    def room_table(self):
        """{room: (lines, lines that a test runs)}"""
        run = {}
        for test in self.data["tests"].values():
            for file, lines in test.get("lines", {}).items():
                run.setdefault(file, set()).update(lines)
        rooms = {}
        for file, lines in self.data["lines"].items():
            if file.endswith(".c"):
                room = str(pathlib.PurePath(file).parent)
                every, covered = rooms.get(room, (0, 0))
                rooms[room] = every + len(lines), covered + len(run.get(file, set()) & set(lines))
        return rooms


def unreached(measurement, reach):
    """Lines that a test ran although tests/changed.py does not count the file to its reach: there must be none."""
    for name, test in measurement.data["tests"].items():
        parts = reach.of(name)
        for file in test.get("lines", {}):
            if parts is not None and not any(file in part.files for part in parts):
                yield name, file
