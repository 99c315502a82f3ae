"""ur_controller.py - a controller that reports an arm's motion by RTDE, for tests of RTDE clients.

    controller = Controller()
    move = controller.move([0.5, 0, 0, 0, 0, 0])   # returns when it has ended
    move.start, move.end, move.seconds             # on the controller's clock

It has its own simple kinematics, none of the product's: trapezoids of joints; "lines" whose pose moves straight and
whose joints do not.
"""
import math
import socket
import struct
import threading
import time

PERIOD = 0.008
TYPES = {"timestamp": "d", "target_q": "6d", "target_qd": "6d", "actual_q": "6d", "actual_qd": "6d", "actual_TCP_pose": "6d",
         "target_TCP_pose": "6d", "safety_mode": "i", "actual_current": "6d", "runtime_state": "I", "speed_scaling": "d",
         "target_speed_fraction": "d", "robot_mode": "i", "robot_status_bits": "I", "target_qdd": "6d", "tcp_offset": "6d",
         **{f"output_int_register_{i}": "i" for i in range(24, 29)}}
WORDS = {"d": "DOUBLE", "6d": "VECTOR6D", "i": "INT32", "I": "UINT32"}


def frame(kind, payload=b""):
    return struct.pack(">HB", 3 + len(payload), ord(kind)) + payload


class Move:
    def __init__(self, origin, target, v, a, line):
        self.origin, self.target, self.line = origin, target, line
        self.size = max(abs(t - o) for o, t in zip(origin, target))
        self.v, self.a = min(v, math.sqrt(a * self.size)), a
        self.seconds = self.size / self.v + self.v / a
        self.start = self.end = None

    def share(self, t):
        """Share of the path, its speed, its acceleration."""
        ramp, a = self.v / self.a, self.a / self.size
        t = min(max(t, 0.0), self.seconds)
        left = self.seconds - t
        if t <= ramp:
            return 0.5 * a * t * t, a * t, a
        if left <= ramp:
            return 1.0 - 0.5 * a * left * left, a * left, -a if left > 0.0 else 0.0
        return self.v * (t - 0.5 * ramp) / self.size, self.v / self.size, 0.0

    def at(self, t):
        """Joints, speeds, accelerations and pose."""
        s, rate, a = self.share(t)
        bend = 0.2 * math.sin(math.pi * s) if self.line else 0.0
        bent = 0.2 * math.pi * math.cos(math.pi * s) * rate if self.line else 0.0
        bends = 0.2 * math.pi * (math.cos(math.pi * s) * a - math.pi * math.sin(math.pi * s) * rate ** 2) if self.line else 0.0
        q = [o + s * (t - o) + bend for o, t in zip(self.origin, self.target)]
        qd = [rate * (t - o) + bent for o, t in zip(self.origin, self.target)]
        qdd = [a * (t - o) + bends for o, t in zip(self.origin, self.target)]
        ends = pose_of(self.origin), pose_of(self.target)
        return q, qd, qdd, [o + s * (t - o) for o, t in zip(*ends)] if self.line else pose_of(q)


def pose_of(q):
    return [0.5 * math.cos(q[0]) + 0.3 * math.cos(q[1]), 0.5 * math.sin(q[0]), 0.4 + 0.2 * math.sin(q[2]), 0.0, 0.0, 0.0]


