"""See compare.sh. Expected documents come from an independent program in Python (numpy, scipy)."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import compare_journals

TANDEM, GOLDEN = os.environ["TANDEM"], pathlib.Path(os.environ["SOURCE"]) / "tests/golden/compare"
LAB = "pairs:\n  r1: {timeout_s: 10, sync_tolerance_s: 0.05}\n"
faults = []


def check(what, good, found=""):
    if not good:
        faults.append(f"{what}: {found}")


def tandem(*words, code=0):
    done = subprocess.run([TANDEM, *words], capture_output=True, text=True)
    check(" ".join(words), done.returncode == code, f"exit {done.returncode}, not {code}: {done.stdout}{done.stderr}")
    return done


def near(path, got, want, tolerance):
    """Yields what differs between two documents."""
    if isinstance(got, dict) and isinstance(want, dict):
        yield from (f"{path}.{key}: in one only" for key in sorted(got.keys() ^ want.keys()))
        for key in got.keys() & want.keys():
            yield from near(f"{path}.{key}", got[key], want[key], tolerance)
    elif isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        for i, (a, b) in enumerate(zip(got, want)):
            yield from near(f"{path}[{i}]", a, b, tolerance)
    elif type(got) in (int, float) and type(want) in (int, float):
        if abs(got - want) > tolerance:
            yield f"{path}: {got}, not {want}"
    elif got != want:
        yield f"{path}: {got}, not {want}"


def check_golden(name, words, tolerance, code=0):
    got, want = json.loads(tandem(*words, "--json", code=code).stdout), json.loads((GOLDEN / name).read_text())
    found = list(near("", got, want, tolerance))
    check(name, not found, found[:5])
    return got


def mirror(value):
    """Returns what B against A must give, for the parts of a pair that have a sign."""
    shift = {name: (None if row["shift"] is None else -row["shift"], row["ci95"] and [-row["ci95"][1], -row["ci95"][0]])
             for name, row in value["shift"].items()}
    share = value["sync_share"]
    changes = {">".join(reversed(name.split(">"))): n for name, n in value["changes"].items()}
    return (shift, -share["difference"], [-share["ci95"][1], -share["ci95"][0]], changes, value["alarms_gone"],
            {name: n[::-1] for name, n in value["verdicts"].items()})


def signed(value):
    share = value["sync_share"]
    return ({name: (row["shift"], row["ci95"]) for name, row in value["shift"].items()}, share["difference"],
            share["ci95"], value["changes"], value["alarms_new"], value["verdicts"])


def check_goldens():
    check_golden("compare_A_B.json", ["compare", "A.json", "B.json"], 1e-9)
    check_golden("compare_A_same.json", ["compare", "A.json", "same.json"], 1e-9)
    check_golden("compare_A_A_wide.json", ["compare", "A.json", "A_wide.json"], 1e-9)
    check_golden("compare_split.json", ["compare", "--split", "entry:41", "split.json"], 1e-9)
    for name, code in (("same", 0), ("late", 3), ("turns", 3)):
        check_golden(f"gate_{name}.json", ["gate", "gate_A.json", f"gate_{name}.json", "--junit", "gate.xml"], 1e-6, code)
        check(f"gate_{name}.xml", pathlib.Path("gate.xml").read_text() == (GOLDEN / f"gate_{name}.xml").read_text())
        xml.etree.ElementTree.parse("gate.xml")
    check_golden("gate_A_same.json", ["gate", "A.json", "same.json"], 1e-6, 4)
    check_golden("gate_same_block10.json", ["gate", "gate_A.json", "gate_same.json", "--block", "10"], 1e-6)


def check_laws():
    """A recording against itself is silent, B against A the mirror of A against B, journals equal documents."""
    for name in ("A", "B", "split", "gate_turns"):
        done = tandem("compare", f"{name}.json", f"{name}.json")
        check("against itself", not done.stdout and not done.stderr, done.stdout + done.stderr)
        check("against itself, all", "r1" in tandem("compare", "--all", f"{name}.json", f"{name}.json").stdout)
    few = json.load(open("B.json"))
    for count in (9, 5, 1):
        del few["pairs"]["r1"]["entries"][count:]
        json.dump(few, open("few.json", "w"))
        for rule in ("auto", "id", "sequence", "none"):
            done = tandem("compare", "--match", rule, "few.json", "few.json")
            check(f"{count} against themselves by {rule}", not done.stdout and not done.stderr, done.stdout + done.stderr)
    few["pairs"]["r1"]["entries"][0]["real_lap_s"] += 0.001
    json.dump(few, open("other.json", "w"))
    for rule in ("sequence", "none"):
        text = tandem("compare", "--match", rule, "few.json", "other.json").stdout
        check("few that differ", "real_lap_s" in text and "fewer than 6" in text and "virtual" not in text, text)
    for a, b in (("A", "B"), ("A", "same"), ("gate_A", "gate_turns"), ("A", "gate_A")):
        forth = json.loads(tandem("compare", f"{a}.json", f"{b}.json", "--json").stdout)["pairs"]["r1"]
        back = json.loads(tandem("compare", f"{b}.json", f"{a}.json", "--json").stdout)["pairs"]["r1"]
        check("mirror", mirror(forth) == signed(back), (a, b))
    document = tandem("compare", "A.json", "B.json", "--json").stdout
    journals = tandem("compare", "-c", "lab.yaml", "A.jsonl", "B.jsonl", "--json").stdout.replace(".jsonl", ".json")
    check("journals", document == journals)
    check("mixed", tandem("compare", "-c", "lab.yaml", "A.json", "B.jsonl").stdout ==
          tandem("compare", "A.json", "B.json").stdout)
    labs = tandem("compare", "-c", "lab.yaml", "-c", "wide.yaml", "A.jsonl").stdout
    check("two lab files", "by recording" in labs and "AHEAD 2 → 0" in labs, labs)


def check_table():
    """A table of moves is compared as the journal that it was made from."""
    for name in ("A", "B"):
        entries = json.load(open(f"{name}.json"))["pairs"]["r1"]["entries"]
        with open(f"{name}.csv", "w") as out:
            print("t,id,op,rotation_rad,displacement_m,real_lap_s,virtual_lap_s", file=out)
            for e in entries:
                print(e["t"], e["id"], e["op"], e["rotation_rad"], e["displacement_m"], e["real_lap_s"],
                      e["virtual_lap_s"] or "", sep=",", file=out)
    table = json.loads(tandem("compare", "-c", "lab.yaml", "A.csv", "B.csv", "--json").stdout)["pairs"]["r1"]
    journal = json.loads(tandem("compare", "A.json", "B.json", "--json").stdout)["pairs"]["r1"]
    found = list(near("", table["shift"], journal["shift"], 2e-6))
    check("table", not found, found)


def check_conditions():
    done = tandem("compare", "A.json", "B.json", "--fail-if", "abs_lag_s>0.1", "--fail-if", "abs_lag_s>0.2", "--need",
                  "sync_share<0", "--fail-if", "real_lap_s>1", code=3)
    want = ["fail        r1  abs_lag_s>0.1", "cannot tell r1  abs_lag_s>0.2", "ok          r1  real_lap_s>1",
            "ok          r1  sync_share<0"]
    check("conditions", done.stderr.splitlines() == want, done.stderr)
    # Equal simulators: none is proved worse, and both needs are met.
    tandem("compare", "A.json", "same.json", "--fail-if", "abs_lag_s>0", "--need", "abs_lag_s<0.02")
    for words in (["--fail-if", "abs_lag>1"], ["--fail-if", "abs_lag_s"], ["--need", "verdicts.X>1"], ["--match", "ids"],
                  ["--split", "change:0"]):
        tandem("compare", "A.json", "B.json", *words, code=2)
    check("nearest name", "did you mean abs_lag_s?" in
          tandem("compare", "A.json", "B.json", "--fail-if", "abs_lag>1", code=2).stderr)
    # With forty conditions each interval is wider: what was just proved is not.
    edge = json.loads(tandem("compare", "A.json", "B.json", "--json").stdout)
    low = edge["pairs"]["r1"]["shift"]["abs_lag_s"]["ci95"][0]
    tandem("compare", "A.json", "B.json", "--fail-if", f"abs_lag_s>{low - 1e-6}", code=3)
    tandem("compare", "A.json", "B.json", "--fail-if", f"abs_lag_s>{low - 1e-6}", *["--fail-if", "lag_s>9"] * 20)


def check_errors():
    """Each wrong input has its exit status and names what is wrong."""
    tandem("compare", "A.json", code=2)
    tandem("compare", "A.json", "B.json", "same.json", code=2)
    check("lab file", "-c LAB.yaml is needed" in tandem("compare", "A.jsonl", "B.json", code=2).stderr)
    tandem("compare", "nothing.json", "B.json", code=1)
    pathlib.Path("empty").write_text("")
    pathlib.Path("text").write_text("hello\n")
    pathlib.Path("cut.json").write_text(pathlib.Path("A.json").read_text()[:9000])
    for name in ("empty", "text"):
        tandem("compare", "-c", "lab.yaml", name, "B.json", code=1)
    check("cut", "cut.json" in tandem("compare", "cut.json", "B.json", code=1).stderr)
    pathlib.Path("torn.jsonl").write_text(pathlib.Path("A.jsonl").read_text()[:-20])
    torn = tandem("compare", "-c", "lab.yaml", "torn.jsonl", "B.jsonl")
    check("torn", torn.stderr.splitlines() == ["tandem: torn.jsonl: torn: the part before the cut is used"], torn.stderr)
    for text in ('{"pairs": {"r1": {"entries": [3]}}}', '{"pairs": {"r1": {"entries": [{"t": "x"}]}}}'):
        pathlib.Path("shape.json").write_text(text)
        said = tandem("compare", "shape.json", "B.json", code=1).stderr
        check("shape", "something else is there" in said or "an object {…} was expected" in said, said)
    first = json.load(open("same.json"))
    del first["pairs"]["r1"]["entries"][1:]
    json.dump(first, open("first.json", "w"))
    tandem("gate", "A.json", "first.json", code=4)
    other = json.load(open("B.json"))
    other["pairs"] = {"r2": other["pairs"]["r1"]}
    json.dump(other, open("other.json", "w"), indent=1)
    none = tandem("compare", "A.json", "other.json", code=1).stderr
    check("no pair", "--pair r1=r2" in none, none)
    check("r1=r2", "r1=r2: 80 and 80" in tandem("compare", "A.json", "other.json", "--pair", "r1=r2").stdout)
    tandem("compare", "A.json", "B.json", "--pair", "r9", code=1)
    for words, said in (("change:3", "r1 has 0 changes"), ("entry:900", "entries 1 to 80"), ("version:2", "r1 has versions: none"),
                        ("2030-01-01", "none is behind the cut")):
        done = tandem("compare", "A.json", "--split", words, code=1)
        check("split", said in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, done.stderr)
    tandem("compare", "A.json", "B.json", "--plot", "no/folder.svg", code=1)
    pathlib.Path("idle.json").write_text('{"pairs": {"r1": {"entries": []}}}')
    done = tandem("compare", "idle.json", "idle.json", "--fail-if", "lag_s>0")
    check("no command against itself", not done.stdout + done.stderr, done.stdout + done.stderr)
    check("nothing is proved", "fail" in tandem("compare", "idle.json", "idle.json", "--need", "lag_s<1", code=3).stderr)
    check("no command", "no pair has a command" in tandem("gate", "idle.json", "idle.json", code=1).stderr)
    check("itself", "twice" in tandem("gate", "A.json", "A.json", code=1).stderr)
    check("moves", "0 of 240 commands in both" in tandem("gate", "A.json", "gate_A.json", code=1).stderr)
    for words in (["--margin", "speed=1"], ["--margin", "abs_lag_s=0"], ["--margin", "abs_lag_s"],
                  ["--margin", "sync_share=5"], ["--alpha", "0.6"], ["--block", "0"], ["--block", "gap:"], ["--need", "lag_s"], ["--clip", "0"]):
        tandem("gate", "A.json", "same.json", *words, code=2)
    done = tandem("gate", "A.json", "same.json", "--junit", "no/gate.xml", code=1)
    check("the verdict comes first", "undecided" in done.stdout and "no/gate.xml" in done.stderr)


def version(document, pair, side, *runs):
    """Sets the versions of (count, text) commands in a row."""
    texts = [text for count, text in runs for _ in range(count)]
    for e, text in zip(document["pairs"][pair]["entries"], texts, strict=True):
        e |= {f"{side}_version": text} if text else {}


def split(*words, code=0):
    done = tandem("compare", "versions.json", "--json", "--split", *words, code=code)
    return json.loads(done.stdout), done


def check_versions():
    """A version's commands against those of the one before it, of the side that has it; others are in neither half."""
    document = json.load(open("A.json"))
    pair = document["pairs"]["r1"]
    version(document, "r1", "virtual", (10, None), (20, "1 é"), (20, "2"), (10, "3"), (10, "1 é"), (10, "2"))
    version(document, "r1", "real", (40, "fw"), (40, "2"))
    pair["alarms"] = [{"t": e["t"] + 0.5, "type": "late", "id": e["id"]} for e in pair["entries"][::10]]
    document["pairs"]["r2"] = json.load(open("B.json"))["pairs"]["r1"]
    json.dump(document, open("versions.json", "w"))
    text, done = split("virtual_version:2", code=1)
    r1 = text["pairs"]["r1"]
    check("halves", r1["commands"] == [30, 30] and r1["alarms"] == {"late": [3, 3]}, r1)
    check("named", r1["versions"] == {"real": [["fw", "2"], ["fw", "2"]], "virtual": [["1 é"], ["2"]]}, r1["versions"])
    check("left out", text["left_out"] == {"r2": "r2 has virtual versions: none"} and list(text["pairs"]) == ["r1"], text)
    check("left out, in words", done.stderr == "tandem: --split: 1 of 2 pairs left out\n", done.stderr)
    done = tandem("compare", "versions.json", "--split", "virtual_version:2", "--all", code=1).stdout
    check("page", "version              virtual 1 é → 2\n" in done and "r2: left out: r2 has virtual" in done, done)
    tandem("compare", "versions.json", "--split", "virtual_version:2", "--fail-if", "sync_share<2", code=3)
    words = ["compare", "versions.json", "--pair", "r1", "--split"]
    first = json.loads(tandem(*words, "version:1 é", "--json").stdout)["pairs"]["r1"]
    check("unknown before", first["versions"]["virtual"] == [[None], ["1 é"]] and first["commands"] == [10, 30], first)
    for asked, said in (("version:2", "both robots of r1 have version 2: say real_version"), ("real_version:3", "r1 has real versions: fw, 2"),
                        ("real_version:fw", "none is before the cut")):
        done = tandem(*words, asked, code=1)
        check(asked, said in done.stderr and not done.stdout, done.stderr)
    for asked in ("version:", "real_version", "both_version:2", "real_version:"):
        tandem(*words, asked, code=2)
    mixed = json.loads(tandem("compare", "versions.json", "A.json", "--json").stdout)["pairs"]["r1"]["versions"]
    check("each named", mixed["virtual"] == [[None, "1 é", "2", "3"], [None]], mixed)


