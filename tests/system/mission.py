"""Missions on a live pair in link mode: every leg has its laps and a verdict, a signal halts the robot, the virtual
robot replaces a missing real one, and wrong files are refused with line and column.
"""
import json
import math
import signal
import subprocess
import sys
import time

sys.path.insert(0, "tests/support")
from fault_code import says  # noqa: E402
from rig import SOURCE, TANDEM, Rig  # noqa: E402
from waiting import limit_s, pass_time  # noqa: E402

MISSIONS = SOURCE / "config/missions"
ROBOTS = (("real", 2.0), ("virtual", 2.4))


def mission(rig, path, *options, status=0):
    done = subprocess.run([TANDEM, "mission", "-c", str(rig.lab), str(path), *options],
                          capture_output=True, text=True, timeout=limit_s(120))
    assert done.returncode == status, (path, done.returncode, done.stdout, done.stderr)
    return done


def write(rig, name, text):
    path = rig.folder / name
    path.write_text(text)
    return path


def start_robots(rig):
    return {side: rig.start("robot", "--side", side, "--mode", "link", "--linear-speed", speed,
                            "--angular-speed", 20)
            for side, speed in ROBOTS}


def check_legs(report):
    for leg in report["legs"]:
        assert leg["status"] is not None, leg
        assert leg["verdict"] in ("SYNC", "AHEAD", "BEHIND", "UNRESOLVED"), leg
        assert abs(leg["real_lap_s"] - leg["virtual_lap_s"] - leg["lag_s"]) < 1e-5, leg
        assert leg["from"] == "real" and 0 < leg["reply_s"] < 10, leg
    assert len({leg["id"] for leg in report["legs"]}) == len(report["legs"])


def path_and_sweep(rig):
    report = json.loads(mission(rig, MISSIONS / "path.yaml", "--json").stdout)
    assert report["verdict"] == "done" and report["pair"] == "r1", report
    check_legs(report)
    gos = [leg for leg in report["legs"] if leg["op"] == "go"]
    assert [leg["step"] for leg in gos] == [0, 1, 1, 1, 3], gos
    for leg, x, y in zip(gos[1:], (1, 1, 0, 0), (0, 1, 1, 0)):
        assert math.hypot(leg["pose"][0] - x, leg["pose"][1] - y) < 0.05, leg
    assert max(abs(leg["lag_s"]) for leg in gos[1:]) > 0.04, "the virtual robot is faster"
    assert [leg for leg in report["legs"] if leg["op"] == "lidar" and leg["status"] == "data"]
    assert report["messages"][-1]["text"] == "the mission is done"
    assert report["commands_of_others"] == 0, report
    visits = report["machines"]["L1"]["visits"]
    assert visits["GO"] == len(gos) and visits["LIDAR"] == 1, visits
    assert report["machines"]["L2"]["state"] == "END", report


def goal(rig):
    text = mission(rig, MISSIONS / "goal.yaml").stdout
    assert "goal: a route of" in text and "home: a route of" in text, text
    assert "done, " in text.splitlines()[-1], text
    quiet = mission(rig, MISSIONS / "sweep.yaml", "-q", "--pair", "r1").stdout
    assert quiet.startswith("\nstep"), quiet


def start_mission(rig, path, *options):
    """Starts a mission until its first command was received. Returns the process, and the number of earlier
    commands.
    """
    before = commands(rig)
    process = rig.run([TANDEM, "mission", "-c", rig.lab, path, "--json", *options], stdout=subprocess.PIPE, text=True)
    rig.wait(lambda: commands(rig) > before, "the mission begins", 20)
    return process, before


def stop_by_signal(rig):
    path = write(rig, "far.yaml", "pair: r1\nsteps: [{path_m: [[900, 0]]}]\n")
    process, before = start_mission(rig, path, "--linger", "1")
    rig.publish("tandem/v1/r1/command", {"id": "someone", "op": "resume"})
    rig.wait(lambda: commands(rig) > before + 1, "another controller's command")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=limit_s(30))
    report = json.loads(out)
    assert process.returncode == 1, process.returncode
    assert report["legs"][-1]["op"] == "halt", report
    assert report["verdict"] == "cancelled", report
    assert report["duration_s"] < 30, report
    assert report["commands_of_others"] == 1, report
    # No robot drives the 900 m, even if the leg waited for another controller's command.
    rig.wait(lambda: rig.get("/api/v1/pairs/r1")["outstanding"] == 0, "nothing is under way", 10)


def broker_restart(rig):
    """The broker keeps replies that come while the link is down for the mission."""
    path = write(rig, "long.yaml", "pair: r1\npose: reckoned\nstart: {x_m: 0}\n"
                                   "steps: [{path_m: [[4, 0], [4, 4], [0, 4]]}]\n")
    process, _ = start_mission(rig, path)
    pass_time(0.5)  # both robots have it: a command that the broker had not accepted is never sent again
    rig.broker.terminate()
    rig.broker.wait(limit_s(10))
    rig.start_broker()
    out, _ = process.communicate(timeout=limit_s(100))
    report = json.loads(out)
    assert report["verdict"] == "done", report


def nobody_answers(rig):
    path = write(rig, "dead.yaml", "pair: dead\npatience_s: 1\nreturn: never\n"
                                   "steps: [{path_m: [[1, 0]]}]\n")
    report = json.loads(mission(rig, path, "--json", "--linger", "0", status=1).stdout)
    assert report["verdict"] == "failed", report
    assert [leg["op"] for leg in report["legs"]] == ["go", "halt"], report
    errors = [m["text"] for m in report["messages"] if m["level"] == "error"]
    assert "no reply in time" in errors[0], errors


