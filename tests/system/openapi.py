"""Every example of the HTTP contract is sent to a live daemon, each declared error is provoked, and every answer must
satisfy the contract. A route without an example, or a declared answer that never came, is a fault. Messages over the
broker must satisfy the schemas of docs/protocol.

    openapi.py [apart]     apart: in a network of its own, with addresses other than loopback
"""
import fcntl
import http.client
import json
import re
import socket
import struct
import sys
import time
import urllib.parse

from contract import Answer, Contract
from message_schemas import check_messages, load
from pilot import Pilot
from rig import Rig, SOURCE
from waiting import limit_s

TOKEN = "secret-of-the-test"
ELSEWHERE = "192.0.2.7"  # an address of this machine that is not loopback
PAIRS = """r1: {record: all, probe_interval_s: 0.2, timeout_s: 5, forecast: {publish: each}}
  r2: {mode: link, timeout_s: 1, correct: after_inconsistency}
  wheels: {live_map: {range_m: 2}}
  boat:
    kind: usv3
    dynamics: {model: usv3, sides: real, method: weak_iv, window: 600, window_s: 12, refit_s: 0,
               refit_on_drift: false}
    following: {model: usv3, real: iacquabot, virtual: wamv, limits: "200, 200, 120", window_s: 2}
  crawler: {mode: link, missions_max: 1, timeout_s: 600}
  t1: {mode: link, timeout_s: 1}
  t2: {mode: link, timeout_s: 1}
  t3: {mode: link, timeout_s: 1}
teams:
  cell:
    resources: {IB: {}}
    tasks: {PickPrt: {op: go, nominal_s: 5}, Rest: {op: go, nominal_s: 2, safe: true}}
    buffers: {IB: [a]}
    sequences: {j: [Lock: IB, PickPrt, Rest, UnLock: IB]}
    robots: {R1: {pair: t1, sequence: j}, R2: {pair: t2, sequence: j, start_s: 3600}, R3: {pair: t3}}
    plan: {first: {seq: j, robots: R1}, second: {seq: j, robots: R2, after: first}}
  unplanned: {tasks: {Go: {op: go}}, sequences: {s: [Go]}, robots: {R1: {sequence: s}}}
""" + f"machines: [{SOURCE}/config/machines/counter.yaml]\n"
MOVES = 30
LISTENERS = 8
WRONG_REPLY = "no reply"
# Schemas of messages that this lab does not send: lines of journals; its team never ends.
NOT_SENT = {"line", "team_result", "time"}
# A wrong value of each query parameter.
WRONG = {"limit": "0", "cursor": "abc", "since": "tomorrow", "until": "2026-13-01T00:00:00Z", "order": "up", "format": "xml",
         "verdict": "LATE", "type": "odd", "model": "walk", "method": "best", "side": "left", "columns": "u",
         "biases": "perhaps", "plausible": "perhaps", "hold": "fast", "robust": "very", "ridge": "-1", "delay_max_s": "nan", "heading_m": "-1", "arm": "snake", "reference": "mass",
         "name": "", "pair": "", "refit": "again", "last_event_id": "last", "points": "0", "field": "lag",
         "runs": "0", "seed": "-1", "spread": "1", "draws": "-1", "horizon_s": "0", "team": "", "job": "", "set": "faster", "inertia": "-1", "torque_per_unit": "nan",
         "mass": "heavy", "yaw_inertia": "-1", "real_version": "", "virtual_version": "", "rotation_rad": "far", "displacement_m": "nan", "level": "0.99", "open": "2", "goal": "2",
         "curves": "often", "held_out_bytes": "-1", "held_out_name": "x" * 200}
# Further parameters that a value needs to be right.
WITH = {("postIdentify", "side"): {"model": "travel_time"}, ("postIdentify", "heading_m"): {"model": "odometry"},
        ("postIdentify", "arm"): {"model": "arm_kinematics"}, ("getForecast", "level"): {"rotation_rad": "1"},
        ("getForecast", "rotation_rad"): {"displacement_m": "0.3"}, ("getForecast", "displacement_m"): {"rotation_rad": "1"}}
