#!/usr/bin/env python3
"""protocol.py SOURCE TANDEM: docs/protocol.md, the pages and schemas in docs/protocol, and the program agree."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from message_schemas import load, validator  # noqa: E402

INBOUND = {"command": "r1/command", "reply": "r1/real/reply", "telemetry": "r1/real/telemetry",
           "connection": "r1/real/connection", "echo": "r1/real/echo", "ack": "r1/virtual/parameters/ack", "mission": "r1/mission"}


def check(schemas, name, value, what):
    validator(schemas, name).validate(value)
    print(f"{what}: fits its schema")


def replay(tandem, lines, folder):
    lab = folder / "lab.yaml"
    log = folder / "lines.jsonl"
    lab.write_text("pairs: {r1: {}}\n")
    log.write_text("".join(line + "\n" for line in lines))
    out = subprocess.run([tandem, "replay", "-c", lab, "--json", log], check=True,
                         stdout=subprocess.PIPE).stdout
    return json.loads(out)


def check_codes(source, text):
    """The table of docs/protocol/alarm.md has the codes of alarms and their types, in the order of the source."""
    record, team = ((source / path).read_text() for path in ("logger/message/record.h", "twin/team/step/team.h"))
    types = dict(re.findall(r'X\((ALARM_TYPE_\w+), "(\w+)"\)', record)) | {"ALARM_TYPE_STORAGE": "storage"}
    codes = [(code, types[kind]) for code, kind in re.findall(r'X\(ALARM_\w+, "(\w+)", (ALARM_TYPE_\w+)\)', record)]
    codes += [(code, "team") for code in re.findall(r'X\(TEAM_ALARM_\w+, "(\w+)"\)', team)]
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)` \| .+ \|$", text, re.M)
    assert listed == codes, f"docs/protocol/alarm.md, codes: {sorted(set(listed) ^ set(codes)) or 'another order'}"
    print(f"{len(codes)} codes of alarms: as in the source")


def check_pages(source, schemas):
    """The examples. Each schema has one, on a page that links it; the index links each page."""
    index, examples = source / "docs/protocol.md", []
    pages = {index: index.read_text()} | {p: p.read_text() for p in sorted((source / "docs/protocol").glob("*.md"))}
    for path, text in pages.items():
        found = re.findall(r"```json (\w+)\n(.*?)```", text, re.S)
        for name in {name for name, _ in found}:
            assert f"{name}.schema.json)" in text, f"{path.name}: no link to {name}.schema.json"
        assert path == index or f"(protocol/{path.name})" in pages[index], f"{index.name}: no link to {path.name}"
        examples += found
    assert {name for name, _ in examples} == set(schemas), "an example or a schema is missing"
    return examples


def main():
    source, tandem = pathlib.Path(sys.argv[1]), sys.argv[2]
    schemas = load(source)
    examples = check_pages(source, schemas)
    check_codes(source, (source / "docs/protocol/alarm.md").read_text())
    lines = []
    for name, example in examples:
        check(schemas, name, json.loads(example), name)
        if name in INBOUND:
            lines.append(json.dumps({"tst": "2026-11-20T05:55:55Z",
                                     "topic": "tandem/v1/" + INBOUND[name], "qos": 1, "retain": 0,
                                     "payload": json.loads(example)}))
        if name == "line":
            lines.append(json.dumps(json.loads(example)))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        journal = replay(tandem, lines, folder)["journal"]
        assert journal["malformed"] == 0 and journal["events"] == len(lines), journal
        for case in sorted((source / "tests/golden/replay").iterdir()):
            document = json.loads((case / "expected.json").read_text())
            for pair, results in document["pairs"].items():
                for entry in results["entries"]:
                    validator(schemas, "entry").validate(entry)
                for alarm in results["alarms"]:
                    alarm["detail"] = str(alarm.pop("numbers"))  # tests/golden/replay.py leaves out its words
                    validator(schemas, "alarm").validate(alarm)
                for change in results["changes"]:
                    validator(schemas, "change").validate(change)
                    change.get("fit", {}).pop("reason_codes", None)  # an earlier version stored none
                    validator(schemas, "change").validate(change)
                if results.get("dynamics"):
                    validator(schemas, "dynamics").validate({"pair": pair, "dynamics": results["dynamics"]})
                calibration = {"pair": pair, "travel_time": results["travel_time"]}
                validator(schemas, "calibration").validate(calibration)
            print(f"{case.name}: records fit their schemas")


if __name__ == "__main__":
    main()
