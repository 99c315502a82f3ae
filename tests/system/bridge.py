"""`tandem bridge` between an RTDE controller and a whole lab, with a virtual robot that repeats the bridge's
commands.
"""
import json
import math
import pathlib
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from mqtt import Client  # noqa: E402
from rig import Rig, free_port  # noqa: E402
from ur_controller import PERIOD, Controller, frame  # noqa: E402
from waiting import limit_s, pass_time  # noqa: E402

PAIRS = "arm: {timeout_s: 30}\n  lab: {timeout_s: 30}\n  old: {timeout_s: 30}\n  twin: {timeout_s: 30}"


class Lab:
    """Collects the published messages, and plays a virtual robot that takes the time that each command states."""

    def __init__(self, port):
        self.messages, self.lock = [], threading.Lock()
        self.client = Client(port, "lab", clean=True, topics=["tandem/v1/#"], on_message=self.on_message)
        assert self.client.subscribed.wait(limit_s(10))

    def on_message(self, topic, payload):
        with self.lock:
            self.messages.append((topic, payload))
        if topic == "tandem/v1/arm/command":
            command = json.loads(payload)
            threading.Timer(self.seconds(command), self.answer, [command]).start()

    @staticmethod
    def seconds(command):
        if "time_s" in command:
            return command["time_s"]
        size = command["rotation_rad"] if command["op"] == "movej" else command["displacement_m"]
        v, a = (command["v_radps"], command["a_radps2"]) if command["op"] == "movej" else (command["v_mps"], command["a_mps2"])
        return size / v + v / a

    def answer(self, command):
        values = {f"q{i + 1}_rad": q for i, q in enumerate(command.get("q_rad", []))}
        self.client.publish("tandem/v1/arm/virtual/reply", json.dumps({"id": command["id"], "status": "done", "values": values}))

    def said(self, topic):
        with self.lock:
            return [json.loads(p) for t, p in self.messages if t == "tandem/v1/" + topic and p]


def near(got, want, most, what):
    assert abs(got - want) <= most, f"{what}: {got}, {want} +- {most} was expected"


def check_move(move, command, reply, calibrates=True):
    assert command["id"] == reply["id"], (command, reply)
    near(reply["t_start"], move.start, PERIOD, "start")
    near(reply["t"], move.end, PERIOD, "end")
    assert reply.get("calibrate", True) == calibrates, reply
    near(max(abs(reply["values"][f"q{i + 1}_rad"] - move.target[i]) for i in range(6)), 0.0, 1e-6, "rest")
    assert reply["held_s"] > 0.9 * move.seconds, reply


def count(rig, pair, side, name):
    return rig.get(f"/api/v1/pairs/{pair}")[side][name]


def calibrating(rig):
    return rig.get("/api/v1/pairs/arm/tracked")["real"]["moves"]


def alarms(rig, pair, kind):
    return [a for a in map(json.loads, rig.records(pair, "alarms")) if a["type"] == kind]


