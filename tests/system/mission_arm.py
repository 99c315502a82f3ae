"""An arm carries out a list of moves, waits and outputs, checked as a whole before the first move. A halt, a refusal of
the robot and a signal end it with the step's number. By message and HTTP it has one owner, is shown step by step, is
over after a restart, and a replay reaches the same states.
"""
import json
import signal
import subprocess
import sys
import urllib.error

sys.path.insert(0, "tests/support")
from fault_code import says  # noqa: E402
from rig import SOURCE, TANDEM, Rig, member, replay  # noqa: E402
from waiting import limit_s  # noqa: E402

MOVES = SOURCE / "config/missions/moves.yaml"
HOME = "[0, -1.5708, -1.5708, -1.5708, 1.5708, 0]"
TEAM = """teams:
  cell:
    tasks:
      Home: {op: movej, payload: {q_rad: %s}, nominal_s: 2}
      Down: {op: movel, payload: {pose: [0.4869, 0.10915, 0.25, -2.2214, 2.2214, 0], v_mps: 0.25}, nominal_s: 2}
      Grip: {op: digital_out, payload: {pin: 0, on: true}, nominal_s: 0.1}
    sequences: {take: [Home, Down, Grip, Home]}
    robots: {R1: {pair: worker, sequence: take}}
""" % HOME


def mission(rig, path, *options, status=0):
    done = subprocess.run([TANDEM, "mission", "-c", str(rig.lab), str(path), *options], capture_output=True, text=True,
                          timeout=limit_s(120))
    assert done.returncode == status, (path, done.returncode, done.stdout, done.stderr)
    return done


def write(rig, text):
    path = rig.folder / "moves.yaml"
    path.write_text(f"kind: arm\npair: arm\n{text}\n")
    return path


def whole_list(rig, heard):
    report = json.loads(mission(rig, MOVES, "--json").stdout)
    assert report["verdict"] == "done" and report["steps"] == 8, report
    legs = report["legs"]
    assert [leg["op"] for leg in legs] == ["stopj", "movej", "movel", "digital_out", "movel", "movec", "digital_out",
                                           "movej"], legs
    assert [leg["step"] for leg in legs] == [0, 1, 2, 3, 5, 6, 7, 8], legs
    assert all(leg["status"] == "done" and leg["verdict"] in ("SYNC", "AHEAD", "BEHIND") for leg in legs), legs
    assert abs(legs[2]["real_lap_s"] - 1.345) < 0.05, legs[2]  # as --plan says
    assert abs(legs[-1]["real_lap_s"] - 3) < 0.05, legs[-1]
    rig.catch_up(heard)
    commands = [json.loads(json.loads(line)["payload"]) for line in heard.read_text().splitlines() if "real/command" in line]
    assert [c["pin"] for c in commands if c["op"] == "digital_out"] == [0, 0], commands
    assert [c["on"] for c in commands if c["op"] == "digital_out"] == [True, False], commands


def refused_by_robot(rig):
    """The file has a floor, the robot has another: its refusal ends the mission with the step."""
    path = write(rig, "floor_m: -1\nsteps:\n- movej: {q_rad: %s}\n- wait_s: 0.1\n"
                      "- movej: {q_rad: [0, 0.4, 0, -1.5708, 1.5708, 0]}\n- wait_s: 1" % HOME)
    done = mission(rig, path, status=1)
    assert "step 3, movej: error: collision" in done.stderr, done.stderr
    assert "failed, 3 commands" in done.stdout, done.stdout


