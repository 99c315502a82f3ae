"""Limits between HTTP connections: clients that hold connections, send slowly, send ambiguous requests, or
disconnect.
"""
import resource
import socket
import time

from raw_http import ask, connect, send
from rig import SOURCE, Rig
from waiting import pass_time

TOKEN = "secret-of-the-test"
OTHER = "127.0.0.2"  # another address of this machine
HOST = b"Host: localhost\r\n"
CLOSE = b"Connection: close\r\n"
BODY = b'{"op":"go","displacement_m":0.1}'
SOON_S = 0.1  # limit of a wait, whatever the other clients do


def ask_soon(rig, target, source="127.0.0.1"):
    began = time.monotonic()
    answer = ask(rig, target, source=source)
    run_s = time.monotonic() - began
    assert run_s < SOON_S, f"{source} waited {run_s} s for {target}"
    return answer


def is_closed(s):
    s.setblocking(False)
    try:
        return s.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def slow_heads(rig):
    """A request line and headers that come byte by byte have ten seconds, and do not block the health checks."""
    used = connect(rig, OTHER)
    began = time.monotonic()
    held = [connect(rig) for _ in range(530)]
    for s in held:
        s.sendall(b"GET /api/v1/status HTTP/1.1\r\n" + HOST + b"X-Slow: ")
    first_s = None
    while held and time.monotonic() - began < 20:
        for target in ("/healthz", "/readyz"):
            assert ask_soon(rig, target).status == 200
        assert ask_soon(rig, "/api/v1/status", OTHER).status == 200
        # A connection that is used lives longer than that.
        used.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        assert used.recv(4096).startswith(b"HTTP/1.1 200"), "a connection that is used"
        for s in held:
            try:
                s.sendall(b"a")
            except OSError:
                pass
        open_ones = [s for s in held if not is_closed(s)]
        if len(open_ones) < len(held) and first_s is None:
            first_s = time.monotonic() - began
        held = open_ones
        pass_time(0.3)
    run_s = time.monotonic() - began
    assert not held, f"{len(held)} are open after {run_s:.1f} s"
    assert first_s > 9, f"the first one was hung up on after {first_s:.1f} s"
    assert run_s < 15, f"the last one was hung up on after {run_s:.1f} s"
    used.close()


def slow_bodies(rig):
    """A body that comes byte by byte has five seconds; one that stops, ten after its last byte."""
    head = f"POST /api/v1/pairs/r1/commands HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n".encode() + HOST
    began = time.monotonic()
    held, closed_s = {"comes slowly": connect(rig), "stops": connect(rig)}, {}
    for s in held.values():
        s.sendall(head + b"\r\n{")
    while held and time.monotonic() - began < 20:
        pass_time(0.3)
        for name, s in list(held.items()):
            if is_closed(s):
                closed_s[name] = time.monotonic() - began
                del held[name]
        if "comes slowly" in held:
            try:
                held["comes slowly"].sendall(b" ")
            except OSError:
                pass
    assert not held and 4.5 < closed_s["comes slowly"] < 7 and 9.5 < closed_s["stops"] < 13, (list(held), closed_s)


def sizes(rig):
    """Each limit of a body is documented, and a longer one is refused with it."""
    text = (SOURCE / "docs/http.md").read_text()
    for path, limit in (("pairs/r1/commands", 256), ("pairs/r1/missions", 32768), ("pairs/r1/forecast", 65536)):
        head = f"POST /api/v1/{path} HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {limit + 1}\r\n".encode() + HOST
        answer = send(rig, head + CLOSE + b"\r\n" + b" " * (limit + 1))
        assert answer.status == 413 and f"at most {limit} bytes".encode() in answer.body and f" {limit}" in text, (path, answer.raw)