class Controller:
    def __init__(self, port=0, version=2, lacks=(), clock=100.0):
        self.version, self.lacks = version, lacks
        self.lock = threading.RLock()
        self.q, self.playing, self.since = [0.0] * 6, None, 0.0
        self.slider, self.safety, self.mode = 1.0, 1, 7
        self.begun = time.monotonic() - clock
        self.clients, self.mute = 0, False
        self.listener, self.port = None, port
        self.open()

    def clock(self):
        return time.monotonic() - self.begun

    def open(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), reuse_port=False)
        self.port = self.listener.getsockname()[1]
        self.alive = True
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def kill(self):
        """All connections end, and nobody listens."""
        self.alive = False
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client, listener), daemon=True).start()

    def serve(self, client, listener):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        buffer, version, names, running, due = b"", 1, [], False, 0.0
        with self.lock:
            self.clients += 1
        try:
            while self.alive and listener is self.listener:
                client.settimeout(max(0.001, due - self.clock()) if running and not self.mute else 0.05)
                try:
                    part = client.recv(4096)
                    if not part:
                        return
                    buffer += part
                except socket.timeout:
                    pass
                while len(buffer) >= 3 and len(buffer) >= struct.unpack(">H", buffer[:2])[0]:
                    length, kind = struct.unpack(">HB", buffer[:3])
                    payload, buffer = buffer[3:length], buffer[length:]
                    if kind == ord("V"):
                        wanted = struct.unpack(">H", payload)[0]
                        version = wanted if wanted <= self.version else version
                        client.sendall(frame("V", bytes([wanted <= self.version])))
                    elif kind == ord("O"):
                        names = payload[8 if version == 2 else 0:].decode().split(",")
                        words = ["NOT_FOUND" if n in self.lacks else WORDS[TYPES[n]] for n in names]
                        client.sendall(frame("O", (b"\1" if version == 2 else b"") + ",".join(words).encode()))
                    elif kind == ord("I"):
                        client.sendall(frame("I", self.set_up_inputs(client, payload.decode().split(","))))
                    elif kind == ord("U"):
                        self.write_inputs(client, payload)
                    elif kind == ord("S"):
                        running, due = True, self.clock()
                        client.sendall(frame("S", b"\1"))
                now = self.clock()
                while running and now >= due and not self.mute:
                    values = self.state(due)
                    body = b"".join(struct.pack(">" + TYPES[n], *(values[n] if len(TYPES[n]) > 1 else [values[n]]))
                                    for n in names)
                    client.sendall(frame("U", (b"\1" if version == 2 else b"") + body))
                    due += PERIOD
                if running and self.mute:
                    client.sendall(b"\0")  # half a frame
                    while self.mute and self.alive:
                        time.sleep(0.05)
                    return
        except OSError:
            pass
        finally:
            self.free_inputs(client)
            client.close()

    def set_up_inputs(self, client, names):
        return b"\0" + ",".join(["NOT_FOUND"] * len(names)).encode()

    def write_inputs(self, client, payload):
        pass

    def free_inputs(self, client):
        pass

    def state(self, now):
        with self.lock:
            move = self.playing
            q, qd, qdd, pose = self.q, [0.0] * 6, [0.0] * 6, pose_of(self.q)
            if move and now >= move.start and self.safety == 1:
                q, qd, qdd, pose = move.at(self.progress(now))
                qd, qdd = [self.slider * v for v in qd], [self.slider ** 2 * a for a in qdd]
            return {"timestamp": now, "target_q": q, "target_qd": qd, "target_qdd": qdd, "actual_q": q, "actual_qd": qd,
                    "actual_TCP_pose": pose, "target_TCP_pose": pose, "safety_mode": self.safety, "actual_current": [0.1] * 6,
                    "runtime_state": 2 if move else 1, "speed_scaling": self.slider, "target_speed_fraction": self.slider,
                    "robot_mode": self.mode, "robot_status_bits": 3, "tcp_offset": [0.0] * 6, **self.outputs()}

    def outputs(self):
        return {}

    def progress(self, now):
        """s of the move in play, at full speed."""
        return (now - self.playing.start) * self.slider

    def begin(self, target, v=1.05, a=1.4, line=False):
        with self.lock:
            move = Move(self.q, target, v, a, line)
            move.start = self.clock() + 0.05
            move.end = move.start + move.seconds / self.slider
            self.playing = move
        return move

    def move(self, target, **speeds):
        move = self.begin(target, **speeds)
        time.sleep(max(0.0, move.end - self.clock()) + 0.05)
        with self.lock:
            self.q, self.playing = move.target, None
        return move

    def stop(self, mode=3):
        """A safety function: the arm stops at once."""
        with self.lock:
            move = self.playing
            self.q = move.at(self.progress(self.clock()))[0]
            self.safety, self.playing = mode, None
