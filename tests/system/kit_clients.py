"""The robots of examples/robot and its controller over a real broker: checked, driven, calibrated, with known
clocks and applied parameters.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

from kit import check_robot, check_speeds, DEBIAN_PYTHON, drive, python_has, ROBOT
from rig import Rig, SOURCE
from waiting import limit_s

BUILD = pathlib.Path(os.environ["BUILD"])
MOVES = 24
SPEEDS = {"angular_speed_radps": 1.0, "linear_speed_mps": 0.2}
PAIRS = """py: {probe_interval_s: 0.5}
  twin: {parameters: {promote: auto}}
  js: {probe_interval_s: 0.5}
  upy: {probe_interval_s: 0.5}"""


def start_python(rig, *arguments):
    return rig.run([DEBIAN_PYTHON, *map(str, arguments)])


def check_pair(rig, pair, missing=()):
    """A real robot of this kind together with a simulated one of ours with the same speeds."""
    twin = rig.start("robot", "--pair", pair, "--side", "virtual", "--angular-speed", 1.0, "--linear-speed", 0.2, "--t0", 0.0,
                     "--program-version", "2.0")
    entries = drive(rig, pair, MOVES)
    print(pair, [e["verdict"] for e in entries])
    assert all(e["real_status"] == "done" for e in entries), entries
    assert all((e["real_version"], e["virtual_version"]) == ("1.0", "2.0") for e in entries), entries
    # At least half of them: a busy machine delays either robot now and then.
    assert statistics.median(abs(e["real_motion_s"] - e["virtual_motion_s"]) for e in entries) < 0.03, entries
    check_speeds(rig, pair, "real", 0.03, **SPEEDS)
    clock = rig.get(f"/api/v1/pairs/{pair}/clock")["real"]
    assert clock["state"] != "none" and clock["probes"] > 20, clock
    assert clock["refused"] <= clock["probes"] / 10, clock  # clocks of ms: an echo may seem early
    assert clock["round_trip_s"] < 0.1, clock
    check_robot(rig, pair, "real", missing)
    twin.terminate()


def check_controller(rig):
    """The controller drives the pair, and the twin gets the real one's speeds."""
    rig.start("robot", "--pair", "twin", "--side", "real", "--angular-speed", 0.7, "--linear-speed", 0.3, "--t0", 0.0)
    start_python(rig, ROBOT / "python/robot.py", "twin", "virtual", "127.0.0.1", rig.broker_port)
    rig.wait_online("twin")
    out = subprocess.run([DEBIAN_PYTHON, ROBOT / "python/controller.py", "twin", str(2 * MOVES), "127.0.0.1", str(rig.broker_port)],
                         stdout=subprocess.PIPE, text=True, timeout=limit_s(600))
    print(out.stdout)
    lines = re.findall(r"^[0-9a-f]+-\d+: (\w+), real - virtual ([+-]\d\.\d+) s$", out.stdout, re.M)
    assert out.returncode == 0 and len(lines) == 2 * MOVES, out.stdout
    before, after = ([abs(float(lag)) for _, lag in part] for part in (lines[:8], lines[-8:]))
    assert sum(after) < 0.2 * sum(before), (before, after)
    parameters = rig.get("/api/v1/pairs/twin/parameters")
    assert parameters["active"]["version"] > 0, parameters
    check_robot(rig, "twin", "virtual")


def npm_has(package):
    """Installs the packages next to the build, once."""
    npm = shutil.which("npm")
    return (BUILD / "npm/node_modules" / package.split("@")[0]).exists() or (npm is not None and subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", BUILD / "npm", package],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit_s(120), check=False).returncode == 0)


def start_robots(rig):
    """The pairs whose robots are available."""
    pairs = ["upy"]
    rig.run([sys.executable, SOURCE / "tests/support/micropython_robot.py", str(rig.broker_port), "upy", "real"],
            env={**os.environ, "PYTHONPATH": f"{ROBOT}/micropython:{SOURCE}/tests/support"})
    if python_has("paho.mqtt.client"):
        start_python(rig, ROBOT / "python/robot.py", "py", "real", "127.0.0.1", rig.broker_port)
        pairs.append("py")
    else:
        print("SKIPPED: robot.py and controller.py, for there is no python3-paho-mqtt")
    if shutil.which("node") and npm_has("mqtt@5"):
        rig.run(["node", ROBOT / "node/robot.js", "js", "real", "127.0.0.1", str(rig.broker_port)],
                env={**os.environ, "NODE_PATH": str(BUILD / "npm/node_modules")})
        pairs.append("js")
    else:
        print("SKIPPED: robot.js, for npm has no mqtt for us")
    return pairs


def main():
    with Rig(pairs=PAIRS) as rig, concurrent.futures.ThreadPoolExecutor() as pool:
        rig.start_daemon()
        pairs = start_robots(rig)
        tasks = [pool.submit(check_pair, rig, pair) for pair in pairs]  # in parallel: they mostly wait
        if "py" in pairs:
            tasks.append(pool.submit(check_controller, rig))
        for task in tasks:
            task.result()


if __name__ == "__main__":
    sys.exit(main())
