"""round.py - one round: a lab on loopback with a network that can fail, a load with known truth, a fault, a judgement.

A kind (kinds_*.py) is a function that plays a fault on a running round:

    def daemon_killed(r):
        r.wait_load(1)
        r.kill_daemon()
        r.start_daemon()
"""
import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.error

from judge import Found, judge
from load import Load
from network import Network
from readers import Readers, check_history
from rig import Rig, TANDEM, cut_records, member, replay
from waiting import limit_s

TIMEOUT_S = 3
LINE = re.compile(r"^\S+ (\w+) +(\w+)")  # of the daemon's log: time, level, event
LOUD = ("warn", "error")


def number_of(text):
    return json.loads(text)["n"]


def copy_log(source, path):
    with open(path, "ab", buffering=0) as out:
        while data := source.read1(65536):
            out.write(data)


def check_times(journal):
    """Lab time never goes back (docs/storage.md). Pieces of lines do not count."""
    last = b""
    for path in sorted(pathlib.Path(journal).glob("*.jsonl")):
        for at in re.findall(rb'^{"tst":"([-0-9T:.]+Z)".*}$', path.read_bytes(), re.M):
            if at < last:
                return [f"journal: {path.name} goes back from {last.decode()} to {at.decode()}"]
            last = at
    return []


class Lab(Rig):
    """The daemon reaches the broker through a network of its own."""

    def __init__(self, pairs, extra="", broker="", options=None, http=""):
        lines = []
        for pair, style in pairs.items():
            mode = "mode: link, real_expected: always, virtual_expected: always" if style == "link" else ""
            lines.append(f"{pair}: {{{', '.join(filter(None, [mode, (options or {}).get(pair)]))}}}")
        super().__init__("\n  ".join(lines), f"defaults: {{timeout_s: {TIMEOUT_S}}}\n{extra}", broker)
        self.network = Network(self.broker_port)
        text = self.lab.read_text().replace(f"broker: {{port: {self.broker_port}}}", f"broker: {{port: {self.network.port}}}")
        self.lab.write_text(text.replace("http: {", f"http: {{{http}, ") if http else text)

    def __exit__(self, *what):
        self.network.end()
        super().__exit__(*what)


