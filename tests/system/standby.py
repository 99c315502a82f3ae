"""Two daemons of one lab, one PostgreSQL and one broker: whoever owns the lab is killed, frozen or stopped, and the other
one goes on. The argument is the number of rounds.
"""
import collections
import json
import re
import signal
import subprocess
import sys
import threading
import time

from postgresql import Cluster, create_tables, join_database
from rig import TANDEM, Rig, cut_records, member, replay
from waiting import limit_s

PAIRS = "r1: {mode: link, timeout_s: 1, outstanding_max: 64}"


class Publisher(threading.Thread):
    """Sends commands until it is stopped; `sent` are those that the broker has acknowledged."""

    def __init__(self, rig):
        super().__init__()
        self.rig, self.sent, self.ends = rig, [], threading.Event()

    def run(self):
        while not self.ends.is_set():
            name = f"c{len(self.sent)}"
            self.rig.publish("tandem/v1/r1/command", {"id": name, "op": "go", "displacement_m": 0.001})
            self.sent.append(name)
            self.ends.wait(0.3)

    def stop(self):
        self.ends.set()
        self.join()


def make_pair(rig, other, cluster):
    """Lab files of the same lab, which differ in their folders, ports and instances only."""
    other.broker_port = rig.broker_port
    for one, instance in ((rig, "a"), (other, "b")):
        text = one.lab.read_text()
        text = re.sub(r"broker: \{port: \d+\}", f"broker: {{port: {rig.broker_port}}}", text)
        one.lab.write_text(text.replace("/journal}", "/journal, record: events}"))
        join_database(one, cluster, "hall", instance)
        one.lab.write_text(one.lab.read_text() + "  role: owner\n")


def owns(rig):
    return "\ntandem_owner 1\n" in rig.fetch("/metrics")


def follows(rig):
    return "\ntandem_owner 0\n" in rig.fetch("/metrics") and "\ntandem_owner_lines_behind 0\n" in rig.fetch("/metrics")


def start(rig):
    rig.daemon_log = rig.folder / "daemon.log"
    rig.daemon = rig.run([TANDEM, "serve", "-c", rig.lab], stdout=subprocess.DEVNULL, stderr=open(rig.daemon_log, "a"))
    rig.wait(rig.ready, "the daemon is ready", 60)


def lines_of(rig):
    return [line for file in sorted((rig.folder / "journal").glob("journal-*.jsonl")) for line in file.read_text().splitlines()]


def entries_in(cluster):
    rows = cluster.sql("SELECT json FROM tandem.entries ORDER BY t_us, pair, n", database="tandem")
    return rows.splitlines()


def replace_owner(rig, other, publisher, end_owner):
    """The owner ends in some way, and the follower goes on. Returns the new owner and the new follower."""
    rig.wait(lambda: follows(other), "the follower has caught up", 60)
    before = len(publisher.sent)
    began_s = time.monotonic()
    end_owner(rig)
    other.wait(lambda: owns(other), "the follower took over", 60)
    print(f"{end_owner.__name__}: taken over after {time.monotonic() - began_s:.1f} s")
    other.wait(lambda: len(publisher.sent) > before + 5, "commands after it", 60)
    code = rig.daemon.wait(limit_s(60))
    start(rig)
    rig.wait(lambda: follows(rig), "the old owner follows", 60)
    return other, rig, code


def kill(rig):
    rig.daemon.kill()


def freeze(rig):
    """Until the follower owns the lab, and some time more."""
    rig.daemon.send_signal(signal.SIGSTOP)
    other = rig.other
    other.wait(lambda: owns(other), "the follower owns", 60)
    sent = len(rig.publisher.sent)
    other.wait(lambda: len(rig.publisher.sent) > sent + 5, "commands", 60)
    rig.daemon.send_signal(signal.SIGCONT)


def stop(rig):
    rig.daemon.send_signal(signal.SIGTERM)


def check_commands(sent, recording):
    """Each side got each command once at most; those that were not sent are few."""
    counts = collections.Counter()
    for line in recording.read_text().splitlines():
        message = json.loads(line)
        if re.fullmatch(r"tandem/v1/r1/(real|virtual)/command", message["topic"]):
            payload = message["payload"]
            counts[(message["topic"], (json.loads(payload) if isinstance(payload, str) else payload)["id"])] += 1
    twice = {key for key, count in counts.items() if count > 1}
    assert not twice, twice
    assert counts, "no command was sent"


def check_results(rig, other, cluster, sent):
    """Every acknowledged command has one entry, in the database and in the replay of either journal."""
    expected = sorted(sent)
    rig.wait(lambda: sorted({json.loads(e)["id"] for e in entries_in(cluster)}) == expected, "all entries are stored", 90)
    stored = entries_in(cluster)
    assert len(stored) == len(sent), (len(stored), len(sent))
    rig.wait(lambda: len(lines_of(rig)) == len(lines_of(other)), "the follower has all lines", 60)


def check_journals(rig, other, cluster):
    """Both have the same lines as the database, and replay to what it holds."""
    short, long = sorted((lines_of(rig), lines_of(other)), key=len)  # the owner went on for a moment
    assert short == long[:len(short)], "the daemons have other lines"
    rows = cluster.sql("SELECT line FROM tandem.journal WHERE p = 'hall' ORDER BY n", database="tandem").splitlines()
    assert len(short) > 50 and rows[:len(long)] == long, "the database has other lines"
    entries = sorted(entries_in(cluster))
    for one in (rig, other):
        replayed = member(member(replay(one.lab, one.folder / "journal"), "pairs"), "r1")
        assert sorted(cut_records(replayed, "entries")) == entries, "the replay has other entries"


rounds = int(sys.argv[1])
with Cluster(1) as cluster, Rig(pairs=PAIRS) as rig:
    other = Rig(pairs=PAIRS)
    try:
        make_pair(rig, other, cluster)
        create_tables(rig, cluster)
        start(rig)
        rig.wait(lambda: owns(rig), "the first one owns", 60)
        start(other)
        recording = rig.listen("commands", "tandem/v1/#")
        for side in ("real", "virtual"):
            rig.start("robot", "--pair", "r1", "--side", side, "--t0", "0.02", "--tr", "0.01")
        publisher = rig.publisher = other.publisher = Publisher(rig)
        rig.other, other.other = other, rig
        publisher.start()
        owner, follower = rig, other
        try:
            for _ in range(rounds):
                for end_owner, expected in ((kill, -signal.SIGKILL), (freeze, 1), (stop, 0)):
                    owner, follower, code = replace_owner(owner, follower, publisher, end_owner)
                    assert code == expected, (end_owner.__name__, code, follower.daemon_log.read_text())
        finally:
            publisher.stop()
        check_results(owner, follower, cluster, publisher.sent)
        rig.catch_up(recording)
        check_commands(publisher.sent, recording)
        for one in (follower, owner):
            one.stop_daemon()
        check_journals(rig, other, cluster)
    except BaseException:
        other.print_logs()
        raise
    finally:
        other.__exit__(None)
