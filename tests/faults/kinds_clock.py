"""kinds_clock.py - the machine's clock as an input: set between runs and during one, the machine asleep, crossed
with kills.
"""
from kinds import kind
from stepped_clock import SteppedClock


def wear_clock(r):
    """Runs before the daemon starts: every run of the daemon has the round's clock."""
    r.clock = SteppedClock(r.rig.folder)
    r.cleanup.enter_context(r.clock.worn())


def wear_clock_ahead(r):
    wear_clock(r)
    r.clock.set_by(r.draw.uniform(20, 40))


def timed_out(r):
    """A command that no robot answers: the last event of this run follows from time alone."""
    r.load.hold()
    r.wait(r.load.is_quiet, "all acknowledged")
    silent = r.load.say("a", f"silent-{r.draw.random()}", None, None)
    r.wait(lambda: r.has_entry(silent), "its entry")


def set_back(r, end):
    for _ in r.times(2, 3):
        timed_out(r)
        end()
        r.clock.set_by(-r.draw.uniform(5, 15))
        since = r.path("daemon.log").stat().st_size
        r.start_daemon()
        r.check("clock_behind" in r.events(since), "a clock that was set back is not reported")
        r.load.go_on()
        r.wait_load(0.5, 1.5)


@kind("the clock is set back between two runs, the first of which was killed after a command had timed out", before=wear_clock_ahead)
def clock_back_killed(r):
    set_back(r, r.kill_daemon)


@kind("the same, stopped in an orderly way", before=wear_clock_ahead)
def clock_back_stopped(r):
    set_back(r, r.stop_daemon)


@kind("the clock is set forwards or back while the daemon runs", before=wear_clock)
def clock_stepped_running(r):
    since = r.log_size()
    r.clock.set_by(r.draw.choice((-1, 1)) * r.draw.uniform(1, 4000))
    r.check_reported(since, "clock_stepped", lasting=False)
    r.wait_load(0.5, 1.5)
    r.clock.set_by(r.draw.uniform(-20, 20))
    r.wait_load(1, 2)
    alarms = [one["code"] for one in r.rig.get("/api/v1/alarms?limit=1000")["alarms"] if one["pair"] == "$lab"]
    r.check("clock_stepped" in alarms, f"no alarm that the clock was set, only {alarms}")


@kind("the clock is set while the daemon runs, which is killed then", before=wear_clock)
def clock_stepped_killed(r):
    for _ in r.times(2, 4):
        r.clock.set_by(r.draw.uniform(-10, 10))
        r.wait_load(0.2, 1.2)
        r.kill_daemon()
        r.start_daemon()
        r.wait_load(0.2, 1)


def suspend(r):
    """The sleep may be longer than timeouts. Only this process stands still; no other clock changes."""
    r.clock.suspend(r.draw.choice((r.draw.uniform(1.5, 2.5), r.draw.uniform(5, 20000))))


@kind("the machine is suspended, for seconds and for hours", before=wear_clock)
def machine_suspended(r):
    for _ in r.times(1, 3):
        r.freeze(r.rig.daemon, 0.2, suspend, r)
        r.wait_load(2.5, 4)
    r.check("suspended" in r.events(), "a suspend is not reported")  # reported once a minute


@kind("the machine is suspended, and the daemon killed asleep or just awake", before=wear_clock)
def machine_suspended_killed(r):
    for _ in r.times(2, 3):
        r.freeze(r.rig.daemon, 0.2, suspend, r)
        if r.draw.random() < 0.5:
            r.wait_load(0, 0.3)
        r.kill_daemon()
        r.start_daemon()
        r.wait_load(0.5, 1.5)
