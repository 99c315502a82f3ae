"""The daemon distinguishes repeated messages from merely equal ones, with a real broker: messages and
acknowledgements are lost with a cut connection, the daemon is killed meanwhile, and a killed broker delivers again
what it saved half a minute earlier. See delivery.sh.
"""
import json
import os
import signal
import subprocess
import time

from network import Network
from rig import Rig
from waiting import pass_time

GO = {"op": "go", "rotation_rad": 1, "displacement_m": 0.5}
DONE = {"status": "done"}


class Cut(Rig):
    """A lab whose daemon reaches the broker through a network that can fail."""

    def __init__(self, pairs):
        # The broker restarts with the state that this test made it save.
        super().__init__(pairs=pairs, extra="defaults: {timeout_s: 3}", broker="autosave_interval 3600\n")
        self.network = Network(self.broker_port)
        text = self.lab.read_text()
        self.lab.write_text(text.replace(f"broker: {{port: {self.broker_port}}}", f"broker: {{port: {self.network.port}}}"))
        (self.folder / "daemon.log").touch()

    def restore_link(self):
        """Cuts all connections; new ones work again."""
        self.network.cut()
        self.network.swallow = frozenset()

    def round(self, pair, command=GO, reply=DONE):
        """Publishes one command and both replies."""
        self.publish(f"tandem/v1/{pair}/command", command)
        self.publish(f"tandem/v1/{pair}/real/reply", reply)
        self.publish(f"tandem/v1/{pair}/virtual/reply", reply)

    def entries(self, pair):
        return [json.loads(text) for text in self.records(pair, "entries")]

    def alarms(self, pair):
        return [json.loads(text)["code"] for text in self.records(pair, "alarms")]

    def wait_entries(self, pair, count):
        self.wait(lambda: len(self.entries(pair)) >= count,
                  f"{count} entries of {pair}, there are {len(self.entries(pair))}", 15)
        pass_time(0.3)  # no more arrive
        return self.entries(pair)

    def kill_daemon(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def kill_broker(self):
        self.broker.send_signal(signal.SIGKILL)
        self.broker.wait()

    def save_broker(self):
        database = self.folder / "mosquitto.db"
        before = database.stat().st_mtime_ns if database.exists() else 0
        self.broker.send_signal(signal.SIGUSR1)
        self.wait(lambda: database.exists() and database.stat().st_mtime_ns != before, "the broker saves")
        pass_time(0.2)


def check_sure(lab, pair, count):
    """There is this number of entries, all answered, none uncertain, no anomaly."""
    entries = lab.wait_entries(pair, count)
    assert len(entries) == count, f"{pair}: {len(entries)} entries instead of {count}"
    assert all("ambiguous" not in e and e["verdict"] != "TIMEOUT" for e in entries), entries
    assert lab.alarms(pair) == [], lab.alarms(pair)


def lose_messages(lab):
    """Equal messages that are lost with the connection are not repetitions of earlier ones."""
    for _ in range(3):
        lab.round("r1")
        pass_time(0.25)
    check_sure(lab, "r1", 3)
    lab.network.swallow = {"down"}
    for _ in range(9):
        lab.round("r1")
    lab.restore_link()
    check_sure(lab, "r1", 12)


def lose_acknowledgements(lab):
    """A message that was received but not acknowledged comes again; it is not a second command."""
    before = lab.get("/api/v1/status")["redelivered"]
    lab.network.swallow = {"up"}
    for _ in range(4):
        lab.round("r1")
    lab.wait_entries("r1", 16)
    lab.restore_link()
    lab.wait(lambda: lab.get("/api/v1/status")["redelivered"] >= before + 12, "12 messages delivered again")
    check_sure(lab, "r1", 16)


def kill_the_daemon(lab):
    """The same with a daemon that knows the messages from its journal only, and with messages that it never
    received.
    """
    for _ in range(3):
        lab.network.swallow = {"up"}
        count = len(lab.entries("r1"))
        lab.round("r1")
        lab.round("r1")
        lab.wait_entries("r1", count + 2)
        lab.network.swallow = {"up", "down"}
        lab.round("r1")
        lab.kill_daemon()
        lab.round("r1")
        lab.restore_link()
        lab.start_daemon()
        check_sure(lab, "r1", count + 4)


def moves(lab, pair):
    """The real robot's estimate; travel times are learnt from it."""
    return lab.get(f"/api/v1/pairs/{pair}/travel-time")["real"]["n"]


def lose_a_reply(lab):
    """A reply that never comes shifts later replies without ids: the calibration uses none of them."""
    def command(n):
        lab.publish("tandem/v1/r2/command", GO | {"id": f"c{n}"})

    def answer(n):
        pass_time(0.05)  # the calibration uses no move that takes no time
        lab.publish("tandem/v1/r2/virtual/reply", DONE | {"id": f"c{n}"})
        lab.publish("tandem/v1/r2/real/reply", DONE)

    command(0)
    answer(0)
    lab.wait_entries("r2", 1)
    lab.restore_link()
    lab.wait(lambda: lab.get("/readyz")["ready"], "the daemon is back")
    command(1)
    lab.publish("tandem/v1/r2/virtual/reply", DONE | {"id": "c1"})  # the real robot's reply is lost
    pass_time(0.2)
    for n in range(2, 8):
        command(n)
        answer(n)
        pass_time(0.5)
    entries = lab.wait_entries("r2", 8)
    shifted = [e for e in entries if e["id"] in {f"c{n}" for n in range(1, 7)}]
    assert all(e.get("ambiguous") == "real" and e["verdict"] == "UNRESOLVED" for e in shifted), entries
    assert "reply_order_ambiguous" in lab.alarms("r2"), lab.alarms("r2")
    assert moves(lab, "r2") == 0, moves(lab, "r2")  # nor on the first one, which came with the daemon
    # Once everything has arrived, the pairing is certain again.
    pass_time(3)
    count = len(lab.entries("r2"))
    for n in range(8, 11):
        command(n)
        answer(n)
        pass_time(0.3)
    entries = lab.wait_entries("r2", count + 3)[-3:]
    assert all("ambiguous" not in e for e in entries), entries
    assert moves(lab, "r2") == 3, moves(lab, "r2")


def restore_the_broker(lab):
    """The broker is killed half a minute after it saved the messages that waited for the daemon, and delivers them
    again, without DUP. In link mode no robot moves again, and L1 gets the earlier result. In observe mode ids, or
    else packet ids, identify the repetitions.
    """
    received = lab.folder / "heard"
    with open(received, "w") as out:
        lab.run(["mosquitto_sub", "-p", lab.broker_port, "-c", "-i", "watch", "-q", "1", "-v", "-t", "tandem/v1/link/real/command",
                 "-t", "tandem/v1/link/virtual/command", "-t", "tandem/v1/link/reply"], stdout=out, stderr=subprocess.DEVNULL)
    lab.stop_daemon()
    lab.publish("tandem/v1/link/command", GO | {"id": "m1"})
    lab.publish("tandem/v1/r3/command", GO | {"id": "o1"})
    for side in ("real", "virtual"):
        lab.publish(f"tandem/v1/r3/{side}/reply", DONE | {"id": "o1"})
    lab.publish("tandem/v1/r4/command", GO)
    lab.save_broker()
    lab.start_daemon()
    lab.wait(lambda: received.read_text().count("/command") == 2, "both robots get the command")
    for side in ("real", "virtual"):
        lab.publish(f"tandem/v1/link/{side}/reply", DONE | {"id": "m1"})
        lab.publish(f"tandem/v1/r4/{side}/reply", DONE)
    assert len(lab.wait_entries("link", 1)) == 1
    assert len(lab.wait_entries("r3", 1)) == 1
    assert len(lab.wait_entries("r4", 1)) == 1
    lab.wait(lambda: "/reply" in received.read_text(), "L1 is answered")
    pass_time(float(os.environ.get("TANDEM_RESTORED_AFTER_S", "31")))
    lab.kill_broker()
    lab.start_broker()
    lab.wait(lambda: received.read_text().count("sent again") == 1, "L1 gets the earlier result", 20)
    pass_time(1)
    lines = received.read_text().splitlines()
    assert sum("/command" in line for line in lines) == 2, lines
    marked = json.loads([line for line in lines if "sent again" in line][0].split(" ", 1)[1])
    assert (marked["id"], marked["status"], marked["from"]) == ("m1", "done", "real"), marked
    assert len(lab.entries("link")) == 1 and len(lab.entries("r3")) == 1, lab.entries("r3")
    assert lab.alarms("r3") == [], lab.alarms("r3")
    entries = lab.wait_entries("r4", 2)  # nothing identifies the repetition: the entry says so
    assert len(entries) == 2 and entries[1]["ambiguous"] == "command" and entries[1]["verdict"] == "TIMEOUT", entries
    assert "command_ambiguous" in lab.alarms("r4"), lab.alarms("r4")


def main():
    with Cut("r1: {}\n  r2: {}\n  r3: {}\n  r4: {}\n  link: {mode: link, real_expected: always, virtual_expected: always}") as lab:
        lab.start_daemon()
        for check in (lose_messages, lose_acknowledgements, kill_the_daemon, lose_a_reply, restore_the_broker):
            started = time.monotonic()
            try:
                check(lab)
            except BaseException:
                print((lab.folder / "daemon.log").read_text())
                raise
            print(f"{check.__name__}: {time.monotonic() - started:.1f} s")
        lab.stop_daemon()
        before = {pair: lab_entries(lab, pair) for pair in ("r1", "r2", "r3", "r4", "link")}
        document = json.loads(subprocess.run([os.environ["TANDEM"], "replay", "-c", str(lab.lab), "--json", f"{lab.folder}/journal"],
                                             check=True, stdout=subprocess.PIPE).stdout)
        for pair, entries in before.items():
            assert document["pairs"][pair]["entries"] == entries, f"{pair}: the replay differs"


def lab_entries(lab, pair):
    """Read from the store."""
    import sqlite3
    with sqlite3.connect(f"file:{lab.folder}/store.db?mode=ro", uri=True) as db:
        return [json.loads(row[0]) for row in db.execute("SELECT json FROM entries WHERE pair = ? ORDER BY n", [pair])]


if __name__ == "__main__":
    main()
