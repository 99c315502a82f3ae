"""A pair of Sparkplug devices over a real broker. Their node is Eclipse Tahu's own client (npm sparkplug-client);
its birth came before anybody subscribed, so Tandem requests one. The test covers moves by DCMD, verdicts, a gap, a
death of a device and of the node, and the state after a restart. The journal's replay gives the same records, so it
stores binary payloads byte for byte.
"""
import json
import os
import subprocess
import sys

from npm import NPM, npm_has
from rig import Rig, TANDEM

ROW = 'topic: "spBv1.0/lab/DDATA/cell1/{side}", sides: {arm-real: real, arm-sim: virtual}, format: sparkplug'
PAIRS = """arm:
    mode: link
    codec: sparkplug
    real: lab/cell1/arm-real
    virtual: lab/cell1/arm-sim
    probe_interval_s: 0
    mapping:
      mappings:
        - {""" + ROW + """, event: telemetry, fields: {t: {stamp: Pose/y}, pose.0: {metric: Pose/x, held: true},
           pose.1: {metric: Pose/y, held: true}}}
        - {""" + ROW + """, event: reply, fields: {id: {metric: Reply/id}, t: {stamp: Reply/id},
           status: {metric: Reply/status, held: true, map: {COMPLETE: done}}, values.x_m: {metric: Pose/x, held: true}}}
      send:
        - {event: command, op: go, topic: "spBv1.0/lab/DCMD/cell1/{side}", sides: {arm-real: real, arm-sim: virtual},
           json: {Go/id: "{id}", Go/metres: "{displacement_m}"}}
"""


class Node:
    """The edge node, and its output, line by line."""

    def __init__(self, rig):
        self.log_file = rig.folder / "node.log"
        self.process = rig.run(["node", "tests/system/sparkplug_node.js", rig.broker_port], stdin=subprocess.PIPE, text=True,
                               stdout=open(self.log_file, "a"), stderr=sys.stderr, env={**os.environ, "NODE_PATH": str(NPM / "node_modules")})

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_for_line(self, word):
        return [line for line in self.log_file.read_text().splitlines() if line.startswith(word)]


def alarms(rig, kind):
    return [a for a in map(json.loads, rig.records("arm", "alarms")) if a["type"] == kind]


def go(rig, name, metres, entries):
    rig.publish("tandem/v1/arm/command", {"id": name, "op": "go", "rotation_rad": 0, "displacement_m": metres})
    rig.wait(lambda: rig.get("/api/v1/pairs/arm")["entries"] == entries, f"{name} is an entry", 20)


def side(rig, which):
    return rig.get("/api/v1/pairs/arm")[which]["connection"]


with_node = npm_has("sparkplug-client@3")
if not with_node:
    print("SKIPPED: sparkplug-client, which npm has not got for us")
    sys.exit(77)

with Rig(pairs=PAIRS) as rig:
    node = Node(rig)
    rig.wait(lambda: node.wait_for_line("born"), "the node was born", 20)
    rig.start_daemon()
    node.say("pose")
    rig.wait(lambda: node.wait_for_line("rebirth"), "a birth is asked for")
    rig.wait_online("arm")
    for n in range(4):
        go(rig, f"m{n}", 0.2 + 0.05 * n, n + 1)
    rig.wait_stored("arm")
    entries = [json.loads(e) for e in rig.records("arm", "entries")]
    for n, e in enumerate(entries):
        metres = 0.2 + 0.05 * n
        assert e["id"] == f"m{n}" and e["verdict"] == "BEHIND" and e["consistent"], e
        assert abs(e["real_lap_s"] - metres / 0.5) < 0.15 and abs(e["virtual_lap_s"] - metres / 0.25) < 0.15, e
    assert len(node.wait_for_line("dcmd")) == 8 and '"Go/id":"m0"' in node.wait_for_line("dcmd")[0], node.wait_for_line("dcmd")

    # Births from before a restart are still known after it: no other birth is needed.
    rig.stop_daemon()
    rig.start_daemon()
    asked = len(node.wait_for_line("rebirth"))
    go(rig, "after", 0.2, 5)
    assert len(node.wait_for_line("rebirth")) == asked and not alarms(rig, "malformed"), alarms(rig, "malformed")

    lost = len(alarms(rig, "lost"))
    node.say("gap")
    rig.wait(lambda: len(alarms(rig, "lost")) >= lost + 2, "missing messages are reported for both")
    rig.wait(lambda: len(node.wait_for_line("rebirth")) == asked + 1, "and a birth is asked for")
    go(rig, "more", 0.2, 6)

    node.say("leave arm-sim")
    rig.wait(lambda: side(rig, "virtual") == "offline", "a device is gone")
    assert side(rig, "real") == "online"
    node.process.kill()  # its will: NDEATH with the bdSeq of its birth
    rig.wait(lambda: side(rig, "real") == "offline", "the node is gone", 60)

    rig.wait_stored("arm")
    live = [rig.records("arm", table) for table in ("entries", "alarms")]
    journal = rig.folder / "journal"
    rig.stop_daemon()
    text = "".join(f.read_text() for f in sorted(journal.glob("*.jsonl")))
    assert '"encoding":"latin1"' in text
    again = json.loads(subprocess.run([TANDEM, "replay", "-c", rig.lab, "--json", journal], check=True, capture_output=True,
                                      text=True).stdout)["pairs"]["arm"]
    assert again["entries"] == [json.loads(e) for e in live[0]], (again["entries"], live[0])
    assert again["alarms"] == [json.loads(a) for a in live[1]], (again["alarms"], live[1])
print("6 moves, 1 gap, 2 deaths, replayed alike")
