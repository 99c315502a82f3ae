"""With few descriptors, listeners occupy every HTTP connection; journal, store, broker and health checks still
work.
"""
import json
import os
import re
import resource
import subprocess

from fault_code import says
from raw_http import ask, connect
from rig import Rig
from waiting import limit_s

TANDEM = os.environ["TANDEM"]


def start_with(rig, descriptors):
    """Starts the daemon with this limit, hard and soft."""
    rig.start_daemon()
    rig.stop_daemon()  # the daemon has created its files
    command = ["prlimit", f"--nofile={descriptors}:{descriptors}", TANDEM, "serve", "-c", rig.lab]
    rig.daemon = rig.run(command, stdout=subprocess.DEVNULL, stderr=open(rig.daemon_log, "a"))
    rig.wait(rig.ready, "the daemon is ready", 20)


def count_open(rig):
    return len(os.listdir(f"/proc/{rig.daemon.pid}/fd"))


def move(rig, name):
    """Publishes a command and its replies through the broker."""
    rig.publish("tandem/v1/r1/command", {"id": name, "op": "go", "displacement_m": 0.1})
    for side in ("real", "virtual"):
        rig.publish(f"tandem/v1/r1/{side}/reply", {"id": name, "status": "done"})


def starve(descriptors):
    with Rig() as rig:
        rig.lab.write_text(rig.lab.read_text().replace("http: {", "http: {client_requests_per_s: 0, "))
        start_with(rig, descriptors)
        room = rig.get("/api/v1/status")["descriptors"]
        assert room["max"] == descriptors and room["connections_max"] >= 4 and room["listeners_max"] >= 4, room
        reported = re.findall(r" few_descriptors: .*", rig.daemon_log.read_text())
        assert reported and f"{room['connections_max']} connections, {room['listeners_max']} listeners" in reported[-1], reported
        assert f"\ntandem_http_listeners_max {room['listeners_max']}\n" in rig.fetch("/metrics")
        held = []
        for k in range(descriptors + 100):
            try:
                s = connect(rig, f"127.0.5.{k % 5 + 1}")
                # Every third client is not a listener but a request whose body never comes: it occupies a connection
                # as well.
                s.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n" if k % 3 else
                          b"POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\n"
                          b"Authorization: Bearer secret-of-the-test\r\nContent-Length: 9\r\n\r\n")
                held.append(s)
            except OSError:
                pass  # refused
        assert len(held) > descriptors // 2, len(held)
        for target in ("/healthz", "/readyz"):
            answer = ask(rig, target)
            assert answer.status == 200, answer.raw
        assert count_open(rig) < descriptors - 20, count_open(rig)
        move(rig, "before")
        rig.broker.terminate()
        rig.broker.wait(limit_s(10))
        rig.wait(lambda: ask(rig, "/readyz").status == 503, "it sees that the broker is away", 20)
        rig.start_broker()
        rig.wait(lambda: ask(rig, "/readyz").status == 200, "the broker is back, and all places are occupied", 60)
        move(rig, "after")
        for s in held:
            s.close()
        rig.wait(lambda: sorted(json.loads(e)["id"] for e in rig.records("r1", "entries")) == ["after", "before"], "both entries", 20)
        log = rig.daemon_log.read_text()
        assert " journal_down: " not in log and " checkpoint_failed: " not in log, log
        rig.stop_daemon()


def too_few():
    with Rig() as rig:
        done = subprocess.run(["prlimit", "--nofile=90:90", TANDEM, "serve", "-c", rig.lab], capture_output=True, text=True, timeout=limit_s(60))
        assert done.returncode == 1 and says("too_few", done.stderr), (done.returncode, done.stderr)


def raised():
    """The daemon raises a soft limit as far as it needs."""
    with Rig() as rig:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard == resource.RLIM_INFINITY or hard >= 4096:
            command = ["prlimit", "--nofile=256:4096", TANDEM, "serve", "-c", rig.lab]
            rig.daemon_log = rig.folder / "daemon.log"
            rig.daemon = rig.run(command, stdout=subprocess.DEVNULL, stderr=open(rig.daemon_log, "a"))
            rig.wait(rig.ready, "the daemon is ready", 20)
            assert " few_descriptors: " not in rig.daemon_log.read_text()
            assert rig.get("/api/v1/status")["descriptors"]["listeners_max"] == 2000
            rig.stop_daemon()


for descriptors in (128, 256):
    starve(descriptors)
too_few()
raised()
print("descriptors: the reserve stays free")
