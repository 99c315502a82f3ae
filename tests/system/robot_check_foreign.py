"""`tandem robot --check PAIR/SIDE -c LAB`: robots behind a mapping, VDA 5050 and Sparkplug B, in the terms of their
codec. Correct robots have no findings; each wrong robot or wrong table has exactly its own.
"""
import datetime
import json
import math
import struct
import subprocess
import sys
import threading
import time

from mqtt import Client
from rig import Rig, TANDEM
from waiting import limit_s
from robot_check import MISSING, PERIOD_S, Robot, WRONG, check_rules, odd

try:
    import vda_schemas
except ImportError:  # no python3-jsonschema
    vda_schemas = None

SHOP = """mappings:
  - {topic: "shop/{pair}/{side}/answer", event: reply, fields: {id: {path: /order}, t: {path: /at, unit: ms},
     t_start: {path: /from, unit: ms, optional: true}, status: {path: /result, map: {OK: done, STOP: halted, NO: ignored, BAD: error}},
     values.x_m: {path: /x, unit: mm}, values.y_m: {path: /y, unit: mm}, values.psi_rad: {path: /angle, unit: deg, scale: -1}}}
  - {topic: "shop/{pair}/{side}/where", event: telemetry, fields: {t: {path: /at, unit: ms}, seq: {path: /n}, pose.0: {path: /x, unit: mm},
     pose.1: {path: /y, unit: mm}, pose.2: {path: /angle, unit: deg, scale: -1}, nu.0: {path: /v, unit: mm/s}, nu.1: {path: /w, unit: deg/s, scale: -1}}}
  - {topic: "shop/{pair}/{side}/here", event: connection, fields: {state: {path: /on, map: {"true": online, "false": offline}}, boot: {path: /boot}}}
send:
  - {event: command, topic: "shop/{pair}/{side}/order", json: {order: "{id}", what: "{op}", angle: "{rotation_rad}", way: "{displacement_m}"},
     fields: {rotation_rad: {unit: deg, scale: -1}, displacement_m: {unit: mm}}}
"""


class Border(Robot):
    """The same robot behind another format; say() and take() translate."""

    def __init__(self, port, pair, side, flaw, topics, will, hello):
        self.flaw, self.own, self.now_set = flaw, {}, {"angular_speed_radps": 1.0, "linear_speed_mps": 0.5}
        self.stem, self.side, self.pair = pair, side, pair
        self.pose, self.nu, self.job, self.seq, self.ended = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], None, 0, False
        self.seen = [0.0, 0.0, 0.0]
        self.lock = threading.Lock()
        hello = None if flaw == "no connection" else hello
        self.client = Client(port, f"{pair}-{side}", clean=True, topics=topics, on_message=self.take, will=will, hello=hello,
                             raw=isinstance(self, Device))
        self.client.subscribed.wait(limit_s(10))
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()


class Shop(Border):
    """Right is positive, angles in degrees, mm, ms."""

    def __init__(self, port, pair, side, flaw=""):
        here = f"shop/{pair}/{side}/here"
        super().__init__(port, pair, side, flaw, [f"shop/{pair}/{side}/order"], (here, '{"on":false,"boot":"b1"}'),
                         (here, '{"on":true,"boot":"b1"}'))

    def take(self, topic, payload):
        with self.lock:
            received, o = self.clock(), json.loads(payload)
            self.receive_command({"id": o["order"], "op": o["what"], "rotation_rad": -math.radians(o["angle"]),
                               "displacement_m": o["way"] / 1e3}, received)

    def say(self, word, body, qos=1):
        if word == "reply":
            out = {"order": body.get("id"), "at": 1e3 * body["t"], "from": 1e3 * body["t_start"] if "t_start" in body else None,
                   "result": {"done": "OK", "halted": "STOP", "ignored": "NO", "error": "BAD"}[body["status"]],
                   "x": 1e3 * self.pose[0], "y": 1e3 * self.pose[1], "angle": -math.degrees(self.pose[2])}
            word = "answer"
        else:
            out = {"at": 1e3 * body["t"], "n": body["seq"], "x": 1e3 * body["pose"][0], "y": 1e3 * body["pose"][1],
                   "angle": -math.degrees(body["pose"][2]), "v": 1e3 * body["nu"][0], "w": -math.degrees(body["nu"][2])}
            word = "where"
        self.client.publish(f"shop/{self.pair}/{self.side}/{word}", json.dumps(out), qos, self.flaw == f"retained {word}")