# Declared answers that this test cannot provoke, with the reason.
NOT_PROVOKED = {
    ("getCapture", "500"): "64 MB in one pair's window",
    ("postToken", "503"): "declared for all that writes",
    ("postPromote", "409"): "two candidates, or a MARGINAL one; unit.test_web has it",
    **{(operation, "503"): "while it starts or stops; unit.test_web has it"
       for operation in ("postPropose", "postPromote", "postRollback", "putFollowing", "postPairIdentify", "postIdentify",
                         "postReplay", "postTeamStart", "postTeamJob", "postTeamRelease", "postTeamReset", "postTeamAbort",
                         "postTeamSkip", "postTeamStop", "postTeamSimulate", "postMission", "deleteMission")},
}


def make_elsewhere():
    """Loopback up, and another address on it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for name, address in ((b"lo", "127.0.0.1"), (b"lo:1", ELSEWHERE)):
            packed = struct.pack("16sH2s4s8x", name, socket.AF_INET, b"", socket.inet_aton(address))
            fcntl.ioctl(s, 0x8916, packed)  # SIOCSIFADDR
            fcntl.ioctl(s, 0x8914, struct.pack("16sH14s", name, 0x41, b""))  # SIOCSIFFLAGS: up, running


class Lab:
    def __init__(self, rig, apart):
        self.rig, self.apart = rig, apart
        self.seen = {}
        bind = "bind: 0.0.0.0, " if apart else ""
        rig.lab.write_text(rig.lab.read_text().replace("http: {", f"http: {{{bind}upload_mb: 2, uploads_max: 2, listeners_max: {LISTENERS}, "))

    def open(self):
        """The daemon, and its log."""
        self.rig.start_daemon()
        self.contract = Contract(self.rig.get("/api/v1/openapi.json"))
        self.by_id = {operation.id: operation for operation in self.contract.operations}

    def raw(self, method, path, body=None, headers=None, host="127.0.0.1"):
        connection = http.client.HTTPConnection(host, self.rig.http_port, timeout=limit_s(30), source_address=(host, 0))
        try:
            if "Expect" in (headers or {}):
                connection.request(method, path, headers={"Content-Length": str(len(body)), **headers})  # and waits
            else:
                connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            if names.get("content-type", "").startswith("text/event-stream"):
                return Answer(answer.status, names, answer.readline().decode())  # it never ends
            return Answer(answer.status, names, answer.read().decode(errors="replace"))  # pictures, too
        finally:
            connection.close()

    def send(self, operation, ids=None, query=None, media=None, body=None, token=TOKEN, want=None, host="127.0.0.1", **headers):
        """An answer that satisfies the contract."""
        path = operation.path_with(**(ids or {})) + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"Authorization": "Bearer " + token} if token else {}
        headers |= {"Content-Type": media} if media else {}
        answer = self.raw(operation.method, path, body.encode() if body else None, headers, host)
        operation.check(answer)
        self.seen[operation.id, str(answer.status)] = path
        assert want is None or answer.status in want, f"{operation} as {path}: {answer.status} {answer.text[:300]}"
        return answer


# ---- a lab with data for every answer ----


def contradict(rig):
    """Two robots under the test's control, whose answers differ; the simulator receives the real robot's pose."""
    rig.wait(lambda: len(rig.records("r2", "entries")) == 1, "the command before has timed out", 10)
    rig.publish("tandem/v1/r2/command", {"id": "c2", "op": "go"})
    rig.wait(lambda: rig.get("/api/v1/pairs/r2")["outstanding"] == 1, "it is under way", 5)
    pose = {"x_m": 0.5, "y_m": 0, "psi_rad": 1.57}
    rig.publish("tandem/v1/r2/real/reply", {"id": "c2", "status": "done", "values": pose})
    rig.publish("tandem/v1/r2/virtual/reply", {"id": "c2", "status": "blocked", "values": {**pose, "x_m": 0.25}})
    rig.publish("tandem/v1/r2/virtual/pose/ack", {"correction": 1, "applied": ["x_m", "y_m", "psi_rad"], "refused": []})


def fill(lab):
    rig = lab.rig
    rig.robots = [
        rig.start("robot", "--pair", "r1", "--side", "both", "--angular-speed", "20", "--linear-speed", "6", "--t0", "0.02", "--ta", "0.03",
                  "--tr", "0.04", "--noise", "0.004", "--telemetry-rate", 10),
        rig.start("robot", "--kind", "usv3", "--pair", "boat", "--side", "both", "--telemetry-rate", 100),
        rig.start("robot", "--kind", "diffdrive", "--pair", "wheels", "--side", "real", "--telemetry-rate", 1)]
    pilot = Pilot(rig, 0.1, stamped=True)
    pilot.start()
    rig.wait(lambda: all(rig.get("/api/v1/pairs/" + pair)[side]["connection"] == "online" for pair in ("r1", "boat")
                         for side in ("real", "virtual")), "robots", 60)
    for _ in range(2):
        rig.publish("tandem/v1/r1/real/reply", WRONG_REPLY)
    rig.publish("tandem/v1/r2/command", {"id": "c1", "op": "go"})  # no robot is connected: Tandem itself replies
    contradict(rig)
    rig.publish("tandem/v1/cell/request", {"id": "q1", "op": "lock", "robot": "R9", "resources": ["IB"]})
    rig.publish("tandem/v1/cell/job", {"id": "q2", "part": "a", "seq": "nothing"})
    driver = rig.start("drive", "--pair", "r1", "--count", MOVES, "--interval", 0, "--timeout", 5)
    assert driver.wait(limit_s(120)) == 0
    rig.wait(lambda: len(rig.records("r1", "entries")) == MOVES, "entries", 30)
    rig.wait(lambda: rig.get("/api/v1/pairs/boat/dynamics")["real"]["counts"]["done"] >= 1, "the first fit", 60)
    return pilot


def listen(rig):
    """Records all messages of the broker in a file."""
    received = rig.folder / "heard.jsonl"
    rig.run(["mosquitto_sub", "-p", rig.broker_port, "-q", "1", "-t", "tandem/v1/#", "-F", "%j"], stdout=open(received, "w"))
    return received


def check_received(received):
    """Every message satisfies its schema, and there was one of each."""
    messages = [json.loads(line) for line in received.read_text().splitlines()]
    messages = [(m["topic"], json.loads(m["payload"])) for m in messages if m["payload"] != WRONG_REPLY]
    schemas = load(SOURCE)
    used = check_messages(schemas, "tandem/v1", messages)
    assert used == set(schemas) - NOT_SENT, f"no message of {set(schemas) - NOT_SENT - used}"
    return len(messages)


def changed(lab, action, count=1):
    def is_there():
        changes = lab.rig.get("/api/v1/pairs/r1/parameters/changes")["changes"]
        return sum(change["action"] == action for change in changes) >= count
    lab.rig.wait(is_there, action)


def follows(lab):
    lab.rig.wait(lambda: lab.rig.get("/api/v1/pairs/boat/following")["state"] == "TRACKING", "it follows", 20)
    lab.rig.wait(lambda: lab.rig.get("/api/v1/pairs/boat/fidelity")["samples"] > 0, "fidelity", 20)


def fails(lab):
    """No robot is connected that would execute R1's commands."""
    lab.rig.wait(lambda: lab.rig.get("/api/v1/teams/cell")["state"]["robots"]["R1"]["state"] == "ERROR", "R1 in Error", 10)


