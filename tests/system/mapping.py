"""Mapping tables for robots with another message format. `tandem codec try` gives the recorded bytes; wrong tables
are refused with the place and the right form. Two robots over a real broker that use only positional text ("1 -90
50") are observed and driven in link mode: verdicts, calibration, and the same in a replay.
"""
import json
import math
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, "tests/support")
from mqtt import Client  # noqa: E402
from rig import SOURCE, TANDEM, Rig, replay  # noqa: E402
from waiting import limit_s  # noqa: E402

GOLDEN = SOURCE / "tests/golden/mapping"
SHIPPED = SOURCE / "config/mappings"
MOVES = 36
# The robots' true values: turning in rad/s, driving in m/s, and seconds before each move.
TRUTH = {"bt": (4.0, 1.6, 0.05), "sim": (5.0, 2.0, 0.02)}


def codec_try(lab, messages, *options):
    return subprocess.run([TANDEM, "codec", "try", "-c", str(lab), *options, "-"], input=messages, capture_output=True, text=True)


def without_sentences(lines):
    """A malformed message has a code; its sentence may change."""
    return re.sub(r', "detail": "(?:[^"\\\\]|\\\\.)*"\}$', "}", lines, flags=re.M) if '"malformed"' in lines else lines


def recorded_cases(folder):
    lab = folder / "try.yaml"
    (folder / "table.yaml").write_bytes((GOLDEN / "table.yaml").read_bytes())
    lab.write_text("defaults: {codec: mapping, mapping: table.yaml}\npairs: {r1: {}, r2: {}, r3: {}, r4: {}, r5: {}, c1: {}}\n")
    messages = (GOLDEN / "input.jsonl").read_text()
    done = codec_try(lab, messages)
    expected = (GOLDEN / "events.jsonl").read_text()
    said = "".join(map(without_sentences, done.stdout.splitlines(keepends=True)))
    assert said == expected and done.returncode == 0, (done.stdout, done.stderr)
    assert expected.count('"malformed"') == 15
    # Messages of one pair, as a journal and mosquitto_sub -F %j write them; a line without a message is reported by
    # number.
    ours = codec_try(lab, messages, "--pair", "r4").stdout.splitlines()
    assert [without_sentences(line) for line in ours if '"r4"' in line] == [line for line in expected.splitlines() if '"r4"' in line]
    assert len(ours) == 25 and ours.count('{"event": null, "detail": "no mapping has this topic"}') == 22, ours
    as_journal = "".join(json.dumps({"tst": "2026-11-20T05:55:55.599953Z", "topic": m["topic"], "qos": 1, "retain": 0,
                                     "payloadlen": len(m["payload"]), "payload": m["payload"]}) + "\n"
                         for m in map(json.loads, messages.splitlines()))
    assert codec_try(lab, as_journal).stdout == done.stdout
    wrong = codec_try(lab, '{"topic":"csv/r5","payload":"1;2;3"}\nrubbish\n')
    assert wrong.returncode == 1 and wrong.stdout.count("telemetry") == 1 and "-:2: " in wrong.stderr, wrong


def refused(folder):
    """The error, its place, and the right form."""
    field = "mappings: [{topic: 't/{pair}', side: real, event: reply, fields: {%s}}]"
    tables = [field % "status: {path: result.ok}", field % "stats: {path: /a}", field % "status: {path: /a, at: 1}",
              field % "status: {path: /a}, t: {path: /b, unit: minutes}", field % "id: {path: /a}",
              field % "status: {topic: who}"]
    for table, line in zip(tables, (GOLDEN / "refused.txt").read_text().splitlines(), strict=True):
        (folder / "wrong.yaml").write_text(table)
        (folder / "lab_wrong.yaml").write_text("pairs: {r1: {codec: mapping, mapping: wrong.yaml}}\n")
        done = codec_try(folder / "lab_wrong.yaml", "")
        text = line.removeprefix("refused: ")
        assert done.returncode == 2 and f"wrong.yaml:1:" in done.stderr and text + ": " in done.stderr, (text, done.stderr)


def no_messages(folder):
    """Lines that are JSON but no message: each with its number, and what would be right."""
    lab = folder / "empty.yaml"
    lab.write_text("pairs: {r1: {}}\n")
    done = codec_try(lab, '[]\n[{"topic": "tandem/v1/r1/command", "payload": "{}"}]\n{}\n { }\n')
    assert done.returncode == 1 and not done.stdout, done
    assert done.stderr.splitlines() == ["tandem: -:1: an object {…} was expected", "tandem: -:2: an object {…} was expected"] + [
        f"tandem: -:{k}: \"topic\" is missing; a line of mosquitto_sub -F %J was expected" for k in (3, 4)], done.stderr


