"""kinds_disk.py - files that are removed, damaged, replaced by old ones, made by another version; full disks."""
import contextlib
import os
import shutil
import sqlite3
import time

from kinds import kind


def wait_for_files(r):
    """Store and checkpoint hold all that has come."""
    r.load.hold()
    r.wait(r.load.is_quiet, "all acknowledged")
    r.wait(r.is_idle, "no command is open")
    r.rig.wait_stored(*r.kind.pairs)
    time.sleep(2.2)  # a checkpoint comes every two seconds


def stop_any(r):
    """Stops the daemon, orderly or by a kill."""
    (r.stop_daemon if r.draw.random() < 0.5 else r.kill_daemon)()


def store_files(r):
    return [path for path in r.rig.folder.iterdir() if path.name.startswith("store.db")]


def copy_store(r, name):
    """A backup of the store, made by SQLite itself."""
    with contextlib.closing(sqlite3.connect(r.path("store.db"))) as source, \
            contextlib.closing(sqlite3.connect(r.path(name))) as target:
        source.backup(target)


def damage(r, path, first=0, count=20):
    """Overwrites this number of bytes."""
    size = path.stat().st_size
    with open(path, "r+b") as out:
        for _ in range(count):
            at = r.draw.randrange(first, size)
            out.seek(at)
            old = out.read(1)
            out.seek(at)
            out.write(bytes([old[0] ^ r.draw.randrange(1, 256)]))


def newest_journal(r):
    return max((r.path("journal")).glob("*.jsonl"))


# ---- while the daemon is stopped ----

@kind("the store is moved away, the checkpoint stays")
def store_removed_stopped(r):
    wait_for_files(r)
    stop_any(r)
    for path in store_files(r):
        path.unlink()
    since = r.log_size()
    r.start_daemon()
    r.check([e for e in r.events(since) if "store" in e], f"the log does not report that the store was created again: {r.tail()}")
    r.load.go_on()


@kind("an older copy of the store is restored, the checkpoint stays")
def store_old(r):
    copy_store(r, "old.db")
    r.wait_load(2)
    wait_for_files(r)
    stop_any(r)
    for path in store_files(r):
        path.unlink()
    r.path("old.db").rename(r.path("store.db"))
    since = r.log_size()
    r.start_daemon()
    r.check([e for e in r.events(since) if "store" in e], f"the log does not say that the store was behind: {r.tail()}")
    r.load.go_on()


@kind("the store's write-ahead log is removed after a crash")
def wal_removed(r):
    wait_for_files(r)
    r.kill_daemon()
    for path in store_files(r):
        if path.name != "store.db":
            path.unlink()
    r.start_daemon()
    r.load.go_on()


@kind("the store's write-ahead log is damaged after a crash")
def wal_damaged(r):
    wait_for_files(r)
    r.kill_daemon()
    wal = r.path("store.db-wal")
    if wal.exists() and wal.stat().st_size > 64:
        damage(r, wal)
    r.start_daemon()
    r.load.go_on()


@kind("the store is damaged: the daemon reports it, and once it is moved away it is rebuilt from the journal")
def store_damaged(r):
    wait_for_files(r)
    r.stop_daemon()
    store = r.path("store.db")
    damage(r, store, 4096, 2000)
    since = r.log_size()
    r.launch_daemon()
    r.wait(lambda: r.rig.daemon.poll() is not None or [e for e in r.events(since) if "store" in e] or r.is_up(),
           "the daemon reports the state of its store")
    words = r.log(since)
    if r.rig.daemon.poll() is None and not [e for e in r.events(since) if "store" in e]:
        r.check(False, f"a damaged store is not reported: {words}")
    if r.rig.daemon.poll() is None:
        r.kill_daemon()
    for path in store_files(r):
        path.unlink()
    r.start_daemon()
    r.load.go_on()


@kind("the store was made by a newer version: refused with an error, and nothing lost after the repair")
def store_newer(r):
    wait_for_files(r)
    r.stop_daemon()
    set_version(r, "UPDATE meta SET value = value + 90 WHERE key = 'schema_version'")
    since = r.log_size()
    r.launch_daemon()
    r.wait(lambda: r.rig.daemon.poll() is not None, "the daemon refuses the store of a newer version")
    r.check(r.rig.daemon.returncode == 1 and "version" in r.log(since), f"it does not say why: {r.log(since)}")
    set_version(r, "UPDATE meta SET value = value - 90 WHERE key = 'schema_version'")
    r.load.go_on()
    r.start_daemon()


def set_version(r, statement):
    with contextlib.closing(sqlite3.connect(r.path("store.db"))) as db, db:
        db.execute(statement)


@kind("the checkpoint is removed")
def checkpoint_removed(r):
    wait_for_files(r)
    stop_any(r)
    r.path("checkpoint").unlink()
    r.load.go_on()
    r.start_daemon()


