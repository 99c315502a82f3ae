"""life.py - a short life of a daemon in which one I/O call fails, once or until it is released, and the results.

The life: a start on an empty directory, commands to two pairs with robots, checkpoints, a second journal file, HTTP,
a listener, a kill; a start without the store, which is rebuilt from the journal; commands, a stop. Then the fault is
released, and a last run is judged as other rounds are.
"""
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

from io_faults import Page
from judge import Found, judge
from kinds import Kind
from load import Load
from round import LOUD, TIMEOUT_S, Round
from waiting import limit_s

SEEN_S = limit_s(0.5)  # a call that failed is reported within this time; a kill before that hides it
HELD_S = 0.6  # calls go on failing for this time after the first
STARTS = 3  # before the fault is released: a supervisor restarts a daemon that ended with an error
FILLED_BYTES, FILLS = 60000, 18  # more than one journal file holds
# Metrics that are 0 in a daemon without a fault.
FAILURES = ("tandem_broker_failed_total", "tandem_checkpoints_failed_total", "tandem_http_refused_total",
            "tandem_inbox_refused_total", "tandem_journal_errors_total", "tandem_journal_sync_errors_total",
            "tandem_journal_torn_total", "tandem_lab_journal_faults_total", "tandem_store_failures_total",
            "tandem_stream_cut_total", "tandem_telemetry_failed_connections_total")

CONNECTIONS = ("tandem_broker_connections_total", "tandem_telemetry_connections_total")  # one in a run


class Death(Exception):
    """The daemon ended although nobody asked it to."""


