#!/usr/bin/env python3
"""The time from an UnLock's arrival until the next robot has its grant, over a real broker.

usage: TANDEM=build/release/tandem SOURCE=. PYTHONPATH=tests/support tests/bench/team_grants.py [ROUNDS]

Two robots' own controllers hand one place over to each other. `grant_ms` is from the UnLock's arrival, as the daemon
stamped it (the grant's `t`), until the other controller has read GRANTED: it includes the broker's way back and this
program. `inside_within_s`: the daemon's own measure, `tandem_team_grant_seconds`, until the answer is with the
broker's client: the share within each bound. `round_ms`: from the UnLock's sending. `broker_ms`: a message through
the broker alone, to its own sender. One JSON line.
"""
import json
import os
import queue
import re
import sys
import time

from mqtt import Client
from rig import Rig

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
TEAM = """teams:
  cell:
    resources: {IB: {}}
    sequences: {j: [Wait]}
    robots: {R1: {pair: r1}, R2: {pair: r2}}
"""
TOPIC = "tandem/v1/cell/request"


def ask(client, number, robot, **what):
    return client.publish(TOPIC, json.dumps({"id": f"z{number}", "robot": robot, **what}))


def await_grant(heard, number, grant):
    while True:
        topic, payload, at_s = heard.get(timeout=20)
        answer = json.loads(payload) if topic.endswith("/response") else {}
        if answer.get("id") == f"z{number}" and answer["grant"] == grant:
            return answer, at_s


def measure_grants(client, heard):
    grants, rounds = [], []
    ask(client, 0, "R1", op="lock", resources=["IB"])
    held, _ = await_grant(heard, 0, "GRANTED")
    for k in range(ROUNDS):
        owner, other = ("R1", "R2") if k % 2 == 0 else ("R2", "R1")
        ask(client, 2 * k + 1, other, op="lock", resources=["IB"])
        await_grant(heard, 2 * k + 1, "QUEUED")
        time.sleep(0.002)  # not while the previous wait is being recorded
        sent_s = time.time()
        ask(client, 2 * k + 2, owner, op="unlock", resources=["IB"], fence=held["fences"]["IB"])
        held, at_s = await_grant(heard, 2 * k + 1, "GRANTED")
        grants.append(1e3 * (at_s - held["t"]))
        rounds.append(1e3 * (at_s - sent_s))
    return grants, rounds


def measure_broker(client, heard):
    laps = []
    for k in range(ROUNDS):
        sent_s = time.time()
        client.publish("echo", str(k))
        topic, at_s = "", 0.0
        while topic != "echo":
            topic, _, at_s = heard.get(timeout=20)
        laps.append(1e3 * (at_s - sent_s))
        time.sleep(0.002)
    return laps


def read_histogram(page):
    """The daemon's own measure: the share of grants within each of its bounds."""
    buckets = dict(re.findall(r'tandem_team_grant_seconds_bucket\{le="(.+?)"\} (\d+)', page if isinstance(page, str) else page.decode()))
    return {bound: round(int(count) / max(1, int(buckets["+Inf"])), 4) for bound, count in buckets.items()}


def percentiles(values):
    ordered = sorted(values)
    return {name: round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)
            for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))}


def main():
    heard = queue.Queue()
    with Rig() as rig:
        head = rig.lab.read_text()
        rig.lab.write_text(head[:head.index("\npairs:")] + "\ndefaults: {mode: link}\npairs: {r1: {}, r2: {}}\n" + TEAM)
        rig.start_daemon()
        client = Client(rig.broker_port, "controllers", clean=True, topics=["tandem/v1/cell/response", "echo"],
                        take=lambda topic, payload: heard.put((topic, payload, time.time())))
        assert client.subscribed.wait(10)
        broker = measure_broker(client, heard)
        grants, rounds = measure_grants(client, heard)
        client.ended = True
        inside = read_histogram(rig.fetch("/metrics"))
    print(json.dumps({"bench": "team_grants", "rounds": ROUNDS, "grant_ms": percentiles(grants),
                      "within_1_ms": round(sum(g <= 1.0 for g in grants) / len(grants), 4), "round_ms": percentiles(rounds),
                      "broker_ms": percentiles(broker), "inside_within_s": inside, "load": round(os.getloadavg()[0], 1)}))


if __name__ == "__main__":
    main()
