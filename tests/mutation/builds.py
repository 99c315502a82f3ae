"""Programs of the tests in which one object can be replaced within a second.

The objects come from a build of the preset dev. All rooms are linked into one shared library, the programs are
linked with it once: a mutant costs one compilation and one link. The sources are copied first, so work on the tree
may continue meanwhile.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from changed import Reach  # noqa: E402

LIBRARY = "libtandem_rooms.so"
ROOMS = ("base/", "logger/message/", "identification/", "twin/")  # the core


def call(command, **options):
    return subprocess.run([*map(str, command)], **options)


class Build:
    """The preset dev of root, linked again in a folder of its own; core objects from another build, if one is given."""

    compiled = ROOMS  # whose sources are compiled from the copy

    def __init__(self, root, name, core_from=None):
        self.root, self.dev = root, root / "build" / "dev"
        self.folder = root / "build" / "mutation" / name
        self.core_from = core_from
        self.sources = self.folder / "source"

    def make(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        call(["cmake", "-S", self.root, "--preset", "dev"], check=True, stdout=subprocess.DEVNULL)
        programs, archives, own, libraries = self.read_rules()
        call(["ninja", "-C", self.dev, *archives, *own], check=True, stdout=subprocess.DEVNULL)
        self.reach = Reach(self.dev)
        self.libraries = sorted(libraries)
        self.rooms = {o: self.copy_object(o) for a in archives for o in self.reach.objects.members[a]}
        self.copy_sources()
        self.read_commands()
        self.link_library()
        for program, objects in programs.items():
            self.link_program(program, objects)

    def read_rules(self):
        programs, archives, objects, libraries = {}, set(), set(), set()
        for line in (self.dev / "build.ninja").open():
            match = re.match(r"build (\S+)[^:]*: C_EXECUTABLE_LINKER\S* ([^|]*)(?:\| ([^|]*))?", line)
            # The simulated daemon wraps calls between rooms, which a shared library binds itself.
            if match and re.match(r"tests/(?!bench|sim/daemon)|tandem$", match[1]):
                programs[match[1]] = match[2].split()
                objects.update(programs[match[1]])
                inputs = (match[3] or "").split()
                archives.update(i for i in inputs if i.endswith(".a"))
                libraries.update(i for i in inputs if i.endswith(".so"))
        return programs, sorted(archives), sorted(objects), libraries

    def source_of(self, name):
        """twin/pair/pair.c from CMakeFiles/tandem_twin_pair.dir/twin/pair/pair.c.o"""
        return name.partition(".dir/")[2].removesuffix(".o")

    def needs_main(self, name):
        """It needs the table of commands, which main.c has and the programs of tests lack."""
        return self.source_of(name) == "service/program/completion_command.c"

    def copy_object(self, name):
        is_counted = self.core_from and self.source_of(name).startswith(ROOMS)
        target = self.folder / "objects" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_counted:
            return self.core_from / name
        shutil.copy2(self.dev / name, target)
        return target

    def copy_sources(self):
        for name in self.reach.tracked:
            if name.endswith((".c", ".h", ".def")) and (self.root / name).exists():
                target = self.sources / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.root / name, target)

    def read_commands(self):
        """The command that compiles each source of these rooms, from the copy."""
        self.compile = {}
        for entry in json.loads((self.dev / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            name = self.source_of(words[words.index("-o") + 1])
            if words[words.index("-o") + 1] in self.rooms and name.startswith(self.compiled):
                words = words[next(i for i, w in enumerate(words) if "ccache" not in w):]
                self.compile[name] = [f"-I{self.sources}" if w == f"-I{self.root}" else w for w in words]

    def object_of(self, name):
        command = self.compile[name]
        return self.rooms[command[command.index("-o") + 1]]

    def link_library(self):
        names = self.folder / "rooms.txt"
        names.write_text("\n".join(str(path) for o, path in self.rooms.items() if not self.needs_main(o)))
        counts = ["--coverage"] if self.core_from else []
        call(["gcc", "-fuse-ld=gold", "-Wl,-S", "-shared", *counts, "-o", LIBRARY, f"@{names}", *self.libraries, "-lm",
              "-pthread"], check=True, cwd=self.folder)

    def link_program(self, program, own):
        target = self.folder / program
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and all((self.dev / o).stat().st_mtime < target.stat().st_mtime for o in own):
            return
        own = [*own, *(path for o, path in self.rooms.items() if program == "tandem" and self.needs_main(o))]
        call(["gcc", "-fuse-ld=gold", "-Wl,-S", "-o", target, *own, self.folder / LIBRARY, f"-Wl,-rpath,{self.folder}",
              *self.libraries, "-lm", "-pthread"], check=True, cwd=self.dev)

    def compile_text(self, name, text, output, *extra):
        """Compiles a text in place of a source of the core; False when it does not compile."""
        changed = self.sources / pathlib.PurePath(name).with_name("mutant.c")
        changed.write_text(text)
        words = list(self.compile[name])
        words[words.index("-o") + 1] = str(output)
        words[words.index("-c") + 1] = str(changed)
        done = call([*words, *extra, "-w", "-g0"], cwd=self.dev, stderr=subprocess.DEVNULL)
        changed.unlink()
        return done.returncode == 0

    def environment(self, test, scratch):
        properties = {p["name"]: p["value"] for p in self.reach.tests[test].get("properties", [])}
        given = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        if "TANDEM" in given:
            given["TANDEM"] = str(self.folder / "tandem")
        return {**os.environ, **given, "TMPDIR": str(scratch)}, properties

    def command(self, test):
        """Its command with the programs linked here."""
        words = []
        for word in self.reach.tests[test]["command"]:
            linked = self.folder / word.removeprefix(f"{self.dev}/")
            words.append(str(linked) if word.startswith(f"{self.dev}/") and linked.exists() else word)
        return words


def count_core(root):
    """A build whose core counts its lines; returns its folder."""
    folder = root / "build" / "counted"
    call(["cmake", "-S", root, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
          "-DCMAKE_C_FLAGS_DEBUG=-g1 --coverage"], check=True, stdout=subprocess.DEVNULL)
    archives = [line.split()[1].rstrip(":") for line in (folder / "build.ninja").open()
                if re.match(r"build libtandem_(base|logger_message|identification|twin)\S*\.a: ", line)]
    call(["ninja", "-C", folder, "-j", "1", *archives], check=True, stdout=subprocess.DEVNULL)
    return folder
