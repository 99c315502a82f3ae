"""kinds_power.py - the power fails. A run is recorded, and stands still at some moments: the test copies the state of
broker, robots and readers then. Afterwards the daemon starts on several disks that POSIX allows for each moment
(power.py), with the broker of that moment. Sometimes the power fails again.

POWER_PLANT=NAME plants a fault that the test must find: syncs of files that have NAME in their path are ignored.
"""
import contextlib
import copy
import dataclasses
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import types

from judge import judge
from kinds import kind
from load import Load
from power import Disk, Recorder, read_files
from readers import History
from rig import cut_records, member, replay
from waiting import limit_s

MOMENTS, STATES = 4, 2  # of each round
FILLED_BYTES = 60000
SLACK_S = 1.0  # limit for a due sync to begin and to end
# A change after which the process stops itself, and a part of the file's name. Other moments are random.
PLACES = (("create", ".jsonl"), ("sync", ".jsonl"), ("write", ".jsonl"), ("write", "-wal"), ("sync", "-wal"),
          ("write", "store.db"), ("rename", "checkpoint"), ("write", "checkpoint"), ("sync", "/journal"),
          ("remove", "/data/"))
COMMAND = re.compile(rb'"topic":"[^"]*/command"[^\n]*"payload":{"id": ?"([^"]+)"')


@dataclasses.dataclass
class Moment:
    """The disk when the power fails, and the state of everything outside of the daemon's machine."""
    disk: Disk = None
    broker: pathlib.Path = None
    commands: list = dataclasses.field(default_factory=list)
    robots: list = dataclasses.field(default_factory=list)
    answers: list = dataclasses.field(default_factory=list)
    history: History = dataclasses.field(default_factory=History)
    last_id: str = None
    lost: set = dataclasses.field(default_factory=set)  # ids of commands whose lines the cut may remove


# ---- the recorded run ----

def record_disk(fsync_s, sync_us):
    def prepare(r):
        r.fsync_s, r.moments, r.disk = fsync_s, [], r.path("data")
        r.disk.mkdir()
        text = r.rig.lab.read_text()
        for name in ("journal", "store.db", "checkpoint"):
            text = text.replace(f"{r.rig.folder}/{name}", f"{r.disk}/{name}")
        text = text.replace("/journal}", f"/journal, rotate_mb: 1, fsync_s: {fsync_s}}}")
        r.rig.lab.write_text(text.replace("interval_s: 2", f"interval_s: {r.draw.choice((0.3, 2))}"))
        r.recorder = Recorder(r.path("io"), r.disk, os.environ["IO_RECORD_LIBRARY"])
        r.recorder.slow_down(r.draw.choice(sync_us))
        r.environment = {**os.environ, **r.recorder.environment}
    return prepare


def is_stopped(process):
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def stand_still(r, most_s):
    """Stops after a change drawn at random, or at any moment."""
    if r.draw.random() < 0.7:
        r.recorder.arm(*r.draw.choice(PLACES), r.draw.randint(1, 3))
    end = time.monotonic() + r.draw.uniform(0, most_s)
    while time.monotonic() < end and not is_stopped(r.rig.daemon):
        time.sleep(0.01)
    r.rig.daemon.send_signal(signal.SIGSTOP)
    r.wait(lambda: is_stopped(r.rig.daemon), "the daemon stands still")
    r.recorder.disarm()
    return time.time()


def fail_power(r, before, most_s):
    """The daemon stands still. Messages in transit arrive, and the broker's state is copied."""
    cut_s = stand_still(r, most_s)
    time.sleep(0.1)
    saved_s = time.time()
    r.save_broker()
    broker = r.path(f"broker-{time.monotonic_ns()}.db")
    shutil.copy(r.path("mosquitto.db"), broker)
    disk = r.recorder.replay(r.recorder.mark(), os.environ.get("POWER_PLANT"))
    commands = [freeze_command(command, saved_s) for command in list(r.load.commands)]
    return Moment(disk, broker, before.commands + commands, before.robots + copy_robots(r.load.robots),
                  before.answers + list(r.load.answers), r.readers.history.copy(), r.readers.last_id,
                  before.lost | find_unsynced(r, disk, cut_s))


def copy_robots(robots, left_out=()):
    return [types.SimpleNamespace(pair=one.pair, side=one.side, moves=[name for name in one.moves if name not in left_out])
            for one in robots]


def freeze_command(command, saved_s):
    """Later acknowledgements do not belong to the saved state of the broker."""
    frozen = copy.copy(command)
    frozen.message = freeze_message(command.message, saved_s)
    frozen.replies = {side: freeze_message(message, saved_s) for side, message in dict(command.replies).items()}
    return frozen


def freeze_message(message, saved_s):
    frozen = copy.copy(message)
    if frozen.acknowledged_s and frozen.acknowledged_s > saved_s:
        frozen.acknowledged_s = None
    return frozen


def find_unsynced(r, disk, cut_s):
    """Commands whose lines the cut may remove, and that nobody else has. With fsync_s 0 the broker still has them
    all.
    """
    writes = list(disk.unsynced_writes(".jsonl"))
    t_us, data = min(writes, default=(cut_s * 1e6, b""))
    age_s = cut_s - t_us / 1e6
    r.check(age_s <= limit_s(r.fsync_s + SLACK_S), f"a line is not synced after {age_s:.1f} s: {data[:200]}")
    return {name.decode() for _, data in writes for name in COMMAND.findall(data)} if r.fsync_s else set()


