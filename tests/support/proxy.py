"""proxy.py - a TCP connection to the broker that can be cut, with what was under way.

    proxy = Proxy(rig.broker_port)  # listens on proxy.port
    proxy.swallow = {"down"}        # what the broker sends from now on does not arrive ("up": what it is sent)
    proxy.cut()                     # all connections end; new ones work again
"""
import socket
import threading


class Proxy:
    def __init__(self, target):
        self.target = target
        self.swallow = set()
        self.sockets = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                broker = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            with self.lock:
                self.sockets += [client, broker]
            for source, sink, way in ((client, broker, "up"), (broker, client, "down")):
                threading.Thread(target=self.pump, args=[source, sink, way], daemon=True).start()

    def pump(self, source, sink, way):
        try:
            while data := source.recv(65536):
                if way not in self.swallow:
                    sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        with self.lock:
            ends, self.sockets = self.sockets, []
        self.swallow = set()
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