def test_moves(rig, lab, controller):
    script = [([0.6, -0.3, 0.2, 0, 0, 0.4], {}), ([0.0] * 6, {"v": 0.8, "a": 1.0}), ([0.05, 0, 0, 0, 0, 0], {}),
              ([0.5, 0, 0, 0, 0, 0], {"line": True, "v": 0.5, "a": 1.5})]
    moves = []
    for target, speeds in script:
        moves.append(controller.move(target, **speeds))
    rig.wait(lambda: len(lab.said("arm/real/reply")) == len(script), "replies", 40)
    commands, replies = lab.said("arm/command"), lab.said("arm/real/reply")
    for move, command, reply in zip(moves, commands, replies):
        check_move(move, command, reply)
        assert reply["status"] == "done"
        if move.line:
            assert command["op"] == "movel", command
            scale = command["displacement_m"] / move.size
            near(command["v_mps"] / (move.v * scale), 1.0, 0.02, "speed of a line")
        else:
            assert command["op"] == "movej", command
            near(command["v_radps"] / move.v, 1.0, 0.02, "speed")
            near(command["a_radps2"] / move.a, 1.0, 0.04, "acceleration")
    rig.wait(lambda: len(rig.records("arm", "entries")) == len(script), "entries", 20)
    for entry, move in zip(map(json.loads, rig.records("arm", "entries")), moves):
        assert entry["verdict"] == "SYNC" or abs(entry["virtual_lap_s"] - move.seconds) > 0.03, entry
        assert -0.1 < entry["real_lap_s"] - entry["real_motion_s"] < 0.5, entry
        near(entry["real_motion_s"], move.seconds, 2 * PERIOD, "motion")
        assert entry["real_transport_s"] is None or entry["real_transport_s"] < 0.2, entry
    assert calibrating(rig) == len(script)
    telemetry = lab.said("arm/real/telemetry")
    rate = len(telemetry) / (telemetry[-1]["t"] - telemetry[0]["t"])
    near(rate, 25.0, 3.0, "rate of telemetry")
    assert all(len(telemetry[-1][k]) == 6 for k in ("nu", "tau", "tau_dot", "pose", "current_a", "tcp", "q_target"))
    near(max(abs(a) for m in telemetry if m["t"] < moves[0].end for a in m["tau_dot"]), moves[0].a, 1e-6, "acceleration")


def test_slider(rig, lab, controller):
    before = calibrating(rig)
    n = len(lab.said("arm/real/reply"))
    controller.slider = 0.5
    move = controller.move([0.0] * 6)
    controller.slider = 1.0
    rig.wait(lambda: len(lab.said("arm/real/reply")) == n + 1, "the slow move", 20)
    check_move(move, lab.said("arm/command")[-1], lab.said("arm/real/reply")[-1], calibrates=False)
    rig.wait(lambda: len(rig.records("arm", "entries")) == n + 1, "its entry", 20)
    assert calibrating(rig) == before, "a move under the slider calibrates"
    assert "scaled" in lab.said("arm/real/reply")[-1]["detail"]


def test_protective_stop(rig, lab, controller):
    n = len(lab.said("arm/real/reply"))
    controller.begin([1.5, 0, 0, 0, 0, 0])
    pass_time(0.8)
    controller.stop(3)
    rig.wait(lambda: count(rig, "arm", "real", "connection") == "offline", "offline")
    rig.wait(lambda: len(lab.said("arm/real/reply")) == n + 1, "the blocked move", 20)
    reply = lab.said("arm/real/reply")[-1]
    assert reply["status"] == "blocked" and not reply["calibrate"], reply
    rig.wait(lambda: any(a["side"] == "real" and "protective stop" in a["detail"] for a in alarms(rig, "arm", "offline")),
             "an alarm")
    controller.safety = 1
    rig.wait(lambda: count(rig, "arm", "real", "connection") == "online", "online again")


def test_away(rig, lab, controller):
    controller.kill()
    rig.wait(lambda: count(rig, "arm", "real", "connection") == "offline", "offline")
    pass_time(1.0)
    controller.open()
    rig.wait(lambda: count(rig, "arm", "real", "connection") == "online", "back", 20)
    assert not alarms(rig, "arm", "reboot"), "it was not restarted"
    n = len(lab.said("arm/real/reply"))
    move = controller.move([0.3] * 6)
    rig.wait(lambda: len(lab.said("arm/real/reply")) == n + 1, "a move after it", 20)
    check_move(move, lab.said("arm/command")[-1], lab.said("arm/real/reply")[-1])
    controller.mute = True  # in the middle of a frame
    rig.wait(lambda: count(rig, "arm", "real", "connection") == "offline", "silent", 20)
    controller.mute = False
    rig.wait(lambda: count(rig, "arm", "real", "connection") == "online", "messages again", 20)
    controller.kill()
    controller.begun = time.monotonic() - 3.0  # a controller that was restarted
    controller.open()
    rig.wait(lambda: alarms(rig, "arm", "reboot"), "a reboot", 20)


