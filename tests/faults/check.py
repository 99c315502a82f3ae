"""check.py - tests that judge and readers detect faults, that the disk of the power cuts leaves every state that
POSIX allows and no other, and that results.tsv has every kind and no other.
"""
import json
import os
import pathlib
import random
import types

import faults  # noqa: F401 - fills the table of kinds
from judge import judge
from kinds import KINDS
from load import Command
from mqtt import Message
from power import Disk
from readers import History, check_history


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


def shown(events=(), messages=(), walks=(), last=None, gaps=(), **allowed):
    """Faults in what readers received of pair p: names of the readers."""
    history = History()
    for n, *more in events:
        history.add_event("entry", record(n, *more))
    for n, *more in messages:
        history.add_message("entry", record(n, *more))
    for rows in walks:
        history.add_walk("entry", "p", "oldest", [record(*row) for row in rows])
    live = {"p": [record(*row) for row in last or walks[-1]]}
    return {words.split(":")[0] for words in check_history(history, live, **allowed)}


def record(n, name="c", t=None):
    return json.dumps({"pair": "p", "n": n, "id": f"{name}{n}", "t": 1000.0 + n if t is None else t})


def check_readers():
    one, two = [(1,), (2,)], [(1,), (2,), (3,)]
    rows = [
        ("all is well", set(), shown(two, two, [one, two])),
        ("an event twice", {"listener"}, shown([(1,), (2,), (2,)], walks=[one])),
        ("numbers that fall", {"listener"}, shown([(2,), (1,)], walks=[one])),
        ("an event that is never shown", {"listener"}, shown([(1,), (3,)], walks=[two])),
        ("the same in a store that was made again", set(), shown([(1,), (3,)], walks=[two], rebuilt=True)),
        ("an event of another command", {"listener"}, shown([(1,), (2, "d")], walks=[one])),
        ("a message twice", set(), shown(one, [(1,), (1,)], walks=[one])),
        ("a message with another content", {"subscriber"}, shown(one, [(1,), (1, "d")], [one])),
        ("a message that was never published", {"subscriber"}, shown(one, [(9,)], [one])),
        ("the same after a power cut", set(), shown(one, [(9,)], [one], vanishing=True)),
        ("a number that means another command after it", {"subscriber"}, shown(one, [(2, "d")], [one], vanishing=True)),
        ("a row that is gone", {"pager"}, shown(one, [], [two, one], one)),
        ("a row that is gone after a power cut", {"pager"}, shown(one, [], [two, one], one, vanishing=True)),
        ("a row that comes twice", {"pager"}, shown(one, [], [[(1,), (1,), (2,)]], one)),
        ("rows out of order", {"pager"}, shown(one, [], [[(2,), (1,)]], one)),
        ("a row that changes", {"pager"}, shown(one, [], [one, [(1,), (2, "d")]], one)),
        ("nothing was read", {"pager"}, shown(one, last=one)),
    ]
    for words, want, found in rows:
        assert found == want, f"{words}: {found} instead of {want}"
    print(f"the readers see {len(rows)} of {len(rows)} cases")


def disk_of(*changes):
    """An empty directory /d; files are inodes, a sync covers all earlier changes."""
    disk = Disk("/d", {})
    for what, path, inode, *more in changes:
        at, data = more or (0, b"")
        disk.apply(what, path, inode, disk.count if what == "sync" else at, data, disk.count)
        disk.count += 1
    return disk


def check_disk():
    new = [("create", "/d/new", 1), ("write", "/d/new", 1, 0, b"a" * 700), ("write", "/d/new", 1, 700, b"b" * 700)]
    named = new + [("sync", "/d", 0)]
    whole = b"a" * 700 + b"b" * 700
    renamed = named + [("sync", "/d/new", 1), ("rename", "/d/new", 1, 0, b"/d/old")]
    rows = [  # changes, states that must occur among many cuts, states that never may
        ("no name without a sync of the directory", new, [{}], []),
        ("nothing synced of a file", named, [{"/d/new": b""}, {"/d/new": whole}, {"/d/new": b"a" * 700},
                                             {"/d/new": bytes(700) + b"b" * 700}, {"/d/new": b"a" * 512}], [{}]),
        ("all is synced", named + [("sync", "/d/new", 1)], [{"/d/new": whole}], [{}, {"/d/new": b""}]),
        ("a rename", renamed, [{"/d/new": whole}, {"/d/old": whole}], [{}, {"/d/new": whole, "/d/old": whole}]),
        ("a rename that is synced", renamed + [("sync", "/d", 0)], [{"/d/old": whole}], [{"/d/new": whole}]),
        ("a removal", named + [("sync", "/d/new", 1), ("remove", "/d/new", 0)], [{}, {"/d/new": whole}], []),
        ("a truncation", named + [("sync", "/d/new", 1), ("truncate", "/d/new", 1, 5, b"")],
         [{"/d/new": whole}, {"/d/new": b"a" * 5}], [{}]),
    ]
    draw = random.Random(1)
    for words, changes, must, never in rows:
        disk = disk_of(*changes)
        cuts = [disk.cut(draw) for _ in range(3000)]
        assert all(one in cuts for one in must), f"{words}: not all of {must} is left by a cut"
        assert not any(one in cuts for one in never), f"{words}: one of {never} is left by a cut"
    print(f"power cuts leave what they may in {len(rows)} of {len(rows)} cases")


def check_results():
    rows = (pathlib.Path(os.environ["SOURCE"]) / "tests/faults/results.tsv").read_text().splitlines()[1:]
    played = {row.split("\t")[0] for row in rows} - {"all"}
    assert played == set(KINDS), f"tests/faults/results.tsv: {sorted(set(KINDS) ^ played)}"
    print(f"tests/faults/results.tsv has all {len(KINDS)} kinds")


check_judge()
check_readers()
check_disk()
check_results()
