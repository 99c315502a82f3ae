"""npm.py - packages of npm, installed beside the build, once: not in Debian, so that who needs them may have to skip."""
import os
import pathlib
import shutil
import subprocess

NPM = pathlib.Path(os.environ["BUILD"]) / "npm"


def npm_has(*packages):
    """Installs NAME@VERSION; False where npm, or what it fetches, is not to be had."""
    npm = shutil.which("npm")
    if all((NPM / "node_modules" / package.rpartition("@")[0]).exists() for package in packages):
        return True
    try:
        return npm is not None and subprocess.run(
            [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", NPM, *packages],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300).returncode == 0
    except subprocess.TimeoutExpired:
        return False
