"""advice.py ROOT - finds names of code (with an underscore, or a symbol such as d9) in the texts of advice."""
import pathlib
import re
import sys

CALL = re.compile(r"\b(?:estimate_)?advise\((.*?)\);", re.S)
REMEDIES = re.compile(r"\bremedies\[[^\]]*\] = \{(.*?)\n\};", re.S)
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
CODE = re.compile(r"\w_\w|\b[a-z]\d\b")


def texts(source):
    for block in CALL.findall(source) + REMEDIES.findall(source):
        yield from TEXT.findall(block)


def main():
    assert CODE.search("give u_mps") and CODE.search("d9 is not") and not CODE.search("three speeds, 10 m each")
    files = sorted((pathlib.Path(sys.argv[1]) / "identification").rglob("*.c"))
    found = [(path.name, text) for path in files for text in texts(path.read_text())]
    assert len(found) > 50, f"only {len(found)} texts of advice found: does the pattern fit the sources?"
    bad = [f"{name}: {text}" for name, text in found if CODE.search(text)]
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad else 0


sys.exit(main())
