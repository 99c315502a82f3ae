"""POST /api/v1/identify over a real port: the result equals that of `tandem identify --json`, uploads are bounded,
jobs can be cancelled, and a daemon can stop while a fit runs.
"""
import http.client
import json
import pathlib
import subprocess
import tempfile
import time
import urllib.error

from rig import Rig, SOURCE, TANDEM
from waiting import limit_s, wait_until

TOKEN = "secret-of-the-test"
COLUMNS = "tau_u=Tu,tau_v=Tv,tau_r=Tr,u=u_meas,v=v_meas,r=r_meas"
VESSEL = f"model=usv3&columns={COLUMNS.replace('=', '%3D')}"
UPLOAD_MAX = 12_000_000
# Some thousand samples a fit, with sanitizers and other work on the same processor.
STEP_S = limit_s(5)
golden = SOURCE / "tests/golden"


def request(rig, method, path, body=None, token=TOKEN, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", rig.http_port, timeout=limit_s(60))
    if token:
        headers["Authorization"] = "Bearer " + token
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, headers, encode_chunked=not isinstance(body, (bytes, type(None))))
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def upload(rig, query, body, want=202):
    status, headers, text = request(rig, "POST", "/api/v1/identify?" + query, body, Content_Type="text/csv")
    assert status == want, (status, text)
    return headers.get("Location"), json.loads(text)


def job(rig, location):
    status, _, text = request(rig, "GET", location)
    assert status == 200, text
    return text, json.loads(text)


def wait(rig, location, until, seconds=120):
    progress = 0.0

    def look():
        nonlocal progress
        text, state = job(rig, location)
        assert state["progress"] >= progress, text
        progress = state["progress"]
        assert until(state) or state["ended_t"] is None, text
        return (text, state) if until(state) else None
    return wait_until(look, location, seconds, 0.02)


def ended(state):
    return state["state"] in ("done", "failed", "cancelled")


def same_as_command(rig, model, query, path, *options, held_out=None):
    """The result has the bytes that the command prints. A held-out recording is the end of the body."""
    body = path.read_bytes()
    if held_out:
        query += f"&held_out_name={held_out.name}&held_out_bytes={held_out.stat().st_size}"
        body += held_out.read_bytes()
        options += ("--validate", held_out)
    location, accepted = upload(rig, f"{query}&name={path.name}", body)
    assert accepted["kind"] == "upload" and accepted["model"] == model, accepted
    text, state = wait(rig, location, ended)
    assert state["state"] == "done" and state["progress"] == 1, text
    printed = subprocess.run([TANDEM, "identify", "--model", model, "--json", *options, path],
                             check=True, capture_output=True, text=True).stdout
    assert text.endswith(',"error":null,"result":' + printed.strip() + "}\n"), (text[-300:], printed[-300:])
    return state


