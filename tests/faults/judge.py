"""judge.py - compares the results of a round with its load: no command lost, none twice, nothing untrue, nothing
silent.

An entry is untrue if it contradicts the publisher's clock for laps that were not disturbed, or if a merged reply
reports a move that its robot did not make.
"""
import collections
import dataclasses
import json

LAP_S = 1.1  # silence below a second is not noticed (docs/operations.md); laps of the load are 1.4 s apart
UNCERTAIN = ("UNRESOLVED", "TIMEOUT", "OVERFLOW", "REAL_ONLY", "VIRTUAL_ONLY", "HALTED")


@dataclasses.dataclass
class Found:
    """The results of a round, a row of the table; the lists have sentences for people."""
    said: int = 0
    acknowledged: int = 0
    entries: int = 0
    ambiguous: int = 0
    reported: int = 0  # acknowledged, without an entry, but the daemon reported that commands may be lost
    lost: list = dataclasses.field(default_factory=list)
    twice: list = dataclasses.field(default_factory=list)
    untrue: list = dataclasses.field(default_factory=list)
    differs: list = dataclasses.field(default_factory=list)
    history: list = dataclasses.field(default_factory=list)  # records that readers received and must not have received
    failed: list = dataclasses.field(default_factory=list)

    def add(self, other, where):
        """Adds the results of another part of the round."""
        for field in dataclasses.fields(self):
            more = getattr(other, field.name)
            more = [f"{where}: {words}" for words in more] if isinstance(more, list) else more
            setattr(self, field.name, getattr(self, field.name) + more)

    def held(self):
        return not (self.lost or self.twice or self.untrue or self.differs or self.history or self.failed)


def count_ambiguous(entries, *kinds):
    """Entries that report an ambiguity: of a command, or of replies."""
    return sum(bool(entry.get("ambiguous")) and (not kinds or entry["ambiguous"] in kinds) for entry in entries)


def judge_ids(found, commands, entries, may_lose):
    """Judges a pair whose commands have ids."""
    count = collections.Counter(entry["id"] for entry in entries)
    for command in commands:
        n = count.pop(command.id, 0)
        if n > 1:
            found.twice.append(f"{command.id}: {n} entries")
        if n == 0 and command.acknowledged():
            if may_lose:
                found.reported += 1
            else:
                found.lost.append(f"{command.id}: acknowledged at {command.message.acknowledged_s:.3f}, no entry")
    found.untrue += [f"{name}: nobody sent it" for name in count]


def judge_count(found, pair, commands, entries, may_lose):
    """Judges a pair whose commands cannot be distinguished: at least as many entries as acknowledgements, at most as
    many as copies were sent, apart from entries that report an ambiguity.
    """
    acknowledged = sum(command.acknowledged() for command in commands)
    copies = sum(command.message.copies for command in commands)
    uncertain = count_ambiguous(entries, "command")  # an earlier copy may have been delivered
    if len(entries) > copies + uncertain:
        words = f"{pair}: {len(entries)} entries of {copies} commands, {uncertain} of them ambiguous"
        found.twice += [words] * (len(entries) - copies - uncertain)
    missing = acknowledged - len(entries)
    if missing > 0 and may_lose:
        found.reported += missing
    elif missing > 0:
        found.lost += [f"{pair}: {len(entries)} entries of {acknowledged} acknowledged commands"] * missing


def find_command(commands, entry):
    """The command of an entry: by its id, or the only one that was sent at that time."""
    if entry.get("id"):
        found = [c for c in commands if c.id == entry["id"]]
    else:
        found = [c for c in commands if c.message.sent_s and abs(c.message.sent_s - entry["t"]) < 0.3]
    return found[0] if len(found) == 1 else None


def judge_laps(found, commands, entries):
    for entry in entries:
        if entry["verdict"] in UNCERTAIN or entry.get("ambiguous") or entry.get("interrupted_s"):
            continue
        command = find_command(commands, entry)
        if not command:
            continue
        for side in ("real", "virtual"):
            true_s, reported_s = command.lap_s(side), entry.get(f"{side}_lap_s")
            if true_s is not None and reported_s is not None and abs(true_s - reported_s) > LAP_S:
                found.untrue.append(f"{entry['pair']} n {entry['n']}: {side}_lap_s {reported_s}, true {true_s:.3f}, "
                                    f"{entry['verdict']}")


def judge_link(found, load, may_twice=False):
    moves = collections.Counter((robot.pair, robot.side, name) for robot in load.robots for name in robot.moves)
    if not may_twice:
        found.twice += [f"{name}: {side} robot moved {n} times" for (_, side, name), n in moves.items() if n > 1]
    for pair, answer in load.answers:
        side = answer.get("from")
        if answer["status"] == "done" and side in ("real", "virtual") and not moves[(pair, side, answer["id"])]:
            found.untrue.append(f"{answer['id']}: reported as done by the {side} robot, which did not move")


def judge(load, live, may_lose=False):
    """live: {pair: texts of entries, as HTTP serves them}."""
    found = Found()
    for pair, style in load.pairs.items():
        commands = [command for command in load.commands if command.pair == pair]
        entries = [json.loads(text) for text in live[pair]]
        found.said += len(commands)
        found.acknowledged += sum(command.acknowledged() for command in commands)
        found.entries += len(entries)
        numbers = collections.Counter(entry["n"] for entry in entries)
        found.twice += [f"{pair}: number {n} of {times} entries" for n, times in numbers.items() if times > 1]
        if style == "none":
            continue
        found.ambiguous += count_ambiguous(entries)
        if style == "no_ids":
            judge_count(found, pair, commands, entries, may_lose)
        else:
            judge_ids(found, commands, entries, may_lose)
        if style != "link":
            judge_laps(found, commands, entries)
    judge_link(found, load)
    return found
