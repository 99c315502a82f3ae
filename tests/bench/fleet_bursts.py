#!/usr/bin/env python3
"""Tests whether a fleet publishes in bursts: messages of telemetry within each 5 ms, as they arrive over a real broker.

usage: TANDEM=build/release/tandem SOURCE=. PYTHONPATH=tests/support tests/bench/fleet_bursts.py [PAIRS [RATE_HZ]]

One JSON line: the number of robots that published, the share of the slots of 5 ms with any message, and the messages
in one slot: on average, in the median and the 99th percentile of those with any, at most.
"""
import collections
import json
import os
import sys
import time

from mqtt import Client
from rig import Rig

PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
RATE_HZ = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
SETTLE_S, LISTEN_S, SLOT_S = 5, 5, 0.005


def main():
    slots, robots = collections.Counter(), set()
    listening = False

    def take(topic, payload):
        if listening:
            slots[int(time.time() / SLOT_S)] += 1
            robots.add(topic)

    with Rig() as rig:
        fleet = rig.start("robot", "--kind", "kinematic", "--count", PAIRS, "--telemetry-rate", RATE_HZ)
        time.sleep(SETTLE_S)
        client = Client(rig.broker_port, "listener", clean=True, topics=["tandem/v1/+/+/telemetry"], take=take)
        assert client.subscribed.wait(10)
        listening = True
        time.sleep(max(LISTEN_S, 1.0 / RATE_HZ))
        listening = False
        client.ended = True
        fleet.terminate()
        fleet.wait()
    ordered = sorted(slots.values())
    span = max(slots) - min(slots) + 1
    print(json.dumps({"bench": "fleet_bursts", "pairs": PAIRS, "robots_heard": len(robots), "messages": sum(ordered),
                      "busy_slots": round(len(ordered) / span, 3), "mean": round(sum(ordered) / span, 1),
                      "p50": ordered[len(ordered) // 2], "p99": ordered[len(ordered) * 99 // 100], "max": ordered[-1],
                      "load": round(os.getloadavg()[0], 1)}))


if __name__ == "__main__":
    main()
