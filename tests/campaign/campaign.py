#!/usr/bin/env python3
"""Studies of known truth: runs them, stores their counts, and makes the tables of docs/model from the stored counts.

usage: campaign.py list                                  the studies, and how many draws each takes
       campaign.py run [STUDY...] [--runs page|short]    run studies, all of them, and store their rows in results.tsv
       campaign.py docs                                  write the tables of the documents from results.tsv
       campaign.py check [STUDY...]                      does a short run agree with the stored rows? Without STUDY:
                                                         of all studies, and do the documents show the stored rows?
                  --documents                            the documents only
                  --fresh FILE                           with records of a run that was made before
       --build DIR                                       the build whose programs run (build/optimized)

A table in a document stands between two comments. The first names its study, with a pattern of rows, and may set its
layout:

    <!-- campaign: travel_time/accuracy ~ gauss.*
    noise, N, method
    w, median / p95 = {w_median_percent} / {w_p95_percent}
    t0 = {t0} -->
    <!-- end -->

{name} shows a value, or a share in percent with its exact 95 % interval. {name*1000} multiplies the value, or the
share by 1000 in place of 100. {name:n} shows "count of draws".
"""
import argparse
import collections
import fnmatch
import functools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORED = ROOT / "tests/campaign/results.tsv"
# How often chance alone fails the check of one study whose shares have not changed. A study draws the same each time: a
# check that has passed fails only after the programs have changed.
LEVEL = 1e-4

# study: draws for the page, draws for a short run (0: none is made). A name that begins with selftest_ is a model of
# `tandem selftest`, with the recordings of each scenario; other studies are tests/stat/test_<study>.c, with
# TANDEM_RUNS.
STUDIES = {
    "compare": (2000, 200),
    "gate": (1000, 60),
    "clock_accuracy": (1, 1),  # 100 or 200 robots a row, whatever the number of draws
    "team_live_coverage": (400, 20),
    "demo_arms": (200, 40),
    "diffdrive": (1000, 100),
    "drift": (81, 1),  # half an hour; 381 draws of 16 seeds are stored
    "dynamics_linear": (200, 200),
    "forecast_coverage": (200, 40),
    "input_interpolation": (25, 4),
    "input_plan": (25, 1),
    "live_fits": (8, 1),
    "next_move": (400, 10),
    "odometry": (1000, 100),
    "online_filter": (60, 16),
    "output_error": (200, 60),
    "prediction_error": (100, 10),
    "profile_time": (300, 300),
    "team_coverage": (1000, 60),
    "team_interleavings": (20000, 2000),
    "travel_time": (2000, 400),
    "usv3_intervals": (200, 24),
    "velocity_truth": (200, 16),
    "selftest_travel_time": (1000, 40),
    "selftest_arm_time": (1000, 20),
    "selftest_first_order": (1000, 12),
    "selftest_usv3": (1000, 2),
    "selftest_diffdrive": (1000, 2),
    "selftest_odometry": (300, 4),
    "selftest_arm_kinematics": (300, 4),
    "selftest_arm_friction": (300, 2),
    "selftest_arm6": (20, 0),
    "selftest_position_servo": (300, 2),
    "selftest_diffdrive_friction": (1000, 0),
    "selftest_joint": (1000, 2),
    "selftest_joint_load": (1000, 0),
    "selftest_joint_geared": (1000, 0),
    "selftest_joint_load_geared": (1000, 0),
    "selftest_joint_stribeck": (1000, 0),
    "selftest_joint_load_stribeck": (1000, 0),
    "selftest_joint_geared_stribeck": (1000, 0),
    "selftest_joint_load_geared_stribeck": (1000, 0),
}

Record = collections.namedtuple("Record", "study table row seed runs commit date cells")


def parse_records(text, commit="", date=""):
    """Records of a study as tests/support/campaign.h writes them, or with commit and date as they are stored."""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        study, table, row, seed, runs, *rest = line.split("\t")
        if not commit:
            at, day, *rest = rest
        cells = dict(cell.split("=", 1) for cell in rest)
        yield Record(study, table, row, seed, int(runs), commit or at, date or day, cells)