def promoted(lab):
    """The active set as a fragment, in a format that has one and in one that has none."""
    changed(lab, "acknowledged")
    fragment = lab.send(lab.by_id["getFragment"], {"id": "r1"}, want=(200,)).json()
    active = lab.rig.get("/api/v1/pairs/r1/parameters")["active"]
    assert fragment["values"] == active["values"] and fragment["ci95"] == active["ci95"], fragment
    lab.send(lab.by_id["getFragment"], {"id": "r1"}, {"format": "sdf"}, want=(400,))
    check_unchanged(lab, lab.by_id["getFragment"])


# Waits for the result of an example that was accepted.
AFTER = {"postTeamRelease": fails,
         "postPropose": lambda lab: changed(lab, "proposed"), "postPromote": promoted,
         "postRollback": lambda lab: changed(lab, "rolled_back"), "putFollowing": follows}


# ---- examples ----


def end_job(lab, answer):
    path = answer.headers["location"]
    operation, ids = lab.by_id["getJob"], {"job": path.rsplit("/", 1)[1]}
    lab.rig.wait(lambda: lab.send(operation, ids).json()["ended_t"] is not None, "the job ends", 60)
    lab.rig.wait(lambda: lab.rig.get("/api/v1/pairs/boat/dynamics")["real"]["job"] is None, "the lab has its result", 20)
    return lab.send(operation, ids).json()


