"""GET .../dynamics and POST .../identify on a vessel in motion: the lab's fit is a job like any other."""
import json
import urllib.error
import urllib.request

from pilot import Pilot
from rig import Rig, member, replay
from waiting import limit_s

TOKEN = "secret-of-the-test"
PAIRS = ("boat: {kind: usv3, dynamics: {model: usv3, sides: real, method: weak_iv, window: 800, window_s: 80, refit_s: 0}}\n"
         "  raft: {kind: usv3}")


def ask(rig, path, body=b""):
    """Status and document of a POST, also of errors."""
    request = urllib.request.Request(f"http://127.0.0.1:{rig.http_port}{path}", method="POST", data=body,
                                     headers={"Authorization": "Bearer " + TOKEN, "Content-Type": "text/csv"})
    try:
        with urllib.request.urlopen(request, timeout=limit_s(30)) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def real(rig):
    return rig.get("/api/v1/pairs/boat/dynamics")["real"]


def refused(rig, pair, body, status, fault, number=""):
    code, problem = ask(rig, f"/api/v1/pairs/{pair}/identify", body=body)
    assert code == status and problem["code"] == fault and number in problem["detail"], problem


def fit(rig):
    """Requests a fit and returns its job when it is done."""
    rig.wait(lambda: real(rig)["job"] is None, "no fit is under way", 60)
    code, job = ask(rig, "/api/v1/pairs/boat/identify", body=b'{"side": "real"}')
    assert code == 202 and job["kind"] == "lab" and job["pair"] == "boat" and job["model"] == "usv3", job
    path = "/api/v1/identify/" + job["id"]
    rig.wait(lambda: rig.get(path)["ended_t"] is not None, "the job ends", 60)
    done = rig.get(path)
    assert done["state"] == "done" and done["result"]["method"] == "weak_iv", done
    rig.wait(lambda: real(rig)["fit"] and real(rig)["fit"]["cause"] == "request", "the lab has its result", 20)
    return done


def upload_journal(rig):
    """The daemon's own journal is a recording, too."""
    text = b"".join(path.read_bytes() for path in sorted((rig.folder / "journal").iterdir()))
    code, job = ask(rig, "/api/v1/identify?model=usv3&method=weak_iv&name=journal&pair=boat", body=text)
    assert code == 202 and job["kind"] == "upload", job
    rig.wait(lambda: rig.get("/api/v1/identify/" + job["id"])["ended_t"] is not None, "the journal's fit", 60)
    done = rig.get("/api/v1/identify/" + job["id"])
    assert done["state"] == "done" and done["result"]["n"] > 100, done


def main():
    with Rig(PAIRS) as rig:
        rig.start_daemon()
        refused(rig, "raft", b"", 404, "no_dynamics")
        refused(rig, "boat", b"", 409, "no_fit", " 0 ")
        refused(rig, "boat", b'{"side": "virtual"}', 409, "no_fit")
        assert real(rig)["state"] == "collecting" and real(rig)["fit"] is None
        robot = rig.start("robot", "--kind", "usv3", "--pair", "boat", "--side", "real", "--pace", 10, "--telemetry-rate", 100)
        pilot = Pilot(rig, 0.2, stamped=False)
        pilot.start()
        rig.wait(lambda: real(rig)["counts"]["done"] >= 1, "the first fit, by itself", 60)
        job = fit(rig)
        now = real(rig)
        assert now["fit"]["values"] == job["result"]["values"] and now["fit"]["checks"] == job["result"]["checks"], now["fit"]
        assert now["fit"]["data"]["used"] > 100 and now["estimate"]["ci95"], now
        assert any(entry["id"] == job["id"] for entry in rig.get("/api/v1/identify")["jobs"])
        pilot.stop()
        robot.terminate()
        robot.wait(limit_s(10))
        rig.wait(lambda: real(rig)["job"] is None, "no fit is under way", 60)
        upload_journal(rig)
        last = rig.fetch("/api/v1/pairs/boat/dynamics").strip()
        rig.stop_daemon()
        results = member(member(replay(rig.lab, rig.folder / "journal"), "pairs"), "boat")
        assert member(results, "dynamics") == last, "replay reports other dynamics"
        print(f"fit of {job['result']['n']} samples on request; the same bytes from replay")


main()