def format_record(record):
    cells = [f"{name}={value}" for name, value in record.cells.items()]
    return "\t".join([*map(str, record[:-1]), *cells]) + "\n"


def read_stored():
    return list(parse_records(STORED.read_text()))


def as_count(cell):
    """(count, draws) of a cell that counts, else None."""
    match = re.fullmatch(r"(\d+)/(\d+)", cell)
    return match and (int(match[1]), int(match[2]))


def selftest_records(study, document):
    for world in document["scenarios"]:
        runs = world["runs"]
        assert sum(world["verdicts"].values()) + world["refused"] == runs, world
        assert world["claim"] != "wrong" or world["wrong"] == world["verdicts"]["PASS"], world
        cells = {"is": world["claim"]}
        cells |= {name.lower(): f"{count}/{runs}" for name, count in world["verdicts"].items()}
        cells["refused"] = f"{world['refused']}/{runs}"
        if world["claim"] != "wrong":
            for name, count in ("held_min_percent", min(world["covered"])), ("held_max_percent", max(world["covered"])):
                cells[name] = f"{100 * count / (runs - world['refused']):.1f}"
        covered = world["covered"][world["judged_from"] :]
        if covered and world["judged"] > 0:
            cells["held"] = f"{min(covered)}/{world['judged']}"
        row = f"{world['scenario']}: {world['words']}"
        yield Record(study, "scenarios", row, str(document["seed"]), runs, "", "", cells)


def run_study(study, draws, build):
    """The records of a study, and whether it passed its own checks."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "records")
        if study.startswith("selftest_"):
            options = ["--model", study.removeprefix("selftest_"), "--runs", str(draws), "--json"]
            done = subprocess.run([build / "tandem", "selftest", *options], stdout=subprocess.PIPE)
            return list(selftest_records(study, json.loads(done.stdout))) if done.stdout else [], done.returncode == 0
        env = {**os.environ, "TANDEM_RUNS": str(draws), "TANDEM_CAMPAIGN": str(file)}
        done = subprocess.run([build / "tests/tests_stat", f"test_{study}"], env=env, cwd=ROOT)
        text = file.read_text() if file.exists() else ""
        return list(parse_records(text, "-", "-")), done.returncode == 0 and text != ""


def find_commit():
    """The commit of the programs: tables made from stored counts do not change them."""
    git = ["git", "-C", str(ROOT)]
    commit = subprocess.check_output([*git, "rev-parse", "--short=8", "HEAD"], text=True).strip()
    others = [":!tests/campaign/results.tsv", ":!docs"]
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", *others]).returncode
    return commit + ("-changed" if changed else "")


def store(study, records):
    """Replaces the stored rows of a study."""
    commit = find_commit()
    today = time.strftime("%Y-%m-%d", time.gmtime())
    fresh = [record._replace(commit=commit, date=today) for record in records]
    head = [line for line in STORED.read_text().splitlines(True) if line.startswith("#")]
    stored = [record for record in read_stored() if record.study != study]
    STORED.write_text("".join(head + [format_record(r) for r in sorted(stored + fresh, key=lambda r: r.study)]))


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def find_lower(count, of, chance):
    """The share that gives this count with that chance: the bound of Clopper and Pearson."""

    def at_least(share):
        term = math.exp(log_choose(of, count) + count * math.log(share) + (of - count) * math.log1p(-share))
        total, k = 0.0, count
        while term > 1e-17 * total:
            total += term
            k += 1
            term *= (of - k + 1) / k * share / (1 - share)
        return total

    low, high = 0.0, count / of
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if at_least(middle) < chance else (low, middle)
    return low


@functools.cache
def find_interval(count, of):
    """Exact 95 % interval of a share, one-sided where all or none came."""
    if count == 0 or count == of:
        bound = 0.05 ** (1 / of)
        return (0.0, 1 - bound) if count == 0 else (bound, 1.0)
    return find_lower(count, of, 0.025), 1 - find_lower(of - count, of, 0.025)


def compare_counts(a, n, b, m):
    """Fisher's exact test: the chance of counts as unlikely as a of n and b of m if both come from one share."""

    def log_chance(x):
        return log_choose(n, x) + log_choose(m, a + b - x) - log_choose(n + m, a + b)

    chances = (log_chance(x) for x in range(max(0, a + b - m), min(n, a + b) + 1))
    return sum(math.exp(chance) for chance in chances if chance <= log_chance(a) + 1e-7)


