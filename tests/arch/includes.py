#!/usr/bin/env python3
"""Do the rooms include each other only in the directions of docs/map.md?

usage: includes.py SOURCE_DIR. Prints each include that points the wrong way, exit status 1 then.
"""
import pathlib
import re
import sys

# A room, or a part of one named by the start of its file names, and what it may include.
BASE = {"base"}
PURE_LOGGER = {"logger/message"}
LIBC_CORE = {"assert.h", "float.h", "limits.h", "math.h", "stdarg.h", "stdbool.h", "stddef.h",
             "stdint.h", "stdio.h", "stdlib.h", "string.h"}
ALLOWED = {
    "base": BASE,
    "identification": BASE | {"identification"},
    "logger": BASE | {"logger"},
    "twin": BASE | {"twin", "identification"} | PURE_LOGGER,
    "config": BASE | {"config", "twin", "identification", "logger"},
    "web": BASE | {"web", "twin", "identification", "logger"},
    "service": BASE | {"service", "web", "config", "twin", "identification", "logger"},
}
# Headers of the libraries that the core may use.
CORE_LIBRARIES = ("gsl/",)


def room_of(path):
    return path.split("/")[0]


def is_core(path):
    room = room_of(path)
    if room == "logger":
        return path.startswith("logger/message/")
    return room in ("twin", "base", "identification")


def may(path, target):
    for allowed in ALLOWED[room_of(path)]:
        if target == allowed or target.startswith(allowed + "/"):
            break
    else:
        return False
    return not (is_core(path) and target.startswith("logger/storage/"))


def faults(root):
    for room in ALLOWED:
        for source in sorted((root / room).rglob("*.[ch]")):
            path = source.relative_to(root).as_posix()
            if room_of(path) != room:
                continue
            for number, line in enumerate(source.read_text().splitlines(), 1):
                match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
                if not match:
                    continue
                quote, target = match.groups()
                if quote == '"' and not may(path, target):
                    yield f"{path}:{number}: {room} may not include {target}"
                if quote == "<" and is_core(path) and target not in LIBC_CORE \
                        and not target.startswith(CORE_LIBRARIES):
                    yield f"{path}:{number}: the core may not include <{target}>"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "all includes point the right way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
