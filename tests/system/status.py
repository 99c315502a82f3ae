"""`tandem status` and `tandem late`: each state of a pair has its line, and each fault an error that says what to do."""
import http.server
import json
import os
import pty
import subprocess
import threading

from mqtt import Client
from rig import Rig, TANDEM, free_port
from waiting import limit_s, pass_time

MOVES = 14
ENTRY = {"pair": "r\x1b[1m1", "id": "a", "t": 1795311498.2, "rotation_rad": 1.5, "displacement_m": 0.5, "real_lap_s": 2.5, "virtual_lap_s": 2,
         "lag_s": 0.5, "verdict": "AHEAD", "explained_by": "waiting", "lag_waiting_s": 0.44, "lag_excess_s": 0.45, "lag_expected_s": 0.05}
PROBLEM = b'{"type":"/problems/unauthorized","status":401,"detail":"the token is missing or wrong"}'


def tandem(*words, status=0, **options):
    done = subprocess.run([TANDEM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=limit_s(60), **options)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stderr


def on_terminal(words, **environment):
    """Returns what the command prints on a terminal."""
    leader, follower = pty.openpty()
    subprocess.run([TANDEM, *words], stdout=follower, check=True, timeout=limit_s(60), env={**os.environ, "TERM": "xterm", **environment})
    os.close(follower)
    text = b""
    try:
        while part := os.read(leader, 65536):
            text += part
    except OSError:  # the terminal has ended
        pass
    os.close(leader)
    return text.decode()


def command(client, pair, k, laps):
    """A move; the robots of `laps` reply after their lap, in its order."""
    turn = 0.2 + 0.1 * (k % 4)
    client.publish(f"tandem/v1/{pair}/command", json.dumps({"id": f"c{k}", "op": "go", "rotation_rad": turn}))
    waited_s = 0.0
    for side, lap_s in laps.items():
        pass_time(lap_s * turn - waited_s)
        waited_s = lap_s * turn
        client.publish(f"tandem/v1/{pair}/{side}/reply", json.dumps({"id": f"c{k}", "status": "done"}))


def drive(rig, client, pair, count, **laps):
    for k in range(count):
        command(client, pair, k, laps)
        rig.wait(lambda: rig.get(f"/api/v1/pairs/{pair}")["entries"] == k + 1, f"{pair}: the entry", 20)


def line_of(page, label):
    lines = [line for line in page.splitlines() if line.startswith(label + " ")]
    assert len(lines) == 1, (label, page)
    return lines[0][len(label):].strip()


def check_status(rig, url):
    page = tandem("status", *url)
    assert len(page.splitlines()) <= 10, page
    assert line_of(page, "pairs") == "4: 2 in trouble, 1 to watch, 1 without moves; 1 of 8 robots online", page
    assert line_of(page, "verdicts") == f"AHEAD {MOVES}, SYNC {MOVES - 1}, TIMEOUT 1 of the last {2 * MOVES} moves", page
    assert line_of(page, "calibration").startswith("0 PASS, 4 MARGINAL, 0 FAIL, 0 without a fit; late real: these moves do not"), page
    assert line_of(page, "trust").startswith("0 of 2 pairs; late not known, 20 are needed: 0 of 0"), page
    assert line_of(page, "alarms").startswith("2, newest timeout of mute 0 s ago"), page
    assert "the virtual robot is offline, seen " in line_of(page, "gone"), page
    assert line_of(page, "mute") == "the last command ended with TIMEOUT", page
    assert line_of(page, "late") == f"{MOVES} of the last {MOVES} moves were late", page
    one = tandem("status", "late", *url)
    assert line_of(one, "late").startswith(f"to watch: {MOVES} of the last {MOVES} moves were late (diffdrive"), one
    assert f"of {MOVES} moves, " in line_of(one.replace("calibration  virtual", "other"), "calibration"), one
    assert "not known, 20 are needed: " in line_of(one, "trust") and "AHEAD" in line_of(one, "last move"), one
    assert line_of(tandem("status", "new", *url).replace("calibration  virtual", "other"), "calibration") == "real no moves yet"
    document = json.loads(tandem("status", "--json", *url))
    assert [p["id"] for p in document["pairs"]] == ["late", "mute", "gone", "new"] and document["status"]["ready"], document
    assert ["travel_time" in p for p in document["pairs"]] == [True, True, False, False], document


def check_late(rig, url):
    page = tandem("late", *url)
    rows = page.splitlines()
    assert len(rows) == MOVES + 3 and rows[0].startswith("time (UTC)"), page
    assert rows[-1].startswith(f"{MOVES + 1} moves; largest lag +") and "no reply from real 1" in rows[-1], page
    assert rows[-2].split()[1] == "mute" and rows[-2].endswith("TIMEOUT    no reply from real (predicted +0.004)"), page
    assert rows[-3].split()[1:3] == ["late", f"c{MOVES - 1}"] and "AHEAD      as predicted (predicted +0." in rows[-3], page
    answer = json.loads(tandem("late", "--json", "--pair", "late", "--limit", 3, *url))
    assert [e["n"] for e in answer["entries"]] == [MOVES, MOVES - 1, MOVES - 2], answer
    assert tandem("late", "--since", "now", *url) == "0 moves\n"
    assert f"{MOVES - 1} moves" in tandem("late", "--verdict", "SYNC", "--since", "yesterday", *url)
    assert "; --limit shows more" in tandem("late", "-n", 1, "--until", "now", *url)


def check_colours(url):
    assert "\033[31m2 in trouble\033[0m" in on_terminal(["status", *url])
    assert "\033" not in on_terminal(["status", *url], NO_COLOR="1") + on_terminal(["status", *url], TERM="dumb")
    assert "\033[36m" in on_terminal(["late", *url]) and "\033" not in tandem("late", *url)


def check_watch(url):
    watch = subprocess.Popen([TANDEM, "status", "--watch", "--json", *url], stdout=subprocess.PIPE, text=True)
    seen = [json.loads(watch.stdout.readline())["status"]["t"] for _ in range(3)]
    watch.terminate()
    watch.communicate(timeout=limit_s(20))
    assert watch.returncode == 0 and seen[2] - seen[0] >= 4, (watch.returncode, seen)


def check_faults(rig, url):
    nobody = free_port()
    for words, status, said in (
            (["status", "--url", f"http://127.0.0.1:{nobody}"], 1, f"http://127.0.0.1:{nobody}: no daemon answers here: Connection refused; start"),
            (["status", "r9", *url], 1, "/api/v1/pairs/r9: the lab has no pair of this id; /api/v1/pairs lists them"),
            (["status", "late", "gone", *url], 2, "status takes [PAIR], not also 'gone'"),
            (["late", "--since", "soon", *url], 2, "--since: not a time: Unix seconds"),
            (["late", "--verdict", "LATE", *url], 2, "--verdict: must be one of AHEAD"),
            (["late", "--since", "now", "--until", "-1h", *url], 2, "--until: must be later than since"),
            (["late", "--url", "http://lab:65536"], 2, "there is no port 65536: 1 to 65535 would be right"),
            (["late", "--url", "lab:8420"], 2, "lab:8420: not a URL: http://HOST:PORT"),
            (["status", "--url", "ftp://lab"], 2, "--url: ftp://lab: not a URL"),
            (["late", "--url", f"http://127.0.0.1:{rig.broker_port}"], 1, "it closed the connection without an answer"),
            (["late", "--url", f"http://127.0.0.1:{rig.http_port}/page"], 1, "there is nothing at this path"),
            (["late", "--token-file", rig.folder / "none", *url], 1, "none: the token cannot be read: No such file")):
        error = tandem(*words, status=status)
        assert error.startswith("tandem: ") and said in error and error.count("\n") == 1, (words, error)


class Guard(http.server.BaseHTTPRequestHandler):
    """A daemon on another machine, which needs the token."""

    def do_GET(self):
        known = self.headers["Authorization"] == "Bearer secret-of-the-test"
        body = json.dumps({"entries": self.server.entries, "next_cursor": None}).encode() if known else self.server.page
        self.send_response(200 if known else 401)
        self.send_header("Content-Length", str(len(body) + self.server.missing))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def check_token(rig):
    with http.server.HTTPServer(("127.0.0.1", 0), Guard) as guard:
        guard.missing, guard.page, guard.entries = 0, PROBLEM, [ENTRY]
        threading.Thread(target=guard.serve_forever).start()
        url = ["--url", f"http://127.0.0.1:{guard.server_port}"]
        assert "the token is missing or wrong; --token-file FILE names" in tandem("late", *url, status=1)
        page = tandem("late", *url, "--token-file", rig.folder / "token").splitlines()
        assert "AHEAD      waiting +0.440 (predicted +0.050)" in page[1] and page[2] == "1 move; largest lag +0.500 s; waiting 1" and " r?[1m1" in page[1], page
        guard.entries = [{**ENTRY, "rotation_rad": 1e300, "lag_s": None, "explained_by": None, "lag_excess_s": None, "virtual_status": "failed"}]
        page = tandem("late", *url, "--token-file", rig.folder / "token").splitlines()
        assert " 1e+300 " in page[1] and page[1].endswith(" not both done (predicted +0.050)") and page[2] == "1 move; not both done 1", page
        guard.missing = 1
        assert "the answer was cut off" in tandem("late", *url, "--token-file", rig.folder / "token", status=1)
        guard.missing, guard.page = 0, b"<html>"
        assert "the answer is none of a Tandem daemon (HTTP status 401); is --url right?" in tandem("late", *url, status=1)
        guard.shutdown()


def check_tls(rig):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=lab", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", rig.folder / "key", "-out", rig.folder / "pem"],
                   check=True, stderr=subprocess.DEVNULL)
    plain = rig.lab.read_text()
    rig.lab.write_text(plain.replace("http: {", f"http: {{tls_certificate: {rig.folder}/pem, tls_key: {rig.folder}/key, "))
    rig.run([TANDEM, "serve", "-c", rig.lab], stdout=subprocess.DEVNULL, stderr=open(rig.folder / "daemon.log", "a"))
    url = ["--url", f"https://127.0.0.1:{rig.http_port}"]
    asked = [TANDEM, "status", *url, "--ca-file", str(rig.folder / "pem")]
    rig.wait(lambda: subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).returncode == 0, "status over TLS", 20)
    assert "certificate is not trusted for 127.0.0.1" in tandem("status", *url, status=1)
    assert "no certificate can be read here" in tandem("status", *url, "--ca-file", rig.lab, status=1)
    assert "; with TLS, https:// would be right" in tandem("status", "--url", url[1].replace("https", "http"), status=1)
    plan = [TANDEM, "drive", "-c", str(rig.lab), "--plan", "--pair", "late", "--count", "1", "--timeout", "0.1", "--json"]
    refused = subprocess.run([*plan, "--url", url[1].replace("https", "http")], capture_output=True, text=True, timeout=limit_s(20))
    assert refused.returncode == 2 and not refused.stdout and "no move was sent" in refused.stderr, refused
    for options, usable in ([], True), (["--ca-file", str(rig.folder / "key")], False):
        done = subprocess.run(plan + options, capture_output=True, text=True, timeout=limit_s(20))
        end = json.loads(done.stdout.splitlines()[-1])
        assert (end["earlier"] > 0) == usable, (options, done)
        assert usable != ("--plan begins without the daemon's moves" in done.stderr), (options, done)


def main():
    pairs = "late: {}\n  mute: {timeout_s: 2}\n  gone: {}\n  new: {}"
    with Rig(pairs=pairs) as rig:
        client = Client(rig.broker_port, "robots", clean=True)
        rig.start_daemon()
        url = ["--url", f"http://127.0.0.1:{rig.http_port}"]
        drive(rig, client, "mute", MOVES - 1, virtual=0.1, real=0.11)
        drive(rig, client, "late", MOVES, virtual=0.1, real=0.8)
        command(client, "mute", MOVES, {"virtual": 0.1})
        for side, online in (("real", True), ("virtual", True), ("virtual", False)):
            client.publish(f"tandem/v1/gone/{side}/connection", json.dumps({"state": "online" if online else "offline"}), retain=True)
        rig.wait(lambda: rig.get("/api/v1/pairs/mute")["entries"] == MOVES, "the time-out", 20)
        rig.wait(lambda: rig.get("/api/v1/pairs/gone")["virtual"]["connection"] == "offline", "a robot is offline", 20)
        check_status(rig, url)
        check_late(rig, url)
        check_colours(url)
        check_watch(url)
        check_faults(rig, url)
        check_token(rig)
        rig.stop_daemon()
        check_tls(rig)


main()
