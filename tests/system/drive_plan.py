"""`tandem drive --plan` with simulated robots: it reaches goals with few moves, stays in a room, and stops for each reason."""
import json
import math
import signal
import subprocess
import time

from rig import SOURCE, TANDEM, Rig
from waiting import limit_s

ANGULAR_RADPS, LINEAR_MPS = 12.0, 5.0
GUESSES = "nominal_angular_speed_radps: 10, nominal_linear_speed_mps: 4"
ROOM = (-1.2, -1.0, 1.2, 1.0)
WRONG = (
    (["--goal", "2%"], "need --plan"),
    (["--plan", "--turn-min", "3", "--turn-max", "3"], "--plan --turn-max: above --turn-min was expected"),
    (["--plan", "--drive-min", "0.5", "--drive-max", "0.5"], "--plan --drive-max: above --drive-min was expected"),
    (["--plan", "--room", "5,5,6,6"], "the robot stands at (0, 0), outside of the room"),
    (["--plan", "--room", "-1,-1,1,1", "--pair", "nobody"], "no pose of the real robot arrived"),
)


def start_robots(rig, pair, *options):
    return rig.start("robot", "--pair", pair, "--side", "both", "--angular-speed", ANGULAR_RADPS, "--linear-speed", LINEAR_MPS,
                     "--noise", 0.004, *options)


def begin(rig, *options):
    command = [TANDEM, "drive", "--plan", "--interval", "0.05", "--json", *map(str, options)]
    return rig.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def drive(rig, *options, status=0):
    """Returns the moves of a plan, and how it ended."""
    process = begin(rig, *options)
    out, err = process.communicate(timeout=limit_s(300))
    assert process.returncode == status, (options, process.returncode, out, err)
    *moves, end = map(json.loads, out.splitlines())
    assert end["commands"] == len(moves), end
    return moves, end


def check_goal(rig):
    moves, end = drive(rig, "-c", rig.lab, "--goal", "2%")
    assert end["stop"] == "reached" and 12 <= len(moves) <= 60, end
    for name, truth in ("angular_speed_radps", ANGULAR_RADPS), ("linear_speed_mps", LINEAR_MPS):
        low, high = end["ci95"][name]
        assert high - low <= 2 * 0.0201 * truth and abs(end["values"][name] / truth - 1) < 0.04, (name, end)
    assert [move["why"] for move in moves[:6]] == ["goal", "goal", "middle"] * 2, moves[:6]
    assert all(move["moves_left"] is None for move in moves[:12]) and (moves[-1]["moves_left"] or 0) <= 3 and end["earlier"] == 0, (moves[-1], end)
    moves, again = drive(rig, "-c", rig.lab, "--goal", "2%")
    assert again["stop"] == "reached" and again["earlier"] == end["usable"] and len(moves) < 6, again


def check_room(rig):
    """Without a lab file the laps are those of the robots' replies."""
    moves, end = drive(rig, "--port", rig.broker_port, "--pair", "room", "--goal", "4%", "--room", ",".join(map(str, ROOM)))
    assert end["stop"] == "reached", end
    x, y, heading = 0.0, 0.0, 0.0
    for move in moves:
        heading += move["rotation_rad"]
        x += move["displacement_m"] * math.cos(heading)
        y += move["displacement_m"] * math.sin(heading)
        assert ROOM[0] <= x <= ROOM[2] and ROOM[1] <= y <= ROOM[3], move


def check_mission(rig):
    (rig.folder / "square.yaml").write_text("pair: r1\nsteps: [{path_m: [[1, 0], [1, 1], [0, 1], [0, 0]]}]\n")
    _, end = drive(rig, "-c", rig.lab, "--mission", rig.folder / "square.yaml", "--within", 0.01)
    # A square: four drives of 1 m, and a quarter turn before each but the first.
    lap_s = end["mission_s"] - 3 * math.pi / 2 / ANGULAR_RADPS - 4 / LINEAR_MPS
    assert end["stop"] == "reached" and end["mission_half_s"] <= 0.01 and 0 < lap_s < 2, end
    drive_far = [TANDEM, "drive", "-c", rig.lab, "--plan", "--mission", SOURCE / "config/missions/path.yaml", "--within", "1"]
    done = subprocess.run(drive_far, capture_output=True, text=True, timeout=limit_s(60))
    assert done.returncode == 2 and "only path_m" in done.stderr, done


