"""Missions by message: a robot drives around an obstacle that no map knows, and the stack of plans shows it; one id is
one mission; each robot has one owner; what ran is over after a restart; a replay reaches the same states.
"""
import json
import sys
import urllib.error

sys.path.insert(0, "tests/support")
from rig import Rig, member, replay  # noqa: E402

TOKEN = "secret-of-the-test"
PAIRS = """r1: {mode: link, missions_max: 2, timeout_s: 600}
  lab: {mode: link, missions_max: 1, map: FOLDER/room.yaml}
  t1: {mode: link, missions_max: 1}
teams:
  cell: {robots: {R1: {pair: t1}}, tasks: {Rest: {op: go, safe: true}}}
"""
ROOM = """
bounds: {x_min_m: -1, y_min_m: -2, x_max_m: 4, y_max_m: 2}
obstacles:
  post: {x_m: 1.5, y_m: 0, radius_m: 0.2}
  crate: {x_m: 0.75, y_m: 0.3, radius_m: 0.12, mapped: false}
"""


class Lab(Rig):
    def statuses(self, pair, mission):
        self.catch_up(self.recording)
        messages = [json.loads(line) for line in self.recording.read_text().splitlines()]
        found = [json.loads(m["payload"]) for m in messages if m["topic"] == f"tandem/v1/{pair}/mission/status"]
        return [status for status in found if status["id"] == mission]

    def await_state(self, pair, mission, state, seconds=60):
        """The mission, once it has this state."""
        def reached():
            _, shown = self.ask(f"{pair}/missions/{mission}")
            return shown if shown.get("state") == state else None
        return self.wait(reached, f"{pair}: {mission} is {state}", seconds)

    def send(self, pair, mission):
        self.publish(f"tandem/v1/{pair}/mission", mission)

    def ask(self, path, method="GET", body=None):
        """The status and document of an answer."""
        try:
            text = self.fetch(f"/api/v1/pairs/{path}", method, json.dumps(body).encode() if body else None, TOKEN,
                              "application/json" if body else None)
            return 200, json.loads(text)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


def around_an_obstacle(rig):
    rig.send("lab", {"id": "around", "kind": "NAVIGATE", "goal_m": [3, 0.1], "return": "never"})
    rig.await_state("lab", "around", "done", 120)
    statuses = rig.statuses("lab", "around")
    states = [status["state"] for status in statuses]
    assert states[0] == "queued" and states[1] == "running", states
    blocked = next(k for k, status in enumerate(statuses) if status.get("reply", {}).get("status") == "blocked")
    stacks = [(status["machines"]["L2"]["state"], status["stack"]) for status in statuses[blocked:] if "stack" in status]
    pushed = stacks.index(("PLAN", ["END", "STEP", "FOLLOW"]))
    assert ("FOLLOW", ["END", "STEP"]) in stacks[pushed:], "it is popped"
    assert statuses[-1]["obstacles_found"] >= 1, statuses[-1]
    assert {status["machines"]["L1"]["state"] for status in statuses if "machines" in status} >= {"GO", "MOVING"}, states


