"""network.py - a network between two programs that can fail: a TCP relay.

    network = Network(broker_port)  # listens on network.port
    network.swallow = {"down"}; network.late_s = 0.3; network.hold = True; network.open = False
    network.only = b"name"; network.cut()

"up" is towards the broker, "down" from it. Swallowed bytes are lost although the sender's system accepted them: a
stream of MQTT cannot continue then, so cut it. With `only`, set before, only connections are held or closed whose
first packet has these bytes in it, as a CONNECT has its client's id.
"""
import socket
import struct
import threading
import time


class Network:
    def __init__(self, target, port=0):
        self.target = target
        self.swallow, self.late_s, self.hold, self.open = frozenset(), 0.0, False, True
        self.only = b""
        self.swallowed = self.carried = 0  # bytes; carried: from the broker
        self.lock, self.links = threading.Lock(), []
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            try:
                named = not self.only or self.only in near.recv(512, socket.MSG_PEEK)
                if not self.open and named:
                    raise ConnectionRefusedError
                far = socket.create_connection(("127.0.0.1", self.target), 5)
                far.settimeout(None)
            except OSError:
                reset(near)
                continue
            with self.lock:
                self.links.append((near, far, named))
            for s in (near, far):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for direction, source, sink in (("up", near, far), ("down", far, near)):
                threading.Thread(target=self.carry, args=[direction, source, sink, named], daemon=True).start()

    def carry(self, direction, source, sink, named):
        try:
            while data := source.recv(65536):
                while self.hold and named:
                    time.sleep(0.01)
                if self.late_s:
                    time.sleep(self.late_s)
                if direction in self.swallow:
                    self.swallowed += len(data)
                else:
                    sink.sendall(data)
                    self.carried += len(data) if direction == "down" else 0
        except OSError:
            pass
        for s in (source, sink):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, named=False):
        """Cuts all connections, or only those that began with the bytes of `only`."""
        with self.lock:
            links = [link for link in self.links if link[2] or not named]
            self.links = [link for link in self.links if link not in links]
        for near, far, _ in links:
            reset(near)
            reset(far)

    def end(self):
        self.open = False
        self.listener.close()
        self.cut()


def reset(s):
    """Closes a connection without a farewell."""
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    s.close()
