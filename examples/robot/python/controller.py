#!/usr/bin/python3
"""An L1: drives a pair through random moves and prints Tandem's results: controller.py PAIR MOVES [HOST [PORT]]."""
import json, random, sys, threading, time
import paho.mqtt.client as mqtt

pair, moves, host, port = (sys.argv[1:] + ["127.0.0.1", "1883"][len(sys.argv) - 3:])[:4]
base, run = f"tandem/v1/{pair}", f"{int(time.time()):x}"  # ids must not be used again
entries, arrived = {}, threading.Condition()


def receive(_, __, message):
    body = json.loads(message.payload)
    with arrived:
        entries[body["id"]] = body
        arrived.notify()


client = mqtt.Client(*list(getattr(mqtt, "CallbackAPIVersion", []))[:1])  # paho-mqtt 2 needs the version
client.on_connect = lambda *_: client.subscribe(f"{base}/entry", 1)
client.on_message = receive
client.connect(host, int(port))
client.loop_start()
for n in range(int(moves)):
    command = {"id": f"{run}-{n}", "t": time.time(), "seq": n, "op": "go"}
    if n % 3 != 0:  # a third of the moves each: drive, turn, both
        command["rotation_rad"] = round(random.choice((-1, 1)) * random.uniform(0.3, 1.5), 3)
    if n % 3 != 1:
        command["displacement_m"] = round(random.uniform(0.1, 0.5), 3)
    with arrived:
        client.publish(f"{base}/command", json.dumps(command), 1)
        fine = arrived.wait_for(lambda: command["id"] in entries, 30)  # an entry comes when both robots have answered
    entry = entries.get(command["id"], {})
    lag = f"{entry['lag_s']:+.3f} s" if entry.get("lag_s") is not None else "-"
    print(f"{command['id']}: {entry.get('verdict', 'no entry: is the daemon there?')}, real - virtual {lag}", flush=True)
client.disconnect()
sys.exit(0 if len(entries) == int(moves) else 1)