def refused_before(rig, heard):
    """A fault of the last step: nothing is sent."""
    rig.catch_up(heard)
    before = heard.read_text().count("real/command")
    for steps, code, words in (
            ("- movej: {q_rad: %s}\n- movel: {pose: [0.4869, 0.10915, -0.1, -2.2214, 2.2214, 0]}" % HOME, "out_of_range",
             "steps: step 2, movel: it would be refused, collision"),
            ("- movej: {q_rad: [7, 0, 0, 0, 0, 0]}", "out_of_range", "step 1, movej: it would be refused, joint_limit"),
            ("- movej: {q_rad: %s}\n- movel: {pose: [2, 0, 0.4, -2.2, 2.2, 0]}" % HOME, "out_of_range",
             "step 2, movel: it would be refused, out_of_reach"),
            ("- movej: {q_rad: %s}\n- movej: {q_rad: [3, -1.5708, -1.5708, -1.5708, 1.5708, 0], time_s: 0.1}" % HOME,
             "out_of_range", "step 2, movej: it would be refused, too_fast"),
            ("- movej: {q_rad: %s}\n- movec: {pose: [0.4, 0, 0.4, -2.2, 2.2, 0]}" % HOME, "out_of_range",
             '"via" with 3 numbers'),
            ("- output: {pin: 8, on: true}", "out_of_range", "output.pin"),
            ("- output: {pin: 1}", "missing_key", "output.on"),
            ("- output: {pin: 0.5, on: true}", "out_of_range", '"pin" 0 to 7'),
            ("- movej: {q_rad: [1, 2]}", "", "movej.q_rad"),
            ("- fly: 1", "unknown_key", "steps[0].fly"),
            ("- {wait_s: 1, movej: {q_rad: %s}}" % HOME, "conflicting_keys", "one of movej")):
        said = mission(rig, write(rig, f"floor_m: 0\nsteps:\n{steps}"), status=2).stderr
        assert words in said and (not code or says(code, said)) and said.count("\n") == 1, (steps, said)
    rig.catch_up(heard)
    assert heard.read_text().count("real/command") == before, "a command was sent"


def refused_from_here(rig):
    """The first line begins where the arm is, which only the arm knows: nothing moves."""
    path = write(rig, "steps:\n- movel: {pose: [0.4869, 0.10915, -0.2, -2.2214, 2.2214, 0]}")
    done = mission(rig, path, status=1)
    assert "step 1, movel from where the arm is: it would be refused, collision" in done.stderr, done.stderr
    assert "failed, 1 commands" in done.stdout, done.stdout


