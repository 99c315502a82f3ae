"""rig.py - a whole lab on loopback for system tests: private mosquitto, daemon, robots, driver.

    with Rig(pairs="r1: {}") as rig:
        rig.start_daemon()
        rig.start("robot", "--pair", "r1", "--side", "real")
        rig.get("/api/v1/pairs/r1")

Everything listens on free loopback ports, lives in a temporary folder and is ended by its process id. Environment:
TANDEM (the program), SOURCE (the source tree).
"""
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from waiting import limit_s, wait_until

TANDEM = os.environ["TANDEM"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
LINES_PRINTED = 60  # of each log, when a test gives up


def free_port():
    """A loopback port that nobody listens on. It is below the range of the kernel's ephemeral ports: the kernel
    could give one of those to another program before the test uses it.
    """
    while True:
        port = random.SystemRandom().randrange(20000, 32000)
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) != 0:
                return port


def find_mosquitto():
    return shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin")


class Rig:
    def __init__(self, pairs="r1: {}", extra="", broker="", shipped="mosquitto.conf"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-test-"))
        self.processes = []
        self.markers = itertools.count()
        self.daemon = None
        self.broker = None
        self.shipped = shipped
        self.broker_settings = broker
        self.broker_port = free_port()
        self.http_port = free_port()
        self.lab = self.folder / "lab.yaml"
        self.lab.write_text(
            f"broker: {{port: {self.broker_port}}}\n"
            f"http: {{port: {self.http_port}, token_file: {self.folder}/token}}\n"
            f"journal: {{dir: {self.folder}/journal}}\n"
            f"store: {{file: {self.folder}/store.db}}\n"
            f"checkpoint: {{file: {self.folder}/checkpoint, interval_s: 2}}\n"
            f"{extra}\npairs:\n  {pairs}\n")
        (self.folder / "token").write_text("secret-of-the-test\n")
        (self.folder / "token").chmod(0o600)

    def __enter__(self):
        self.start_broker()
        return self

    def __exit__(self, fault, *_):
        if fault:
            self.print_logs()
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(limit_s(10))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def print_logs(self):
        """Prints the logs of all parts and the last messages, for the analysis of a test that gave up."""
        logs = [self.folder / "mosquitto.log", self.folder / "daemon.log", *sorted((self.folder / "journal").glob("*"))[-1:]]
        for log in logs:
            if log.exists():
                lines = log.read_text(errors="replace").splitlines()
                print(f"-- {log.name}, {len(lines)} lines:", *lines[-LINES_PRINTED:], sep="\n", file=sys.stderr)

    def run(self, command, **options):
        process = subprocess.Popen([str(c) for c in command], **options)
        self.processes.append(process)
        return process

    def start_broker(self):
        """With a settings file that Tandem ships, on another port and folder."""
        text = (SOURCE / "config" / self.shipped).read_text()
        text = text.replace("listener 1883 ", f"listener {self.broker_port} ")
        text = text.replace("/var/lib/mosquitto/", f"{self.folder}/").replace("/etc/mosquitto/", f"{self.folder}/")
        conf = self.folder / "mosquitto.conf"
        text += self.broker_settings
        conf.write_text("user root\n" + text if os.geteuid() == 0 else text)
        log = open(self.folder / "mosquitto.log", "a")
        self.broker = self.run([find_mosquitto(), "-c", conf], stdout=log, stderr=log, cwd=self.folder)
        self.wait(self.broker_answers, "the broker answers")

    def broker_answers(self):
        with socket.socket() as s:
            s.settimeout(limit_s(1))
            return s.connect_ex(("127.0.0.1", self.broker_port)) == 0

    def start_daemon(self, seconds=20):
        self.daemon_log = self.folder / "daemon.log"
        self.daemon = self.run([TANDEM, "serve", "-c", self.lab], stdout=subprocess.DEVNULL,
                               stderr=open(self.daemon_log, "a"))
        self.wait(self.ready, "the daemon is ready", seconds)
        return self.daemon

    def ready(self):
        assert self.daemon.poll() is None, "the daemon ended: " + self.daemon_log.read_text()
        try:
            return json.loads(self.fetch("/readyz"))["ready"]
        except (OSError, urllib.error.URLError):
            return False

    def wait_online(self, *pairs, seconds=20):
        """Waits until the daemon knows that both robots of the pairs listen."""
        self.wait(lambda: all(self.get(f"/api/v1/pairs/{pair}")[side]["connection"] == "online"
                              for pair in pairs for side in ("real", "virtual")), f"{pairs}: robots", seconds)

    def wait_stored(self, *pairs, seconds=20):
        """The store has every entry that the pairs count, and all earlier ones."""
        self.wait(lambda: all(len(self.records(pair, "entries")) == self.get(f"/api/v1/pairs/{pair}")["entries"]
                              for pair in pairs), f"{pairs}: entries in the store", seconds)

    def stop_daemon(self):
        self.daemon.send_signal(signal.SIGTERM)
        assert self.daemon.wait(limit_s(20)) == 0, self.daemon_log.read_text()

    def start(self, *arguments, **options):
        """A subcommand that connects to the broker."""
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("stderr", subprocess.DEVNULL)
        return self.run([TANDEM, arguments[0], "--port", self.broker_port, *arguments[1:]],
                        **options)

    def publish(self, topic, payload, *options):
        subprocess.run(["mosquitto_pub", "-p", str(self.broker_port), "-q", "1", "-t", topic, "-m",
                        payload if isinstance(payload, str) else json.dumps(payload), *options],
                       check=True)

    def listen(self, name, topic="tandem/v1/#"):
        """Records all messages of the topic from now on, in the file that is returned, one a line as JSON."""
        recording = self.folder / name
        self.run(["mosquitto_sub", "-p", self.broker_port, "-i", name, "-c", "-q", "1", "-t", topic, "-t", "marker/#", "-F", "%j"],
                 stdout=open(recording, "w"))
        self.catch_up(recording)
        return recording

    def catch_up(self, recording):
        """Waits until the file has everything that the broker had before now: it delivers in order, so a marker
        comes last.
        """
        marker = f"marker/{next(self.markers)}"

        def came():
            self.publish(marker, "")
            return f'"{marker}"' in recording.read_text()
        self.wait(came, "the listener has caught up", 20)

    def fetch(self, path, method="GET", body=None, token=None, kind=None):
        headers = {"Authorization": "Bearer " + token} if token else {}
        headers.update({"Content-Type": kind} if kind else {})
        request = urllib.request.Request(f"http://127.0.0.1:{self.http_port}{path}", method=method,
                                         data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=limit_s(60)) as answer:
            return answer.read().decode()

    def get(self, path):
        return json.loads(self.fetch(path))

    def records(self, pair, table):
        """All entries or alarms of a pair, oldest first, as the texts that were served."""
        texts, cursor = [], ""
        while cursor is not None:
            page = self.fetch(f"/api/v1/pairs/{pair}/{table}?order=oldest&limit=500{cursor}")
            texts += cut_records(page, table)
            after = json.loads(page)["next_cursor"]
            cursor = f"&cursor={after}" if after else None
        return texts

    def wait(self, condition, what, seconds=10):
        return wait_until(condition, what, seconds)


def member(text, name):
    """The text of one member of a JSON object, byte for byte."""
    decoder = json.JSONDecoder()
    at = text.index(f'"{name}":') + len(name) + 3
    _, length = decoder.raw_decode(text[at:])
    return text[at:at + length]


def cut_records(text, name):
    """The texts of the objects of an array that is a member, byte for byte."""
    array = member(text, name)
    decoder = json.JSONDecoder()
    records, at = [], 1
    while array[at] != "]":
        _, length = decoder.raw_decode(array[at:])
        records.append(array[at:at + length])
        at += length + (array[at + length] == ",")
    return records


def replay(lab, *files):
    """The document of `tandem replay --json`, as text."""
    return subprocess.run([TANDEM, "replay", "-c", str(lab), "--json", *map(str, files)],
                          check=True, stdout=subprocess.PIPE).stdout.decode()
