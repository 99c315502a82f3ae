"""Foreign simulators over a real broker: start and stop times that cannot be set, wheels that slip. After promotion
their moves take the real robot's times, in either form. A second promotion, redelivery, a reboot and roll back have
the right result. Then the journal replays to the same changes.
"""
import json
import statistics

from mover import Mover
from rig import Rig, cut_records, member, replay
from waiting import limit_s

TOKEN = "secret-of-the-test"
MOVES = 30
LAG_S = 0.05
REAL = dict(own={"angular_speed_radps": 4.2, "linear_speed_mps": 1.3}, start=(0.02, 0.16, 0.14))
# The first simulator's waits can be set, but its moves take longer; the third has fixed waits, equal to the real
# robot's.
OWN = {"angular_speed_radps": 6, "linear_speed_mps": 1.2}
VIRTUAL = {"rel": dict(own=OWN, start=(0, 0.1, 0.08), slip=0.8, form="relative"),
           "abs": dict(own=OWN, start=(0, 0.1, 0.08), slip=0.8),
           "fixed": dict(own=OWN, start=REAL["start"], slip=0.8, form="relative", refuses=("t0_s", "ta_s", "tr_s"))}

# A simulator that applies values without acknowledgement; the test can only wait.
AUTO = {"lazy": dict(own=OWN, start=(0, 0.1, 0.08), slip=0.8)}
PAIRS = {**VIRTUAL, **AUTO}


class Loop:
    def __init__(self, rig):
        self.rig, self.count = rig, 0
        for pair in PAIRS:
            Mover(rig, pair, "real", **REAL)
        robots = {pair: Mover(rig, pair, "virtual", **what) for pair, what in PAIRS.items()}
        self.virtual = {pair: robots[pair] for pair in VIRTUAL}
        rig.wait_online(*PAIRS)

    def drive(self):
        """Mean |lag| of the pairs, by the robots' stamps: a busy machine delays replies."""
        self.count += 1
        drivers = [self.rig.start("drive", "--pair", pair, "--count", MOVES, "--interval", "0.02", "--seed", self.count,
                                  "--turn-max", "2", "--timeout", "5") for pair in PAIRS]
        assert all(driver.wait(limit_s(180)) == 0 for driver in drivers)
        lags = {pair: self.lags(pair) for pair in PAIRS}
        means = {pair: round(statistics.fmean(abs(lag) for lag in some), 4) for pair, some in lags.items()}
        print(self.count, means)
        return means

    def lags(self, pair):
        total = self.count * MOVES
        self.rig.wait(lambda: len(self.rig.records(pair, "entries")) == total, f"{pair}: all entries")
        entries = [json.loads(entry) for entry in self.rig.records(pair, "entries")[-MOVES:]]
        return [entry["real_motion_s"] - entry["virtual_motion_s"] for entry in entries]

    def simulator(self, pair):
        return self.rig.get(f"/api/v1/pairs/{pair}/parameters")["simulator"]["state"]

    def changes(self, pair):
        return self.rig.get(f"/api/v1/pairs/{pair}/parameters/changes?order=oldest&limit=500")["changes"]

    def acknowledged(self, pair):
        return sum(c["action"] == "acknowledged" for c in self.changes(pair))

    def post(self, pair, *actions):
        """The result of the last promotion is acknowledged."""
        before = self.acknowledged(pair)
        for action in actions:
            count = len(self.changes(pair))
            self.rig.fetch(f"/api/v1/pairs/{pair}/parameters/{action}", "POST", b"", TOKEN)
            self.rig.wait(lambda: len(self.changes(pair)) > count, f"{pair} {action}")
            last = self.changes(pair)[count]
            assert last["action"] in ("proposed", "promoted", "rolled_back"), last
        self.rig.wait(lambda: self.acknowledged(pair) > before, f"{pair}: acknowledged")


def close(a, b, ratio):
    return all(abs(a[name] - b[name]) <= max(ratio * abs(b[name]), 1e-5 if ratio < 1e-3 else 0.02) for name in b)


def main():
    with Rig("rel: {}\n  abs: {parameters: {form: absolute}}\n  fixed: {parameters: {form: relative}}\n"
             "  lazy: {parameters: {promote: auto}}") as rig:
        rig.start_daemon()
        loop = Loop(rig)
        lag = loop.drive()
        assert all(lag[pair] > 0.08 for pair in VIRTUAL), lag
        assert all(loop.simulator(pair) == "own" for pair in VIRTUAL)
        for pair in VIRTUAL:
            loop.post(pair, "propose", "promote")
        lag = loop.drive()
        assert lag["rel"] <= LAG_S and lag["fixed"] <= LAG_S, lag
        states = {pair: loop.simulator(pair) for pair in VIRTUAL}
        assert states == {"rel": "as_asked", "abs": "misses", "fixed": "as_asked"}, states
        assert rig.get("/api/v1/pairs/abs/parameters")["candidate"], "what makes up for it is there by itself"
        first = {pair: dict(robot.now) for pair, robot in loop.virtual.items()}
        for pair in VIRTUAL:
            loop.post(pair, "propose", "promote")
        second = {pair: dict(robot.now) for pair, robot in loop.virtual.items()}
        assert close(second["rel"], first["rel"], 0.1) and close(second["fixed"], first["fixed"], 0.1), (first, second)
        for pair, robot in loop.virtual.items():
            count = loop.acknowledged(pair)
            robot.boot()
            rig.wait(lambda: loop.acknowledged(pair) > count, f"{pair}: sent again after its reboot")
            assert close(robot.now, second[pair], 1e-4), (pair, robot.now, second[pair])
        lag = loop.drive()
        assert all(lag[pair] <= LAG_S for pair in PAIRS), lag
        assert all(loop.simulator(pair) == "as_asked" for pair in PAIRS)
        promoted = [c["by"] for c in loop.changes("lazy") if c["action"] == "promoted"]
        assert 2 <= len(promoted) <= 3 and set(promoted) == {"auto"}, promoted
        for pair, robot in loop.virtual.items():
            loop.post(pair, "rollback")
            assert close(robot.now, first[pair], 1e-4), (pair, robot.now, first[pair])
            loop.post(pair, "rollback")
            assert robot.now == robot.own, (pair, robot.now)
        sets = rig.get("/api/v1/pairs/rel/parameters")["sets"]
        assert all("adjust" in s and "sent" in s for s in sets), sets
        path = "/api/v1/pairs/{}/parameters/changes?order=oldest&limit=500"
        texts = {pair: cut_records(rig.fetch(path.format(pair)), "changes") for pair in PAIRS}
        rig.stop_daemon()
        document = replay(rig.lab, rig.folder / "journal")
        for pair, some in texts.items():
            assert cut_records(member(member(document, "pairs"), pair), "changes") == some, pair
        print(f"{sum(map(len, texts.values()))} changes replay to the same bytes")


main()
