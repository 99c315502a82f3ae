#!/usr/bin/env python3
"""thresholds.py ROOT: a limit that decides a verdict is a row with unit, source and test, and none is outside.

Checks that the tables (*_thresholds.def) are complete, that a chosen value has a reason, that each named test exists,
that the code uses each row, and that the rooms in ROOMS have no constant of a decision outside of them.
tests/mutation/thresholds.tsv has the results of the named tests for other values (?: not yet judged).
thresholds_allowed.tsv lists the constants that stay in the code, with the reason.
"""
import pathlib
import re
import sys

ROOMS = ("identification", "twin/dynamics", "twin/pair", "twin/following", "twin/arm", "twin/team/live")
TEXT = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(rf"^THRESHOLD(_COUNT)?\(\s*(\w+),\s*([^,\"]+),\s*{TEXT},\s*{TEXT},\s*{TEXT}\)", re.M)
BEGIN = re.compile(r"^THRESHOLD(?:_COUNT)?\(", re.M)
CONSTANT = re.compile(r"^(?:static )?const (?:double|int64_t) (\w+)\s*=|^#define (\w+) \(?-?[0-9.]|"
                      r"^(?:enum \{.*|    )\b([A-Z]\w*_MIN) = \d", re.M)
BARE = re.compile(r"chosen(?!: .*\w+ \w+)")
SELFTEST = re.compile(r"selftest (\w+)/(\w+)")


class Row:
    def __init__(self, table, match):
        self.table, self.whole = table, match[1] is not None
        self.name, self.value, self.unit, self.source, self.test = (match[k].strip() for k in range(2, 7))

    @property
    def key(self):
        return f"{self.table.removesuffix('_thresholds.def')}/{self.name}"


def read_rows(root):
    for path in sorted(root.rglob("*_thresholds.def")):
        if "build" not in path.relative_to(root).parts:
            yield from (Row(str(path.relative_to(root)), m) for m in ROW.finditer(path.read_text()))


def test_exists(root, test):
    selftest = SELFTEST.fullmatch(test)
    if selftest:
        title, model = selftest[2], selftest[1]
        return any(f'SCENARIO("{title}", "{model}",' in path.read_text()
                   for path in (root / "service/selftest").glob("*.c"))
    kind, _, name = test.partition(".")
    if test.startswith("golden.replay."):
        return (root / "tests/golden/replay" / test.removeprefix("golden.replay.") / "lab.yaml").exists()
    return any((root / "tests" / kind / f"{name}{end}").is_file() for end in (".c", ".py", ".sh"))


def check_rows(root):
    rows = list(read_rows(root))
    for path in sorted({root / row.table for row in rows}):
        text, own = path.read_text(), [row for row in rows if row.table == str(path.relative_to(root))]
        if len(BEGIN.findall(text)) != len(own):
            yield f"{own[0].table}: a row has not the form NAME, value, unit, source, test"
        users = [p.read_text() for p in (*root.rglob("*.c"),) if f'"{own[0].table}"' in p.read_text()]
        for row in own:
            for part in ("unit", "source", "test"):
                if not re.search(r"\w", getattr(row, part)):
                    yield f"{row.key}: no {part}"
            if BARE.match(row.source):
                yield f"{row.key}: source \"{row.source}\" without a reason (\"chosen: why this size\")"
            if row.test and not test_exists(root, row.test):
                yield f"{row.key}: no test {row.test}"
            if not any(re.search(rf"\b{row.name}\b", text) for text in users):
                yield f"{row.key}: nobody uses it"


def check_records(root):
    """Each row is in tests/mutation/thresholds.tsv unchanged, and its test fails with another value."""
    lines = (root / "tests/mutation/thresholds.tsv").read_text().splitlines()[1:]
    records = {key: (value, test, seen) for _, key, value, test, *seen in (line.split("\t") for line in lines)}
    for row in read_rows(root):
        value, test, seen = records.get(row.key, (None, None, []))
        if (value, test) != (row.value, row.test):
            yield f"{row.key}: no record; run tests/mutation/thresholds.py run {row.key}"
        elif "fails" not in seen:
            yield f"{row.key}: {test} was not seen failing"


def check_constants(root):
    allowed = {}
    for line in (root / "tests/arch/thresholds_allowed.tsv").read_text().splitlines()[1:]:
        path, names, reason = line.split("\t")
        allowed.update({(path, name): reason for name in names.split()})
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.[ch]")):
            for match in CONSTANT.finditer(path.read_text()):
                key = str(path.relative_to(root)), match[1] or match[2] or match[3]
                if not re.search(r"\w", allowed.pop(key, "")):
                    yield f"{key[0]}: {key[1]} is neither a threshold nor in thresholds_allowed.tsv with a reason"
    yield from (f"thresholds_allowed.tsv: {path} has no {name}" for path, name in allowed)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    faults = [*check_rows(root), *check_records(root), *check_constants(root)]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