def fail_often(r):
    for _ in range(MOMENTS):
        for _ in range(r.draw.randint(0, 9)):  # fills journal files, so that they end soon
            r.load.say("a", f"a-{next(r.load.count)}", remark="x" * FILLED_BYTES)
        for _ in range(r.draw.randint(0, 12)):  # entries that are published between two syncs
            r.load.say("b", f"b-{next(r.load.count)}", 0.05, 0.05)
        r.moments.append(fail_power(r, Moment(), r.draw.choice((0.2, 3))))
        r.rig.daemon.send_signal(signal.SIGCONT)
        r.wait_load(0.2, 1)


# ---- starts after the cut ----

def start_often(r, found):
    """The recorded run has been judged; nothing of it continues."""
    left = {path: content for path, (_, content) in read_files(r.disk).items()}
    made = r.recorder.replay(r.recorder.mark()).whole()
    missed = sorted(path for path in left.keys() | made.keys() if left.get(path, b"") != made.get(path, b""))
    r.check(not missed, f"the recorder has missed changes of {missed}")
    for number, moment in enumerate(r.moments):
        for state in range(STATES):
            name = f"moment {number} state {state}"
            try:
                found.add(start_after(r, moment), name)
            except (AssertionError, OSError, subprocess.SubprocessError, sqlite3.Error) as e:
                found.failed.append(f"{name}: {type(e).__name__}: {e}")
                r.kill_daemon()
            if not found.held():
                return


def start_after(r, moment):
    """One state of the disk; where the power fails once more, one of that disk."""
    restore(r, moment)
    differs = compare_store(r)
    if r.draw.random() < 0.3:
        r.launch_daemon()
        moment = fail_power(r, moment, 2)
        r.kill_daemon()
        restore(r, moment)
        differs += compare_store(r)
    r.start_daemon()
    r.wait_load(1)
    live = r.wait_until_idle()
    found = judge_after(r, moment, live)
    found.differs += differs
    r.check_readers(found, live)
    r.compare(found, live)
    return found


def restore(r, moment):
    """The disk after the cut, the broker of that moment, load and readers that continue."""
    r.readers.end()
    r.load.end()
    r.kill_broker()
    moment.disk.write(moment.disk.cut(r.draw))
    r.recorder.begin_again()
    shutil.copy(moment.broker, r.path("mosquitto.db"))
    r.start_broker()
    r.start_readers(moment.history.copy(), moment.last_id)
    r.cuts = getattr(r, "cuts", 0) + 1
    r.load = Load(r.rig.broker_port, r.kind.pairs, r.kind.rate, itertools.count(r.cuts * 1000000))
    r.cleanup.callback(r.load.end)


def compare_store(r):
    """The store on the disk after the cut has nothing that the journal lacks."""
    if not (r.disk / "store.db").exists():
        return []
    copied = r.path("store-after-cut")
    shutil.rmtree(copied, ignore_errors=True)
    copied.mkdir()
    for path in r.disk.glob("store.db*"):
        shutil.copy(path, copied)
    with contextlib.closing(sqlite3.connect(copied / "store.db")) as db:
        has_table = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'entries'").fetchone()[0]
        rows = db.execute("SELECT pair, json FROM entries").fetchall() if has_table else []
    document = replay(r.rig.lab, r.disk / "journal") if rows else ""
    pairs = r.kind.pairs if rows else ()
    again = {pair: set(cut_records(member(member(document, "pairs"), pair), "entries")) for pair in pairs}
    ahead = [text for pair, text in rows if text not in again[pair]]
    return [f"after the cut the store has what the journal lacks: {text}" for text in ahead][:3]


def entry_id(text):
    return json.loads(text)["id"]


def judge_after(r, moment, live):
    """Judges all commands. Commands whose lines the cut removed may lack an entry, or come again and move a robot
    again.
    """
    lost = moment.lost
    commands = [command for command in moment.commands if command.id not in lost] + r.load.commands
    robots = copy_robots(moment.robots + r.load.robots, lost)
    answers = [(pair, answer) for pair, answer in moment.answers + r.load.answers if answer["id"] not in lost]
    left = {pair: [text for text in texts if entry_id(text) not in lost] for pair, texts in live.items()}
    found = judge(types.SimpleNamespace(pairs=r.kind.pairs, commands=commands, robots=robots, answers=answers), left)
    had = [entry_id(text) for texts in live.values() for text in texts if entry_id(text) in lost]
    found.twice += [f"{name}: {had.count(name)} entries" for name in set(had) if had.count(name) > 1]
    found.entries += len(had)
    found.acknowledged += len(lost)
    found.reported += len(lost) - len(set(had))
    return found


@kind("the power fails at moments of all kinds: disks of all kinds are left", history="vanishes",
      before=record_disk(1, (0, 2000, 20000)), after=start_often, rate=2)
def power_cut(r):
    fail_often(r)


@kind("the same with fsync_s: 0: what was acknowledged is not lost", history="vanishes",
      before=record_disk(0, (0, 500)), after=start_often, rate=0.5)
def power_cut_synced(r):
    fail_often(r)
