"""Attacks over HTTP, one function each. TANDEM_SEED repeats the random ones."""
import concurrent.futures
import itertools
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import time

from fault_code import says
from raw_http import Answer, ask, connect, receive
from rig import Rig
from waiting import limit_s, pass_time

TOKEN = "secret-of-the-test"
COMMAND = b'{"op":"go","displacement_m":0.1}'
WRITE = "/api/v1/pairs/r1/commands"


def is_guarded(answer):
    """No browser interprets the answer as another type, and no other site may read it."""
    assert answer.headers["x-content-type-options"] == "nosniff", answer.raw
    assert answer.headers["cross-origin-resource-policy"] == "same-origin", answer.raw
    assert not [name for name in answer.headers if name.startswith("access-control")], answer.raw
    assert "set-cookie" not in answer.headers, answer.raw


def path_traversal(rig):
    ups = ["../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..%5c", "..\\", "....//", "..;/", "%252e%252e%252f", "..%c0%af"]
    ends = ["etc/passwd", "token", "lab.yaml", "store.db", "proc/self/environ"]
    starts = ["/", "/page/", "/api/v1/pairs/", "/api/v1/pairs/r1/", "/api/v1/identify/"]
    for start in starts:
        for up in ups:
            for end in ends:
                answer = ask(rig, start + 6 * up + end)
                assert answer.status in (400, 404), (start, up, end, answer.raw)
                answer.problem()
                is_guarded(answer)
                for secret in (b"root:", TOKEN.encode(), b"token_file", b"SQLite format"):
                    assert secret not in answer.raw.replace(end.encode(), b""), answer.raw
    for target in ("/page/" + str(rig.folder) + "/token", "//etc/passwd", "/page//etc/passwd", "/page/token%00.js",
                   "http://localhost/etc/passwd", "file:///etc/passwd", "*", "?", "/page/.", "/page/.."):
        assert ask(rig, target).status in (400, 404), target


def random_requests(rig, draw):
    """Hundreds of malformed requests: each gets a client error, or the daemon hangs up."""
    good = [b"GET /api/v1/pairs/r1/entries?limit=5&order=oldest HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv;q=0.5\r\n",
            b"GET /api/v1/pairs/r1/series?points=7&since=5 HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"abc\", *\r\n",
            b"GET /api/v1/events?pair=r1&type=nothing HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 1.2.3.4.5\r\n",
            b"POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\nContent-Length: 3\r\n",
            b"GET /page/main.js HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip;q=1, *\r\n"]
    bits = [b"\x00", b"\xff", b"%", b"%00", b"%n", b"\r", b"\n", b"\r\n ", b":", b";", b"'", b'"', b"<", b"&", b"=", b"9" * 40,
            b"A" * 5000, b"../", b"?", b"#", b" ", b"\t", b",", b"\xe2\x80\xae", b"HTTP/9.9", b"Transfer-Encoding: chunked\r\n",
            b"?" + b"a&" * 400, b"X: y\r\n" * 600, b"\r\n\tfolded",
            b"Content-Length: -1\r\n", b"Content-Length: 18446744073709551616\r\n", b"Expect: 100-continue\r\n"]
    texts = []
    for _ in range(800):
        text = bytearray(draw.choice(good) + b"Connection: close\r\n\r\n{}x")
        for _ in range(draw.randint(1, 6)):
            at = draw.randrange(len(text))
            kind = draw.randrange(3)
            if kind == 0:
                text[at:at] = draw.choice(bits)
            elif kind == 1:
                del text[at:at + draw.randint(1, 20)]
            else:
                text[at] = draw.randrange(256)
        texts.append(bytes(text))

    def try_one(text):
        with connect(rig) as s:
            s.settimeout(1)  # many are incomplete requests, and the daemon would wait for the rest
            try:
                s.sendall(text)
            except OSError:
                pass
            return receive(s).status

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(try_one, texts))
    for text, status in zip(texts, found):
        assert status < 500 or status in (501, 505), (status, text)
    assert sum(400 <= status < 500 for status in found) > 200, found


