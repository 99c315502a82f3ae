"""The official schemas of VDA 5050 2.0.0, 2.1.0 and 3.0.0 accept every message that Tandem sends: orders and instant
actions in link mode, copies for twins of the same and of other versions, answers to zone requests. Vehicles of each
version stop at a halt, and answer at once when there is nothing to stop. Tandem sends nothing in a vehicle's name.
"""
import collections
import datetime
import itertools
import json
import sys
import threading

import vda_schemas
from mqtt import Client
from rig import Rig
from vda_schemas import VERSIONS
from waiting import limit_s

FAR_M = 10.0
TEAM = """teams:
  cell:
    resources: {A: {}, B: {}, T: {kind: tool, lease_s: 60, on_lost: release}}
    sequences: {j: [Wait]}
    robots: {R: {pair: z}}
"""


def short(version):
    return version[0] + version[2]


LINKS = {f"l{short(v)}": v for v in VERSIONS}
MIRRORS = {f"m{short(a)}-{short(b)}": (a, b) for a, b in itertools.product(VERSIONS, VERSIONS)}
PAIRS = "\n  ".join([f"{p}: {{mode: link, real: acme/{p}, virtual: acme/{p}-sim}}" for p in (*LINKS, "z")] +
                    [f"{p}: {{mirror: true, real: acme/{p}, virtual: acme/{p}-sim}}" for p in MIRRORS])


def stamp():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Fleet:
    """All vehicles, which obey as the standard has it, and what others send to them."""

    def __init__(self, port, schemas):
        self.schemas, self.lock = schemas, threading.RLock()
        self.versions, self.headers = {}, collections.Counter()
        self.orders, self.actions, self.errors, self.zones = {}, collections.defaultdict(dict), collections.defaultdict(list), {}
        self.sent, self.own = [], collections.Counter()
        self.early = []  # to vehicles that had not said their version
        self.client = Client(port, "fleet", clean=True, topics=["uagv/#"], on_message=self.receive)
        assert self.client.subscribed.wait(limit_s(10))

    def publish(self, serial, kind, body):
        version = self.versions[serial]
        self.headers[serial, kind] += 1
        message = {"headerId": self.headers[serial, kind], "timestamp": stamp(), "version": version, "manufacturer": "acme",
                   "serialNumber": serial, **body}
        self.schemas.check(version, kind, message)  # else the test would prove nothing
        text = json.dumps(message)
        self.own[text] += 1
        self.client.publish(f"uagv/v{version[0]}/acme/{serial}/{kind}", text, 1, kind == "connection")

    def connect(self, serial, version):
        with self.lock:
            self.versions[serial] = version
            self.publish(serial, "connection", {"connectionState": "ONLINE"})
            self.publish_state(serial)

    def publish_state(self, serial):
        new = self.versions[serial][0] == "3"
        order = self.orders.get(serial)
        nodes = order["nodes"] if order else [{"nodeId": "dock", "sequenceId": 0}]
        at, ahead = (nodes[0], nodes[1:]) if order and order["far"] else (nodes[-1], [])
        place = {"x": 1.0, "y": 2.0, "theta": 3.0, "mapId": "hall"}
        state = {"orderId": order["orderId"] if order else "", "orderUpdateId": 0, "lastNodeId": at["nodeId"],
                 "lastNodeSequenceId": at["sequenceId"], "driving": bool(ahead), "edgeStates": [], "operatingMode": "AUTOMATIC",
                 "nodeStates": [{"nodeId": n["nodeId"], "sequenceId": n["sequenceId"], "released": True} for n in ahead],
                 "errors": self.errors[serial]}
        actions = [{"actionId": i, "actionType": t, "actionStatus": "FINISHED"} for i, t in self.actions[serial].items()]
        instant = [a for a in actions if a["actionType"] == "cancelOrder"]
        if new:
            state |= {"mobileRobotPosition": {**place, "localized": True}, "instantActionStates": instant,
                      "actionStates": [a for a in actions if a not in instant], "zoneRequests": self.zones.get(serial, []),
                      "powerSupply": {"stateOfCharge": 80.0, "charging": False},
                      "safetyState": {"activeEmergencyStop": "NONE", "fieldViolation": False}}
        else:
            state |= {"agvPosition": {**place, "positionInitialized": True}, "actionStates": actions,
                      "batteryState": {"batteryCharge": 80.0, "charging": False},
                      "safetyState": {"eStop": "NONE", "fieldViolation": False}}
        self.publish(serial, "state", state)

    def receive(self, topic, payload):
        """Tandem's messages are all that the vehicles have not sent themselves."""
        with self.lock:
            payload = payload if isinstance(payload, str) else payload.decode()
            if self.own[payload] > 0:
                self.own[payload] -= 1
                return
            serial, kind = topic.split("/")[3:]
            message = json.loads(payload)
            self.sent.append((topic, serial, kind, message))
            if serial in self.versions and serial.rpartition("-sim")[0] not in MIRRORS:
                self.obey(serial, kind, message)

    def obey(self, serial, kind, message):
        if kind == "order":
            far = bool(message["edges"]) and message["edges"][0]["length"] >= FAR_M
            self.orders[serial] = {**message, "far": far}
            self.actions[serial] = {a["actionId"]: a["actionType"] for n in message["nodes"] for a in n["actions"]}
        elif kind == "instantActions":
            self.errors[serial] = []
            for action in message["actions"]:
                if self.orders.get(serial, {}).get("far"):
                    self.orders[serial]["nodes"] = self.orders[serial]["nodes"][:1]
                    self.orders[serial]["far"] = False
                    self.actions[serial][action["actionId"]] = action["actionType"]
                else:  # the error alone, whose level is a warning
                    name = "NO_ORDER_TO_CANCEL" if self.versions[serial][0] == "3" else "noOrderToCancel"
                    self.errors[serial] = [{"errorType": name, "errorLevel": "WARNING", "errorReferences": [
                        {"referenceKey": "actionId", "referenceValue": action["actionId"]}]}]
        self.publish_state(serial)

    def count(self, kind, *serials):
        with self.lock:
            return sum(k == kind and s in serials for _, s, k, _ in self.sent)

    def check_sent(self):
        """The version that a message names, and that of its topic, are the vehicle's; its schema accepts it."""
        kinds, headers = collections.Counter(), collections.defaultdict(list)
        for topic, serial, kind, message in self.sent:
            version = self.versions[serial]
            assert message["version"] == version or message in self.early, (version, message)
            assert kind in ("order", "instantActions", "responses"), f"in a vehicle's name: {topic}"
            for accepted in VERSIONS if message in self.early else [version]:
                self.schemas.check(accepted, kind, message)
            assert message in self.early or topic.split("/")[1] == f"v{version[0]}", topic
            kinds[version, kind] += 1
            headers[serial, kind].append(message["headerId"])
        for counted in headers.values():
            assert counted == list(range(len(counted))), headers
        return kinds