def crowd(rig):
    """Ten thousand silent connections: from one address, then from many."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    count = min(10000, files - 2000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    for sources in (["127.0.0.1"], [f"127.0.1.{k + 1}" for k in range(count // 500)]):
        held = []
        for k in range(count):
            held.append(connect(rig, sources[k % len(sources)]))
            if k % 500 == 499:
                assert ask_soon(rig, "/healthz").status == 200
                assert ask_soon(rig, "/api/v1/status", OTHER).status == 200
        if len(sources) == 1:

            def is_crowded():
                """When it took long to connect all, the last accepted clients have used up their ten seconds."""
                held.extend(connect(rig) for _ in range(100))
                answer = ask_soon(rig, "/api/v1/status")
                return answer.status == 429 and answer.problem() == "too-many-connections"

            rig.wait(is_crowded, "the address is crowded")
        for _ in range(3):
            assert ask_soon(rig, "/healthz").status == 200
            assert ask_soon(rig, "/api/v1/status", OTHER).status == 200
            pass_time(0.3)
        for s in held:
            s.close()
        rig.wait(lambda: ask(rig, "/api/v1/status").status == 200, "there is room again")


def all_places():
    """Requests without their bodies occupy every connection: health checks and error texts are still served."""
    with Rig() as rig:
        rig.lab.write_text(rig.lab.read_text().replace("http: {", "http: {connections_max: 4, listeners_max: 0, "))
        rig.start_daemon()
        head = f"POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"

        def hold_place():
            """Clients that asked whether the daemon is ready may hold their connections for a moment more."""
            s = connect(rig)
            s.sendall(head.encode() + b"Expect: 100-continue\r\nContent-Length: 30\r\n\r\n")
            said = s.recv(4096)
            assert said.startswith((b"HTTP/1.1 100", b"HTTP/1.1 503")), said
            if said.startswith(b"HTTP/1.1 100"):
                held.append(s)
            return len(held) == 4

        held = []
        rig.wait(hold_place, "every place is held")
        answer = ask_soon(rig, "/api/v1/status", OTHER)
        assert answer.problem() == "too-many-connections" and b"http.connections_max" in answer.body, answer.raw
        assert ask_soon(rig, "/healthz").status == 200
        # Silent clients hold no connection.
        for s in held:
            s.close()
        rig.wait(lambda: ask(rig, "/api/v1/status").status == 200, "there is room again")
        held = [connect(rig) for _ in range(40)]
        assert ask_soon(rig, "/api/v1/status").status == 200
        rig.stop_daemon()


def strict(rig):
    """A request that two parsers may understand differently is refused, and nothing after it is read."""
    get = b"GET /api/v1/status HTTP/1.1\r\n"
    post = b"POST /api/v1/pairs/r1/commands HTTP/1.1\r\n" + HOST + f"Authorization: Bearer {TOKEN}\r\n".encode()
    n = str(len(BODY)).encode()
    chunks = f"{len(BODY):x}\r\n".encode() + BODY + b"\r\n0\r\n\r\n"
    rows = {
        "no Host": get + b"\r\n",
        "two Hosts": get + HOST + HOST + b"\r\n",
        "two Hosts that differ": get + HOST + b"Host: evil.example\r\n\r\n",
        "two lengths": post + b"Content-Length: " + n + b"\r\nContent-Length: " + n + b"\r\n\r\n" + BODY,
        "two lengths that differ": post + b"Content-Length: " + n + b"\r\nContent-Length: 0\r\n\r\n" + BODY,
        "a list of lengths": post + b"Content-Length: " + n + b", " + n + b"\r\n\r\n" + BODY,
        "length and chunks": post + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
        "chunks and length": post + b"transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n" + chunks,
        "chunks twice": post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
        "another coding": post + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks,
        "an unknown coding": post + b"Transfer-Encoding: xchunked\r\n\r\n" + chunks,
        "chunks in 1.0": post.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n" + chunks,
        "a space after a name": post + b"Content-Length : " + n + b"\r\n\r\n" + BODY,
        "a space before a name": get + b" Host: localhost\r\n\r\n",
        "NUL in a name": get + HOST + b"X-\x00A: b\r\n\r\n",
        "NUL in the version": b"GET /api/v1/status HTTP/1.1\x00\r\n" + HOST + b"\r\n",
        "NUL in the path": b"GET /api/v1/status\x00/x HTTP/1.1\r\n" + HOST + b"\r\n",
        "NUL in the query": b"GET /api/v1/pairs?limit=1\x00x HTTP/1.1\r\n" + HOST + b"\r\n",
        "NUL in the method": b"GET\x00X /api/v1/status HTTP/1.1\r\n" + HOST + b"\r\n",
        "NUL in the Host": get + b"Host: localhost\x00.evil.example\r\n\r\n",
        "NUL in a value": get + HOST + b"X-A: a\x00b\r\nX-B: c\r\n\r\n",
        "NUL before a value": get + HOST + b"X-A: \x00b\r\n\r\n",
        "NUL behind the token": post.replace(TOKEN.encode(), TOKEN.encode() + b"\x00x") + b"Content-Length: " + n + b"\r\n\r\n" + BODY,
        "two tokens": post + f"Authorization: Bearer {TOKEN}\r\n".encode() + b"Content-Length: " + n + b"\r\n\r\n" + BODY,
        "a wrong and a right token": get + HOST + f"Authorization: Bearer x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode(),
        "a folded token": post.replace(b"Bearer ", b"Bearer\r\n ") + b"Content-Length: " + n + b"\r\n\r\n" + BODY,
        "folded chunks": post + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + chunks,
        "folded chunks and a length": post + b"Transfer-Encoding:\r\n\tchunked\r\nContent-Length: " + n + b"\r\n\r\n" + BODY,
        "a folded length": post + b"Content-Length: 1\r\n 2\r\n\r\n" + BODY,
        "a folded Host": get + b"Host:\r\n localhost\r\n\r\n",
        "a folded last header": get + HOST + b"X-A: b\r\n c\r\n\r\n",
        "LF alone behind the request line": b"GET /api/v1/status HTTP/1.1\n" + HOST + b"\r\n",
        "LF alone behind a header": get + HOST + b"X-A: b\nX-B: c\r\n\r\n",
        "LF alone at the end": get + HOST + b"\n",
        "CR in a value": get + HOST + b"X-A: b\rTransfer-Encoding: chunked\r\n\r\n",
        "a control character in a value": get + HOST + b"X-A: b\x08c\r\n\r\n",
        "two blanks in the request line": b"GET  /api/v1/status HTTP/1.1\r\n" + HOST + b"\r\n",
    }
    by_libmicrohttpd = {"NUL in a name", "NUL in the version", "a list of lengths"}  # a page of its own
    for name, request in rows.items():
        answer = send(rig, request + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        assert answer.status == 400 and answer.raw.count(b"HTTP/1.1 ") <= 2, (name, answer.raw)
        assert b'{"alive":true}' not in answer.raw, (name, answer.raw)
        assert name in by_libmicrohttpd or answer.problem() in ("bad-head", "bad-url"), (name, answer.raw)
    right = {
        "a length": (post + CLOSE + b"Content-Length: " + n + b"\r\n\r\n" + BODY, 202),
        "chunks": (post + CLOSE + b"Transfer-Encoding: Chunked\r\n\r\n" + chunks, 202),
        "1.0 without Host": (b"GET /api/v1/status HTTP/1.0\r\n\r\n", 200),
        # libmicrohttpd accepts a NUL before LF as the end of the line: this hides nothing (docs/http.md).
        "NUL in place of CR": (get + HOST + CLOSE + b"X-A: a\x00\n\r\n", 200),
        "values of all kinds": (get + HOST + CLOSE + b"X-A:\r\nX-B:b\r\nX-C: \t c \r\nX-D: \xc3\xa4\td\r\n\r\n", 200),
    }
    for name, (request, status) in right.items():
        answer = send(rig, request)
        assert answer.status == status, (name, answer.raw)
    # Another parser may see a different end of a chunked body: nothing after it is read.
    answer = send(rig, post + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    assert answer.status == 202 and b'{"alive":true}' not in answer.raw, answer.raw


def listeners():
    """A listener that hangs up frees its connection before the next one comes."""
    with Rig() as rig:
        rig.lab.write_text(rig.lab.read_text().replace("http: {", "http: {listeners_max: 10, "))
        rig.start_daemon()
        request = b"GET /api/v1/events HTTP/1.1\r\n" + HOST + b"\r\n"

        def listen():
            s = connect(rig)
            s.sendall(request)
            received = s.recv(4096)
            while b"\n\n" not in received and b" 200 " in received[:20]:
                received += s.recv(4096)
            return s, int(received[9:12])

        for _ in range(20):
            held = [listen() for _ in range(10)]
            assert [status for _, status in held] == 10 * [200], [status for _, status in held]
            s, status = listen()
            s.close()
            assert status == 503, status
            for s, _ in held:
                s.close()
        # Hung up in the middle of a long answer: with a reset, and with unread bytes.
        held = [listen()[0] for _ in range(10)]
        for s in held:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.sendall(b"more")
            s.close()
        held = [listen() for _ in range(10)]
        assert [status for _, status in held] == 10 * [200], [status for _, status in held]
        for s, _ in held:
            s.close()
        # The connection is also freed when nobody waits for one: metrics show it.
        rig.wait(lambda: "\ntandem_stream_listeners 0\n" in rig.fetch("/metrics"), "nobody listens", 2)
        rig.stop_daemon()


def places_of_listeners():
    """The address has its connection back, too: its next request is answered."""
    with Rig() as rig:
        rig.lab.write_text(rig.lab.read_text().replace("http: {", "http: {client_connections_max: 4, "))
        rig.start_daemon()
        request = b"GET /api/v1/events HTTP/1.1\r\n" + HOST + b"\r\n"
        for _ in range(50):
            held = []
            for _ in range(4):
                s = connect(rig)
                s.sendall(request)
                assert s.recv(4096).startswith(b"HTTP/1.1 200"), "a listener was refused"
                held.append(s)
            for s in held:
                s.close()
        rig.stop_daemon()


with Rig() as rig:
    rig.start_daemon()
    strict(rig)
    slow_heads(rig)
    slow_bodies(rig)
    sizes(rig)
    crowd(rig)
    metrics = rig.fetch("/metrics")
    hung_up = [line for line in metrics.split("\n") if line.startswith("tandem_http_hung_up_total ")]
    assert float(hung_up[0].split()[1]) > 1000, hung_up
    rig.stop_daemon()
all_places()
listeners()
places_of_listeners()
print("http_limits: others are served as ever")
