#!/usr/bin/env python3
"""Measures what a killed broker loses, and the cost of losing less.

usage: broker_saves.py [--rounds N] [--rate HZ] [--there S] [--away S] [--spread S] SETTING...
       SETTING: "interval 60" (seconds between saves) or "changes 1" (changes between saves)

A round: mosquitto with Tandem's settings and this SETTING; a session like the daemon's receives QoS 1 messages for
some seconds and leaves; the broker is killed some seconds later. It starts again, and the session returns. A message
is lost if its sender got an acknowledgement and the session never gets the message. In both phases the bench also
measures the broker's processor time and bytes written, and how long senders wait for their acknowledgement.
"""
import argparse
import pathlib
import random
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PAYLOAD_BYTES = 120  # of a reply with values


class Client:
    """The part of MQTT 3.1.1 that this bench needs; a thread reads."""

    def __init__(self, port, name, clean, on_publish=None):
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.on_publish = on_publish
        self.acknowledged = {}
        self.answered = threading.Event()
        self.send(0x10, self.text("MQTT") + bytes([4, 2 if clean else 0, 0, 0]) + self.text(name))
        threading.Thread(target=self.read, daemon=True).start()
        assert self.answered.wait(20), "no CONNACK"

    @staticmethod
    def text(text):
        return struct.pack(">H", len(text)) + text.encode()

    def send(self, kind, body):
        length, left = b"", len(body)
        while not length or left:
            length += bytes([left % 128 | (128 if left > 127 else 0)])
            left //= 128
        self.socket.sendall(bytes([kind]) + length + body)

    def on_message(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError
            data += part
        return data

    def read(self):
        try:
            self.socket.settimeout(None)
            while True:
                kind, length, shift = self.on_message(1)[0], 0, 0
                while True:
                    digit = self.on_message(1)[0]
                    length |= (digit & 127) << shift
                    shift += 7
                    if digit < 128:
                        break
                self.handle(kind, self.on_message(length) if length else b"")
        except (OSError, ConnectionError):
            pass

    def handle(self, kind, body):
        if kind >> 4 == 3:
            at = 2 + struct.unpack(">H", body[:2])[0]
            if kind & 6:
                self.send(0x40, body[at:at + 2])
                at += 2
            self.on_publish(int(body[at:].split()[0]))
        elif kind >> 4 == 4:
            self.acknowledged[struct.unpack(">H", body)[0]] = time.monotonic()
        elif kind >> 4 in (2, 9):
            self.answered.set()

    def subscribe(self, topic):
        self.answered.clear()
        self.send(0x82, b"\0\1" + self.text(topic) + b"\1")
        assert self.answered.wait(20), "no SUBACK"

    def publish(self, number):
        assert number < 65536, "a packet's number would come twice"
        self.send(0x32, self.text("tandem/v1/r1/real/reply") + struct.pack(">H", number) +
                  str(number).ljust(PAYLOAD_BYTES).encode())

    def leave(self):
        self.send(0xE0, b"")
        self.socket.close()


class Broker:
    def __init__(self, folder, setting):
        kind, number = setting.split()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        lines = [line for line in (SOURCE / "config/mosquitto.conf").read_text().splitlines()
                 if not line.startswith(("listener", "persistence_location", "autosave"))]
        lines += [f"listener {self.port} 127.0.0.1", f"persistence_location {folder}/", "user root", f"autosave_interval {number}",
                  f"autosave_on_changes {'true' if kind == 'changes' else 'false'}"]
        self.conf = folder / "mosquitto.conf"
        self.conf.write_text("\n".join(lines) + "\n")
        self.start()

    def start(self):
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self.process = subprocess.Popen([program, "-c", self.conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < end, "mosquitto did not start"
                time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def spent(self):
        """Seconds of a processor, bytes written."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        io = dict(line.split(": ") for line in pathlib.Path(f"/proc/{self.process.pid}/io").read_text().splitlines())
        return (int(fields[11]) + int(fields[12])) / 100, int(io["wchar"])


def send_for(broker, sender, seconds, rate, sent):
    """Sends messages; returns the share of a processor, bytes written a second, seconds that acknowledgements took."""
    began, (cpu, written) = time.monotonic(), broker.spent()
    first = len(sent) + 1
    for k in range(int(seconds * rate)):
        time.sleep(max(0, began + k / rate - time.monotonic()))
        sent.append(time.monotonic())
        sender.publish(len(sent))
    time.sleep(max(0, began + seconds - time.monotonic()))
    duration_s = time.monotonic() - began
    cpu_after, written_after = broker.spent()
    waits = [sender.acknowledged[n] - sent[n - 1] for n in range(first, len(sent) + 1) if n in sender.acknowledged]
    return (cpu_after - cpu) / duration_s, (written_after - written) / duration_s, waits


def play_round(setting, options):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-saves-"))
    got, sent = set(), []
    broker = Broker(folder, setting)
    try:
        session = Client(broker.port, "tandem", False, got.add)
        session.subscribe("tandem/v1/#")
        sender = Client(broker.port, "sender", True)
        there = send_for(broker, sender, options.there, options.rate, sent)
        session.leave()
        away_s = options.away + options.spread * random.random()
        away = send_for(broker, sender, away_s, options.rate, sent)
        broker.kill()
        acknowledged = set(sender.acknowledged)
        broker.start()
        session = Client(broker.port, "tandem", False, got.add)
        before = -1
        while before < len(got):
            before = len(got)
            time.sleep(0.5)
    finally:
        broker.kill()
        shutil.rmtree(folder)
    return len(acknowledged), len(acknowledged - got), there, away


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] * 1e3 if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--there", type=float, default=4)
    parser.add_argument("--away", type=float, default=1)
    parser.add_argument("--spread", type=float, default=0, help="longer away by up to this, by chance")
    parser.add_argument("settings", nargs="+", metavar="SETTING")
    options = parser.parse_args()
    print("setting          acknowledged   lost   most  | session there: cpu   MB/s  ack p50   p99   max ms | away: cpu   MB/s"
          "  ack p50   p99   max ms")
    for setting in options.settings:
        rounds = [play_round(setting, options) for _ in range(options.rounds)]
        row = f"{setting:16} {sum(r[0] for r in rounds):12d} {sum(r[1] for r in rounds):6d} {max(r[1] for r in rounds):6d}  |"
        for phase in (2, 3):
            waits = [wait for r in rounds for wait in r[phase][2]]
            row += (f" {' ' * (14 if phase == 2 else 5)} {100 * sum(r[phase][0] for r in rounds) / len(rounds):3.0f} %"
                    f" {sum(r[phase][1] for r in rounds) / len(rounds) / 1e6:6.2f}   {quantile(waits, 0.5):6.1f}"
                    f" {quantile(waits, 0.99):5.0f} {quantile(waits, 1):5.0f}    {'|' if phase == 2 else ''}")
        print(row, flush=True)


if __name__ == "__main__":
    main()
