"""unit.py ROOT first|again: run the installed tandem.service of a chroot without systemd.

Applies the lines of the unit that work without it: user, group, directory, umask, no capabilities, no new
privileges, notify socket and watchdog; its commands run as written. Runs in a network of its own.
"""
import fcntl
import json
import os
import pathlib
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(sys.argv[1])
COMMANDS = 3  # of a run
PROCESSES = []


def bring_up_loopback():
    with socket.socket() as s:
        request = struct.pack("16sH14s", b"lo", 0x41, b"")  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(s, 0x8914, request)  # SIOCSIFFLAGS


def read_unit(path):
    """key -> values, of all sections."""
    unit = {}
    for line in path.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            unit.setdefault(key, []).append(value)
    return unit


def wait(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


class Notified:
    """The notify socket, and the messages that came on it."""

    def __init__(self):
        path = ROOT / "run/notify"
        path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        path.chmod(0o666)
        self.socket.setblocking(False)
        self.messages = []

    def has(self, start, after=0):
        try:
            while True:
                self.messages.append(self.socket.recv(4096).decode())
        except BlockingIOError:
            pass
        return any(m.startswith(start) for m in self.messages[after:])


def start(command, *, as_user=None, env=None, cwd="/", **options):
    """Runs in the chroot; as_user: with only the user's rights."""
    clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **(env or {})}
    before = ["chroot", str(ROOT), "/usr/bin/env", "-i", "-C", cwd, *(f"{k}={v}" for k, v in clean.items())]
    if as_user:
        before += ["setpriv", "--reuid", as_user, "--regid", as_user, "--clear-groups", "--no-new-privs",
                   "--inh-caps=-all", "--bounding-set=-all"]
    process = subprocess.Popen(before + command, **options)
    PROCESSES.append(process)
    return process


def get(path):
    with urllib.request.urlopen("http://127.0.0.1:8420" + path, timeout=10) as answer:
        return json.loads(answer.read())


def answers(path):
    try:
        get(path)
        return True
    except OSError:
        return False


def entries():
    return get("/api/v1/pairs/r1/entries")["entries"]


def check_process(pid, unit):
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    uid = next(line.split(":")[2] for line in (ROOT / "etc/passwd").read_text().splitlines()
               if line.startswith(unit["User"][0] + ":"))
    assert status["Uid"].split() == [uid] * 4 and uid != "0", status["Uid"]
    assert int(status["CapBnd"], 16) == 0 and int(status["CapEff"], 16) == 0 and status["NoNewPrivs"] == "1"


def drive(count):
    robots = [start(["tandem", "robot", "--pair", "r1", "--side", side], stdout=subprocess.DEVNULL) for side in ("real", "virtual")]
    wait(lambda: all(get("/api/v1/pairs/r1")[side]["connection"] == "online" for side in ("real", "virtual")), "both robots")
    had = len(entries())
    driver = start(["tandem", "drive", "--pair", "r1", "--count", str(count), "--interval", "0", "--turn-max", "0.4",
                    "--drive-max", "0.2"], stdout=subprocess.DEVNULL)
    assert driver.wait(60) == 0
    wait(lambda: len(entries()) == had + count, "the verdicts")
    for robot in robots:
        robot.send_signal(signal.SIGTERM)
        assert robot.wait(20) == 0


def main():
    first = sys.argv[2] == "first"
    bring_up_loopback()
    os.umask(0o027)
    unit = read_unit(ROOT / "lib/systemd/system/tandem.service")
    user, cwd = unit["User"][0], unit["WorkingDirectory"][0]
    assert unit["Type"] == ["notify"] and unit["UMask"] == ["0027"]
    start(["mosquitto", "-c", "/usr/share/doc/tandem/examples/mosquitto.conf"], stderr=subprocess.DEVNULL)
    for line in unit["ExecStartPre"]:
        assert start(line.split(), as_user=user, cwd=cwd, stdout=subprocess.DEVNULL).wait(20) == 0, line
    notified = Notified()
    log = open(ROOT / "root/daemon.log", "a")
    daemon = start(unit["ExecStart"][0].split(), as_user=user, cwd=cwd, stderr=log, stdout=subprocess.DEVNULL,
                   env={"NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "1000000"})
    wait(lambda: notified.has("READY=1"), "ready")
    wait(lambda: notified.has("STATUS=1 pairs, all parts work"), "all parts work")
    wait(lambda: answers("/readyz"), "/readyz reports it, too")
    check_process(daemon.pid, unit)
    assert [pair["id"] for pair in get("/api/v1/pairs")["pairs"]] == ["r1"]
    assert "/api/v1/pairs" in get("/api/v1/openapi.json")["paths"]
    assert len(entries()) == (0 if first else COMMANDS), "the entries of the run before"
    drive(COMMANDS)
    wait(lambda: notified.has("WATCHDOG=1"), "signs of life")
    before = len(notified.messages)
    for line in unit["ExecReload"]:
        command = shlex.split(line.replace("$MAINPID", str(daemon.pid)))
        assert start(command, stdout=subprocess.DEVNULL).wait(20) == 0, line
    wait(lambda: notified.has("RELOADING=1", before) and notified.has("READY=1", before), "reloaded")
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(30) == 0 and notified.has("STOPPING=1")
    found = sorted(p.name for p in (ROOT / cwd.lstrip("/")).iterdir())
    assert {"journal", "tandem.checkpoint", "tandem.db"} <= set(found), found
    open_to_all = [p for p in (ROOT / cwd.lstrip("/")).rglob("*") if p.stat().st_mode & 0o007]
    assert not open_to_all, open_to_all
    print(f"   ready, {len(notified.messages)} messages to the supervisor, {COMMANDS} verdicts, reloaded, stopped; kept: {' '.join(found)}")


try:
    main()
except Exception:
    print((ROOT / "root/daemon.log").read_text(), file=sys.stderr)
    raise
finally:
    for process in PROCESSES:
        if process.poll() is None:
            process.kill()
            process.wait()
    (ROOT / "run/notify").unlink(missing_ok=True)
