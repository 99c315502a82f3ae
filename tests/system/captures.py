"""captures.py: see captures.sh."""
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import mcap_check
from mqtt import Client
from rig import TANDEM, Rig
from waiting import limit_s, pass_time

TOKEN = "secret-of-the-test"
CAPTURE = ("capture: {on: [timeout, verdict.BEHIND, out_of_context], before_s: 1, after_s: 0.5, keep: 5, every_s: 30}\n"
           "journal: {dir: FOLDER/journal, min_free_mb: FREE}")
CROWD = 60


def make_rig(free_mb=0):
    pairs = "\n  ".join(f"r{k}: {{timeout_s: 2}}" for k in range(1, CROWD + 1))
    rig = Rig(pairs=pairs)
    text = rig.lab.read_text()
    capture = CAPTURE.replace("FOLDER", str(rig.folder)).replace("FREE", str(free_mb))
    rig.lab.write_text(re.sub(r"^journal: .*$", capture, text, flags=re.M))
    return rig


def move(rig, pair, name, *sides):
    rig.publish(f"tandem/v1/{pair}/command", {"id": name, "op": "go", "rotation_rad": 1.0})
    for side in sides:
        rig.publish(f"tandem/v1/{pair}/{side}/reply", {"id": name, "status": "done"})


def metric(rig, name):
    return float(re.search(rf"^{name} (\S+)$", rig.fetch("/metrics"), re.M)[1])