def oversized(rig):
    token = f"Authorization: Bearer {TOKEN}"
    answer = ask(rig, "/" + "a" * 600)
    assert answer.status == 414 and answer.problem() == "url-too-long", answer.raw
    assert ask(rig, "/", headers=["X-Long: " + "a" * 100000]).status in (0, 400, 413, 431)
    assert ask(rig, "/", headers=[f"X-{i}: a" for i in range(5000)]).status in (0, 400, 413, 431)
    assert ask(rig, WRITE, "POST", [token], b"{" + b" " * 10_000_000 + b"}").status in (0, 413)
    for length in ("-5", "99999999999999999999", "0x10", "1, 2", "abc"):
        assert ask(rig, WRITE, "POST", [token, f"Content-Length: {length}"]).status in (0, 400, 413), length
    # Nests deeper than any command.
    assert ask(rig, WRITE, "POST", [token], b'{"op":' + b"[" * 120 + b"]" * 120 + b"}").status == 400


def slow(rig):
    """Clients that send slowly block nobody, and the daemon hangs up on them."""
    head = f"POST {WRITE} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    slow_ones = []
    for i in range(24):
        s = connect(rig)
        s.sendall(head + (b"Content-Length: 30\r\n\r\n{" if i % 2 else b"X-Slow: "))
        slow_ones.append(s)
    began = time.monotonic()
    ended = [False] * len(slow_ones)
    while not all(ended) and time.monotonic() - began < 30:
        asked = time.monotonic()
        assert ask(rig, "/healthz").status == 200
        assert time.monotonic() - asked < 5
        for i, s in enumerate(slow_ones):
            try:
                s.settimeout(0.02)
                s.sendall(b"a" if time.monotonic() - began < 8 else b"")
                ended[i] = ended[i] or s.recv(4096) == b""
            except socket.timeout:
                pass
            except OSError:
                ended[i] = True
        pass_time(0.5)
    assert all(ended), ended
    for s in slow_ones:
        s.close()


def tokens(rig):
    """Only the whole token in its header permits writing."""
    wrong = [[], ["Authorization: Bearer"], ["Authorization: Bearer "], [f"Authorization: {TOKEN}"],
             [f"Authorization: Basic {TOKEN}"], [f"Authorization: Bearer {TOKEN[:-1]}"],
             [f"Authorization: Bearer {TOKEN}x"], [f"Authorization: Bearer {TOKEN}{TOKEN}"],
             [f"Authorization: Bearer {TOKEN.upper()}"], [f"Authorization: Bearer \"{TOKEN}\""],
             [f"Cookie: token={TOKEN}; Authorization=Bearer {TOKEN}"], [f"X-Authorization: Bearer {TOKEN}"],
             ["Authorization: Bearer wrong"]]
    writes = [("POST", WRITE), ("POST", "/api/v1/pairs/r1/parameters/promote"), ("PUT", "/api/v1/pairs/r1/following"),
              ("POST", "/api/v1/identify?model=usv3"), ("DELETE", "/api/v1/identify/1")]
    sources = (f"127.0.3.{k // 9 + 1}" for k in itertools.count())  # nine of each are allowed without a delay
    for method, target in writes:
        for headers in wrong:
            answer = ask(rig, target, method, headers, COMMAND, source=next(sources))
            assert answer.status == 401 and answer.problem() == "unauthorized", (method, target, headers, answer.raw)
            assert answer.headers["www-authenticate"].startswith("Bearer"), answer.raw
            assert TOKEN.encode() not in answer.raw
    for target in (f"{WRITE}?token={TOKEN}", f"{WRITE}?access_token={TOKEN}"):
        assert ask(rig, target, "POST", body=COMMAND).status == 401
    assert ask(rig, WRITE, "POST", [f"Authorization: bearer {TOKEN}"], COMMAND).status == 202


def guesses(rig):
    """After ten wrong tokens an address must wait; the right token need not, nor must other addresses."""
    wrong, right = ["Authorization: Bearer wrong"], [f"Authorization: Bearer {TOKEN}"]
    source = "127.0.4.1"
    for _ in range(10):
        assert ask(rig, WRITE, "POST", wrong, COMMAND, source=source).status == 401
    for wait_s in (1, 2, 4):
        answer = ask(rig, WRITE, "POST", wrong, COMMAND, source=source)
        assert answer.status == 429 and answer.problem() == "too-many-tokens", answer.raw
        assert 1 <= int(answer.headers["retry-after"]) <= wait_s, answer.raw
        assert ask(rig, WRITE, "POST", right, COMMAND, source=source).status == 202, "a proxy's other clients"
        assert ask(rig, WRITE, "POST", wrong, COMMAND, source="127.0.4.2").status == 401, "another address"
        assert ask(rig, WRITE, "POST", [], COMMAND, source=source).status == 401, "none is no guess"
        assert ask(rig, "/api/v1/pairs", headers=wrong, source=source).status == 200, "reading here needs none"
        pass_time(wait_s + 0.1)
        assert ask(rig, WRITE, "POST", wrong, COMMAND, source=source).status == 401
    assert 'tandem_http_refused_total{reason="guesses"} 3\n' in rig.fetch("/metrics")


