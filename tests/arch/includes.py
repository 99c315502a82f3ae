#!/usr/bin/env python3
"""Tests that rooms include each other only downwards, and that files form no circle.

usage: includes.py SOURCE_DIR [--tree] [--symbols BUILD_DIR]. Prints each include that the table does not allow, each
circle of files, each room that has no row or no library; exit status 1 then. --tree: the rooms and their includes.
--symbols: the same for calls and definitions of object files, whatever they include: this also finds a declaration by
hand.

A room is a folder. ROOMS lists them from the ground up: a room may include itself and the rooms of its row, which
are all above it in the list, so a circle of rooms cannot be written down.
"""
import pathlib
import re
import subprocess
import sys

ROOMS = """
base/text:
base/errors: base/text
base/numbers: base/text base/errors
base/expression: base/text base/errors base/numbers
logger/message: base/text base/errors base/numbers
logger/codec: base/text base/errors base/numbers logger/message
identification/numeric: base/text base/errors
identification/data: base/errors identification/numeric
identification/model: base/text base/errors base/numbers base/expression identification/data
identification/geometry: base/errors base/numbers
identification/fit: base/text base/errors base/numbers identification/numeric identification/data
identification/travel: base/text base/errors base/numbers identification/numeric identification/fit
identification/odometry: base/text base/errors base/numbers identification/numeric identification/fit
identification/servo: base/text base/errors base/numbers identification/numeric identification/data identification/fit
identification/arm: base/errors base/numbers identification/numeric identification/geometry identification/fit
identification/simulation: base/text base/errors base/numbers identification/numeric identification/data
  identification/fit
identification/dynamics: base/text base/errors identification/numeric identification/data identification/fit
  identification/simulation
identification/online: base/text identification/data identification/fit
twin/efsm: base/errors base/numbers
twin/machine: base/text base/errors base/numbers base/expression twin/efsm
twin/control: base/text base/errors twin/efsm
twin/map: base/text base/errors base/numbers logger/message
twin/arm: base/text base/numbers logger/message identification/geometry twin/control
twin/pair: base/text base/errors base/numbers logger/message identification/model identification/fit
  identification/travel twin/efsm twin/arm twin/map
twin/dynamics: base/text base/errors base/numbers logger/message identification/data identification/model
  identification/fit identification/servo identification/dynamics identification/online twin/pair
twin/following: base/text base/errors base/numbers logger/message identification/data identification/model
  identification/geometry twin/pair twin/dynamics
twin/team/step: base/text base/errors base/numbers logger/message identification/travel twin/efsm
twin/team/check: base/errors base/numbers twin/team/step
twin/team/live: base/text base/numbers logger/message twin/pair twin/team/step twin/team/check
twin/sim/robot: base/text base/errors base/numbers base/expression logger/message identification/model
  identification/servo twin/efsm twin/machine twin/arm twin/map
twin/mission: base/text base/errors base/numbers logger/message identification/model twin/efsm twin/arm twin/map
  twin/pair twin/following twin/sim/robot
twin/report: base/text base/errors base/numbers logger/message identification/data identification/model identification/geometry
  identification/fit identification/travel identification/odometry identification/servo identification/arm identification/dynamics
  twin/map twin/pair twin/dynamics twin/following twin/team/step twin/team/live
twin/page: base/errors base/numbers logger/message identification/numeric identification/model identification/fit
  identification/travel twin/pair twin/dynamics twin/following twin/report
twin/sim/experiment: base/text base/errors base/numbers identification/data identification/model twin/control twin/arm
  twin/following twin/sim/robot
twin: base/errors base/numbers logger/message logger/codec identification/model twin/efsm twin/map twin/pair twin/following
  twin/team/step twin/team/live twin/mission twin/sim/robot
logger/mcap: base/text base/errors base/numbers logger/message
logger/storage: base/text base/errors base/numbers logger/message logger/mcap
logger/fence: base/text base/errors base/numbers logger/storage
config/options: base/text base/errors base/numbers logger/message
config/drawing: base/text base/errors base/numbers base/expression twin/machine
config/machine: base/errors base/numbers twin/machine config/options config/drawing
config/mapping: base/numbers logger/message logger/codec config/options
config/model: base/text base/numbers identification/model config/options
config/team: base/text base/numbers twin/team/step twin/team/check config/options
config/labfile: base/text base/errors base/numbers logger/message logger/codec identification/model identification/geometry twin/following
  twin/map twin/mission twin/sim/robot twin
  config/options config/machine config/mapping config/model config/team
web/http: base/text base/errors base/numbers logger/message twin logger/storage
web/stream: base/numbers logger/message identification/geometry twin/following twin/report logger/storage web/http
web/resource: base/text base/numbers logger/message logger/codec identification/model identification/fit identification/travel
  twin/map twin/pair twin/mission twin/team/live twin/report twin/page web/http web/stream
web/server: base/errors logger/storage web/http web/stream web/resource
service/tool: base/text base/errors base/numbers logger/message config/options config/model config/labfile
service/engine: base/text base/errors base/numbers logger/message twin/pair twin/team/step twin logger/fence logger/storage config/options config/labfile service/tool
service/list: base/errors logger/message web/http service/tool
service/client: base/text base/errors base/numbers logger/message config/options web/http service/tool service/list
service/mqtt: base/text base/errors base/numbers logger/message logger/codec logger/storage config/options
  config/labfile service/tool
service/wire: base/errors base/numbers twin/sim/robot logger/storage web/http service/tool
service/arm: base/errors base/numbers logger/message identification/geometry twin/arm config/options service/tool
  service/mqtt service/wire
service/machine: base/text base/numbers base/expression twin/machine twin config/machine service/tool
service/sim/check: base/text base/numbers identification/numeric logger/message logger/codec service/tool service/mqtt
service/sim/mission: base/text logger/message twin/sim/robot twin/mission config/options config/labfile service/tool service/mqtt
service/sim/robot: base/text base/numbers logger/message logger/codec identification/geometry twin/sim/robot
  config/options config/labfile config/machine service/tool service/mqtt service/wire service/arm service/sim/check
  service/sim/mission
service/sim/experiment: base/numbers logger/message identification/model twin/sim/experiment config/options
  config/model config/labfile service/tool
service/bag: base/text base/errors base/numbers logger/message logger/mcap logger/storage service/tool
service/identify: base/text base/errors base/numbers logger/message identification/data identification/model
  identification/fit identification/travel identification/odometry identification/servo identification/arm
  identification/simulation identification/dynamics twin/report logger/storage service/tool service/bag
service/selftest: base/text base/errors base/numbers logger/message identification/model identification/fit
  identification/travel identification/odometry identification/arm service/tool service/identify
service/replay: base/text base/errors base/numbers logger/message logger/codec twin/pair twin/mission twin/team/step twin/team/live
  twin/report twin logger/storage config/labfile web/http service/tool service/list
service/evidence: base/text base/errors base/numbers logger/message logger/codec identification/numeric identification/fit
  identification/travel twin/pair twin/report twin/page twin logger/mcap logger/storage config/labfile service/tool service/replay
service/map: base/text base/errors base/numbers logger/message twin/pair twin/map twin config/labfile service/tool service/replay
service/forecast: base/text base/errors base/numbers logger/message logger/codec identification/travel twin/pair twin/report
  twin/sim/robot twin logger/storage config/options config/labfile web/http service/tool service/client service/mqtt
  service/sim/mission service/replay
service/team: base/text base/errors base/numbers logger/message twin/pair twin/team/step twin/team/check twin/team/live twin/report config/team
  config/labfile service/tool service/mqtt service/replay
service/job: base/text base/errors base/numbers logger/message twin/team/live logger/storage config/team config/labfile web/http
  service/identify service/replay service/team
service/daemon: base/text base/errors logger/message logger/codec twin/dynamics twin/team/step twin/team/live twin/report twin
  logger/storage config/options config/model config/labfile web/http web/server service/tool service/mqtt
  service/sim/mission service/replay service/evidence service/job service/engine
service/sim/demo: base/text base/errors base/numbers logger/message config/labfile service/tool service/list service/mqtt service/team
service/program: base/text base/errors base/numbers logger/codec identification/model config/options config/model
  service/tool
"""
# The core does no I/O: it may use these headers of the C library, and of other libraries only GSL.
CORE = ("base", "logger/message", "logger/codec", "identification", "twin")
CORE_LIBC = {"assert.h", "float.h", "limits.h", "math.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h",
             "stdlib.h", "string.h"}
