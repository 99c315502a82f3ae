#!/usr/bin/env python3
"""papers.py SOURCE_DIR: each row of docs/papers.md names a document and a test that exist, or says that it is missing.

The test also keeps the table short: at most 9000 bytes.
"""
import pathlib
import re
import sys

TABLE = "docs/papers.md"
BYTES_MAX = 9000
UNTESTED = ("(not run)", "(no test of its own)")
ROWS_MIN = 75  # the behaviours that were counted in the five papers
LINK = re.compile(r"\[[^\]]+\]\(([^()#]+)(?:#[\w-]+)?\)$")


def has_test(root, name):
    """A test of ctest is a file of its kind: tests/KIND/NAME.c or .sh, or a folder of a replay."""
    path = root / "tests" / name.replace(".", "/")
    return path.is_dir() or any(path.with_suffix(end).is_file() for end in (".c", ".sh"))


def check_row(root, cells):
    """Yields what is wrong with one row."""
    behaviour, where, tests = cells[1:]
    if where == "missing":
        if tests:
            yield f"'{behaviour}' is missing, and yet {tests} checks it"
        return
    link = LINK.match(where)
    if not link or not (root / "docs" / link[1]).is_file():
        yield f"'{behaviour}': there is no document {where}"
    if not tests and not behaviour.endswith(UNTESTED):
        yield f"'{behaviour}': no test, and it does not end with {' or '.join(UNTESTED)}"
    for name in filter(None, tests.split(", ")):
        if not has_test(root, name):
            yield f"'{behaviour}': there is no test {name}"


def main(root):
    text = (root / TABLE).read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if re.match(r"\| \d", line)]
    found = [f"a row has {len(cells)} cells, 4 are right: {cells}" for cells in rows if len(cells) != 4]
    found += [fault for cells in rows if len(cells) == 4 for fault in check_row(root, cells)]
    if len(text.encode()) > BYTES_MAX:
        found.append(f"{len(text.encode())} bytes, {BYTES_MAX} are the most")
    if len(rows) < ROWS_MIN:
        found.append(f"{len(rows)} rows, {ROWS_MIN} are the least")
    for fault in found:
        print(f"{TABLE}: {fault}")
    return 1 if found else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