def other_sites(rig):
    """Requests that the page of another site can make a browser send."""
    site = ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors",
            "Referer: https://evil.example/", "Cookie: a=b"]
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"):
        answer = ask(rig, WRITE, "POST", [*site, f"Content-Type: {media_type}"], COMMAND)
        assert answer.status == 401, answer.raw
        is_guarded(answer)
    answer = ask(rig, WRITE, "OPTIONS", [*site, "Access-Control-Request-Method: POST",
                                         "Access-Control-Request-Headers: authorization"])
    assert answer.status == 405, answer.raw
    is_guarded(answer)
    for target in ("/", "/api/v1/pairs", "/metrics", "/api/v1/openapi.json"):
        answer = ask(rig, target, headers=site)
        assert answer.status == 200, answer.raw
        is_guarded(answer)


def hosts(rig):
    """A foreign name that resolves to this address."""
    for host in ("evil.example", "evil.example:8420", "localhost.evil.example", "127.0.0.1.evil.example"):
        for target in ("/", "/api/v1/pairs", "/api/v1/events", "/healthz"):
            answer = ask(rig, target, host=host)
            assert answer.status == 421 and answer.problem() == "wrong-host", (host, target, answer.raw)
            is_guarded(answer)


def markup(rig):
    """A robot's text comes out as data: never as a page, and unchanged."""
    evil = "</script><script>alert(1)</script>\"'&"
    rig.publish("tandem/v1/r1/command", {"id": evil[:20], "op": "go", "displacement_m": 0.1})
    for side in ("real", "virtual"):
        rig.publish(f"tandem/v1/r1/{side}/reply", {"id": evil[:20], "status": "done"})
    rig.publish("tandem/v1/r1/real/reply", {"id": "<img src=x>", "status": "done"})
    rig.publish("tandem/v1/r1/real/connection", {"state": "<b>online</b>"})
    rig.wait(lambda: evil[:20] in [json.loads(e)["id"] for e in rig.records("r1", "entries")], "the entry")
    rig.wait(lambda: rig.records("r1", "alarms"), "an alarm")
    for target, kind in (("/api/v1/pairs/r1/entries", "application/json"), ("/api/v1/pairs/r1/alarms", "application/json"),
                         ("/api/v1/pairs/r1/entries?format=csv", "text/csv"), ("/metrics", "text/plain"),
                         ("/api/v1/pairs/r1/machines", "application/json")):
        answer = ask(rig, target)
        assert answer.headers["content-type"].startswith(kind), answer.raw
        is_guarded(answer)
    # Input reflected in an error: in a path, a parameter, a header.
    for target in ("/%3Cscript%3Ealert(1)%3C/script%3E", "/api/v1/pairs/%3Cb%3E", "/api/v1/pairs?%3Cscript%3E=1",
                   "/api/v1/pairs/r1/entries?limit=%3Cscript%3E", "/<script>", "/api/v1/pairs/r1/alarms?type=<b>"):
        answer = ask(rig, target)
        assert answer.status in (400, 404), answer.raw
        answer.problem()
        is_guarded(answer)
    page = ask(rig, "/")
    assert "default-src" in page.headers["content-security-policy"], page.raw


def wait_log(rig):
    log = rig.daemon_log.read_text(errors="replace")
    lines = [line for line in log.split("\n") if " http_refused: " in line]
    assert any("127.0.0.1: wrong or missing token: " + WRITE in line for line in lines), lines
    assert any("Host is no name of this server: evil.example" in line for line in lines), lines
    assert any("more)" in line for line in lines), "the rate is limited"
    assert "\x1b" not in log and TOKEN not in log
    seconds = [line[:19] for line in lines]
    assert max(seconds.count(second) for second in seconds) <= 4, seconds


