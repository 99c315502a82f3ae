"""ur_driven.py - a controller that carries out moves, for tests of `tandem bridge --drive`: RTDE with inputs, the primary
interface, the dashboard, and a model of the resident program.

It does not interpret URScript. It recognises the program by the registers that its text names, and does what that text
says: takes a number, moves, echoes, stops. By UR's published rules: a program that is uploaded ends the one that runs,
and nothing acknowledges it; registers outlive programs; an input belongs to the first client that asks for it; a watchdog
ends the program without its input; in local mode no program is taken, and what is open is cut, or read without effect.
"""
import re
import socket
import struct
import threading
import time

from ur_controller import Controller, Move, pose_of

CYCLE_S = 0.004
WATCHDOG_S = 0.1


class Halt:
    """A stop with a deceleration, from a speed."""

    def __init__(self, q, qd, a):
        self.q, self.qd, self.a = q, qd, a
        self.size = max(abs(v) for v in qd)
        self.seconds = self.size / a
        self.start = self.end = None

    def at(self, t):
        t = min(max(t, 0.0), self.seconds)
        left = 1.0 - t / self.seconds if self.seconds else 0.0
        q = [p + v * t * (1.0 + left) / 2 for p, v in zip(self.q, self.qd)]
        return q, [v * left for v in self.qd], [0.0] * 6, pose_of(q)