def devices(folder):
    """Messages of devices that many have, and what `tandem codec try` prints for them, without notes."""
    names = sorted(path.stem for path in (GOLDEN / "shipped").glob("*.jsonl"))
    for name in names:
        lab = folder / "device.yaml"
        lab.write_text(f"pairs: {{r1: {{codec: mapping, mapping: '{SHIPPED / name}.yaml'}}}}\n")
        done = codec_try(lab, (GOLDEN / f"shipped/{name}.jsonl").read_text())
        assert done.stdout == (GOLDEN / f"shipped/{name}.txt").read_text() and not done.stderr, (name, done.stdout, done.stderr)
    return names


def notes(folder):
    """A table's author gets each note once."""
    lab = folder / "notes.yaml"
    lab.write_text("pairs: {r1: {codec: mapping, mapping: [{topic: a, side: real, event: telemetry, fields: "
                   "{t: {path: /t, unit: iso8601}, pose.0: {path: /v/0/x}, pose.1: {path: '/w/[id=b]/x'}}}]}}\n")
    message = '{"topic": "a", "payload": {"t": "2026-03-02 08:00:01,25", "v": [{"id": "%s", "x": 1}], "w": [{"id": "b", "x": 2}]}}\n'
    done = codec_try(lab, message % "a" + message % "c")
    assert done.stdout.count('"t": 1772438401.25, "pose": [1, 2]') == 2, (done.stdout, done.stderr)
    assert re.findall(r"-:(\d): note: (.*)", done.stderr) == [
        ("1", "'/0' names an item by its place, but the items have names: '/[id=a]' finds this one at any place"),
        ("1", "/t (t): a time without a zone was read as UTC; 'zone: +02:00' would name another one")], done.stderr
    lab.write_text("pairs: {r1: {codec: mapping, mapping: one.yaml}}\n")
    (folder / "one.yaml").write_text("mappings: [{topic: a, side: real, event: telemetry, fields: {pose.0: {path: /x}}}]\n")
    assert codec_try(lab, '{"topic": "a", "payload": {"x": 3}}\n').stdout.count('"pose": [3]') == 1
    lab.write_text("pairs: {r1: {codec: mapping, mapping: one.yaml}, r2: {codec: mapping, mapping: one.yaml}}\n")
    done = codec_try(lab, "")
    assert done.returncode == 2 and "two pairs use" in done.stderr, done.stderr


def shipped(folder):
    """The tables of config/mappings are complete, and accept the messages that their heads show."""
    stamp = {"stamp": {"sec": 12, "nanosec": 500000000}, "frame_id": "c4"}
    quarter = {"x": 0, "y": 0, "z": math.sin(math.pi / 4), "w": math.cos(math.pi / 4)}
    zero = {"x": 0, "y": 0, "z": 0}
    place = {"position": {"x": 1, "y": 2, "z": 0}, "orientation": quarter}
    cases = {
        "ros2_mqtt_client": [
            ("ros/r1/go", {"header": stamp, "twist": {"linear": {"x": 0.5}, "angular": {"z": -1}}},
             {"event": "command", "id": "c4", "op": "go", "rotation_rad": -1, "displacement_m": 0.5}),
            ("ros/r1/real/odom", {"header": stamp, "child_frame_id": "base", "pose": {"pose": place, "covariance": [0] * 36},
                                  "twist": {"twist": {"linear": {"x": 0.25, "y": 0, "z": 0}, "angular": {**zero, "z": 0.5}}}},
             {"event": "telemetry", "side": "real", "t": 12.5, "pose": [1, 2, 1.570796327], "nu": [0.25, 0, 0.5]}),
            ("ros/r1/virtual/joint_states", {"header": stamp, "name": ["a", "b"], "position": [1, 2], "velocity": [3, 4], "effort": []},
             {"event": "telemetry", "side": "virtual", "t": 12.5, "pose": [1, 2], "nu": [3, 4]}),
            ("ros/r1/virtual/reply/halted", {"header": stamp, "pose": place},
             {"event": "reply", "side": "virtual", "id": "c4", "t": 12.5, "status": "halted",
              "values": {"x_m": 1, "y_m": 2, "psi_rad": 1.570796327}})],
        "simulator_scripts": [
            ("sim/r1/webots/state", {"time": 1.25, "gps": [1, 2, 3], "rpy": [0, 0, 0.5]},
             {"event": "telemetry", "side": "virtual", "sim_t": 1.25, "pose": [1, 2, 0.5]}),
            ("sim/r1/coppelia/state", {"t": 1.25, "position": [1, 2, 3], "orientation": [0, 0, 0.5]},
             {"event": "telemetry", "side": "virtual", "sim_t": 1.25, "pose": [1, 2, 0.5]}),
            ("sim/r1/result", {"id": "c1", "ok": False, "t": 3, "position": [1, 2, 0]},
             {"event": "reply", "side": "virtual", "id": "c1", "status": "error", "values": {"x_m": 1, "y_m": 2}})],
        "positional_text": [
            ("course/r1/cmd", "1 90 50", {"event": "command", "op": "go", "rotation_rad": -1.570796327, "displacement_m": 0.5}),
            ("course/r1/bt/msg", "D 512 12 90 1200 3400\n",
             {"event": "reply", "side": "real", "t": 3.4, "t_start": 1.2, "status": "done",
              "values": {"x_m": 0.512, "y_m": 0.012, "psi_rad": 1.570796327}}),
            ("course/r1/sim/msg", "I", {"event": "reply", "side": "virtual", "status": "ignored"}),
            ("course/r1/sim/msg", "B", {"event": "connection", "side": "virtual", "state": "online"})],
    }
    assert sorted(path.stem for path in SHIPPED.glob("*.yaml")) == sorted([*cases, *devices(folder)])
    for name, rows in cases.items():
        lab = folder / "shipped.yaml"
        lab.write_text(f"pairs: {{r1: {{codec: mapping, mode: link, mapping: '{SHIPPED / name}.yaml'}}}}\n")
        done = codec_try(lab, "".join(json.dumps({"topic": topic, "payload": payload}) + "\n" for topic, payload, _ in rows))
        reported = [json.loads(line) for line in done.stdout.splitlines()]
        assert reported == [{"pair": "r1", **event} for _, _, event in rows], (name, done.stdout, done.stderr)


