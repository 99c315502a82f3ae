"""flaps.py - a daemon whose link is cut again and again under load survives, and neither loses nor doubles a command,
while HTTP clients read and hang up. dependencies.sh runs it with libraries that detect their own faults.

    PYTHONPATH=tests/support TANDEM=… SOURCE=. python3 tests/faults/flaps.py --cuts 5000 --rate 2000
    … flaps.py --cuts 500 --runs 10 --results FILE    ten runs, summed; runs that FILE already has are skipped

If commands are lost, the result states how often the journal has the first of them: if it is there, the daemon received
it. If the broker dropped messages for the daemon, the run fails for that reason.

Environment: FLAPS_LIBRARIES and FLAPS_PRELOAD are LD_LIBRARY_PATH and LD_PRELOAD of the daemon alone. Reports of
sanitizers go to files in the folder of the run, and each one is a finding.
"""
import argparse
import collections
import json
import multiprocessing
import os
import random
import re
import socket
import sqlite3
import subprocess
import sys
import time

from mqtt import Client
from network import Network
from rig import SOURCE, Rig, free_port
from waiting import limit_s

PAIRS = 20
BEHIND_MAX = 10_000  # commands that may wait for the daemon at the broker
QUEUE_MAX = 100 * BEHIND_MAX  # messages that the broker keeps for it
STILL_S = 30  # without a new entry: a command that is missing then is lost
PATHS = ("/metrics", "/api/v1/pairs", "/api/v1/pairs/r1/entries?limit=200", "/api/v1/pairs/r2/entries?order=oldest&limit=20",
         "/api/v1/alarms?limit=50", "/api/v1/pairs/r3/series?points=60", "/api/v1/events", "/x?" + "a&" * 300)
READ_S = 0.1  # between two requests
FLOW_BYTES, FLOW_S = 10_000, 5  # a session that received this number is cut, or one that receives nothing more
SUMS = ("cuts", "seconds", "messages", "requests", "connections", "broken_writes", "acknowledged", "entries", "lost", "doubled",
        "findings", "blamed", "dropped_by_broker", "deaths")
BAD = ("lost", "doubled", "findings", "blamed", "dropped_by_broker", "deaths")
FINDING = re.compile(r"(?:ERROR|WARNING): (\w+Sanitizer: .*)")
SUMMARY = re.compile(r"SUMMARY: \w+Sanitizer: (.+)")


def publish(port, rate, stop, done, acknowledged):
    """Sends commands with both replies until stop, limited by the daemon's backlog; then waits for the
    acknowledgements. Puts the number of commands, and the ids of the acknowledged ones.
    """
    client = Client(port, "flaps-publisher")
    sent, began, draw = [], time.monotonic(), random.Random(1)
    while not stop.is_set():
        if len(sent) * 3 >= (time.monotonic() - began) * rate or len(sent) - done.value > BEHIND_MAX:
            time.sleep(0.002)
            continue
        n = len(sent)
        pair = f"tandem/v1/r{n % PAIRS + 1}"
        body = {"id": f"k{n}", "seq": n // PAIRS, "op": "go", "rotation_rad": round(draw.uniform(-3, 3), 4)}
        sent.append(client.publish(f"{pair}/command", json.dumps(body)))
        for side in ("real", "virtual"):
            client.publish(f"{pair}/{side}/reply", json.dumps({"id": f"k{n}", "status": "done"}))
    end = time.monotonic() + limit_s(120)
    while client.waiting() and time.monotonic() < end:
        time.sleep(0.1)
    acknowledged.put((len(sent), [f"k{n}" for n, message in enumerate(sent) if message.acknowledged_s]))
    client.end()


def read(port, stop, requests):
    """HTTP clients until stop: they read all, or hang up in the middle of the request or of the answer."""
    draw = random.Random(2)
    while not stop.wait(READ_S):
        request = f"GET {draw.choice(PATHS)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        try:
            with socket.create_connection(("127.0.0.1", port), limit_s(2)) as s:
                s.settimeout(limit_s(0.2))
                s.sendall(request[:draw.randrange(len(request))] if draw.random() < 0.2 else request)
                while draw.random() > 0.2 and s.recv(65536):
                    pass
        except OSError:
            pass
        requests.value += 1


CERTIFICATE = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
               "-keyout", "server.key", "-out", "server.pem", "-subj", "/CN=flaps", "-addext", "subjectAltName=IP:127.0.0.1"]


