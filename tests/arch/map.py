#!/usr/bin/env python3
"""map.py [SOURCE_DIR] [ROOM...]: prints the purpose of every module, room by room, from the first lines of the sources.

The first comment of a header is `/* its/own/path.h - what it is for. ...`; the text up to the first full stop is
printed. A source without a header of its own may begin like that, or without its path. Without ROOM: all rooms of
includes.py. --check: prints instead each header whose first line does not name its own path and purpose, and each
room that the table of docs/map.md lacks, or names too far up; exit status 1 then.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from includes import read_table  # noqa: E402

COMMENT = re.compile(r"/\*\s*(.*?)\*/", re.S)
STOP = re.compile(r"(?<![ (][A-Z])\.(?= [A-Z]|\s*\n|\s*$)|\n\s*\*?\s*\n")


def purpose(path, name):
    """The text of the first comment after the path, up to its first full stop; None if there is none."""
    text = path.read_text()
    comment = COMMENT.match(text)
    if not comment:
        return None
    own = f"{name} - "
    if path.suffix == ".h" and not comment[1].startswith(own):
        return None
    sentence = STOP.split(comment[1].removeprefix(own), maxsplit=1)[0]
    return " ".join(re.sub(r"\n\s*\*?", " ", sentence).split()) or None


def modules(root, room):
    """(name, path) of each module: its header, or its source if it has none."""
    found = {path.stem: path for suffix in (".c", ".h") for path in sorted((root / room).glob("*" + suffix))}
    return sorted(found.items())


def check_table(text, table):
    """The rooms of docs/map.md, `twin/sim/robot`, `mission` in one cell, against those of includes.py and their
    order.
    """
    listed = []
    for cell in re.findall(r"^\| (`.*?) \|", text, re.M):
        parent = ""
        for name in re.findall(r"`([\w/]+)`", cell):
            listed.append(name if name in table or "/" in name or not parent else f"{parent}/{name}")
            parent = name.rpartition("/")[0] if "/" in name else parent
    for room in table:
        if room not in listed:
            yield f"docs/map.md: no line for {room}"
    for place, room in enumerate(listed):
        if room not in table:
            yield f"docs/map.md: there is no room {room}"
        for below in table.get(room, set()) & set(listed[place + 1:]):
            yield f"docs/map.md: {room} stands above {below}, which it includes"


def main():
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    root = pathlib.Path(words[0] if words else pathlib.Path(__file__).resolve().parents[2])
    rooms = words[1:] or [room for room in read_table() if (root / room).is_dir()]
    nameless = []
    for room in rooms:
        lines = []
        for name, path in modules(root, room):
            what = purpose(path, path.relative_to(root).as_posix())
            if what is None and path.suffix == ".h":
                nameless.append(path.relative_to(root).as_posix())
            lines.append(f"  {name} – {what}" if what else f"  {name}")
        if "--check" not in sys.argv and lines:
            print(f"{room}/", *lines, "", sep="\n")
    if "--check" in sys.argv:
        for path in nameless:
            print(f"{path}: begins without /* {path} - what it is for. */")
        page = root / "docs/map.md"
        faults = list(check_table(page.read_text(), read_table())) if page.exists() else []
        print(*faults, sep="\n", end="\n" if faults else "")
        return bool(nameless or faults)
    return 0


if __name__ == "__main__":
    sys.exit(main())