def queries(operation):
    """Each example value of each parameter, with the parameters that it needs."""
    needed = {name: operation.values(name)[0] for name, p in operation.in_query.items() if p.get("required")}
    yield needed
    for name in operation.in_query:
        for value in operation.values(name) if name != "cursor" else []:
            text = json.dumps(value) if isinstance(value, bool) else value
            yield {**needed, **WITH.get((operation.id, name), {}), name: text}


def walk_pages(lab, operation):
    cursor = lab.send(operation, query={"limit": 1}).json()["next_cursor"]
    if operation.id == "getLabAlarms":  # this lab has no alarm outside of its pairs
        return
    assert cursor, f"{operation}: one page only"
    lab.send(operation, query={"limit": 1, "cursor": cursor}, want=(200,))


def last_capture(lab):
    """The id of a capture that is written; timeouts make some."""
    return lab.rig.wait(lambda: [c["id"] for c in lab.rig.get("/api/v1/captures") if c["complete"]], "a capture", 20)[0]


def made_ids(lab, operation):
    """Ids of examples are those of the lab, apart from those of jobs and captures."""
    if "capture" in operation.in_path:
        return {"capture": last_capture(lab) + ".jsonl"}
    return {"job": lab.send(lab.by_id["getJobs"]).json()["jobs"][0]["id"]} if "job" in operation.in_path else {}


def remove_capture(lab):
    delete, name = lab.by_id["deleteCapture"], last_capture(lab)
    lab.send(delete, {"capture": name}, want=(200,))
    lab.send(delete, {"capture": name}, want=(404,))
    lab.send(lab.by_id["getCapture"], {"capture": name + ".mcap"}, want=(404,))


def run_examples(lab, operation):
    count = 0
    if operation.method == "DELETE":
        return count  # see cancel(), remove_capture(), cancel_mission()
    ids = made_ids(lab, operation)
    for media, body in operation.bodies():
        for query in queries(operation):
            # After the rollback no set is active.
            want = (404,) if operation.id == "getFragment" else (200, 202)
            answer = lab.send(operation, ids, query, media, body, want=want)
            count += 1
            if answer.status == 202 and "location" in answer.headers:
                job = end_job(lab, answer)
                # A table that is short enough for an example is too small for a fit.
                assert job["state"] == "done" or operation.id == "postIdentify", job
    if "cursor" in operation.in_query:
        walk_pages(lab, operation)
        count += 1
    AFTER.get(operation.id, lambda lab: None)(lab)
    return count


def read_everything(lab):
    """Every resource of every pair, and every file of the page."""
    pairs = [pair["id"] for pair in lab.rig.get("/api/v1/pairs")["pairs"]]
    assert len(pairs) == 8
    for operation in lab.contract.operations:
        if operation.method == "GET" and "id" in operation.in_path:
            for pair in pairs:
                lab.send(operation, {"id": pair}, want=(200, 404))
    for path in (SOURCE / "web/page").iterdir():
        if path.name != "index.html":
            lab.send(lab.by_id["getPageFile"], {"file": path.name}, want=(200,))


def refuse_teams(lab):
    """Requests that a team must refuse now. R2 has not begun; the second start and the second stop find nothing to
    do.
    """
    for name in ("postTeamReset", "postTeamAbort", "postTeamSkip"):
        lab.send(lab.by_id[name], {"robot": "R2"}, want=(409,))
    lab.send(lab.by_id["postTeamRelease"], media="application/json", body='{"fence": 99}', want=(409,))
    lab.send(lab.by_id["postTeamJob"], media="application/json", body='{"part": "a", "seq": "walk"}', want=(409,))
    lab.send(lab.by_id["getTeamPlan"], {"team": "unplanned"}, want=(409,))
    for name in ("postTeamStart", "postTeamStop"):
        lab.send(lab.by_id[name], want=(202,))
        lab.send(lab.by_id[name], want=(409,))