def limits():
    with Rig() as rig:
        # The number of requests that a page of a thousand pairs may send at once.
        rig.start_daemon()
        with connect(rig) as s:
            s.sendall(b"GET /api/v1/pairs/r1 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1199 +
                      b"GET /api/v1/pairs/r1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            raw = receive(s).raw
        assert raw.count(b"HTTP/1.1 200 OK") == 1200, raw.count(b"HTTP/1.1 429")
        rig.stop_daemon()
        rig.lab.write_text(rig.lab.read_text().replace("http: {", "http: {client_requests_per_s: 5, client_connections_max: 4, "))
        rig.daemon = rig.run([os.environ["TANDEM"], "serve", "-c", rig.lab], stderr=open(rig.daemon_log, "a"))
        rig.wait(lambda: socket.socket().connect_ex(("127.0.0.1", rig.http_port)) == 0, "the daemon listens")
        # All at once: a slow machine also answers them within the time in which as many more are allowed.
        with connect(rig) as s:
            s.sendall(b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n" * 60)
            answers = [Answer(b"HTTP/1.1 " + raw) for raw in receive(s).raw.split(b"HTTP/1.1 ")[1:]]
        refused = answers.pop()
        assert len(answers) >= 25 and {a.status for a in answers} == {200}, [a.status for a in answers]
        assert refused.problem() == "too-many-requests" and int(refused.headers["retry-after"]) >= 1, refused.raw
        assert ask(rig, "/healthz").status == 200, "a supervisor sees that it lives"
        pass_time(1.5)
        assert ask(rig, "/api/v1/status").status == 200
        held = []

        def hold_place():
            """Earlier clients may hold their connections a moment longer; a refused client gets its answer and is
            hung up on.
            """
            s = connect(rig)
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            said = Answer(s.recv(4096))
            assert said.status == 200, said.raw
            if said.headers.get("connection", "").lower() != "close":
                held.append(s)
            return len(held) == 4

        rig.wait(hold_place, "the address has its connections")
        answer = ask(rig, "/api/v1/status")
        assert answer.problem() == "too-many-connections", answer.raw
        assert ask(rig, "/healthz").status == 200
        for s in held:
            s.close()
        rig.wait(lambda: ask(rig, "/api/v1/status").status == 200, "there is room again")
        rig.stop_daemon()


def make_certificate(rig, name, kind=("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
    subprocess.run(["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", rig.folder / f"{name}.key", "-out", rig.folder / f"{name}.pem"], check=True, capture_output=True)


def try_cipher(rig, cipher):
    """Whether the server accepts it in TLS 1.2."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    client.set_ciphers(cipher + ":@SECLEVEL=0")
    try:
        with connect(rig) as s, client.wrap_socket(s) as t:
            return t.cipher()[0] == cipher
    except (ssl.SSLError, ConnectionError):
        return False


def renewal(rig, shown):
    """A renewed certificate is used after a reload; an invalid one leaves the old one in use. The key becomes an RSA
    key.
    """
    files = {name: (rig.folder / name).read_text() for name in ("a.pem", "b.pem", "a.key", "b.key")}

    def reload(words):
        before = rig.daemon_log.read_text().count(words)
        rig.daemon.send_signal(signal.SIGHUP)
        rig.wait(lambda: rig.daemon_log.read_text().count(words) > before, words)

    def certificate(name):
        return files[name].strip()

    assert shown() == certificate("a.pem")
    held = ssl.create_default_context(cafile=rig.folder / "a.pem").wrap_socket(connect(rig), server_hostname="localhost")
    (rig.folder / "a.pem").write_text(files["b.pem"])
    reload("the certificate is the one before")  # of another key
    assert shown() == certificate("a.pem")
    (rig.folder / "a.key").write_text(files["b.key"])
    reload("a.pem is shown now")
    assert shown() == certificate("b.pem")
    (rig.folder / "a.pem").unlink()
    reload("cannot be read")
    assert shown() == certificate("b.pem")
    make_certificate(rig, "a", ["rsa:2048"])
    reload("a.pem is shown now")
    assert shown() == (rig.folder / "a.pem").read_text().strip()
    # With an RSA key, too, no cipher without forward secrecy is accepted.
    assert try_cipher(rig, "ECDHE-RSA-AES256-GCM-SHA384")
    assert not try_cipher(rig, "AES128-GCM-SHA256") and not try_cipher(rig, "AES256-SHA256"), "no forward secrecy"
    held.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert receive(held).status == 200, "connections go on"
    held.close()


def tls():
    with Rig() as rig:
        make_certificate(rig, "a")
        make_certificate(rig, "b")
        plain = rig.lab.read_text()

        def lab(certificate, key):
            rig.lab.write_text(plain.replace("http: {", f"http: {{tls_certificate: {rig.folder}/{certificate}, tls_key: {rig.folder}/{key}, "))

        for certificate, key, words, code in (("a.pem", "b.key", "b.key", "bad_certificate"),
                                        ("no.pem", "a.key", "no.pem: http.tls_certificate ", "file_unreadable"),
                                        ("a.pem", "no.key", "no.key: http.tls_key ", "file_unreadable"),
                                        ("token", "a.key", "token: ", "bad_certificate")):
            lab(certificate, key)
            done = subprocess.run([os.environ["TANDEM"], "serve", "-c", rig.lab], capture_output=True, text=True, timeout=limit_s(60))
            assert done.returncode == 2 and words in done.stderr and says(code, done.stderr), (done.returncode, done.stderr)
        rig.lab.write_text(plain.replace("http: {", f"http: {{tls_key: {rig.folder}/a.key, "))
        done = subprocess.run([os.environ["TANDEM"], "serve", "-c", rig.lab], capture_output=True, text=True, timeout=limit_s(60))
        assert done.returncode == 2 and says("needs_key", done.stderr) and "http.tls_key" in done.stderr, done.stderr

        lab("a.pem", "a.key")
        context = ssl.create_default_context(cafile=rig.folder / "a.pem")

        def secure(request):
            with connect(rig) as s, context.wrap_socket(s, server_hostname="localhost") as t:
                t.sendall(request)
                return t.version(), receive(t)

        def get(target):
            return secure(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())

        def shown():
            return ssl.get_server_certificate(("127.0.0.1", rig.http_port)).strip()

        def ready():
            try:
                return get("/readyz")[1].status == 200
            except OSError:
                return False

        rig.daemon_log = rig.folder / "daemon.log"
        rig.daemon = rig.run([os.environ["TANDEM"], "serve", "-c", rig.lab], stderr=open(rig.daemon_log, "a"))
        rig.wait(ready, "HTTPS answers", 20)
        version, answer = get("/api/v1/pairs")
        assert version == "TLSv1.3" and answer.status == 200, (version, answer.raw)
        assert f"https://127.0.0.1:{rig.http_port}" in rig.daemon_log.read_text()
        assert ask(rig, "/api/v1/pairs").status == 0, "plain HTTP is not answered"
        # Events are served over TLS, too.
        with connect(rig) as s, context.wrap_socket(s, server_hostname="localhost") as t:
            t.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = t.recv(4096)
            rig.publish("tandem/v1/r1/command", {"id": "c1", "op": "go", "displacement_m": 0.1})
            for side in ("real", "virtual"):
                rig.publish(f"tandem/v1/r1/{side}/reply", {"id": "c1", "status": "done"})
            while b"event: entry" not in received:
                part = t.recv(65536)
                assert part, received
                received += part
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname = False
        old.verify_mode = ssl.CERT_NONE
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        try:
            with connect(rig) as s, old.wrap_socket(s):
                raise AssertionError("TLS 1.1 was accepted")
        except ssl.SSLError as refused:
            assert "NO_PROTOCOLS" not in str(refused), "this client itself does not speak it"
        assert try_cipher(rig, "ECDHE-ECDSA-AES128-GCM-SHA256") and try_cipher(rig, "ECDHE-ECDSA-CHACHA20-POLY1305")
        assert not try_cipher(rig, "ECDHE-ECDSA-AES128-SHA256") and not try_cipher(rig, "ECDHE-ECDSA-AES256-SHA"), "no AEAD"
        renewal(rig, shown)
        rig.stop_daemon()


def beyond_loopback():
    with Rig() as rig:
        text = rig.lab.read_text().replace(f", token_file: {rig.folder}/token", ", bind: 0.0.0.0")
        rig.lab.write_text(text)
        done = subprocess.run([os.environ["TANDEM"], "serve", "-c", rig.lab], capture_output=True, text=True, timeout=limit_s(60))
        assert done.returncode == 2 and says("unsafe_address", done.stderr) and "0.0.0.0" in done.stderr, done.stderr


seed = int(os.environ.get("TANDEM_SEED", "1"))
with Rig() as rig:
    rig.lab.write_text(rig.lab.read_text().replace("http: {", "http: {client_requests_per_s: 0, "))
    rig.start_daemon()
    tokens(rig)
    guesses(rig)
    pass_time(1.1)  # the log writes this number a second, and then counts what it left out
    hosts(rig)
    pass_time(1.1)
    other_sites(rig)
    wait_log(rig)
    path_traversal(rig)
    oversized(rig)
    markup(rig)
    random_requests(rig, random.Random(seed))
    slow(rig)
    assert ask(rig, "/readyz").status == 200, "it is as well as before"
    rig.stop_daemon()
limits()
tls()
beyond_loopback()
print("security: nothing got in")
