"""Each class of interaction, the same file three times: offline (`team check`, `team simulate`), with simulated robots
over a broker, and from a recording of that run. The replay reports of the team what the daemon reported, bar by bar.

The live run must show its class: independent work where nobody waits (0, 1, 2), a place for one at a time (3), a common
start of common work (4), help (5), a tool, a robot that joins (6).

    team_classes.py [CLASS]...      e.g. class3; all without
"""
import json
import re
import sqlite3
import subprocess
import sys

from rig import Rig, SOURCE, TANDEM, replay
from waiting import limit_s

CLASSES = ("class0", "class1", "class2", "class3", "class4", "class5", "class6_join", "class6_tool")
SPEED = ("--linear-speed", "20", "--angular-speed", "50", "--t0", "0.02")
HOMES = {"r1": "-1.5,0,0", "r2": "1.5,0,0", "r3": "0,1.5,0"}
TOKEN = "secret-of-the-test"


def tandem(*arguments):
    run = subprocess.run([TANDEM, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0, (arguments, run)
    return run.stdout


def run_offline(path):
    """Every possible order ends well; the nominal run has no randomness."""
    assert "complete yes" in (said := tandem("team", "check", path)) and "deadlock 0" in said, said
    study = json.loads(tandem("team", "simulate", path, "--runs", "100", "--json"))
    assert study["finished"] == study["runs"] == 100 and study["expected"]["end"] == "finished", study
    return {"makespan_s": study["expected"]["makespan_s"], "activities": sum(robot["tasks_per_run"] for robot in study["robots"])}


class Live:
    """The file's lab on a broker of its own; the robots' pairs as the file names them."""

    def __init__(self, rig, name):
        text = (SOURCE / f"config/examples/{name}.yaml").read_text()
        head = rig.lab.read_text()
        self.rig, self.name = rig, name
        rig.lab.write_text(head[:head.index("\npairs:")] + "\n" + text[text.index("defaults:"):])
        self.pairs = [pair for pair in HOMES if f"pair: {pair}\n" in text]

    def start_robot(self, pair):
        robot = self.rig.start("robot", "--pair", pair, "--mode", "link", "--side", "both", "--telemetry-rate", 1, "--pose=" + HOMES[pair], *SPEED)
        self.rig.wait_online(pair)
        return robot

    def start_robots(self):
        for pair in self.pairs:
            self.rig.start("robot", "--pair", pair, "--mode", "link", "--side", "both", "--telemetry-rate", 1, "--pose=" + HOMES[pair], *SPEED)
        self.rig.wait_online(*self.pairs)

    def leave(self, robot, pair):
        robot.terminate()
        robot.wait(limit_s(10))
        self.rig.wait(lambda: self.rig.get(f"/api/v1/pairs/{pair}")["real"]["connection"] == "offline", f"{pair} is gone")

    def team(self):
        return self.rig.get("/api/v1/teams/cell")

    def post(self, path, **body):
        return self.rig.fetch("/api/v1/teams/cell" + path, "POST", json.dumps(body).encode() if body else b"", TOKEN)

    def is_over(self):
        """The twins have finished, too."""
        team = self.team()
        return team["finished"] and team["last_run"] is not None

    def bars(self):
        with sqlite3.connect(f"file:{self.rig.folder}/store.db?mode=ro", uri=True) as store:
            return [json.loads(row[0]) for row in store.execute("select json from bars where pair = 'cell' order by seq")]


def run_joining(live):
    """R3 was connected and is away when its job comes: the job waits. R3 returns, and the job is done. Then a job
    has no robot.
    """
    robots = {pair: live.start_robot(pair) for pair in live.pairs}
    live.leave(robots["r3"], "r3")
    live.post("/start")
    live.rig.wait(lambda: live.team()["jobs_waiting"] == 1 and robot_states(live) == {"PARKED"}, "the others are through", 30)
    live.start_robot("r3")
    live.rig.wait(live.is_over, "R3 has done its job", 30)
    assert live.team()["alarms"] == 0, live.team()["alarm_counts"]


def robot_states(live):
    return {robot["state"] for robot in live.team()["state"]["robots"].values()}


def run_live(live):
    live.rig.start_daemon()
    if live.name == "class6_join":
        run_joining(live)
    else:
        live.start_robots()
        run = subprocess.run([TANDEM, "team", "run", "-c", str(live.rig.lab), "--timeout", "60", "cell"], stdout=subprocess.PIPE, text=True)
        assert run.returncode == 0 and "0 alarms, 0 activities failed" in run.stdout, run.stdout
        live.rig.wait(live.is_over, "the twins are through", 10)
    team, timed = live.team(), re.search(r"tandem_team_grant_seconds_count (\d+)", live.rig.fetch("/metrics"))
    live.rig.stop_daemon()
    bars = live.bars()
    assert int(timed.group(1)) == len(of_kind(bars, "wait")), (timed.group(0), "each grant that was waited for is timed")
    return team, bars


def run_replayed(live, team, bars):
    """The recording reports of the team what the daemon reported."""
    document = json.loads(replay(live.rig.lab, *sorted((live.rig.folder / "journal").iterdir())))["teams"]["cell"]
    assert document["bars"] == bars, [pair for pair in zip(document["bars"], bars) if pair[0] != pair[1]][:3]
    assert document["alarms"] == [] and {**document["end"], "t": 0} == {**team, "t": 0}, (document["end"], team)


def check_other_recording(live, bars):
    """Without the last message of one robot the course differs."""
    files = sorted((live.rig.folder / "journal").iterdir())
    lines = [line for file in files for line in file.read_text().splitlines()]
    last = max(k for k, line in enumerate(lines) if "/real/reply" in line)
    other = live.rig.folder / "other.jsonl"
    other.write_text("\n".join(lines[:last] + lines[last + 1:]) + "\n")
    assert json.loads(replay(live.rig.lab, other))["teams"]["cell"]["bars"] != bars, "a word that lacks is not seen"


# ---- does the run show its class? ----


def of_kind(bars, kind):
    return [bar for bar in bars if bar["kind"] == kind]


def check_one_at_a_time(bars):
    held = {}
    for bar in sorted(of_kind(bars, "hold"), key=lambda bar: bar["fence"]):
        assert held.get(bar["resource"], 0) <= bar["from"], (bar, held)
        held[bar["resource"]] = bar["to"]
    assert held, "nothing was held"


def check_class(name, bars, offline):
    tasks = of_kind(bars, "task")
    begun = [bar["from"] for bar in tasks if bar["task"] == "Carry"]
    robots = {bar["robot"] for bar in tasks}
    waits = len(of_kind(bars, "wait"))
    assert not of_kind(bars, "failed"), bars
    assert len(tasks) == offline["activities"], (len(tasks), offline)
    if name in ("class0", "class1", "class2"):
        assert robots == ({"R1"} if name == "class0" else {"R1", "R2"}) and waits == 0 and not of_kind(bars, "hold"), bars
    else:
        check_one_at_a_time(bars)
        assert waits > 0, "no robot waited"
    if name == "class4":
        assert len(begun) == 2 and begun[0] == begun[1] and of_kind(bars, "meet"), (begun, bars)
    elif name == "class6_join":
        last = max(tasks, key=lambda bar: bar["from"])
        assert last["robot"] == "R3" and robots == {"R1", "R2", "R3"}, last
    elif name == "class6_tool":
        changed = [(bar["robot"], bar["arg"]) for bar in tasks if bar["task"] == "ChangeTool"]
        assert changed == [("R1", "d"), ("R1", "a")], changed


def check_help(bars):
    """R1's backlog is long: R2, whose one job is done, takes over some."""
    jobs = {"R1": 0, "R2": 0}
    for bar in of_kind(bars, "task"):
        jobs[bar["robot"]] += bar["task"] == "PlacePrt"
    assert sum(jobs.values()) == 6 and jobs["R2"] > 1, jobs


def run_class(name):
    offline = run_offline(SOURCE / f"config/examples/{name}.yaml")
    with Rig() as rig:
        live = Live(rig, name)
        team, bars = run_live(live)
        check_class(name, bars, offline)
        if name == "class5":
            check_help(bars)
        run_replayed(live, team, bars)
        check_other_recording(live, bars)
        print(f"{name}: {len(of_kind(bars, 'task'))} activities, {team['fence']} grants, {offline['makespan_s']:g} s offline, "
              f"{team['last_run']['makespan_real_s']:.2f} s live; the recording agrees", flush=True)


def main():
    for name in sys.argv[1:] or CLASSES:
        run_class(name)


if __name__ == "__main__":
    main()