def download(rig, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{rig.http_port}{path}", timeout=limit_s(60)) as answer:
        return answer.read()


def status_of(rig, path, **options):
    try:
        rig.fetch(path, **options)
        return 200
    except urllib.error.HTTPError as fault:
        return fault.code


def replayed(rig, data, end):
    path = rig.folder / f"capture.{end}"
    path.write_bytes(data)
    run = subprocess.run([TANDEM, "replay", "-c", rig.lab, path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def check_timeout(rig):
    """A timeout saves the command, its messages before and after, and nothing of other pairs."""
    move(rig, "r1", "old", "real", "virtual")
    pass_time(limit_s(1.5))
    move(rig, "r1", "good", "real", "virtual")
    move(rig, "r2", "other", "real", "virtual")
    move(rig, "r1", "lost", "real")
    rig.wait(lambda: any(c["complete"] for c in rig.get("/api/v1/captures")), "the capture is written", 20)
    capture, = rig.get("/api/v1/captures")
    assert capture["pair"] == "r1" and capture["trigger"] == "timeout" and not capture["open"], capture
    assert capture["id"].startswith(f"r1-{capture['n']}-") and capture["from"] < capture["t"] < capture["until"], capture
    lines = download(rig, f"/api/v1/captures/{capture['id']}.jsonl")
    assert len(lines) == capture["bytes"] and b'"lost"' in lines and b"/r2/" not in lines, lines
    out = replayed(rig, lines, "jsonl")
    assert "TIMEOUT" in out and "out_of_context" not in out, out
    mcap = download(rig, f"/api/v1/captures/{capture['id']}.mcap")
    assert replayed(rig, mcap, "mcap") == out
    file = mcap_check.read(rig.folder / "capture.mcap")
    assert file.metadata["tandem.capture"]["trigger"] == "timeout"
    assert any(m.topic == "tandem/v1/r1/entry" and b"TIMEOUT" in m.data for m in file.messages)
    assert TOKEN.encode() not in mcap and b"/token" not in mcap, "secrets"
    for path in (f"{capture['id']}.bag", capture["id"], "x.mcap", "..%2ftoken.jsonl"):
        assert status_of(rig, f"/api/v1/captures/{path}") == 404, path
    assert status_of(rig, f"/api/v1/captures/{capture['id']}", method="DELETE") == 401
    assert status_of(rig, f"/api/v1/captures/{capture['id']}", method="DELETE", token=TOKEN) == 200
    assert rig.get("/api/v1/captures") == [] and not list((rig.folder / "captures").iterdir())
    assert status_of(rig, f"/api/v1/captures/{capture['id']}.mcap") == 404


def check_burst(rig):
    """A thousand alarms in a second: a bounded number of captures, and the rest is counted."""
    client = Client(rig.broker_port, "burst", clean=True)
    before = metric(rig, "tandem_captures_suppressed_total")
    for n in range(1000):
        client.publish(f"tandem/v1/r{1 + n % CROWD}/real/reply", json.dumps({"id": f"u{n}", "status": "done"}), 1)
    rig.wait(lambda: metric(rig, "tandem_captures_written_total") >= 6 and
             not any(c["open"] for c in rig.get("/api/v1/captures")), "captures are written", 30)
    captures = rig.get("/api/v1/captures")
    assert 1 <= len(captures) <= 5 and all(c["complete"] for c in captures), captures
    assert metric(rig, "tandem_captures_suppressed_total") >= before + CROWD - 6
    assert metric(rig, "tandem_captures") == len(captures)
    client.end()


def check_restart(rig):
    """A capture that is open when the daemon is killed is completed by the next one."""
    before = {c["id"] for c in rig.get("/api/v1/captures")}
    move(rig, f"r{CROWD}", "slow", "virtual")
    rig.wait(lambda: any(c["open"] for c in rig.get("/api/v1/captures")), "a capture is open", 20)
    rig.daemon.send_signal(signal.SIGKILL)
    rig.daemon.wait()
    rig.start_daemon()
    rig.wait(lambda: any(c["complete"] and c["id"] not in before for c in rig.get("/api/v1/captures")),
             "it is completed", 30)
    new, = [c for c in rig.get("/api/v1/captures") if c["id"] not in before]
    assert "TIMEOUT" in replayed(rig, download(rig, f"/api/v1/captures/{new['id']}.jsonl"), "jsonl")


def check_unchanged(rig):
    """Captures change no record: the journal gives the same with and without."""
    rig.stop_daemon()
    plain = rig.folder / "plain.yaml"
    plain.write_text(re.sub(r"^capture: .*\n", "", rig.lab.read_text(), flags=re.M))
    outs = [subprocess.run([TANDEM, "replay", "-c", lab, "--json", rig.folder / "journal"], capture_output=True).stdout
            for lab in (rig.lab, plain)]
    assert outs[0] and outs[0] == outs[1]


def check_full_disk():
    with make_rig(free_mb=4000000000) as rig:
        rig.start_daemon()
        move(rig, "r1", "lost", "real")
        rig.wait(lambda: metric(rig, "tandem_captures_suppressed_total") == 1, "the event is counted", 20)
        assert rig.get("/api/v1/captures") == [] and metric(rig, "tandem_captures_begun_total") == 0
        assert not list((rig.folder / "captures").iterdir())


def versions_of(rig, capture, end, lab):
    path = rig.folder / f"versions.{end}"
    path.write_bytes(download(rig, f"/api/v1/captures/{capture['id']}.{end}"))
    run = subprocess.run([TANDEM, "replay", "-c", lab, "--json", path], capture_output=True, text=True, check=True)
    entry, = json.loads(run.stdout)["pairs"]["r1"]["entries"]
    return entry["real_version"], entry["virtual_version"]


def check_nothing_after():
    """Without time after it, a capture still holds the reply that made the verdict. It names the versions of its
    moves, whose lines are older, and no capture replaces another one of the same second."""
    with make_rig() as rig:
        text = rig.lab.read_text()
        text = text.replace("r1: {timeout_s: 2}", "r1: {timeout_s: 9, sync_tolerance_s: 0.01, virtual: {version: sim 1}}")
        text = text.replace("r2: {timeout_s: 2}", "r2: {timeout_s: 2, sync_tolerance_s: 0.01}").replace("keep: 5", "keep: 500")
        rig.lab.write_text(text.replace("after_s: 0.5", "after_s: 0").replace("every_s: 30", "every_s: 0"))
        rig.start_daemon()
        rig.publish("tandem/v1/r1/real/connection", {"state": "online", "version": "fw 2"})
        rig.wait(lambda: rig.get("/api/v1/pairs/r1")["real"]["version"] == "fw 2", "its version", 20)
        pass_time(limit_s(1.5))
        move(rig, "r1", "slow", "real")
        pass_time(0.3)
        rig.publish("tandem/v1/r1/virtual/reply", {"id": "slow", "status": "done"})
        rig.wait(lambda: any(not c["open"] for c in rig.get("/api/v1/captures")), "the capture is written", 20)
        capture, = rig.get("/api/v1/captures")
        out = replayed(rig, download(rig, f"/api/v1/captures/{capture['id']}.jsonl"), "jsonl")
        assert "BEHIND" in out, out
        other = rig.folder / "other.yaml"
        other.write_text(rig.lab.read_text().replace("sim 1", "another"))
        assert (capture["real_version"], capture["virtual_version"]) == ("fw 2", "sim 1"), capture
        for end in ("jsonl", "mcap"):
            assert versions_of(rig, capture, end, other) == ("fw 2", "sim 1")
        for n in range(1, 9):  # alarm and entry n in one second
            rig.publish("tandem/v1/r2/real/reply", {"id": f"u{n}", "status": "done"})
            move(rig, "r2", f"c{n}", "real")
            pass_time(0.05)
            rig.publish("tandem/v1/r2/virtual/reply", {"id": f"c{n}", "status": "done"})
            rig.wait(lambda: metric(rig, "tandem_captures_begun_total") == 1 + 2 * n, "both have begun", 20)
        rig.wait(lambda: metric(rig, "tandem_captures_written_total") == 17, "all are written", 30)
        captures = rig.get("/api/v1/captures")
        assert len({c["id"] for c in captures}) == 17 and all(c["complete"] for c in captures), captures
        assert any(c["id"].count("-") == 3 for c in captures), captures
        for c in captures:
            assert len(download(rig, f"/api/v1/captures/{c['id']}.jsonl")) == c["bytes"], c


def check_size():
    """Captures take no more room than keep_mb, also while one is copied; one that is too large is cut."""
    with make_rig() as rig:
        rig.lab.write_text(rig.lab.read_text().replace("keep: 5", "keep_mb: 1").replace("every_s: 30", "every_s: 0"))
        rig.start_daemon()
        sizes = []

        def is_written(count):
            sizes.append(sum(path.stat().st_size for path in (rig.folder / "captures").iterdir() if path.suffix in (".raw", ".jsonl")))
            return metric(rig, "tandem_captures_written_total") == count
        for number, (pair, kilobytes) in enumerate((("r1", 300), ("r2", 300), ("r3", 900)), 1):
            move(rig, pair, "lost", "real")
            for k in range(kilobytes // 30):
                rig.publish(f"tandem/v1/{pair}/real/telemetry", {"text": "x" * 30000})
            rig.wait(lambda: is_written(number), "the capture is written", 20)
        captures = {c["pair"]: c for c in rig.get("/api/v1/captures")}
        assert max(sizes) <= 1000000, sizes
        assert set(captures) == {"r3"} and not captures["r3"]["complete"] and captures["r3"]["bytes"] <= 500000, captures


def main():
    with make_rig() as rig:
        rig.start_daemon()
        assert rig.get("/api/v1/captures") == []
        check_timeout(rig)
        check_burst(rig)
        pass_time(limit_s(0.1))
        check_restart(rig)
        check_unchanged(rig)
    check_full_disk()
    check_nothing_after()
    check_size()
    print("captures: saved around events, bounded, completed after a crash")


sys.exit(main())