class Vehicle(Border):
    """A VDA 5050 vehicle: drives to the last node of its order, turning on the spot."""

    schemas, refused = vda_schemas.load() if vda_schemas else None, []

    def __init__(self, port, pair, side, flaw=""):
        self.address = f"uagv/v2/acme/{pair}-{side}"
        self.order, self.at, self.node, self.ahead, self.errors, self.actions = "", 0, "start", [], [], {}
        self.header, self.next_s, self.cancel = 0, 0.0, None
        connection = f"{self.address}/connection"
        online, offline = (json.dumps({"headerId": 0, "timestamp": self.stamp(), "version": "2.0.0", "connectionState": state})
                           for state in ("ONLINE", "CONNECTIONBROKEN"))
        super().__init__(port, pair, side, flaw, [f"{self.address}/{word}" for word in ("order", "instantActions")],
                         (connection, offline), (connection, online))
        self.next_s = 0.0

    @staticmethod
    def stamp():
        return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def take(self, topic, payload):
        with self.lock:
            message = json.loads(payload)
            if self.schemas:
                self.refused.extend(self.schemas.errors("2.0.0", topic.rpartition("/")[2], message))
            (self.receive_order if topic.endswith("/order") else self.receive_actions)(message)
            self.publish_state()

    def receive_order(self, order):
        if self.job:
            if self.flaw != "busy without a word":
                self.errors = [{"errorType": "orderError", "errorLevel": "WARNING",
                                "errorReferences": [{"referenceKey": "orderId", "referenceValue": order["orderId"]}]}]
            return
        self.order, self.errors, self.at, nodes = order["orderId"], [], 0, order["nodes"]
        self.node, self.ahead = nodes[0]["nodeId"], nodes[1:]
        for action in nodes[0]["actions"]:
            self.actions[action["actionId"]] = (action["actionType"], "FAILED")
        if self.ahead:
            goal = self.ahead[-1]["nodePosition"]
            dx, dy = goal["x"] - self.pose[0], goal["y"] - self.pose[1]
            distance = math.hypot(dx, dy)
            turn = math.remainder((math.atan2(dy, dx) if distance > 1e-6 else goal["theta"]) - self.pose[2], 2 * math.pi)
            self.job = [{}, 0.0, turn if abs(turn) > 1e-6 else 0.0, distance if distance > 1e-6 else 0.0]

    def receive_actions(self, message):
        for action in message.get("actions", message.get("instantActions", [])):
            if self.flaw == "cancel unanswered":
                continue
            if self.flaw == "cancels at its end" and self.job:
                self.cancel = action["actionId"]
                continue
            if self.flaw == "the error alone" and not self.job:
                self.errors = [{"errorType": "noOrderToCancel", "errorLevel": "WARNING",
                                "errorReferences": [{"referenceKey": "actionId", "referenceValue": action["actionId"]}]}]
                continue
            self.actions[action["actionId"]] = (action["actionType"], "FINISHED" if self.job else "FAILED")
            self.job, self.ahead = None, [] if self.job else self.ahead

    def step(self):
        before = self.job
        super().step()
        if before and not self.job and self.ahead:
            self.node, self.at, self.ahead = self.ahead[-1]["nodeId"], self.ahead[-1]["sequenceId"], []
            if self.cancel:
                self.actions[self.cancel], self.cancel = ("cancelOrder", "FINISHED"), None
            self.publish_state()

    def sample(self):
        if time.monotonic() >= self.next_s:
            self.publish_state()

    def say(self, word, body, qos=1):
        """The vehicle's states show the result."""

    def publish_state(self):
        self.next_s = time.monotonic() + 0.1
        theta = math.degrees(self.pose[2]) if self.flaw == "degrees" else self.pose[2]
        state = {"headerId": self.header, "timestamp": self.stamp(), "version": "2.0.0", "manufacturer": "acme", "serialNumber": self.pair,
                 "orderId": self.order, "orderUpdateId": 0, "lastNodeId": self.node, "lastNodeSequenceId": self.at,
                 "driving": self.job is not None and self.flaw != "never drives", "errors": self.errors, "edgeStates": [],
                 "nodeStates": [{"nodeId": n["nodeId"], "sequenceId": n["sequenceId"], "released": True} for n in self.ahead],
                 "actionStates": [{"actionId": i, "actionType": t, "actionStatus": s} for i, (t, s) in self.actions.items()],
                 "operatingMode": "AUTOMATIC", "safetyState": {"eStop": "NONE", "fieldViolation": False},
                 "velocity": {"vx": self.nu[0], "vy": 0.0, "omega": self.nu[2]},
                 "agvPosition": {"x": self.pose[0], "y": self.pose[1], "theta": theta, "mapId": "m", "positionInitialized": True}}
        if self.flaw == "no pose":
            del state["agvPosition"]
        self.header += 1
        self.client.publish(f"{self.address}/state", json.dumps(state), 0, self.flaw == "retained state")


