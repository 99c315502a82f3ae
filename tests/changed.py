#!/usr/bin/env python3
"""Prints the tests that can detect a change, one name a line.

usage: changed.py BUILD COMMIT [--explain NAME]     what differs from COMMIT, the working tree included
       changed.py BUILD --of FILE... [--explain NAME]

BUILD is a configured build directory with object files (any preset). A test reaches a file when
  * its object file needs it: the includes that ninja recorded, then the objects that define what it calls or reads,
    as the linker would select them from the libraries;
  * it runs a subcommand of `tandem` whose objects need the file;
  * it is a script that runs, imports or sources the file;
  * a file that it reaches names a data file, or the test has the file or its folder as an argument.
Tests of the architecture are always printed. A file that no test is known to use selects every test. --explain gives
the reason why NAME is selected.
"""
import argparse
import functools
import json
import pathlib
import re
import subprocess
import sys

SCRIPTS = {".py", ".sh", ".js", ".mjs", ".ino", ".lua", ".m"}
# No test runs these, unless it names them.
UNTESTED = re.compile(r"(.*\.md|docs/.*|LICENSE|\.(ci|clang|git).*|test|run|tests/(bench|package|mutation)/.*|"
                      r"tests/(tidy|valgrind)\.sh|tests/changed\.py)$")
EVERYTHING = re.compile(r"(.*/)?(CMakeLists\.txt|CMakePresets\.json)$|cmake/|.*\.(cmake|in)$")
RUNNING = re.compile(r"(tests|docs|examples|packaging|deploy)/|README\.md$|run$")  # kinds of tests that may run `tandem`
TOKEN = re.compile(r"[\w./-]+\.[a-z]+\b")
IMPORT = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.M)


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Objects:
    """The build: the repository's files behind each object, and the objects behind each program."""

    def __init__(self, build):
        self.build = build
        cache = (build / "CMakeCache.txt").read_text()
        self.source = pathlib.Path(re.search(r"CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", cache)[1])
        self.inputs, self.members, self.programs = {}, {}, {}
        self.read_rules()
        self.files = self.read_includes()
        self.defined, self.needed = {}, {}
        self.read_symbols()

    def read_rules(self):
        for line in (self.build / "build.ninja").open():
            if not line.startswith("build "):
                continue
            outputs, _, rest = line[6:].partition(": ")
            rule, *inputs = rest.partition(" ||")[0].replace("|", " ").split()
            outputs = outputs.replace("|", " ").split()
            if rule == "CUSTOM_COMMAND":
                self.inputs.update(dict.fromkeys(outputs, inputs))
            elif "EXECUTABLE_LINKER" in rule:
                own = [i for i in inputs if i.endswith(".o")]
                self.programs[outputs[0]] = own, [i for i in inputs if i.endswith(".a")]
            elif "STATIC_LIBRARY_LINKER" in rule:
                self.members[outputs[0]] = [i for i in inputs if i.endswith(".o")]

    def repository_files(self, path):
        """The file in the repository that is path; for a generated file those that it is made from."""
        name = str(path)
        if name in self.inputs:
            return {f for i in self.inputs[name] for f in self.repository_files(i)}
        full = pathlib.Path(name) if name.startswith("/") else self.build / name
        parts = []
        for part in full.parts:  # no symbolic link is meant, and resolve() is slow
            parts = parts[:-1] if part == ".." else [*parts, part]
        full = pathlib.PurePath(*parts)
        inside = full.is_relative_to(self.source) and not full.is_relative_to(self.build)
        return {str(full.relative_to(self.source))} if inside else set()

    def read_includes(self):
        files, known, target = {}, {}, None
        for line in run("ninja", "-C", str(self.build), "-t", "deps").splitlines():
            if line.startswith(" "):
                path = line.strip()
                if path not in known:
                    known[path] = set() if path.startswith("/usr/") else self.repository_files(path)
                files[target] |= known[path]
            elif ": #deps" in line:
                target = line.split(": #deps")[0]
                files[target] = set()
        return {o: f for o, f in files.items() if (self.build / o).exists()}

    def read_symbols(self):
        in_libraries = {o for members in self.members.values() for o in members}
        objects = sorted(self.files)
        listing = run("nm", "-A", "-g", "-P", *(str(self.build / o) for o in objects)) if objects else ""
        start = len(str(self.build)) + 1
        for line in listing.splitlines():
            path, _, rest = line.partition(": ")
            name, kind = rest.split()[:2]
            path = path[start:]
            if kind in "Uwv":
                self.needed.setdefault(path, []).append(name)
            elif path in in_libraries:
                self.defined.setdefault(name, []).append(path)

    def closure(self, roots, without=()):
        """{object: (object that needs it, symbol)} of every object that the linker selects for roots."""
        reached, pending = {root: None for root in roots}, list(roots)
        while pending:
            at = pending.pop()
            for symbol in self.needed.get(at, ()):
                if symbol in without:
                    continue
                for target in self.defined.get(symbol, ()):
                    if target not in reached:
                        reached[target] = at, symbol
                        pending.append(target)
        return reached


