"""kit.py - shared parts of the tests of examples/robot: interpreters, and the results of a pair with such a robot."""
import json
import subprocess

from rig import SOURCE, TANDEM
from waiting import limit_s

ROBOT = SOURCE / "examples/robot"
DEBIAN_PYTHON = "/usr/bin/python3"  # Debian's packages must not change with the path


def python_has(module):
    return subprocess.run([DEBIAN_PYTHON, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def check_robot(rig, pair, side, missing=(), *options):
    """`tandem robot --check` finds nothing wrong, and nothing missing but these."""
    run = subprocess.run([TANDEM, "robot", "--port", str(rig.broker_port), "--check", f"{pair}/{side}", "--json", *options],
                         stdout=subprocess.PIPE, text=True, timeout=limit_s(120))
    found = {f["what"]: f for f in json.loads(run.stdout)["findings"] if f["state"] != "right"}
    assert run.returncode == 0 and set(found) == set(missing), json.dumps(found, indent=1)


def drive(rig, pair, moves, seed=1):
    """Random moves, all answered; the pair's entries."""
    rig.wait_online(pair)
    had = rig.get(f"/api/v1/pairs/{pair}")["entries"]
    driver = rig.start("drive", "--pair", pair, "--count", moves, "--interval", 0.05, "--turn-max", 1.5, "--drive-max", 0.5,
                       "--seed", seed, "--timeout", 30)
    assert driver.wait(limit_s(60 + 15 * moves)) == 0
    rig.wait(lambda: rig.get(f"/api/v1/pairs/{pair}")["entries"] >= had + moves, "entries", 30)
    rig.wait_stored(pair)
    return [json.loads(text) for text in rig.records(pair, "entries")][had:]


def fit(rig, pair, side):
    return rig.get(f"/api/v1/pairs/{pair}/travel-time")[side]


def check_speeds(rig, pair, side, ratio=0.05, **truth):
    """The calibrated speeds equal these within a share."""
    values = fit(rig, pair, side)["values"]
    for name, value in truth.items():
        assert abs(values[name] / value - 1.0) < ratio, (side, name, value, values)