def cancel_mission(lab):
    """The mission of the example has sent a command that no robot answers. Its id is not another mission's."""
    post, delete = lab.by_id["postMission"], lab.by_id["deleteMission"]
    for mission in ({"id": "m7", "kind": "SWEEP"}, {"id": "m8", "kind": "SWEEP", "path_m": []},
                    {"id": "m8", "kind": "NAVIGATE", "goal_m": [1, 1]}):
        lab.send(post, media="application/json", body=json.dumps(mission), want=(409 if mission["id"] == "m7" else 400,))
    answer = lab.send(delete, want=(202,)).json()
    assert answer["cancelling"], answer
    lab.send(delete, {"mission": "nothing"}, want=(404,))
    lab.rig.publish("tandem/v1/crawler/mission", {"id": "m8", "kind": "SWEEP"})
    lab.send(post, {"id": "r1"}, media="application/json", body='{"id": "m9", "kind": "SWEEP"}', want=(404,))


# ---- jobs ----


def long_recording():
    """The golden recording repeated many times: a fit that takes long."""
    rows = [line.split(",", 1) for line in (SOURCE / "tests/golden/usv_W.csv").read_text().splitlines()]
    data = [row for row in rows if row[0][:1].isdigit()]
    head = [",".join(row) for row in rows if not row[0][:1].isdigit()]
    step = float(data[1][0]) - float(data[0][0])
    return "\n".join(head + [f"{(k * len(data) + i) * step:.3f},{row[1]}" for k in range(6) for i, row in enumerate(data)]) + "\n"


def fit(lab, body, **query):
    columns = "tau_u=Tu,tau_v=Tv,tau_r=Tr,u=u_meas,v=v_meas,r=r_meas"
    return lab.send(lab.by_id["postIdentify"], query={"model": "usv3", "columns": columns, **query}, media="text/csv", body=body)


def cancel(lab, post, get, delete):
    """A running fit, a waiting job, and one more that is refused; both are cancelled at the addresses of jobs of
    this kind.
    """
    text = long_recording()
    assert 700_000 < len(text) < 2_000_000, len(text)
    post, get, delete = [lab.by_id[name] for name in (post, get, delete)]
    media, body = list(post.bodies())[-1]
    query = next(queries(post))
    first = fit(lab, text, method="pem").json()["id"]
    second = lab.send(post, query=query, media=media, body=body, want=(202,)).json()["id"]
    lab.send(post, query=query, media=media, body=body, want=(429,))
    lab.rig.wait(lambda: lab.send(get, {"job": first}).json()["state"] == "running", "it runs", 30)
    lab.send(delete, {"job": second}, want=(200,))
    lab.send(delete, {"job": first}, want=(202,))
    lab.rig.wait(lambda: lab.send(get, {"job": first}).json()["ended_t"] is not None, "it ends", 60)
    lab.send(delete, {"job": first}, want=(409,))


def check_jobs(lab):
    done = end_job(lab, fit(lab, (SOURCE / "tests/golden/usv_W.csv").read_text()))
    assert done["state"] == "done" and done["result"]["verdict"] == "PASS", done
    cancel(lab, "postIdentify", "getJob", "deleteJob")
    cancel(lab, "postReplay", "getReplay", "deleteReplay")
    cancel(lab, "postTeamSimulate", "getJob", "deleteJob")


# ---- errors ----


def ask_wrongly(lab, operation):
    needed = next(queries(operation))
    media = next(iter(operation.body.get("content", {})), None)
    body = list(operation.bodies())[-1][1]
    def refused(status, query=None, body=body, media=media, **options):
        lab.send(operation, options.pop("ids", None), {**needed, **(query or {})}, media, body, want=(status,), **options)
    refused(400, {"no_such_parameter": 1})
    refused(414, {"x": "x" * 2100})
    refused(421, Host="elsewhere.example")
    for name in operation.in_query:
        assert name in WRONG, f"{operation}: WRONG needs a value of '{name}' that is refused"
        refused(400, {name: WRONG[name]})
    if media == "application/json":
        refused(400, body="{")
        refused(400, body='{"no_such_member": 1}')
        refused(413, body=json.dumps({"op": "x" * (70000 if operation.id in ("postForecast", "postMission") else 300)}))
    elif media:
        refused(413, body="x" * 2_100_000, Expect="100-continue")
        refused(415, media="text/plain")
    else:
        refused(413, body="x")
    for name in operation.in_path:
        refused(404, ids={name: "1" if name == "job" else "nobody"})
    if "404" in operation.responses:
        refused(404, ids={name: "a.b" for name in operation.in_path})
    if "401" in operation.responses:
        host = "127.0.0.1" if operation.writes else ELSEWHERE
        if operation.writes or lab.apart:
            refused(401, token=None, host=host)
            answer = lab.send(operation, None, needed, media, body, token="wrong", host=host, want=(401, 429))
            assert answer.status == 401 or answer.json()["type"] == "/problems/too-many-tokens", answer.text


