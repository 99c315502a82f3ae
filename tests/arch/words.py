#!/usr/bin/env python3
"""words.py [--all] [--count] [FILE...]: documents and comments are in plain words.

Checks sentences (at most 35 words, the mean of a page at most 18), lines (100 columns), phrases that tests/arch/words.tsv
rules out, old identifiers, and comments that begin without a subject. Without FILE: everything that git lists, but for what STILL_OLD
names. --all: these too. --count: one line per file, worst first.
"""
import ast
import fnmatch
import io
import pathlib
import re
import subprocess
import sys
import tokenize

WORDS_MAX = 35   # of a sentence
WORDS_MEAN = 18  # of a page with at least SENTENCES sentences
SENTENCES = 10
COLUMNS = 100    # of a document's line
PROSE = (".md",)
C_LIKE = (".c", ".h", ".def", ".js", ".mjs", ".css", ".ino")
HASHED = (".sh", ".yaml", ".cmake", ".conf", ".service", "CMakeLists.txt", ".ci/run", "/postinst", "/postrm", "/prerm")
SCRIPTS = ("run", "test")
# Files that do not follow these rules: inputs that fuzzing found.
STILL_OLD = ("tests/fuzz/corpus/*",)
NO_SUBJECT = re.compile(r"(Of|Where|By|As|What|Whose)\b(?! (if|is|are|happens) [^.]*\?)")


def blocks_of(text):
    """(line, prose) of a document: paragraphs and list items, without code, tables, headings and pictures."""
    fence, at, words = False, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fence = not fence
            bare = ""
        plain = not fence and not bare.startswith(("|", "#", "![", "<!--", "$$")) and not line.startswith("    ")
        item = re.match(r"([-*]|\d+\.) +", bare)
        if words and (not bare or not plain or item):
            yield at, " ".join(words)
            words = []
        if bare and plain:
            at = at if words else number
            words.append(bare[item.end():] if item else bare)
    if words:
        yield at, " ".join(words)


def without_code(prose):
    return re.sub(r"`[^`]*`", "code", prose)


def sentences_of(prose):
    prose = without_code(prose)
    prose = re.sub(r"\$[^$]*\$", "formula", prose)
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    prose = re.sub(r"https?://\S+", "address", prose)
    prose = re.sub(r"\b(e\.g|i\.e|eq|fig|no|vs|sect|approx)\. ", r"\1 ", prose, flags=re.I)
    for sentence in re.split(r"(?<=[.!?])[)\"*_]* +(?=[\"(*_A-Z0-9]|code|formula)", prose):
        count = len([w for w in sentence.split() if re.search(r"[A-Za-z0-9]", w)])
        if count:
            yield count, sentence


def c_comments(text):
    """(line, words) of block comments and of lines that begin with //; adjacent lines are one comment."""
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/', text, re.S):
        if match.group(1):
            words = re.sub(r"\n\s*\*? ?", " ", match.group(1)).strip(" -\n")
            yield text.count("\n", 0, match.start()) + 1, words
    yield from joined((number, at, text) for number, at, text in line_comments(text, "//"))


def line_comments(text, mark):
    """(line, column, words) of comments that begin with the mark outside of quotes."""
    for number, line in enumerate(text.splitlines(), 1):
        at, quote = 0, ""
        while at < len(line) and (quote or not line.startswith(mark, at) or line[at - 1:at] not in ("", " ", "\t")):
            if line[at] == "\\":
                at += 1
            elif line[at] in "\"'`" and quote in ("", line[at]):
                quote = "" if quote else line[at]
            at += 1
        if at < len(line) and not (number == 1 and line.startswith("#!")):
            yield number, at if not line[:at].strip() else -number, line[at + len(mark):].strip(" -/")


def joined(comments):
    """(line, words): comments in the same column of adjacent lines become one; an empty line separates them."""
    last, column, start, words = 0, None, 0, []
    for number, at, text in comments:
        if words and (number != last + 1 or at != column or not text):
            yield start, " ".join(words)
            words = []
        if text:
            start = start if words else number
            words.append(text)
        last, column = number, at
    if words:
        yield start, " ".join(words)


