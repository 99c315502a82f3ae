#!/usr/bin/env python3
"""messages.py [SOURCE] [--bless]: tests/golden/messages/*.txt lists the sentences of each output with their codes.

The sentences are read from the source. A reworded message changes its line there and its line in the list, which is
reviewed as text. `python3 tests/arch/messages.py --bless` writes the lists again.
"""
import difflib
import pathlib
import re
import sys

ROOMS = "base config identification logger service twin web".split()
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|[^\w\s]', re.S)

# One row an output:
# * codes: the file of its table, the pattern of (identifier, code, meaning), names that pass on the code of a cause;
# * functions that write it: name, position of the code, first possible position of the sentence, counted from 0. A
#   text in place of a position is the code of all sentences of that function; FILE:NAME is static there;
# * texts: files with sentences in tables or return values, with a word in place of the code;
# * document: the page whose table of codes is made from the first.
OUTPUTS = {
    "alarms": {
        "codes": ("logger/message/record.h", r'X\((ALARM_\w+), "(\w+)", ALARM_TYPE_\w+\)', ("code",)),
        "functions": (
            ("pair_alarm", 1, 4), ("pair_alarm_since", 1, 5), ("lab_alarm_raise", 1, 2), ("twin/pair/pair.c:refuse_command", 1, 2),
            ("twin/pair/pair_correct.c:report_failure", 1, 2),
            ("twin/dynamics/pair_dynamics_drift.c:snprintf", "drift_dynamics or drift_between_fits", 2),
            ("twin/team/live/team_live_alarm.c:text_append", "(of a team)", 2),
            ("twin/team/live/team_live_alarm.c:add_resources", "(of a team)", 2),
            ("twin/team/live/team_live_alarm.c:add_robots", "(of a team)", 2),
        ),
    },
    "faults": {
        "codes": ("base/errors/fault.def", r'FAULT\((\w+), "(\w+)", "(.*)"\)', ("fault", "kind", "number_explain")),
        "functions": (
            ("err_set", 2, 4), ("err_set_at", 2, 6), ("refuse_csv", 2, 4), ("err_list_add", 2, 6), ("err_no_memory", "no_memory", 2),
            ("option_fault", 2, 3), ("option_fault_at", 2, 3), ("config/options/tree.c:report_fault", 1, 3), ("json_scan_fail", 1, 2),
            ("csv_error", 3, 4), ("config/labfile/lab_file.c:fault_at_key", 2, 3), ("journal_fail", 1, 2),
            ("base/expression/expression_parse.c:blame_text", 2, 3),
            ("base/expression/expression_parse.c:blame_token", "bad_syntax", 1),
            ("base/expression/expression_types.c:blame_node", "type_mismatch", 2),
            ("identification/model/model_terms.c:blame_node", 3, 4), ("config/drawing/drawing_xml.c:stop_reading", 2, 3),
            ("logger/storage/journal_checkpoint.c:report_damage", "file_damaged", 1),
            ("service/daemon/daemon.c:name_fault", 2, 3), ("logger/storage/store_queue.c:record_lack", 2, 3),
            ("service/tool/csv_file.c:refuse_file", "file_unreadable", 1),
            ("service/tool/gnuplot.c:refuse_picture", 1, 2),
            ("query_refuse", 1, 2),
            ("twin/control/pid.c:refuse_value", "out_of_range", 2),
            ("twin/control/position_control.c:refuse_value", "out_of_range", 2),
            ("vda_fail", 1, 2),
            ("codec_malformed", 5, 6), ("logger/codec/mapping.c:refuse_value", 1, 2),
            ("logger/message/payload.c:emit_malformed", 3, 4),
        ),
        "texts": (("base/numbers/number.c", "(a number)"), ("config/labfile/following_text.c", "bad_format"),
                  ("logger/message/codec_native.c", "(a member)"), ("logger/storage/journal.c", "(the journal)"),
                  ("service/team/team_settings.c", "bad_format"), ("twin/team/check/team_ability.c", "bad_job"),
                  ("twin/team/check/team_fault_text.c", "(by its kind)"),
                  ("base/expression/expression_parse.c", "(an expression)"), ("logger/message/csv.c", "not_a_number"),
                  ("base/expression/expression_types.c", "type_mismatch"), ("config/labfile/lab_check.c", "(the lab file)"),
                  ("config/labfile/lab_file.c", "(the lab file)"), ("config/mapping/mapping_file.c", "(a mapping)"),
                  ("config/machine/machine_yaml.c", "(a machine)"),
                  ("service/sim/experiment/experiment_file.c", "(an experiment)")),
    },
    "reasons": {
        "codes": ("identification/fit/reason.def", r'REASON\((\w+), "(\w+)", "(.*?)"', ("code", "reason_codes")),
        "functions": (("estimate_reason", 1, 3), ("estimate_reason_first", 1, 3), ("estimate_note", 1, 2), ("plausible_doubt", "wrong_unit", 1)),
        "document": "docs/model/trust.md",
    },
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


def source_files(source):
    return [path for room in ROOMS for path in sorted((source / room).rglob("*.[ch]"))]


def calls(source):
    """(file, line, function, arguments) of each call and declaration; an argument is a list of tokens."""
    for path in source_files(source):
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
    """The texts in an argument; adjacent texts are joined, with a macro between them as <NAME>."""
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


def sentence_of(text):
    """Whether a text has more than conversions and a name."""
    return re.search(r"[A-Za-z]{2}", re.sub(r"%[-.*0-9]*(?:ll?|z)?[a-zA-Z]", "", text))


def read_calls(found, output, codes):
    """The lines of the calls, and their faults."""
    rows = {name: (code, text) for name, code, text in output["functions"]}
    lines, faults = set(), []
    for path, line, name, given in found:
        code_at, text_at = rows.get(f"{path}:{name}") or rows.get(name) or (None, None)
        if text_at is None or len(given) <= text_at or {"const", "enum"} & set(given[text_at]):
            continue  # another function, or a declaration
        own = [code_at] if isinstance(code_at, str) else [codes[t] for t in given[code_at] if t in codes]
        if not own and not set(given[code_at]) & set(output["codes"][2]):
            faults.append(f"{path}:{line}: {name}() without a code: {' '.join(given[code_at])}")
        text_at += not literals(given[text_at]) and len(given) > text_at + 1
        parts = sorted({t for a in given[text_at + 1:] for t in literals(a) if sentence_of(t)})
        for text in literals(given[text_at]):
            if sentence_of(text) or parts:
                lines.add(f"{' or '.join(own) or '(of its cause)'}: {text}" + "".join(f" | {p}" for p in parts))
    return lines, faults


def read_output(source, found, output):
    """The lines of one list, the rows of its table of codes, and the faults of the calls."""
    table, pattern, _ = output["codes"]
    rows = re.findall(pattern, (source / table).read_text())
    lines, faults = read_calls(found, output, {row[0]: row[1] for row in rows})
    for path, code in output.get("texts", ()):
        all_texts = literals([token for token, _ in tokens((source / path).read_text())])
        known = "\n".join(lines)
        lines |= {f"{code}: {text}" for text in all_texts
                  if " " in text and text[-1] != "." and sentence_of(text) and text not in known}
    # The row itself is no use of a code; a return value of a function next to the table is one.
    uses = "\n".join(re.sub(pattern, "", path.read_text()) for path in source_files(source))
    named = set(re.findall(r"[A-Z]\w+", uses))
    faults += [f"{table}: {row[1]} is used nowhere" for row in rows if row[0] not in named]
    return sorted(lines), rows, faults


def hold(path, text, bless, faults):
    """The file must have this text; --bless writes it."""
    old = path.read_text() if path.exists() else ""
    if bless and old != text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    elif old != text:
        faults += [f"{path.name}: {line}" for line in difflib.ndiff(old.splitlines(), text.splitlines())
                   if line[:2] in ("+ ", "- ")]


def main():
    bless = "--bless" in sys.argv
    given = [a for a in sys.argv[1:] if a != "--bless"]
    source = pathlib.Path(given[0]) if given else pathlib.Path(__file__).parent.parent.parent
    found, faults = list(calls(source)), []
    for name, output in OUTPUTS.items():
        lines, rows, wrong = read_output(source, found, output)
        faults += wrong
        hold(source / f"tests/golden/messages/{name}.txt", "".join(line + "\n" for line in lines), bless, faults)
        if "document" in output:
            page = source / output["document"]
            table = f"<!-- {name}: begin -->\n| code | meaning |\n|---|---|\n" \
                + "".join(f"| `{row[1]}` | {row[2]} |\n" for row in rows)
            text = re.sub(rf"<!-- {name}: begin -->\n(?:\|.*\n)+", lambda _: table, page.read_text())
            hold(page, text, bless, faults)
    for fault in faults:
        print(fault)
    if faults:
        sys.exit("after review: python3 tests/arch/messages.py --bless")


if __name__ == "__main__":
    main()
