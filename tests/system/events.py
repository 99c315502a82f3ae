"""GET /api/v1/events over a daemon that is killed: every listener receives every entry once, even after an
absence.
"""
import json
import signal
import threading
import time
import urllib.request

from rig import Rig
from waiting import limit_s


class Listener(threading.Thread):
    """Reads a stream until it ends; events as (id, type, data)."""

    def __init__(self, rig, query="", last_id=None):
        super().__init__(daemon=True)
        headers = {"Last-Event-ID": last_id} if last_id else {}
        request = urllib.request.Request(f"http://127.0.0.1:{rig.http_port}/api/v1/events{query}", headers=headers)
        self.answer = urllib.request.urlopen(request, timeout=limit_s(60))
        self.events = []
        self.last_id = last_id
        self.start()

    def run(self):
        event = {}
        try:
            for line in self.answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "id":
                    self.last_id = value
                if name:
                    event[name] = value
                elif event:
                    if "data" in event:
                        self.events.append((event["id"], event["event"], json.loads(event["data"])))
                    event = {}
        except (OSError, ValueError, AttributeError):
            pass  # the daemon was killed

    def of(self, kind):
        return [data for _, name, data in list(self.events) if name == kind]


def move(rig, pair, n):
    """Publishes a command and both replies."""
    command = {"id": f"{pair}-{n}", "op": "go", "displacement_m": 0.1}
    rig.publish(f"tandem/v1/{pair}/command", command)
    for side in ("real", "virtual"):
        rig.publish(f"tandem/v1/{pair}/{side}/reply", {"id": f"{pair}-{n}", "status": "done"})


def ids(entries):
    return [entry["id"] for entry in entries]


with Rig(pairs="r1: {}\n  r2: {}") as rig:
    rig.start_daemon()
    everything, second = Listener(rig), Listener(rig, "?pair=r2&type=entry")
    for n in range(3):
        move(rig, "r1", n)
        move(rig, "r2", n)
    rig.wait(lambda: len(everything.of("entry")) == 6, "six entries")
    rig.wait(lambda: len(second.events) == 3, "three entries of r2")
    assert ids(second.of("entry")) == ["r2-0", "r2-1", "r2-2"], second.events
    assert {e["pair"] for e in everything.of("entry")} == {"r1", "r2"}
    rig.wait(lambda: everything.of("machines"), "the smart logger has moved")
    rig.wait_stored("r1")
    rig.wait_stored("r1")
    served = rig.records("r1", "entries")
    received = [e for e in everything.of("entry") if e["pair"] == "r1"]
    assert [json.loads(text) for text in served] == received, (served, received)

    # The daemon is killed while nothing is in transit, and directly after a move.
    move(rig, "r1", 3)
    rig.wait(lambda: len(everything.of("entry")) == 7, "the seventh")
    rig.daemon.send_signal(signal.SIGKILL)
    rig.daemon.wait(limit_s(10))
    everything.join(limit_s(10))
    rig.start_daemon()
    again = Listener(rig, last_id=everything.last_id)
    late = Listener(rig, "?pair=r2&type=entry", last_id=second.last_id)
    move(rig, "r2", 3)
    move(rig, "r1", 4)
    rig.wait(lambda: "r1-4" in ids(again.of("entry")), "entries after the restart")
    rig.wait(lambda: "r2-3" in ids(late.of("entry")), "entries of r2 after the restart")
    assert ids(again.of("entry")) == ["r2-3", "r1-4"], again.events
    assert ids(late.of("entry")) == ["r2-3"], late.events
    assert not again.of("missed") and not late.of("missed")

    # A listener that was away all the time.
    first = [i for i, name, _ in everything.events if name == "entry"][0]
    away = Listener(rig, "?type=entry", last_id=first)
    rig.wait(lambda: len(away.events) == 8, "the entries that it has not received")
    assert ids(away.of("entry")) == ["r2-0", "r1-1", "r2-1", "r1-2", "r2-2", "r1-3", "r2-3", "r1-4"], away.events
    assert len({i for i, _, _ in away.events}) == 8

    # An orderly stop ends the streams at once.
    began = time.monotonic()
    rig.stop_daemon()
    assert time.monotonic() - began < limit_s(10)
    for listener in (again, late, away):
        listener.join(limit_s(10))
        assert not listener.is_alive()
print("events: received once each, over a kill and a stop")
