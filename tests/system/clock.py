"""The machine's clock is set between two runs and during one, and the machine sleeps. Every (pair, n) is used
once, store and replay agree to the byte, laps are true or marked, and people are warned.
"""
import itertools
import json
import shutil
import signal
import sqlite3
import time

from rig import Rig, cut_records, member, replay
from stepped_clock import SteppedClock
from waiting import wait_until

TIMEOUT_S = 1
TOLERANCE_S = 0.5  # limit on a busy machine


class Lab:
    def __init__(self, rig):
        self.rig, self.clock, self.asked = rig, SteppedClock(rig.folder), itertools.count()

    def start(self):
        with self.clock.worn():
            self.rig.start_daemon()

    def end(self, number):
        self.rig.daemon.send_signal(number)
        self.rig.daemon.wait()

    def say(self, what, **payload):
        self.rig.publish(f"tandem/v1/r1/{what}", payload)

    def command(self, name):
        self.say("command", id=name, op="go")

    def reply(self, name):
        for side in ("real", "virtual"):
            self.say(f"{side}/reply", id=name, status="done")

    def stored(self):
        with sqlite3.connect(f"file:{self.rig.folder}/store.db?mode=ro", uri=True) as db:
            return [row[0] for row in db.execute("SELECT json FROM entries ORDER BY t_us, n")]

    def entry(self, name):
        """The one entry of this command, once it is in the store."""
        def find():
            return [one for one in map(json.loads, self.stored()) if one["id"] == name]
        found = wait_until(find, f"an entry of {name}")
        assert len(found) == 1, found
        return found[0]

    def watched(self):
        """The first entry that has a verdict again: messages within two seconds after an absence may have waited."""
        def ask():
            name = f"w{next(self.asked)}"
            self.command(name)
            self.reply(name)
            entry = self.entry(name)
            assert entry["verdict"] != "TIMEOUT", entry
            return entry if entry["verdict"] != "UNRESOLVED" else None
        return wait_until(ask, "a verdict")

    def alarms(self, pair, code):
        return [one for one in self.rig.get("/api/v1/alarms?limit=1000")["alarms"] if one["pair"] == pair and one["code"] == code]

    def alarm(self, code):
        return wait_until(lambda: self.alarms("$lab", code), f"the alarm {code}")[-1]

    def wait_for_log(self, word):
        wait_until(lambda: f" {word}: " in self.rig.daemon_log.read_text(), f"'{word}' in the log")

    def judge(self):
        """Store, HTTP and a replay have the same entries; no number occurs twice."""
        self.rig.wait_stored("r1")
        served = self.rig.records("r1", "entries")
        assert served == self.stored(), (served, self.stored())
        numbers = [json.loads(text)["n"] for text in served]
        assert len(set(numbers)) == len(numbers), numbers
        wait_for_log = [(one["pair"], one["n"]) for one in self.rig.get("/api/v1/alarms?limit=1000")["alarms"]]
        assert len(set(wait_for_log)) == len(wait_for_log), wait_for_log
        self.end(signal.SIGTERM)
        again = cut_records(member(member(replay(self.rig.lab, self.rig.folder / "journal"), "pairs"), "r1"), "entries")
        assert sorted(again) == sorted(served), (again, served)


def set_back_between_runs(lab, how):
    """A command timed out while the clock was ahead; the next run has the true clock."""
    lab.clock.set_by(30)
    lab.start()
    lab.command("c1")
    assert lab.entry("c1")["verdict"] == "TIMEOUT"
    lab.end(how)
    lab.clock.set_by(-30)
    lab.start()
    lab.wait_for_log("clock_behind")
    lab.command("c2")
    lab.reply("c2")
    assert lab.entry("c2")["n"] > 1
    lab.judge()


def journal_behind_the_store(lab):
    """Times in the store are in the past: lab time starts after them, although the journal is gone."""
    lab.clock.set_by(30)
    lab.start()
    lab.command("c1")
    latest = lab.entry("c1")["t"]
    lab.end(signal.SIGKILL)
    shutil.rmtree(lab.rig.folder / "journal")
    (lab.rig.folder / "checkpoint").unlink(missing_ok=True)
    lab.clock.set_by(-30)
    lab.start()
    lab.command("c2")
    assert lab.entry("c2")["t"] > latest + TIMEOUT_S
    lab.end(signal.SIGTERM)


def set_while_running(lab, seconds):
    """Laps follow lab time, which ignores the change of the clock; people are warned at once."""
    lab.start()
    lab.command("c1")
    began = time.monotonic()
    lab.clock.set_by(seconds)
    lab.wait_for_log("clock_stepped")
    lab.reply("c1")
    true_s = time.monotonic() - began
    entry = lab.entry("c1")
    assert entry["verdict"] in ("SYNC", "AHEAD", "BEHIND"), entry
    assert abs(entry["real_lap_s"] - true_s) < TOLERANCE_S, (entry, true_s)
    alarm = lab.alarm("clock_stepped")
    assert alarm["type"] == "clock_jump" and f"{seconds:+.0f}." in alarm["detail"], alarm
    assert abs(float(next(line for line in lab.rig.fetch("/metrics").splitlines()
                          if line.startswith("tandem_wall_clock_ahead_seconds ")).split()[1]) - seconds) < TOLERANCE_S
    assert abs(alarm["t"] - time.time()) < 10, "lab time followed"
    lab.judge()


def asleep(lab, seconds):
    """The machine sleeps while a command is open. Missed clock probes are not sent later."""
    lab.start()
    probes = lab.rig.listen("probes", "tandem/v1/r1/real/probe")
    lab.watched()
    lab.command("c1")
    wait_until(lambda: lab.rig.get("/api/v1/pairs/r1")["outstanding"] == 1, "it is open")
    lab.rig.daemon.send_signal(signal.SIGSTOP)
    lab.reply("c1")
    lab.clock.suspend(seconds)
    lab.rig.daemon.send_signal(signal.SIGCONT)
    entry = lab.entry("c1")
    assert entry["verdict"] == "UNRESOLVED" and entry["interrupted_s"] >= seconds, entry
    lab.wait_for_log("suspended")
    assert f"{seconds}." in lab.alarm("machine_suspended")["detail"]
    assert not lab.alarms("$lab", "clock_stepped"), "the wall clock went on as it should"
    later = lab.watched()
    assert later["t"] - entry["t"] > seconds, later
    lab.rig.catch_up(probes)
    sent = len(probes.read_text().splitlines())
    assert 0 < sent < 1000, f"{sent} probes"
    lab.judge()


def asleep_for_moments(lab, seconds):
    """The sleep is shorter than timeout_s: the replies count, and the laps include the sleep."""
    asleep(lab, seconds)
    entry = lab.entry("c1")
    assert "timeout_side" not in entry and entry["real_lap_s"] > seconds, entry


def main():
    rounds = [(set_back_between_runs, signal.SIGKILL), (set_back_between_runs, signal.SIGTERM), (journal_behind_the_store,),
              (set_while_running, 3600), (set_while_running, -40), (asleep, 7), (asleep, 8 * 3600), (asleep_for_moments, 4)]
    for play, *arguments in rounds:
        print(play.__name__, *arguments, flush=True)
        timeout_s = 20 if play in (set_while_running, asleep_for_moments) else TIMEOUT_S
        with Rig(pairs=f"r1: {{timeout_s: {timeout_s}, probe_interval_s: 0.5}}") as rig:
            play(Lab(rig), *arguments)


main()