def command(rig, pair, **what):
    rig.publish(f"tandem/v1/{pair}/command", what)


def check_link(rig, fleet, pair, version):
    """A halt before the vehicles have said anything, a move, an action, a halt on the way, and one too many."""
    names = (pair, pair + "-sim")
    entries = lambda count, what: rig.wait(lambda: rig.get(f"/api/v1/pairs/{pair}")["entries"] == count, f"{pair}: {what}", 30)
    command(rig, pair, id="early", op="halt")
    rig.wait(lambda: fleet.count("instantActions", *names) == 2, f"{pair}: halts")
    with fleet.lock:
        early = [(serial, message) for _, serial, _, message in fleet.sent if serial in names]
        for serial, message in early:
            fleet.early.append(message)
            fleet.versions[serial] = version
            fleet.publish(serial, "connection", {"connectionState": "ONLINE"})
            fleet.obey(serial, "instantActions", message)
    entries(1, "nothing to halt")
    for n, (name, what) in enumerate((("go", {"op": "go", "rotation_rad": 2.0, "displacement_m": 2.0}), ("lift", {"op": "lift"}))):
        command(rig, pair, id=name, **what)
        entries(n + 2, name)
    command(rig, pair, id="far", op="go", displacement_m=FAR_M)
    rig.wait(lambda: fleet.count("order", *names) == 6, f"{pair}: on the way")
    command(rig, pair, id="stop", op="halt")
    entries(5, "halted")
    command(rig, pair, id="again", op="halt")
    entries(6, "nothing to halt")
    rig.wait(lambda: len(rig.records(pair, "entries")) == 6, "stored")
    status = {e["id"]: (e["real_status"], e["virtual_status"]) for e in map(json.loads, rig.records(pair, "entries"))}
    want = {"early": "ignored", "go": "done", "lift": "done", "far": "halted", "stop": "done", "again": "ignored"}
    assert status == {name: (s, s) for name, s in want.items()}, (pair, status)