SPARKPLUG = """mappings:
  - {topic: "spBv1.0/{pair}/DDATA/{side}/arm", format: sparkplug, event: reply, fields: {id: {metric: Reply/id}, t: {stamp: Reply/id},
     status: {metric: Reply/status}, values.x_m: {metric: X}, values.y_m: {metric: Y}, values.psi_rad: {metric: Psi, unit: deg}}}
  - {topic: "spBv1.0/{pair}/DDATA/{side}/arm", format: sparkplug, event: telemetry, fields: {t: {stamp: Px}, pose.0: {metric: Px},
     pose.1: {metric: Py}, pose.2: {metric: Ppsi, unit: deg}}}
send:
  - {event: command, topic: "spBv1.0/{pair}/DCMD/{side}/arm", json: {Go/id: "{id}", Go/op: "{op}", Go/turn: "{rotation_rad}", Go/way: "{displacement_m}"},
     fields: {rotation_rad: {scale: 1}, displacement_m: {scale: 1}}}
"""


def varint(n):
    out = b""
    while True:
        out += bytes([n & 0x7f | (0x80 if n > 0x7f else 0)])
        n >>= 7
        if not n:
            return out


def sparkplug(metrics, seq):
    """A payload of Sparkplug B: timestamp, metrics with names, datatypes Double (10) and String (12), seq."""
    now = varint(int(time.time() * 1e3))
    body = b"\x08" + now
    for name, value in metrics.items():
        text = isinstance(value, str)
        m = b"\x0a" + varint(len(name)) + name.encode() + b"\x18" + now + b"\x20" + (b"\x0c" if text else b"\x0a")
        m += b"\x7a" + varint(len(value)) + value.encode() if text else b"\x69" + struct.pack("<d", value)
        body += b"\x12" + varint(len(m)) + m
    return body + b"\x18" + varint(seq)


def read_sparkplug(data):
    """The metrics of a payload, as far as DCMDs of a mapping have them."""
    def fields(data):
        at = 0

        def number():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at, value, shift = at + 1, value | (byte & 0x7f) << shift, shift + 7
                if byte < 0x80:
                    return value
        while at < len(data):
            key = number()
            if key & 7 == 0:
                yield key >> 3, number()
            else:
                size = 8 if key & 7 == 1 else 4 if key & 7 == 5 else number()
                yield key >> 3, data[at:at + size]
                at += size
    out = {}
    for field, value in fields(data):
        if field == 2:
            m = dict(fields(value))
            out[m[1].decode()] = m[15].decode() if 15 in m else struct.unpack("<d", m[13])[0] if 13 in m else bool(m.get(14))
    return out


