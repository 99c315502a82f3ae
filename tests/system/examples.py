"""docs/examples work as described: who_was_late.py prints every command once, also over a restart of the daemon,
and calibration.sh prints the daemon's estimates.
"""
import http.server
import json
import os
import re
import subprocess
import threading

from rig import Rig, SOURCE
from waiting import limit_s

MOVES = 12
EXAMPLES = SOURCE / "docs/examples"


def drive(rig, total):
    driver = rig.start("drive", "--pair", "r1", "--count", MOVES, "--interval", 0, "--timeout", 5, "--seed", total)
    assert driver.wait(limit_s(60)) == 0
    # The wait is longer than the pair's timeout_s: a robot that hung while the broker waited for it has missed a
    # command.
    rig.wait(lambda: rig.get("/api/v1/pairs/r1")["entries"] == total, f"{total} verdicts", 60)
    rig.wait_stored("r1")


def check_lines(lines, entries):
    assert len(lines) == len(entries) == 2 * MOVES, lines
    late = {"AHEAD": "the real robot was late by", "BEHIND": "the virtual robot was late by"}
    assert {entry["verdict"] for entry in entries} >= {"BEHIND", "SYNC"}, entries
    for line, entry in zip(lines, entries):
        begin, text = line.split(": ", 1)
        assert begin.split(" ")[1:] == ["r1", entry["id"]], (line, entry)
        if entry["verdict"] in late:
            assert text.startswith(late[entry["verdict"]]) and f"{abs(entry['lag_s']):.3f}" in text, (line, entry)
            assert ("±" in text) == ("lag_uncertainty_s" in entry)
        elif entry["verdict"] == "TIMEOUT":
            assert text == f"no answer in time: {entry['timeout_side']}", (line, entry)
        else:
            assert text.startswith("together" if entry["verdict"] == "SYNC" else entry["verdict"]), (line, entry)


def watch(rig):
    """All moves, with a restart half-way."""
    url = f"http://127.0.0.1:{rig.http_port}"
    watcher = rig.run(["python3", EXAMPLES / "who_was_late.py", "--url", url, "--pair", "r1", "--count", 2 * MOVES],
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rig.wait(lambda: "tandem_stream_listeners 1\n" in rig.fetch("/metrics"), "it listens")
    drive(rig, MOVES)
    rig.stop_daemon()
    rig.start_daemon()
    drive(rig, 2 * MOVES)
    out, err = watcher.communicate(timeout=limit_s(60))
    assert watcher.returncode == 0, err
    check_lines(out.splitlines(), [json.loads(text) for text in rig.records("r1", "entries")])
    return out.splitlines()[-1]


class Interrupted(http.server.BaseHTTPRequestHandler):
    """A daemon that hangs up after an event and a comment; then, after another event."""
    places = []

    def do_GET(self):
        self.places.append(self.headers.get("Last-Event-ID"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        n = len(self.places)
        entry = {"pair": "r1", "id": f"c{n}", "op": "go", "t": 0, "verdict": "SYNC", "lag_s": 0.001}
        self.wfile.write(f"retry: 2000\nid: {n}.0\n\nid: {n}.1\nevent: entry\ndata: {json.dumps(entry)}\n\n:\n\n".encode())

    def log_message(self, *_):
        pass


def come_back():
    """The script resumes after the last event that it received, with or without a comment after that event."""
    with http.server.HTTPServer(("127.0.0.1", 0), Interrupted) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = subprocess.run(["python3", EXAMPLES / "who_was_late.py", "--url", f"http://127.0.0.1:{server.server_port}", "--count", "2"],
                              check=True, capture_output=True, text=True, timeout=limit_s(60))
        server.shutdown()
    assert Interrupted.places == [None, "1.1"], Interrupted.places
    assert done.stdout == "00:00:00 r1 c1: together, within 0.001 s\n00:00:00 r1 c2: together, within 0.001 s\n", done.stdout


def refuse(rig):
    done = subprocess.run(["python3", EXAMPLES / "who_was_late.py", "--url", f"http://127.0.0.1:{rig.http_port}", "--pair", "r9"],
                          capture_output=True, text=True, timeout=limit_s(60), check=False)
    assert done.returncode == 1 and "the lab has no pair of this id" in done.stderr, done


def tabulate(rig):
    url = f"http://127.0.0.1:{rig.http_port}"
    table = subprocess.run(["sh", EXAMPLES / "calibration.sh", url], check=True, capture_output=True, text=True).stdout
    rows = {tuple(row[:3]): row[3:] for row in (re.split(r" {1,}(?![^\[]*\])", line) for line in table.splitlines()[1:] if ": " not in line)}
    assert len(rows) == 3 * 2 * 5, table
    for pair in ("r1", "r2", "quiet"):
        for side, fit in rig.get(f"/api/v1/pairs/{pair}/travel-time").items():
            for name, value in fit["values"].items():
                shown, interval, verdict = rows[pair, side, name]
                assert (shown == "-") == (value is None) and verdict == fit["verdict"], (rows, fit)
                if value is not None:
                    assert abs(float(shown) - value) <= 0.5001e-4, (shown, value)
                    low, high = [float(end) for end in interval.strip("[]").split(", ")]
                    assert low <= float(shown) <= high, interval
            for advice in fit["advice"]:
                assert f"{pair} {side}, advice: {advice}\n" in table, table
    failed = subprocess.run(["sh", EXAMPLES / "calibration.sh", url + "/nothing"], capture_output=True, check=False)
    assert failed.returncode != 0, "a wrong address is no fault"
    return table.splitlines()[:6]


def main():
    os.environ["TZ"] = "UTC"
    come_back()
    with Rig("r1: {probe_interval_s: 0.5}\n  r2: {}\n  quiet: {}") as rig:
        rig.start_daemon()
        for side, speed in (("real", "8"), ("virtual", "5")):
            rig.start("robot", "--pair", "r1", "--side", side, "--angular-speed", speed, "--linear-speed", "2", "--t0", "0.02",
                      "--noise", "0.002")
        rig.wait(lambda: all(rig.get("/api/v1/pairs/r1")[side]["connection"] == "online" for side in ("real", "virtual")), "robots", 20)
        line = watch(rig)
        refuse(rig)
        print(line, *tabulate(rig), sep="\n")


main()
