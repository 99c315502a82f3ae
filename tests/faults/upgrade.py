"""upgrade.py - data directories of earlier programs: each program writes one, and is stopped or killed; this program
continues in it.

Every acknowledged command has one entry, before and after. Store, HTTP and a replay by this program have the same
entries. Of entries of the earlier program, members may differ that were named, added or judged differently since:
the test prints them. Then the earlier program is started once more: it refuses the store, and names both versions.
"""
import contextlib
import datetime
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys

from judge import judge
from kinds import Kind
from load import Load
from rig import TANDEM, cut_records, member, replay
from round import Round
from waiting import limit_s

ENDS = ("stopped", "killed")
# Members that identify an entry; an upgrade never changes them.
FIXED = ("pair", "n", "id", "t", "verdict", "real_lap_s", "virtual_lap_s", "lag_s")


def schema_version(store):
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        return db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()[0]


class Upgrade(Round):
    def __init__(self, program, version, end):
        super().__init__(Kind(f"upgrade-{version}-{end}", None, "", pairs={"a": "ids", "b": "ids", "l": "link"}), version)
        self.program, self.version, self.end = program, version, end
        self.differing = set()

    def live_before(self):
        self.start_daemon()
        self.load = Load(self.rig.broker_port, self.kind.pairs)
        self.cleanup.callback(self.load.end)
        self.wait_load(3, 5)
        if self.end == "stopped":
            self.stop_daemon()
        else:
            self.kill_daemon()
        self.check(schema_version(self.path("store.db")) == self.version, f"the store is not of version {self.version}")

    def live_after(self):
        self.program = TANDEM
        since = self.log_size()
        self.start_daemon()
        self.check("store_update" in self.log(since), "the log does not report the store's update")
        self.wait_load(2)
        return self.wait_until_idle()

    def refuse_new(self):
        self.program = os.environ["OLD_PROGRAM"]
        new = schema_version(self.path("store.db"))
        since = self.log_size()
        self.launch_daemon()
        try:
            status = self.rig.daemon.wait(limit_s(20))
        except subprocess.TimeoutExpired:
            self.failed.append("the earlier program does not refuse the store of this one")
            return
        words = self.log(since)
        self.check(status == 1, f"the earlier program ended with {status}: {words}")
        self.check(re.search(rf"\b{new}\b", words) and re.search(rf"\b{self.version}\b", words),
                   f"the earlier program does not name versions {new} and {self.version}: {words}")
        self.check(schema_version(self.path("store.db")) == new, "the earlier program changed the store")

    def compare_all(self, found, live):
        """Entries from HTTP, from the store, and from a replay."""
        self.stop_daemon()
        document = replay(self.rig.lab, self.path("journal"))
        with contextlib.closing(sqlite3.connect(f"file:{self.path('store.db')}?mode=ro", uri=True)) as db:
            for pair, texts in live.items():
                rows = [row[0] for row in db.execute("SELECT json FROM entries WHERE pair = ? ORDER BY t_us, n", [pair])]
                if rows != texts:
                    found.differs.append(f"{pair}: {len(texts)} entries by HTTP, {len(rows)} in the store")
                self.compare_members(found, pair, texts, cut_records(member(member(document, "pairs"), pair), "entries"))

    def compare_members(self, found, pair, texts, again):
        published = {entry["n"]: entry for entry in map(json.loads, texts)}
        replayed = {entry["n"]: entry for entry in map(json.loads, again)}
        if published.keys() != replayed.keys():
            found.differs.append(f"{pair}: {len(published)} entries by HTTP, {len(replayed)} replayed")
        for n in published.keys() & replayed.keys():
            one, other = published[n], replayed[n]
            names = {name for name in one.keys() | other.keys() if one.get(name, "none") != other.get(name, "none")}
            self.differing |= names - set(FIXED)
            for name in names & set(FIXED):
                found.differs.append(f"{pair} n {n}: {name} is {one.get(name)} by HTTP, {other.get(name)} replayed")

    def play(self):
        with self.rig, self.cleanup:
            self.live_before()
            live = self.live_after()
            found = judge(self.load, live)
            self.compare_all(found, live)
            self.refuse_new()
            found.failed += self.failed
            if not found.held():
                self.archive(found)
            return found


def main():
    folder = pathlib.Path(os.environ["TANDEM_OLD"])
    held = True
    print(f"{datetime.date.today()}, `tests/system/upgrade.sh`:\n")
    print("| store version, commit | the earlier program was | acknowledged | entries | lost | doubled | untrue | members that differ | other |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for program in sorted(folder.glob("tandem-*[0-9]"), key=lambda path: int(path.name.split("-")[1])):
        version = int(program.name.split("-")[1])
        commit = (folder / f"{program.name}.commit").read_text().strip()
        os.environ["OLD_PROGRAM"] = str(program)
        for end in ENDS:
            one = Upgrade(str(program), version, end)
            found = one.play()
            held = held and found.held()
            print(f"| {version}, {commit} | {end} | {found.acknowledged} | {found.entries} | {len(found.lost)} | {len(found.twice)} | "
                  f"{len(found.untrue)} | {', '.join(f'`{name}`' for name in sorted(one.differing)) or 'none'} | "
                  f"{'; '.join(found.differs[:5] + found.failed[:5]) or 'none'} |", flush=True)
    return 0 if held else 1


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
sys.exit(main())
