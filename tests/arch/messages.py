#!/usr/bin/env python3
"""messages.py [SOURCE] [--bless]: tests/golden/messages/*.txt lists the sentences of each output with their codes.

The sentences are read from the source. A reworded message changes its line there and its line in the list, which is
reviewed as text. `python3 tests/arch/messages.py --bless` writes the lists again.
"""
import pathlib
import re
import sys

ROOMS = "base config identification logger service twin web".split()
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|[^\w\s]', re.S)

# One row an output: the table of its codes (file, the pattern of an identifier and its code, identifiers that pass on
# the code of a cause), and the functions that write it: name, position of the code, position of the sentence, counted
# from 0. A code in place of a position is the code of all sentences of that function; a function with a file's name
# is static there.
OUTPUTS = {
    "alarms": {
        "codes": ("logger/message/record.h", r'X\((ALARM_\w+), "(\w+)", ALARM_TYPE_\w+\)', ("code",)),
        "functions": [("pair_alarm", 1, 4), ("outbox_alarm", 1, 2), ("twin/pair/pair.c:refuse_command", 1, 2),
                      ("twin/pair/pair_correct.c:tell_failure", 1, 2),
                      ("twin/dynamics/pair_dynamics_drift.c:snprintf", "drift_dynamics or drift_between_fits", 2),
                      ("twin/crew/crew_alarm.c:add_words", "(of a team)", 1),
                      ("twin/crew/crew_alarm.c:add_resources", "(of a team)", 2),
                      ("twin/crew/crew_alarm.c:add_robots", "(of a team)", 2)]},
}


def tokens(text):
    """The tokens of a C file without comments and directives, each with its line."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)
    out, line, at = [], 1, 0
    for match in TOKEN.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        if not match[0].startswith(("/*", "//")):
            out.append((match[0], line))
    return out


def calls(source):
    """(file, line, function, arguments) of each call and declaration; an argument is a list of tokens."""
    for room in ROOMS:
        for path in sorted((source / room).rglob("*.[ch]")):
            name, found = str(path.relative_to(source)), tokens(path.read_text())
            for at in range(len(found) - 1):
                if found[at + 1][0] == "(" and re.match(r"[a-z]\w*$", found[at][0]):
                    yield name, found[at][1], found[at][0], arguments(found, at + 2)


def arguments(found, at):
    out, depth = [[]], 0
    while at < len(found) and (depth > 0 or found[at][0] != ")"):
        token = found[at][0]
        depth += (token in "([{") - (token in ")]}")
        if token == "," and depth == 0:
            out.append([])
        else:
            out[-1].append(token)
        at += 1
    return out


def literals(argument):
    """The texts in an argument; those that follow each other are one, a macro between them stands as <NAME>."""
    out, joined = [], False
    for at, token in enumerate(argument):
        beside = {t[0] for t in (argument[at - 1] if at else " ", argument[at + 1] if at + 1 < len(argument) else " ")}
        part = token[1:-1] if token[0] == '"' else f"<{token}>" if re.match(r"[A-Z]", token) and '"' in beside else None
        if part is None:
            joined = False
        elif joined:
            out[-1] += part
        else:
            out.append(part)
            joined = True
    return out


def read_output(found, source, output):
    """The lines of one list, and what is wrong with the calls."""
    table, pattern, passed_on = output["codes"]
    codes = dict(re.findall(pattern, (source / table).read_text()))
    rows = {name: (code, text) for name, code, text in output["functions"]}
    lines, faults, used = set(), [], set()
    for path, line, name, given in found:
        code_at, text_at = rows.get(f"{path}:{name}") or rows.get(name) or (None, None)
        if text_at is None or len(given) <= text_at or {"const", "enum"} & set(given[text_at]):
            continue  # a declaration
        given_codes = [code_at] if isinstance(code_at, str) else [codes[t] for t in given[code_at] if t in codes]
        if not given_codes and not (set(given[code_at]) & set(passed_on)):
            faults.append(f"{path}:{line}: {name}() without a code of {table}: {' '.join(given[code_at])}")
        used.update(given_codes)
        shown = " or ".join(given_codes) or "(of its cause)"
        parts = sorted({t for a in given[text_at + 1:] for t in literals(a) if re.search(r"[A-Za-z]{2}", t)})
        for sentence in literals(given[text_at]):
            if re.search(r"[A-Za-z]{2}", re.sub(r"%[-.*0-9]*l*[a-z]", "", sentence)) or parts:
                lines.add(f"{shown}: {sentence}" + "".join(f" | {p}" for p in parts))
    faults += [f"{table}: '{code}' is used nowhere" for code in codes.values() if code not in used]
    return sorted(lines), faults


def main():
    given = [a for a in sys.argv[1:] if a != "--bless"]
    source = pathlib.Path(given[0]) if given else pathlib.Path(__file__).parent.parent.parent
    found, faults = list(calls(source)), []
    for name, output in OUTPUTS.items():
        lines, wrong = read_output(found, source, output)
        faults += wrong
        path, text = source / f"tests/golden/messages/{name}.txt", "".join(line + "\n" for line in lines)
        if "--bless" in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        old = path.read_text().splitlines() if path.exists() else []
        faults += [f"{path}: not in the source: {line}" for line in old if line not in lines]
        faults += [f"{path}: not in the list: {line}" for line in lines if line not in old]
    for fault in faults:
        print(fault)
    if faults:
        sys.exit("after review: python3 tests/arch/messages.py --bless")


if __name__ == "__main__":
    main()
