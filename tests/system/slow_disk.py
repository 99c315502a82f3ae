"""A disk that syncs late or never. The daemon reports the age of unsynced data. The store gets no record before the
journal has its line on the disk. SIGTERM ends the daemon within its limits, also during its start. Everything
acknowledged is there afterwards.
"""
import json
import os
import pathlib
import re
import signal
import sqlite3
import time
import urllib.error

from io_faults import Page, build
from rig import SOURCE, TANDEM, Rig

NEVER_S = 1e6
FSYNC_S, UNSYNCED_S = 1, 5  # journal.fsync_s, and the tolerance beyond it
COMMIT_S = 0.2  # store.commit_ms
STOP_S = 45  # limit of SIGTERM, whatever the disk does
SLOW_STOP_S = 10  # the limit where a sync takes a second
LATE_S = 1.5  # the daemon checks at least this often
IS_VIRTUAL = "TANDEM_CLOCK" in os.environ


class SlowDisk(Rig):
    """The syncs of files below `where` can be delayed."""

    def __init__(self, where=""):
        super().__init__(pairs="r1: {timeout_s: 2}")
        self.page = Page(self.folder / "io")
        self.environment = self.page.environment(build(self.folder / "io_faults.so"), self.folder / where)
        self.sent = 0

    def run(self, command, **options):
        if command[:2] == [TANDEM, "serve"]:
            options["env"] = self.environment
        return super().run(command, **options)

    def command(self, count=1):
        for _ in range(count):
            self.sent += 1
            self.publish("tandem/v1/r1/command", {"id": f"k{self.sent}", "op": "go"})
            for side in ("real", "virtual"):
                self.publish(f"tandem/v1/r1/{side}/reply", {"id": f"k{self.sent}", "status": "done"})

    def metric(self, name):
        return float(re.search(rf"^{name} (\S+)", self.fetch("/metrics"), re.M)[1])

    def counted(self):
        return self.get("/api/v1/pairs/r1")["entries"]

    def stored(self):
        with sqlite3.connect(f"file:{self.folder}/store.db?mode=ro", uri=True) as db:
            return sorted(row[0] for row in db.execute("SELECT id FROM entries"))

    def unreadiness(self):
        try:
            self.fetch("/readyz")
        except urllib.error.HTTPError as e:
            return json.loads(e.read())["detail"]
        return ""

    def has_logged(self, event):
        return f" {event}: " in self.daemon_log.read_text()

    def launch(self):
        """Starts the daemon without waiting."""
        self.daemon_log = self.folder / "daemon.log"
        self.daemon = self.run([TANDEM, "serve", "-c", self.lab], stderr=open(self.daemon_log, "a"))

    def stop(self):
        """Sends SIGTERM; returns the seconds that it took, and the exit status."""
        began = time.monotonic()
        self.daemon.send_signal(signal.SIGTERM)
        status = self.daemon.wait(NEVER_S)
        return time.monotonic() - began, status

    def check_all(self):
        """On a disk that works again: every acknowledged command has one entry, and the journal has whole lines."""
        self.page.release()
        for path in (self.folder / "journal").iterdir():
            for line in path.read_text().splitlines(keepends=True):
                assert line.endswith("\n") and json.loads(line), line
        self.start_daemon()
        self.command()
        self.wait(lambda: len(self.stored()) >= self.sent, "every command has an entry", 20)
        self.stop_daemon()
        assert self.stored() == sorted(f"k{n + 1}" for n in range(self.sent)), self.stored()


def check_limit(run_s, least_s, most_s):
    assert not IS_VIRTUAL or least_s <= run_s <= most_s, f"{run_s:.2f} s, wanted {least_s} to {most_s}"


