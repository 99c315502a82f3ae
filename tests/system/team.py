"""A team over a real broker: two simulated robots share a place, from the shipped file of class 3. Its work is
published, its entries name their steps, its journal replays to the same. The daemon is killed during the work, round
after round: no fence is given twice, no place to two robots, no work done under two ids or twice.

    team.py [ROUNDS]      TANDEM_RUNS=200: the long form
"""
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys

from rig import Rig, SOURCE, TANDEM, replay

GAP = 100000  # how far fences skip after a run that was killed
ROUNDS = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TANDEM_RUNS", "5"))
SPEED = ("--linear-speed", "20", "--angular-speed", "50", "--t0", "0.02")
TOKEN = "secret-of-the-test"


def class3(parts):
    """The shipped file with this number of parts; its robots get other places of rest so that none waits long."""
    text = (SOURCE / "config/examples/class3.yaml").read_text()
    text = text[text.index("defaults:"):]
    return re.sub(r"buffers: .*", f"buffers: {{IB: [{', '.join(parts)}]}}", text)


def make_lab(rig, parts):
    head = rig.lab.read_text()
    rig.lab.write_text(head[:head.index("\npairs:")] + "\n" + class3(parts))


def start_robots(rig, *options):
    for pair, pose in (("r1", "-1.5,0,0"), ("r2", "1.5,0,0")):
        rig.start("robot", "--pair", pair, "--mode", "link", "--side", "both", "--telemetry-rate", 1, "--pose=" + pose, *SPEED, *options)
    rig.wait_online("r1", "r2")


def count_lines(received):
    return received.read_bytes().count(b"\n")


def read_recording(received):
    for line in received.read_text().splitlines():
        message = json.loads(line)
        if message["topic"].startswith("tandem/") and "heartbeat" not in message["topic"] and message["payload"]:
            yield message["topic"].removeprefix("tandem/v1/"), json.loads(message["payload"])


def check_exclusion(events):
    """All events in their order: which robot holds the place, and under which fence."""
    owner, last = None, 0
    for event in events:
        if event["type"] == "grant":
            assert owner is None, f"{event}: {owner} has it still"
            assert event["fence"] > last, f"{event}: after fence {last}"
            owner, last = event["robot"], event["fence"]
        elif event["type"] == "release":
            assert owner == event["robot"] and event["fence"] == last, f"{event}: {owner} has it under {last}"
            owner = None
    return last


def run_class3():
    with Rig() as rig:
        make_lab(rig, "ababa")
        rig.start_daemon()
        start_robots(rig)
        received = rig.listen("heard")
        run = subprocess.run([TANDEM, "team", "run", "-c", str(rig.lab), "--timeout", "60", "cell"], stdout=subprocess.PIPE, text=True)
        assert run.returncode == 0, run.stdout
        assert re.search(r"cell: ended after [\d.]+ s, 0 alarms, 0 activities failed\n$", run.stdout), run.stdout
        again = subprocess.run([TANDEM, "team", "run", "-c", str(rig.lab), "--timeout", "60", "hall"], stderr=subprocess.PIPE, text=True)
        assert again.returncode == 2 and "there is no team hall" in again.stderr, again
        rig.wait(lambda: rig.get("/api/v1/teams/cell")["last_run"], "the twins are through", 10)
        team = rig.get("/api/v1/teams/cell")
        assert team["finished"] and team["fence"] == 5 and team["alarms"] == 0, team
        assert team["counts"]["activities"] == 25, team["counts"]
        rig.wait(lambda: '"tandem/v1/cell/result"' in received.read_text(), "the result is received")
        rig.catch_up(received)
        messages = list(read_recording(received))
        events = [payload for topic, payload in messages if topic == "cell/event"]
        assert check_exclusion(events) == 5
        assert collections.Counter(event["type"] for event in events)["start"] == 25
        results = [payload for topic, payload in messages if topic == "cell/result"]
        assert len(results) == 1 and results[0] == team["last_run"] and results[0]["activities"] == 25, (results, team)
        assert abs(results[0]["makespan_real_s"] - results[0]["makespan_virtual_s"]) < 0.5, results
        # Durations that the file guesses give no interval, which nobody can judge.
        assert results[0]["predicted"]["p50_s"] > 0 and results[0]["predicted"]["p05_s"] is None, results
        assert results[0]["inside"] is None and not results[0]["disturbed"], results
        assert team["judged"]["runs"] == {"predicted": 0, "inside": 0}, team["judged"]
        states = [payload for topic, payload in messages if topic == "cell/state"]
        assert any(state["run"] and state["run"]["predicted"] for state in states) and states[-1]["run"] is None, states
        assert states[-1]["robots"]["R1"]["state"] == "FINISHED" and states[-1]["resources"]["IB"]["owner"] is None, states[-1]
        ids = [payload["id"] for topic, payload in messages if topic.endswith("/real/command")]
        assert len(ids) == len(set(ids)) and all(re.fullmatch(r"cell-R[12]-[0-9a-f]{11}-\d+", one) for one in ids), ids
        rig.wait_stored("r1", "r2")
        entries = [json.loads(text) for pair in ("r1", "r2") for text in rig.records(pair, "entries")]
        assert all(entry["team"] == "cell" and entry["job"] is None for entry in entries), entries
        assert {entry["task"] for entry in entries} == {"Move IB", "Move SPos", "Move OB", "PickPrt", "PlacePrt"}
        rig.stop_daemon()
        document = json.loads(replay(rig.lab, *sorted((rig.folder / "journal").iterdir())))
        replayed = [entry for pair in ("r1", "r2") for entry in document["pairs"][pair]["entries"]]
        assert replayed == entries, "the journal agrees"
        print(f"class 3: {len(entries)} commands, {len(events)} events; {run.stdout.splitlines()[-1]}", flush=True)


