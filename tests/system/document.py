#!/usr/bin/env python3
# needs: virtual time
"""document.py FILE.md: the commands of a document work in their order, from a fresh checkout.

Every block fenced as sh runs as written, in one shell that starts in a copy of the source tree and ends at the
first command that fails. A fence with more words (```sh as root on a machine with systemd) does not run; the words
are the reason, and the test prints them. A block fenced as text directly after one that runs shows its output:
each word of it must occur there, figures may differ. The copy has the program under test at build/tandem, where
./run puts it, and a cmake that builds nothing. Each document has its own network and home: ports are free, and
what it starts in the background ends with it.
"""
import ctypes
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/support"))
from waiting import limit_s  # noqa: E402

NOT_COPIED = ("build", ".git", ".cache", "__pycache__")
LIMIT_S = 600
WORD = re.compile(r"[A-Za-z_]{3,}")
FENCE = re.compile(r"^```(\S*) *([^\n]*)\n(.*?)^```$", re.M | re.S)
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1


def read_blocks(text):
    """[(commands, words that they must print)]; blocks that do not run are printed."""
    blocks, behind = [], False
    for language, words, body in FENCE.findall(text):
        if language == "sh" and words:
            print(f"not run, {words}: {body.splitlines()[0]}")
        elif language == "sh":
            blocks.append([body, set()])
        elif language == "text" and behind:
            blocks[-1][1] |= set(WORD.findall(body))
        behind = language == "sh" and not words
    return blocks


def enter_own_network():
    """Puts this process and all that it starts on a loopback of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    user = os.getuid()
    if libc.unshare(CLONE_NEWNET if user == 0 else CLONE_NEWUSER | CLONE_NEWNET) != 0:
        print(f"SKIPPED: no network of its own: {os.strerror(ctypes.get_errno())}")
        sys.exit(77)
    if user != 0:
        pathlib.Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def copy_checkout(scratch):
    checkout = scratch / "tandem"
    shutil.copytree(SOURCE, checkout, ignore=shutil.ignore_patterns(*NOT_COPIED))
    built = checkout / "build/run"
    built.mkdir(parents=True)
    (built / "tandem").symlink_to(os.environ["TANDEM"])
    (checkout / "build/tandem").symlink_to("run/tandem")
    stubs = scratch / "bin"
    stubs.mkdir()
    (stubs / "cmake").write_text("#!/bin/sh\n")
    (stubs / "cmake").chmod(0o755)
    return checkout, stubs


def run_blocks(blocks, scratch):
    checkout, stubs = copy_checkout(scratch)
    home = scratch / "home"
    home.mkdir()
    script = "set -e\n"
    for number, (body, _) in enumerate(blocks):
        script += f"printf '\\n@@ block {number}\\n'\n{body}"
    environment = {**os.environ, "HOME": str(home), "PATH": f"{stubs}:{os.environ['PATH']}", "TMPDIR": str(scratch)}
    output = scratch / "output"
    with open(output, "wb") as out:
        shell = subprocess.Popen(["bash", "-c", script], cwd=checkout, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = shell.wait(limit_s(LIMIT_S))
        except subprocess.TimeoutExpired:
            status = f"not ended after {LIMIT_S} s"
        finally:
            try:
                os.killpg(shell.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
    litter = subprocess.run(["find", checkout, "-newer", stubs / "cmake", "-type", "f", "-not", "-path", "*/build/*"],
                            check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return status, output.read_text(errors="replace"), litter


def main():
    blocks = read_blocks(pathlib.Path(sys.argv[1]).read_text())
    if not blocks:
        sys.exit(f"{sys.argv[1]}: nothing to run")
    enter_own_network()
    with tempfile.TemporaryDirectory(prefix="tandem-document-", ignore_cleanup_errors=True) as scratch:
        status, output, litter = run_blocks(blocks, pathlib.Path(scratch))
    faults = [] if status == 0 else [f"exit status {status}"]
    printed = re.split(r"^@@ block \d+\n", output, flags=re.M)[1:]
    for (body, words), part in zip(blocks, printed):
        if missing := sorted(words - set(WORD.findall(part))):
            faults.append(f"not printed by {body.splitlines()[0]!r}: {' '.join(missing)}")
    faults += [f"left in the checkout: {path}" for path in litter]
    if faults:
        sys.exit(output + "\n" + "\n".join(faults))
    print(f"{len(blocks)} blocks ran")


main()