class TextRobot:
    """A robot with positional text: receives "1 -90 50" and "4", answers "D x_mm y_mm heading_deg began_ms ended_ms"
    by its own clock. It moves for the time that it reports; it ignores a second command while it moves.
    """

    def __init__(self, rig, pair, name, topics):
        self.turn, self.drive, self.start = TRUTH[name]
        self.random = random.Random(name)
        self.began, self.topic = time.monotonic() - 1000 * self.random.random(), f"course/{pair}/{name}/msg"
        self.x = self.y = self.psi = 0.0
        self.busy, self.halted, self.received = threading.Lock(), threading.Event(), []
        self.client = Client(rig.broker_port, f"{pair}-{name}", topics=[topics], on_message=self.take,
                             will=(self.topic, b"gone"), hello=(self.topic, b"B 1"))

    def clock_ms(self):
        return round(1000 * (time.monotonic() - self.began))

    def take(self, topic, payload):
        line = payload.decode() if isinstance(payload, bytes) else payload
        self.received.append(line)
        word, *sizes = line.split()
        if word == "4":
            self.halted.set()
        elif not self.busy.acquire(blocking=False):
            self.client.publish(self.topic, "I")
        else:
            threading.Thread(target=self.move, args=[*map(int, sizes)], daemon=True).start()

    def move(self, right_deg=0, distance_cm=0):
        self.halted.clear()
        turn, way, began = -math.radians(right_deg), distance_cm / 100, self.clock_ms()
        wait = abs(turn) / self.turn + abs(way) / self.drive + self.start + self.random.gauss(0, 0.002)
        was_halted = self.halted.wait(wait)
        self.psi += turn
        self.x, self.y = self.x + way * math.cos(self.psi), self.y + way * math.sin(self.psi)
        heading = round(math.degrees(math.remainder(self.psi, 2 * math.pi)))
        text = f"{'H' if was_halted else 'D'} {self.x * 1000:.0f} {self.y * 1000:.0f} {heading} {began} {self.clock_ms()}\n"
        self.busy.release()
        self.client.publish(self.topic, text)


def check_pair(rig, pair, entries):
    """Verdicts match the robots, and the calibrated intervals contain their speeds."""
    state = rig.get(f"/api/v1/pairs/{pair}")
    assert state["entries"] == entries, state["entries"]
    rig.wait_stored(pair)
    reported = [json.loads(text) for text in rig.records(pair, "entries")]
    assert all(e["real_status"] == e["virtual_status"] == "done" for e in reported), reported
    behind = sum(e["verdict"] == "AHEAD" for e in reported)  # the simulated robot is the faster one
    assert behind > 0.6 * entries, [e["verdict"] for e in reported]
    assert not [a for a in map(json.loads, rig.records(pair, "alarms")) if a["type"] in ("malformed", "missed", "out_of_context")]
    for side, fit in rig.get(f"/api/v1/pairs/{pair}/travel-time").items():
        turn, drive, _ = TRUTH["bt" if side == "real" else "sim"]
        # Other work on the machine makes moves irregular: a reason of that kind is allowed.
        assert fit["verdict"] in ("PASS", "MARGINAL") and fit["n"] == entries, fit
        for name, truth in (("angular_speed_radps", turn), ("linear_speed_mps", drive)):
            assert abs(fit["values"][name] / truth - 1) < 0.03, (pair, side, name, fit)


