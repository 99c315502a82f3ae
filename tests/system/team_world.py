"""A place that two simulated robots share, over a real broker, at ten times their pace: late and doubled replies,
robots that restart, replies lost for ever and operators who reset. Simulated robots report their true positions by
telemetry: they are never in the place together, and none is in it without the grant. With an UnLock before the place is
left the test must see a violation.

    team_world.py [HAND_OVERS]      TANDEM_RUNS=1000: the long form
"""
import bisect
import json
import math
import os
import sys
import time

from mqtt import Client
from rig import Rig
from waiting import limit_s, pass_time

HAND_OVERS = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TANDEM_RUNS", "40"))
BEHIND_S = 0.08  # robots that had to wait for the processor report times that are past: they do not count
REBOOT_S = 1.5  # the robot's clock stops meanwhile
INSIDE_M = 0.35  # of the place, and the robot's body
TOKEN = "secret-of-the-test"
RIGHT, WRONG = "Move: SPos, UnLock: IB", "UnLock: IB, Move: SPos"
TEAM = """
defaults: {mode: link, timeout_s: 3}
pairs: {r1: {}, r2: {}}
teams:
  cell:
    resources: {IB: {lease_s: 3}}
    positions: {IB: {x_m: 0, y_m: 0}, SPos: {x_m: -0.5, y_m: 0, safe: true}, OB: {x_m: -0.9, y_m: 0, safe: true}}
    tasks: {Move: {to: position}, PickPrt: {op: go}, PlacePrt: {op: go}}
    sequences:
      cycle: [Lock: IB, Move: IB, PickPrt, {leave}, Move: OB, PlacePrt, Repeat]
    robots:
      R1: {pair: r1, sequence: cycle}
      R2: {pair: r2, sequence: cycle, positions: {SPos: {x_m: 0.5}, OB: {x_m: 0.9}}}
"""


class World:
    """The reported facts: positions of the robots with times; and who held the place, from when to when."""

    def __init__(self):
        self.inside, self.samples, self.grants, self.seen = {"r1": [], "r2": []}, 0, [], set()
        self.behind, self.boots, self.in_error = 0, {"r1": [], "r2": []}, []

    def take(self, topic, payload):
        name = topic.removeprefix("tandem/v1/")
        if name.endswith("/real/telemetry"):
            said, boots = json.loads(payload), self.boots[name[:2]]
            self.samples += 1
            if said["boot"] not in boots:
                boots.append(said["boot"])
            t = said["t"] + REBOOT_S * (len(boots) - 1)
            self.behind += time.time() - t > BEHIND_S
            if math.hypot(*said["pose"][:2]) < INSIDE_M and time.time() - t <= BEHIND_S:
                self.inside[name[:2]].append(t)
        elif name == "cell/state":
            self.in_error = [name for name, robot in json.loads(payload)["robots"].items() if robot["state"] == "ERROR"]
        elif name == "cell/event":
            event = json.loads(payload)
            if event["type"] == "grant" and event["fence"] not in self.seen:
                self.seen.add(event["fence"])
                self.grants.append([event["t"], math.inf, "r" + event["robot"][1], event["fence"]])
            elif event["type"] == "release":
                for grant in self.grants:
                    grant[1] = min(grant[1], event["t"]) if grant[3] == event["fence"] else grant[1]

    def find_owner(self, t):
        k = bisect.bisect([grant[0] for grant in self.grants], t) - 1
        return self.grants[k][2] if k >= 0 and t <= self.grants[k][1] else None

    def hand_overs(self):
        return sum(a[2] != b[2] for a, b in zip(self.grants, self.grants[1:]))


def help_robots(rig, names):
    """An operator sees the robot in Error, and makes it repeat its step."""
    helped = 0
    for name in names:
        try:
            rig.fetch(f"/api/v1/teams/cell/robots/{name}/reset", "POST", b"", TOKEN)
            helped += 1
        except OSError:
            pass  # the operator has acted
    return helped


def share_place(wanted, leave):
    """Counts over the hand-overs: positions inside the place, those of them without the grant, fences."""
    world, resets = World(), 0
    with Rig() as rig:
        head = rig.lab.read_text()
        rig.lab.write_text(head[:head.index("\npairs:")] + "\n" + TEAM.replace("{leave}", leave))
        rig.start_daemon()
        for pair, pose in (("r1", "-0.9,0,0"), ("r2", "0.9,0,3.1416")):
            for side, rate in (("real", 20), ("virtual", 0)):
                rig.start("robot", "--kind", "diffdrive", "--pair", pair, "--mode", "link", "--side", side,
                          "--pose=" + pose, "--pace", 10, "--telemetry-rate", rate, "--linear-speed", "0.5", "--t0", "0", "--delay", "0.01", "--jitter", "0.01",
                          "--loss", "0.01", "--duplicate", "0.05", "--reboot", "25" if pair == "r1" else "31")
        rig.wait_online("r1", "r2")
        topics = ["tandem/v1/+/real/telemetry", "tandem/v1/cell/event", "tandem/v1/cell/state"]
        client = Client(rig.broker_port, "truth", clean=True, topics=topics, on_message=world.take)
        assert client.subscribed.wait(limit_s(10))
        rig.fetch("/api/v1/teams/cell/start", "POST", b"", TOKEN)
        end = time.monotonic() + 60 + 4 * wanted
        while world.hand_overs() < wanted:
            assert time.monotonic() < end, f"{world.hand_overs()} hand-overs only"
            pass_time(0.5)
            resets += help_robots(rig, list(world.in_error))
        pass_time(0.5)
        client.ended = True
    inside = [(pair, t, world.find_owner(t)) for pair, times in world.inside.items() for t in times]
    foreign = [one for one in inside if one[0] != one[2]]
    print(f"{leave}: {world.hand_overs()} hand-overs, {resets} resets, {world.samples} places told, {world.behind} late, {len(inside)} of them in "
          f"the place, {len(foreign)} without its grant", flush=True)
    assert len(inside) > wanted, "they were there"
    return foreign, [grant[3] for grant in world.grants]


def main():
    foreign, fences = share_place(HAND_OVERS, RIGHT)
    assert not foreign, foreign[:5]
    assert fences == sorted(set(fences)), "fences rise"
    foreign, _ = share_place(5, WRONG)
    assert foreign, "robots that have unlocked and not left were not seen"


if __name__ == "__main__":
    main()
