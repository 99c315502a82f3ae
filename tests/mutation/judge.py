"""Runs one test with limits, and the tests of a mutant until one fails."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time

SKIPPED = 77
KINDS = ("unit", "golden", "property", "fuzz", "sim", "stat", "system")
SLOWER = 8  # limit for a mutant, as a factor of the right program's time; GRACE_S is added
GRACE_S = 3


class Outcome:
    def __init__(self, status, wall_s, cpu_s):
        self.status, self.wall_s, self.cpu_s = status, wall_s, cpu_s

    @property
    def passed(self):
        return self.status in (0, SKIPPED)


def run_test(build, test, wall_limit_s, cpu_limit_s, extra=None):
    """Status None: it took too long."""
    memory = pathlib.Path("/dev/shm")
    scratch = tempfile.mkdtemp(prefix="tandem-mutation-", dir=memory if memory.is_dir() else None)
    environment, properties = build.environment(test, scratch)
    environment.update(extra or {})

    def limit():
        os.setsid()
        limit_s = int(cpu_limit_s) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 30, 2 << 30))

    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(build.command(test), cwd=properties.get("WORKING_DIRECTORY"),
                               env=environment, preexec_fn=limit, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        status = process.wait(wall_limit_s)
    except subprocess.TimeoutExpired:
        status = None
    end_group(process)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(scratch, ignore_errors=True)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(status, time.monotonic() - start, cpu_s)


def end_group(process):
    """Ends the processes that a test left behind, gently: a program that is killed at once writes no counters."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        time.sleep(0.2)
    process.wait()


def order(tests, times):
    """Quick ones first within their kind, C tests before scripts."""
    def key(test):
        kind = test.split(".")[0]
        return (test.startswith("golden.replay."), kind in ("sim", "stat", "system", "browser"), times[test])
    return sorted(tests, key=key)


def run_limited(build, test, times):
    """A processor time limit ends a test that computes too long; the clock only ends one that waits for ever."""
    limit_s = times[test] * SLOWER + GRACE_S
    return run_test(build, test, 40 * limit_s, limit_s)


def judge(build, tests, times, budget_s):
    """(name of the test that kills or None, how, tests that ran)"""
    start = time.monotonic()
    ran = 0
    for test in tests:
        if time.monotonic() - start > budget_s:
            break
        ran += 1
        outcome = run_limited(build, test, times)
        if not outcome.passed:
            hung = outcome.status is None or outcome.status == -signal.SIGXCPU
            how = "time" if hung else "signal" if outcome.status < 0 else "failure"
            return test, how, ran
    return None, "", ran
