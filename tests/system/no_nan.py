"""No page, document, table or metric shows a number that is NaN or infinite: every command is run on recordings and labs
that determine little. Wherever the numbers are not known, words or null say so.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.error

import identify_bad_data as recordings  # its arguments are TANDEM and SOURCE, as here
from rig import SOURCE, TANDEM, Rig
from waiting import limit_s

faults = []
seen = 0


def judge(what, text):
    global seen
    seen += 1
    faults.extend(f"{what}: {line}" for line in recordings.find_no_number(text))


def run(*arguments, status=(0, 1, 3)):
    done = subprocess.run([TANDEM, *map(str, arguments)], capture_output=True, timeout=limit_s(120))
    text = done.stdout.decode() + done.stderr.decode()
    assert done.returncode in status, (arguments, done.returncode, text)
    judge(" ".join(map(str, arguments)), text)
    return text


# ---- identify ----

def poor_tables(roles, rows):
    """Recordings of the model that say little; the first column is time, or the lap."""
    still = [rows[0][:] for _ in range(60)]
    timed = [[row[0], *rows[0][1:]] for row in rows[:60]]
    yield "one row", rows[:1]
    yield "three rows", rows[:3]
    yield "nine rows", rows[:9]
    yield "one row again and again", still
    yield "only the time changes", timed
    yield "all zero", [[0.0 for _ in row] for row in rows[:60]]
    yield "nothing moves", [[row[0], *(0.0 for _ in row[1:])] for row in rows[:60]]
    yield "large numbers", [[row[0], *(1e150 * x for x in row[1:])] for row in rows[:60]]


def perfect_moves():
    for k in range(24):
        turn, drive = (0.5 + k % 5, 0.0) if k % 3 == 0 else (0.0, 0.3 + k % 4) if k % 3 == 1 else (1.0 + k % 2, 0.5)
        yield [0.25 + turn / 2 + drive / 0.5, turn, drive]


def check_identify(folder):
    for model, roles in recordings.models():
        if model not in recordings.KNOWN:
            continue
        rows = recordings.record(model, roles)
        tables = dict(poor_tables(roles, rows))
        if model == "travel_time":
            tables |= {"perfect": list(perfect_moves()), "equal laps": [[0.5, *move[1:]] for move in perfect_moves()]}
        one = pathlib.Path(folder, "one.csv")
        one.write_text(recordings.text(roles, rows[:1]))
        for what, table in tables.items():
            path = pathlib.Path(folder, f"{model} {what}.csv".replace(" ", "_"))
            path.write_text(recordings.text(roles, table))
            run("identify", "--model", model, path)
            run("identify", "--model", model, "--json", "--validate", one, path)
    laps = run("identify", "--model", "travel_time", pathlib.Path(folder, "travel_time_equal_laps.csv"))
    assert "[laps_equal]" in laps and laps.count("because") == 1, laps


# ---- replay ----

def line(at_s, topic, payload):
    stamp = f"2026-11-20T05:{int(at_s) // 60:02}:{at_s % 60:09.6f}Z"
    return json.dumps({"tst": stamp, "topic": f"tandem/v1/r1/{topic}", "qos": 1, "retain": 0, "payload": payload}) + "\n"


def journal(count, size, lap_s, answers=("real", "virtual"), telemetry=False):
    text = ""
    for n in range(count):
        text += line(20 * n, "command", {"id": f"c{n}", "op": "go", "rotation_rad": size * (n % 2), "displacement_m": size * (n % 3)})
        for side in answers:
            text += line(20 * n + lap_s, f"{side}/reply", {"id": f"c{n}", "status": "done", "t_start": n, "t": n + lap_s})
            if telemetry:
                text += line(20 * n + 1, f"{side}/telemetry", {"t": 20 * n + 1, "seq": n, "nu": [0, 0, 0], "tau": [0, 0, 0], "pose": [0, 0, 0]})
    return text


JOURNALS = {"one move": journal(1, 1.0, 0.5), "no sizes": journal(30, 0.0, 0.5), "equal laps": journal(30, 1.0, 0.5),
            "no time at all": journal(30, 1.0, 0.0), "nobody answers": journal(4, 1.0, 0.5, ()),
            "one side answers": journal(8, 1.0, 0.5, ("real",)), "a still robot": journal(12, 1.0, 0.5, telemetry=True)}


def check_replay(folder):
    for pair in ("r1: {}", "r1: {dynamics: {model: usv3}, parameters: {promote: auto}}"):
        lab = pathlib.Path(folder, "lab.yaml")
        lab.write_text(f"pairs: {{{pair}}}\n")
        for what, text in JOURNALS.items():
            path = pathlib.Path(folder, "journal.jsonl")
            path.write_text(text)
            run("replay", "-c", lab, path)
            run("replay", "-c", lab, "--json", path)
            run("replay", "-c", lab, "--csv", pathlib.Path(folder, "tables"), path)
            run("codec", "try", path, "-c", lab, status=(0, 1, 2, 3))
            run("identify", "--model", "travel_time", "--pair", "r1", path)
            for table in pathlib.Path(folder, "tables").iterdir():
                judge(f"{what}: {table.name}", table.read_text())


# ---- other commands without a broker ----

def check_others(folder):
    for model in ("travel_time", "first_order"):
        run("selftest", "--model", model, "--runs", 2)
        run("selftest", "--model", model, "--runs", 2, "--json")
    run("follow", SOURCE / "config/experiments/joint.yaml")
    run("team", "simulate", "--runs", 2, SOURCE / "config/examples/class3.yaml")
    run("team", "simulate", "--runs", 2, "--json", SOURCE / "config/examples/class3.yaml")
    for model in recordings.KNOWN[2:4]:
        run("models", model)
    run("models", "--json")


# ---- a lab at work ----

def answer_at_once(rig, stop):
    """Both robots answer every command at once, without stamps."""
    listener = rig.run(["mosquitto_sub", "-p", rig.broker_port, "-t", "tandem/v1/+/command", "-q", "1"], stdout=subprocess.PIPE)
    threading.Thread(target=lambda: (stop.wait(), listener.terminate()), daemon=True).start()
    for command in listener.stdout:
        for side in ("real", "virtual"):
            rig.publish(f"tandem/v1/r1/{side}/reply", {"id": json.loads(command)["id"], "status": "done"})


def read_all(rig):
    paths = json.loads(rig.fetch("/api/v1/openapi.json"))["paths"]
    for path, methods in paths.items():
        if "get" not in methods or path in ("/api/v1/events", "/api/v1/openapi.json") or "{job}" in path or "{file}" in path:
            continue
        place = path.replace("{id}", "r1")
        for query in ("", "?format=csv"):
            if "{" in place:
                continue
            try:
                judge(place + query, rig.fetch(place + query))
            except urllib.error.HTTPError as fault:
                judge(place + query, fault.read().decode())


def check_lab():
    with Rig(pairs="r1: {timeout_s: 2, dynamics: {model: usv3}, kind: usv3}") as rig:
        rig.start_daemon()
        read_all(rig)
        judge("nobody answers", run("robot", "--check", "r1/real", "-p", rig.broker_port, "--timeout", 1))
        run("drive", "-p", rig.broker_port, "--count", 1, "--timeout", 1)
        stop = threading.Event()
        robots = threading.Thread(target=answer_at_once, args=(rig, stop))
        robots.start()
        rig.wait(lambda: rig.get("/api/v1/pairs/r1") is not None, "the pair")
        for sizes in (("0", "0"), ("1", "1")):
            run("drive", "-p", rig.broker_port, "--count", 12, "--interval", 0, "--turn-max", sizes[0], "--drive-max", sizes[1],
                status=(0, 1, 2, 3))
        run("robot", "--check", "r1/real", "-p", rig.broker_port, "--timeout", 1)
        run("robot", "--check", "r1/real", "-p", rig.broker_port, "--timeout", 1, "--json")
        rig.wait_stored("r1")
        read_all(rig)
        stop.set()
        robots.join()


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_identify(folder)
        check_replay(folder)
        check_others(folder)
    check_lab()
    for fault in faults:
        print("FAULT", fault, file=sys.stderr)
    print(f"{seen} texts, {len(faults)} faults")
    sys.exit(1 if faults or seen < 100 else 0)


if __name__ == "__main__":
    main()
