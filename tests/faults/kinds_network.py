"""kinds_network.py - connections that are cut, lose messages, hang, are slow; messages that come twice."""
import json
import time

from kinds import NAMELESS, kind
from load import STEM

REPLIES = {"a": "ids", "nameless": "no_reply_ids"}


def lose(r, directions, seconds=1):
    """For some time all messages are lost, though both systems accept them; then the connection is cut."""
    r.network.swallow = frozenset(directions)
    r.wait_load(seconds)
    r.network.cut()
    r.network.swallow = frozenset()
    r.wait(r.is_ready, "the daemon is back", 30)


def lose_often(r, directions):
    for _ in r.times(2, 3):
        r.wait_load(0.3, 1)
        lose(r, directions, r.draw.uniform(0.3, 1.5))
    r.wait_load(1)


@kind("the daemon's connection is cut, at any moment")
def network_cut(r):
    for _ in r.times(4, 8):
        r.network.cut()
        r.wait_load(0.1, 1)


@kind("the daemon's connection is cut again and again under load", rate=10)
def flaps(r):
    r.network.only = b"\0\6tandem"  # the client id in CONNECT: the connection of commands reconnects first
    for _ in r.times(30, 60):
        carried = r.network.carried
        r.wait(lambda: r.network.carried > carried, "the daemon connects")  # noqa: B023 - waited for at once
        r.wait_load(0.05, 0.4)
        r.network.cut(named=r.draw.random() < 0.9)
    r.check("another program" not in r.log(), "a second program is blamed for a link that is cut")


@kind("messages to the daemon are lost for a second, then the connection")
def messages_lost(r):
    lose_often(r, ["down"])


@kind("the daemon's acknowledgements are lost for a second, then the connection")
def acknowledgements_lost(r):
    lose_often(r, ["up"])


@kind("everything is lost for a second, then the connection")
def second_lost(r):
    lose_often(r, ["up", "down"])


@kind("messages of a second are lost; equal commands and replies without ids", pairs=NAMELESS)
def second_lost_no_ids(r):
    lose_often(r, r.draw.choice([["up"], ["down"], ["up", "down"]]))


@kind("messages of a second are lost; only replies lack ids: laps are true afterwards", pairs=REPLIES)
def second_lost_no_reply_ids(r):
    lose_often(r, r.draw.choice([["up"], ["down"], ["up", "down"]]))
    r.wait_load(3)


@kind("the network hangs and goes on, without loss")
def network_hangs(r):
    for _ in r.times(1, 2):
        r.network.hold = True
        time.sleep(r.draw.uniform(1.5, 4))
        r.network.hold = False
        r.wait_load(1)


@kind("the network is slow: 0.1 s to 0.3 s a piece")
def network_slow(r):
    r.network.late_s = r.draw.uniform(0.1, 0.3)
    r.wait_load(4)
    r.network.late_s = 0.0


@kind("the broker cannot be reached for a while")
def broker_unreachable(r):
    r.network.open = False
    r.network.cut()
    r.wait_load(3, 7)
    r.network.open = True
    r.wait(r.is_ready, "the daemon is back", 30)


@kind("the controller is cut off and sends unacknowledged messages again (DUP)")
def publisher_cut(r):
    for _ in r.times(6, 12):
        r.load.client.cut()
        r.wait_load(0.1, 0.6)


@kind("the controller sends each command twice, some seconds apart, as a new message")
def commands_twice(r):
    r.load.hold()
    for command in [c for c in r.load.commands if c.style == "ids"][-20:]:
        again = r.load.client.publish(command.message.topic, command.message.payload)
        command.message.copies += 1
        r.wait(lambda m=again: m.acknowledged_s, "acknowledged")
    r.load.go_on()
    r.wait_load(1)


@kind("a network that delivers some replies twice, and late ones after their command was closed")
def replies_twice(r):
    for command in [c for c in r.load.commands if c.replies and c.style == "ids"][-20:]:
        for side in ("real", "virtual"):
            if side in command.replies:
                r.load.client.publish(f"{STEM}/{command.pair}/{side}/reply",
                                      json.dumps({"id": command.id, "status": "done", "t": time.time()}))
    r.wait_load(1)
    lose(r, ["up"])


def make_backlog(r):
    r.network.open = False
    r.network.cut()
    r.load.hold()
    for i in range(1500):
        r.load.say("b", f"backlog-{i}", 0, 0)
        time.sleep(0.001)
    r.wait(r.load.is_quiet, "the backlog is acknowledged", 60)
    r.load.go_on()
    r.network.open = True


@kind("a backlog of thousands of messages, which a slow network delivers for many seconds")
def backlog_slow(r):
    r.network.late_s = r.draw.uniform(0.5, 1.0)
    make_backlog(r)
    r.wait_load(8)
    r.network.late_s = 0.0
    r.wait_load(1)


@kind("cut off once a second while a backlog of thousands of messages is delivered")
def backlog_cut(r):
    make_backlog(r)
    for _ in r.times(3, 5):
        time.sleep(r.draw.uniform(0.05, 0.4))
        r.network.cut()
    r.wait(r.is_ready, "the daemon is back", 30)


@kind("the broker publishes another robot's last will, all robots at once", pairs={"a": "ids", "l": "link", "m": "link"})
def wills_at_once(r):
    for _ in r.times(2, 3):
        for robot in r.load.robots:
            robot.client.cut()
        r.wait_load(0.5, 1.5)