def unsynced():
    """Journal syncs hang: metric, /readyz, log and alarm report the duration; the store waits; then all recovers."""
    with SlowDisk("journal") as rig:
        rig.start_daemon()
        rig.command(3)
        rig.wait(lambda: len(rig.stored()) == 3, "three entries")
        rig.wait(lambda: rig.metric("tandem_journal_unsynced_seconds") == 0, "all is synced")
        rig.page.delay("sync", NEVER_S)
        began = time.monotonic()
        rig.command(3)
        rig.wait(lambda: rig.counted() == 6, "the lab has made their entries")
        assert rig.unreadiness() == "", "too soon"
        rig.wait(rig.unreadiness, "/readyz reports it", 60)
        check_limit(time.monotonic() - began, FSYNC_S + UNSYNCED_S, FSYNC_S + UNSYNCED_S + LATE_S)
        assert "journal" in rig.unreadiness(), rig.unreadiness()
        age_s = rig.metric("tandem_journal_unsynced_seconds")
        check_limit(age_s - (time.monotonic() - began), -LATE_S, 0.1)
        rig.wait(lambda: rig.has_logged("journal_unsynced"), "the log reports it")
        assert rig.stored() == ["k1", "k2", "k3"], "the store has records whose journal lines a power cut would remove"
        rig.page.release()
        rig.wait(lambda: len(rig.stored()) == 6, "the store has them")
        rig.wait(rig.ready, "it is ready again")
        assert rig.metric("tandem_journal_unsynced_seconds") < FSYNC_S + UNSYNCED_S
        alarms = [one["code"] for one in rig.get("/api/v1/alarms?limit=100")["alarms"] if one["pair"] == "$lab"]
        assert "journal_down" in alarms, alarms
        rig.stop_daemon()
        rig.check_all()


def each_sync_takes_a_second():
    with SlowDisk() as rig:
        rig.start_daemon()
        rig.page.delay("sync", 1)
        rig.command(20)
        rig.wait(lambda: rig.counted() == 20, "the lab has made their entries")
        run_s, status = rig.stop()
        assert status == 0, f"ended with {status}: {rig.daemon_log.read_text()}"
        check_limit(run_s, 1, SLOW_STOP_S)
        rig.check_all()


def check_incomplete(rig):
    """A sync hangs for ever: the daemon ends by itself before a supervisor's limit, with an error that names what is
    missing.
    """
    run_s, status = rig.stop()
    check_limit(run_s, STOP_S, STOP_S + 1)
    unit_s = int(re.search(r"^TimeoutStopSec=(\d+)$", (SOURCE / "packaging/tandem.service").read_text(), re.M)[1])
    assert unit_s > STOP_S + 1, unit_s
    assert status == 1, f"ended with {status}: {rig.daemon_log.read_text()}"
    assert rig.has_logged("stop_incomplete"), rig.daemon_log.read_text()
    rig.check_all()


def hung_while_running():
    with SlowDisk() as rig:
        rig.start_daemon()
        rig.command(5)
        rig.wait(lambda: len(rig.stored()) == 5, "five entries")
        rig.page.delay("sync", NEVER_S)
        rig.command(20)
        rig.wait(lambda: rig.counted() == 25, "the lab has made their entries")
        check_incomplete(rig)


def launch_hung(rig):
    before = rig.page.hits()
    rig.page.delay("sync", NEVER_S)
    rig.launch()
    rig.wait(lambda: rig.page.hits() > before, "a sync of the start hangs")


def hung_at_first_start():
    """The store is being created: the daemon does not read signals yet."""
    with SlowDisk() as rig:
        launch_hung(rig)
        assert not rig.has_logged("serving"), rig.daemon_log.read_text()
        check_incomplete(rig)


def hung_at_next_start():
    """The journal has the start of this run, and is not synced."""
    with SlowDisk() as rig:
        rig.start_daemon()
        rig.command(5)
        rig.wait(lambda: len(rig.stored()) == 5, "five entries")
        rig.stop_daemon()
        launch_hung(rig)
        rig.wait(lambda: rig.has_logged("serving"), "it serves")
        check_incomplete(rig)


for play in (unsynced, each_sync_takes_a_second, hung_while_running, hung_at_first_start, hung_at_next_start):
    print(play.__name__, flush=True)
    play()
