"""kinds_clients.py - other clients at the daemon and the broker: floods, slow readers, malformed messages, doubles,
reloads, overload.
"""
import concurrent.futures
import contextlib
import http.client
import json
import resource
import signal
import socket
import threading
import time

from kinds import kind
from load import STEM
from mqtt import Client
from rig import free_port
from waiting import limit_s

TOKEN = "secret-of-the-test"


def http_socket(r):
    s = socket.create_connection(("127.0.0.1", r.rig.http_port), 5)
    r.cleanup.callback(s.close)
    return s


def open_many(r, count):
    """Connects as many listeners as the daemon accepts."""
    some = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            some.append(http_socket(r))
    return some


def check_healthy(r, address="127.0.0.1", within_s=1):
    """Another client of this address sends requests meanwhile."""
    began, status = time.monotonic(), 0
    connection = http.client.HTTPConnection("127.0.0.1", r.rig.http_port, timeout=limit_s(10), source_address=(address, 0))
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    run_s = time.monotonic() - began
    r.check(status == 200 and run_s < limit_s(within_s), f"/healthz answered {status} after {run_s:.1f} s")


@kind("200 listeners to the events read nothing")
def listeners_slow(r):
    request = b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for _ in range(200):
        s = http_socket(r)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(request)
    for _ in range(4):
        r.wait_load(1)
        check_healthy(r)


@kind("listeners come and go, ten at once, of ten places; the eleventh is the round's own reader", http="listeners_max: 11")
def listeners_hasty(r):
    request = b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    refused = 0
    for _ in range(30):
        some = [socket.create_connection(("127.0.0.1", r.rig.http_port), 5) for _ in range(10)]
        for s in some:
            s.sendall(request)
        refused += sum(not s.recv(64).startswith(b"HTTP/1.1 200") for s in some)
        for s in some:
            s.close()
        time.sleep(0.1)
    r.check(refused == 0, f"{refused} of 300 listeners were refused, with ten there at once")


@kind("a flood of requests, good and bad")
def http_flood(r):
    paths = ["/api/v1/pairs/a/entries?limit=1000", "/metrics", "/", "/nothing", "/api/v1/pairs/a/series?points=4000",
             "/api/v1/pairs/%00", "/api/v1/pairs/a/entries?cursor=rubbish", "/api/v1/status"]
    end = time.monotonic() + 4

    def ask():
        while time.monotonic() < end:
            r.http_status(r.draw.choice(paths))
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for _ in range(12):
            pool.submit(ask)
        r.wait_load(3.5)
    r.wait_load(1)
    check_healthy(r)


@kind("530 connections of one address that send a byte of their headers now and then")
def headers_slow(r):
    some = open_many(r, 530)
    end = time.monotonic() + 15
    while time.monotonic() < end:
        for s in some:
            with contextlib.suppress(OSError):
                s.send(b"G")
        check_healthy(r)
        r.wait_load(0.5)
        if time.monotonic() > end - 11 and r.http_status("/api/v1/pairs") == 200:
            return
    r.check(False, "an address whose headers take more than 10 s is still locked out")


@kind("thousands of silent connections: others are answered within a second")
def connections_many(r):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = min(10000, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, many + 200), hard))
    some = []
    opener = threading.Thread(target=lambda: some.extend(open_many(r, many)), daemon=True)
    opener.start()
    while opener.is_alive():
        check_healthy(r, "127.0.0.2")
        r.wait_load(0.2)
    r.remark(f"{len(some)} connections")
    for _ in range(4):
        check_healthy(r, "127.0.0.2")
        r.wait_load(0.5)
    for s in some:
        s.close()
    r.wait(lambda: r.http_status("/api/v1/pairs") == 200, "those who are there no more are forgotten")


@kind("bodies that never end, uploads cut off in the middle")
def uploads_cut(r):
    head = ("POST /api/v1/identify?model=travel_time HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Length: 5000000\r\n\r\n").encode()
    for _ in range(40):
        s = http_socket(r)
        with contextlib.suppress(OSError):
            s.sendall(head + b"turn,drive,lap\n" * 2000)
        if r.draw.random() < 0.5:
            s.close()
    for _ in range(3):
        r.wait_load(1)
        check_healthy(r)


