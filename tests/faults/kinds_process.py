"""kinds_process.py - programs that are killed, frozen, restarted; a broker and a daemon with an older state."""
import shutil
import signal
import time

from kinds import NAMELESS, kind


@kind("the daemon is killed, again and again, in the middle of its start too")
def daemon_killed(r):
    for _ in r.times(3, 6):
        r.kill_daemon()
        r.launch_daemon()
        if r.draw.random() < 0.6:
            r.wait(r.is_ready, "ready", 30)
        r.wait_load(0.02, 1.0)


@kind("the daemon is killed; equal commands and replies without ids", pairs=NAMELESS)
def daemon_killed_no_ids(r):
    for _ in r.times(2, 4):
        r.wait_load(0.1, 1.5)
        r.kill_daemon()
        r.start_daemon()
    r.wait_load(1)


@kind("the daemon stops in an orderly way and starts again")
def daemon_restarted(r):
    for _ in r.times(2, 3):
        r.wait_load(0.3, 1.0)
        r.stop_daemon()
        r.check(" stopped: " in r.log(), f"it does not say that it has stopped: {r.tail()}")
        r.start_daemon()


@kind("the daemon is away for a while")
def daemon_away(r):
    (r.kill_daemon if r.draw.random() < 0.5 else r.stop_daemon)()
    r.wait_load(4, 7)
    r.start_daemon()


@kind("the daemon is frozen for longer than the commands' timeout")
def daemon_frozen(r):
    for _ in r.times(1, 2):
        r.freeze(r.rig.daemon, r.draw.uniform(1.5, 5))
        r.wait_load(0.5, 2.5)


@kind("the broker stops in an orderly way and starts again")
def broker_restarted(r):
    for _ in r.times(1, 3):
        r.wait_load(0.3, 1.0)
        r.kill_broker(signal.SIGTERM)
        r.start_broker()
        r.wait(r.is_ready, "the daemon is back", 30)


@kind("the broker is killed while the daemon is away: messages that it had not saved are gone", may_lose=True)
def broker_killed(r):
    """Nobody can know what such a broker had acknowledged; the daemon must report that messages may be lost."""
    r.network.open = False
    r.network.cut()
    r.wait_load(1, 2)
    r.kill_broker()
    r.start_broker()
    r.network.open = True
    r.wait(r.is_ready, "the daemon is back", 30)
    r.wait_load(1)
    alarms = r.rig.get("/api/v1/pairs/a/alarms?limit=1000")["alarms"]
    r.check(any(alarm["code"] == "session_lost" for alarm in alarms), "no alarm that the broker has lost the session and its messages")


@kind("the broker is killed under a daemon that listens")
def broker_killed_listening(r):
    """Its session was saved; later messages were not acknowledged: their publisher sends them again."""
    r.load.hold()
    r.wait(r.load.is_quiet, "all acknowledged")
    r.wait(r.is_idle, "all delivered")
    r.save_broker()
    r.kill_broker()
    r.load.go_on()
    r.wait_load(0.2, 1)
    r.start_broker()
    r.wait(r.is_ready, "the daemon is back", 30)


@kind("the broker is frozen")
def broker_frozen(r):
    for _ in r.times(1, 2):
        r.freeze(r.rig.broker, r.draw.uniform(1.5, 4))
        r.wait(r.is_ready, "the daemon is back", 30)
        r.wait_load(0.5, 1)


@kind("daemon and broker are killed at once, the broker's queues saved just before")
def both_killed(r):
    r.load.hold()
    r.wait(r.load.is_quiet, "all acknowledged")
    r.save_broker()
    r.kill_broker()
    r.kill_daemon()
    r.load.go_on()
    r.start_broker()
    r.wait_load(0.1, 1)
    r.start_daemon()