class DrivenController(Controller):
    def __init__(self, **options):
        self.inputs = {f"input_int_register_{i}": 0 for i in range(48)}
        self.inputs.update({f"input_double_register_{i}": 0.0 for i in range(48)})
        self.registers = {i: 0 for i in range(24, 29)}  # outputs
        self.owners, self.recipes = {}, {}
        self.remote, self.takes_programs, self.has_modes = True, True, True
        self.program, self.uploads, self.orders = None, [], []
        self.written_s = 0.0
        self.stopped_s = None
        self.primaries, self.played_s = [], 0.0
        super().__init__(**options)
        self.primary_port = self.listen(self.serve_primary)
        self.dashboard_port = self.listen(self.serve_dashboard)
        threading.Thread(target=self.cycle, daemon=True).start()

    def listen(self, serve):
        listener = socket.create_server(("127.0.0.1", 0))

        def accept():
            while True:
                client, _ = listener.accept()
                threading.Thread(target=serve, args=[client], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1]

    # ---- RTDE ----

    def outputs(self):
        return {f"output_int_register_{i}": value for i, value in self.registers.items()}

    def set_up_inputs(self, client, names):
        with self.lock:
            words = ["IN_USE" if self.owners.get(n, client) is not client else
                     "INT32" if "int" in n else "DOUBLE" for n in names]
            if "IN_USE" in words:
                return b"\0" + ",".join(words).encode()
            self.owners.update({n: client for n in names})
            mine = self.recipes.setdefault(client, [])
            mine.append(names)
            return bytes([len(mine)]) + ",".join(words).encode()

    def write_inputs(self, client, payload):
        with self.lock:
            if not self.remote:
                return
            names = self.recipes[client][payload[0] - 1]
            form = ">" + "".join("i" if "int" in n else "d" for n in names)
            self.inputs.update(zip(names, struct.unpack(form, payload[1:])))
            if "input_int_register_26" in names:
                self.written_s = time.monotonic()

    def free_inputs(self, client):
        with self.lock:
            self.owners = {n: owner for n, owner in self.owners.items() if owner is not client}
            self.recipes.pop(client, None)

    # ---- the primary interface and the dashboard ----

    def serve_primary(self, client):
        self.primaries.append(client)
        text = b""
        try:
            client.sendall(struct.pack(">iB", 5, 16))  # a state of the robot, here without its parts
            while part := client.recv(4096):
                text += part
                while (found := re.search(rb"(?s)^(def |#).*?\nend\n", text)):
                    self.take_program(client, found.group().decode())
                    text = text[found.end():]
        except OSError:
            pass

    def take_program(self, client, text):
        with self.lock:
            if not self.remote or not self.takes_programs or self.safety != 1:
                return
            self.uploads.append(text)
            self.end_program()
            mark = re.search(r"write_output_integer_register\(27, (\d+)\)", text)
            if not mark:
                self.send_error(client, "another program, or a compile error")
                return
            self.program = {"taken": self.number(24), "moving": False, "stopped": False}
            self.registers.update({24: self.number(24), 25: self.number(24), 26: 0, 27: int(mark.group(1))})
            self.written_s = time.monotonic()

    @staticmethod
    def send_error(client, text):
        body = struct.pack(">QbBii", 0, -2, 10, 3, 7) + text.encode()
        client.sendall(struct.pack(">iB", 5 + len(body), 20) + body)

    def serve_dashboard(self, client):
        client.sendall(b"Connected: Universal Robots Dashboard Server\n")
        with client.makefile() as lines:
            for line in lines:
                client.sendall((self.answer(line.strip()) + "\n").encode())

    def answer(self, order):
        with self.lock:
            if order == "is in remote control":
                return str(self.remote).lower() if self.has_modes else f'could not understand: "{order}"'
            self.orders.append(order)
            if order == "unlock protective stop":
                if self.clock() - self.stopped_s < 5.0:
                    return "Cannot unlock protective stop until 5s after occurrence. Always inspect cause of protective stop before unlocking"
                self.safety = 1
                return "Protective stop releasing"
            return "closing safety popup"

    # ---- what tests play ----

    def set_remote(self, remote):
        with self.lock:
            self.remote = remote
            if not remote:
                self.end_program()
                for client in self.primaries:
                    client.close()
                self.primaries = []

    def protective_stop(self):
        with self.lock:
            self.end_program()
            self.safety, self.stopped_s = 3, self.clock()

    # ---- the program ----

    def number(self, i):
        return self.inputs[f"input_int_register_{i}"]

    def real(self, i):
        return self.inputs[f"input_double_register_{i}"]

    def end_program(self):
        """The arm stops at once, as far as a test can tell."""
        self.program = None
        if self.playing:
            self.q, self.playing = self.playing.at(self.progress(self.clock()))[0], None

    def cycle(self):
        while True:
            time.sleep(CYCLE_S)
            with self.lock:
                if self.program and time.monotonic() - self.written_s > WATCHDOG_S:
                    self.end_program()
                if self.program:
                    self.run_program(self.program)

    def run_program(self, p):
        self.registers[28] = self.number(26)
        stop = self.number(27) == self.number(24) and p["moving"]
        if not p["moving"] and self.number(24) != p["taken"]:
            p.update(taken=self.number(24), moving=True, stopped=False)
            self.registers[24] = p["taken"]
            self.begin_move()
        elif p["moving"] and stop and (not p["stopped"] or self.real(39) > p["deceleration"]):
            p.update(stopped=True, deceleration=self.real(39))
            move = self.playing
            if move:
                q, qd, _, _ = move.at(self.progress(self.clock()))
                self.play(Halt(q, qd, self.real(39)))
        elif p["moving"] and (not self.playing or self.is_over()):
            if self.playing:
                self.q, self.playing = self.playing.at(self.playing.seconds)[0], None
            p["moving"] = False
            self.registers[26] = 2 if p["stopped"] else 1
            self.registers[25] = p["taken"]

    def progress(self, now):
        return self.played_s + (now - self.since) * self.slider

    def set_slider(self, slider):
        with self.lock:
            now = self.clock()
            self.played_s, self.since, self.slider = self.progress(now), now, slider

    def is_over(self):
        return self.progress(self.clock()) >= self.playing.seconds

    def play(self, move):
        move.start = self.since = self.clock()
        self.played_s, self.playing = 0.0, move

    def begin_move(self):
        op, v, a, t = self.number(25), self.real(36), self.real(37), self.real(38)
        target = [self.real(24 + i) for i in range(6)]
        if op == 0 or (op == 1 and max(abs(x - y) for x, y in zip(self.q, target)) < 1e-9):
            return
        if op == 1:
            self.play(Move(self.q, target, v, a, False))
        elif op in (2, 3):  # without kinematics: some joints that turn as long as the tool moves
            self.play(Move(self.q, [self.q[0] + 0.3] + self.q[1:], v, a, False))
        else:
            still = Halt(self.q, target if op == 4 else [0.0] * 6, 1.0)
            still.seconds = t
            self.play(still)