@kind("a storm of clients at the broker that connect, take over each other's sessions and leave")
def reconnect_storm(r):
    end = time.monotonic() + 4

    def storm(seed):
        while time.monotonic() < end:
            client = Client(r.rig.broker_port, f"storm{seed % 20}", clean=seed % 2 == 0, topics=[f"{STEM}/#"])
            client.subscribed.wait(1)
            client.cut()
            client.end()
    threads = [threading.Thread(target=storm, args=[i], daemon=True) for i in range(30)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        r.wait_load(1)
        r.network.cut()
    for thread in threads:
        thread.join(limit_s(10))


@kind("a second daemon with the same client id takes the first one's session away: both report the client id")
def same_client_id(r):
    """The other daemon's share of the session is in its own journal, so no commands are sent meanwhile."""
    r.load.hold()
    r.wait(r.load.is_quiet, "all acknowledged")
    r.wait(r.is_idle, "no command is open")
    since = r.log_size()
    other = r.path("other.yaml")
    text = r.rig.lab.read_text()
    for name in ("journal", "store.db", "checkpoint"):
        text = text.replace(f"{r.rig.folder}/{name}", f"{r.rig.folder}/other-{name}")
    other.write_text(text.replace(f"http: {{port: {r.rig.http_port}", f"http: {{port: {free_port()}"))
    others_log = r.path("other.log")
    others_log.touch()
    daemon = r.launch(other, others_log)
    r.wait(lambda: "client id" in r.log(since) + others_log.read_text(),
           "one of two daemons names the client id that both have", 30)
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(limit_s(20))
    r.wait(r.is_ready, "the daemon is alone again", 30)
    r.load.go_on()


@kind("malformed messages on every topic: no JSON, huge, nested, ids with NUL, wrong types, unknown pairs",
      pairs={"a": "ids", "l": "link", "rubbish": "none"})
def rubbish(r):
    texts = ["", "no JSON", "{", "[]", "null", '{"id":"x"}', '{"id":"a\\u0000b","op":"go"}', '{"id":5,"op":7}',
             '{"op":"go","rotation_rad":NaN}', '{"op":"go","rotation":1}', "[" * 5000, '{"id":"%s","op":"go"}' % ("y" * 500),
             '{"id":"z","status":"done"}', '{"state":"odd"}', "x" * 70000, '{"t":1e308,"nu":[1e308]}', "\ufeff{}"]
    tails = ["command", "real/reply", "virtual/reply", "real/telemetry", "real/connection", "virtual/machines", "real/echo",
             "virtual/parameters/ack", "odd", "virtual/pose/ack"]
    client = Client(r.rig.broker_port, "rubbish")
    r.cleanup.callback(client.end)
    for _ in range(300):
        # Some of the malformed messages are commands: a pair of their own receives them.
        pair = r.draw.choice(["rubbish", "nobody"])
        client.publish(f"{STEM}/{pair}/{r.draw.choice(tails)}", r.draw.choice(texts), qos=r.draw.choice([0, 1]))
        time.sleep(0.005)
    for _ in range(50):
        bad = json.dumps({"id": "nobody", "status": "done"})
        client.publish(f"{STEM}/a/{r.draw.choice(['real', 'virtual'])}/reply", r.draw.choice([bad, "no JSON", "{}" * 50]))
    r.wait(lambda: client.waiting() == 0, "the rubbish is acknowledged")
    r.wait_load(1)
    alarms = {alarm["type"] for alarm in r.rig.get("/api/v1/pairs/a/alarms?limit=1000")["alarms"]}
    r.check({"malformed", "out_of_context"} <= alarms, f"alarms of rubbish: {sorted(alarms)}")


@kind("the lab file is read again while robots drive: good, with faults, gone")
def reload_driving(r):
    good = r.rig.lab.read_text()
    since = r.log_size()
    for text in ("log: {level: debug}\n" + good, good + "  odd: {mode: nonsense}\n", "", good):
        r.rig.lab.write_text(text)
        r.rig.daemon.send_signal(signal.SIGHUP)
        r.wait_load(0.5, 1)
    r.wait(lambda: "reload_refused" in r.events(since), "a lab file with faults is refused")


@kind("thousands of commands at once: those above the limit are reported, one by one")
def overload(r):
    r.load.hold()
    for i in range(2000):
        r.load.say("b", f"burst-{i}", 0.3, 0.3)
    r.wait(r.load.is_quiet, "the burst is acknowledged", 60)
    r.load.go_on()
    r.wait_load(1)


@kind("a reader at the broker that reads nothing, in a persistent session")
def subscriber_stuck(r):
    client = Client(r.rig.broker_port, "stuck", topics=["#"], on_message=lambda *_: time.sleep(3600))
    r.cleanup.callback(client.end)
    r.wait_load(4)
    r.network.cut()
    r.wait(r.is_ready, "the daemon is back", 30)


@kind("commands over HTTP while the daemon is killed: none twice", pairs={"a": "ids", "h": "none"})
def http_commands(r):
    received, sent = [], 0
    for i in range(60):
        body = json.dumps({"id": f"http-{i}", "op": "go", "displacement_m": 0.1}).encode()
        with contextlib.suppress(OSError):
            r.rig.fetch("/api/v1/pairs/h/commands", "POST", body, TOKEN)
            received.append(f"http-{i}")
        sent += 1
        if i in (20, 40):
            r.kill_daemon()
            r.start_daemon()
        time.sleep(0.03)
    r.wait(lambda: r.rig.get("/api/v1/pairs/h")["outstanding"] == 0, "no command is open", 20)
    r.rig.wait_stored("h")
    entries = [json.loads(text)["id"] for text in r.rig.records("h", "entries")]
    r.check(len(entries) == len(set(entries)), f"twice over HTTP: {entries}")
    # 202 means handed to the broker's client: a kill may lose what it had not sent, at most one command each time.
    r.check(len(set(received) - set(entries)) <= 2, f"accepted over HTTP, no entry: {sorted(set(received) - set(entries))}")
