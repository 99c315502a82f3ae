"""`tandem robot --check` finds nothing in correct robots, and in each wrong robot exactly its fault."""
import json
import math
import re
import subprocess
import sys
import threading
import time

from mqtt import Client
from rig import Rig, SOURCE, TANDEM
from waiting import limit_s, pass_time

PERIOD_S = 0.02
SET = {"t0_s": 0.0, "angular_speed_radps": 1.0, "linear_speed_mps": 0.5}


LAGS = ("lagging", "late efforts")  # velocities that follow the efforts slowly, in samples of each step


class Robot:
    """A robot that follows docs/protocol, except for its flaw."""

    def __init__(self, port, pair, side, flaw=""):
        self.flaw, self.own, self.now_set = flaw, dict(SET), dict(SET)
        self.stem, self.side = f"tandem/v1/{pair}", side
        self.pose, self.nu, self.job, self.seq, self.ended = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], None, 0, False
        self.seen = [0.0, 0.0, 0.0]
        self.lock = threading.Lock()
        will = (f"{self.stem}/{side}/connection", '{"state":"offline"}')
        hello = None if flaw == "no connection" else (will[0], json.dumps({"state": "online", **self.boot()}))
        topics = [f"{self.stem}/command", *(f"{self.stem}/{side}/{word}" for word in ("probe", "parameters"))]
        self.client = Client(port, f"{pair}-{side}", clean=True, topics=topics, on_message=self.take, will=will, hello=hello)
        self.client.subscribed.wait(limit_s(10))
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def boot(self):
        return {} if self.flaw == "no boot" else {"boot": "b1"}

    def clock(self):
        """A time on its own clock, which began at its start, or on another's."""
        t = time.monotonic() - 100.0
        return {"ms stamps": 1e3 * t, "us stamps": 1e6 * t, "slow clock": 0.3 * t}.get(self.flaw, t)

    def say(self, word, body, qos=1):
        retain = self.flaw == f"retained {word}"
        self.client.publish(f"{self.stem}/{self.side}/{word}", body if isinstance(body, str) else json.dumps(body), qos, retain)

    def values(self):
        x, y, psi = self.pose
        k = {"mm": 1000, "cm": 100}.get(self.flaw, 1)
        psi = math.degrees(psi) if self.flaw == "degrees" else -psi if self.flaw == "clockwise" else psi
        y = -y if self.flaw == "clockwise" else y
        return {"heading": psi} if self.flaw == "no values" else {"x_m": k * x, "y_m": k * y, "psi_rad": psi}

    def reply(self, command, status, started=None):
        body = {"id": command.get("id"), "t": self.clock(), "t_start": started or self.clock(), "status": status, "values": self.values()}
        if self.flaw == "values outside":
            body.update(x=self.pose[0], battery=0.5)
        for flaw, member in {"no id": "id", "no t": "t", "no t_start": "t_start"}.items():
            if flaw == self.flaw:
                del body[member]
        if self.flaw == "other ids":
            body["id"] = "mine"
        if self.flaw == "t_start of another clock":
            body["t_start"] = time.time()
        if self.flaw == "t as text":
            body["t"] = str(body["t"])
        if self.flaw == "ros stamps":
            body["t"] = {"sec": int(body["t"] // 1), "nanosec": int(body["t"] % 1 * 1e9)}
        for _ in range(2 if self.flaw == "replies twice" and status == "done" else 1):
            self.say("reply", body, 0 if self.flaw == "qos 0" else 1)

    def take(self, topic, payload):
        with self.lock:
            received, body = self.clock(), json.loads(payload)
            getattr(self, "receive_" + topic.rsplit("/", 1)[1])(body, received)

    def receive_probe(self, body, received):
        if self.flaw == "late echo":
            pass_time(0.8)
        if self.flaw != "no echo":
            self.say("echo", {"probe": body["probe"], "t_received": received, "t": self.clock()})

    def receive_parameters(self, body, _):
        if self.flaw == "no ack":
            return
        values = body.get("values", {})
        applied = [name for name in values if name in self.own or self.flaw == "applies all"]
        refused = [{"name": name, "reason": "no such parameter"} for name in values if name not in applied]
        if self.flaw == "forgets what it refused":
            refused = []
        self.now_set = {**self.own, **{name: values[name] for name in applied if name in self.own}}
        self.say("parameters/ack", {"version": body["version"], "applied": applied, "refused": refused, "form": "absolute"})

    def receive_command(self, body, _):
        op = body["op"]
        if op == "go" and self.job is None:
            turn = body.get("rotation_rad", 0.0)
            turn = math.radians(turn) if self.flaw == "takes degrees" else turn
            job = [body, self.clock(), turn, body.get("displacement_m", 0.0)]
            self.job = job if job[2] or job[3] else None
            if self.flaw == "done at once" or not self.job:
                self.reply(body, "done", job[1])
        elif op == "go":
            if self.flaw != "second go unanswered":
                self.reply(body, "ignored")
        elif op == "halt" and self.flaw == "halts at its end":
            self.job = self.job and [*self.job[:4], body]
            if not self.job:
                self.reply(body, "ignored")
        elif op == "halt":
            job = self.job
            if self.flaw != "stops only in words":
                self.job = None
            elif job:
                self.job = [{}, *job[1:]]
            if job and job[0] and self.flaw != "halted unanswered":
                self.reply(job[0], "halted", job[1])
            self.reply(body, "done" if job else "halted" if self.flaw == "halted at rest" else "ignored")
        elif self.flaw != "unknown word unanswered":
            self.reply(body, "error")

    def live(self):
        beat = 0
        while not self.ended:
            pass_time(PERIOD_S)
            with self.lock:
                self.step()
                beat += 1
                if (beat % 2 == 0 or self.flaw in LAGS) and self.flaw != "no telemetry":
                    self.sample()

    def effort(self):
        """The velocity that it is driven with, from now on."""
        turn, distance = self.job[2:4] if self.job else (0.0, 0.0)
        if turn:
            return [0.0, 0.0, math.copysign(min(abs(turn) / PERIOD_S, self.now_set["angular_speed_radps"]), turn)]
        return [min(distance / PERIOD_S, self.now_set["linear_speed_mps"]), 0.0, 0.0]

    def step(self):
        self.nu = self.effort()
        self.seen = [0.7 * seen + 0.3 * nu for seen, nu in zip(self.seen, self.nu)]
        if not self.job:
            return
        self.job[2] -= self.nu[2] * PERIOD_S
        self.job[3] -= self.nu[0] * PERIOD_S
        self.pose[2] = math.remainder(self.pose[2] + self.nu[2] * PERIOD_S, 2 * math.pi)
        course = self.pose[2] + (1.0 if self.flaw == "goes aside" else 0.0)
        self.pose[0] += self.nu[0] * PERIOD_S * math.cos(course)
        self.pose[1] += self.nu[0] * PERIOD_S * math.sin(course)
        if abs(self.job[2]) < 1e-9 and abs(self.job[3]) < 1e-9:
            job, self.job = self.job, None
            if job[0] and self.flaw != "done at once":
                self.reply(job[0], "done", job[1])
            if len(job) > 4:
                self.reply(job[4], "ignored")

    def sample(self):
        k = 1000 if self.flaw == "telemetry in mm" else 1
        t = {"telemetry in ms": 1e3, "no stamps of samples": math.nan}.get(self.flaw, 1.0) * self.clock()
        nu = self.seen if self.flaw in LAGS else self.nu
        body = {"t": t, "seq": self.seq, **self.boot(), "nu": [k * nu[0], 0.0, nu[2]],
                "tau": self.nu if self.flaw == "late efforts" else self.effort(),
                "pose": [k * self.pose[0], k * self.pose[1], self.pose[2]]}
        if self.flaw == "telemetry of another clock":
            body["t"] = time.time()
        if math.isnan(t):
            del body["t"]
        self.seq += self.flaw != "seq stands"
        self.say("telemetry", body, 0)

    def end(self):
        self.ended = True
        self.thread.join(5)
        self.client.end()
        self.client.thread.join(5)


MISSING, WRONG = "missing", "wrong"
# Flaw: the findings in addition to the results of a correct robot.
FLAWS = {
    "": {}, "ros stamps": {},
    "no id": {"reply.id": MISSING},
    "no t": {"reply.t": MISSING},
    "no t_start": {"reply.t_start": MISSING},
    "no boot": {"boot": MISSING},
    "no connection": {"connection": MISSING},
    "no echo": {"echo": MISSING},
    "no telemetry": {"telemetry": MISSING},
    "no values": {"values": MISSING},
    "values outside": {"values.compared": MISSING},
    "no ack": {"parameters": MISSING},
    "no stamps of samples": {"telemetry.t": MISSING},
    "qos 0": {"reply.qos": MISSING},
    "other ids": {"reply.id": WRONG, "reply": WRONG},
    "degrees": {"values": WRONG},
    "mm": {"values": WRONG},
    "cm": {"values": WRONG},
    "clockwise": {"values": WRONG},
    "takes degrees": {"values": WRONG, "telemetry.pose": WRONG},
    "goes aside": {"values": WRONG, "telemetry.pose": WRONG},
    "ms stamps": {"reply.t": WRONG, "echo.t": WRONG, "telemetry.t": WRONG},
    "us stamps": {"reply.t": WRONG, "echo.t": WRONG, "telemetry.t": WRONG},
    "slow clock": {"reply.t": WRONG, "echo.t": WRONG, "telemetry.t": WRONG},
    "t as text": {"malformed": WRONG, "reply": WRONG},
    "t_start of another clock": {"reply.t_start": WRONG},
    "lagging": {},
    "late efforts": {"telemetry.tau": WRONG},
    "telemetry in mm": {"telemetry.pose": WRONG, "telemetry.nu": WRONG},
    "telemetry in ms": {"telemetry.t": WRONG},
    "telemetry of another clock": {"telemetry.t": WRONG},
    "seq stands": {"telemetry.seq": WRONG},
    "replies twice": {"reply.twice": WRONG},
    "retained reply": {"reply.retained": WRONG},
    "retained telemetry": {"telemetry.retained": WRONG},
    "retained echo": {"echo.retained": WRONG},
    "late echo": {"echo": WRONG},
    "done at once": {"values": WRONG, "telemetry.pose": None, "reply.twice": WRONG, "busy": None, "halt": None},
    "second go unanswered": {"reply": WRONG},
    "unknown word unanswered": {"reply": WRONG},
    "halts at its end": {"halt": WRONG, "halt.late": WRONG},
    "stops only in words": {"halt.stop": WRONG},
    "halted unanswered": {"reply": WRONG},
    "halted at rest": {"halt.idle": WRONG},
    "applies all": {"parameters": WRONG},
    "forgets what it refused": {"parameters": WRONG},
}


def check(rig, pair, side, *options):
    run = subprocess.run([TANDEM, "robot", "--port", str(rig.broker_port), "--check", f"{pair}/{side}", "--json",
                          "--timeout", "3", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=limit_s(120))
    assert run.returncode in (0, 3), (run.returncode, run.stderr)
    return run.returncode, json.loads(run.stdout)


def odd(page):
    return {f["what"]: f["state"] for f in page["findings"] if f["state"] != "right"}


def check_rules(page):
    """Each rule is in its document, whose lines may break within it."""
    for finding in page["findings"]:
        document = " ".join((SOURCE / finding["document"]).read_text().split())
        assert finding["rule"] in document, f"{finding['document']} does not say: {finding['rule']}"


def check_flaws(rig):
    results = {}

    def one(number, flaw, expected):
        pair, side = f"f{number}", "virtual" if expected.get("parameters") or not flaw else "real"
        robot = Robot(rig.broker_port, pair, side, flaw)
        try:
            results[flaw] = check(rig, pair, side)
        finally:
            robot.end()

    todo = list(enumerate(FLAWS.items()))
    while todo:  # several at once: they mostly wait
        threads = [threading.Thread(target=one, args=(n, flaw, expected)) for n, (flaw, expected) in todo[:16]]
        todo = todo[16:]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for flaw, expected in FLAWS.items():
        code, page = results[flaw]
        check_rules(page)
        found, sure = odd(page), {what: state for what, state in expected.items() if state}
        assert {k: v for k, v in found.items() if k in sure or k not in expected} == sure, f"{flaw}: {json.dumps(page, indent=1)}"
        assert code == (3 if WRONG in found.values() else 0), (flaw, code)
        print(f"{flaw or 'no flaw'}: {found}")
    compared = {flaw: next(f["detail"] for f in page["findings"] if f["what"] == "values.compared")
                for flaw, (_, page) in results.items() if flaw in ("", "values outside")}
    assert compared[""].endswith(": status, x_m, y_m, psi_rad"), compared
    assert compared["values outside"].endswith("x, battery") and "psi_rad;" in compared["values outside"], compared


def check_own(rig):
    """Robots of `tandem robot`, of both modes."""
    rows = [("kinematic", "real", "observe", {}), ("kinematic", "virtual", "link", {}), ("diffdrive", "virtual", "observe", {}),
            ("arm6", "real", "observe", {"go": MISSING})]
    for n, (kind, side, mode, expected) in enumerate(rows):
        robot = rig.start("robot", "--kind", kind, "--pair", f"o{n}", "--side", side, "--mode", mode, "--telemetry-rate", "20",
                          "--clock-offset", "-3600")
        pass_time(1)
        code, page = check(rig, f"o{n}", side, "--mode", mode, "--timeout", "15")
        robot.terminate()
        robot.wait(limit_s(10))
        check_rules(page)
        found = {what: state for what, state in odd(page).items() if state != "untried"}
        assert found == expected and code == 0, f"{kind}: {json.dumps(page, indent=1)}"
        print(f"{kind} {side} {mode}: {page['right']} right")


def check_page(rig):
    """The output as text; an absent robot; the check restores a parameter set that was in force."""
    robot = Robot(rig.broker_port, "w1", "virtual", "degrees")
    rig.publish("tandem/v1/w1/virtual/parameters", {"version": 7, "model": "travel_time", "values": {"linear_speed_mps": 0.4}}, "-r")
    run = subprocess.run([TANDEM, "robot", "-p", str(rig.broker_port), "--check", "w1/virtual"], stdout=subprocess.PIPE, text=True)
    robot.end()
    assert run.returncode == 3, run.stdout
    assert re.search(r"^wrong    values: 40\.\d+ for a turn by 0\.7 rad: are these degrees\?\n         docs/protocol\.md: Units are SI", run.stdout, re.M), run.stdout
    assert "version 7 is back" in run.stdout and robot.now_set["linear_speed_mps"] == 0.4, run.stdout
    assert re.search(r"^w1/virtual: \d+ right, 0 missing, 1 wrong, 0 untried$", run.stdout, re.M), run.stdout
    code, page = check(rig, "nobody", "real", "--timeout", "1")
    assert code == 3 and odd(page)["reply"] == WRONG and page["right"] == 0, page
    for wrong in ("r1", "r1/both", "/real", "r1/"):
        run = subprocess.run([TANDEM, "robot", "-p", "1", "--check", wrong], stderr=subprocess.PIPE, text=True)
        assert run.returncode == 2 and "PAIR/real or PAIR/virtual" in run.stderr, (wrong, run.stderr)
    for wrong in ("1", "1,", "0,1", "1,x", "1,1,1", "nan,1", "9,1"):
        run = subprocess.run([TANDEM, "robot", "-p", "1", "--check", "r1/real", "--go", wrong], stderr=subprocess.PIPE, text=True)
        assert run.returncode == 2 and "RAD,M" in run.stderr, (wrong, run.stderr)


def main():
    with Rig() as rig:
        check_page(rig)
        check_own(rig)
        check_flaws(rig)


if __name__ == "__main__":
    sys.exit(main())
