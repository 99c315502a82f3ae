"""packaging/node-red-flow.json is a complete flow, subscribes to topics of the protocol, and shows the right text
for the messages of a live lab. The buttons of examples/node-red/move.json move a pair in Node-RED itself (from npm).
"""
import json
import re
import shutil
import subprocess
import sys
import urllib.request

from npm import NPM, npm_has
from rig import free_port, Rig, SOURCE
from waiting import limit_s, pass_time

FLOW = SOURCE / "packaging/node-red-flow.json"
BY_HAND = SOURCE / "examples/node-red/move.json"
MOVES = 5
OUTPUTS = {"mqtt in": 1, "mqtt out": 0, "json": 1, "function": None, "switch": None, "http request": 1, "inject": 1, "debug": 0, "comment": 0}


def check_shape(nodes):
    ids = {node["id"]: node for node in nodes}
    assert len(ids) == len(nodes), "an id is there twice"
    tabs = [node["id"] for node in nodes if node["type"] == "tab"]
    brokers = [node["id"] for node in nodes if node["type"] == "mqtt-broker"]
    assert len(tabs) == 1 and len(brokers) == 1 and all(re.fullmatch("[0-9a-f]{16}", key) for key in ids)
    ends = set()
    for node in nodes:
        if node["id"] in tabs + brokers:
            continue
        assert node["z"] == tabs[0] and node["type"] in OUTPUTS, node
        outputs = node["outputs"] if OUTPUTS[node["type"]] is None else OUTPUTS[node["type"]]
        assert len(node["wires"]) == outputs, f"{node['name']}: {len(node['wires'])} outputs are wired, it has {outputs}"
        for end in (end for wire in node["wires"] for end in wire):
            assert ids.get(end, {}).get("type") in OUTPUTS, f"{node['name']}: a wire ends at {end}, which is no node"
            ends.add(end)
        if node["type"] == "switch":
            assert len(node["rules"]) == outputs, node["name"]
        if node["type"].startswith("mqtt "):
            assert node["broker"] == brokers[0], node["name"]
    begin = ("tab", "mqtt-broker", "mqtt in", "inject", "comment")
    assert ends == {node["id"] for node in nodes if node["type"] not in begin}, "a node receives nothing"
    assert len({(node["x"], node["y"]) for node in nodes if "x" in node}) == len(nodes) - 2, "two nodes lie on each other"


def check_topics(nodes):
    """<prefix>/<any pair>/<a topic that Tandem publishes>."""
    rows = re.findall(r"^\| (`[^|]*) \| Tandem → anyone \|", (SOURCE / "docs/protocol.md").read_text(), re.M)
    published = {word for row in rows for word in re.findall("`([^`]+)`", row)}
    assert published >= {"entry", "alarm", "calibration"}, published
    for node in nodes:
        if node["type"] == "mqtt out":
            assert node["topic"] == "tandem/v1/r1/command" and node["retain"] == "false" and node["qos"] == "1"
        if node["type"] == "mqtt in":
            assert re.sub(r"^tandem/v1/(\+|r1)/", "", node["topic"]) in published, f"{node['topic']}: not in docs/protocol.md"


def answer(rig, command, *sides):
    """Robots that take time for their moves and have no clocks."""
    rig.publish("tandem/v1/hand/command", {"id": command, "op": "go"})
    for side in sides:
        status = "blocked" if (command, side) == ("b", "virtual") else "done"
        rig.publish(f"tandem/v1/hand/{side}/reply", {"id": command, "status": status})
        pass_time(0.2)


def collect(rig):
    """Messages of a lab: moves of simulated robots, then replies by hand: one side first, the other first, none."""
    received = rig.folder / "heard.jsonl"
    rig.run(["mosquitto_sub", "-p", rig.broker_port, "-q", "1", "-t", "tandem/v1/+/entry", "-t", "tandem/v1/+/alarm", "-F", "%J"],
            stdout=open(received, "w"))
    rig.start("robot", "--pair", "r1", "--side", "both", "--angular-speed", "5", "--linear-speed", "5", "--t0", "0.02")
    rig.wait_online("r1")
    driver = rig.start("drive", "--pair", "r1", "--count", MOVES, "--interval", 0, "--timeout", 5)
    assert driver.wait(limit_s(60)) == 0
    answer(rig, "a", "virtual", "real")
    answer(rig, "b", "real", "virtual")
    answer(rig, "c")
    rig.publish("tandem/v1/r1/virtual/reply", "no reply")
    rig.wait(lambda: received.read_text().count('/entry"') == MOVES + 3 and received.read_text().count('/alarm"') >= 3, "all is received", 20)
    messages = [json.loads(line) for line in received.read_text().splitlines()]
    return [(message["topic"], message["payload"]) for message in messages]


def in_words(entry):
    error = f" ± {entry['lag_uncertainty_s']:.3f}" if "lag_uncertainty_s" in entry else ""
    by = f"{abs(entry['lag_s'] or 0):.3f}"
    words = {"AHEAD": f"the real robot was late by {by}{error} s", "BEHIND": f"the virtual robot was late by {by}{error} s",
             "SYNC": f"together, within {by} s", "TIMEOUT": "no answer in time: both"}
    differs = f"; the answers differ: {entry['differs']}" if entry["consistent"] is False else ""
    return f"{entry['pair']} {entry['id']}: " + words.get(entry["verdict"], entry["verdict"]) + differs