def degrees():
    """Moves whose rotations are in degrees but are declared as radians."""
    rows = ["lap_s,rotation_deg,displacement_m"]
    for k in range(40):
        turn, drive = (0 if k % 3 == 1 else 20 + 25 * (k % 6)), (0 if k % 3 == 0 else 0.2 + 0.2 * (k % 5))
        lap = 0.06 + (0.12 + turn / 68 if turn else 0) + (0.16 + drive / 0.2 if drive else 0) + (k * 37 % 11 - 5) / 500
        rows.append(f"{lap:.4f},{turn},{drive}")
    path = pathlib.Path(tempfile.mkdtemp()) / "degrees.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def check_results(rig):
    state = same_as_command(rig, "usv3", VESSEL, golden / "usv_W.csv", "--columns", COLUMNS)
    assert state["result"]["verdict"] == "PASS" and state["result"]["provenance"]["files"][0]["fnv1a"]
    state = same_as_command(rig, "usv3", VESSEL + "&method=weak_iv&biases=true", golden / "usv_IA.csv",
                            "--columns", COLUMNS, "--method", "weak_iv", "--biases", held_out=golden / "usv_W.csv")
    assert state["result"]["provenance"]["held_out"][0]["name"] == "usv_W.csv", state["result"]["provenance"]
    same_as_command(rig, "usv3", VESSEL + "&method=weak_iv&robust=true&ridge=1e-4&delay_max_s=0.3&reference=d1%3D120,delay_s=0",
                    golden / "usv_IA.csv", "--columns", COLUMNS, "--method", "weak_iv", "--robust", "--ridge", "1e-4",
                    "--delay-max", "0.3", "--reference", "d1=120,delay_s=0")
    state = same_as_command(rig, "travel_time", "model=travel_time&method=tukey&side=virtual&reference=w%3D1.2,linear_speed_mps=0.3",
                            golden / "smartlog.csv", "--method", "tukey", "--side", "virtual", "--reference", "w=1.2,linear_speed_mps=0.3")
    assert "linear_speed_mps" in state["result"]["comparison"]["contradicted"] and state["result"]["comparison"]["contradicts"]
    slow = {}
    for word in ("on", "off"):
        state = same_as_command(rig, "travel_time", f"model=travel_time&plausible={word}&columns=rotation_rad%3Drotation_deg",
                                degrees(), "--columns", "rotation_rad=rotation_deg", "--plausible", word)
        slow[word] = " ".join(state["result"]["reasons"])
    assert "looks like degrees" in slow["on"] and "looks like" not in slow["off"], slow


def check_faults(rig):
    rows = [
        (b"t,tau_u,tau_v,tau_r,u,v,r\n0,1,0,0,fast,0,0\n", 2, 9, "not_a_number"),
        (b"t,tau_u,tau_v,tau_r,u,v,r\n0,1,0,0,0,0,0\n1,2\n", 3, None, "wrong_count"),
        (b"a,b\n1,2\n", 1, None, "missing_column"),
        (b"t,tau_u,tau_v,tau_r,u,v,r\n0,1,0,0,0,0,0\n", None, None, "too_few"),
        (b"\x00\xff\xfe" * 1000, 1, None, "bad_encoding"),
    ]
    for body, line, column, code in rows:
        location, _ = upload(rig, "model=usv3&name=trial.csv", body)
        text, state = wait(rig, location, ended)
        error = state["error"]
        assert state["state"] == "failed" and state["result"] is None, text
        assert error.get("line") == line and error["code"] == code, text
        assert column is None or error["column"] == column, text
        assert line is None or error["where"] == "trial.csv", text
    for query, parameter in (("model=usv3&method=best", "method"), ("model=usv3&columns=u", "columns"),
                             ("model=usv3&columns=w%3Dx", "columns"), ("model=usv3&columns=%40lab.yaml", "columns"), ("model=walk", "model"),
                             ("model=usv3&side=left", "side"), ("model=arm_time&pair=r1", "pair"), ("model=travel_time&biases=true", "biases"), ("", "model"),
                             ("model=usv3&ridge=-1", "ridge"), ("model=usv3&delay_max_s=11", "delay_max_s"), ("model=usv3&robust=1", "robust"),
                             ("model=travel_time&delay_max_s=1", "delay_max_s"), ("model=usv3&reference=/etc/passwd", "reference"),
                             ("model=usv3&reference=mass%3D5", "reference"), ("model=usv3&reference=d1%3Dlots", "reference"), ("model=travel_time&reference=d1%3D1", "reference"),
                             ("model=usv3&plausible=perhaps", "plausible"), ("model=usv3&hold=fast", "hold")):
        _, problem = upload(rig, query, b"t\n0\n", want=400)
        assert problem["parameter"] == parameter, problem
    _, problem = upload(rig, "model=usv3&held_out_bytes=4", b"t\n0\n", want=400)
    assert problem["parameter"] == "held_out_bytes", problem
    assert request(rig, "POST", "/api/v1/identify?model=usv3", b"x", token=None)[0] == 401
    assert request(rig, "GET", "/api/v1/identify/1")[0] == 404
    assert request(rig, "DELETE", "/api/v1/identify/1")[0] == 404