def guess_from_elsewhere(lab):
    """A client with wrong tokens must wait, whatever token it shows; after the right one it passes, also while wrong
    ones wait.
    """
    if lab.apart:
        pairs = lab.by_id["getPairs"]
        assert any(lab.send(pairs, token="wrong", host=ELSEWHERE).status == 429 for _ in range(12)), "wrong tokens"
        answer = lab.send(pairs, host=ELSEWHERE, want=(429,))
        assert answer.json()["type"] == "/problems/too-many-tokens" and answer.headers["retry-after"] == "1", answer.text
        lab.rig.wait(lambda: lab.send(pairs, host=ELSEWHERE).status == 200, "the right token is read again", 10)
        while lab.send(pairs, token="wrong", host=ELSEWHERE).status != 429:
            pass
        lab.send(pairs, host=ELSEWHERE, want=(200,))


def read_from_elsewhere(lab):
    """With the token from any machine; without it only the summary of its health."""
    if lab.apart:
        for operation in ("getMetrics", "getPairs", "getEntries"):
            lab.send(lab.by_id[operation], host=ELSEWHERE, want=(200,))
        for operation in ("getHealthz", "getReadyz"):
            lab.send(lab.by_id[operation], token=None, host=ELSEWHERE, want=(200,))


def check_unchanged(lab, operation):
    """Requests that a robot or the time has made invalid."""
    for _ in range(20):
        tag = lab.send(operation, made_ids(lab, operation), want=(200,)).headers["etag"]
        if lab.send(operation, made_ids(lab, operation), want=(200, 304), If_None_Match=tag).status == 304:
            return
    raise AssertionError(f"{operation}: never unchanged")


def check_methods(lab):
    """A path refuses other methods, and names those that it has."""
    problem = {"$ref": "#/components/schemas/Problem"}
    for path in lab.contract.document["paths"]:
        example = next(operation for operation in lab.contract.operations if operation.path == path).path_with()
        # A team may be called "simulate": that path has two meanings.
        there = {operation.method: operation for operation in lab.contract.operations
                 if operation.path == path or re.fullmatch(re.sub(r"\{team\}", "simulate", operation.path), example)}
        for method in {"GET", "PUT", "POST", "DELETE", "PATCH"} - set(there):
            answer = lab.raw(method, example, headers={"Authorization": "Bearer " + TOKEN})
            lab.contract.validate(problem, answer.json(), f"{method} {path}")
            allowed = set(re.findall(r"\w+", answer.headers.get("allow", ""))) - {"HEAD"}
            assert answer.status == 405 and allowed == set(there), f"{method} {path}: {answer.status}, Allow {allowed}"


def crowd(lab):
    """More listeners than allowed. The daemon may notice late that earlier ones have left."""
    listeners = []
    try:
        while lab.send(lab.by_id["getEvents"], want=(200, 503)).status == 200:
            assert len(listeners) < 2 * LISTENERS, "too many are let in"
            listeners.append(http.client.HTTPConnection("127.0.0.1", lab.rig.http_port, timeout=limit_s(30)))
            listeners[-1].request("GET", lab.by_id["getEvents"].path)
            listeners[-1].getresponse()
    finally:
        for listener in listeners:
            listener.close()


def without_broker(lab):
    lab.rig.broker.terminate()
    lab.rig.broker.wait(limit_s(10))
    lab.rig.wait(lambda: lab.send(lab.by_id["getReadyz"]).status == 503, "not ready without a broker", 20)
    lab.send(lab.by_id["postCommand"], media="application/json", body='{"op": "halt"}', want=(503,))
    lab.rig.start_broker()


