"""POST /api/v1/replay over a real port: the daemon's own journal gives the daemon's results, its entries as a table
give the same laps and verdicts; bounded, cancellable, and without effect on the lab.
"""
import json
import random
import time
import urllib.error
import urllib.request

from rig import Rig, member, replay
from waiting import limit_s, wait_until

TOKEN = "secret-of-the-test"


def request(rig, method, path, body=None, media=None, want=200):
    headers = {"Authorization": "Bearer " + TOKEN, **({"Content-Type": media} if media else {})}
    url = f"http://127.0.0.1:{rig.http_port}{path}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method, data=body, headers=headers), timeout=limit_s(60)) as answer:
            status, headers, text = answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        status, headers, text = error.code, error.headers, error.read().decode()
    assert status == want, (method, path, status, text)
    return headers, text


def upload(rig, body, query="", media="application/jsonl"):
    headers, text = request(rig, "POST", f"/api/v1/replay{query}", body, media, 202)
    assert json.loads(text)["model"] == "replay", text
    return headers["Location"]


def wait(rig, location, seconds=60):
    def ended():
        text = rig.fetch(location)
        return text if json.loads(text)["ended_t"] is not None else None
    return wait_until(ended, f"{location} has ended", seconds)


def drive(rig):
    """Some moves of two pairs, and a reply without a command."""
    rig.start_daemon()
    for pair in ("r1", "s2"):
        for k in range(6):
            rig.publish(f"tandem/v1/{pair}/command", {"id": f"c{k}", "op": "go", "rotation_rad": 0.1 * k, "displacement_m": 0.1})
            for side in ("real", "virtual")[::1 if k % 2 else -1]:
                rig.publish(f"tandem/v1/{pair}/{side}/reply", {"id": f"c{k}", "status": "done"})
    rig.publish("tandem/v1/r1/real/reply", {"id": "c0", "status": "done"})
    rig.wait(lambda: sum(p["entries"] for p in rig.get("/api/v1/pairs")["pairs"]) == 12, "all entries")
    rig.wait(lambda: len(rig.records("r1", "entries")) == 6 and len(rig.records("s2", "entries")) == 6
             and len(rig.records("r1", "alarms")) == 1, "all stored")


def check_journal(rig):
    """The journal so far gives the daemon's results, and those of the command."""
    files = sorted((rig.folder / "journal").glob("*.jsonl"))
    body = b"".join(path.read_bytes() for path in files)
    text = wait(rig, upload(rig, body, "?name=so-far.jsonl"))
    assert json.loads(text)["state"] == "done", text
    copy = rig.folder / "copy.jsonl"
    copy.write_bytes(body)
    printed = replay(rig.lab, copy)
    result = json.loads(text)["result"]
    assert list(result["pairs"]) == ["r1", "s2"], result["pairs"].keys()
    for pair in ("r1", "s2"):
        uploaded, command = (member(document, pair) for document in (member(text, "result"), printed))
        for name in ("entries", "alarms", "changes", "counts", "alarm_counts", "travel_time", "tracked", "clock"):
            assert member(uploaded, name) == member(command, name), (pair, name)
        assert [json.dumps(e) for e in result["pairs"][pair]["entries"]] == \
            [json.dumps(json.loads(e)) for e in rig.records(pair, "entries")]
        assert len(result["pairs"][pair]["lag"]) == 6
    assert member(text, "journal") == member(printed, "journal")
    only = json.loads(wait(rig, upload(rig, body, "?pair=s2")))
    assert list(only["result"]["pairs"]) == ["s2"] and only["pair"] == "s2", only


def check_table(rig):
    for pair in ("r1", "s2"):
        table = rig.fetch(f"/api/v1/pairs/{pair}/entries?format=csv&order=oldest").encode()
        text = wait(rig, upload(rig, table, "?name=entries.csv", "text/csv"))
        assert json.loads(text)["state"] == "done", text
        members = ("id", "t", "op", "rotation_rad", "displacement_m", "real_lap_s", "virtual_lap_s", "lag_s")
        again = [{k: e[k] for k in members} for e in json.loads(text)["result"]["pairs"][pair]["entries"]]
        assert again == [{k: json.loads(e)[k] for k in members} for e in rig.records(pair, "entries")], (again, table)


def check_refusals(rig):
    _, text = request(rig, "POST", "/api/v1/replay?pair=r9", b"x", "text/csv", 400)
    assert json.loads(text)["parameter"] == "pair", text
    _, text = request(rig, "POST", "/api/v1/replay?model=usv3", b"x", "text/csv", 400)
    assert json.loads(text)["code"] == "unknown_parameter", text
    request(rig, "POST", "/api/v1/replay?refit=1", b"x", "text/csv", 400)
    request(rig, "POST", "/api/v1/replay", b"{}", "application/json", 415)
    request(rig, "POST", "/api/v1/replay", b"", "text/csv", 400)
    try:
        request(rig, "POST", "/api/v1/replay", b"x" * 2_000_001, "text/csv", 413)
    except urllib.error.URLError as error:
        assert isinstance(error.reason, (BrokenPipeError, ConnectionResetError)), error  # closed while this still sent
    request(rig, "GET", "/api/v1/replay/1", want=404)
    request(rig, "DELETE", "/api/v1/replay/1", want=404)
    job = json.loads(wait(rig, upload(rig, b"{}\n{", "?name=what.jsonl")))
    assert job["state"] == "failed" and job["error"]["where"] == "what.jsonl" and job["error"]["line"] == 1, job
    assert job["error"]["code"] == "missing_key", job


