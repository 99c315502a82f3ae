"""A real and a wrong virtual robot over a real broker: lag before, propose and promote over HTTP, lag after, roll
back, lag again. Then the journal replays to the same changes.
"""
import json
import statistics

from rig import Rig, cut_records, member, replay
from waiting import limit_s

TOKEN = "secret-of-the-test"
MOVES = 30


def drive(rig, seed):
    driver = rig.start("drive", "--pair", "p1", "--count", MOVES, "--interval", "0.02", "--seed", seed,
                       "--turn-max", "2", "--timeout", "5")
    assert driver.wait(limit_s(120)) == 0


def usual_lag(rig, since):
    """Half of the moves have a smaller lag; on a busy machine some have a larger one, whatever the robots do."""
    lags = [abs(json.loads(e)["lag_s"]) for e in rig.records("p1", "entries")[since:]]
    assert len(lags) == MOVES, lags
    return statistics.median(lags)


def post(rig, what, body=b""):
    rig.fetch(f"/api/v1/pairs/p1/parameters/{what}", "POST", body, TOKEN)


def changes(rig):
    return rig.get("/api/v1/pairs/p1/parameters/changes?order=oldest")["changes"]


def wait_for(rig, action, count=1):
    rig.wait(lambda: sum(c["action"] == action for c in changes(rig)) >= count,
             f"{action}: {changes(rig)}")


def main():
    with Rig("p1: {}") as rig:
        rig.start_daemon()
        rig.start("robot", "--kind", "kinematic", "--pair", "p1", "--side", "real", "--angular-speed", "3",
                  "--linear-speed", "0.9", "--t0", "0.05", "--ta", "0.03", "--tr", "0.04", "--noise", "0.004")
        rig.start("robot", "--kind", "kinematic", "--pair", "p1", "--side", "virtual", "--angular-speed", "2",
                  "--linear-speed", "1.4", "--t0", "0.02")
        rig.wait_online("p1")
        lag = {}
        for k, (name, seed) in enumerate([("before", 1), ("after", 2), ("back", 3)]):
            drive(rig, seed)
            rig.wait(lambda: len(rig.records("p1", "entries")) == (k + 1) * MOVES, "all entries")
            lag[name] = usual_lag(rig, k * MOVES)
            if name == "before":
                post(rig, "propose")
                wait_for(rig, "proposed")
                assert rig.get("/api/v1/pairs/p1/parameters")["active"] is None
                post(rig, "promote")
                wait_for(rig, "acknowledged")
            elif name == "after":
                post(rig, "rollback")
                wait_for(rig, "acknowledged", 2)
        print({name: round(value, 4) for name, value in lag.items()}, [c["action"] for c in changes(rig)])
        assert lag["before"] >= 5 * lag["after"], lag
        assert abs(lag["back"] - lag["before"]) < 0.5 * lag["before"], lag
        texts = cut_records(rig.fetch("/api/v1/pairs/p1/parameters/changes?order=oldest"), "changes")
        rig.stop_daemon()
        document = replay(rig.lab, rig.folder / "journal")
        assert cut_records(member(member(document, "pairs"), "p1"), "changes") == texts
        print(f"{len(texts)} changes replay to the same bytes")


main()
