"""check.py - does the judge see what is wrong? And does docs/reliability.md name every kind, and no other?"""
import json
import os
import pathlib
import re
import types

import faults  # noqa: F401 - fills the table of kinds
from judge import judge
from kinds import KINDS
from load import Command
from mqtt import Message


def command(pair, style, name, t=1000.0, laps=(0.1, 0.1), acknowledged=True, copies=1):
    def sent(at_s):
        message = Message("topic", b"")
        message.copies, message.sent_s, message.acknowledged_s = copies, at_s, at_s + 0.01 if acknowledged else None
        return message
    made = Command(pair, style, name, sent(t))
    made.replies = {side: sent(t + lap_s) for side, lap_s in zip(("real", "virtual"), laps)}
    return made


def entry(name="c1", t=1000.0, laps=(0.1, 0.1), verdict="SYNC", **more):
    return {"pair": "p", "id": name, "t": t, "real_lap_s": laps[0], "virtual_lap_s": laps[1], "verdict": verdict, **more}


def found_of(style, commands, entries, may_lose=False, moves=(), answers=()):
    robots = [types.SimpleNamespace(pair="p", side="real", moves=list(moves))]
    load = types.SimpleNamespace(pairs={"p": style}, commands=commands, robots=robots, answers=list(answers))
    found = judge(load, {"p": [json.dumps({"n": n, **one}) for n, one in enumerate(entries, 1)]}, may_lose)
    return {what for what in ("lost", "twice", "untrue") if getattr(found, what)} | \
        {what for what in ("reported", "ambiguous") if getattr(found, what)}


def check_judge():
    one, other = command("p", "ids", "c1"), command("p", "ids", "c2")
    late = command("p", "ids", "c1", laps=(0.1, 1.5))
    same = [command("p", "no_ids", "", 1000 + i) for i in range(3)]
    nameless = [entry(None, 1000 + i) for i in range(3)]
    rows = [
        ("all is well", set(), found_of("ids", [one], [entry()])),
        ("lost", {"lost"}, found_of("ids", [one, other], [entry()])),
        ("lost, and reported", {"reported"}, found_of("ids", [one, other], [entry()], may_lose=True)),
        ("not acknowledged", set(), found_of("ids", [one, command("p", "ids", "c2", acknowledged=False)], [entry()])),
        ("twice", {"twice"}, found_of("ids", [one], [entry(), entry()])),
        ("a number twice", {"twice"}, found_of("ids", [one, other], [entry(n=1), entry("c2", n=1)])),
        ("nobody's", {"untrue"}, found_of("ids", [one], [entry(), entry("c9")])),
        ("a wrong lap", {"untrue"}, found_of("ids", [late], [entry()])),
        ("a wrong lap that is not claimed", set(), found_of("ids", [late], [entry(verdict="UNRESOLVED")])),
        ("a lap of messages that went out twice", set(),
         found_of("ids", [command("p", "ids", "c1", laps=(0.1, 1.5), copies=2)], [entry()])),
        ("equal commands", set(), found_of("no_ids", same, nameless)),
        ("one of equal commands is lost", {"lost"}, found_of("no_ids", same, nameless[1:])),
        ("one of them may be one that was there before", {"ambiguous"},
         found_of("no_ids", same, nameless + [{**nameless[1], "ambiguous": "command"}])),
        ("a reply that may be another's", {"ambiguous"}, found_of("ids", [late], [entry(ambiguous="real")])),
        ("one of equal commands is there twice", {"twice"}, found_of("no_ids", same, nameless + nameless[:1])),
        ("a robot moved once", set(), found_of("link", [one], [entry()], moves=["c1"])),
        ("a robot moved twice", {"twice"}, found_of("link", [one], [entry()], moves=["c1", "c1"])),
        ("a robot did not move", {"untrue"},
         found_of("link", [one], [entry()], answers=[("p", {"id": "c1", "status": "done", "from": "real"})])),
    ]
    for words, want, found in rows:
        assert found == want, f"{words}: {found} instead of {want}"
    print(f"the judge sees {len(rows)} of {len(rows)} cases")


def check_docs():
    text = (pathlib.Path(os.environ["SOURCE"]) / "docs/reliability.md").read_text()
    table = text[text.index("| fault |"):].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(line.rsplit("|", 2)[1] for line in table.splitlines()[2:])))
    known = {name for name in named if name in KINDS}
    assert known == set(KINDS), f"docs/reliability.md lacks {sorted(set(KINDS) - known)}"
    unknown = {name for name in named - known if "." not in name and "_" in name}
    assert not unknown, f"docs/reliability.md names kinds that there are not: {sorted(unknown)}"
    print(f"docs/reliability.md has all {len(KINDS)} kinds")


check_judge()
check_docs()
