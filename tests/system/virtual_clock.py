"""The clock that system tests run on (tests/support/virtual_clock.c). The test starts itself on such a clock, once
for each of the parts below.
"""
import ctypes
import os
import pathlib
import queue
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from waiting import limit_s

CLOCK = os.environ["BUILD"] + "/tests/virtual_clock"
TURNS = 500        # of each of two players
BUSY_LOOPS = 20
BUSY_LOOPS_S = 120  # then they end by themselves
WAIT_S = 100


# Parts that run on a virtual clock.

def play():
    """A broker and two players, each a process: a message a second, to and fro."""
    from rig import Rig  # needs TANDEM, which the other parts do not
    with Rig() as rig:
        start = str(time.time_ns() // 10**9 + 10)
        players = [subprocess.Popen([sys.executable, __file__, "player", str(rig.broker_port), me, other, start],
                                    stdout=subprocess.PIPE) for me, other in ("ab", "ba")]
        for player in players:
            sys.stdout.write(player.communicate()[0].decode())
            assert player.returncode == 0


def player(port, me, other, start):
    """Prints when each ball came, in us since the start."""
    import mqtt
    came = queue.Queue()
    client = mqtt.Client(int(port), me, clean=True, topics=[me],
                         on_message=lambda *_: came.put(round(time.time_ns() / 1000) - int(start) * 10**6))
    time.sleep(int(start) - time.time())
    for turn in range(TURNS):
        if me == "b" or turn > 0:
            print(me, came.get(timeout=limit_s(60)))
        time.sleep(1)
        client.publish(other, "ball")
    if me == "a":
        print(me, came.get(timeout=limit_s(60)))
    time.sleep(1)
    client.end()


def wait_condition():
    libc = ctypes.CDLL(None)
    condition, mutex = (ctypes.c_long * 8)(), (ctypes.c_long * 8)()
    until = (ctypes.c_long * 2)(*divmod(time.time_ns() + WAIT_S * 10**9, 10**9))
    libc.pthread_mutex_lock(mutex)
    assert libc.pthread_cond_timedwait(condition, mutex, until) != 0


def wait_alarm():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.alarm(WAIT_S)
    signal.pause()


def wait_receive():
    one, other = socket.socketpair()
    one.settimeout(WAIT_S)
    try:
        one.recv(1)
        raise AssertionError("received what nobody sent")
    except socket.timeout:
        other.close()


def wait_poll():
    poll = select.poll()
    poll.register(os.pipe()[0])
    assert poll.poll(WAIT_S * 1000) == []


def wait_queue():
    try:
        queue.Queue().get(timeout=WAIT_S)
    except queue.Empty:
        pass


WAITS = {
    "clock_nanosleep": lambda: time.sleep(WAIT_S),
    "nanosleep in another program": lambda: subprocess.run(["sleep", str(WAIT_S)], check=True),
    "sem_clockwait": lambda: threading.Lock().acquire() and threading.Event().wait(WAIT_S),
    "a queue": wait_queue,
    "pthread_cond_timedwait": wait_condition,
    "select": lambda: select.select([os.pipe()[0]], [], [], WAIT_S),
    "poll": wait_poll,
    "epoll_wait": lambda: select.epoll().poll(WAIT_S),
    "a socket": wait_receive,
    "sigtimedwait": lambda: signal.sigtimedwait({signal.SIGUSR1}, WAIT_S),
    "alarm": wait_alarm,
}


def waits():
    """Every way to wait takes its time to the nanosecond on both clocks, and computing in between takes none."""
    start_ns, wall_ns = time.monotonic_ns(), time.time_ns()
    for n, (name, wait) in enumerate(WAITS.items(), 1):
        wait()
        used_ns = time.monotonic_ns() - start_ns
        # poll and epoll of Python round up to their own units
        assert 0 <= used_ns - n * WAIT_S * 10**9 < 10**6, (name, used_ns)
        assert time.time_ns() - wall_ns == used_ns, name


def busy():
    """A process that computes stops the time of one that sleeps."""
    sleeper = subprocess.Popen(["sleep", "0.1"])
    start_ns = time.monotonic_ns()
    while time.process_time() < 1:
        pass
    assert sleeper.poll() is None and time.monotonic_ns() == start_ns, "computing took time"
    assert sleeper.wait() == 0 and time.monotonic_ns() - start_ns <= 10**8


def starting():
    """Programs start and end, also in threads, while others sleep: it takes no time."""
    start_ns = time.monotonic_ns()
    sleeper = subprocess.Popen(["sleep", "0.001"])
    for _ in range(5):
        subprocess.run("true | cat | cat; python3 -c 'import threading as t; t.Thread(target=print).start()'",
                       shell=True, check=True, stdout=subprocess.DEVNULL)
    sleeper.wait()
    assert time.monotonic_ns() - start_ns <= 10**6, time.monotonic_ns() - start_ns


def killed():
    """Time continues without a process that was killed while it waited, and with one that is stopped."""
    sleepers = [subprocess.Popen(["sleep", "10"]) for _ in range(2)]
    time.sleep(1)
    sleepers[0].kill()
    sleepers[1].send_signal(signal.SIGSTOP)
    start_ns = time.monotonic_ns()
    time.sleep(WAIT_S)
    assert time.monotonic_ns() - start_ns == WAIT_S * 10**9
    assert sleepers[1].poll() is None
    sleepers[1].send_signal(signal.SIGCONT)
    assert sleepers[1].wait(1) == 0


def leak():
    """A sanitizer finds the same as without the clock."""
    if not shutil.which("cc"):
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cc", "-g", "-fsanitize=address,undefined", "-x", "c", "-", "-o", f"{folder}/leak"], check=True,
                       input=b"#include <stdlib.h>\n#include <unistd.h>\nstatic char *volatile p;\n"
                             b"int main(void) { p = malloc(77); p = NULL; usleep(1000); return 0; }\n")
        done = subprocess.run([f"{folder}/leak"], stderr=subprocess.PIPE, check=False)
    assert done.returncode != 0 and b"77 byte(s) leaked" in done.stderr, done