def stand_in(rig, robots):
    robots["real"].terminate()
    robots["real"].wait(limit_s(10))
    rig.wait(lambda: not online(rig), "the real robot is offline")
    report = json.loads(mission(rig, MISSIONS / "path.yaml", "--json").stdout)
    assert report["verdict"] == "done", report
    assert {leg["from"] for leg in report["legs"]} == {"virtual"}, report
    assert {leg["verdict"] for leg in report["legs"]} == {"VIRTUAL_ONLY"}, report


def no_daemon(rig):
    """Without a daemon no command is forwarded: the mission reports it at once, before the daemon starts and after
    it ends.
    """
    began = time.monotonic()
    said = mission(rig, MISSIONS / "path.yaml", status=1).stderr
    assert time.monotonic() - began < 10, said  # far below the patience of 30 s
    assert "no daemon is online at tandem/v1/connection" in said and "tandem serve" in said, said


def around_what_no_map_knows(rig):
    """The lab's own robot, five times as fast as real time, with a crate in the planned path."""
    world = write(rig, "world.yaml", """
bounds: {x_min_m: -1, y_min_m: -2, x_max_m: 4, y_max_m: 2}
obstacles:
  post: {x_m: 1.5, y_m: 0, radius_m: 0.2}
  crate: {x_m: 0.75, y_m: 0.3, radius_m: 0.12, mapped: false}
""")
    path = write(rig, "around.yaml", "pair: lab\nmap: world.yaml\nreturn: always\n"
                                     "steps: [{goal_m: [3, 0.1]}, {sweep: true}]\n")
    robots = [rig.start("robot", "--kind", "diffdrive", "--pair", "lab", "--mode", "link",
                        "--side", side, "--map", world, "--pace", 5, "--seed", seed)
              for side, seed in (("real", 1), ("virtual", 2))]
    rig.wait(lambda: online(rig, "lab"), "both lab robots are online")
    report = json.loads(mission(rig, path, "--json").stdout)
    assert report["verdict"] == "done", report
    assert report["obstacles_found"] >= 1, report
    assert "blocked" in {leg["status"] for leg in report["legs"]}, report
    rays = [leg for leg in report["legs"] if leg["status"] == "data"]
    assert len(rays) == 7 and all("range_m" in leg and "angle_rad" in leg for leg in rays), rays
    assert math.hypot(*report["legs"][-1]["pose"][:2]) < 0.1, report["legs"][-1]
    for robot in robots:
        robot.terminate()


def wrong_files(rig):
    bad_map = write(rig, "bad_map.yaml", "obstacles:\n  a: {x_m: 1}\n  b: {shape: ball}\n")
    bad = write(rig, "bad.yaml", "map: bad_map.yaml\nsteps:\n- goal_m: 3\n- fly: true\n")
    said = mission(rig, bad, status=2).stderr
    for words in (f"{bad_map}:2:6: obstacles.a.y_m: ", f"{bad_map}:3:14: obstacles.b.shape",
                  f"{bad}:1:6: map: ", f"{bad}:3:11: steps[0].goal_m", f"{bad}:4:3: "):
        assert "tandem: " + words in said, said
    for code in ("missing_key", "unknown_key"):
        assert says(code, said), (code, said)
    good = MISSIONS / "sweep.yaml"
    for arguments, words in (((good,), "--pair"), ((good, "--pair", "r9"), "no pair r9"),
                             ((good, "--pair", "listener"), "needs mode link"),
                             ((good, "--pair", "none"), "missions_max")):
        said = mission(rig, *arguments, status=2).stderr
        assert words in said, said
    assert says("file_unreadable", mission(rig, "/no/such.yaml", status=2).stderr)
    other = write(rig, "other.yaml", "broker: {port: 1}\npairs: {r1: {mode: link, missions_max: 1}}\n")
    done = subprocess.run([TANDEM, "mission", "-c", str(other), str(good), "--connect-timeout",
                           "0.5"], capture_output=True, text=True, timeout=limit_s(30))
    assert done.returncode == 1 and "no broker" in done.stderr, done
    none = subprocess.run([TANDEM, "mission", str(good)], capture_output=True, text=True)
    assert none.returncode == 2 and "-c LAB.yaml" in none.stderr, none


def main():
    pairs = "r1: {mode: link, missions_max: 4}\n  dead: {mode: link, missions_max: 4, timeout_s: 60}\n" \
            "  listener: {}\n  lab: {mode: link, missions_max: 4}\n  none: {mode: link}"
    with Rig(pairs=pairs) as rig:
        wrong_files(rig)
        no_daemon(rig)
        rig.start_daemon()
        robots = start_robots(rig)
        rig.wait(lambda: online(rig), "both robots are online")
        path_and_sweep(rig)
        goal(rig)
        around_what_no_map_knows(rig)
        stop_by_signal(rig)
        broker_restart(rig)
        nobody_answers(rig)
        stand_in(rig, robots)
        rig.stop_daemon()
        no_daemon(rig)
    print("missions: fine")


def commands(rig):
    return rig.get("/api/v1/pairs/r1")["commands"]


def online(rig, pair="r1"):
    text = rig.fetch("/metrics")
    return all(f'tandem_robot_online{{pair="{pair}",side="{side}"}} 1' in text for side, _ in ROBOTS)


if __name__ == "__main__":
    main()
