"""tandem demo --kind usv3: the gap before and after over HTTP, the demo's output, and a replay of its journal."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.request

from rig import TANDEM, free_port, member, replay
from waiting import limit_s, pass_time

FOR_S = 36  # open for 12 s, windows of 9 s
TIMES_LESS = 20


class Demo:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-test-"))
        self.port = free_port()
        self.out = self.folder / "out"
        self.process = subprocess.Popen([TANDEM, "demo", "--kind", "usv3", "--for", str(FOR_S), "--http-port",
                                         str(self.port), "--dir", self.folder / "demo"],
                                        stdout=open(self.out, "w"), stderr=subprocess.STDOUT)

    def get(self, what):
        """None while the daemon does not answer."""
        try:
            url = f"http://127.0.0.1:{self.port}/api/v1/pairs/r1/{what}"
            return json.loads(urllib.request.urlopen(url, timeout=limit_s(10)).read())
        except OSError:
            return None

    def watch(self):
        """The last report before following, and all reports after it."""
        before, after = None, []
        while self.process.poll() is None:
            following, fidelity = self.get("following"), self.get("fidelity")
            if following and fidelity and following["active"] and fidelity["samples"] > 0:
                after.append((following["state"], fidelity))
            elif following and not following["active"] and fidelity:
                before = fidelity
            pass_time(0.2)
        assert self.process.returncode == 0, self.out.read_text()
        return before, after


def rmse(fidelity):
    return {name: fidelity["states"][name]["rmse"] for name in "uvr"}


def least(before, after):
    """The factor by which the gap shrinks, for the velocity with the smallest gain."""
    return min(before["states"][name]["rmse"] / after["states"][name]["rmse"] for name in "uvr")


def check_page(page):
    assert "\nfollowing: " in page and " alarm following" not in page, page
    row = next(line for line in page.split("\n") if line.startswith("times less"))
    assert len(re.findall(r"[0-9.]+", row)) == 3, page


def wrong_usage():
    done = subprocess.run([TANDEM, "demo", "--kind", "boat"], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"kinematic|usv3|arm6 was expected" in done.stderr, done


def check(demo, before, after, page):
    assert before and after and after[-1][0] == "TRACKING", (before, after[-1:], page)
    times, reached = max(((least(before, f), rmse(f)) for _, f in after), key=lambda pair: pair[0])
    assert times >= TIMES_LESS, (before, times, reached, page)
    check_page(page)
    folder = demo.folder / "demo"
    assert os.stat(folder / "token").st_mode & 0o77 == 0, "others may read the token"
    document = replay(folder / "lab.yaml", folder / "journal")
    again = json.loads(member(member(document, "pairs"), "r1"))
    assert again["following"]["sent"] > 0 and again["following"]["counts"]["held"] == 0, again["following"]
    print(f"open loop {rmse(before)}, following {reached}: {times:.0f} times less and more; "
          f"{again['following']['sent']} efforts")


def main():
    demo = Demo()
    try:
        before, after = demo.watch()
        check(demo, before, after, demo.out.read_text())
    finally:
        if demo.process.poll() is None:
            demo.process.kill()
        demo.process.wait()
        shutil.rmtree(demo.folder, ignore_errors=True)
    wrong_usage()


main()
