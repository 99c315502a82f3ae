"""The calls of MicroPython's umqtt.simple that examples/robot/micropython makes, for CPython: one socket, no queue;
a publish with QoS 1 waits for its acknowledgement, and check_msg() alone receives messages.
"""
import select
import socket
import struct

from mqtt import CONNACK, CONNECT, field, packet, PUBACK, PUBLISH, read_packet, SUBACK, SUBSCRIBE


class MQTTClient:
    def __init__(self, client_id, server, port=0, keepalive=0):
        self.client_id, self.address, self.keepalive, self.name, self.will = client_id, (server, port or 1883), keepalive, 0, None

    def set_callback(self, callback):
        self.callback = callback

    def set_last_will(self, topic, message, retain=False, qos=0):
        self.will = (topic, message, 4 | qos << 3 | retain << 5)

    def connect(self, clean_session=True):
        self.socket = socket.create_connection(self.address, 10)
        body = field("MQTT") + bytes([4, (2 if clean_session else 0) | (self.will[2] if self.will else 0)])
        body += struct.pack("!H", self.keepalive) + b"".join(field(f) for f in (self.client_id, *(self.will or (0, 0))[:2]) if f)
        self.socket.sendall(packet(CONNECT, 0, body))
        assert self.read(CONNACK)[1] == 0

    def read(self, awaited):
        while True:
            kind, flags, body = read_packet(self.socket)
            if kind == PUBLISH:
                end = 2 + struct.unpack("!H", body[:2])[0]
                if flags & 6:
                    self.socket.sendall(packet(PUBACK, 0, body[end:end + 2]))
                self.callback(body[2:end], body[end + (2 if flags & 6 else 0):])
            if kind == awaited:
                return body

    def subscribe(self, topic, qos=0):
        self.name += 1
        self.socket.sendall(packet(SUBSCRIBE, 2, struct.pack("!H", self.name) + field(topic) + bytes([qos])))
        self.read(SUBACK)

    def publish(self, topic, message, retain=False, qos=0):
        self.name += 1
        self.socket.sendall(packet(PUBLISH, qos << 1 | retain, field(topic) + (struct.pack("!H", self.name) if qos else b"")
                                   + message.encode()))
        if qos:
            self.read(PUBACK)

    def check_msg(self):
        while select.select([self.socket], [], [], 0)[0]:
            self.read(PUBLISH)
