"""Read after write: once Tandem has published an entry over MQTT, HTTP has it, too."""
import json
import queue
import shutil
import subprocess
import time

from mqtt import Client
from rig import Rig
from waiting import limit_s, pass_time

ROUNDS = 50


def send_command(rig, name, *sides):
    """Publishes a move and its replies."""
    rig.publish("tandem/v1/r1/command", {"id": name, "op": "go", "rotation_rad": 1.57, "displacement_m": 0.5})
    for side in sides:
        rig.publish(f"tandem/v1/r1/{side}/reply", {"id": name, "status": "done"})


def newest(rig):
    entries = rig.get("/api/v1/pairs/r1/entries?limit=1")["entries"]
    return entries[0]["id"] if entries else None


def commanded_first(rig):
    """A client that received the entry finds it in the list, in a chart and at the pair."""
    received = queue.Queue()
    listener = Client(rig.broker_port, "listener", clean=True, topics=["tandem/v1/r1/entry"],
                      on_message=lambda _, payload: received.put(json.loads(payload)["id"]))
    assert listener.subscribed.wait(limit_s(10))
    before = rig.get("/api/v1/pairs/r1")["entries"]
    for n in range(1, ROUNDS + 1):
        send_command(rig, f"h{n}", "virtual", "real")
        name = received.get(timeout=limit_s(10))
        assert name == f"h{n}", name
        found = [lambda: newest(rig) == name,
                 lambda: rig.get("/api/v1/pairs/r1")["entries"] == before + n,
                 lambda: sum(bucket["count"] for bucket in
                             rig.get("/api/v1/pairs/r1/series?points=1")["buckets"]) == before + n][n % 3]
        assert found(), f"h{n} was not there"
    listener.end()


def pasted(rig):
    """The README's commands, one after the other. Before the last one a moment passes: the broker may still have the
    messages.
    """
    text = """set -e
mosquitto_pub -p {broker} -q 1 -t tandem/v1/r1/command       -m '{{"id":"{name}","op":"go","rotation_rad":1.57}}'
mosquitto_pub -p {broker} -q 1 -t tandem/v1/r1/virtual/reply -m '{{"id":"{name}","status":"done"}}'
mosquitto_pub -p {broker} -q 1 -t tandem/v1/r1/real/reply    -m '{{"id":"{name}","status":"done"}}'"""
    for n in range(ROUNDS):
        subprocess.run(["sh", "-c", text.format(name=f"p{n}", broker=rig.broker_port)], check=True)
        pass_time(0.001)
        shown = subprocess.run(["curl", "-s", f"http://127.0.0.1:{rig.http_port}/api/v1/pairs/r1/entries?limit=1"],
                               capture_output=True, check=True).stdout
        entries = json.loads(shown)["entries"]
        assert entries and entries[0]["id"] == f"p{n}", entries


def quick(rig):
    """Without new messages a request does not wait."""
    began = time.monotonic()
    for _ in range(200):
        rig.get("/api/v1/pairs/r1/entries?limit=1")
    run_s = time.monotonic() - began
    assert run_s < 0.1, f"200 answers waited for {run_s:.3f} s"


with Rig() as rig:
    text = rig.lab.read_text().replace("store: {", "store: {commit_ms: 5000, ")
    rig.lab.write_text(text.replace("http: {", "http: {client_requests_per_s: 0, "))
    rig.start_daemon()
    commanded_first(rig)
    if shutil.which("curl"):
        pasted(rig)
    quick(rig)
    rig.stop_daemon()
print("read after write: what has come is there")