def test_received(rig, lab, controller):
    """The lab's own controller publishes its commands under its own ids."""
    bridge = rig.start("bridge", "--ur", f"127.0.0.1:{controller.port}", "--pair", "lab", "--commands", "received")
    rig.wait(lambda: count(rig, "lab", "real", "connection") == "online", "online")
    controller.move([0.1] * 6)
    lab.client.publish("tandem/v1/lab/command", json.dumps({"id": "mine", "op": "movej", "q_rad": [0.5] * 6, "rotation_rad": 0.4}))
    pass_time(0.2)
    move = controller.move([0.5] * 6)
    rig.wait(lambda: lab.said("lab/real/reply"), "the reply")
    (reply,) = lab.said("lab/real/reply")
    assert reply["id"] == "mine" and "held_s" not in reply, reply
    near(reply["t"], move.end, PERIOD, "end")
    assert [c["id"] for c in lab.said("lab/command")] == ["mine"]
    bridge.terminate()
    assert bridge.wait(limit_s(10)) == 0


def test_old(rig, lab):
    """An older controller: protocol version 1, and only the required variables."""
    controller = Controller(version=1, lacks=("actual_current", "speed_scaling", "target_speed_fraction", "robot_mode",
                                              "target_qdd"))
    bridge = rig.start("bridge", "--ur", f"localhost:{controller.port}", "--pair", "old", "--telemetry-rate", "5")
    rig.wait(lambda: count(rig, "old", "real", "connection") == "online", "online")
    move = controller.move([0.4, 0, 0, 0, 0, 0])
    rig.wait(lambda: lab.said("old/real/reply"), "the reply", 20)
    check_move(move, lab.said("old/command")[0], lab.said("old/real/reply")[0])
    assert all("tau" in m and "tau_dot" not in m for m in lab.said("old/real/telemetry"))
    bridge.terminate()
    bridge.wait(limit_s(10))


def set_slider(port, fraction):
    """Commands the arm as a teach pendant would; returns the connection, which holds the arm."""
    client = socket.create_connection(("127.0.0.1", port), 5)
    client.sendall(frame("V", b"\0\2") + frame("I", b"speed_slider_mask,speed_slider_fraction"))
    answer = b""
    want = frame("V", b"\1") + frame("I", b"\1UINT32,DOUBLE")
    while len(answer) < len(want):
        answer += client.recv(64)
    assert answer == want, answer
    client.sendall(frame("U", b"\1" + struct.pack(">Id", 1, fraction)))
    return client