class Flaps(Rig):
    def __init__(self, tls):
        super().__init__("\n  ".join(f"r{i + 1}: {{}}" for i in range(PAIRS)), "defaults: {timeout_s: 3}")
        target, more = self.broker_port, ""
        if tls:
            subprocess.run(CERTIFICATE, cwd=self.folder, check=True, stderr=subprocess.DEVNULL)
            (self.folder / "server.key").chmod(0o644)
            target, more = free_port(), f", tls: {{enabled: true, ca_file: {self.folder}/server.pem}}"
            self.broker_settings = (f"\nlistener {target} 127.0.0.1\ncertfile {self.folder}/server.pem\n"
                                    f"keyfile {self.folder}/server.key\n")
        self.broker_settings += f"\nmax_queued_messages {QUEUE_MAX}\n"
        self.network = Network(target)
        if not tls:
            self.network.only = b"\0\6tandem"  # the client id as CONNECT has it
        text = self.lab.read_text().replace(f"port: {self.broker_port}", f"port: {self.network.port}{more}")
        self.lab.write_text(text.replace("http: {", "http: {client_requests_per_s: 0, "))

    def run(self, command, **options):
        if "serve" in command:
            options["env"] = {**os.environ, "LD_LIBRARY_PATH": os.environ.get("FLAPS_LIBRARIES", ""),
                              "LD_PRELOAD": os.environ.get("FLAPS_PRELOAD", "")}
            for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
                options["env"][name] = f"{os.environ.get(name, '')}:log_path={self.folder}/sanitizer"
        return super().run(command, **options)

    def metric(self, name):
        return int(float(re.search(rf"^{name} (\S+)", self.fetch("/metrics"), re.M)[1]))

    def findings(self):
        texts = [path.read_text(errors="replace") for path in self.folder.glob("sanitizer.*")]
        return [line for text in texts for line in FINDING.findall(text)], texts

    def summaries(self, texts):
        """Reports of sanitizers by place, with their number."""
        lines = [line for text in texts for line in SUMMARY.findall(text)]
        return collections.Counter(re.sub(r"/\S*/(?=[^/ ]+:\d)", "", line) for line in lines)

    def entries_made(self):
        try:
            rows = re.findall(r"^tandem_lab_entries_total\S* (\S+)", self.fetch("/metrics"), re.M)
            return sum(int(float(row)) for row in rows)
        except OSError:
            return 0

    def wait_flow(self):
        """Waits until the daemon has a session again and messages arrive through it."""
        before, end = self.network.carried, time.monotonic() + FLOW_S
        while self.network.carried - before < FLOW_BYTES and time.monotonic() < end and self.daemon.poll() is None:
            time.sleep(0.005)

    def cut(self, cuts, seconds, after_s, seed, done):
        """Cuts the link a number of times within a time limit, on average some seconds after messages have begun to
        arrive. Mostly only the connection of commands is cut: Paho reconnects within a quarter of a second while
        another connection wakes its thread, else after one second. Returns early when the daemon dies.
        """
        draw, made, end = random.Random(seed), 0, time.monotonic() + seconds
        while made < cuts and time.monotonic() < end and self.daemon.poll() is None:
            self.wait_flow()
            time.sleep(after_s * draw.uniform(0, 2))
            self.network.cut(named=draw.random() < 0.95)
            made += 1
            if made % 10 == 0:
                done.value = max(done.value, self.entries_made())
        return made

    def wait_until_idle(self, acknowledged):
        """The broker delivers in order: with the last command of each pair all others have arrived. Then waits for
        missing ones all the same, as long as entries come.
        """
        client = Client(self.broker_port, "flaps-last")
        for n in range(PAIRS):
            client.publish(f"tandem/v1/r{n + 1}/command", json.dumps({"id": "last", "op": "go"}))
        for n in range(PAIRS):
            path = f"/api/v1/pairs/r{n + 1}/entries?limit=20"
            self.wait(lambda: any(entry["id"] == "last" for entry in self.get(path)["entries"]), f"the end of r{n + 1}", 180)
        client.end()
        missing, since = len(acknowledged), time.monotonic()
        while missing and time.monotonic() - since < limit_s(STILL_S):
            entries = self.entries()
            now = sum(name not in entries for name in acknowledged)
            if now < missing:
                missing, since = now, time.monotonic()
            time.sleep(0.5 if missing else 0)

    def entries(self):
        with sqlite3.connect(f"file:{self.folder}/store.db?mode=ro", uri=True) as db:
            return collections.Counter(row[0] for row in db.execute("SELECT id FROM entries WHERE id <> 'last'"))

    def count_in_journal(self, name):
        """Journal lines with the command, delivered first and again."""
        text = f'{{"id": "{name}", "seq"'.encode()
        return sum(path.read_bytes().count(text) for path in (self.folder / "journal").iterdir())


def judge(rig, acknowledged, found):
    """Each acknowledged command has exactly one entry."""
    entries = rig.entries()
    lost = [name for name in acknowledged if entries[name] == 0]
    found |= {"acknowledged": len(acknowledged), "entries": sum(entries.values()), "lost": len(lost),
              "doubled": sum(count > 1 for count in entries.values()),
              "lost_in_journal": {name: rig.count_in_journal(name) for name in lost[:5]},
              "dropped_by_broker": (rig.folder / "mosquitto.log").read_text().count("messages are being dropped for client tandem")}