class Device(Border):
    """A Sparkplug B robot: silent until its birth is requested; then it reports its pose ten times a second."""

    def __init__(self, port, pair, side, flaw=""):
        self.counted = 0
        super().__init__(port, pair, side, flaw, [f"spBv1.0/{pair}/NCMD/{side}", f"spBv1.0/{pair}/DCMD/{side}/arm"], None, None)

    def publish(self, kind, metrics, birth=False):
        self.counted = 0 if birth else (self.counted + 1) % 256
        topic = f"spBv1.0/{self.pair}/{kind}/{self.side}" + ("/arm" if kind[0] == "D" else "")
        self.client.publish(topic, sparkplug(metrics, self.counted), 0, False)

    def take(self, topic, payload):
        with self.lock:
            metrics = read_sparkplug(payload)
            if "/NCMD/" in topic:
                self.publish("NBIRTH", {"bdSeq": 0.0}, birth=True)
                self.publish("DBIRTH", {"Reply/id": "", "Reply/status": "", **self.place("", ""), **self.place("P", "p")})
            else:
                self.receive_command({"id": metrics["Go/id"], "op": metrics["Go/op"], "rotation_rad": metrics["Go/turn"],
                                   "displacement_m": metrics["Go/way"]}, self.clock())

    def place(self, head, small):
        x, y, psi = self.pose
        names = [head + (n if not small else n.lower()) for n in ("X", "Y", "Psi")]
        return dict(zip(names, (x, y, math.degrees(psi))))

    def say(self, word, body, qos=1):
        if word == "reply":
            self.publish("DDATA", {"Reply/id": body["id"], "Reply/status": body["status"], **self.place("", "")})
        else:
            self.publish("DDATA", self.place("P", "p"))


# Codec, robot's flaw, replacement in its table: the findings in addition to those of a correct robot.
FLAWS = [
    (Shop, "", (), {}),
    (Shop, "", ((", unit: deg, scale: -1}}}\n  - {topic", ", scale: -1}}}\n  - {topic"),), {"values": WRONG}),
    (Shop, "", (("{path: /angle, unit: deg, scale: -1}}}", "{path: /angle, unit: deg}}}"),), {"values": WRONG}),
    (Shop, "", (("{path: /x, unit: mm}, values.y_m: {path: /y, unit: mm}", "{path: /x}, values.y_m: {path: /y}"),), {"values": WRONG}),
    (Shop, "", (("t: {path: /at, unit: ms},\n", "t: {path: /at},\n"), ("t_start: {path: /from, unit: ms", "t_start: {path: /from")),
     {"reply.t": WRONG}),
    (Shop, "", (("/order\", json", "/orders\", json"),), {"reply": WRONG, "values": None, "busy": None, "halt": None}),
    (Shop, "", (("unit: deg, scale: -1}, displacement_m: {unit: mm}}}\n", "scale: -1}, displacement_m: {unit: mm}}}\n"),),
     {"values": WRONG, "telemetry.pose": WRONG}),
    (Shop, "", (("nu.0: {path: /v, unit: mm/s}", "nu.0: {path: /v}"),), {"telemetry.nu": WRONG}),
    (Shop, "", (("seq: {path: /n}, ", ""),), {"telemetry.seq": MISSING}),
    (Shop, "", (("id: {path: /order}, ", ""),), {"reply.id": MISSING}),
    (Shop, "", (("map: {OK: done", "map: {FINE: done"),), {"malformed": WRONG, "reply": WRONG, "values": None, "go": None, "busy": None}),
    (Shop, "no connection", (), {"connection": MISSING, "boot": MISSING}),
    (Shop, "second go unanswered", (), {"reply": WRONG}),
    (Shop, "halts at its end", (), {"halt": WRONG, "halt.late": WRONG}),
    (Shop, "stops only in words", (), {"halt.stop": WRONG}),
    (Shop, "retained answer", (), {"reply.retained": WRONG}),
    (Vehicle, "", (), {}),
    (Vehicle, "degrees", (), {"telemetry.pose": WRONG, "go": None, "busy": None, "halt": None}),
    (Vehicle, "never drives", (), {"reply.t_start": MISSING}),
    (Vehicle, "the error alone", (), {}),
    (Vehicle, "busy without a word", (), {}),  # with its next order the robot reports that it never received this one
    (Vehicle, "cancel unanswered", (), {"reply": WRONG, "halt": None, "halt.late": None, "reply.twice": None}),
    (Vehicle, "cancels at its end", (), {"halt": WRONG, "halt.late": WRONG}),
    (Vehicle, "no connection", (), {"connection": MISSING, "boot": MISSING}),
    (Vehicle, "retained state", (), {"telemetry.retained": WRONG}),
    (Device, "", (), {"reply.t_start": MISSING, "telemetry.seq": MISSING}),
    (Device, "", (("values.psi_rad: {metric: Psi, unit: deg}", "values.psi_rad: {metric: Psi}"),),
     {"reply.t_start": MISSING, "telemetry.seq": MISSING, "values": WRONG}),
    (Device, "second go unanswered", (), {"reply.t_start": MISSING, "telemetry.seq": MISSING, "reply": WRONG}),
]