class Part:
    """Files that a test reaches in one way; why(file) gives the reason."""

    def __init__(self, files, why, objects=()):
        self.files, self.why, self.objects = files, why, objects


def list_sources(source):
    """The files of a checkout; of a tree without git those outside build and hidden folders."""
    try:
        return run("git", "-C", str(source), "ls-files", "-co", "--exclude-standard").splitlines()
    except (FileNotFoundError, subprocess.CalledProcessError):
        names = (path.relative_to(source) for path in source.rglob("*") if path.is_file())
        return [str(name) for name in names if name.parts[0] != "build" and not name.parts[0].startswith(".")]


class Reach:
    """The files that each test reaches, with reasons."""

    def __init__(self, build):
        self.objects = Objects(pathlib.Path(build).resolve())
        self.source = self.objects.source
        self.closures, self.reached = {}, {}
        self.tracked = list_sources(self.source)
        self.scripts = {}
        for name in self.tracked:
            path = pathlib.PurePath(name)
            if path.suffix in SCRIPTS or name == "run" or (path.suffix == ".c" and name.startswith("examples/")):
                self.scripts.setdefault(path.name, []).append(name)
        shown = json.loads(run("ctest", "--test-dir", str(self.objects.build), "--show-only=json-v1"))
        self.tests = {test["name"]: test for test in shown["tests"]}
        self.main = self.objects.programs["tandem"][0]
        self.commands = {s.removeprefix("command_").replace("_", "-"): s for o in self.main
                         for s in self.objects.needed.get(o, ()) if s.startswith("command_")}
        words = "|".join(sorted(self.commands, key=len, reverse=True))
        self.command_word = {".sh": re.compile(rf"(?<![\w/.$-])({words})(?![\w./=-])"),
                             ".md": re.compile(rf"\btandem\s+({words})\b"),
                             "": re.compile(rf"""(?:["']|(?:TANDEM|tandem)["'}}]*\s+)({words})(?=["'\s\\])""")}

    @functools.cache
    def text(self, name):
        try:
            return (self.source / name).read_text(errors="replace")
        except OSError:
            return ""

    def closure(self, roots, without=(), how=""):
        """The files behind objects."""
        key = tuple(roots), frozenset(without)
        if key not in self.closures:
            reached = self.objects.closure(roots, without)
            files = {}
            for at in reached:
                for name in self.objects.files.get(at, ()):
                    files.setdefault(name, at)
            self.closures[key] = files, reached
        files, reached = self.closures[key]
        return Part(files, lambda name: f"{name} is compiled into {self.path_to(reached, files[name])}{how}", reached)

    @staticmethod
    def path_to(reached, at):
        name = pathlib.PurePath(at).name
        while reached[at]:
            at, symbol = reached[at]
            name += f", which has {symbol} that {pathlib.PurePath(at).name} needs"
        return name

    def command(self, name, user):
        """The files behind a subcommand, which user runs."""
        every = set(self.commands.values())
        how = f"; {user} runs tandem {name}"
        parts = [self.closure(self.main, every - {self.commands[name]}, how)]
        # A command that starts programs (tandem demo) starts tandem with the subcommands that its folder names.
        folders = {str(pathlib.PurePath(f).parent) for o in parts[0].objects for f in self.objects.files.get(o, ())
                   if f.endswith(".c") and "child_start" in self.objects.needed.get(o, ())}
        near = [f for f in parts[0].files if str(pathlib.PurePath(f).parent) in folders]
        started = {c for f in near for c in self.commands_named(f)[0]}
        return parts + [self.closure(self.main, every - {self.commands[c]}, how) for c in sorted(started)]

    def roots(self, arguments):
        """The objects of the C programs that a test runs; of a program of many suites the one that is named."""
        found = []
        for place, argument in enumerate(arguments):
            own = self.objects.programs.get(argument.removeprefix(f"{self.objects.build}/"), ([],))[0]
            stems = {pathlib.PurePath(o).name.split(".")[0]: o for o in own}
            named = [stems[s] for word in arguments[place + 1:] for s in (word, "fuzz_" + word) if s in stems]
            if own != self.main:
                found += named or own
        return found

    def script_files(self, pending):
        """{file: why} of scripts, with the files that they run, source and import."""
        files = dict(pending)
        pending = list(pending)
        while pending:
            at = pending.pop()
            for token in {*TOKEN.findall(self.text(at)), *(m + ".py" for m in IMPORT.findall(self.text(at)))}:
                path = pathlib.PurePath(token)
                near = self.scripts.get(path.name, ())
                exact = [s for s in near if s.endswith(token.lstrip("./"))]
                for target in exact or near:
                    if target not in files and target != at:
                        files[target] = f"{target} is used by {at}"
                        pending.append(target)
        return files

    @functools.cache
    def commands_named(self, name):
        """The subcommands that a script, document or test source names; whether it runs `tandem` at all."""
        text, suffix = self.text(name), pathlib.PurePath(name).suffix
        runs = "TANDEM" in text or suffix == ".md"
        if suffix == ".sh":
            text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
        variable = suffix == ".sh" and re.search(r'TANDEM\}?"? "?\$\{?[a-z]\w*\}?(?![\w/])', text)
        if variable or (suffix == ".md" and "./run" in text):
            return set(self.commands), runs
        named = set(self.command_word.get(suffix, self.command_word[""]).findall(text))
        return named | ({"serve"} if "start_daemon" in text else set()), runs

    def commands_in(self, files):
        named = {name: self.commands_named(name) for name in sorted(files) if RUNNING.match(name)}
        if not any(runs for _, runs in named.values()):
            return {}
        found = {command: name for name, (commands, _) in named.items() for command in commands}
        return found or {command: min(files) for command in self.commands}

    def of(self, name):
        """The files that a test reaches, without data, as a list of Part; None when its program is not built."""
        if name not in self.reached:
            roots = self.roots(self.tests[name].get("command", []))
            if any(root not in self.objects.files for root in roots):
                self.reached[name] = None
                return None
            parts = [self.closure(roots)] if roots else []
            near = {f for root in roots for f in self.objects.files[root] if f.startswith("tests/")}
            near = near if any("TANDEM_PROGRAM" in self.text(f) for f in near) else set()
            scripts = {f: f"{f} is an argument" for f in self.given(name)}
            if not roots or any(pathlib.PurePath(f).suffix in {*SCRIPTS, ".md"} for f in scripts):
                scripts = self.script_files(scripts)
                parts.append(Part(scripts, scripts.get))
                near.update(scripts)
            self.reached[name] = [*parts, *self.commands_of(near)]
        return self.reached[name]

    def commands_of(self, files):
        return [part for word, user in self.commands_in(files).items() for part in self.command(word, user)]

    def given(self, test):
        """The files and folders of the repository among a test's arguments."""
        arguments = self.tests[test].get("command", [])
        return [f for a in arguments if "/" in a for f in self.objects.repository_files(a)]

    @functools.cache
    def strings(self, name):
        """The text of a file as far as it can name a data file; a path that Python joins becomes one piece."""
        text = self.text(name)
        if name.endswith((".c", ".h", ".def")):
            return re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        return re.sub(r"""["']\s*/\s*(?:f?["'])?""", "/", text) if name.endswith(".py") else text

    def naming(self, name):
        """The files that name a data file, or its folder, where tests may look for all that it holds."""
        path = pathlib.PurePath(name)
        folders = [str(p) for p in path.parents if len(p.parts) >= 2]
        patterns = [re.escape(f"{path.parent.name}/{path.name}"), *(rf"{re.escape(f)}(?!/?\w)" for f in folders)]
        if sum(pathlib.PurePath(t).name == path.name for t in self.tracked) < 2:
            patterns.append(rf"(?<![\w-]){re.escape(path.name)}(?![\w-])")
        if path.parent.name:
            patterns.append(rf"(?<![\w-]){re.escape(path.parent.name)}/(?:(?![\w.])|{re.escape(path.stem)}\b)")
        pattern = re.compile("|".join(patterns))
        needles = [path.name, *folders, *([path.parent.name + "/"] if path.parent.name else [])]
        reached = {file for test in self.tests for part in self.of(test) or () for file in part.files if file != name}
        return {f for f in reached if any(n in self.strings(f) for n in needles) and pattern.search(self.strings(f))}

    def users_of_data(self, name):
        naming, users = self.naming(name), {}
        for test in self.tests:
            if any(name == f or name.startswith(f + "/") for f in self.given(test)):
                users[test] = f"{name} is an argument, or in a folder that is one"
                continue
            for part in self.of(test) or ():
                file = next(iter(naming & part.files.keys()), None)
                if file:
                    users[test] = f"{file} names {name}: {part.why(file)}"
                    break
        return users

    def users(self, name):
        """{test: why} of the tests that can detect a change of the file name."""
        if EVERYTHING.match(name):
            return {test: f"{name} decides how everything is built" for test in self.tests}
        found = {}
        for test in self.tests:
            parts = self.of(test)
            if parts is None:
                found[test] = "its program is not built"
            for part in parts or ():
                if name in part.files:
                    found[test] = part.why(name)
                    break
        compiled = any(name in files for files in self.objects.files.values())
        if not compiled and pathlib.PurePath(name).suffix not in (".c", ".h", ".def"):
            for test, why in self.users_of_data(name).items():
                found.setdefault(test, why)
        if not found and not compiled and not UNTESTED.match(name):
            return {test: f"nobody is known to use {name}" for test in self.tests}
        return found

    def select(self, names):
        selected = {test: "it looks at the whole tree" for test in self.tests if re.search(r"(^|\.)arch\.", test)}
        for name in names:
            for test, why in self.users(name).items():
                selected.setdefault(test, why)
        return {test: selected[test] for test in self.tests if test in selected}


def differing(source, commit):
    git = ["git", "-C", str(source)]
    changed = run(*git, "diff", "--name-only", "--no-renames", "-z", commit, "--")
    new = run(*git, "ls-files", "-o", "--exclude-standard", "-z")
    return [name for name in (changed + new).split("\0") if name]


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    options.add_argument("build")
    options.add_argument("commit", nargs="?")
    options.add_argument("--of", nargs="+", metavar="FILE")
    options.add_argument("--explain", metavar="NAME")
    given = options.parse_args()
    if bool(given.commit) == bool(given.of):
        options.error("a commit or --of FILE is needed")
    reach = Reach(given.build)
    selected = reach.select(given.of or differing(reach.source, given.commit))
    if given.explain:
        print(selected.get(given.explain, "not selected"))
        return 0 if given.explain in selected else 1
    for test in selected:
        print(test)
    return 0


if __name__ == "__main__":
    sys.exit(main())
