"""A lab runs for a while over a real broker: two pairs, one in link mode, robots with loss, jitter and clocks of
their own, and malformed messages. Then `tandem replay` reads the journal, and a recording that plain mosquitto_sub
made meanwhile. And a daemon that reads a journal back has the numbers of a replay.
"""
import json
import os
import shutil
import signal
import subprocess

from rig import Rig, SOURCE, TANDEM, cut_records, member, replay
from waiting import limit_s, pass_time

LAPS = ("real_lap_s", "virtual_lap_s")
SECONDS = float(os.environ.get("REPLAY_TEST_SECONDS", "20"))
PAIRS = "p1: {timeout_s: 4, probe_interval_s: 2}\n  p2: {mode: link, timeout_s: 4}"


def start_robots(rig):
    common = ("--telemetry-rate", "20", "--linear-speed", "2", "--angular-speed", "6")
    rig.start("robot", "--pair", "p1", "--side", "real", "--delay", "0.01", "--jitter", "0.01", "--loss",
              "0.05", "--duplicate", "0.05", "--clock-offset", "0.8", "--clock-drift", "40", *common)
    rig.start("robot", "--pair", "p1", "--side", "virtual", "--seed", "7", "--noise", "0.02", *common)
    rig.start("robot", "--pair", "p2", "--side", "real", "--mode", "link", "--noise", "0.05", *common)
    rig.start("robot", "--pair", "p2", "--side", "virtual", "--mode", "link", *common)
    rig.wait_online("p1", "p2")


def drive(rig):
    drivers = [rig.start("drive", "--pair", "p1", "--interval", "0.05", "--timeout", "4.5", "--for", SECONDS),
               rig.start("drive", "--pair", "p2", "--mode", "link", "--interval", "0", "--timeout", "4.5",
                         "--for", SECONDS)]
    pass_time(SECONDS / 3)
    rig.publish("tandem/v1/p1/command", "this is no command")
    rig.publish("tandem/v1/p1/real/reply", {"id": "nobody", "status": "done"})
    rig.publish("tandem/v1/nobody/command", {"op": "go"})
    for driver in drivers:
        assert driver.wait(SECONDS + 30) == 0


def settled(rig):
    return all(pair["outstanding"] == 0 for pair in rig.get("/api/v1/pairs")["pairs"])


def compare(rig, document, live):
    for pair in ("p1", "p2"):
        results = member(member(document, "pairs"), pair)
        for table in ("entries", "alarms"):
            want, got = live[pair][table], cut_records(results, table)
            assert got == want, f"{pair} {table}: {len(got)} replayed, {len(want)} served"
        assert member(results, "travel_time") == live[pair]["travel_time"], pair
        print(f"{pair}: {len(live[pair]['entries'])} entries, {len(live[pair]['alarms'])} alarms and both "
              f"fits are the same bytes: {member(results, 'counts')}")


def compare_recording(document, live):
    """mosquitto_sub stamped the messages with the same times: computing takes no virtual time."""
    for pair in ("p1", "p2"):
        got = [json.loads(text) for text in cut_records(member(member(document, "pairs"), pair), "entries")]
        want = [json.loads(text) for text in live[pair]["entries"]]
        assert [e["id"] for e in got] == [e["id"] for e in want], pair
        for g, w in zip(got, want):
            assert g["verdict"] == w["verdict"], (g, w)
            assert all((g[lap] is None) == (w[lap] is None) and abs((g[lap] or 0) - (w[lap] or 0)) < 0.002 for lap in LAPS), (g, w)
        print(f"{pair}: recorded by mosquitto_sub: the same {len(got)} entries")


def read_live(rig):
    live = {}
    for pair in ("p1", "p2"):
        live[pair] = {"entries": rig.records(pair, "entries"), "alarms": rig.records(pair, "alarms"),
                      "travel_time": rig.fetch(f"/api/v1/pairs/{pair}/travel-time").strip()}
        assert len(live[pair]["entries"]) > 10, live[pair]["entries"]
    return live


def read_back():
    """Lines without an event, each before a start from which on numbers are higher (golden.replay.no_event)."""
    case = SOURCE / "tests/golden/replay/no_event"
    with Rig("r1: {timeout_s: 5}\n  r2: {timeout_s: 5}\n  r3: {timeout_s: 5}\n  r4: {timeout_s: 5}") as rig:
        (rig.folder / "journal").mkdir()
        shutil.copy(case / "input.jsonl", rig.folder / "journal/journal-20261120T050000.000000Z.jsonl")
        rig.start_daemon()
        want = json.loads((case / "expected.json").read_text())["pairs"]
        for pair, results in want.items():
            got = [json.loads(text)["n"] for text in rig.records(pair, "entries")]
            assert got == [entry["n"] for entry in results["entries"]], (pair, got)
    print("read back: the same numbers")


def main():
    read_back()
    with Rig(PAIRS) as rig:
        recording = rig.folder / "recorded.jsonl"
        recorder = rig.run(["mosquitto_sub", "-p", rig.broker_port, "-q", "1", "-t", "tandem/v1/#", "-F", "%J"],
                           stdout=open(recording, "w"), stderr=subprocess.DEVNULL)
        rig.start_daemon()
        start_robots(rig)
        drive(rig)
        rig.wait(lambda: settled(rig), "no command is open", 15)
        rig.wait_stored("p1", "p2")
        live = read_live(rig)
        rig.stop_daemon()
        recorder.send_signal(signal.SIGTERM)
        recorder.wait(limit_s(5))
        journal = rig.folder / "journal"
        document = replay(rig.lab, journal)
        compare(rig, document, live)
        assert replay(rig.lab, journal) == document, "two replays differ"
        compare_recording(replay(rig.lab, recording), live)


main()