# The test, in real time.

def run(*part):
    """A part on a clock of its own: its output and the real time that it took."""
    start = time.monotonic()
    done = subprocess.run([CLOCK, sys.executable, __file__, *part], stdout=subprocess.PIPE, timeout=limit_s(600))
    assert done.returncode == 0, (part, done.returncode)
    return done.stdout.decode(), time.monotonic() - start


def main():
    for part in ("waits", "busy", "starting", "killed", "leak"):
        run(part)
    quiet, quiet_s = run("play")
    turns = [("a", turn) for turn in range(2, 2 * TURNS + 1, 2)] + [("b", turn) for turn in range(1, 2 * TURNS, 2)]
    assert quiet == "".join(f"{me} {turn * 10**6}\n" for me, turn in turns), quiet[:300]
    loop = f"import time\nend = time.monotonic() + {BUSY_LOOPS_S}\nwhile time.monotonic() < end: pass"
    loops = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(BUSY_LOOPS)]
    try:
        loaded, loaded_s = run("play")
    finally:
        for process in loops:
            process.kill()
            process.wait()
    assert loaded == quiet, "other times next to busy loops"
    status = subprocess.run([CLOCK, "sh", "-c", "sleep 1000 & exit 3"], timeout=limit_s(60)).returncode
    assert status == 3, status
    with tempfile.TemporaryFile() as out:  # the files that it left behind are gone
        subprocess.run([CLOCK, "sh", "-c", "sleep 5000 & echo $!"], stdout=out, timeout=limit_s(60), check=True)
        out.seek(0)
        assert not pathlib.Path("/proc", out.read().decode().strip()).exists()
    print(f"virtual clock: {2 * TURNS} messages in {2 * TURNS} s to the microsecond, in {quiet_s:.1f} s and, "
          f"next to {BUSY_LOOPS} busy loops, {loaded_s:.1f} s")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:]) if len(sys.argv) > 1 else main()