def check_mirror(rig, fleet, pair, versions):
    """The real vehicle's master is here; its twin gets copies."""
    twin = pair + "-sim"
    for serial, version in zip((pair, twin), versions):
        fleet.connect(serial, version)
    rig.wait_online(pair)
    steps = [{"nodeId": f"n{k}", "sequenceId": 2 * k, "released": True, "actions": [], "nodePosition": {"x": k, "y": 0, "mapId": "hall"}}
             for k in range(2)]
    edge = {"edgeId": "e", "sequenceId": 1, "released": True, "startNodeId": "n0", "endNodeId": "n1", "actions": []}
    blocking = "NONE" if versions[0][0] == "3" else "HARD"
    with fleet.lock:
        fleet.publish(pair, "order", {"orderId": f"o-{pair}", "orderUpdateId": 0, "nodes": steps, "edges": [edge]})
        fleet.publish(pair, "instantActions", {"actions": [{"actionId": f"k-{pair}", "actionType": "cancelOrder",
                                                           "blockingType": blocking, "actionParameters": []}]})
    rig.wait(lambda: fleet.count("order", twin) == 1 and fleet.count("instantActions", twin) == 1, f"{pair}: copies")


def check_zones(rig, fleet):
    """The leased zone has an end, and no other; the twin is let in; a request may wait, or be refused."""
    for serial in ("z", "z-sim"):
        fleet.connect(serial, "3.0.0")
    rig.wait_online("z")
    wanted = [{"requestId": str(n), "requestType": kind, "zoneId": zone, "zoneSetId": "s", "requestStatus": "REQUESTED"}
              for n, (kind, zone) in enumerate((("ACCESS", "A"), ("ACCESS", "T"), ("REPLANNING", "B"), ("ACCESS", "B")))]
    for serial in ("z", "z-sim"):
        with fleet.lock:
            fleet.zones[serial] = wanted
            fleet.publish_state(serial)
    answers = lambda serial: {a["requestId"]: a for _, s, k, m in list(fleet.sent) if k == "responses" and s == serial
                              for a in m["responses"]}
    rig.wait(lambda: len(answers("z")) == 4 and len(answers("z-sim")) == 4, "answers", 20)
    for serial in ("z", "z-sim"):
        grants = {n: a["grantType"] for n, a in answers(serial).items()}
        assert grants == {"0": "GRANTED", "1": "GRANTED", "2": "REJECTED", "3": "GRANTED"}, (serial, grants)
    leased = [n for n, a in answers("z").items() if "leaseExpiry" in a]
    assert leased == ["1"] and not any("leaseExpiry" in a for a in answers("z-sim").values()), (leased, answers("z-sim"))


def check_judge(schemas):
    """The schemas refuse what they must refuse."""
    head = {"headerId": 0, "timestamp": stamp(), "version": "x", "manufacturer": "acme", "serialNumber": "l"}
    cancel = [{"actionId": "k", "actionType": "cancelOrder", "blockingType": "HARD"}]
    assert schemas.errors("2.0.0", "instantActions", {**head, "instantActions": cancel})
    assert schemas.errors("3.0.0", "instantActions", {**head, "actions": cancel})
    assert not schemas.errors("2.1.0", "instantActions", {**head, "actions": cancel})
    assert schemas.errors("2.1.0", "instantActions", {**head, "actions": cancel, "timestamp": "1970-01-01T00:00:00+00:00"})


def main():
    schemas = vda_schemas.load()
    if schemas is None:
        print("SKIPPED: no schemas of VDA 5050; set TANDEM_DATA to the folder that has vda5050/schemas")
        sys.exit(77)
    check_judge(schemas)
    with Rig(pairs=PAIRS, extra="defaults: {codec: vda5050}\n" + TEAM) as rig:
        fleet = Fleet(rig.broker_port, schemas)
        rig.start_daemon()
        for pair, version in LINKS.items():
            check_link(rig, fleet, pair, version)
        for pair, versions in MIRRORS.items():
            check_mirror(rig, fleet, pair, versions)
        check_zones(rig, fleet)
        kinds = fleet.check_sent()
        fleet.client.end()
    for version in VERSIONS:
        assert kinds[version, "order"] >= 9 and kinds[version, "instantActions"] >= 9, kinds
    assert kinds["3.0.0", "responses"] >= 2, kinds
    print(f"{sum(kinds.values())} messages are as the schemas want them")


if __name__ == "__main__":
    main()
