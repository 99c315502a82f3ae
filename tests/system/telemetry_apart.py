"""Telemetry has a connection of its own: a flood that waits in it, or its absence, delays no reply; its faults are
reported; labs that cannot have it use one connection, and receive everything. See telemetry_apart.sh.
"""
import json
import re
import subprocess
import time

from network import Network
from rig import Rig, replay
from waiting import pass_time

FLOOD = 20000  # messages, more than sockets hold
WAIT_S = 1.0  # from a reply to its entry, on a busy machine


class Lab(Rig):
    """The daemon reaches the broker through a network that can fail for its telemetry alone."""

    def __init__(self, pairs="r1: {}", broker=""):
        super().__init__(pairs=pairs)
        self.network = Network(self.broker_port)
        self.network.only = b"tandem-telemetry"
        text = self.lab.read_text()
        self.lab.write_text(text.replace(f"broker: {{port: {self.broker_port}}}", f"broker: {{port: {self.network.port}{broker}}}"))
        self.moves = 0

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.fetch("/metrics"), re.M)
        return float(found[1]) if found else None

    def connections(self):
        return [line.split(" as ")[1].split()[0] for line in (self.folder / "mosquitto.log").read_text().splitlines()
                if "New client connected" in line and " as tandem" in line]

    def samples(self):
        return self.metric('tandem_inbox_messages_total{kind="sample"}')

    def flood(self, count=FLOOD):
        """Publishes telemetry of both sides; returns when the broker has it."""
        lines = "".join(json.dumps({"t": 1763617674.2 + n * 0.01, "seq": n, "nu": [0.5, 0, 0.1], "pose": [1, 2, 0.5]}) + "\n"
                        for n in range(count))
        subprocess.run(["mosquitto_pub", "-p", str(self.broker_port), "-l", "-t", "tandem/v1/r1/real/telemetry"],
                       input=lines, text=True, check=True)

    def move(self, pair="r1"):
        """One command, both replies: the entry, and the time that it took."""
        self.moves += 1
        said = {"id": f"c{self.moves}"}
        self.publish(f"tandem/v1/{pair}/command", {**said, "op": "go", "displacement_m": 1})
        self.publish(f"tandem/v1/{pair}/real/reply", {**said, "status": "done"})
        self.publish(f"tandem/v1/{pair}/virtual/reply", {**said, "status": "done"})
        since = time.monotonic()
        self.wait(lambda: any(json.loads(text)["id"] == said["id"] for text in self.records(pair, "entries")), f"entry {said}")
        run_s = time.monotonic() - since
        entry = [json.loads(text) for text in self.records(pair, "entries")][-1]
        assert entry["id"] == said["id"] and entry["verdict"] in ("SYNC", "AHEAD", "BEHIND"), entry
        return run_s

    def journal(self):
        return "".join(path.read_text() for path in sorted((self.folder / "journal").glob("*.jsonl")))


def held_up():
    """Telemetry waits for seconds, in sockets and at the broker: replies do not, and no verdict suffers."""
    with Lab() as lab:
        lab.start_daemon()
        assert sorted(lab.connections()) == ["tandem", "tandem-telemetry"], lab.connections()
        assert lab.metric("tandem_telemetry_heartbeat_seconds") is not None
        lab.network.hold = True
        lab.flood()
        held = lab.samples()
        run_s = [lab.move() for _ in range(5)]
        assert sorted(run_s)[2] < WAIT_S, run_s
        pass_time(2.5)  # longer than a second of silence
        assert lab.samples() == held, "it was held"
        lab.network.hold = False
        run_s = [lab.move() for _ in range(5)]
        assert sorted(run_s)[2] < WAIT_S, run_s
        lab.wait(lambda: lab.samples() + lab.metric("tandem_inbox_samples_thinned_total") == FLOOD, "all of it, once", 30)
        assert lab.get("/readyz")["ready"]
        lab.wait_stored("r1")
        served = lab.records("r1", "entries")
        lab.stop_daemon()
        assert "$lab/away" not in lab.journal(), "no reply has waited"
        assert json.loads(replay(lab.lab, lab.folder / "journal"))["pairs"]["r1"]["entries"] == [json.loads(e) for e in served]


def refused():
    """The broker refuses the second connection: the daemon reports it, and verdicts come all the same."""
    with Lab() as lab:
        lab.start_daemon()
        lab.network.open = False
        lab.network.cut()
        lab.wait(lambda: not lab.ready(), "not ready")
        lab.wait(lambda: lab.metric("tandem_telemetry_failed_connections_total") > 0, "tried again")
        lab.wait(lambda: "telemetry: " in json.dumps(health(lab)), "named")
        lab.wait(lambda: lab.connections().count("tandem") == 2, "the other one is back")
        pass_time(2.5)  # messages soon after a connection may have waited
        lab.move()
        assert lab.metric("tandem_broker_connected") == 0
        assert "telemetry_down" in lab.daemon_log.read_text()
        lab.network.open = True
        lab.wait(lab.ready, "back")
        assert lab.metric("tandem_broker_connected") == 1
        lab.flood(10)
        lab.wait(lambda: lab.samples() == 10, "it comes")
        lab.stop_daemon()


def session_goes_on():
    """An old session with one connection may be subscribed to telemetry at the broker: each message still counts
    once.
    """
    with Lab() as lab:
        subprocess.run(["mosquitto_sub", "-p", str(lab.broker_port), "-V", "mqttv5", "-i", "tandem", "-c", "-x", "3600", "-E",
                        "-t", "tandem/v1/+/+/telemetry"], check=True)
        lab.start_daemon()
        lab.flood(100)
        lab.wait(lambda: lab.samples() >= 100, "all")
        lab.move()
        assert lab.samples() == 100, lab.samples()
        lab.stop_daemon()


def health(lab):
    """The body of /readyz, which answers 503."""
    return subprocess.run(["curl", "-s", f"http://127.0.0.1:{lab.http_port}/readyz"], stdout=subprocess.PIPE, check=True,
                          text=True).stdout


def together():
    """A broker may identify clients by their users: with one user there is one connection, unless another is named."""
    with Lab(broker=", username: tandem") as lab:
        lab.start_daemon()
        lab.flood(100)
        lab.wait(lambda: lab.samples() == 100, "all, once")
        lab.move()
        assert lab.connections() == ["tandem"], lab.connections()
        assert lab.metric("tandem_telemetry_heartbeat_seconds") is None
        lab.stop_daemon()
    with Lab(broker=", username: tandem, telemetry_username: other") as lab:
        lab.start_daemon()
        lab.flood(100)
        lab.wait(lambda: lab.samples() == 100, "all, once")
        log = (lab.folder / "mosquitto.log").read_text()
        assert "as tandem-telemetry" in log and "u'other'" in log, log
        lab.stop_daemon()


if __name__ == "__main__":
    held_up()
    refused()
    session_goes_on()
    together()