class Round:
    def __init__(self, kind, number):
        self.kind, self.number = kind, number
        self.draw = random.Random(f"{kind.name} {number}")
        self.rig = Lab(kind.pairs, kind.extra, kind.broker, kind.options, kind.http)
        self.cleanup, self.keepers = contextlib.ExitStack(), []
        self.network = self.rig.network
        self.load, self.remarks, self.failed, self.may_lose, self.alarms = None, [], [], kind.may_lose, []
        self.readers = None
        self.program, self.environment = TANDEM, None  # of the daemon; None: the clock of this process

    # ---- actions of a kind ----

    def wait_load(self, least_s, most_s=None):
        """Waits while the load goes on."""
        time.sleep(self.draw.uniform(least_s, most_s or least_s))

    def times(self, least, most):
        return range(self.draw.randint(least, most))

    def remark(self, text):
        self.remarks.append(text)

    def path(self, name):
        return self.rig.folder / name

    def kill_daemon(self):
        self.rig.daemon.kill()
        self.rig.daemon.wait()

    def launch(self, lab, log):
        """The daemon's log is a pipe to this process: a full disk of the daemon does not stop its log."""
        process = self.rig.run([self.program, "serve", "-c", lab], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=self.environment)
        log_thread = threading.Thread(target=copy_log, args=[process.stderr, log], daemon=True)
        log_thread.start()
        self.keepers.append(log_thread)
        return process

    def launch_daemon(self):
        """Starts the daemon without waiting."""
        self.rig.daemon_log = self.path("daemon.log")
        self.rig.daemon = self.launch(self.rig.lab, self.rig.daemon_log)

    def start_daemon(self, seconds=30):
        self.launch_daemon()
        self.wait(self.is_ready, "the daemon is ready", seconds)

    def is_ready(self):
        return self.rig.ready()

    def stop_daemon(self, within_s=5, status=0):
        """Stops the daemon in an orderly way."""
        began = time.monotonic()
        self.rig.daemon.send_signal(signal.SIGTERM)
        try:
            ended = self.rig.daemon.wait(limit_s(within_s + 30))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the daemon does not stop: {self.tail()}") from None
        run_s = time.monotonic() - began
        self.check(run_s <= limit_s(within_s), f"the daemon took {run_s:.1f} s to stop, {within_s} are the most")
        self.check(status is None or ended == status, f"it ended with status {ended}: {self.tail()}")

    def kill_broker(self, number=signal.SIGKILL):
        self.rig.broker.send_signal(number)
        try:
            self.rig.broker.wait(limit_s(20))
        except subprocess.TimeoutExpired:
            self.rig.broker.kill()
            self.rig.broker.wait()

    def start_broker(self):
        self.rig.start_broker()

    def freeze(self, process, seconds, meanwhile=None, *arguments):
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        if meanwhile:
            meanwhile(*arguments)
        process.send_signal(signal.SIGCONT)

    def save_broker(self):
        """The broker writes its sessions and queues to the disk."""
        saved, before = self.path("mosquitto.db"), time.time_ns()
        self.rig.broker.send_signal(signal.SIGUSR1)
        self.wait(lambda: saved.exists() and saved.stat().st_mtime_ns >= before - 20_000_000, "the broker saves")

    def limit_files(self, size):
        """The longest file that the daemon may write: 0 is a full disk."""
        hard = resource.prlimit(self.rig.daemon.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.rig.daemon.pid, resource.RLIMIT_FSIZE, (size if size is not None else hard, hard))

    def start_simulator(self, pair, side):
        """A fast robot of `tandem robot`."""
        return self.rig.start("robot", "--pair", pair, "--side", side, "--linear-speed", "5", "--angular-speed", "20")

    def mount_disk(self, megabytes):
        """A small disk for journal, store and checkpoint; needs a mount name space of its own (run.sh makes one)."""
        disk = self.path("disk")
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tandem", str(disk)], check=True)
        self.cleanup.callback(subprocess.run, ["umount", "-l", str(disk)], check=False)
        text = self.rig.lab.read_text()
        for name in ("journal", "store.db", "checkpoint"):
            text = text.replace(f"{self.rig.folder}/{name}", f"{disk}/{name}")
        self.rig.lab.write_text(text)
        self.disk = disk

    # ---- observations of a kind ----

    def check(self, truth, words):
        """Checks a promise of this kind; the round goes on, to find other faults, too."""
        if not truth:
            self.remarks.append(words)
            self.failed.append(words)

    def wait(self, condition, what, seconds=15):
        end = time.monotonic() + limit_s(seconds)
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}; the daemon's log: {self.tail()}")
            time.sleep(0.05)

    def log(self, since=0):
        if self.rig.daemon.poll() is not None:
            self.keepers[-1].join(limit_s(5))
        return self.path("daemon.log").read_text()[since:]

    def log_size(self):
        return len(self.log())

    def events(self, since=0, levels=LOUD):
        """Names of the daemon's log events since then, of these levels."""
        found = (LINE.match(line) for line in self.log(since).splitlines())
        return [m[2] for m in found if m and m[1] in levels]

    def tail(self):
        return " / ".join(self.log().splitlines()[-8:])

    def unreadiness(self):
        """The reason why the daemon is not ready, from /readyz; "" when it is, or does not answer."""
        try:
            self.rig.fetch("/readyz")
        except urllib.error.HTTPError as e:
            return json.loads(e.read())["detail"]
        except OSError:
            pass
        return ""

    def check_reported(self, since, words, lasting, seconds=2):
        """Within this time the daemon reports this fault: in its log and, if it lasts and cannot be repaired at
        once, also in /readyz.
        """
        end = time.monotonic() + limit_s(seconds)
        in_log, in_answer = False, not lasting
        while time.monotonic() < end and not (in_log and in_answer):
            in_answer = in_answer or re.search(words, self.unreadiness()) is not None
            in_log = any(re.search(words, line) and (m := LINE.match(line)) and m[1] in LOUD
                         for line in self.log(since).splitlines())
            time.sleep(0.05)
        self.check(in_log, f"the log does not say within {seconds} s: {words}")
        self.check(in_answer, f"/readyz does not say within {seconds} s: {words}")

    def is_up(self):
        """The daemon answers, ready or not."""
        return self.http_status("/healthz") != 0

    def wait_file(self, name):
        self.wait(self.path(name).exists, f"{name} is there")
        return self.path(name)

    def http_status(self, path):
        try:
            self.rig.fetch(path)
            return 200
        except urllib.error.HTTPError as e:
            return e.code
        except OSError:
            return 0

    # ---- the round ----

    def play(self):
        """Runs the round from its start to its judgement; AssertionError when it could not be completed."""
        with self.rig, self.cleanup:
            try:
                if self.kind.before:
                    self.kind.before(self)
                self.start_daemon()
                self.start_readers()
                self.load = Load(self.rig.broker_port, self.kind.pairs, self.kind.rate)
                self.cleanup.callback(self.load.end)
                self.wait_load(1)
                self.kind.play(self)
                live = self.wait_until_idle()
                found = judge(self.load, live, self.may_lose)
                self.check_readers(found, live)
                self.compare(found, live)
                if self.kind.after:
                    self.kind.after(self, found)
            except (AssertionError, OSError, subprocess.SubprocessError, sqlite3.Error) as e:
                self.failed.append(f"{type(e).__name__}: {e}")
                found = Found(acknowledged=sum(c.acknowledged() for c in self.load.commands) if self.load else 0)
            found.failed += self.failed
            if not found.held():
                self.archive(found)
            return found

    def start_readers(self, history=None, last_id=None):
        self.read_since = self.log_size()
        self.readers = Readers(self.rig.http_port, self.rig.broker_port, self.kind.pairs, history, last_id)
        self.cleanup.callback(self.readers.end)
        self.readers.wait_listening()

    def check_readers(self, found, live):
        self.readers.wait_complete(live)
        self.readers.end()
        if self.kind.history != "lost":
            rebuilt = "store_lacks" in self.events(self.read_since)
            found.history += check_history(self.readers.history, live, rebuilt, self.kind.history == "vanishes")

    def wait_until_idle(self):
        """Everything is running again and idle; returns the entries of every pair over HTTP."""
        self.wait(self.rig.broker_answers, "the broker answers")
        self.wait(self.is_ready, "the daemon is ready again", 30)
        self.wait_load(1)
        self.load.hold()
        self.wait(self.load.is_quiet, "everything is acknowledged", 30)
        ends = [self.load.say(pair, f"{pair}-end") for pair in self.load.spoken()]
        self.wait(self.load.is_quiet, "the last commands are acknowledged", 30)
        self.wait(self.is_idle, "no command is open", TIMEOUT_S * 3 + 20)
        for command in ends:
            if command.style != "no_ids":
                self.wait(lambda c=command: self.has_entry(c), f"{command.id}: an entry", 20)
        self.rig.wait_stored(*self.kind.pairs)
        self.read_alarms()
        return {pair: self.rig.records(pair, "entries") for pair in self.kind.pairs}

    def read_alarms(self):
        self.alarms = [json.loads(text) for pair in self.kind.pairs for text in self.rig.records(pair, "alarms")]

    def is_idle(self):
        """Idle twice in a row: a message that has just arrived is not open yet."""
        for _ in range(2):
            if any(pair["outstanding"] for pair in self.rig.get("/api/v1/pairs")["pairs"]):
                return False
            time.sleep(0.3)
        return True

    def has_entry(self, command):
        newest = self.rig.get(f"/api/v1/pairs/{command.pair}/entries?limit=20")["entries"]
        return any(entry["id"] == command.id for entry in newest)

    def compare(self, found, live):
        """Store and replay have the entries that HTTP served."""
        self.stop_daemon()
        config = self.rig.lab.read_text()
        store = re.search(r"store: \{file: ([^,}]+)", config)[1]
        journal = re.search(r"journal: \{dir: ([^,}]+)", config)[1]
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
            for pair, texts in live.items():
                rows = [row[0] for row in
                        db.execute("SELECT json FROM entries WHERE pair = ? ORDER BY t_us, n", [pair])]
                if rows != texts:
                    found.differs.append(f"{pair}: {len(texts)} entries by HTTP, {len(rows)} in the store")
        document = replay(self.rig.lab, journal)
        found.history += check_times(journal)
        for pair, texts in live.items():
            # HTTP sorts by the time of the command, replay by the time when the entry was closed.
            texts = sorted(texts, key=number_of)
            again = sorted(cut_records(member(member(document, "pairs"), pair), "entries"), key=number_of)
            if self.kind.journal == "ids":
                again, texts = ([json.loads(text)["id"] for text in some] for some in (again, texts))
            if again != texts:
                other = next((i for i, (a, b) in enumerate(zip(again, texts)) if a != b), min(len(again), len(texts)))
                found.differs.append(f"{pair}: {len(again)} entries replayed, {len(texts)} by HTTP, other from "
                                     f"{again[other:other + 1]} / {texts[other:other + 1]}")

    def archive(self, found):
        """The folder of a round that failed, for later analysis."""
        archive_folder = os.environ.get("FAULTS_KEPT")
        if archive_folder:
            folder = os.path.join(archive_folder, f"{self.kind.name}.{self.number}")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.rig.folder, folder, ignore=shutil.ignore_patterns("disk"), dirs_exist_ok=True)
            with open(os.path.join(folder, "found.json"), "w") as out:
                json.dump({"found": vars(found), "notes": self.remarks, "alarms": self.alarms[-50:]}, out, indent=1)