def check_sizes(rig):
    try:
        status, _, text = request(rig, "POST", "/api/v1/identify?" + VESSEL, b"x" * (UPLOAD_MAX + 1),
                                  Content_Type="text/csv", Expect="100-continue")
        assert status == 413 and json.loads(text)["code"] == "body_too_large" and "12000000" in text, text
    except (BrokenPipeError, ConnectionResetError):
        pass  # the daemon answered and closed while the client was still sending
    pieces = (b"x" * 10000 for _ in range(UPLOAD_MAX // 10000 + 1))
    status, _, text = request(rig, "POST", "/api/v1/identify?" + VESSEL, pieces, Content_Type="text/csv",
                              Transfer_Encoding="chunked")
    assert status == 413, text


def long_recording(copies):
    """The golden recording repeated many times: a fit that takes long."""
    rows = [line.split(b",", 1) for line in (golden / "usv_W.csv").read_bytes().splitlines()]
    header = [line for line in rows if line[0].startswith(b"#") or not line[0][:1].isdigit()]
    data = rows[len(header):]
    step = float(data[1][0]) - float(data[0][0])
    out = [b",".join(line) for line in header]
    for k in range(copies):
        start = k * len(data) * step
        out += [b"%.3f,%s" % (start + i * step, row[1]) for i, row in enumerate(data)]
    return b"\n".join(out) + b"\n"


def check_cancel(rig, body):
    first, _ = upload(rig, VESSEL + "&method=pem", body)
    second, _ = upload(rig, VESSEL + "&method=pem", body)
    _, problem = upload(rig, VESSEL, b"t\n0\n", want=429)
    assert problem["type"] == "/problems/too-many-jobs", problem
    assert job(rig, second)[1]["state"] == "queued"
    status, _, text = request(rig, "DELETE", second)
    assert status == 200 and json.loads(text)["state"] == "cancelled", text
    wait(rig, first, lambda state: state["stage"] in ("output_error", "pem"))
    begin = time.monotonic()
    status, _, text = request(rig, "DELETE", first)
    assert status == 202 and json.loads(text)["cancelling"], text
    text, state = wait(rig, first, ended)
    duration_s = time.monotonic() - begin
    assert state["state"] == "cancelled" and state["result"] is None and duration_s < STEP_S, (duration_s, text)
    print(f"cancelled after {duration_s:.2f} s")
    assert request(rig, "DELETE", first)[0] == 409
    listed = rig.get("/api/v1/identify")["jobs"]
    ids = [int(entry["id"]) for entry in listed]
    assert ids == sorted(ids, reverse=True) and location_id(second) in ids, listed
    metrics = rig.fetch("/metrics")
    assert 'tandem_jobs_total{kind="upload",state="cancelled"} 2\n' in metrics
    assert "\ntandem_uploads 0\n" in metrics


def location_id(location):
    return int(location.rsplit("/", 1)[1])


def check_stop(rig, body):
    location, _ = upload(rig, VESSEL + "&method=pem", body)
    upload(rig, VESSEL, body)
    wait(rig, location, lambda state: state["stage"] in ("output_error", "pem"))
    begin = time.monotonic()
    rig.stop_daemon()
    duration_s = time.monotonic() - begin
    assert duration_s < STEP_S, duration_s
    print(f"stopped after {duration_s:.2f} s")


with Rig() as rig:
    rig.lab.write_text(rig.lab.read_text().replace("http: {", f"http: {{upload_mb: {UPLOAD_MAX // 1000000}, uploads_max: 2, "))
    rig.start_daemon()
    check_results(rig)
    check_faults(rig)
    check_sizes(rig)
    long = long_recording(40)
    assert 3_000_000 < len(long) < UPLOAD_MAX, len(long)
    check_cancel(rig, long)
    check_stop(rig, long)
    assert "ERROR" not in rig.daemon_log.read_text(), rig.daemon_log.read_text()