@kind("the checkpoint is damaged")
def checkpoint_damaged(r):
    wait_for_files(r)
    stop_any(r)
    damage(r, r.path("checkpoint"), count=r.draw.choice([1, 1, 1, 100]))
    since = r.log_size()
    r.load.go_on()
    r.start_daemon()
    r.check("checkpoint_unused" in r.events(since), "a damaged checkpoint is not reported")


# A store as version 1 of the schema had it (tests/unit/test_store.c has all later changes).
VERSION_1 = """
PRAGMA application_id = 1414415437;
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES('schema_version', 1);
CREATE TABLE entries(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL, t_us INTEGER NOT NULL,
    id TEXT NOT NULL, verdict TEXT NOT NULL, lag_s REAL, json TEXT NOT NULL, UNIQUE(pair, t_us, n));
CREATE TABLE alarms(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL, t_us INTEGER NOT NULL,
    id TEXT NOT NULL, type TEXT NOT NULL, json TEXT NOT NULL, UNIQUE(pair, t_us, n));
CREATE INDEX entries_by_time ON entries(t_us, pair, n);
CREATE INDEX alarms_by_time ON alarms(t_us, pair, n);
ATTACH '{now}' AS now;
INSERT INTO entries(pair, n, t_us, id, verdict, lag_s, json)
    SELECT pair, n, t_us, id, verdict, lag_s, json FROM now.entries ORDER BY seq;
INSERT INTO alarms(pair, n, t_us, id, type, json) SELECT pair, n, t_us, id, type, json FROM now.alarms ORDER BY seq;
"""


@kind("an old program's store, and a checkpoint of another version")
def upgrade(r):
    wait_for_files(r)
    stop_any(r)
    with contextlib.closing(sqlite3.connect(r.path("old.db"), isolation_level=None)) as db:
        db.executescript(VERSION_1.format(now=r.path("store.db")))
    for path in store_files(r):
        path.unlink()
    r.path("old.db").rename(r.path("store.db"))
    with open(r.path("checkpoint"), "r+b") as out:
        out.seek(12)  # the version of the state; the check sum of the head does not matter any more
        out.write(b"\1\0\0\0")
    r.load.go_on()
    r.start_daemon()


@kind("an older checkpoint is restored")
def checkpoint_old(r):
    shutil.copy(r.wait_file("checkpoint"), r.path("old"))
    r.wait_load(2, 3)
    stop_any(r)
    r.path("old").replace(r.path("checkpoint"))
    r.start_daemon()


@kind("store and checkpoint are moved away, both are rebuilt from the journal")
def store_and_checkpoint_removed(r):
    wait_for_files(r)
    stop_any(r)
    for path in [*store_files(r), r.path("checkpoint")]:
        path.unlink()
    r.load.go_on()
    r.start_daemon()


@kind("a power cut leaves half a line at the end of the journal")
def journal_torn(r):
    r.kill_daemon()
    with open(newest_journal(r), "ab") as out:
        out.write(b'{"tst":"2026-11-20T05:55:55.599953Z","topic":"tandem/v1/a/comm')
    r.start_daemon()


@kind("lines in the middle of the journal are damaged, all else removed: the damage is reported, and the rest is there", may_lose=True,
      journal="ids", history="lost")
def journal_damaged(r):
    wait_for_files(r)
    r.stop_daemon()
    journal = newest_journal(r)
    lines = journal.read_bytes().split(b"\n")
    for at in r.draw.sample(range(len(lines) // 4, len(lines) // 2), 5):
        lines[at] = bytes(b ^ 0x15 if b != 0x1f else b for b in lines[at])
    journal.write_bytes(b"\n".join(lines))
    for path in [*store_files(r), r.path("checkpoint")]:
        path.unlink()
    since = r.log_size()
    r.start_daemon()
    r.check({"line_skipped", "journal_fault", "malformed"} & set(r.events(since)), "damage is passed over without a word")
    r.load.go_on()


@kind("the lab file was changed between two runs: a pair more, another timeout", journal="ids")
def lab_changed(r):
    r.wait_load(0.5, 1.5)
    stop_any(r)
    text = r.rig.lab.read_text().replace("timeout_s: 3}", "timeout_s: 4, sync_tolerance_s: 0.1}", 1)
    r.rig.lab.write_text(text.rstrip() + "\n  more: {}\n")
    r.start_daemon()


@kind("the clock is set back by a minute between two runs (by its journal the lab was a minute ahead)")
def clock_set_back(r):
    wait_for_files(r)
    r.stop_daemon()
    tst = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 60))
    with open(newest_journal(r), "a") as out:
        out.write(f'{{"tst":"{tst}.000000Z","topic":"tandem/v1/$lab/stop","qos":1,"retain":0,"payloadlen":2,"payload":{{}}}}\n')
    since = r.log_size()
    r.start_daemon()
    r.check("clock_behind" in r.events(since), "a clock that was set back is not reported")
    r.load.go_on()
    r.wait_load(1)


