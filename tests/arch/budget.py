#!/usr/bin/env python3
"""budget.py [SOURCE_DIR] [--lower]: how many lines of code each capability has, against its budget in docs/map.md.

It counts lines of .c, .h and .def files of the product that hold more than comments and blanks. Each room belongs to
one capability. A capability above its budget is a fault; so is a budget with more than SLACK of room, for a saving must
not be used up unseen (--lower writes what is used, in tens). Who raises a budget says why in the commit.
"""
import collections
import pathlib
import re
import sys

TOPS = ("base", "logger", "identification", "twin", "config", "web", "service", "cmake")
SLACK_RATIO, SLACK_LINES = 0.02, 60
ROW = re.compile(r"^\| ([^|`]+) \| ([\d ]+) \| (`[^|]*`) \|$", re.M)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def count_lines(text):
    code = TOKEN.sub(lambda m: "\n" * m[0].count("\n") if m[0].startswith("/") else m[0], text)
    return sum(1 for line in code.split("\n") if line.strip())


def count_rooms(root):
    lines = collections.Counter()
    for top in TOPS:
        for path in (root / top).rglob("*"):
            if path.suffix in (".c", ".h", ".def"):
                lines[path.parent.relative_to(root).as_posix()] += count_lines(path.read_text())
    return lines


def owner_of(room, owners):
    """The capability that names the room, or the nearest folder above it."""
    while room and room not in owners:
        room = room.rpartition("/")[0]
    return owners.get(room)


def read_budgets(page):
    """{capability: lines}, {room: capability}."""
    budgets, owners = {}, {}
    for name, lines, rooms in ROW.findall(page):
        budgets[name] = int(lines.replace(" ", ""))
        owners |= dict.fromkeys(re.findall(r"`([\w/]+)`", rooms), name)
    return budgets, owners


def lower(page, used):
    def lower_row(match):
        name, budget, rooms = match.groups()
        lines = min(int(budget.replace(" ", "")), -(-used[name] // 10) * 10)
        return f"| {name} | {lines} | {rooms} |"
    page.write_text(ROW.sub(lower_row, page.read_text()))


def main():
    words = [word for word in sys.argv[1:] if word != "--lower"]
    root = pathlib.Path(words[0] if words else pathlib.Path(__file__).resolve().parents[2])
    page = root / "docs/map.md"
    budgets, owners = read_budgets(page.read_text())
    rooms, used, faults = count_rooms(root), collections.Counter(), []
    faults += [f"docs/map.md: there is no room {room}" for room in owners if not (root / room).is_dir()]
    for room, lines in sorted(rooms.items()):
        used[owner_of(room, owners)] += lines
        if owner_of(room, owners) is None:
            faults.append(f"docs/map.md: no capability has {room}")
    if "--lower" in sys.argv:
        lower(page, used)
        budgets, _ = read_budgets(page.read_text())
    for name, budget in budgets.items():
        slack = max(SLACK_LINES, int(budget * SLACK_RATIO))
        print(f"{used[name]:7} of {budget:6} {name}")
        if used[name] > budget:
            faults.append(f"{name}: {used[name]} lines of code, its budget in docs/map.md is {budget}")
        elif used[name] < budget - slack:
            faults.append(f"{name}: {used[name]} lines of code; lower its budget of {budget} in docs/map.md")
    print(f"{sum(rooms.values()):7} lines in all", *faults, sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
