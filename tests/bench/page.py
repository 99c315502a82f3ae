"""page.py - measures the time until the page is shown: the overview of one pair and of many, and a long history after
the click; and the size of its files as they are sent. JSON lines.

The daemon reads a journal made for it, then a headless Chromium on the same machine opens the page, five times each.
Times are the browser's: from the beginning of the navigation, or the click, to the second frame after the document
has the element; cold_ms: with an empty cache. Lower bounds: the page's icon, shown in the same way; the click for one
hour of the history.
"""
import json
import os
import statistics
import sys
import time
import urllib.request

from browser import Browser
from moves import write_moves
from rig import SOURCE, Rig

RUNS = 5
SIZE_KB = 350
FOREIGN = ("dygraph.min.js", "dygraph.min.css", "machines.html", "models.js")  # not in web/page
HOUR = "[...document.querySelectorAll(\"[aria-label='Time shown'] button\")].find(b => b.textContent === '1 h')"
HISTORY = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
PAINTED = """
    const done = arguments[arguments.length - 1], from = %s;
    const look = () => (%s) ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from))) : setTimeout(look, 1);
    %s; look();"""


class Bench(Rig):
    def __init__(self, pairs, lab_pairs, moves):
        super().__init__(pairs=lab_pairs)
        (self.folder / "journal").mkdir()
        write_moves(self.folder / "journal/journal-20200101T000000.000000Z.jsonl", pairs, moves, 1)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.http_port}/"


def report(what, times, floors, limit_ms, **more):
    median, floor = statistics.median(times), statistics.median(floors)
    print(json.dumps({"bench": "page", "what": what, "median_ms": round(median), "max_ms": round(max(times)), "runs": len(times),
                      "limit_ms": limit_ms, "floor_ms": round(floor), "ratio": round(median / floor, 1),
                      "load": round(os.getloadavg()[0], 1), **more}), flush=True)
    return median > limit_ms


def navigate(browser, address, there):
    """ms from the beginning of the navigation."""
    browser.driver.get("about:blank")
    browser.driver.get(address)
    return browser.driver.execute_async_script(PAINTED % ("0", there, ""))


def click(browser, node, there):
    """ms from the click."""
    return browser.driver.execute_async_script(PAINTED % ("performance.now()", there, f"{node}.click()"))


def navigate_cold(browser, address, there):
    browser.command("Network.clearBrowserCache")
    return navigate(browser, address, there)


def size(bench):
    """True if all files of the page together are too large, as the daemon sends them. Documents of its help are not
    among them.
    """
    own = [file.name for file in (SOURCE / "web/page").iterdir()]
    total = 0
    for name in [*own, *FOREIGN]:
        request = urllib.request.Request(f"{bench.address}page/{name}", headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as answer:
            total += len(answer.read())
    print(json.dumps({"bench": "page", "what": "all files, compressed", "files": len(own) + len(FOREIGN),
                      "kB": round(total / 1000, 1), "limit_kB": SIZE_KB}), flush=True)
    return total > 1000 * SIZE_KB


def one(limit_ms):
    there = "document.querySelector('.card h2 a')"
    with Bench(["r1"], "r1: {}", 100) as bench:
        bench.start_daemon(60)
        bench.wait(lambda: bench.get("/api/v1/pairs/r1")["entries"] == 100, "the journal is read", 60)
        with Browser(bench.address, "bench") as browser:
            floor = [navigate(browser, bench.address + "page/icon.svg", "true") for _ in range(RUNS + 1)]
            first = [navigate(browser, bench.address, there) for _ in range(RUNS + 1)]
            cold = [navigate_cold(browser, bench.address, there) for _ in range(RUNS)]
        return report("overview of one pair, first paint", first[1:], floor[1:], limit_ms,
                      cold_ms=round(statistics.median(cold))) | size(bench)


def overview(count, limit_ms):
    pairs = [f"r{k}" for k in range(1, count + 1)]
    with Bench(pairs, f"r: {{count: {count}}}", 20) as bench:
        bench.start_daemon(60)
        bench.wait(lambda: bench.get("/api/v1/pairs/r1")["entries"] == 20, "the journal is read", 60)
        with Browser(bench.address, "bench") as browser:
            floor = [navigate(browser, bench.address + "page/icon.svg", "true") for _ in range(RUNS + 1)]
            first = [navigate(browser, bench.address, "document.querySelectorAll('.pair-table tbody a').length >= 12") for _ in range(RUNS + 1)]
            cold = [navigate_cold(browser, bench.address, "document.querySelectorAll('.pair-table tbody a').length >= 12") for _ in range(RUNS)]
            whole = [navigate(browser, bench.address, f"document.querySelector('.pair-table table')?.getAttribute('aria-rowcount') === '{count + 1}'") for _ in range(RUNS)]
            browser.check_quiet(allowed=("favicon.ico",))  # requested with the icon alone
        # The first one warms up.
        return report(f"overview of {count} pairs, first paint", first[1:], floor[1:], limit_ms, cold_ms=round(statistics.median(cold)), all_pairs_ms=round(statistics.median(whole)))


def history(moves, limit_ms):
    with Bench(["r1"], "r1: {}", moves) as bench:
        begin = time.monotonic()
        bench.start_daemon(600)
        bench.wait(lambda: len(bench.get("/api/v1/pairs/r1/entries?limit=1")["entries"]) == 1
                   and bench.get("/api/v1/pairs/r1/entries?limit=1")["entries"][0]["n"] == moves, "the history is stored", 600)
        read_s = time.monotonic() - begin
        times, floor = [], []
        all_there = f"document.querySelector('.tab .bar p')?.innerText.includes('{moves:,}'.replaceAll(',', '\\u202f'))"
        with Browser(bench.address, "bench") as browser:
            for _ in range(RUNS + 1):
                navigate(browser, browser.address, "document.querySelector('.card h2 a')")
                times.append(click(browser, "document.querySelector('.card h2 a')", f"document.querySelector('.chart canvas') && {all_there}"))
                floor.append(click(browser, HOUR, f"!{all_there}"))
            browser.check_quiet()
        return report(f"history of {moves} moves after the click", times[1:], floor[1:], limit_ms, journal_read_s=round(read_s, 1))


slow = [one(350), overview(100, 350), overview(1000, 2000), history(HISTORY, 1000)]
sys.exit(any(slow))