def debug_of(entry):
    return {"AHEAD": "late", "BEHIND": "late", "SYNC": "together"}.get(entry["verdict"], "no verdict")


def run_flow(rig, messages):
    lines = "".join(json.dumps({"topic": topic, "payload": json.dumps(payload)}) + "\n" for topic, payload in messages)
    done = subprocess.run(["node", SOURCE / "tests/support/node_red.js", FLOW, f"http://127.0.0.1:{rig.http_port}"], input=lines,
                          capture_output=True, text=True, timeout=limit_s(60), check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_words(said, messages):
    entries = [payload for topic, payload in messages if topic.endswith("/entry")]
    alarms = [payload for topic, payload in messages if topic.endswith("/alarm")]
    assert [entry["verdict"] for entry in entries if entry["pair"] == "hand"] == ["AHEAD", "BEHIND", "TIMEOUT"], entries
    assert [entry["consistent"] for entry in entries if entry["pair"] == "hand"] == [True, False, None], entries
    got = [pair for pair in said["debug"] if pair[0] in ("late", "together", "no verdict")]
    assert got == [[debug_of(entry), in_words(entry)] for entry in entries], got
    odd = [text for name, text in said["debug"] if name == "odd"]
    assert odd == [f"{a['pair']}{', ' + a['side'] + ' robot' if a['side'] else ''}: {a['type']}, {a['detail']}" for a in alarms], odd
    glance = said["debug"][0]
    assert glance[0] == "pairs" and [line.split(":")[0] for line in glance[1].split("\n")] == ["r1", "hand"], glance
    assert f"r1: {MOVES} commands, " in glance[1] and "; real online, virtual online" in glance[1], glance
    assert [text for name, text in said["status"] if name == "who was late"] == [text for _, text in got]
    return got


def start_node_red(rig, nodes):
    """Starts Node-RED with the flow, connected to the rig's broker; returns its port, once it listens, and its log."""
    folder, port = rig.folder / "node-red", free_port()
    folder.mkdir()
    for node in nodes:
        if node["type"] == "mqtt-broker":
            node["port"] = str(rig.broker_port)
    (folder / "flow.json").write_text(json.dumps(nodes))
    (folder / "settings.js").write_text(f"module.exports = {{uiHost: '127.0.0.1', uiPort: {port}, flowFile: 'flow.json'}};")
    log = folder / "log"
    with open(log, "w") as out:
        rig.run(["node", NPM / "node_modules/node-red/red.js", "-u", folder], stdout=out, stderr=out)
    rig.wait(lambda: "Connected to broker" in log.read_text(), "Node-RED is at the broker", 120)
    return port, log


def move_by_hand(rig, nodes):
    """Presses each button over Node-RED's own HTTP; the pair moves, and the flow shows its verdict."""
    port, log = start_node_red(rig, nodes)
    moves = [("left 90 deg", 1.5708, 0), ("right 90 deg", -1.5708, 0), ("ahead 0.5 m", 0, 0.5), ("back 0.5 m", 0, -0.5),
             ("left 45 deg, ahead 0.3 m", 0.7854, 0.3), ("halt", 0, 0)]
    buttons = {node["name"]: node["id"] for node in nodes if node["type"] == "inject"}
    assert sorted(buttons) == sorted(name for name, _, _ in moves)
    for name, rotation, displacement in moves:
        count = len(rig.records("r1", "entries"))
        request = urllib.request.Request(f"http://127.0.0.1:{port}/inject/{buttons[name]}", method="POST", data=b"{}",
                                         headers={"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=limit_s(20)).close()
        rig.wait(lambda count=count: len(rig.records("r1", "entries")) > count, f"{name}: an entry", 30)
        entry = json.loads(rig.records("r1", "entries")[-1])
        assert (entry["rotation_rad"], entry["displacement_m"]) == (rotation, displacement), (name, entry)
        assert entry["op"] == ("halt" if name == "halt" else "go") and entry["id"].startswith("hand-"), entry
        expected_text = f"{entry['id']}: {entry['verdict']}, real minus virtual "
        rig.wait(lambda expected_text=expected_text: expected_text in log.read_text(), f"{name}: its verdict in words", 30)
        print(f"{name}: {expected_text}{entry['lag_s']:.3f} s")


def main():
    nodes = json.loads(FLOW.read_text())
    by_hand = json.loads(BY_HAND.read_text())
    for flow in (nodes, by_hand):
        check_shape(flow)
        check_topics(flow)
    if not shutil.which("node"):
        print("SKIPPED, the functions of the Node-RED flow were NOT run: no node")
        sys.exit(77)
    with Rig("r1: {probe_interval_s: 0.2}\n  hand: {timeout_s: 4}") as rig:
        rig.start_daemon()
        messages = collect(rig)
        for _, text in check_words(run_flow(rig, messages), messages)[-3:]:
            print(text)
        if npm_has("node-red@3"):
            move_by_hand(rig, by_hand)
        else:
            print("SKIPPED: examples/node-red was NOT run: npm has not got node-red for us")


main()