def python_comments(text):
    """(line, words) of comments, and of the paragraphs of docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    hashed = [(t.start[0], t.start[1] if not t.line[:t.start[1]].strip() else -t.start[0], t.string.lstrip("# "))
              for t in tokens if t.type == tokenize.COMMENT and not t.string.startswith("#!")]
    yield from joined(hashed)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (words := ast.get_docstring(node)):
            at = node.body[0].lineno
            for paragraph in words.split("\n\n"):
                yield at, " ".join(paragraph.split())
                at += paragraph.count("\n") + 2


def comments_of(path, text):
    if path.endswith(".py"):
        return python_comments(text)
    return c_comments(text) if path.endswith(C_LIKE) else joined(line_comments(text, "#"))


def phrases(root):
    """Phrases with their patterns, and old identifiers with their new names."""
    rows = [line.split("\t") for line in (root / "tests/arch/words.tsv").read_text().splitlines()[1:]]
    return ([(new, re.compile(r"\b%s\b" % old, re.I)) for kind, old, new in rows if kind == "phrase"],
            {old: new for kind, old, new in rows if kind == "id"})


def check_document(path, text):
    counts = []
    for at, prose in blocks_of(text):
        for count, sentence in sentences_of(prose):
            counts.append(count)
            if count > WORDS_MAX:
                yield f"{path}:{at}: a sentence of {count} words: {sentence[:60]}..."
    if len(counts) >= SENTENCES and sum(counts) > WORDS_MEAN * len(counts):
        yield f"{path}: {sum(counts) / len(counts):.1f} words a sentence, {WORDS_MEAN} at most"
    fence = False
    for number, line in enumerate(text.splitlines(), 1):
        fence ^= line.strip().startswith(("```", "~~~"))
        if len(line) > COLUMNS and not fence and not line.startswith(("|", "    ")) and "](" not in line:
            yield f"{path}:{number}: {len(line)} columns, {COLUMNS} at most"


def check_file(root, path, ruled_out):
    text = (root / path).read_text(errors="replace")
    document = path.endswith(PROSE)
    if document:
        yield from check_document(path, text)
        spoken = [(at, without_code(prose)) for at, prose in blocks_of(text)]
    else:
        spoken = [(at, without_code(comment)) for at, comment in comments_of(path, text)]
        for at, comment in spoken:
            if NO_SUBJECT.match(comment):
                yield f"{path}:{at}: a comment without a subject: {comment[:60]}"
    ruled_phrases, names = ruled_out
    for new, pattern in ruled_phrases:
        yield from (f"{path}:{at}: \"{found.group(0)}\": say {new}" for at, words in spoken if (found := pattern.search(words)))
    for word in re.finditer(r"[A-Za-z_]\w*", text):
        if word.group(0) in names:
            yield f"{path}:{text.count(chr(10), 0, word.start()) + 1}: {word.group(0)} is called {names[word.group(0)]} now"


def main():
    flags = {a for a in sys.argv[1:] if a.startswith("--")}
    root = pathlib.Path(__file__).resolve().parents[2]
    files = [a for a in sys.argv[1:] if not a.startswith("--")]
    if not files:
        listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
        files = [f for f in listed if f.endswith((*PROSE, *C_LIKE, *HASHED, ".py")) or f in SCRIPTS]
        if "--all" not in flags:
            files = [f for f in files if not any(fnmatch.fnmatch(f, old) for old in STILL_OLD)]
    ruled_out = phrases(root)
    found = {path: list(check_file(root, path, ruled_out)) for path in files}
    if "--count" in flags:
        for path in sorted(found, key=lambda p: -len(found[p])):
            print(len(found[path]), path)
    else:
        for lines in found.values():
            print("\n".join(lines), end="\n" if lines else "")
    return any(found.values())


if __name__ == "__main__":
    sys.exit(main())
