"""The daemon steers a vessel along a course that came by message, in the current and wind of the paper's Table 8, around
a disc. Cancelled, halted, silent or after a restart it gets zero effort, or none; a replay reaches the same states.
"""
import json
import sys
import urllib.error

sys.path.insert(0, "tests/support")
from message_schemas import check_messages, load  # noqa: E402
from rig import SOURCE, Rig, member, replay  # noqa: E402

TRIAL_2 = ("vessel: iacquabot\nactuation: thrusters\ncurrent_force_n: 6.8\ncurrent_direction_rad: 1.92\n"
           "wind_force_n: 6.2\nwind_direction_rad: 1.22\neffort_timeout_s: 2\n")
VESSEL = {"kind": "COURSE", "vessel": "iacquabot", "actuation": "thrusters"}
FAR = {**VESSEL, "course_m": [[900, 30]]}
BUOY = {"obstacles": [{"name": "buoy", "shape": "circle", "points_m": [[12, 1]], "radius_m": 2}]}


class Harbour(Rig):
    def statuses(self, mission):
        self.catch_up(self.recording)
        messages = [json.loads(line) for line in self.recording.read_text().splitlines()]
        found = [json.loads(m["payload"]) for m in messages if m["topic"].endswith("/mission/status")]
        return [status for status in found if status["id"] == mission]

    def last_effort(self):
        self.catch_up(self.recording)
        lines = [line for line in self.recording.read_text().splitlines() if "boat/real/control" in line]
        return json.loads(json.loads(lines[-1])["payload"])["tau"]

    def ask(self, path="", method="GET", body=None):
        """The status and document of an answer."""
        try:
            text = self.fetch(f"/api/v1/pairs/boat/missions{path}", method, json.dumps(body).encode() if body else None,
                              "secret-of-the-test", "application/json" if body else None)
            return 200, json.loads(text)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def await_state(self, mission, state, seconds=60):
        def reached():
            _, shown = self.ask(f"/{mission}")
            return shown if shown.get("state") == state else None
        return self.wait(reached, f"{mission} is {state}", seconds)

    def await_motion(self, mission):
        def moves():
            _, shown = self.ask(f"/{mission}")
            assert shown.get("state") not in ("refused", "failed"), shown
            return shown if shown.get("course", {}).get("way_m", 0) > 0.2 else None
        return self.wait(moves, f"{mission} drives", 60)


def course(rig):
    rig.publish("tandem/v1/boat/mission", {**VESSEL, "id": "round", "course_m": [[24, 0], [24, 30]], "map": BUOY})
    shown = rig.await_motion("round")
    assert shown["steps"] == 2 and shown["course"]["state"] == "driving" and len(shown["path_m"]) > 3, shown
    rig.await_state("round", "done", 300)
    statuses = rig.statuses("round")
    assert [s["state"] for s in statuses[:2]] == ["queued", "running"] and statuses[-1]["state"] == "done", statuses
    texts = [s["message"]["text"] for s in statuses if "message" in s]
    assert "way-point 1 of 2" in texts[-2] and "way-point 2 of 2" in texts[-1], texts
    figures = statuses[-1]["course"]
    assert figures["rms_m"] <= 0.10 and figures["largest_m"] <= 0.30, figures
    assert rig.last_effort() == [0, 0, 0, 0], rig.last_effort()


def cancelled(rig):
    code, mission = rig.ask("", "POST", {**FAR, "id": "far"})
    assert code == 200 and mission["by"] == "http", mission
    rig.await_motion("far")
    rig.publish("tandem/v1/boat/command", {"id": "mine", "op": "go"})
    rig.wait(lambda: rig.ask()[1]["commands_refused"] == 1, "the command is refused")
    code, mission = rig.ask("/far", "DELETE")
    assert code == 200 and mission["state"] in ("running", "cancelled"), mission
    rig.await_state("far", "cancelled")
    assert rig.last_effort() == [0, 0, 0, 0], rig.last_effort()


def halted(rig):
    rig.publish("tandem/v1/boat/mission", {**FAR, "id": "stop"})
    rig.await_motion("stop")
    rig.publish("tandem/v1/boat/command", {"id": "person", "op": "halt"})
    assert rig.await_state("stop", "failed")["code"] == "halted"
    rig.wait(lambda: rig.get("/api/v1/pairs/boat")["outstanding"] == 0, "the halt is answered")


def refused(rig):
    for wrong, words in (({"kind": "SWEEP"}, "SWEEP is a mission for a robot with wheels"),
                         ({**VESSEL, "course_m": [[0, 0], [30, 0], [0, 2]]}, "turns no tighter than 2.35 m"),
                         ({**VESSEL, "course_m": [[60, 0]], "vessel": "raft"}, "wamv iacquabot")):
        code, problem = rig.ask("", "POST", {"id": "wrong", **wrong})
        assert code in (400, 422) and words in problem["detail"], (code, problem)


def restart(rig):
    rig.publish("tandem/v1/boat/mission", {**FAR, "id": "last"})
    rig.await_motion("last")
    rig.daemon.kill()
    rig.daemon.wait()
    rig.start_daemon()
    assert rig.await_state("last", "failed")["code"] == "interrupted"


def silence(rig, vessel):
    rig.publish("tandem/v1/boat/mission", {**FAR, "id": "alone"})
    rig.await_motion("alone")
    vessel.kill()
    vessel.wait()
    mission = rig.await_state("alone", "failed")
    assert mission["code"] == "no_telemetry" and "2 s" in mission["detail"], mission
    assert rig.last_effort() == [0, 0, 0, 0], rig.last_effort()
    live = rig.fetch("/api/v1/pairs/boat/missions").strip()
    rig.stop_daemon()
    lines = [json.loads(line) for line in rig.recording.read_text().splitlines() if "/boat/" in line]
    used = check_messages(load(SOURCE), "tandem/v1", [(m["topic"], json.loads(m["payload"])) for m in lines])
    assert {"mission", "mission_status", "control", "telemetry"} <= used, used
    document = replay(rig.lab, *sorted((rig.folder / "journal").glob("*")))
    assert member(member(document, "boat"), "missions") == live, "a replay reaches other states"


def main():
    with Harbour(pairs="boat: {kind: usv3, mode: link, missions_max: 2, virtual_expected: never}") as rig:
        rig.start_daemon()
        rig.recording = rig.listen("missions.jsonl", "tandem/v1/boat/#")
        (rig.folder / "vessel.yaml").write_text(TRIAL_2)
        vessel = rig.start("robot", "--kind", "usv3", "--pair", "boat", "--side", "real", "--mode", "link", "--parameters",
                           rig.folder / "vessel.yaml", "--telemetry-rate", 5, "--period", 0.1)
        rig.wait(lambda: rig.get("/api/v1/pairs/boat")["real"]["connection"] == "online", "the vessel is there")
        refused(rig)
        course(rig)
        cancelled(rig)
        halted(rig)
        restart(rig)
        silence(rig, vessel)
    print("missions of vessels by message: fine")


if __name__ == "__main__":
    main()
