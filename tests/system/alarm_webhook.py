"""alarm_webhook.py: see alarm_webhook.sh."""
import hashlib
import hmac
import http.server
import json
import re
import signal
import threading
import time

from mqtt import Client
from rig import Rig, free_port
from waiting import limit_s, pass_time

KEY = "the-key-of-the-receiver"
PATH = "/hooks/a-secret-path"
STORM = 1200  # alarms while nobody listens: 20 at once a type, so from many pairs
PAIRS = 80


class Receiver(http.server.BaseHTTPRequestHandler):
    key = KEY
    answers = []  # what the next requests get: a status, "hang" or "close"; 204 when none is left
    seen = []     # (answer, time, body) of each request that had a valid signature
    strange = []  # requests without one, or to another path

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        stamp = self.headers["Tandem-Time"]
        wanted = "sha256=" + hmac.new(Receiver.key.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        answer = Receiver.answers.pop(0) if Receiver.answers else 204
        if self.path == PATH and self.headers["Tandem-Signature"] == wanted:
            Receiver.seen.append((answer, int(stamp), json.loads(body)))
        else:
            Receiver.strange.append((self.path, dict(self.headers)))
        if answer == "hang":
            pass_time(8)
        if isinstance(answer, int):
            self.send_response(answer)
            if answer == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.close_connection = True

    def do_GET(self):
        Receiver.strange.append((self.path, "GET"))
        self.send_error(404)

    def log_message(self, *_):
        pass


def listen(port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def make_rig(port):
    rig = Rig(pairs="\n  ".join(f"r{k}: {{}}" for k in range(1, PAIRS + 1)))
    (rig.folder / "key").write_text(KEY + "\n")
    (rig.folder / "key").chmod(0o600)
    rig.lab.write_text(f"alarms: {{webhook: {{url: 'http://127.0.0.1:{port}{PATH}', key_file: {rig.folder}/key}}}}\n"
                       + rig.lab.read_text())
    return rig


def raise_alarm(rig, pair, name):
    rig.publish(f"tandem/v1/{pair}/real/reply", {"id": name, "status": "done"})


def metric(rig, name):
    return float(re.search(rf"^tandem_webhook_{name} (\S+)$", rig.fetch("/metrics"), re.M)[1])


def wait_delivered(rig, count):
    rig.wait(lambda: metric(rig, "delivered_total") == count and metric(rig, "waiting_alarms") == 0,
             f"{count} alarms are delivered", 30)


def check_answers(rig):
    """Each failure is tried again, with pauses that grow; a redirect is not followed, a refusal is final."""
    raise_alarm(rig, "r1", "plain")
    wait_delivered(rig, 1)
    _, stamp, body = Receiver.seen[0]
    alarm, = rig.get("/api/v1/pairs/r1/alarms")["alarms"]
    assert body == alarm and abs(time.time() - stamp) < 60, (body, alarm, stamp)
    for count, (answers, least) in enumerate((([500, 302, 429], (0, 1, 3)), (["close", "hang"], (0, 6))), 2):
        Receiver.answers[:] = answers
        before = len(Receiver.seen)
        raise_alarm(rig, "r2", f"hard{count}")
        wait_delivered(rig, count)
        tried = Receiver.seen[before:]
        assert [answer for answer, *_ in tried] == answers + [204], tried
        assert all(body["id"] == f"hard{count}" for _, _, body in tried), tried
        times = [stamp for _, stamp, _ in tried]
        pauses = [later - earlier for earlier, later in zip(times, times[1:])]  # of times in whole seconds
        assert all(pause >= wanted for pause, wanted in zip(pauses, least)), pauses
    Receiver.answers[:] = [400]
    raise_alarm(rig, "r3", "refused")
    rig.wait(lambda: metric(rig, "dropped_total") == 1, "the refused alarm is dropped")
    raise_alarm(rig, "r4", "next")
    wait_delivered(rig, 4)
    assert metric(rig, "failures_total") == 6 and not Receiver.strange, (metric(rig, "failures_total"), Receiver.strange)


def check_room(rig, server, port):
    """While nobody listens 1000 alarms wait, besides the one on its way; the oldest others are dropped."""
    server.shutdown()
    server.server_close()
    before = len(Receiver.seen)
    client = Client(rig.broker_port, "storm")
    for k in range(STORM):
        client.publish(f"tandem/v1/r{k % PAIRS + 1}/real/reply", json.dumps({"id": f"s{k}", "status": "done"}))
    rig.wait(lambda: client.waiting() == 0, "the broker has all of them", 60)
    client.end()
    rig.wait(lambda: metric(rig, "waiting_alarms") == 1001, "1001 alarms wait", 60)
    rig.wait(lambda: metric(rig, "dropped_total") == STORM - 1000, "the others were dropped", 60)
    again = listen(port)
    wait_delivered(rig, 5 + 1001)
    names = [body["id"] for _, _, body in Receiver.seen[before:]]
    assert names[0] == "s0" and names[1:] == [f"s{k}" for k in range(STORM - 1000, STORM)], names[:5]
    return again


def check_key(rig):
    """A reload takes another key and says so; a key that can be guessed is refused."""
    def reload(key, words):
        (rig.folder / "key").write_text(key + "\n")
        rig.daemon.send_signal(signal.SIGHUP)
        rig.wait(lambda: words in rig.daemon_log.read_text(), words)

    before = len(Receiver.seen)
    reload("short", "5 characters can be guessed")
    Receiver.key = "another-key-of-the-receiver"
    reload(Receiver.key, "key signs alarms now")
    raise_alarm(rig, "r6", "signed")
    rig.wait(lambda: len(Receiver.seen) == before + 1, "an alarm with the new key")
    assert not Receiver.strange, Receiver.strange


def check_last(rig, server, port):
    """Alarms that wait for the next attempt when the daemon ends are sent once more."""
    before = len(Receiver.seen)
    server.shutdown()
    server.server_close()
    tried = metric(rig, "failures_total")
    for name in ("wait1", "wait2"):
        raise_alarm(rig, "r7", name)
    rig.wait(lambda: metric(rig, "failures_total") >= tried + 3 and metric(rig, "waiting_alarms") == 2,
             "the next attempt is 4 s away")
    again = listen(port)
    rig.stop_daemon()
    assert {body["id"] for _, _, body in Receiver.seen[before:]} == {"wait1", "wait2"}, Receiver.seen[before:]
    assert "were not delivered" not in rig.daemon_log.read_text()
    rig.start_daemon()
    return again


def check_end(rig, server):
    """A receiver that hangs does not delay the end, and the log says what was not delivered."""
    Receiver.answers[:] = ["hang"]
    before = len(Receiver.seen)
    raise_alarm(rig, "r5", "last")
    rig.wait(lambda: len(Receiver.seen) > before, "the request has arrived")
    log = rig.daemon_log
    begin = time.monotonic()
    rig.stop_daemon()
    assert time.monotonic() - begin < limit_s(5), "the daemon waited for the receiver"
    text = log.read_text()
    assert "1 alarms were not delivered, 0 were dropped before" in text and "302, 2xx was expected; again in 2 s" in text, text
    for secret in (KEY, PATH, "a-secret-path"):
        assert secret not in text, secret
    server.shutdown()


def main():
    port = free_port()
    server = listen(port)
    with make_rig(port) as rig:
        rig.start_daemon()
        check_answers(rig)
        report = rig.fetch("/api/v1/pairs/r1/report")
        assert KEY not in report and "a-secret-path" not in report and str(rig.folder / "key") not in report
        check_key(rig)
        server = check_room(rig, server, port)
        check_end(rig, check_last(rig, server, port))


if __name__ == "__main__":
    main()
