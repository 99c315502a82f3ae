#!/usr/bin/env python3
"""renamed.py SOURCE_DIR: old names of docs/renamed.tsv are gone, and new names exist.

A row is kind, old, new and, where the name differs by place, globs of the files that the row is about (else all).
  room, path, file  a folder (new: one or more), a file, a module (header and source, without its ending)
  id                a C identifier
  member key option metric event alert route schema thread  names that users see, in JSON, YAML, help, metrics, log
Old names may not occur as whole words in code, documents, client kits and packaging. A plain word such as `told` is
also English: as id it counts in C without comments and texts, as another kind only where it is quoted or is a key.
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

TABLE = "docs/renamed.tsv"
PLACES = ("room", "path", "file")
NAMES = ("id", "member", "key", "option", "metric", "event", "alert", "route", "schema", "thread")
C = (".c", ".h", ".def", ".in")
TEXT = C + (".md", ".py", ".sh", ".js", ".css", ".html", ".json", ".yaml", ".yml", ".txt", ".tsv", ".cmake", ".conf", ".patch",
            ".ino", ".service", ".bash-completion", "")
# Recorded data have old names: replays read them.
DATA = ("tests/golden/replay/*", "tests/golden/*.jsonl", "tests/fuzz/corpus/*")
# kind, old name, files, and the reason why the old name stays there.
EXCEPTIONS = (
    ("*", "*", "tests/mutation/*.tsv", "rooms and lines of code as they were when they were measured"),
    ("*", "*", "tests/arch/words.tsv", "old identifiers, which the check of words looks for"),
)
WORD = re.compile(r"[A-Za-z_]\w*")
PLACE = re.compile(r"(?<![\w-])[\w.-]*(?:/[\w.-]+)+")
SPOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


def read_rows(root):
    for number, line in enumerate((root / TABLE).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            kind, old, new, *where = line.split("\t")
            yield number, kind, old, new, re.split(r"[ ,;]+", where[0].strip()) if where and where[0].strip() else []


def list_files(root):
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
        return [f for f in listed if f and (root / f).is_file()]
    paths = (p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    return sorted(path for path in paths if not path.startswith("build/"))


class Tree:
    def __init__(self, root):
        self.paths = list_files(root)
        self.folders = {"/".join(p.split("/")[:n]) for p in self.paths for n in range(1, p.count("/") + 1)}
        self.text, self.words, self.code, self.places = {}, {}, {}, {}
        for path in self.paths:
            if path != TABLE and pathlib.Path(path).suffix in TEXT and not any(fnmatch.fnmatch(path, d) for d in DATA):
                self.read(path, (root / path).read_text(errors="replace"))

    def read(self, path, text):
        """Indexes: which files have a word, have it in code, name a place."""
        self.text[path] = text
        for word in set(WORD.findall(text)):
            self.words.setdefault(word, []).append(path)
        if path.endswith(C):
            for word in set(WORD.findall(SPOKEN.sub(" ", text))):
                self.code.setdefault(word, []).append(path)
        for place in set(PLACE.findall(text)):
            parts = re.sub(r"^(\.{0,2}/|[ab]/)+", "", place).rstrip("./").split("/")
            names = {"/".join(parts[:n]) for n in range(1, len(parts) + 1)}
            for name in names | {re.sub(r"\.[ch]$", "", "/".join(parts))}:
                self.places.setdefault(name, []).append(path)

    def has_place(self, kind, name):
        if kind == "room":
            return name in self.folders
        return name in self.paths or (kind == "file" and (f"{name}.h" in self.paths or f"{name}.c" in self.paths))

    def with_words(self, name):
        return set.intersection(*(set(self.words.get(w, ())) for w in WORD.findall(name)))

    def has_name(self, name, where):
        return any(not where or any(fnmatch.fnmatch(f, glob) for glob in where) for f in self.with_words(name))

    def occurrences(self, kind, name, where):
        """Files in which the name occurs, and the line of the first place."""
        plain = re.fullmatch("[a-z]+", name) is not None
        if kind in PLACES:
            files = self.places.get(name, ())
        elif kind == "id" and plain:
            files = self.code.get(name, ())
        else:
            files = self.with_words(name)
        if kind == "option":
            pattern = re.compile(r"(?<![\w-])--" + re.escape(name.removeprefix("--")) + r"(?![\w-])")
        elif plain and kind not in ("id", "room"):
            pattern = re.compile(rf"[\"'`]{name}[\"'`]|(?<![^\s{{,]){name}: |(?<=[\w)\]]\.){name}\b")
        else:
            pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for path in sorted(files):
            if not where or any(fnmatch.fnmatch(path, glob) for glob in where):
                if match := pattern.search(self.text[path]):
                    yield path, self.text[path].count("\n", 0, match.start()) + 1


def check_row(tree, olds, row):
    number, kind, old, new, where = row
    if kind not in PLACES + NAMES:
        yield f"{TABLE}:{number}: kind {kind}: one of {' '.join(PLACES + NAMES)}"
        return
    if kind in PLACES:
        for place in new.split():
            if not tree.has_place(kind, place) and place not in olds:
                yield f"{TABLE}:{number}: {place} does not exist"
        if tree.has_place(kind, old) and old not in new.split():
            if kind != "room":
                yield f"{TABLE}:{number}: {old} still exists"
            return
        if old in new.split() or (kind == "path" and old in tree.paths):
            return
    elif not tree.has_name(new, where):
        yield f"{TABLE}:{number}: {new} occurs nowhere"
    module = re.sub(r"\.[ch]$", "", old) if kind == "path" else old
    stale = [module] if module != old and module not in tree.folders and not tree.has_place("file", module) else []
    for path, line in [place for name in [old, *stale] for place in tree.occurrences(kind, name, where)]:
        if not any(k in (kind, "*") and fnmatch.fnmatch(old, o) and fnmatch.fnmatch(path, p) for k, o, p, _ in EXCEPTIONS):
            yield f"{path}:{line}: {old} is called {new} now ({TABLE}:{number})"


def main():
    root = pathlib.Path(sys.argv[1])
    rows = list(read_rows(root))
    tree, olds = Tree(root), {old for _, kind, old, _, _ in rows if kind in PLACES}
    found = [fault for row in rows for fault in check_row(tree, olds, row)]
    print("\n".join(found) if found else f"{len(rows)} old names are gone")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