class Life(Round):
    def __init__(self, library, kind=None, mode=None, at=0):
        """kind: None: no call fails, they are counted."""
        super().__init__(Kind("sweep", None, "", pairs={"a": "ids", "l": "link"}, options={"a": "outstanding_max: 32"}), at)
        text = self.rig.lab.read_text().replace("/journal}", "/journal, rotate_mb: 1, fsync_s: 0.1}")
        # A reply that is late because the machine is busy is no result of a fault.
        text = text.replace(f"timeout_s: {TIMEOUT_S}}}", f"timeout_s: {limit_s(TIMEOUT_S):g}}}", 1)
        self.rig.lab.write_text(text.replace("interval_s: 2", "interval_s: 0.3"))
        self.page = Page(self.path("io"))
        self.environment = self.page.environment(library, self.rig.folder)
        self.running, self.released = False, threading.Event()
        self.reported, self.deaths, self.calls = set(), [], {}
        if kind:
            self.page.arm(kind, mode, at)
            threading.Thread(target=self.hold, daemon=True).start()

    def hold(self):
        """Calls fail for a while, then no more."""
        while not self.released.wait(0.02):
            if self.page.hits():
                self.released.wait(HELD_S)
                self.page.release()
                return

    def release(self):
        self.released.set()
        self.page.release()

    # ---- steps of the life ----

    def wait(self, condition, what, seconds=20):
        def done():
            if self.running and self.rig.daemon.poll() is not None:
                raise Death(f"ended with {self.rig.daemon.returncode} while: {what}: {self.tail()}")
            return condition()
        super().wait(done, what, seconds)

    def wait_load(self, least_s, most_s=None):
        pass  # this load does not continue meanwhile

    def begin(self):
        """Restarts a daemon that ended with an error, as a supervisor does."""
        for attempt in range(STARTS + 1):
            if attempt == STARTS:
                self.release()
            self.page.enter("starting")
            self.launch_daemon()
            self.wait(lambda: self.rig.daemon.poll() is not None or self.is_ready(), "the daemon is ready", 30)
            if self.rig.daemon.poll() is None:
                self.running = True
                self.page.enter("running")
                return
            self.record_end()
        raise Death(f"does not start: {self.tail()}")

    def is_ready(self):
        return self.rig.daemon.poll() is None and super().is_ready()

    def record_end(self):
        """An end with a status above 0 and a sentence is an answer; an end by a signal, or without a sentence, is
        not.
        """
        status, words = self.rig.daemon.returncode, self.log().rstrip().splitlines()[-1:]
        if status > 0 and words and re.match(r"tandem: |\S+ (error|warn|info) ", words[0]):
            self.reported.add(f"exit {status}")
        else:
            self.deaths.append(f"ended with {status}: {self.tail()}")

    def end(self):
        self.watch_metrics()
        self.running = False
        self.page.enter("stopping")
        self.rig.daemon.send_signal(signal.SIGTERM)
        try:
            self.rig.daemon.wait(limit_s(30))
        except subprocess.TimeoutExpired:
            raise Death(f"does not stop: {self.tail()}") from None
        if self.rig.daemon.returncode != 0:
            self.record_end()

    def say(self, count):
        for i in range(count):
            for pair in self.load.pairs:
                self.load.say(pair, f"{pair}-{next(self.load.count)}", 0.02, 0.05)
        self.wait(self.load.is_quiet, "everything is acknowledged")

    def wait_robots(self):
        """A command that no robot has when the daemon is killed ends with a timeout. A fault may be why none has it."""
        sent = sum(command.style == "link" for command in self.load.commands)
        end = time.monotonic() + SEEN_S
        while any(len(robot.moves) < sent for robot in self.load.robots) and time.monotonic() < end:
            time.sleep(0.01)

    def is_complete(self):
        """The number of entries equals that of commands; the daemon may answer that it has no result now."""
        try:
            for pair in self.load.pairs:
                said = sum(command.pair == pair for command in self.load.commands)
                if self.rig.get(f"/api/v1/pairs/{pair}")["entries"] < said:
                    return False
            return True
        except (OSError, ValueError) as e:
            return self.record_client(e)

    def record_client(self, e):
        self.reported.add(f"HTTP {getattr(e, 'code', type(e).__name__)}")
        return False

    def listen(self):
        """The stream of events, until it ends."""
        url = f"http://127.0.0.1:{self.rig.http_port}/api/v1/events"
        try:
            with urllib.request.urlopen(url, timeout=limit_s(10)) as stream:
                for _ in stream:
                    pass
        except OSError as e:
            if self.running:
                self.record_client(e)

    def read_pages(self):
        for path in ("/", "/healthz", "/api/v1/status", "/api/v1/pairs/a/entries", "/api/v1/pairs/a/alarms",
                     "/api/v1/pairs/a/travel-time", "/api/v1/alarms"):
            try:
                self.rig.fetch(path)
            except OSError as e:
                self.record_client(e)

    def fill_journal(self):
        for i in range(FILLS):
            self.load.say("a", f"a-long-{i}", 0.02, 0.05, remark="x" * FILLED_BYTES)
        self.wait(self.load.is_quiet, "everything is acknowledged")

    def watch_metrics(self):
        try:
            text = self.rig.fetch("/metrics")
        except OSError as e:
            self.record_client(e)
            return
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        self.reported |= {name for name in FAILURES if float(values.get(name, 0)) > 0}
        self.reported |= {name for name in CONNECTIONS if float(values.get(name, 0)) > 1}

    def live(self):
        self.begin()
        self.load = Load(self.rig.broker_port, self.kind.pairs)
        self.load.hold()
        self.cleanup.callback(self.load.end)
        threading.Thread(target=self.listen, daemon=True).start()
        self.say(2)
        self.fill_journal()
        self.wait(self.is_complete, "every command has an entry")
        self.read_pages()
        time.sleep(0.3)  # a checkpoint or two, and then records that only the journal has
        self.say(1)
        time.sleep(0.15)  # calls that begin to fail now are counted
        self.wait_robots()
        if self.page.hits():
            time.sleep(SEEN_S)
        self.page.enter("killed")
        self.watch_metrics()
        self.running = False
        self.kill_daemon()
        for part in ("", "-wal", "-shm"):
            self.path(f"store.db{part}").unlink(missing_ok=True)
        self.begin()
        self.say(1)
        self.wait(self.is_complete, "every command has an entry")
        self.end()

    # ---- results ----

    def play(self):
        found = Found()
        with self.rig, self.cleanup:
            try:
                self.live()
                self.calls = self.page.calls()
                self.release()
                self.environment = None
                self.start_daemon()
                live = self.wait_until_idle()
                found = judge(self.load, live)
                self.compare(found, live)
            except Death as e:
                self.deaths.append(str(e))
            except (AssertionError, OSError, subprocess.SubprocessError) as e:
                found.failed.append(f"{type(e).__name__}: {e}")
            found.failed += self.failed
            self.record_log()
            self.hits, self.first = self.page.hits(), self.page.first().replace(str(self.rig.folder), "")
            self.phase = self.page.first_phase()
            if not found.held() or self.deaths:
                self.archive(found)
            return found

    def record_log(self):
        self.reported |= {f"log {event}" for event in self.events()} | {f"alarm {alarm['type']}" for alarm in self.alarms}