CORE_LIBRARIES = ("gsl/",)
# Headers of libraries that only these files include: all others call them.
ONLY = {"libpq-fe.h": {"logger/storage/postgresql_parts.h"}}
# Files of one room that call each other in a circle, each with its reason. No others may.
KNOTS = {
    "identification/arm": ("arm_friction arm_friction_late", "a delay is searched with the regression that it is part of"),
    "config/labfile": ("lab_check lab_file lab_options", "the table of a lab's options and the functions that its rows call"),
    "config/team": ("team_file team_options team_steps", "the tables of a team's options and their functions"),
    "logger/codec": ("codec_vda5050 codecs vda5050_motion vda5050_order vda5050_send vda5050_state vda5050_zones",
                     "the table of codecs and its row; one order of one robot"),
    "logger/storage": ("store store_postgresql store_postgresql_reader store_sqlite store_sqlite_buckets store_sqlite_reader",
                       "the table of engines and their functions; one connection and its prepared statements"),
    "service/mqtt": ("mqtt_client mqtt_connection mqtt_sender", "one connection under one lock"),
    "twin/pair": ("pair pair_close pair_correct pair_eta pair_fault pair_link pair_parameters pair_version",
                  "the state of one pair"),
    "twin/sim/robot": ("arm6 arm6_tasks diffdrive diffdrive_control diffdrive_main diffdrive_plant diffdrive_user "
                       "kinematic position_servo robot robot_kinds vessel", "a table of kinds and its rows"),
    "twin/team/live": ("team_live team_live_command team_live_request", "the state of one team at work"),
    "twin/team/step": ("team team_activity team_deadlock team_events team_grants team_jobs team_meetings team_revoked "
                       "team_steps", "the state of one team"),
}
SYMBOL = re.compile(r".*/lib(tandem_\w+)\.a\[(.+)\.c\.o\]: (\S+) (\w)")
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
    return room.startswith(CORE) and room not in ("logger/mcap", "logger/storage")


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
    """A header without a source passes its includes on to the file that includes it: it is not a step of its own."""
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
            elif path.as_posix() not in ONLY.get(target, {path.as_posix()}):
                yield f"{path}:{number}: only {' and '.join(sorted(ONLY[target]))} may include <{target}>"
    for circle in circles(through_headers(root, edges)):
        yield "circle of files: " + " ".join(circle)