def find_contradictions(study, stored, fresh):
    """Differences between a fresh run of a study and its stored rows."""
    stored = {(r.table, r.row): r for r in stored if r.study == study}
    fresh = {(r.table, r.row): r for r in fresh if r.study == study}
    for key in stored.keys() ^ fresh.keys():
        yield " · ".join([study, *key]) + (": stored, but not in a run" if key in stored else ": not stored")
    pairs = []
    for key in stored.keys() & fresh.keys():
        for name in stored[key].cells.keys() & fresh[key].cells.keys():
            counts = []
            for record in (stored[key], fresh[key]):
                count = as_count(record.cells[name])
                # Several counts of one draw depend on each other: they count as one.
                if count and count[1] > record.runs:
                    count = round(count[0] * record.runs / count[1]), record.runs
                counts.append(count)
            if all(counts):
                pairs.append((key, name, *counts))
    for key, name, (a, n), (b, m) in pairs:
        chance = compare_counts(a, n, b, m)
        if chance < LEVEL / len(pairs):
            where = " · ".join([study, *key])
            yield f"{where}: {name} is {a} of {n} as stored and {b} of {m} in a run: p = {chance:.1g}"


def format_number(value):
    """Three digits, all digits of a whole number."""
    if not math.isfinite(value) or abs(value) < 1e-4:
        return f"{value:.2g}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def format_share(share, scale):
    """One digit after the point, more if the share is close to all or none."""
    left = scale * max(min(share, 1 - share), 1e-6)
    return f"{scale * share:.{max(1, min(3, 1 - math.floor(math.log10(left))))}f}"


def format_cell(record, name, scale, as_draws):
    cell = record.cells[name]
    count = as_count(cell)
    if not count:
        is_plain = not re.match(r"-?\d", cell) or not scale and re.fullmatch(r"-?\d+", cell)
        return cell if is_plain else format_number(float(cell) * (scale or 1.0))
    count, of = count
    if as_draws or of == 0:
        return f"{count} of {of}"
    scale = scale or 100.0
    low, high = (format_share(bound, scale) for bound in find_interval(count, of))
    if count in (0, of):
        return f"{scale * count / of:g} [{'≤ ' + high if count == 0 else '≥ ' + low}]"
    return f"{format_share(count / of, scale)} [{low}, {high}]"


def fill_template(template, record):
    """Empty where the record lacks a cell that it names."""
    part = re.compile(r"\{(\w+)(?:\*([\d.]+))?(:n)?\}")
    if any(match[1] not in record.cells for match in part.finditer(template)):
        return ""
    return part.sub(lambda m: format_cell(record, m[1], m[2] and float(m[2]), m[3]), template)


def format_table(spec, records):
    """The lines of a table, as the comment before it asks."""
    head, *layout = spec.strip().splitlines()
    pattern, _, rows = (part.strip() for part in head.partition(" ~ "))
    shown = [record for record in records
             if fnmatch.fnmatch(f"{record.study}/{record.table}", pattern) and re.fullmatch(rows or ".*", record.row)]
    if not shown:
        raise SystemExit(f"campaign: nothing is stored of {head}")
    first = layout.pop(0) if layout and "=" not in layout[0] else ""
    columns = [tuple(part.strip() for part in line.split("=", 1)) for line in layout] or \
        [(name, "{%s}" % name) for name in shown[0].cells]
    yield f"| {first} | draws | {' | '.join(title for title, _ in columns)} |"
    yield "|---|" + "---|" * (len(columns) + 1)
    for record in shown:
        cells = (fill_template(template, record) for _, template in columns)
        model = f"`{record.study.removeprefix('selftest_')}` " if "*" in pattern.split("/")[0] else ""
        yield f"| {model}{record.row} | {record.runs} | {' | '.join(cells)} |"


