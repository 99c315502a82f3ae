"""The shipped mission with robots whose motors are 3 % off: with `correct: each_move` both robots begin each move
with the same heading, to the end; without it they do not. Each entry has a timing verdict and its correction, the
simulator acknowledges each one, and a replay gives the same. A simulator that does not acknowledge is reported
once.
"""
import json
import math
import subprocess
import sys

sys.path.insert(0, "tests/support")
from message_schemas import check_messages, load  # noqa: E402
from rig import SOURCE, TANDEM, Rig, replay  # noqa: E402
from waiting import limit_s  # noqa: E402

MISSIONS = SOURCE / "config/missions"
NEAR_DEG = 1.0
TIMING = ("AHEAD", "BEHIND", "SYNC", "UNRESOLVED")
PACE = 3
POSE = ("x_m", "y_m", "psi_rad")


def listen(rig):
    """Records messages from now on, in the order of the broker. Returns a function that gives the (topic below the
    pair, payload)s of a pair.
    """
    received = rig.folder / "heard"
    rig.run(["mosquitto_sub", "-p", rig.broker_port, "-q", "1", "-R", "-t", "tandem/v1/+/+/#", "-F", "%t %p"],
            stdout=open(received, "w"))

    def messages(pair):
        lines = (line.split(" ", 1) for line in received.read_text().split("\n")[:-1])
        return [(topic.split("/", 3)[3], json.loads(payload)) for topic, payload in lines
                if topic.startswith(f"tandem/v1/{pair}/") and payload]
    rig.wait(lambda: rig.publish("tandem/v1/probe/is/there", {}) or messages("probe"), "a listener")
    return messages


def degrees(a, b):
    return abs(math.degrees(math.remainder(a - b, 2 * math.pi)))


def starts(messages):
    """How far apart the headings are when the virtual robot gets its next command, and at the end; degrees. The
    real robot's heading is the one that it reported before the command: in link mode it may already turn.
    """
    apart, real, virtual = [], {}, None
    for topic, m in messages:
        if topic == "real/reply" and "psi_rad" in m.get("values", {}):
            real[m["id"]] = m["values"]["psi_rad"]
        elif topic == "virtual/reply" and "psi_rad" in m.get("values", {}):
            virtual = (m["id"], m["values"]["psi_rad"])
        elif topic == "virtual/pose":
            virtual = (m["id"], m["psi_rad"])
        elif topic == "virtual/command" and virtual and virtual[0] in real:
            apart.append(degrees(real[virtual[0]], virtual[1]))
    return apart + [degrees(real[virtual[0]], virtual[1])]


def fly(rig, received, pair):
    """Runs the mission and returns its results."""
    robots = rig.start("robot", "--kind", "diffdrive", "--pair", pair, "--side", "both", "--mode", "link", "--seed", 3,
                       "--pace", PACE, "--telemetry-rate", 20, "--map", MISSIONS / "room.yaml",
                       "--gain-mismatch", "0.03")
    rig.wait_online(pair)
    done = subprocess.run([TANDEM, "mission", "-c", rig.lab, "--pair", pair, "--json", MISSIONS / "goal.yaml"],
                          capture_output=True, text=True, timeout=limit_s(180))
    assert done.returncode == 0 and json.loads(done.stdout)["verdict"] == "done", (done.stdout[-2000:], done.stderr)
    rig.wait(lambda: rig.get(f"/api/v1/pairs/{pair}")["outstanding"] == 0, "all is closed")
    rig.wait_stored(pair)
    # Adds one more sample of each robot at rest: their true headings, not predicted ones.
    count = len(received(pair))
    rig.wait(lambda: {"real/telemetry", "virtual/telemetry"} <= {t for t, _ in received(pair)[count + 40:]}, "at rest")
    messages = received(pair)
    robots.terminate()
    entries = [json.loads(text) for text in rig.records(pair, "entries")]
    assert len(entries) >= 15 and {e["verdict"] for e in entries} <= set(TIMING), entries
    assert all(e["consistent"] is not None for e in entries), entries
    return entries, messages


def rest(messages, side):
    return [m["pose"] for topic, m in messages if topic == f"{side}/telemetry"][-1]