@kind("the broker is reset to an earlier saved state; the daemon has long received those messages")
def broker_restored(r):
    r.network.open = False
    r.network.cut()
    r.wait_load(1, 2)
    r.save_broker()
    shutil.copy(r.path("mosquitto.db"), r.path("saved.db"))
    r.network.open = True
    r.wait(r.is_ready, "the daemon is back", 30)
    r.wait_load(1, 2)
    r.load.hold()
    r.wait(r.load.is_quiet, "all acknowledged")
    r.wait(r.is_idle, "no command is open")
    r.kill_broker(signal.SIGTERM)
    shutil.copy(r.path("saved.db"), r.path("mosquitto.db"))
    r.start_broker()
    r.load.go_on()
    r.wait(r.is_ready, "the daemon is back", 30)


@kind("link mode: the broker delivers a command again that it had saved, more than 30 s after robots were moved by it",
      pairs={"l": "link"})
def broker_restored_late(r):
    r.load.hold()
    r.wait(r.load.is_quiet, "all acknowledged")
    r.wait(r.is_idle, "no command is open")
    r.network.open = False
    r.network.cut()
    commands = [r.load.say("l", f"late-{i}") for i in range(3)]
    r.wait(r.load.is_quiet, "all acknowledged")
    r.save_broker()
    shutil.copy(r.path("mosquitto.db"), r.path("saved.db"))
    r.network.open = True
    r.wait(lambda: all(r.has_entry(c) for c in commands), "entries of what waited", 30)
    time.sleep(32)
    r.kill_broker()
    shutil.copy(r.path("saved.db"), r.path("mosquitto.db"))  # it may have saved since
    r.start_broker()
    r.wait(r.is_ready, "the daemon is back", 30)
    r.load.go_on()
    r.wait_load(2)


@kind("link mode: the daemon is killed while robots move", pairs={"l": "link", "m": "link", "a": "ids"})
def daemon_killed_link(r):
    for _ in r.times(3, 5):
        r.kill_daemon()
        r.start_daemon()
        r.wait_load(0.1, 1)


@kind("robots are killed and come back", pairs={"a": "ids", "l": "link"})
def robots_killed(r):
    for _ in r.times(3, 6):
        robot = r.draw.choice(r.load.robots)
        robot.client.cut()
        r.wait_load(0.3, 1)
    r.wait(lambda: "offline" in {alarm["type"] for alarm in r.rig.get("/api/v1/pairs/l/alarms")["alarms"]},
           "an alarm of the robots that went away")


@kind("simulated robots (tandem robot) are killed while they move, and started again", pairs={"a": "ids", "s": "played"},
      options={"s": "timeout_s: 3"})
def simulators_killed(r):
    robots = {side: r.start_simulator("s", side) for side in ("real", "virtual")}
    r.rig.wait_online("s")
    for _ in r.times(3, 4):
        r.wait_load(0.3, 1.2)
        side = r.draw.choice(sorted(robots))
        robots[side].kill()
        robots[side].wait()
        r.wait_load(0.2, 0.8)
        robots[side] = r.start_simulator("s", side)
    r.wait_load(1)
    alarms = {alarm["type"] for alarm in r.rig.get("/api/v1/pairs/s/alarms?limit=1000")["alarms"]}
    r.check("offline" in alarms, f"no alarm of the robots that were killed, only {sorted(alarms)}")


@kind("the machine is short of time: everything at the lowest priority, next to processes that compute")
def machine_busy(r):
    for _ in range(6):
        r.rig.run(["nice", "-n", "10", "timeout", "8", "sh", "-c", "while :; do :; done"])
    r.wait_load(5, 6)


@kind("a restart during the first start: killed before anything is on the disk")
def daemon_killed_at_birth(r):
    for _ in r.times(3, 5):
        r.kill_daemon()
        r.launch_daemon()
        time.sleep(r.draw.uniform(0, 0.15))
    r.kill_daemon()
    r.start_daemon()
    r.check(r.rig.get("/api/v1/status"), "no status")


@kind("retained commands and replies come again with every connection")
def retained_again(r):
    r.load.say("a", "kept", retain=True)
    r.wait_load(0.3, 0.6)
    for _ in r.times(2, 3):
        r.network.cut()
        r.wait(r.is_ready, "the daemon is back", 30)
        r.wait_load(0.5)
