"""waiting.py - waits of tests: for an event, with a limit that only a test that fails reaches.

    wait_until(lambda: path.exists(), "the file", 20)
    pass_time(2)  # if the time itself matters: the test needs virtual time
"""
import os
import time

PATIENCE = max(1.0, float(os.environ.get("TANDEM_PATIENCE", "1")))  # a busy machine takes longer: ./test sets it


def limit_s(seconds):
    """A limit of a wait, multiplied by TANDEM_PATIENCE."""
    return seconds * PATIENCE


def wait_until(condition, what, seconds=10, every_s=0.05):
    """Returns the value of the condition."""
    end = time.monotonic() + limit_s(seconds)
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {limit_s(seconds):g} s: {what() if callable(what) else what}")
        time.sleep(every_s)
    return result


def pass_time(seconds):
    time.sleep(max(0.0, seconds))
