#!/usr/bin/env python3
"""fault_code.py CODE FILE: FILE reports a fault of this code, by a sentence of tests/golden/messages/faults.txt.

A terminal shows no codes. So a test names the code, and a reworded sentence changes no test.
"""
import pathlib
import re
import sys

LIST = pathlib.Path(__file__).parent.parent / "golden/messages/faults.txt"
CONVERSION = re.compile(r"(%[-.*0-9]*(?:ll?|z)?[a-zA-Z%])")


def sentences(code):
    for line in LIST.read_text().splitlines():
        codes, text = line.split(": ", 1)
        if code in codes.split(" or ") and re.search(r"[a-z]{2}", CONVERSION.sub("", text.split(" | ")[0])):
            text = text.split(" | ")[0].replace('\\"', '"').replace("\\\\", "\\")
            parts = CONVERSION.split(text)  # each second one is a conversion
            parts[::2] = map(re.escape, parts[::2])
            parts[1::2] = ["%" if part == "%%" else ".*" for part in parts[1::2]]
            yield "".join(parts)


def says(code, text):
    found = list(sentences(code))
    assert found, f"no sentence has the code {code}"
    return any(re.search(sentence, text) for sentence in found)


if __name__ == "__main__":
    sys.exit(not says(sys.argv[1], pathlib.Path(sys.argv[2]).read_text(errors="replace")))