def lab_of(rig, pair, kind, changes):
    """A lab file of one pair, its table with these faults."""
    table = SPARKPLUG if kind is Device else SHOP
    for old, new in changes:
        assert table.count(old) == 1, (old, table.count(old))
        table = table.replace(old, new)
    lab, rows = rig.folder / f"{pair}.yaml", rig.folder / f"{pair}_rows.yaml"
    rows.write_text(table)
    codec = {Shop: f"codec: mapping, mapping: {rows}",
             Vehicle: f"codec: vda5050, real: acme/{pair}-real, virtual: acme/{pair}-virtual",
             Device: f"codec: sparkplug, real: {pair}/real/arm, virtual: {pair}/virtual/arm, mapping: {rows}"}[kind]
    lab.write_text(f"broker: {{port: {rig.broker_port}}}\npairs: {{{pair}: {{mode: link, {codec}}}}}\n")
    return lab


def run_check(lab, pair, side, *options):
    run = subprocess.run([TANDEM, "robot", "--check", f"{pair}/{side}", "-c", lab, "--json", "--timeout", "4", *options],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=limit_s(150))
    assert run.returncode in (0, 3), (run.returncode, run.stderr)
    return run.returncode, json.loads(run.stdout)


def check_flaws(rig):
    results = {}

    def one(number, kind, flaw, changes):
        pair, side = f"{kind.__name__.lower()}{number}", "virtual" if number % 3 == 1 else "real"
        lab = lab_of(rig, pair, kind, changes)
        robot = kind(rig.broker_port, pair, side, flaw)
        try:
            results[number] = run_check(lab, pair, side)
        finally:
            robot.end()

    todo = list(enumerate(FLAWS))
    while todo:  # several at once: they mostly wait
        threads = [threading.Thread(target=one, args=(n, *row[:3])) for n, row in todo[:10]]
        todo = todo[10:]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    faults = []
    for number, (kind, flaw, changes, expected) in enumerate(FLAWS):
        name = f"{kind.__name__} {flaw or changes}"
        code, page = results[number]
        check_rules(page)
        found = {k: v for k, v in odd(page).items() if v != "untried"}
        sure = {what: state for what, state in expected.items() if state}
        print(f"{name}: {found}", flush=True)
        if {k: v for k, v in found.items() if k in sure or k not in expected} != sure:
            faults.append((name, expected, [f for f in page["findings"] if f["state"] != "right"]))
        assert code == (3 if WRONG in found.values() else 0), (name, code)
    assert not faults, json.dumps(faults, indent=1)
    assert not Vehicle.refused, f"the official schemas refuse: {Vehicle.refused}"


def check_words(rig):
    """The pair is named as the codec names it; an error says why such a robot cannot be checked."""
    lab = lab_of(rig, "words", Shop, FLAWS[1][2])
    robot = Shop(rig.broker_port, "words", "real")
    run = subprocess.run([TANDEM, "robot", "--check", "words/real", "-c", lab], stdout=subprocess.PIPE, text=True)
    robot.end()
    assert run.returncode == 3 and "wrong    values (fields.values.psi_rad: /angle): " in run.stdout, run.stdout
    assert "are these degrees?\n         docs/robots/mapping.md: A move is `done` at its end" in run.stdout, run.stdout
    assert "echo" not in run.stdout, run.stdout
    for pair, text, want in (("nobody", None, "'nobody'"),
                             ("seen", "pairs: {seen: {codec: vda5050, real: a/b, virtual: a/c}}", "pairs.seen.mode: ")):
        if text:
            lab.write_text(f"broker: {{port: {rig.broker_port}}}\n{text}\n")
        run = subprocess.run([TANDEM, "robot", "--check", f"{pair}/real", "-c", lab], stderr=subprocess.PIPE, text=True)
        assert run.returncode == 2 and want in run.stderr, (pair, run.stderr)


def main():
    with Rig() as rig:
        check_words(rig)
        check_flaws(rig)


if __name__ == "__main__":
    sys.exit(main())
