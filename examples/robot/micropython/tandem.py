"""A robot on Tandem's protocol, with MicroPython and umqtt.simple (Pico W, ESP32).

Write a class for its body: begin(turn_rad, way_m) begins a move, stop() stops at once, step() does a period and is
true at rest, pose() is [x_m, y_m, psi_rad], nu() is [ahead_mps, turn_radps]. Then: robot = Robot(body,
"192.168.1.2", "r1", "real"); while True: robot.step(); every so often robot.sample().
"""
import json
import time

from umqtt.simple import MQTTClient


class Robot:
    def __init__(self, body, broker, pair, side, port=1883):
        self.body, self.base, self.side = body, "tandem/v1/" + pair, side
        self.ticks, self.ms, self.seq, self.job, self.inbox = time.ticks_ms(), 0, 0, None, []
        self.boot = "%08x" % time.ticks_us()
        self.client = MQTTClient("%s-%s" % (pair, side), broker, port, keepalive=30)
        self.client.set_callback(self.receive)
        self.client.set_last_will("%s/%s/connection" % (self.base, side), '{"state":"offline"}', True, 1)
        self.connect()

    def connect(self):
        self.client.connect()
        self.client.subscribe(self.base + "/command", 1)
        self.client.subscribe("%s/%s/probe" % (self.base, self.side))
        self.publish("connection", {"state": "online", "boot": self.boot, "version": "1.0"}, 1, True)

    def now(self):
        """Exact time since the start: floats have 24 bits there, and ticks wrap around."""
        ticks = time.ticks_ms()
        self.ms, self.ticks = self.ms + time.ticks_diff(ticks, self.ticks), ticks
        return {"sec": self.ms // 1000, "nanosec": self.ms % 1000 * 1000000}

    def publish(self, word, body, qos=1, retain=False):
        self.client.publish("%s/%s/%s" % (self.base, self.side, word), json.dumps(body), retain, qos)

    def receive(self, topic, message):  # within check_msg(), where publishing with QoS 1 would wait for ever
        self.inbox.append((topic.decode(), json.loads(message), self.now()))

    def reply(self, command, status, t_start):
        x, y, psi = self.body.pose()
        self.publish("reply", {"id": command.get("id"), "status": status, "t_start": t_start, "t": self.now(),
                               "values": {"x_m": x, "y_m": y, "psi_rad": psi}})

    def obey(self, m, t):
        if m["op"] == "go" and not self.job:
            self.job = (m, t)
            self.body.begin(m.get("rotation_rad", 0), m.get("displacement_m", 0))
        elif m["op"] == "halt":
            job, self.job = self.job, None
            self.body.stop()
            if job:
                self.reply(job[0], "halted", job[1])
            self.reply(m, "done" if job else "ignored", t)
        elif m["op"] != "go" or m.get("id", 0) != self.job[0].get("id"):  # else it came again, and is in progress
            self.reply(m, "ignored" if m["op"] == "go" else "error", t)

    def step(self):
        """Call it as often as the body is controlled."""
        self.client.check_msg()
        while self.inbox:
            topic, m, t = self.inbox.pop(0)
            if topic.endswith("/probe"):
                self.publish("echo", {"probe": m["probe"], "t_received": t, "t": self.now()}, 0)
            else:
                self.obey(m, t)
        if self.body.step() and self.job:
            job, self.job = self.job, None
            self.reply(job[0], "done", job[1])

    def sample(self):
        self.seq += 1
        motion = {"nu": self.body.nu(), "pose": self.body.pose()}
        motion.update({"t": self.now(), "seq": self.seq, "boot": self.boot})
        self.publish("telemetry", motion, 0)
