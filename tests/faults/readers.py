"""readers.py - clients that read results during faults, as the documents describe it, and a check that their records
agree.

    readers = Readers(rig.http_port, rig.broker_port, pairs)
    readers.wait_complete(live)
    wrong = check_history(readers.history, live)

A listener to the events resumes with Last-Event-ID (docs/http.md, "Listening"). A subscriber has a session at the
broker (docs/operations.md, "Results over MQTT"). A pager walks all lists of entries and alarms again and again
(docs/http.md, "Lists"). A record is a text under (table, pair, n).
"""
import collections
import contextlib
import copy
import http.client
import json
import threading
import time

from mqtt import Client
from rig import cut_records
from waiting import limit_s, wait_until

STEM = "tandem/v1"
TABLES = {"entry": "entries", "alarm": "alarms"}  # events and their lists
LIMITS = (50, 100, 1000)  # rows of a page, in turn
ORDERS = ("oldest", "newest")
ADDRESS = "127.0.0.4"  # limits of others' addresses do not apply to the readers


class History:
    """Records that readers received, and their faults."""

    def __init__(self):
        self.lock = threading.Lock()
        self.shown = collections.defaultdict(dict)  # reader: {(table, pair, n): text}
        self.copies = collections.Counter()  # (reader, key)
        self.last = {}  # (table, pair): the latest number of the listener
        self.wrong, self.missed, self.walks = [], 0, 0
        self.gaps = []  # walks that lacked rows
        self.walked = collections.defaultdict(set)  # list: keys of the last whole walk

    def copy(self):
        with self.lock:
            other = History()
            for name in ("shown", "copies", "last", "wrong", "gaps", "missed", "walks", "walked"):
                setattr(other, name, copy.deepcopy(getattr(self, name)))
            return other

    def add(self, reader, table, text):
        """Needs the lock. Returns the record's key, and its time."""
        record = json.loads(text)
        key = (table, record["pair"], record["n"])
        before = self.shown[reader].setdefault(key, text)
        if before != text:
            self.wrong.append(f"{reader}: {key} was {before}, and is {text}")
        self.copies[reader, key] += 1
        return key, record["t"]

    def add_event(self, table, text):
        with self.lock:
            key, _ = self.add("listener", table, text)
            if self.copies["listener", key] > 1:
                self.wrong.append(f"listener: {key} for the second time")
            elif key[2] <= self.last.get(key[:2], 0):
                self.wrong.append(f"listener: {key} after number {self.last[key[:2]]}")
            self.last[key[:2]] = key[2]

    def add_message(self, table, text):
        with self.lock:
            self.add("subscriber", table, text)

    def add_walk(self, table, pair, order, texts):
        """A whole list, page by page."""
        with self.lock:
            rows = [self.add("pager", table, text) for text in texts]
            self.walks += 1
            places = [(t, key[2]) for key, t in rows]
            ordered = sorted(set(places), reverse=order == "newest")
            if places != ordered:
                self.wrong.append(f"pager: {table} of {pair}, {order} first, are out of order or there twice")
            keys = {key for key, _ in rows}
            lacking = self.walked[table, pair] - keys
            if lacking:
                self.gaps.append(f"pager: {pair} lacks what was there before: {sorted(lacking)[:3]}")
            self.walked[table, pair] = keys


