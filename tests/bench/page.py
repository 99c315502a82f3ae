"""page.py - how soon the page is there: the overview of many pairs, and a long history after the click. JSON lines.

The daemon reads a journal made for it, then a headless Chromium on the same machine opens the page, five times each.
Times are the browser's: from the beginning of the navigation, or the click, to the second frame after what is waited
for stands in the document."""
import json
import os
import random
import statistics
import sys
import time

from browser import Browser
from rig import Rig

RUNS = 5
HISTORY = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
PAINTED = """
    const done = arguments[arguments.length - 1], from = %s;
    const look = () => (%s) ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from))) : setTimeout(look, 1);
    %s; look();"""


def write_moves(path, pairs, moves, seed):
    """Each pair so many moves, one a second, the last one a minute ago."""
    draw = random.Random(seed)
    start = time.time() - 60 - moves
    with open(path, "w", buffering=1 << 20) as out:
        def line(t, topic, payload):
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t)) + f".{int(t % 1 * 1e6):06d}Z"
            out.write(f'{{"tst":"{stamp}","topic":"tandem/v1/{topic}","qos":1,"retain":0,"payloadlen":{len(payload)},"payload":{payload}}}\n')
        for k in range(moves):
            t = start + k
            for pair in pairs:
                line(t, f"{pair}/command", f'{{"id":"c{k}","op":"go","rotation_rad":{draw.uniform(0.1, 0.3):.3f},"displacement_m":{draw.uniform(0, 0.05):.3f}}}')
            for side, lap in (("virtual", 0.3), ("real", 0.35 + 0.04 * draw.gauss(0, 1))):
                for pair in pairs:
                    line(t + max(lap, 0.1) + (0.1 if side == "real" else 0), f"{pair}/{side}/reply", f'{{"id":"c{k}","status":"done"}}')


class Bench(Rig):
    def __init__(self, pairs, lab_pairs, moves):
        super().__init__(pairs=lab_pairs)
        (self.folder / "journal").mkdir()
        write_moves(self.folder / "journal/journal-20200101T000000.000000Z.jsonl", pairs, moves, 1)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.http_port}/"


def report(what, times, limit_ms, **more):
    worst = statistics.median(times) > limit_ms
    print(json.dumps({"bench": "page", "what": what, "median_ms": round(statistics.median(times)), "max_ms": round(max(times)),
                      "runs": len(times), "limit_ms": limit_ms, "load": round(os.getloadavg()[0], 1), **more}), flush=True)
    return worst


def overview(count, limit_ms):
    pairs = [f"r{k}" for k in range(1, count + 1)]
    with Bench(pairs, f"r: {{count: {count}}}", 20) as bench:
        bench.start_daemon(60)
        bench.wait(lambda: bench.get("/api/v1/pairs/r1")["entries"] == 20, "the journal is read", 60)
        first, whole = [], []
        with Browser(bench.address, "bench") as browser:
            for run in range(RUNS + 1):
                for times, cards in ((first, "12"), (whole, str(count))):
                    browser.driver.get("about:blank")
                    browser.driver.get(bench.address)
                    took = browser.driver.execute_async_script(PAINTED % ("0", f"document.querySelectorAll('.card h2').length >= {cards}", ""))
                    if run > 0:  # the first one warms up
                        times.append(took)
            browser.check_quiet()
        return report(f"overview of {count} pairs, first paint", first, limit_ms, all_pairs_ms=round(statistics.median(whole)))


def history(moves, limit_ms):
    with Bench(["r1"], "r1: {}", moves) as bench:
        begin = time.monotonic()
        bench.start_daemon(600)
        bench.wait(lambda: len(bench.get("/api/v1/pairs/r1/entries?limit=1")["entries"]) == 1
                   and bench.get("/api/v1/pairs/r1/entries?limit=1")["entries"][0]["n"] == moves, "the history is stored", 600)
        read_s = time.monotonic() - begin
        times = []
        with Browser(bench.address, "bench") as browser:
            for run in range(RUNS + 1):
                browser.open("#/")
                browser.open("#/pair/r1/lag")
                browser.wait("document.querySelector('.chart canvas') && document.querySelector('[aria-label=\"Time shown\"] button')", "the chart", 60)
                browser.click("1 h", "[aria-label='Time shown']")
                browser.wait(f"!document.querySelector('.tab .bar p').innerText.includes('{moves:,}'.replaceAll(',', '\\u202f'))", "an hour", 30)
                took = browser.driver.execute_async_script(PAINTED % ("performance.now()",
                    f"document.querySelector('.tab .bar p').innerText.includes('{moves:,}'.replaceAll(',', '\\u202f'))",
                    "[...document.querySelectorAll(\"[aria-label='Time shown'] button\")].find(b => /^all/i.test(b.textContent)).click()"))
                if run > 0:
                    times.append(took)
            browser.check_quiet()
        return report(f"history of {moves} moves after the click", times, limit_ms, journal_read_s=round(read_s, 1))


slow = [overview(100, 1000), overview(1000, 2000), history(HISTORY, 1000)]
sys.exit(any(slow))