def check_corrected(rig, pair, entries, messages):
    moves = [e for e in entries if e["op"] in ("go", "halt")]
    sent = [m for topic, m in messages if topic == "virtual/pose"]
    assert len(moves) >= 8 and [e.get("correction") for e in moves] == [m["correction"] for m in sent], (moves, sent)
    assert [e["id"] for e in moves] == [m["id"] for m in sent]
    assert all("correction" not in e for e in entries if e not in moves)
    answers = [m for topic, m in messages if topic == "virtual/pose/ack"]
    assert answers == [{"correction": m["correction"], "applied": list(POSE), "refused": []} for m in sent], answers
    correction = rig.get(f"/api/v1/pairs/{pair}")["correction"]
    assert correction == {"after": "each_move", "sent": len(sent), "applied": len(sent), "refused": 0, "unanswered": 0}, correction
    open_at = set()
    for topic, m in messages:  # the simulator never answers while it is working
        open_at |= {m["id"]} if topic == "virtual/command" else set()
        open_at -= {m["id"]} if topic == "virtual/reply" else set()
        assert topic != "virtual/pose" or not open_at, (m, open_at)
    apart = starts(messages)
    assert max(apart) < NEAR_DEG, apart
    real, virtual = rest(messages, "real"), rest(messages, "virtual")
    assert degrees(real[2], virtual[2]) < NEAR_DEG and math.dist(real[:2], virtual[:2]) < 0.02, (real, virtual)
    return apart


def silent_simulator(rig):
    """A robot that answers commands but does not report poses."""
    for n in range(3):
        rig.publish("tandem/v1/silent/command", {"id": f"s{n}", "op": "go", "displacement_m": 1})
        for side, x_m in (("real", 1.0), ("virtual", 1.5)):
            rig.publish(f"tandem/v1/silent/{side}/reply", {"id": f"s{n}", "status": "done",
                                                           "values": {"x_m": x_m, "y_m": 0, "psi_rad": 0}})
        rig.wait(lambda: rig.get("/api/v1/pairs/silent")["correction"]["unanswered"] == n + 1, "no robot answers", 30)
    alarms = [json.loads(text) for text in rig.records("silent", "alarms")]
    correction = [(alarm["code"], alarm["id"]) for alarm in alarms if alarm["type"] == "correction"]
    assert correction == [("pose_unanswered", "s0")], alarms
    assert rig.get("/api/v1/pairs/silent")["correction"]["sent"] == 3
    rig.publish("tandem/v1/silent/virtual/pose/ack", {"correction": "three"})
    rig.wait(lambda: rig.get("/api/v1/pairs/silent")["alarm_counts"]["malformed"] == 1, "a number was expected")


def main():
    pairs = "free: {mode: link, missions_max: 1}\n  each: {mode: link, missions_max: 1, correct: each_move}\n" \
            "  silent: {correct: after_inconsistency, timeout_s: 3}"
    with Rig(pairs=pairs) as rig:
        rig.start_daemon()
        received = listen(rig)
        entries, messages = fly(rig, received, "free")
        free = starts(messages)
        assert all("correction" not in e for e in entries)
        assert not [topic for topic, _ in messages if topic.startswith("virtual/pose")]
        assert max(free) > NEAR_DEG, ("nothing to correct", free)
        entries, messages = fly(rig, received, "each")
        each = check_corrected(rig, "each", entries, messages)
        silent_simulator(rig)
        rig.stop_daemon()
        said = [(f"tandem/v1/{pair}/{topic}", m) for pair in ("each", "silent") for topic, m in received(pair)
                if m != {"correction": "three"}]
        used = check_messages(load(SOURCE), "tandem/v1", said)
        assert {"pose", "pose_ack", "command", "reply"} <= used, used
        again = json.loads(replay(rig.lab, *sorted((rig.folder / "journal").glob("*.jsonl"))))["pairs"]
        assert again["each"]["entries"] == entries, "the replay sees the same"
        assert [a["type"] for a in again["silent"]["alarms"]].count("correction") == 1, again["silent"]["alarms"]
    print(f"headings when a move begins: {max(free):.1f}° apart at most, corrected {max(each):.1f}°: fine")


if __name__ == "__main__":
    main()
