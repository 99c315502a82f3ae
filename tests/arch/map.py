#!/usr/bin/env python3
"""map.py [SOURCE_DIR] [ROOM...]: what every module is for, room by room, from the first lines of the sources.

The first comment of a header is `/* its/own/path.h - what it is for. ...`; the text up to the first full stop is printed.
A source without a header of its own may begin like that, or without its path. Without ROOM: all rooms of includes.py.
--check: prints each header whose first line does not name its own path and purpose instead; exit status 1 then.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from includes import read_table  # noqa: E402

COMMENT = re.compile(r"/\*\s*(.*?)\*/", re.S)
STOP = re.compile(r"(?<![ (][A-Z])\.(?= [A-Z]|\s*\n|\s*$)|\n\s*\*?\s*\n")


def purpose(path, name):
    """What the first comment says behind the path, up to its first full stop; None if it does not say."""
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
        return bool(nameless)
    return 0


if __name__ == "__main__":
    sys.exit(main())
