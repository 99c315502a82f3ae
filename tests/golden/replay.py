#!/usr/bin/env python3
"""replay.py CASE_DIR [--bless]: a recorded case must replay to its expected result.

Runs `$TANDEM replay -c lab.yaml --json input.jsonl` twice: both runs must print the same bytes, and their values
must be those of expected.json, numbers within 1e-9 of each other (another processor's mathematical library may round
the last digit differently). --bless rewrites expected.json: read the difference before you commit it. Of the
sentence of an alarm only the numbers are compared: its words are in tests/golden/messages/alarms.txt.
"""
import json
import os
import pathlib
import re
import subprocess
import sys


def replay(case):
    command = [os.environ["TANDEM"], "replay", "-c", str(case / "lab.yaml"), "--json",
               str(case / "input.jsonl")]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def pretty(text):
    """One record a line, numbers as they were printed."""
    document = load(text, lambda s: "\x01" + s)

    def show(value, depth):
        pad = "  " * depth
        if isinstance(value, dict) and value and depth < 4:
            inner = ",\n".join(f'{pad}  "{k}": {show(v, depth + 1)}' for k, v in value.items())
            return "{\n" + inner + "\n" + pad + "}"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            inner = ",\n".join(pad + "  " + json.dumps(v, ensure_ascii=False) for v in value)
            return "[\n" + inner + "\n" + pad + "]"
        return json.dumps(value, ensure_ascii=False)

    return re.sub(r'"\\u0001([^"]*)"', r"\1", show(document, 0)) + "\n"


def load(text, number):
    """The document; the sentence of an alarm becomes the numbers in it, sorted by size."""
    document = json.loads(text, parse_float=number, parse_int=number)
    for owner in [*document["pairs"].values(), *document.get("teams", {}).values()]:
        for alarm in owner["alarms"]:
            found = re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?\b", alarm.pop("detail"))
            alarm["numbers"] = [number(n) for n in sorted(found, key=float)]
    return document


def differences(got, want, where):
    if isinstance(want, dict) and isinstance(got, dict):
        for key in list(want) + [k for k in got if k not in want]:
            if key not in got or key not in want:
                yield f"{where}.{key}: {'missing' if key not in got else 'not expected'}"
            else:
                yield from differences(got[key], want[key], f"{where}.{key}")
    elif isinstance(want, list) and isinstance(got, list):
        if len(got) != len(want):
            yield f"{where}: {len(got)} items, {len(want)} expected"
        for k, (g, w) in enumerate(zip(got, want)):
            yield from differences(g, w, f"{where}[{k}]")
    elif isinstance(want, (int, float)) and isinstance(got, (int, float)) \
            and not isinstance(want, bool):
        if abs(got - want) > 1e-9 * max(abs(got), abs(want)) + 1e-12:
            yield f"{where}: {got!r}, {want!r} expected"
    elif got != want:
        yield f"{where}: {got!r}, {want!r} expected"


def main():
    case = pathlib.Path(sys.argv[1])
    first, second = replay(case), replay(case)
    if first != second:
        print("two replays of the same recording print different bytes")
        return 1
    if sys.argv[2:] == ["--bless"]:
        (case / "expected.json").write_text(pretty(first))
        return 0
    expected = json.loads((case / "expected.json").read_text())
    found = list(differences(load(first, float), expected, case.name))
    print("\n".join(found[:20]) if found else f"{case.name}: as expected")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
