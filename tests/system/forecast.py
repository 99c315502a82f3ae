"""Forecasts of a daemon: entries, HTTP, `eta` over MQTT, and the same state after it was killed, and in a replay."""
import json
import subprocess
import urllib.error

from mqtt import Client
from rig import Rig, TANDEM, member, replay
from waiting import limit_s, pass_time

MOVES = 26
LAP_S = {"real": 0.06, "virtual": 0.03}


def drive(rig, client, first, count):
    """The robots reply after a lap each."""
    for k in range(first, first + count):
        turn = 0.2 + 0.1 * (k % 4)
        client.publish("tandem/v1/r1/command", json.dumps({"id": f"c{k}", "op": "go", "rotation_rad": turn}))
        for side in ("virtual", "real"):
            pass_time(LAP_S[side] * turn)
            client.publish(f"tandem/v1/r1/{side}/reply", json.dumps({"id": f"c{k}", "status": "done"}))
        rig.wait(lambda: rig.get("/api/v1/pairs/r1")["entries"] == k + 1, "the entry", 20)


def retained(rig, topic):
    """Returns the message that the broker retains, "" for none, and the seconds until it expires."""
    done = subprocess.run(["mosquitto_sub", "-V", "5", "-p", str(rig.broker_port), "-t", topic, "-C", "1", "-W", "2", "-F", "%E %p"],
                          stdout=subprocess.PIPE, text=True)
    expiry, _, payload = done.stdout.strip().partition(" ")
    return payload, int(expiry or 0)


def refused(rig, path, code, body=None):
    try:
        rig.fetch(path, "POST" if body is not None else "GET", body, kind="application/json" if body is not None else None)
    except urllib.error.HTTPError as answer:
        assert answer.code == 400 and json.loads(answer.read())["type"] == f"/problems/{code}", path
    else:
        raise AssertionError(f"{path} was accepted")


def check_http(rig):
    url = "/api/v1/pairs/r1/forecast"
    state = rig.get(url)
    assert state["quantities"]["lag"]["moves"] == MOVES and state["quantities"]["lag"]["of"] == MOVES - 21, state
    move = rig.get(url + "?rotation_rad=-0.3&level=0.9")
    assert move["lag"]["low_s"] <= move["lag"]["expected_s"] <= move["lag"]["high_s"] and move["lag"]["beyond"] is None, move
    assert "longer" in rig.get(url + "?rotation_rad=3")["real_lap"]["beyond"]
    assert rig.get(url + "?open=1")["commands"] == []
    ask = {"moves": [{"rotation_rad": -0.3}], "bound_s": 5, "level": 0.9}
    one = json.loads(rig.fetch(url, "POST", json.dumps(ask).encode(), kind="application/json"))
    for quantity, interval in (q for q in move.items() if isinstance(q[1], dict)):
        assert all(one[quantity][end] == interval[end] for end in ("expected_s", "low_s", "high_s")), (move, one)
    assert one["intervals"] == "of the move", one
    ask = {"moves": [{"rotation_rad": 0.3}] * 2, "bound_s": 5}
    answer = json.loads(rig.fetch(url, "POST", json.dumps(ask).encode(), kind="application/json"))
    assert "sum of all 2 moves" in answer["intervals"] and answer["moves"] == 2 and answer["answer"] in ("yes", "not known") and answer["why"], answer
    assert answer["decides"]["move"] == 1 and {"lag_low_s", "lag_high_s"} <= answer["decides"].keys(), answer
    for query in ("?level=0.99&rotation_rad=1", "?level=0.9", "?open=1&rotation_rad=1", "?rotation_rad=far", "?open=2"):
        refused(rig, url + query, "bad-parameter")
    for body in ({}, {"moves": []}, {"moves": [{}] * 257}, {"moves": [{"rotation": 1}]}, {"moves": [{}], "bound_s": 0},
                 {"moves": [{}], "level": 0.5}, {"moves": [{}], "more": 1}):
        refused(rig, url, "bad-body", json.dumps(body).encode())
    refused(rig, url, "bad-body", b'{"moves":[{"rotation_rad":NaN}]}')


def check_open(rig, client):
    """A command that is open, then late, then done."""
    client.publish("tandem/v1/r1/command", '{"id":"open","op":"go","rotation_rad":0.3}')
    rig.wait(lambda: json.loads(retained(rig, "tandem/v1/r1/eta")[0] or "{}").get("id") == "open", "eta of the command", 20)
    rig.wait(lambda: json.loads(retained(rig, "tandem/v1/r1/eta")[0] or "{}").get("late"), "eta is late", 20)
    payload, expiry_s = retained(rig, "tandem/v1/r1/eta")
    assert 0 < expiry_s <= 31, (payload, expiry_s)
    commands = rig.get("/api/v1/pairs/r1/forecast?open=1")["commands"]
    assert [c["side"] for c in commands] == ["real", "virtual"] and commands[0]["longer"][1] == 14, commands
    for side in ("real", "virtual"):
        client.publish(f"tandem/v1/r1/{side}/reply", '{"id":"open","status":"done"}')
    rig.wait(lambda: retained(rig, "tandem/v1/r1/eta")[0] == "{}", "eta has ended", 20)


def check_arm(rig):
    """An arm in the lab is left out of a question about sizes, unless it is the only one."""
    lab = rig.folder / "arms.yaml"
    for pairs, status in ("{r1: {}, a1: {arm: ur5}}", 0), ("{a1: {arm: ur5}}", 2):
        lab.write_text(f"pairs: {pairs}\n")
        done = subprocess.run([TANDEM, "forecast", "-c", lab, "--rotation", "0.3", "--json", rig.folder / "journal"],
                              capture_output=True, text=True)
        assert done.returncode == status and "not known by their size" in done.stderr, done
        assert status or list(json.loads(done.stdout)["pairs"]) == ["r1"], done


def main():
    with Rig(pairs="r1: {timeout_s: 30, forecast: {publish: each}}") as rig:
        client = Client(rig.broker_port, "robots", clean=True)
        rig.start_daemon()
        drive(rig, client, 0, MOVES)
        check_http(rig)
        rig.wait_stored("r1")
        entries = [json.loads(text) for text in rig.records("r1", "entries")]
        assert all(("lag_expected_s" in e) == (k >= 12) for k, e in enumerate(entries)), entries
        check_open(rig, client)
        before = rig.fetch("/api/v1/pairs/r1/forecast")
        rig.daemon.kill()
        rig.daemon.wait(limit_s(20))
        rig.start_daemon()
        assert rig.fetch("/api/v1/pairs/r1/forecast") == before, "another state after the daemon was killed"
        rig.stop_daemon()
        document = replay(rig.lab, rig.folder / "journal")
        assert member(document, "forecast") == before.strip(), (member(document, "forecast"), before)
        checks = subprocess.run([TANDEM, "forecast", "-c", rig.lab, "--check", "1,2", "--json", rig.folder / "journal"],
                                check=True, stdout=subprocess.PIPE).stdout
        assert len(json.loads(checks)["pairs"]["r1"]["summary"]) == 6
        check_arm(rig)
    print("forecasts: entries, HTTP, eta, and the same after a restart and in a replay")


main()
