"""load.py - a load with known truth: the commands and replies of a lab, which of them the broker acknowledged, what
robots did, and when.

Styles of pairs: "ids" (observe), "no_ids" (observe; neither commands nor replies have ids, and all are equal),
"no_reply_ids" (observe; commands have ids, replies none), "played" (observe; another program replies), "link"
(robots of this load count their moves), "none" (only the kind publishes).
"""
import heapq
import itertools
import json
import threading
import time

from mqtt import Client
from waiting import limit_s

STEM = "tandem/v1"
SIDES = ("real", "virtual")
LAPS = (0.1, 1.5)  # s, of either side in turn: verdicts of all kinds
PERIOD_S = {"ids": 0.12, "no_ids": 0.4, "no_reply_ids": 1.8, "played": 0.5, "link": 0.4}
MOVE_S = 0.1  # also the laps where all are equal


class Command:
    def __init__(self, pair, style, name, message):
        self.pair, self.style, self.id, self.message = pair, style, name, message
        self.replies = {}  # side: Message

    def acknowledged(self):
        return self.message.acknowledged_s is not None

    def lap_s(self, side):
        """The lap by the publisher's clock; None if a message was sent again, or late: then it is unknown."""
        reply = self.replies.get(side)
        for message in (self.message, reply):
            if not message or message.copies != 1 or not message.acknowledged_s or \
                    message.acknowledged_s - message.sent_s > 0.2:
                return None
        return reply.sent_s - self.message.sent_s


class Robot:
    """A robot of a pair in link mode: it counts every command as a move. Its session ends with its connection, so
    the broker delivers no command to it twice: only a sender that repeats a command moves it twice.
    """

    def __init__(self, port, pair, side):
        self.pair, self.side, self.moves, self.boots = pair, side, [], itertools.count()
        self.client = Client(port, f"{pair}-{side}", clean=True, topics=[f"{STEM}/{pair}/{side}/command"], on_message=self.take,
                             will=(f"{STEM}/{pair}/{side}/connection", '{"state":"offline"}'),
                             hello=(f"{STEM}/{pair}/{side}/connection", json.dumps({"state": "online", "boot": "b0"})))

    def take(self, _, payload):
        name = json.loads(payload)["id"]
        self.moves.append(name)
        timer = threading.Timer(MOVE_S, self.client.publish, [f"{STEM}/{self.pair}/{self.side}/reply",
                                                              json.dumps({"id": name, "status": "done"})])
        timer.daemon = True
        timer.start()


class Load:
    """Publishes on a client of its own until end(); hold() and go_on() in between."""

    def __init__(self, port, pairs, rate=1.0, count=None):
        """count: numbers of commands, continued from another load."""
        self.pairs, self.rate = pairs, rate  # {pair: style}
        self.commands, self.count = [], count or itertools.count()
        self.client = Client(port, "l1", topics=[f"{STEM}/{pair}/reply" for pair, style in pairs.items() if style == "link"],
                             on_message=self.check_received)
        self.answers = []  # (pair, merged reply)
        self.robots = [Robot(port, pair, side) for pair, style in pairs.items() if style == "link" for side in SIDES]
        for client in [self.client] + [robot.client for robot in self.robots]:
            client.subscribed.wait(limit_s(5))  # a command before that would be lost without a fault
        self.due, self.order, self.on, self.ended = [], itertools.count(), True, False
        self.changed = threading.Condition()
        self.turns = {pair: 0 for pair in pairs}
        for pair in self.spoken():
            self.schedule(time.monotonic(), self.command, pair)
        threading.Thread(target=self.run, daemon=True).start()

    def spoken(self):
        return [pair for pair, style in self.pairs.items() if style != "none"]

    def check_received(self, topic, payload):
        self.answers.append((topic.split("/")[2], json.loads(payload)))

    def schedule(self, due_s, what, *arguments):
        with self.changed:
            heapq.heappush(self.due, (due_s, next(self.order), what, arguments))
            self.changed.notify()

    def run(self):
        while not self.ended:
            with self.changed:
                wait_s = self.due[0][0] - time.monotonic() if self.due else 1
                if wait_s > 0:
                    self.changed.wait(wait_s)
                    continue
                _, _, what, arguments = heapq.heappop(self.due)
            what(*arguments)

    def command(self, pair):
        """The next command of this pair, and the time of the one after it."""
        style = self.pairs[pair]
        self.schedule(time.monotonic() + PERIOD_S[style] / self.rate, self.command, pair)
        if self.on:
            turn, self.turns[pair] = self.turns[pair], self.turns[pair] + 1
            laps = (MOVE_S, MOVE_S) if style == "no_ids" else (LAPS[turn % 2], LAPS[turn // 2 % 2])
            self.say(pair, f"{pair}-{next(self.count)}", *laps)

    def say(self, pair, name, real_s=MOVE_S, virtual_s=MOVE_S, retain=False, **members):
        """Publishes a command, and in observe mode its two replies after their delays; None: that robot is silent."""
        style = self.pairs[pair]
        body = {"op": "go", "rotation_rad": 1, "displacement_m": 0.5, **members}
        if style != "no_ids":
            body = {"id": name, **body}
        command = Command(pair, style, name, self.client.publish(f"{STEM}/{pair}/command", json.dumps(body), retain=retain))
        self.commands.append(command)
        if style not in ("link", "played"):
            for side, lap_s in zip(SIDES, (real_s, virtual_s)):
                if lap_s is not None:
                    self.schedule(time.monotonic() + lap_s, self.reply, command, side)
        return command

    def reply(self, command, side):
        body = {"status": "done"} if command.style.startswith("no_") else {"id": command.id, "status": "done"}
        command.replies[side] = self.client.publish(f"{STEM}/{command.pair}/{side}/reply", json.dumps(body))

    def hold(self):
        """Sends no more commands; replies to open ones still come."""
        self.on = False

    def go_on(self):
        self.on = True

    def is_quiet(self):
        """Everything published is acknowledged, and nothing is outstanding."""
        with self.changed:
            replies_due = any(what == self.reply for _, _, what, _ in self.due)
        return not replies_due and self.client.waiting() == 0 and all(r.client.waiting() == 0 for r in self.robots)

    def end(self):
        self.ended = True
        for client in [self.client] + [robot.client for robot in self.robots]:
            client.end()