def hurry(lab):
    """More requests than one client may make."""
    status = lab.by_id["getStatus"]
    assert any(lab.send(status, want=(200, 429)).status == 429 for _ in range(1000)), "no client must wait"


def block_store(store):
    """A folder in its place, where the daemon cannot create a store; a removed store is created again within a
    moment.
    """
    store.rename(store.with_name("hidden.db"))
    while not store.is_dir():
        try:
            store.mkdir()
        except FileExistsError:
            store.unlink()


def without_token_and_store(lab):
    """A second daemon without write access does not find its store and accepts few requests."""
    rig = lab.rig
    rig.stop_daemon()
    text = re.sub(r", token_file: [^}]*", ", client_requests_per_s: 40", rig.lab.read_text()).replace("bind: 0.0.0.0, ", "")
    rig.lab.write_text(text)
    rig.start_daemon()
    block_store(rig.folder / "store.db")
    for operation in lab.contract.operations:
        if operation.writes:
            lab.send(operation, query=next(queries(operation)), body=list(operation.bodies())[-1][1], token=None, want=(403,))
        elif "503" in operation.responses and operation.id not in ("getReadyz", "getEvents"):
            lab.send(operation, token=None, want=(503,))
    hurry(lab)
    (rig.folder / "store.db").rmdir()


# ---- declared answers that never came ----


def routes():
    text = (SOURCE / "web/resource/routes.def").read_text()
    return [f"{method} {path}" for method, path in re.findall(r'ROUTE\(([A-Z]+),\s*"([^"]+)"', text)]


def check_examples(contract):
    shown = {str(operation): operation.lacks() for operation in contract.operations}
    lacking = [f"{route}: {shown.get(route, 'not in the contract')}" for route in routes() if shown.get(route, "") is not None]
    assert not lacking, "web/openapi.yaml lacks an example:\n  " + "\n  ".join(lacking)
    assert len(routes()) == len(shown), "a route was not found in web/resource/routes.def"


def check_all_seen(lab):
    missing = []
    for operation in lab.contract.operations:
        for status in set(operation.responses) - {"default"}:
            seen = (operation.id, status) in lab.seen
            excused = (operation.id, status) in NOT_PROVOKED or (status == "401" and not operation.writes and not lab.apart)
            if seen == excused:
                missing.append(f"{operation} {status}: " + ("excused, but seen" if seen else "declared, but never seen"))
    assert not missing, "\n  ".join(["the contract and the daemon differ:"] + missing)


def main():
    apart = "apart" in sys.argv
    if apart:
        make_elsewhere()
    with Rig(PAIRS, extra='capture: {"on": [timeout], before_s: 1, after_s: 0.1, every_s: 0}') as rig:
        lab = Lab(rig, apart)
        lab.open()
        checked = lab.contract.check_shape()
        check_examples(lab.contract)
        received = listen(rig)
        pilot = fill(lab)
        writing_first = sorted(lab.contract.operations, key=lambda operation: not operation.writes)
        sent = sum(run_examples(lab, operation) for operation in writing_first)
        lab.send(lab.by_id["postPairIdentify"], body='{"side": "virtual"}', media="application/json", want=(409,))
        refuse_teams(lab)
        cancel_mission(lab)
        read_everything(lab)
        pilot.stop()
        for robot in rig.robots:
            robot.terminate()
            robot.wait(limit_s(10))
        messages = check_received(received)
        check_jobs(lab)
        remove_capture(lab)
        crowd(lab)
        guess_from_elsewhere(lab)
        for operation in lab.contract.operations:
            ask_wrongly(lab, operation)
            if "304" in operation.responses and operation.id != "getFragment":  # see promoted()
                check_unchanged(lab, operation)
        check_methods(lab)
        read_from_elsewhere(lab)
        without_broker(lab)
        without_token_and_store(lab)
        check_all_seen(lab)
        print(f"{messages} messages and {checked} examples fit their schemas; {sent} requests made of them are answered as declared; "
              f"{len(lab.seen)} kinds of answers seen, {len(NOT_PROVOKED)} excused")


main()
