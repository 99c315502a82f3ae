#!/usr/bin/python3
"""A serial line <-> a broker; it does not interpret the messages. Ends with the line.

bridge.py TTY [HOST[:PORT]] tandem/v1/PAIR SIDE   lines are "word payload", as the firmware in ../avr has them
bridge.py TTY [HOST[:PORT]] BASE                  lines unchanged: BASE/cmd to the robot, BASE/msg from it (a mapping)
"""
import os
import sys
import tty

import paho.mqtt.client as mqtt

device, *rest = sys.argv[1:]
host, _, port = (rest.pop(0) if "/" not in rest[0] else "127.0.0.1").partition(":")
base, side = (rest + [None])[:2]
line = os.open(device, os.O_RDWR | os.O_NOCTTY)
tty.setraw(line)
state = f"{base}/{side}/connection" if side else f"{base}/msg"


def connected(c, *_):
    c.subscribe([(f"{base}/command", 1), (f"{base}/{side}/probe", 0)] if side else [(f"{base}/cmd", 1)])
    c.publish(state, '{"state":"online"}' if side else "B", 1, bool(side))


def receive(_, __, m):
    os.write(line, (m.topic.rsplit("/", 1)[1].encode() + b" " if side else b"") + m.payload + b"\n")


client = mqtt.Client(f"bridge-{base}-{side}".replace("/", "-"), clean_session=False)
client.on_connect, client.on_message = connected, receive
client.will_set(state, '{"state":"offline"}' if side else "gone", 1, bool(side))
client.connect(host, int(port or 1883), 10)
client.loop_start()
for text in os.fdopen(line, "r", buffering=1, errors="replace"):
    word, _, payload = text.strip().partition(" ")
    if side and payload:
        client.publish(f"{base}/{side}/{word}", payload, 0 if word == "telemetry" else 1, word == "connection")
    elif not side and word:
        client.publish(f"{base}/msg", text.strip(), 1)
