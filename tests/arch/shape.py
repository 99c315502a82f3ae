#!/usr/bin/env python3
"""Tests that the code keeps the measures of CONTRIBUTING.md.

usage: shape.py SOURCE_DIR. Prints each static function of one word, each function and file that is too long, each
line that is too wide, each folder with too many sources; exit status 1 then. In tests/ only the
length of files counts: tables of rows are long and wide, and each program there is a file.
"""
import collections
import pathlib
import re
import sys

FUNCTION_LINES, FILE_LINES, FOLDER_SOURCES, COLUMNS = 70, 800, 35, 120
TOPS = ("base", "service", "twin", "identification", "logger", "web", "config", "cmake", "deploy", "tests")
TEXT = (".c", ".h", ".def", ".js", ".css", ".html", ".py", ".sh", ".txt", ".cmake")
# clang-format puts a function's name and its opening brace at the margin; its parameters may take several lines.
HEAD = re.compile(r"^(static )?(?:[A-Za-z_][\w ]*[ *]+)?\**([A-Za-z_]\w*)\(")


def functions(lines):
    """(line, name, is static, lines from brace to brace) of each function."""
    head, brace = None, 0
    for number, line in enumerate(lines, 1):
        if match := HEAD.match(line):
            head = (number, match[2], match[1] is not None)
        elif line == "{" and head:
            brace = number
        elif line == "}" and head:
            yield *head, number - brace + 1
            head = None
        elif line.endswith(";") and line[:1] not in (" ", "{"):
            head = None


def measure_file(path, lines):
    if len(lines) > FILE_LINES:
        yield f"{path}: {len(lines)} lines, {FILE_LINES} are the most"


def measure_functions(path, lines):
    for number, name, static, length in functions(lines):
        if length > FUNCTION_LINES:
            yield f"{path}:{number}: {name} has {length} lines, {FUNCTION_LINES} are the most"
        if static and "_" not in name:
            yield f"{path}:{number}: static function {name}: a verb and an object, so that it can be searched for"


def faults(root, paths):
    folders = collections.Counter()
    for path in paths:
        suffix = pathlib.Path(path).suffix
        if suffix not in TEXT:
            continue
        lines = (root / path).read_text().splitlines()
        if suffix in (".c", ".h"):
            yield from measure_file(path, lines)
        if path.startswith("tests/"):
            continue
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS:
                yield f"{path}:{number}: {len(line)} columns, {COLUMNS} are the most"
        if suffix in (".c", ".h"):
            folders[str(pathlib.Path(path).parent)] += 1
            yield from measure_functions(path, lines)
    for folder, count in folders.items():
        if count > FOLDER_SOURCES:
            yield f"{folder}: {count} sources, {FOLDER_SOURCES} are the most"


def list_files(root):
    found = [path for path in root.glob("*") if path.is_file()]
    found += [path for top in TOPS for path in (root / top).rglob("*") if path.is_file()]
    return sorted(path.relative_to(root).as_posix() for path in found)


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(faults(root, list_files(root)))
    print("\n".join(found) if found else "the code keeps its measures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