def run_lost():
    """Journal, checkpoint and store are lost, the robots live on and know the earlier ids: a second life works."""
    with Rig() as rig:
        make_lab(rig, "ab" * 5)
        rig.start_daemon()
        start_robots(rig)
        received = rig.listen("heard")
        command = [TANDEM, "team", "run", "-c", str(rig.lab), "--timeout", "60", "cell"]
        for life in range(2):
            run = rig.run(command, stdout=subprocess.PIPE, text=True)
            if life == 0:
                first = run.stdout.readline()  # all are at work: nobody is left to start
                again = subprocess.run(command, capture_output=True, text=True)
                assert again.returncode != 0 and not re.search(r"after -", again.stdout), (first, again)
            said = run.communicate()[0]
            assert run.returncode == 0 and re.search(r", 0 activities failed\n$", said), (life, said)
            if life == 0:
                rig.daemon.send_signal(signal.SIGKILL)
                rig.daemon.wait()
                for path in [path for path in rig.folder.iterdir() if re.match(r"journal|store|checkpoint", path.name)]:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                rig.start_daemon()
        rig.catch_up(received)
        ids = [payload["id"] for topic, payload in read_recording(received) if topic.endswith("/real/command")]
        assert len(ids) == len(set(ids)) and len({one.split("-")[2] for one in ids}) == 2, ids
        rig.stop_daemon()
        print(f"a second life: {len(ids)} commands, {again.stdout.strip()} {again.stderr.strip()}", flush=True)


# ---- kill -9 ----


def post(rig, path):
    try:
        rig.fetch("/api/v1/teams/cell" + path, "POST", b"", TOKEN)
    except OSError as error:  # the team refuses, or the daemon has not started yet
        return error
    return None


def check_work(messages):
    """Each command has one id, once: a repetition is identical; and each robot answers each command once."""
    sent, answered = collections.defaultdict(set), collections.Counter()
    for topic, payload in messages:
        pair, _, rest = topic.partition("/")
        if rest in ("real/command", "virtual/command"):
            sent[topic, payload["id"]].add(json.dumps(payload, sort_keys=True))
        elif rest in ("real/reply", "virtual/reply"):
            answered[topic, payload["id"]] += 1
    assert all(len(payloads) == 1 for payloads in sent.values()), "one id, two commands"
    twice = [key for key, count in answered.items() if count > 1]
    assert not twice, f"carried out twice: {twice}"
    return len(sent)


def run_killed(rounds):
    rng = random.Random(int(os.environ.get("TANDEM_SEED", "1")))
    parts = "ab" * (5 * rounds + 10)
    with Rig() as rig:
        make_lab(rig, parts)
        rig.start_daemon()
        start_robots(rig)
        received = rig.listen("heard")
        assert post(rig, "/start") is None
        for _ in range(rounds):
            until = count_lines(received) + rng.randrange(1, 30)
            rig.wait(lambda until=until: count_lines(received) >= until, "more messages", 20)
            rig.daemon.send_signal(signal.SIGKILL)
            rig.daemon.wait()
            rig.start_daemon()
            states = rig.get("/api/v1/teams/cell")["state"]["robots"].values()
            assert all(state["state"] != "ERROR" for state in states), states
        rig.wait(lambda: rig.get("/api/v1/teams/cell")["finished"], "all parts", 600)
        team = rig.get("/api/v1/teams/cell")
        assert team["fence"] == len(parts) + GAP * rounds, team
        assert team["alarms"] == 0, team["alarm_counts"]
        rig.catch_up(received)
        messages = list(read_recording(received))
        count = check_work(messages)
        fences = [(payload["fence"], payload["robot"]) for topic, payload in messages
                  if topic == "cell/event" and payload["type"] == "grant"]
        assert fences == sorted(set(fences)) and len({fence for fence, _ in fences}) == len(fences), fences
        rig.stop_daemon()
        document = json.loads(replay(rig.lab, *sorted((rig.folder / "journal").iterdir())))
        end = document["teams"]["cell"]["end"]
        assert {**end, "t": 0} == {**team, "t": 0}, (end, team)
        print(f"{rounds} kills: {count} commands, {len(parts)} grants, {len(fences)} of them received; the journal agrees", flush=True)


def main():
    run_class3()
    run_lost()
    run_killed(ROUNDS)


if __name__ == "__main__":
    main()