class Readers:
    def __init__(self, http_port, broker_port, pairs, history=None, last_id=None):
        self.port, self.pairs, self.last_id, self.ended = http_port, pairs, last_id, False
        self.history = history or History()
        topics = [f"{STEM}/+/{table}" for table in TABLES]
        self.client = Client(broker_port, "readers", topics=topics, on_message=self.receive_message)
        self.client.subscribed.wait(limit_s(5))
        for work in (self.listen, self.walk):
            threading.Thread(target=work, daemon=True).start()

    def wait_listening(self):
        """The listener has a place to resume from: it receives all later records."""
        wait_until(lambda: self.last_id, "the listener has a place")

    def receive_message(self, topic, text):
        self.history.add_message(topic.rsplit("/", 1)[1], text)

    @contextlib.contextmanager
    def answer(self, path, headers=None):
        """The daemon's answer; OSError if it does not answer, or refuses."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=limit_s(20),
                                                source_address=(ADDRESS, 0))
        with contextlib.closing(connection):
            try:
                connection.request("GET", path, headers=headers or {})
                answer = connection.getresponse()
                if answer.status != 200:
                    raise ConnectionRefusedError(f"{path}: {answer.status}")
                yield answer
            except http.client.HTTPException as e:
                raise ConnectionError(f"{path}: {e!r}") from e

    # ---- the stream of events ----

    def listen(self):
        while not self.ended:
            headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
            with contextlib.suppress(OSError), self.answer("/api/v1/events?type=entry,alarm", headers) as answer:
                self.read_events(answer)
            time.sleep(0.1)

    def read_events(self, answer):
        event = {}
        for line in answer:
            if not line.endswith(b"\n"):
                return  # cut in the middle of a line
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                event[name] = value
                continue
            self.receive_event(event)
            event = {}

    def receive_event(self, event):
        """Only a whole event moves the place to resume from."""
        if self.ended:
            return
        if event.get("event") == "missed":
            self.history.missed += 1
        elif "data" in event:
            self.history.add_event(event["event"], event["data"])
        self.last_id = event.get("id", self.last_id)

    # ---- lists ----

    def walk(self):
        turn = 0
        while not self.ended:
            for table in TABLES:
                for pair in self.pairs:
                    with contextlib.suppress(OSError, ValueError):
                        self.walk_list(table, pair, ORDERS[turn % 2], LIMITS[turn % 3])
            turn += 1
            time.sleep(0.3)

    def walk_list(self, table, pair, order, limit):
        texts, cursor = [], ""
        while cursor is not None and not self.ended:
            with self.answer(f"/api/v1/pairs/{pair}/{TABLES[table]}?order={order}&limit={limit}{cursor}") as answer:
                page = answer.read().decode()
            texts += cut_records(page, TABLES[table])
            after = json.loads(page)["next_cursor"]
            cursor = f"&cursor={after}" if after else None
        if not self.ended:
            self.history.add_walk(table, pair, order, texts)

    # ---- the judgement ----

    def end(self):
        self.ended = True
        self.client.end()

    def wait_complete(self, live, seconds=10):
        end = time.monotonic() + limit_s(seconds)
        while find_lacking(self.history, live) and time.monotonic() < end:
            time.sleep(0.05)


def find_lacking(history, live):
    """Entries that the listener did not receive, though it has missed nothing."""
    return [] if history.missed else sorted(key for key in keys_of(live) if key not in history.shown["listener"])


def check_history(history, live, rebuilt=False, vanishing=False):
    """Faults, as sentences. live: {pair: texts of entries, as HTTP shows them in the end}. rebuilt: the store was
    rebuilt from the journal; nobody is notified of such records. vanishing: records that HTTP did not show may be
    gone.
    """
    with history.lock:
        wrong, last = list(history.wrong), keys_of(live)
        for reader, records in history.shown.items():
            for key, text in records.items():
                if key in last and last[key] != text:
                    wrong.append(f"{reader}: {key} was shown as {text}, and is {last[key]}")
                elif key[0] == "entry" and key not in last and (reader == "pager" or not vanishing):
                    wrong.append(f"{reader}: {key} was shown as {text}, and is gone")
        if not rebuilt:
            wrong += history.gaps
            lacking = find_lacking(history, live)
            wrong += [f"listener: {len(lacking)} entries were not shown, such as {lacking[0]}"] if lacking else []
        if not history.walks:
            wrong.append("pager: no list was read to its end")
        return wrong


def keys_of(live):
    """{(table, pair, n): text}"""
    return {("entry", pair, json.loads(text)["n"]): text for pair, texts in live.items() for text in texts}