def one_owner(rig):
    far = {"id": "m1", "kind": "FOLLOW", "path_m": [[900, 0]], "return": "never"}
    rig.send("r1", far)
    rig.await_state("r1", "m1", "running")
    rig.send("r1", far)
    code, problem = rig.ask("r1/missions", "POST", {**far, "path_m": [[1, 0]]})
    assert code == 409 and problem["code"] == "duplicate_name" and "another mission" in problem["detail"], problem
    for name in ("m2", "m3"):
        code, mission = rig.ask("r1/missions", "POST", {"id": name, "kind": "SWEEP"})
        assert code == 200 and mission["state"] == "queued" and mission["by"] == "http", mission
    code, problem = rig.ask("r1/missions", "POST", {"id": "m4", "kind": "SWEEP"})
    assert code == 409 and problem["code"] == "too_many" and "wait already" in problem["detail"], problem
    rig.publish("tandem/v1/r1/command", {"id": "mine", "op": "go"})
    rig.wait(lambda: rig.ask("r1/missions")[1]["commands_refused"] == 1, "the command is refused")
    assert rig.ask("r1/missions")[1]["repeated"] == 1
    rig.send("r1", {"id": "m3", "cancel": True})
    rig.await_state("r1", "m3", "cancelled")
    for name in ("m1", "nobody"):
        code, problem = rig.ask("r1/missions", "POST", {"id": name, "kind": "SWEEP", "cancel": True})
        assert code == 400 and problem["code"] == "not_applicable" and f"DELETE .../missions/{name}" in problem["detail"], problem
    assert not rig.ask("r1/missions/m1")[1].get("cancelling"), "a wrong request cancels nothing"
    code, mission = rig.ask("r1/missions/m1", "DELETE")
    assert code == 200 and mission["state"] in ("running", "cancelled"), mission
    rig.await_state("r1", "m1", "cancelled")
    commands = [status["command"]["op"] for status in rig.statuses("r1", "m1") if "command" in status]
    assert commands[-1] == "halt" and commands.count("go") == len(commands) - 1, commands
    rig.await_state("r1", "m2", "done")  # it was its turn
    rig.send("t1", {"id": "m5", "kind": "SWEEP"})
    assert "team cell owns t1" in rig.await_state("t1", "m5", "refused")["detail"]
    rig.send("r1", {"id": "m6", "kind": "NAVIGATE", "goal_m": [1, 1]})
    assert rig.await_state("r1", "m6", "refused")["code"] == "needs_key"
    rig.send("r1", '{"id": "m7", "kind": "FOLLOW", "path_m": [[NaN, 0]]}')
    for bad in ("", "a b", "a+b", "a~b", "x" * 41):
        code, problem = rig.ask("r1/missions", "POST", {"id": bad, "kind": "SWEEP"})
        assert code == 400 and problem["code"] == "bad_name" and "A-Z" in problem["detail"], problem
    rig.wait(lambda: rig.statuses("r1", "m7"), "m7 is answered")
    assert rig.statuses("r1", "m7")[0]["code"] == "not_a_number"
    assert rig.ask("r1/missions/m7")[0] == 404, "what cannot be read is remembered"


def restart(rig):
    rig.send("r1", {"id": "last", "kind": "FOLLOW", "path_m": [[0, 900]], "return": "never"})
    rig.await_state("r1", "last", "running")
    rig.send("r1", {"id": "after", "kind": "SWEEP"})
    rig.await_state("r1", "after", "queued")
    rig.daemon.kill()
    rig.daemon.wait()
    rig.start_daemon()
    for name in ("last", "after"):
        assert rig.await_state("r1", name, "failed")["code"] == "interrupted"
        assert rig.statuses("r1", name)[-1]["code"] == "interrupted", "nobody was told"
    counts = rig.ask("r1/missions")[1]["counts"]
    assert counts["failed"] == 2 and counts["running"] == 3, counts  # m1, m2, last


def replays_alike(rig):
    live = rig.fetch("/api/v1/pairs/r1/missions").strip()
    rig.stop_daemon()
    document = replay(rig.lab, *sorted((rig.folder / "journal").glob("*")))
    assert member(member(document, "r1"), "missions") == live, "a replay reaches other states"


def main():
    with Lab(pairs=PAIRS) as rig:
        (rig.folder / "room.yaml").write_text(ROOM)
        rig.lab.write_text(rig.lab.read_text().replace("FOLDER", str(rig.folder)))
        rig.start_daemon()
        rig.recording = rig.listen("missions.jsonl", "tandem/v1/+/mission/status")
        for side, seed in (("real", 1), ("virtual", 2)):
            rig.start("robot", "--pair", "r1", "--side", side, "--mode", "link", "--linear-speed", 2)
            rig.start("robot", "--kind", "diffdrive", "--pair", "lab", "--mode", "link", "--side", side, "--map",
                      rig.folder / "room.yaml", "--pace", 5, "--seed", seed)
        rig.wait_online("r1", "lab")
        around_an_obstacle(rig)
        one_owner(rig)
        restart(rig)
        replays_alike(rig)
    print("missions by message: fine")


if __name__ == "__main__":
    main()