# ---- under a running daemon ----

@kind("the store is removed under the running daemon")
def store_removed(r):
    r.wait_load(0.5, 1.5)
    since = r.log_size()
    for path in store_files(r):
        path.unlink()
    r.check_reported(since, "store", lasting=False)
    r.wait(r.is_ready, "the store is created again", 30)
    r.wait_load(1)


@kind("the journal's file is removed under the running daemon")
def journal_file_removed(r):
    r.wait_load(0.5, 1.5)
    since = r.log_size()
    newest_journal(r).unlink()
    r.wait(lambda: any("journal" in event for event in r.events(since)), "the log names the journal", 3)
    r.wait(lambda: list(r.path("journal").glob("*.jsonl")), "a new file is begun", 5)
    r.wait_load(1)


@kind("the journal's directory is removed under the running daemon")
def journal_dir_removed(r):
    r.wait_load(0.5, 1.5)
    since = r.log_size()
    shutil.rmtree(r.path("journal"))
    r.check_reported(since, "journal", lasting=False)
    r.wait(lambda: list(r.path("journal").glob("*.jsonl")), "directory and file are made again", 5)
    r.wait(r.is_ready, "the daemon is ready again", 30)
    r.wait_load(1)


@kind("the checkpoint is removed under the running daemon, which is then killed")
def checkpoint_removed_running(r):
    r.wait_file("checkpoint").unlink()
    r.wait_load(0.1, 4)
    r.kill_daemon()
    r.start_daemon()


# ---- disks without room ----

DISK_MB = 300  # more than the default limit of little space (journal.min_free_mb)


def fill(disk, left_mb=0):
    """Fills the disk but for this number of bytes."""
    with open(disk / "ballast", "wb", buffering=0) as out:
        if left_mb:
            out.write(bytes((DISK_MB - left_mb) * 1000000))
        for piece in () if left_mb else (1 << 20, 4096):
            with contextlib.suppress(OSError):
                while True:
                    out.write(bytes(piece))


def full_for_a_while(r, fill_it, clear):
    since = r.log_size()
    fill_it()
    r.wait_load(2, 4)
    r.check_reported(since, "journal|disk|room|space", lasting=True)
    clear()
    r.wait(r.is_ready, "it recovers by itself", 30)
    r.wait_load(1)


@kind("no file may grow for a while: journal, store and checkpoint all at once")
def files_limited(r):
    full_for_a_while(r, lambda: r.limit_files(0), lambda: r.limit_files(None))


@kind("no file may grow, and the daemon is killed before one may again", history="vanishes")
def files_limited_killed(r):
    r.limit_files(0)
    r.wait_load(1, 3)
    r.kill_daemon()
    r.start_daemon()


@kind("no file may grow, and the daemon gets SIGTERM: it ends within 5 s, with a true report", history="vanishes")
def files_limited_stopped(r):
    r.limit_files(0)
    r.wait_load(1, 3)
    since = r.log_size()
    r.stop_daemon(5, None)
    r.check(" stopped: all is on the disk" not in r.log(since), "it reports that all is on the disk, which has no room")
    r.start_daemon()


@kind("a small disk is full for a while", mounts=True, before=lambda r: r.mount_disk(DISK_MB))
def disk_full(r):
    full_for_a_while(r, lambda: fill(r.disk), lambda: (r.disk / "ballast").unlink())


@kind("a disk has little room left: the daemon reports it before there is none", mounts=True, before=lambda r: r.mount_disk(DISK_MB))
def disk_low(r):
    since = r.log_size()
    fill(r.disk, left_mb=50)
    r.check_reported(since, "room|space", lasting=False, seconds=15)
    (r.disk / "ballast").unlink()
    r.wait_load(1)


@kind("a small disk is full, and the daemon is killed before there is room", mounts=True, history="vanishes",
      before=lambda r: r.mount_disk(DISK_MB))
def disk_full_killed(r):
    fill(r.disk)
    r.wait_load(2, 4)
    r.kill_daemon()
    (r.disk / "ballast").unlink()
    r.start_daemon()


@kind("a disk becomes read-only for a while", mounts=True, before=lambda r: r.mount_disk(DISK_MB))
def disk_read_only(r):
    def remount(how):
        return os.system(f"mount -o remount,{how} {r.disk} 2>/dev/null") == 0
    if not remount("ro"):  # a tmpfs with open files cannot become read-only; instead no new files, and none may grow
        full_for_a_while(r, lambda: r.limit_files(0), lambda: r.limit_files(None))
        r.remark("limited instead of read-only")
        return
    r.wait_load(2)
    remount("rw")