def check_cancel(rig):
    """Two replays may be in memory; both end on request."""
    moves = b"pair,t,rotation_rad,displacement_m,real_lap_s,virtual_lap_s\n" + b"".join(
        b"r1,%d,1,0,1,1\n" % (10 * k) for k in range(100000))
    first = upload(rig, moves, media="text/csv")
    second = upload(rig, moves, media="text/csv")
    headers, text = request(rig, "POST", "/api/v1/replay", b"t\n0\n", "text/csv", 429)
    assert headers["Retry-After"] and json.loads(text)["type"] == "/problems/too-many-jobs", text
    _, text = request(rig, "DELETE", second)
    assert json.loads(text)["state"] == "cancelled", text
    rig.wait(lambda: json.loads(rig.fetch(first))["state"] == "running", "it runs")
    begin = time.monotonic()
    request(rig, "DELETE", first, want=202)
    assert json.loads(wait(rig, first))["state"] == "cancelled"
    duration_s = time.monotonic() - begin
    assert duration_s < limit_s(5), duration_s
    print(f"cancelled after {duration_s:.2f} s")
    request(rig, "DELETE", first, want=409)
    assert "\ntandem_uploads 0\n" in rig.fetch("/metrics")


def telemetry(pair, axes, seconds):
    """First-order channels as mosquitto_sub records them, ten samples a second in batches of five seconds."""
    draw = random.Random(3)
    nu, lines = [0.0] * axes, []
    for k in range(seconds * 10):
        if k % 15 == 0:
            tau = [round(draw.uniform(-50, 50), 2) for _ in range(axes)]
        if k % 50 == 0:
            batch = []
        batch.append({"t": 100 + k / 10, "seq": k, "nu": [round(v + draw.gauss(0, 0.01), 4) for v in nu], "tau": tau})
        nu = [0.9 * v + 0.002 * f for v, f in zip(nu, tau)]
        if k % 50 == 49:
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1763800000 + k // 10))
            lines.append(json.dumps({"tst": stamp, "topic": f"tandem/v1/{pair}/real/telemetry", "qos": 0, "retain": 0,
                                     "payload": batch}) + "\n")
    return "".join(lines).encode()


def check_fits(rig):
    """A recording without the daemon's lines: fits as on the command line; a long fit ends on request."""
    body = telemetry("d1", 1, 100)
    copy = rig.folder / "plain.jsonl"
    copy.write_bytes(body)
    printed = member(replay(rig.lab, copy), "d1")
    for query in ("", "?pair=d1&refit=true"):
        uploaded = member(member(wait(rig, upload(rig, body, query)), "result"), "d1")
        for name in ("dynamics", "changes", "alarms"):
            assert member(uploaded, name) == member(printed, name), name
    counts = json.loads(printed)["dynamics"]["real"]["counts"]
    assert counts["started"] == counts["done"] >= 2, counts
    long = upload(rig, telemetry("d2", 3, 800))
    rig.wait(lambda: json.loads(rig.fetch(long))["stage"] in ("fit", "held_out"), "a fit runs", seconds=60)
    begin = time.monotonic()
    request(rig, "DELETE", long, want=202)
    assert json.loads(wait(rig, long))["state"] == "cancelled"
    duration_s = time.monotonic() - begin
    assert duration_s < limit_s(5), duration_s
    print(f"cancelled in the middle of a fit after {duration_s:.2f} s")


PAIRS = """r1: {}
  s2: {}
  quiet: {}
  d1: {dynamics: {model: first_order, sides: real, window: 400, window_s: 40, refit_s: 30}}
  d2: {dynamics: {model: usv3, sides: real, window: 8000, window_s: 800}}"""

with Rig(pairs=PAIRS) as rig:
    rig.lab.write_text(rig.lab.read_text().replace("http: {", "http: {upload_mb: 2, uploads_max: 2, "))
    drive(rig)
    before = rig.fetch("/api/v1/pairs")
    check_journal(rig)
    check_table(rig)
    check_refusals(rig)
    check_cancel(rig)
    check_fits(rig)
    assert rig.fetch("/api/v1/pairs") == before, "the lab has not noticed"
    rig.stop_daemon()
    assert "ERROR" not in rig.daemon_log.read_text(), rig.daemon_log.read_text()
