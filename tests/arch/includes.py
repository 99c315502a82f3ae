#!/usr/bin/env python3
"""Do the rooms include each other only downwards, and is no circle among files?

usage: includes.py SOURCE_DIR [--tree]. Prints each include that the table does not allow, each circle of files, each
room that has no row or no library; exit status 1 then. --tree: the rooms and what they do include.

A room is a folder. ROOMS lists them from the ground up: a room may include itself, what stands in its row, and nothing
that stands below it in the list, so that no circle of rooms can be written down.
"""
import pathlib
import re
import sys

ROOMS = """
base:
base/expression: base
logger/message: base
logger/codecs: base logger/message
identification/numeric: base
identification/data: base identification/numeric
identification: base identification/numeric identification/data
identification/travel: base identification/numeric identification
identification/odometry: base identification/numeric identification
twin/efsm: base
twin/machine: base base/expression twin/efsm
twin/control: base twin/efsm
twin/arm: base twin/control
identification/arm: base identification/numeric identification twin/arm
identification/simulation: base identification/numeric identification/data identification
identification/dynamics: base identification/numeric identification/data identification identification/simulation
identification/online: base identification/data identification
twin/models: base base/expression identification/data
twin/pair: base logger/message identification identification/travel twin/efsm twin/models twin/arm
twin/dynamics: base logger/message identification/data identification/dynamics identification/online twin/models
  twin/pair
twin/following: base logger/message identification/data twin/efsm twin/models twin/arm twin/pair twin/dynamics
twin/team: base logger/message identification/travel twin/efsm
twin/discipline: base twin/team
twin/explore: base twin/team
twin/crew: base logger/message twin/pair twin/team twin/discipline
twin/report: base logger/message identification/data identification identification/travel identification/odometry
  identification/arm identification/dynamics twin/models twin/arm twin/pair twin/dynamics twin/following twin/team
  twin/crew
twin/robots: base base/expression logger/message twin/machine twin/efsm twin/models twin/control twin/arm
twin/experiments: base identification/data twin/control twin/efsm twin/models twin/arm twin/following twin/robots
twin: base logger/message twin/efsm twin/models twin/pair twin/following twin/team twin/crew logger/codecs
logger/storage: base logger/message
config/options: base logger/message
config/drawing: base base/expression twin/machine
config/team: base twin/team twin/discipline config/options
config: base base/expression logger/message twin/machine twin/arm twin/models twin/pair twin/following twin/team twin/discipline
  twin config/options config/drawing config/team logger/codecs
web/http: base logger/message twin logger/storage
web/stream: twin/arm base logger/message twin/report logger/storage web/http
web/resources: base logger/message identification/travel twin/models twin/pair twin/team twin/crew twin/report
  web/http web/stream logger/codecs
web/server: base logger/storage web/http web/stream web/resources
service/cli: base base/expression logger/message twin/models twin config config/options logger/codecs
service/mqtt: base logger/storage config service/cli config/options logger/message
service/wire: base logger/message twin/arm twin/robots logger/storage web/http service/cli
service/robots: base logger/message twin/arm twin/robots logger/storage config service/cli service/mqtt service/wire
  config/options logger/codecs
service/machines: base base/expression logger/message twin/efsm twin/machine twin config service/cli
service/experiments: base logger/message twin/arm twin/models twin/control twin/robots twin/experiments config
  service/cli config/options
service/identify: base logger/message identification/data identification identification/travel identification/odometry
  identification/arm identification/dynamics twin/models twin/arm twin/report logger/storage service/cli
service/replay: base logger/message twin/pair twin/team twin/report twin logger/storage config web/http service/cli
  logger/codecs twin/crew
service/team: base logger/message twin/pair twin/team twin/explore twin/report logger/storage config service/cli
  service/mqtt service/robots service/replay config/team
service/jobs: base logger/message logger/storage config web/http service/identify service/replay service/team
  config/team
service/daemon: base logger/message twin/dynamics twin/team twin/crew twin/report twin logger/storage config web/http
  web/server service/cli service/mqtt service/robots service/replay service/jobs config/options logger/codecs
service/demo: base logger/message twin/team config service/cli service/mqtt service/robots service/team
"""
# The core does no I/O: of the C library it may use these headers, of other libraries GSL.
CORE = ("base", "logger/message", "identification", "twin")
CORE_LIBC = {"assert.h", "float.h", "limits.h", "math.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h",
             "stdlib.h", "string.h"}
CORE_LIBRARIES = ("gsl/",)
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def read_table():
    rooms, above = {}, set()
    for row in re.sub(r"\n +", " ", ROOMS.strip()).splitlines():
        room, _, targets = row.partition(":")
        rooms[room] = set(targets.split()) | {room}
        unknown = rooms[room] - above - {room}
        assert not unknown, f"{room} includes upwards or unknown: {unknown}"
        above.add(room)
    return rooms


def is_core(room):
    return room.startswith(CORE) and room != "logger/storage"


def includes_of(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, *match.groups()


def circles(edges):
    """Strongly connected files of more than one, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in edges.get(node, ()):
            if target not in index:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == index[node]:
            place = stack.index(node)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def through_headers(root, edges):
    """A header without a source of its own passes what it includes on to who includes it: it is not a step of its own."""
    def targets(module, seen):
        for target in edges.get(module, ()):
            if target not in seen:
                seen.add(target)
                if (root / target).with_suffix(".c").exists():
                    yield target
                else:
                    yield from targets(target, seen)

    return {module: set(targets(module, {module})) for module in edges if (root / module).with_suffix(".c").exists()}


def faults(root, rooms, tree):
    edges = {}
    sources = [path for top in sorted({room.split("/")[0] for room in rooms})
        for path in sorted((root / top).rglob("*.[ch]"))]
    cmake = (root / "CMakeLists.txt").read_text() if (root / "CMakeLists.txt").exists() else None
    for source in sources:
        path = source.relative_to(root)
        room, module = path.parent.as_posix(), path.with_suffix("").as_posix()
        if room not in rooms:
            yield f"{path}: no row for this room in tests/arch/includes.py"
            continue
        if cmake is not None and not re.search(rf"tandem_room\({room}[ )]", cmake):
            yield f"{room}: no library in CMakeLists.txt"
            cmake = None
        for number, quote, target in includes_of(source):
            target_room = target.rpartition("/")[0]
            if quote == '"':
                tree.setdefault(room, set()).add(target_room)
                if target_room not in rooms[room]:
                    yield f"{path}:{number}: {room} may not include {target}"
                if (root / target).exists():
                    edges.setdefault(module, set()).add(target.removesuffix(".h"))
            elif is_core(room) and target not in CORE_LIBC and not target.startswith(CORE_LIBRARIES):
                yield f"{path}:{number}: the core may not include <{target}>"
    for circle in circles(through_headers(root, edges)):
        yield "circle of files: " + " ".join(circle)


def main():
    rooms, tree = read_table(), {}
    found = list(faults(pathlib.Path(sys.argv[1]), rooms, tree))
    if "--tree" in sys.argv[2:]:
        for room in rooms:
            print(f"{room}: {' '.join(other for other in rooms if other in tree.get(room, ()) and other != room)}")
    print("\n".join(found) if found else "all includes point the right way, no circle")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
