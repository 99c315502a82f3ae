"""npm.py - packages of npm, installed next to the build, once. Debian does not have them, so a test may have to
skip.
"""
import fcntl
import os
import pathlib
import shutil
import subprocess

NPM = pathlib.Path(os.environ["BUILD"]) / "npm"


def npm_has(*packages):
    """Installs NAME@VERSION; False if npm or its downloads are not available. npm waits for the network, which is
    not on the clock of a test (virtual_clock.c), so it runs in real time, and timeout(1) limits it.
    """
    npm = shutil.which("npm")
    real_time = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "TANDEM_CLOCK")}
    NPM.mkdir(parents=True, exist_ok=True)
    installed = NPM / "installed"  # an existing folder may be incomplete
    with open(NPM / "lock", "w") as lock:  # two installations into one folder remove each other's parts
        fcntl.flock(lock, fcntl.LOCK_EX)
        have = installed.read_text().split() if installed.exists() else []
        if set(packages) <= set(have):
            return True
        done = npm is not None and subprocess.run(
            ["timeout", "300", npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", NPM,
             *packages], env=real_time, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        if done:
            installed.write_text("\n".join({*have, *packages}))
        return done
