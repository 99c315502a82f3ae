#!/usr/bin/python3
"""A robot on Tandem's protocol: robot.py PAIR SIDE [HOST [PORT]]. Your parts are step(), goal and pose."""
import json, math, sys, time, uuid
import paho.mqtt.client as mqtt

pair, side, host, port = (sys.argv[1:] + ["127.0.0.1", "1883"][len(sys.argv) - 3:])[:4]
own = {"angular_speed_radps": 1.0, "linear_speed_mps": 0.2}  # of a simulator, until Tandem sends others
goal, pose, speeds = [0.0, 0.0], [0.0, 0.0, 0.0], dict(own)
job, seq, last, base, boot = None, 0, time.time(), f"tandem/v1/{pair}", uuid.uuid4().hex[:8]

def step(dt):  # turn, then drive: ahead and turn in m/s and rad/s, both 0 at the goal
    w, v = (math.copysign(min(abs(g) / dt, speeds[n]), g) for g, n in zip(goal, own))
    v *= w == 0.0
    goal[:] = [goal[0] - w * dt, goal[1] - v * dt]
    pose[2] = math.remainder(pose[2] + w * dt, 2 * math.pi)  # wrapped
    pose[:2] = [p + v * dt * f(pose[2]) for p, f in zip(pose, (math.cos, math.sin))]
    return [v, w]

def publish(word, body, qos=1, retain=False):
    client.publish(f"{base}/{side}/{word}", json.dumps(body), qos, retain)
def reply(command, status, t_start):
    body = {"id": command.get("id"), "t_start": t_start, "t": time.time(), "status": status}
    publish("reply", {**body, "values": dict(zip(("x_m", "y_m", "psi_rad"), pose))})
def receive(_, __, message):
    global job, speeds
    t, body, word = time.time(), json.loads(message.payload or "{}"), message.topic.rsplit("/", 1)[1]
    values, op = body.get("values", {}), body.get("op")
    if word == "probe":
        publish("echo", {"probe": body["probe"], "t_received": t, "t": time.time()})
    elif word == "parameters":  # `adjust` changes its start values, `values` replace them
        factors = {n: a.get("factor", 1) for n, a in body.get("adjust", {}).items()}
        speeds = {n: own[n] * factors[n] if n in factors else values.get(n, own[n]) for n in own}
        lists = {"applied": [n for n in values if n in own],
                 "refused": [{"name": n, "reason": "no such parameter"} for n in values if n not in own]}
        publish("parameters/ack", {"version": body["version"], "form": "relative", **lists})
    elif op == "go" and not job:
        job, goal[:] = (body, t), [body.get("rotation_rad", 0.0), body.get("displacement_m", 0.0)]
    elif op == "halt":
        if job:
            reply(job[0], "halted", job[1])
        reply(body, "done" if job else "ignored", t)
        job, goal[:] = None, [0.0, 0.0]
    elif op != "go" or body.get("id", 0) != job[0].get("id"):  # else it came again, and is in progress
        reply(body, "ignored" if op == "go" else "error", t)
def connected(*_):
    client.subscribe([(f"{base}/command", 1), (f"{base}/{side}/probe", 0), (f"{base}/{side}/parameters", 1)])
    publish("connection", {"state": "online", "boot": boot, "version": "1.0"}, retain=True)
version = list(getattr(mqtt, "CallbackAPIVersion", []))[:1]  # paho-mqtt 2 needs the version
client = mqtt.Client(*version, client_id=f"{pair}-{side}", clean_session=False)
client.on_connect, client.on_message = connected, receive
client.will_set(f"{base}/{side}/connection", '{"state":"offline"}', 1, True)
client.connect(host, int(port), 10)
while client.loop(max(0.001, last + 0.01 - time.time())) == 0 or client.reconnect() == 0:
    while time.time() >= last + 0.01:  # a step every 10 ms, a sample every fifth, with its own time
        last, seq, nu = last + 0.01, seq + 1, step(0.01)
        if job and nu == [0.0, 0.0]:
            reply(job[0], "done", job[1])
            job = None
        if seq % 5 == 0:
            publish("telemetry", {"t": last, "seq": seq // 5, "boot": boot, "nu": nu, "pose": pose}, 0)