def test_arm6(rig, lab):
    """Two simulated arms: one is behind RTDE and commanded by somebody else, the other is its twin. Both start at
    `work`.
    """
    port = free_port()
    work = [0.0, -1.5708, -1.5708, -1.5708, 1.5708, 0.0]
    moves = [[0.5, -1.3, -1.7, -1.6, 1.4, 0.3], [0.45, -1.35, -1.7, -1.6, 1.4, 0.3], work]

    def hellos():
        return sum(m["state"] == "online" for m in lab.said("bench/real/connection"))

    def start_real():
        before = hellos()
        robot = rig.start("robot", "--kind", "arm6", "--pair", "bench", "--rtde", f"127.0.0.1:{port}")
        rig.wait(lambda: hellos() > before, "it receives commands")
        return robot

    def command(name, **members):
        lab.client.publish("tandem/v1/bench/command", json.dumps({"id": name, **members}))
        rig.wait(lambda: [r for r in lab.said("bench/real/reply") if r["id"] == name], name, 20)
        (reply,) = [r for r in lab.said("bench/real/reply") if r["id"] == name]
        assert reply["status"] == "done", reply
        return reply

    real = start_real()
    rig.start("robot", "--kind", "arm6", "--pair", "twin", "--side", "virtual")
    bridge = rig.start("bridge", "--ur", f"127.0.0.1:{port}", "--pair", "twin", "--telemetry-rate", "50")
    rig.wait_online("twin")
    truth = [command(f"j{i}", op="movej", q_rad=q) for i, q in enumerate(moves)]
    pose = command("ask", op="movej", q_rad=work)["values"]
    line = {"pose": [pose["x_m"] - 0.1, pose["y_m"] + 0.05, pose["z_m"], *lab.said("twin/real/telemetry")[-1]["tcp"][3:]]}
    truth.append(command("l", op="movel", **line))
    rig.wait(lambda: len(lab.said("twin/real/reply")) == len(truth), "all moves", 40)
    rig.wait(lambda: len(rig.records("twin", "entries")) == len(truth), "entries", 20)
    seen = lab.said("twin/real/reply")
    offset = truth[0]["t_start"] - seen[0]["t_start"]
    for measured, own in zip(seen, truth):
        near(measured["t_start"] + offset, own["t_start"], 2 * PERIOD, "start on the arm's own clock")
        assert measured["status"] == "done" and measured.get("calibrate", True), measured
        # The arm reports done when its joints have arrived, the bridge when its set points have.
        assert -PERIOD < own["t"] - measured["t"] - offset < 0.5, (own, measured)
    ops = [c["op"] for c in lab.said("twin/command")]
    assert ops == ["movej"] * 3 + ["movel"], ops
    for entry in map(json.loads, rig.records("twin", "entries")):
        assert entry["virtual_status"] == "done", entry
        near(entry["real_motion_s"], entry["virtual_motion_s"], 0.01, "motion")
    slider = set_slider(port, 0.5)
    pass_time(0.2)
    command("slow", op="movej", q_rad=moves[0])
    rig.wait(lambda: len(lab.said("twin/real/reply")) == len(truth) + 1, "the slow move", 30)
    slow = lab.said("twin/real/reply")[-1]
    assert slow["calibrate"] is False and "scaled" in slow["detail"], slow
    fast = math.sqrt(4 * 0.5 / 1.4)  # the speed profile over half a radian is a triangle
    assert slow["t"] - slow["t_start"] > 1.5 * fast, slow
    slider.close()
    real.terminate()
    assert real.wait(limit_s(10)) == 0
    rig.wait(lambda: count(rig, "twin", "real", "connection") == "offline", "offline")
    start_real()
    rig.wait(lambda: count(rig, "twin", "real", "connection") == "online", "back", 20)
    rig.wait(lambda: alarms(rig, "twin", "reboot"), "a new arm", 20)
    command("again", op="movej", q_rad=moves[0])
    rig.wait(lambda: len(lab.said("twin/real/reply")) == len(truth) + 2, "a move of the new arm", 30)
    bridge.terminate()
    assert bridge.wait(limit_s(10)) == 0


def main():
    controller = Controller()
    with Rig(pairs=PAIRS) as rig:
        rig.start_daemon()
        lab = Lab(rig.broker_port)
        log = open(rig.folder / "bridge.log", "w")
        bridge = rig.start("bridge", "--ur", f"127.0.0.1:{controller.port}", "--pair", "arm", stdout=log, stderr=log)
        rig.wait(lambda: count(rig, "arm", "real", "connection") == "online", "online")
        try:
            test_moves(rig, lab, controller)
            test_slider(rig, lab, controller)
            test_protective_stop(rig, lab, controller)
            test_away(rig, lab, controller)
            test_received(rig, lab, controller)
            test_old(rig, lab)
            test_arm6(rig, lab)
        except BaseException:
            print(open(rig.folder / "bridge.log").read(), file=sys.stderr)
            print(*lab.messages[-15:], sep="\n", file=sys.stderr)
            raise
        bridge.terminate()
        assert bridge.wait(limit_s(10)) == 0
    print("bridge: fine")


main()