def play(options, seed):
    with Flaps(options.tls) as rig:
        rig.start_daemon(60)
        stop, acknowledged, done = multiprocessing.Event(), multiprocessing.Queue(), multiprocessing.Value("l")
        publisher = multiprocessing.Process(target=publish, args=[rig.broker_port, options.rate, stop, done, acknowledged])
        requests = multiprocessing.Value("l")
        reader = multiprocessing.Process(target=read, args=[rig.http_port, stop, requests])
        publisher.start()
        reader.start()
        began, found = time.monotonic(), {"seed": seed, "commit": options.commit}
        found["cuts"] = rig.cut(options.cuts, options.seconds, options.after, seed, done)
        found["seconds"] = round(time.monotonic() - began)
        found["received_hz"] = round(3 * rig.entries_made() / (time.monotonic() - began))
        stop.set()
        sent, names = acknowledged.get(timeout=limit_s(180))
        publisher.join()
        reader.join()
        found["messages"], found["requests"] = 3 * sent, requests.value
        ended = rig.daemon.poll() is not None
        if not ended:
            rig.wait(rig.ready, "the daemon is connected again", 60)
            rig.wait_until_idle(names)
            found["connections"] = rig.metric("tandem_broker_connections_total")
            found["broken_writes"] = rig.metric("tandem_broker_broken_writes_total")
            rig.daemon.terminate()
            rig.daemon.wait(limit_s(60))
        found["status"] = rig.daemon.returncode
        incomplete = rig.daemon.returncode == 1 and " stop_incomplete: " in rig.daemon_log.read_text()
        found["deaths"] = int(ended or not (rig.daemon.returncode == 0 or incomplete))
        judge(rig, names, found)
        lines, texts = rig.findings()
        found["findings"], found["places"] = len(lines), rig.summaries(texts)
        found["blamed"] = rig.daemon_log.read_text().count("another program")
        for text in texts[:3]:
            print(text[:6000], file=sys.stderr)
        if found["deaths"] or found["lost"]:
            rig.print_logs()
        rig.network.end()
    return found


def known_runs(options):
    """Earlier runs of the same commit and settings, by their seeds."""
    if not options.results or not os.path.exists(options.results):
        return {}
    with open(options.results) as lines:
        rows = [json.loads(line) for line in lines]
    return {row["seed"]: row for row in rows if row["settings"] == options.settings and row["commit"] == options.commit}


def play_runs(options):
    known = known_runs(options)
    for seed in range(options.seed, options.seed + options.runs):
        if seed in known:
            found = known[seed]
        else:
            found = play(options, seed)
            print(json.dumps(found), flush=True)
            if options.results:
                with open(options.results, "a") as out:
                    out.write(json.dumps({**found, "settings": options.settings}) + "\n")
        yield found


def main():
    parser = argparse.ArgumentParser(description="Cut the daemon's link under load: no death, nothing lost, nothing doubled.")
    parser.add_argument("--cuts", type=int, default=100, help="(%(default)s)")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after this time, with however many cuts")
    parser.add_argument("--rate", type=float, default=2000, help="messages a second to the daemon (%(default)s)")
    parser.add_argument("--after", type=float, default=0.2,
                        help="mean time from the first messages of a connection to its cut in s (%(default)s)")
    parser.add_argument("--tls", action="store_true", help="the daemon's link is encrypted")
    parser.add_argument("--seed", type=int, default=1, help="of the first run (%(default)s)")
    parser.add_argument("--runs", type=int, default=1, help="each with this number of cuts, and a daemon and broker of its own")
    parser.add_argument("--results", help="a file that keeps the runs; those of the same commit and settings are not made again")
    parser.add_argument("--broken-writes", type=int, default=0, help="at least this number of messages must meet a cut link")
    options = parser.parse_args()
    options.settings = [options.cuts, options.rate, options.after, options.tls, os.environ.get("FLAPS_LIBRARIES", "")]
    options.commit = subprocess.run(["git", "-C", SOURCE, "rev-parse", "--short", "HEAD"], check=False, text=True,
                                    stdout=subprocess.PIPE).stdout.strip()
    found = list(play_runs(options))
    total = {name: sum(row.get(name, 0) for row in found) for name in SUMS}
    total["received_hz"] = round(sum(row.get("received_hz", 0) for row in found) / len(found))
    print(json.dumps({"runs": len(found), **total}), flush=True)
    bad = [what for what in BAD if total[what]]
    if not total["cuts"] or total["broken_writes"] < options.broken_writes or not total["acknowledged"]:
        bad.append("the run is too short")
    return f"did not hold: {', '.join(bad)}" if bad else 0


if __name__ == "__main__":
    sys.exit(main())