def calls_of(build):
    """{(library, file): {(library, file) that defines what it calls or reads}}, by the symbols of the archives."""
    owner, wanted = {}, {}
    archives = sorted(pathlib.Path(build).glob("libtandem_*.a"))
    assert archives, f"{build}: nothing is built there"
    listed = subprocess.run(["nm", "-A", "-g", "--format=posix", *archives], capture_output=True, text=True).stdout
    for row in listed.splitlines():
        if match := SYMBOL.match(row):
            library, file, name, kind = match.groups()
            if kind in "Uvw":
                wanted.setdefault((library, file), set()).add(name)
            else:
                owner[name] = library, file
    return {file: {owner[n] for n in names if n in owner} - {file} for file, names in wanted.items()}


def symbol_faults(build, rooms):
    named = {"tandem_" + room.replace("/", "_"): room for room in rooms}
    below = {}
    for room in rooms:  # from the ground up
        below[room] = rooms[room].union(*(below[other] for other in rooms[room] if other != room))
    inside = {}
    for (library, file), targets in calls_of(build).items():
        if library not in named:
            yield f"{library}: an archive of no room, perhaps from an older build"
            continue
        for other, target in targets:
            if library == other:
                inside.setdefault(named[library], {}).setdefault(file, set()).add(target)
            elif named.get(other) not in below[named[library]]:
                yield f"{named[library]}/{file} calls {named.get(other, other)}/{target}, which is not below it"
    for room in inside:
        allowed = set(KNOTS.get(room, ("", ""))[0].split())
        found = circles(inside[room])
        yield from (f"circle of calls in {room}: {' '.join(c)}" for c in found if not allowed.issuperset(c))
        if untied := allowed - {file for c in found for file in c}:
            yield f"{room}: {' '.join(sorted(untied))}: in no circle any more, KNOTS can go"


def main():
    rooms, tree = read_table(), {}
    found = list(faults(pathlib.Path(sys.argv[1]), rooms, tree))
    if "--symbols" in sys.argv[2:]:
        found += symbol_faults(sys.argv[sys.argv.index("--symbols") + 1], rooms)
    if "--tree" in sys.argv[2:]:
        for room in rooms:
            print(f"{room}: {' '.join(other for other in rooms if other in tree.get(room, ()) and other != room)}")
    print("\n".join(found) if found else "all includes point the right way, no circle")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
