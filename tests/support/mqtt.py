"""mqtt.py - an MQTT 3.1.1 client that knows which messages were acknowledged: the independent truth of the fault
rounds. It reconnects by itself and sends messages without acknowledgement again, marked DUP and in order.

    client = Client(port, "l1", topics=["tandem/v1/+/reply"], on_message=print)
    message = client.publish("tandem/v1/r1/command", '{"op":"lidar"}')
    message.acknowledged_s, message.sent_s, message.copies
"""
import collections
import itertools
import socket
import struct
import threading
import time

from waiting import limit_s

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, DISCONNECT = 1, 2, 3, 4, 8, 9, 12, 14


class Message:
    def __init__(self, topic, payload, qos=1, retain=False):
        self.topic, self.payload, self.qos, self.retain = topic, payload, qos, retain
        self.copies = 0  # how often it was written to a socket
        self.sent_s = self.acknowledged_s = None  # Unix time


def field(data):
    data = data.encode() if isinstance(data, str) else data
    return struct.pack("!H", len(data)) + data


def packet(kind, flags, body):
    length, rest = b"", len(body)
    while True:
        length += bytes([rest % 128 | (0x80 if rest >= 128 else 0)])
        rest //= 128
        if not rest:
            return bytes([kind << 4 | flags]) + length + body


def read_exactly(s, count):
    data = b""
    while len(data) < count:
        part = s.recv(count - len(data))
        if not part:
            raise ConnectionError("the broker hung up")
        data += part
    return data


def read_packet(s):
    head, length, shift = read_exactly(s, 1)[0], 0, 0
    while True:
        byte = read_exactly(s, 1)[0]
        length |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return head >> 4, head & 15, read_exactly(s, length) if length else b""


class Client:
    def __init__(self, port, name, clean=False, topics=(), on_message=None, will=None, hello=None, beat_s=5, raw=False):
        """will, hello: (topic, payload) that the broker publishes when this client is gone, and that it publishes
        itself, both retained. take(topic, payload): receives messages, in the thread that reads. beat_s: interval of
        pings on a silent connection. raw: payloads are handed over as bytes.
        """
        self.port, self.name, self.clean, self.topics, self.on_message = port, name, clean, list(topics), on_message
        self.will, self.hello, self.beat_s, self.raw = will, hello, beat_s, raw
        self.lock = threading.RLock()
        self.socket, self.ended, self.connections = None, False, 0
        self.ids = itertools.cycle(range(1, 65536))
        self.open = collections.OrderedDict()  # packet id: Message without acknowledgement
        self.subscribed = threading.Event()
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def publish(self, topic, payload, qos=1, retain=False):
        message = Message(topic, payload if isinstance(payload, bytes) else payload.encode(), qos, retain)
        with self.lock:
            name = 0
            if qos:
                name = next(n for n in self.ids if n not in self.open)
                self.open[name] = message
            self.write(name, message)
        return message

    def write(self, name, message):
        """Needs the lock. The next connection sends again what cannot be written."""
        if not self.socket:
            return
        flags = (8 if message.copies and message.qos else 0) | message.qos << 1 | message.retain
        body = field(message.topic) + (struct.pack("!H", name) if message.qos else b"") + message.payload
        message.copies += 1
        message.sent_s = message.sent_s or time.time()
        try:
            self.socket.sendall(packet(PUBLISH, flags, body))
        except OSError:
            self.cut()  # half a packet may have been sent

    def live(self):
        while not self.ended:
            try:
                self.converse()
            except (OSError, ConnectionError):
                pass
            self.subscribed.clear()
            if not self.ended:
                time.sleep(0.1)

    def converse(self):
        s = socket.create_connection(("127.0.0.1", self.port), limit_s(5))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.greet(s)
            s.settimeout(self.beat_s)
            waits = False
            while True:
                try:
                    kind, flags, body = read_packet(s)
                    waits = False
                except socket.timeout:
                    if waits:
                        raise ConnectionError("the broker is silent") from None
                    waits = True
                    with self.lock:
                        s.sendall(packet(PINGREQ, 0, b""))
                    continue
                self.handle(s, kind, flags, body)
        finally:
            with self.lock:
                self.socket = None
            s.close()

    def greet(self, s):
        flags = (2 if self.clean else 0) | (0x2c if self.will else 0)  # a will is retained, QoS 1
        body = field("MQTT") + bytes([4, flags]) + struct.pack("!H", 60) + field(self.name)
        for part in self.will or ():
            body += field(part)
        s.sendall(packet(CONNECT, 0, body))
        kind, _, body = read_packet(s)
        if kind != CONNACK or body[1]:
            raise ConnectionError(f"refused: {body}")
        if self.topics:
            s.sendall(packet(SUBSCRIBE, 2, struct.pack("!H", 1) + b"".join(field(t) + b"\1" for t in self.topics)))
        with self.lock:
            self.socket = s
            self.connections += 1
            if not self.topics:
                self.subscribed.set()
            for name, message in list(self.open.items()):
                self.write(name, message)
        if self.hello:
            self.publish(*self.hello, retain=True)

    def handle(self, s, kind, flags, body):
        if kind == PUBACK:
            with self.lock:
                message = self.open.pop(struct.unpack("!H", body[:2])[0], None)
            if message:
                message.acknowledged_s = time.time()
        elif kind == SUBACK:
            self.subscribed.set()  # messages of others reach this client from now on
        elif kind == PUBLISH:
            end = 2 + struct.unpack("!H", body[:2])[0]
            topic = body[2:end].decode()
            if flags & 6:
                with self.lock:
                    s.sendall(packet(PUBACK, 0, body[end:end + 2]))
                end += 2
            if self.on_message:
                self.on_message(topic, body[end:] if self.raw else body[end:].decode("utf-8", "replace"))

    def cut(self):
        """Cuts the connection as a network does: nobody is notified."""
        with self.lock:
            if self.socket:
                try:
                    self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is down already

    def waiting(self):
        with self.lock:
            return len(self.open)

    def end(self):
        with self.lock:
            self.ended = True
            if self.socket:
                try:
                    self.socket.sendall(packet(DISCONNECT, 0, b""))
                    self.socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
