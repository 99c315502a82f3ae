"""Requests as bytes, right or wrong, to the daemon of a rig.Rig."""
import json
import socket

from waiting import limit_s


class Answer:
    """Everything received over a connection, parsed; status 0: nothing."""

    def __init__(self, raw):
        self.raw = raw
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1]) if lines[0].startswith("HTTP/1.1 ") else 0
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}

    def problem(self):
        assert self.headers["content-type"] == "application/problem+json", self.raw
        return json.loads(self.body)["type"].removeprefix("/problems/")


def connect(rig, source="127.0.0.1"):
    s = socket.create_connection(("127.0.0.1", rig.http_port), limit_s(20), (source, 0))
    s.settimeout(limit_s(20))
    return s


def receive(s):
    raw = b""
    try:
        while part := s.recv(65536):
            raw += part
    except (ConnectionError, socket.timeout):
        pass
    return Answer(raw)


def send(rig, raw, source="127.0.0.1"):
    with connect(rig, source) as s:
        try:
            s.sendall(raw)
        except ConnectionError:
            pass  # refused before the whole request was there
        return receive(s)


def ask(rig, target, method="GET", headers=(), body=b"", host="localhost", source="127.0.0.1"):
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return send(rig, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body, source)
