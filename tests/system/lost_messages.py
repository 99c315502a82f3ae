"""Lost commands are detected by gaps in the commands' seq, by robots that count more than was received, and by a
broker that has forgotten its session or let messages expire. Messages that are too large; two daemons with one
client id.
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, "tests/support")
from rig import TANDEM, Rig  # noqa: E402
from waiting import limit_s  # noqa: E402


def lines(*rows):
    text = ""
    for n, (topic, payload) in enumerate(rows):
        text += json.dumps({"tst": f"2026-11-20T05:{n // 60:02}:{n % 60:02}Z", "topic": "tandem/v1/" + topic, "qos": 1, "retain": 0,
                            "payload": payload}) + "\n"
    return text


def replay(rig, *rows):
    done = subprocess.run([TANDEM, "replay", "-c", rig.lab, "--json", "-"], input=lines(*rows), capture_output=True, text=True, check=True)
    pair = json.loads(done.stdout)["pairs"]["r1"]
    found = [(a["side"], a["id"], a["code"], sorted(map(int, re.findall(r"\d+", a["detail"])))) for a in pair["alarms"]
             if a["type"] == "lost"]
    assert pair["alarm_counts"]["lost"] == len(found), pair["alarm_counts"]
    return found


def move(n, seq=None, real=None, virtual=None, **more):
    command = {"id": f"c{n}", "op": "go", "displacement_m": 1, **more} | ({} if seq is None else {"seq": seq})
    rows = [("r1/command", command)]
    for side, count in (("real", real), ("virtual", virtual)):
        rows.append((f"r1/{side}/reply", {"id": f"c{n}", "status": "done"} | ({} if count is None else {"commands": count})))
    return rows


def gaps_in_seq(rig):
    found = replay(rig, *move(1, 7), *move(2, 8), *move(3, 12), *move(4, 13))
    assert found == [(None, "c3", "command_seq_gap", [3, 8, 12])], found
    # After a restart, or without any count, nothing is known, and nothing is reported.
    for seqs in ((7, 8, 0, 1), (7, 8, None, 9), (None, 5), ("a", "z"), (1.5, {"n": 4}), (-5, 7), (7, 7, 8), (1e300, 5)):
        found = replay(rig, *(row for n, seq in enumerate(seqs) for row in move(n, seq)))
        assert not found, (seqs, found)
    assert replay(rig, *(row for n, seq in enumerate((3, None, 5)) for row in move(n, seq)))[0][1] == "c2"
    # A message that could not be parsed is not missing, whatever its count; others that are missing are reported.
    for wrong in ("no JSON", {"op": 1, "seq": 8}, {"seq": 8, "op": "go", "rotation": 1}):
        assert not replay(rig, *move(1, 7), ("r1/command", wrong), *move(2, 9), *move(3, 10)), wrong
        found = replay(rig, *move(1, 7), ("r1/command", wrong), *move(2, 10), ("r1/real/reply", wrong), *move(3, 12))
        assert [(id, code) for _, id, code, _ in found] == [("c2", "command_seq_gap"), ("c3", "command_seq_gap")], found
        assert all(1 in numbers for *_, numbers in found), found


def robots_count(rig):
    found = replay(rig, *move(1, None, 41, 1), *move(2, None, 42, 2), *move(3, None, 45, 3), *move(4, None, 46, 4))
    assert found == [("real", "c3", "command_count_gap", [2])], found
    # A command that could not be parsed may or may not count at robots; the reply before it may come after it.
    wrong = ("r1/command", "no JSON")
    two = [move(1, None, 41, 1), move(2, None, 43, 2)]
    assert not replay(rig, *two[0], wrong, *two[1], *move(3, None, 44, 3))
    assert not replay(rig, two[0][0], wrong, *two[0][1:], *two[1], *move(3, None, 44, 3))
    assert [id for _, id, *_ in replay(rig, *two[0], wrong, *two[1], *move(3, None, 45, 3))] == ["c3"]
    # Restarted robots; commands lost on the way to the robot; a count that not every reply has; replies out of order.
    boot = [("r1/real/connection", {"state": "online", "boot": "b1"})], [("r1/real/connection", {"state": "online", "boot": "b2"})]
    assert not replay(rig, *boot[0], *move(1, None, 5), *boot[1], *move(2, None, 40))
    assert not replay(rig, *move(1, None, 5), *move(2, None, None), *move(3, None, 6), *move(4, None, 7))
    assert len(replay(rig, *move(1, None, 5), *move(2, None, 5), *move(3, None, 7))) == 1
    # Observed robots receive commands that are not followed: one above the limit, and one under an id that is open.
    for last in ({"id": "c17"}, {"id": "c3"}):
        many = [move(n, None, n, n) for n in range(1, 18)]
        many[16][0] = ("r1/command", {"op": "go", "displacement_m": 1, **last})
        rows = [rows[0] for rows in many] + [row for rows in many[:16] for row in rows[1:]] + move(18, None, 18, 18)
        assert not replay(rig, *rows), last
    two = [row for n in (1, 2) for row in move(n, None, n, n)]
    assert not replay(rig, two[0], two[3], two[5], two[2], two[1], two[4])


def sessions(rig):
    """Only a session that the broker should have kept is lost, and only if it had messages."""
    def session(**more):
        return ("$lab/session", {"away_s": 0, **more})
    assert not replay(rig, session(resumed=False, persistent=True), *move(1), session(resumed=True, persistent=True), *move(2))
    assert not replay(rig, *move(1), session(resumed=False, persistent=False), session(resumed=False), *move(2))
    assert len(replay(rig, session(resumed=False, persistent=True), *move(1), session(resumed=False, persistent=True), *move(2))) == 1
    assert len(replay(rig, *move(1), session(resumed=False, persistent=True))) == 1, "the journal's beginning is gone"


def forgetful_broker():
    """The broker is killed before its first save, while the daemon is connected and while it is away."""
    with Rig() as rig:
        rig.start_daemon()
        for side in ("real", "virtual"):
            rig.start("robot", "--side", side, "--linear-speed", 20)
        rig.wait_online("r1")
        rig.publish("tandem/v1/r1/command", {"id": "a", "op": "go", "displacement_m": 0.1})
        rig.wait(lambda: rig.get("/api/v1/pairs/r1")["entries"] == 1, "an entry")
        assert rig.get("/api/v1/pairs/r1")["alarm_counts"]["lost"] == 0

        def lose(count):
            rig.broker.kill()
            rig.broker.wait(limit_s(10))
            (rig.folder / "mosquitto.db").unlink(missing_ok=True)
            rig.start_broker()
            if count is not None:
                rig.wait(lambda: rig.get("/api/v1/pairs/r1")["alarm_counts"]["lost"] == count, "it is reported", 30)

        lose(1)
        rig.wait(lambda: rig.get("/api/v1/pairs/r1/alarms")["alarms"], "the alarm is stored")
        alarm = rig.get("/api/v1/pairs/r1/alarms")["alarms"][0]
        assert alarm["code"] == "session_lost", alarm
        rig.wait(lambda: "connection 2, a new session" in rig.daemon_log.read_text(), "the log reports it too")
        rig.stop_daemon()
        lose(None)
        rig.start_daemon()
        rig.wait(lambda: rig.get("/api/v1/pairs/r1")["alarm_counts"]["lost"] == 2, "it is reported after a start", 30)
        # An orderly restart loses nothing, and nothing is reported.
        before = rig.get("/api/v1/status")["broker"]["connections"] if "broker" in rig.get("/api/v1/status") else None
        rig.broker.terminate()
        rig.broker.wait(limit_s(10))
        rig.start_broker()
        rig.wait(lambda: not before or rig.get("/api/v1/status")["broker"]["connections"] > before, "connected again")
        rig.wait_online("r1")
        assert rig.get("/api/v1/pairs/r1")["alarm_counts"]["lost"] == 2
        rig.stop_daemon()
        done = subprocess.run([TANDEM, "replay", "-c", rig.lab, "--json", rig.folder / "journal"], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["pairs"]["r1"]["alarm_counts"]["lost"] == 2, "replay equals live"


def publish5(rig, n, *more, topic="tandem/v1/r1/command"):
    command = json.dumps({"id": f"c{n}", "seq": n, "op": "go", "displacement_m": 1})
    subprocess.run(["mosquitto_pub", "-p", str(rig.broker_port), "-V", "5", "-q", "1", "-t", topic, "-m", command, *more],
                   check=True)


def expired():
    """A command that expires at the broker while the daemon is away is noticed when the next one comes."""
    with Rig() as rig:
        rig.start_daemon()
        publish5(rig, 1)
        rig.wait(lambda: rig.get("/api/v1/pairs/r1")["outstanding"] == 1, "the first command is there")
        rig.stop_daemon()
        publish5(rig, 2, "-D", "publish", "message-expiry-interval", "1")
        publish5(rig, 3, "-D", "publish", "message-expiry-interval", "1000")
        gone = time.monotonic() + 2.5  # the broker counts whole seconds
        rig.wait(lambda: time.monotonic() > gone, "the second command is too old")
        rig.start_daemon()
        rig.wait(lambda: rig.get("/api/v1/pairs/r1")["alarm_counts"]["lost"] == 1, "the gap is reported", 30)
        rig.wait(lambda: rig.get("/api/v1/pairs/r1/alarms?type=lost")["alarms"], "the alarm is stored")
        alarm = rig.get("/api/v1/pairs/r1/alarms?type=lost")["alarms"][0]
        assert (alarm["code"], alarm["id"]) == ("command_seq_gap", "c3"), alarm
        rig.stop_daemon()


def metric(rig, name):
    return int(float(re.search(rf"^{name} (\S+)", rig.fetch("/metrics"), re.M)[1]))


def peak_mb(rig):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{rig.daemon.pid}/status").read_text())[1]) // 1024


def large(protocol):
    """A message above the size limit costs no memory, and one with many properties is counted. With MQTT 5 Tandem
    refuses it, with 3.1.1 the broker's settings do.
    """
    with Rig(broker="\nmessage_size_limit 0\n" if protocol == "5" else "") as rig:
        rig.lab.write_text(rig.lab.read_text().replace("broker: {", f"broker: {{protocol: \"{protocol}\", "))
        rig.start_daemon()
        before, file = peak_mb(rig), rig.folder / "large"
        for size in (100_000, 50_000_000):
            file.write_bytes(b"x" * size)
            # mosquitto_pub fails if the broker refuses the message.
            subprocess.run(["mosquitto_pub", "-p", str(rig.broker_port), "-q", "1", "-t", "tandem/v1/r1/command", "-f", file],
                           stderr=subprocess.DEVNULL)
        publish5(rig, 1, *(word for n in range(300) for word in ("-D", "publish", "user-property", f"k{n}", "v")))
        rig.wait(lambda: rig.get("/api/v1/pairs/r1")["outstanding"] == 1, "the last command is there")
        assert metric(rig, "tandem_broker_oversized_total") == 1
        assert metric(rig, "tandem_broker_crowded_total") == (1 if protocol == "5" else 0)
        assert peak_mb(rig) < before + 20, f"{peak_mb(rig)} MB, {before} before"
        rig.stop_daemon()


def rivals(protocol):
    with Rig(extra="") as rig:
        rig.lab.write_text(rig.lab.read_text().replace("broker: {", f"broker: {{protocol: \"{protocol}\", client_id: lab-one, "))
        rig.start_daemon()
        other = rig.folder / "other"
        other.mkdir()
        lab = rig.folder / "other.yaml"
        text = rig.lab.read_text().replace(f"{rig.folder}/", f"{other}/").replace(f"port: {rig.http_port}", "port: 0")
        lab.write_text(text.replace(f"token_file: {other}/token", f"token_file: {rig.folder}/token"))
        log = open(other / "log", "w")
        rival = rig.run([TANDEM, "serve", "-c", lab], stdout=subprocess.DEVNULL, stderr=log)
        words = "another program has the client id 'lab-one': each needs its own"
        rig.wait(lambda: words in rig.daemon_log.read_text() and words in (other / "log").read_text(), "each reports its view", 40)
        rival.send_signal(signal.SIGTERM)
        rival.wait(limit_s(20))
        rig.wait(rig.ready, "alone again", 20)
        rig.stop_daemon()


def twins(protocol):
    """A robot twice: both say so. Under another prefix there is no conflict."""
    with Rig() as rig:
        logs = [open(rig.folder / f"robot{n}", "w+") for n in range(3)]
        start = [TANDEM, "robot", "--port", rig.broker_port, "--protocol", protocol, "--pair", "r1"]
        rig.run([*start, "--prefix", "another/lab"], stdout=subprocess.DEVNULL, stderr=logs[2])
        robots = [rig.run(start, stdout=subprocess.DEVNULL, stderr=log) for log in logs[:2]]
        words = "another program has the client id 'tandem.v1.robot-r1-real': each needs its own"
        rig.wait(lambda: all(words in (rig.folder / f"robot{n}").read_text() for n in range(2)), "each reports it", 40)
        assert not (rig.folder / "robot2").read_text(), (rig.folder / "robot2").read_text()
        robots[1].send_signal(signal.SIGTERM)
        robots[1].wait(limit_s(20))
        assert (rig.folder / "robot0").read_text().count(words) == 1


def main():
    with Rig() as rig:
        gaps_in_seq(rig)
        robots_count(rig)
        sessions(rig)
    forgetful_broker()
    expired()
    for protocol in ("5", "3.1.1"):
        large(protocol)
        rivals(protocol)
        twins(protocol)
    print("lost messages: fine")


if __name__ == "__main__":
    main()
