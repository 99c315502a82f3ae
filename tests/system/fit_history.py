"""The history of travel time fits of a pair that promotes nothing: the records are equal after a kill, and after
the store was lost and rebuilt from the journal.
"""
import json
import signal

from rig import Rig


def fits(rig):
    return rig.records("r1", "fits")


def kill(rig):
    rig.daemon.send_signal(signal.SIGKILL)
    rig.daemon.wait()


with Rig(pairs="r1: {calibration: {publish_every: 3}}") as rig:
    rig.start_daemon()
    for side, speed in (("real", "1"), ("virtual", "1.2")):
        rig.start("robot", "--pair", "r1", "--side", side, "--linear-speed", speed, "--angular-speed", "6",
                  "--noise", "0.005")
    rig.wait_online("r1")
    driver = rig.start("drive", "--pair", "r1", "--interval", "0.1", "--turn-max", "1", "--drive-max", "0.5")
    rig.wait(lambda: len(fits(rig)) >= 6, "a third fit of both robots", 90)
    driver.terminate()
    driver.wait()
    rig.wait_stored("r1")
    before = fits(rig)
    records = [json.loads(text) for text in before]
    assert [r["n"] for r in records] == sorted(r["n"] for r in records), records
    for side, speed in (("real", 1), ("virtual", 1.2)):
        mine = [r for r in records if r["side"] == side]
        assert all(b["t"] - a["t"] >= 20 for a, b in zip(mine, mine[1:])), mine
        assert abs(mine[-1]["values"]["linear_speed_mps"] / speed - 1) < 0.05, mine[-1]
        low, high = mine[-1]["ci95"]["linear_speed_mps"]
        assert low < mine[-1]["values"]["linear_speed_mps"] < high, mine[-1]
        assert mine[-1]["model"] == "travel_time" and mine[-1]["samples"] > mine[-2]["samples"] > 0, mine
    assert not rig.get("/api/v1/pairs/r1/parameters/changes")["changes"], "nothing was promoted"

    kill(rig)
    rig.start_daemon()
    assert fits(rig) == before, "other fits after a restart"

    kill(rig)
    for path in rig.folder.glob("store.db*"):
        path.unlink()
    rig.start_daemon(60)
    assert fits(rig) == before, f"other fits are rebuilt: {len(fits(rig))} of {len(before)}"

    # Only the journal remains.
    rig.stop_daemon()
    for path in [*rig.folder.glob("store.db*"), rig.folder / "checkpoint"]:
        path.unlink()
    rig.start_daemon(60)
    rig.wait_stored("r1")
    assert fits(rig) == before, "other fits from the journal alone"
    print(f"{len(before)} fits are the same bytes")