def check_notes():
    """The text names correlated neighbours and windows of fits; plots are well formed."""
    entries = json.load(open("A.json"))["pairs"]["r1"]["entries"]
    for drift, said in ((0.0, False), (0.02, True)):
        other = json.load(open("A.json"))
        for k, e in enumerate(other["pairs"]["r1"]["entries"]):
            rng = random.Random(k)
            e |= {"id": f"x{k}", "t": e["t"] + 1e5, "lag_s": entries[k]["lag_s"] + rng.gauss(0.1, 0.05) + drift * k}
        json.dump(other, open("drift.json", "w"))
        text = tandem("compare", "A.json", "drift.json").stdout
        check("correlated neighbours", ("neighbouring differences" in text) == said, text)
    text = tandem("compare", "gate_A.json", "gate_turns.json", "--all").stdout
    check("window", "B: of the last 128 of 240" in text, text)
    for words in (["A.json", "B.json"], ["split.json", "--split", "entry:41"]):
        tandem("compare", *words, "--plot", "plot.svg")
        root = xml.etree.ElementTree.parse("plot.svg").getroot()
        check("picture", root.tag.endswith("svg") and len(list(root.iter())) > 15)


def main():
    compare_journals.write_all(".")
    pathlib.Path("lab.yaml").write_text(LAB)
    pathlib.Path("wide.yaml").write_text(LAB.replace("0.05", "0.1"))
    for name in compare_journals.RECORDINGS:
        pathlib.Path(f"{name}.json").write_text(tandem("replay", "-c", "lab.yaml", "--json", f"{name}.jsonl").stdout)
    pathlib.Path("A_wide.json").write_text(tandem("replay", "-c", "wide.yaml", "--json", "A.jsonl").stdout)
    for part in (check_goldens, check_laws, check_table, check_conditions, check_errors, check_versions, check_notes):
        part()
    for fault in faults:
        print(f"compare: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        sys.exit(main())