def observed_and_driven():
    table = SHIPPED / "positional_text.yaml"
    pairs = (f"o1: {{codec: mapping, mapping: '{table}'}}\n"
             f"  l1: {{codec: mapping, mode: link, mapping: '{table}'}}\n")
    with Rig(pairs=pairs) as rig:
        rig.start_daemon()
        robots = [TextRobot(rig, "o1", name, "course/o1/cmd") for name in TRUTH]
        robots += [TextRobot(rig, "l1", name, f"course/l1/{name}/cmd") for name in TRUTH]
        rig.wait_online("o1", "l1")
        recording = rig.folder / "day.jsonl"
        recorder = rig.run([TANDEM, "record", "-c", rig.lab, recording], stderr=subprocess.PIPE, text=True)
        assert "listening" in recorder.stderr.readline()
        driver = rig.start("drive", "--pair", "l1", "--mode", "link", "--count", MOVES, "--interval", 0.02)
        # The controller of the observed pair uses the robots' own format, and waits for both.
        course, random_moves = Client(rig.broker_port, "course"), random.Random(5)
        for n in range(MOVES):
            turn, way = random_moves.choice([(random_moves.randint(-170, 170), 0), (0, random_moves.randint(10, 100)),
                                             (random_moves.randint(-90, 90), random_moves.randint(10, 60))])
            course.publish("course/o1/cmd", f"1 {turn} {way}")
            rig.wait(lambda: rig.get("/api/v1/pairs/o1")["entries"] == n + 1, f"entry {n + 1}")
        assert driver.wait(limit_s(90)) == 0
        check_pair(rig, "o1", MOVES)
        check_pair(rig, "l1", MOVES)
        # A recording also has the robots' messages outside of the prefix, each once.
        recorder.send_signal(signal.SIGTERM)
        assert recorder.wait(limit_s(20)) == 0
        again = json.loads(replay(rig.lab, recording))
        assert [len(again["pairs"][pair]["entries"]) for pair in ("o1", "l1")] == [MOVES, MOVES], again["pairs"]
        for robot in robots[2:]:
            assert len(robot.received) == MOVES and all(len(line.split()) == 3 for line in robot.received), robot.received
        # The driver waits for entries, so it drives robots of this codec too. Nobody would read its commands to o1.
        driven = subprocess.run([TANDEM, "drive", "-c", rig.lab, "--pair", "l1", "--count", "3", "--drive-max", "0.3", "--interval", "0"],
                                capture_output=True, text=True, timeout=limit_s(60))
        assert driven.returncode == 0 and driven.stdout.splitlines()[-1] == "drive l1: 3 commands, 3 answered, 0 timed out", driven
        assert all(" real " in line and " virtual " in line for line in driven.stdout.splitlines()[:-1]), driven
        for pair, why in (("o1", "mode: link was expected"), ("r7", "no pair 'r7'")):
            driven = subprocess.run([TANDEM, "drive", "-c", rig.lab, "--pair", pair], capture_output=True, text=True)
            assert driven.returncode == 2 and why in driven.stderr, driven
        # HALT overtakes the command in progress, in the robots' own format.
        rig.publish("tandem/v1/l1/command", {"id": "long", "op": "go", "displacement_m": 5})
        rig.wait(lambda: all(robot.received[-1] == "1 0 500" for robot in robots[2:]), "the long move is under way")
        rig.publish("tandem/v1/l1/command", {"id": "stop", "op": "halt"})
        rig.wait(lambda: all(robot.received[-1] == "4" for robot in robots[2:]), "HALT came")
        rig.publish("course/l1/bt/msg", "Q 1 2")
        rig.wait(lambda: any(a["code"] == "malformed_message" and "D, H, I" in a["detail"] and "'Q'" in a["detail"]
                             for a in map(json.loads, rig.records("l1", "alarms"))), "the fault")
        counts = {pair: rig.get(f"/api/v1/pairs/{pair}")["entries"] for pair in ("o1", "l1")}
        rig.stop_daemon()
        again = json.loads(replay(rig.lab, *sorted((rig.folder / "journal").glob("*.jsonl"))))
        for pair, count in counts.items():
            assert len(again["pairs"][pair]["entries"]) == count, (pair, count)


if __name__ == "__main__":
    with Rig() as rig:
        recorded_cases(rig.folder)
        refused(rig.folder)
        shipped(rig.folder)
        notes(rig.folder)
        no_messages(rig.folder)
    observed_and_driven()
    print("mapped")
