"""The table in CONTRIBUTING.md, from the stored files table.tsv, coverage.tsv, equivalent.tsv."""
import csv
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOCUMENT = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- mutation table: begin -->", "<!-- mutation table: end -->"


def room_of(file):
    return str(pathlib.PurePath(file).parent)


def key_of(row):
    return row["file"], row["text"], row["before"], row["after"]


def read_table(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_equivalent():
    """{key: reason} of mutants without any visible effect."""
    return {key_of(row): row["reason"] for row in read_table(HERE / "equivalent.tsv")}


def latest(rows):
    """{key: row}, the last judgement of each mutant."""
    return {key_of(row): row for row in rows}


def write_coverage(measurement):
    lines = ["commit\troom\tlines\trun"]
    for room, (every, covered) in sorted(measurement.room_table().items()):
        lines.append(f"{measurement.data['commit'][:8]}\t{room}\t{every}\t{covered}")
    (HERE / "coverage.tsv").write_text("\n".join(lines) + "\n")


def counts(rows):
    """{room: [mutants, killed, lived, equivalent]}"""
    equivalent, rooms = read_equivalent(), {}
    for key, row in latest(rows).items():
        counted = rooms.setdefault(room_of(row["file"]), [0, 0, 0, 0])
        counted[0] += 1
        counted[1 if row["verdict"] == "killed" else 3 if key in equivalent else 2] += 1
    return rooms


def table(rows):
    covered = {row["room"]: row for row in read_table(HERE / "coverage.tsv")}
    rooms = counts(rows)
    lines = ["| Room | lines run by tests | mutants | killed | lived | change nothing | killed of those that matter |",
             "|---|---|---|---|---|---|---|"]
    total = [0, 0, 0, 0]
    for room in sorted({*covered, *rooms}):
        mutants, killed, lived, same = counted = rooms.get(room, [0, 0, 0, 0])
        total = [a + b for a, b in zip(total, counted)]
        line = covered.get(room)
        share = f"{int(line['run']) / max(int(line['lines']), 1):.0%} of {line['lines']}" if line else "–"
        lines.append(f"| `{room}` | {share} | {mutants} | {killed} | {lived} | {same} | {percent(killed, lived)} |")
    every = sum(int(row["lines"]) for row in covered.values())
    run = sum(int(row["run"]) for row in covered.values())
    lines.append(f"| all | {run / max(every, 1):.0%} of {every} | {total[0]} | {total[1]} | {total[2]} | {total[3]} | "
                 f"{percent(total[1], total[2])} |")
    return "\n".join(lines)


def percent(killed, lived):
    return f"{killed / (killed + lived):.0%}" if killed + lived else "–"


def write(rows):
    text = DOCUMENT.read_text()
    block = f"{BEGIN}\n{table(rows)}\n{END}"
    if BEGIN not in text:
        raise SystemExit(f"{DOCUMENT}: the line {BEGIN} is missing")
    DOCUMENT.write_text(re.sub(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: block, text, flags=re.S))
    print(table(rows))


def print_survivors(rows, room):
    equivalent = read_equivalent()
    for key, row in sorted(latest(rows).items(), key=lambda item: (item[1]["file"], int(item[1]["line"]))):
        if row["verdict"] == "lived" and key not in equivalent and room in (None, room_of(row["file"])):
            print(f"{row['file']}:{row['line']}: {row['operator']} {row['before']} -> {row['after']} "
                  f"({row['test']})\n    {row['text']}")