def start_far(rig):
    path = write(rig, "steps:\n- movej: {q_rad: [3, -1.5708, -1.5708, -1.5708, 1.5708, 0], v_radps: 0.05}\n- wait_s: 1")
    before = rig.get("/api/v1/pairs/arm")["commands"]
    process = rig.run([TANDEM, "mission", "-c", rig.lab, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rig.wait(lambda: rig.get("/api/v1/pairs/arm")["commands"] > before + 1, "the arm moves", 20)
    return process


def halted(rig):
    process = start_far(rig)
    rig.publish("tandem/v1/arm/command", {"id": "person", "op": "halt"})
    out, said = process.communicate(timeout=limit_s(60))
    assert process.returncode == 1 and "step 1, movej: halted" in said, (out, said)


def stopped_by_signal(rig):
    process = start_far(rig)
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=limit_s(60))
    assert process.returncode == 1 and "cancelled, 3 commands" in out, (out, said)
    rig.wait(lambda: rig.get("/api/v1/pairs/arm")["outstanding"] == 0, "nothing is under way")


def ask(rig, path, method="GET", body=None):
    """The status and document of an answer."""
    try:
        text = rig.fetch(f"/api/v1/pairs/arm/missions{path}", method, json.dumps(body).encode() if body else None,
                         "secret-of-the-test", "application/json" if body else None)
        return 200, json.loads(text)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def await_state(rig, mission, state):
    return rig.wait(lambda: (lambda shown: shown if shown.get("state") == state else None)(ask(rig, f"/{mission}")[1]),
                    f"{mission} is {state}", 60)


def by_message(rig):
    far = {"id": "far", "kind": "MOVES", "steps": [
        {"wait_s": 0.1}, {"movej": {"q_rad": [3, -1.5708, -1.5708, -1.5708, 1.5708, 0], "v_radps": 0.05}},
        {"output": {"pin": 1, "on": True}}]}
    rig.publish("tandem/v1/arm/mission", far)
    rig.wait(lambda: ask(rig, "/far")[1].get("step") == 2, "the arm moves")
    shown = ask(rig, "/far")[1]
    assert [(move["op"], move["state"]) for move in shown["moves"]] == [
        ("wait", "done"), ("movej", "running"), ("digital_out", "waiting")], shown
    assert shown["steps"] == 3 and len(shown["q_rad"]) == 6, shown
    rig.publish("tandem/v1/arm/command", {"id": "mine", "op": "movej", "q_rad": [0, 0, 0, 0, 0, 0]})
    rig.wait(lambda: ask(rig, "")[1]["commands_refused"] == 1, "the command is refused")
    code, mission = ask(rig, "", "POST", {"id": "next", "kind": "MOVES", "steps": [{"wait_s": 0.01}]})
    assert code == 200 and mission["state"] == "queued", mission
    for wrong, words in (({"kind": "SWEEP"}, "SWEEP is a mission for a robot with wheels"),
                         ({"kind": "MOVES", "steps": [{"movej": {"q_rad": [7, 0, 0, 0, 0, 0]}}]},
                          "step 1, movej: it would be refused, joint_limit")):
        code, problem = ask(rig, "", "POST", {"id": "wrong", **wrong})
        assert code in (400, 422) and words in problem["detail"], (code, problem)
    code, mission = ask(rig, "/far", "DELETE")
    assert code == 200 and mission["state"] in ("running", "cancelled"), mission
    await_state(rig, "far", "cancelled")
    await_state(rig, "next", "done")


def restart(rig):
    rig.publish("tandem/v1/arm/mission", {"id": "last", "kind": "MOVES", "steps": [{"wait_s": 3600}]})
    await_state(rig, "last", "running")
    rig.daemon.kill()
    rig.daemon.wait()
    rig.start_daemon()
    assert await_state(rig, "last", "failed")["code"] == "interrupted"
    live = rig.fetch("/api/v1/pairs/arm/missions").strip()
    rig.stop_daemon()
    document = replay(rig.lab, *sorted((rig.folder / "journal").glob("*")))
    assert member(member(document, "arm"), "missions") == live, "a replay reaches other states"


def as_tasks_of_a_team(rig):
    """In a team each move is a task, and a sequence is the list."""
    heard = rig.listen("worker.jsonl", "tandem/v1/worker/real/command")
    subprocess.run([TANDEM, "team", "run", "-c", str(rig.lab), "cell"], capture_output=True, text=True, check=True,
                   timeout=limit_s(60))
    rig.catch_up(heard)
    commands = [json.loads(json.loads(line)["payload"]) for line in heard.read_text().splitlines() if "real/command" in line]
    assert [c["op"] for c in commands] == ["movej", "movel", "digital_out", "movej"], commands
    assert commands[2]["on"] is True and commands[1]["v_mps"] == 0.25, commands


def main():
    with Rig(pairs="arm: {mode: link, arm: ur5, missions_max: 2}\n  worker: {mode: link}", extra=TEAM) as rig:
        assert "no daemon is online" in mission(rig, MOVES, status=1).stderr
        rig.start_daemon()
        heard = rig.listen("heard.jsonl", "tandem/v1/arm/real/command")
        rig.start("robot", "--kind", "arm6", "--pair", "arm", "--mode", "link", "--side", "both")
        rig.start("robot", "--kind", "arm6", "--pair", "worker", "--mode", "link", "--side", "both")
        rig.wait_online("arm", "worker")
        whole_list(rig, heard)
        refused_before(rig, heard)
        refused_from_here(rig)
        refused_by_robot(rig)
        halted(rig)
        stopped_by_signal(rig)
        as_tasks_of_a_team(rig)
        by_message(rig)
        restart(rig)
    print("missions of arms: fine")


if __name__ == "__main__":
    main()