def check_stops(rig):
    lab = ("-c", rig.lab, "--goal", "0.1%")
    assert drive(rig, *lab, "--count", 3, status=3)[1]["stop"] == "count"
    assert drive(rig, *lab, "--for", 2, status=3)[1]["stop"] == "time"
    silent, end = drive(rig, "--port", rig.broker_port, "--pair", "nobody", "--timeout", 0.5, status=3)
    assert end["stop"] == "blocked" and len(silent) == 2, end
    process = begin(rig, "--port", 1, "--for", 0.5)
    out, _ = process.communicate(timeout=limit_s(60))
    assert process.returncode == 1 and json.loads(out)["stop"] == "no_connection", (process.returncode, out)
    for stop in "drift", "signal":
        process = begin(rig, *lab)
        process.stdout.readline()
        if stop == "drift":
            rig.publish("tandem/v1/r1/alarm", {"pair": "r1", "type": "drift", "side": "virtual", "detail": "not this one"})
            for since_t in 1.0, time.time() + 60:
                process.stdout.readline()
                rig.publish("tandem/v1/r1/alarm", {"pair": "r1", "type": "drift", "side": "real", "detail": "it is slower",
                                                   "since_t": since_t})
        else:
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=limit_s(60))
        end = json.loads(out.splitlines()[-1])
        assert process.returncode == 3 and end["stop"] == stop, (process.returncode, end, err)
        assert end["stop_detail"] == ("it is slower" if stop == "drift" else None), end


def check_daemon(rig):
    """A daemon that was named and does not answer: no move is sent."""
    for options, text in ((["--url", "http://127.0.0.1:1"], "drive: --url: moves of the pair were expected"),
                          (["--token-file", "none"], "drive: --token-file: moves of the pair were expected")):
        process = begin(rig, "-c", rig.lab, *options)
        out, err = process.communicate(timeout=limit_s(60))
        assert process.returncode == 2 and text in err and not out, (options, process.returncode, out, err)


def check_second(rig):
    """Each driver gets its own answers, and the plan ends because another one commands its pair."""
    process = begin(rig, "--port", rig.broker_port, "--goal", "0.1%")
    process.stdout.readline()
    command = [TANDEM, "drive", "--port", str(rig.broker_port), "--count", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s(60))
    out, err = process.communicate(timeout=limit_s(60))
    end = json.loads(out.splitlines()[-1])
    assert process.returncode == 3 and end["stop"] == "another_driver" and end["timed_out"] == 0, (process.returncode, end, err)
    assert done.returncode == 0 and "1 commands, 1 answered" in done.stdout and "another client" not in done.stderr + err, (done, err)


def check_moving(rig):
    """A move that is longer than --timeout: the next one starts where the robot comes to rest."""
    moves, end = drive(rig, "--port", rig.broker_port, "--pair", "slow", "--room", ",".join(map(str, ROOM)), "--timeout", 0.1,
                       "--turn-min", 1, "--count", 4, status=3)
    assert end["stop"] in ("blocked", "count"), end
    x, y, heading = 0.0, 0.0, 0.0
    for move in moves:
        heading += move["rotation_rad"]
        x += move["displacement_m"] * math.cos(heading)
        y += move["displacement_m"] * math.sin(heading)
        assert ROOM[0] <= x <= ROOM[2] and ROOM[1] <= y <= ROOM[3], moves


def check_wrong(rig):
    for options, text in WRONG:
        command = [TANDEM, "drive", "--port", str(rig.broker_port), "--pair", "room", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s(60))
        assert done.returncode == 2 and text in done.stderr and not done.stdout, (options, done)


def main():
    with Rig(pairs=f"r1: {{calibration: {{{GUESSES}}}}}") as rig:
        robots = start_robots(rig, "room", "--telemetry-rate", 1)
        check_wrong(rig)
        check_room(rig)
        robots.terminate()
        start_robots(rig, "r1")
        rig.start_daemon()
        rig.wait_online("r1")
        check_goal(rig)
        check_mission(rig)
        check_stops(rig)
        check_daemon(rig)
        check_second(rig)
        rig.start("robot", "--pair", "slow", "--side", "both", "--angular-speed", 1, "--linear-speed", 0.5, "--telemetry-rate", 10)
        check_moving(rig)
    print("plans: goal, mission, room, stops, a second driver and wrong options")


main()