def sum_scenarios(records):
    """One record for each model of the self test, and one for all: how often its verdicts were wrong, and in which
    scenarios.
    """
    scenarios = [r for r in records if r.table == "scenarios" and r.cells["is"] != "held"]
    for study in [*dict.fromkeys(r.study for r in scenarios), "selftest_all"]:
        rows = [r for r in scenarios if study in (r.study, "selftest_all")]
        cells = {}
        for kind in dict.fromkeys(r.cells["is"] for r in rows):
            total, missed = 0, collections.Counter()
            for row in (r for r in rows if r.cells["is"] == kind):
                passes, draws = as_count(row.cells["pass"])
                total += draws
                missed[row.row.split(":")[0]] += passes if kind == "wrong" else draws - passes
            cells[kind] = f"{missed.total()}/{total}"
            cells[f"{kind}_where"] = ", ".join(f"`{name}` {count}" for name, count in missed.most_common() if count)
        yield rows[0]._replace(study=study, table="totals", row="", runs=sum(r.runs for r in rows), cells=cells)


def fill_tables(text, records):
    def fill(match):
        return f"<!-- campaign: {match[1]}-->\n\n" + "\n".join(format_table(match[1], records)) + "\n\n<!-- end -->"

    return re.sub(r"<!-- campaign: (.*?)-->\n.*?<!-- end -->", fill, text, flags=re.S)


def find_stale(records, write):
    """Documents whose tables differ from the records; written again if requested."""
    records = [*records, *sum_scenarios(records)]
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text()
        filled = fill_tables(text, records)
        if filled != text:
            if write:
                path.write_text(filled)
            yield str(path.relative_to(ROOT))


def find_unlisted(records):
    """Studies that report, but that this program does not know or has not stored."""
    opens = re.compile(r'campaign_open\("(\w+)"')
    said = {match[1] for path in ROOT.glob("tests/stat/test_*.c") for match in opens.finditer(path.read_text())}
    for study in sorted(said ^ {name for name in STUDIES if not name.startswith("selftest_")}):
        yield f"{study}: is not both in tests/stat and in STUDIES of tests/campaign/campaign.py"
    for study in sorted(STUDIES.keys() ^ {record.study for record in records}):
        yield f"{study}: is not both in STUDIES and in tests/campaign/results.tsv"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ", 1)[1].split("\n\n", 1)[0])
    parser.add_argument("command", choices=("list", "run", "docs", "check"))
    parser.add_argument("studies", nargs="*", metavar="STUDY", choices=[*STUDIES, []])
    parser.add_argument("--runs", choices=("page", "short"), default="page")
    parser.add_argument("--documents", action="store_true")
    parser.add_argument("--fresh", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/optimized")
    options = parser.parse_args()
    studies = options.studies or list(STUDIES)
    faults = []
    if options.command == "list":
        for study in studies:
            print(f"{study:26}", *STUDIES[study])
    elif options.command == "run":
        for study in studies:
            records, fine = run_study(study, STUDIES[study][options.runs == "short"], options.build.resolve())
            if fine:
                store(study, records)
            else:
                faults.append(f"{study}: failed, so that nothing of it is stored")
    elif options.command == "docs":
        print(*find_stale(read_stored(), True), sep="\n")
    else:
        stored = read_stored()
        if not options.studies:
            faults += find_unlisted(stored)
            faults += [f"{path}: its tables are not what is stored; `campaign.py docs` writes them"
                       for path in find_stale(stored, False)]
        if options.fresh:
            fresh = list(parse_records(options.fresh.read_text(), "-", "-"))
            studies = sorted({record.study for record in fresh})
        for study in studies:
            if options.documents or not options.fresh and STUDIES[study][1] == 0:
                continue
            if not options.fresh:
                fresh, fine = run_study(study, STUDIES[study][1], options.build.resolve())
                faults += [] if fine else [f"{study}: failed"]
            faults += find_contradictions(study, stored, fresh)
    for fault in faults:
        print(f"campaign: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
