"""The daemon is killed while the page is open: the page shows that it receives no events, and continues without a
reload and without a gap when the daemon is back.
"""
import signal
import time

from browser import PATIENCE_S, Browser
from lab import Lab

ROWS_SHOWN = 25  # of moves: ROWS in web/page/tab_lag.js


def state(browser):
    return browser.text(".stream-state")


def numbers(browser):
    return browser.value("[...document.querySelectorAll('.tab tbody tr')].map(r => Number(r.cells[0].textContent))")


with Lab(pairs="r1: {}") as lab:
    lab.start_daemon(PATIENCE_S)
    for side, speed in (("real", "1"), ("virtual", "1.2")):
        lab.start("robot", "--pair", "r1", "--side", side, "--linear-speed", speed, "--angular-speed", "6")
    lab.wait(lambda: lab.online("r1"), "both robots are there")
    lab.start("drive", "--pair", "r1", "--interval", "0.2", "--turn-max", "0.5", "--drive-max", "0.2")
    with Browser(lab.address, "restart") as browser:
        browser.open("#/pair/r1/lag")
        browser.wait("document.querySelectorAll('.tab tbody tr').length >= 5", "moves")
        browser.wait("document.querySelector('.stream-state').innerText.includes('live')", "the stream is live")
        browser.run("window.sameDocument = true")
        before = numbers(browser)[0]

        lab.daemon.send_signal(signal.SIGKILL)
        lab.daemon.wait()
        browser.wait("!document.querySelector('.stream-state').innerText.includes('live')",
                     "the page reports that it receives no events")
        said = state(browser)
        assert 'reconnecting' in said, said
        browser.wait("/does not answer/.test(document.body.innerText)", "the page names the cause")
        browser.shot("away")
        time.sleep(2)

        lab.start_daemon(PATIENCE_S)
        begin = time.monotonic()
        browser.wait("document.querySelector('.stream-state').innerText.includes('live')", "the stream is live again")
        browser.wait(f"Number(document.querySelector('.tab tbody td')?.textContent ?? 0) >= {before + 3}", "new moves")
        print(f"'{said}', live again and new moves {time.monotonic() - begin:.1f} s after the start")
        browser.wait("!document.querySelector('#content .failure') && !/does not answer/.test(document.body.innerText)",
                     "nothing is wrong any more")
        assert browser.value("window.sameDocument"), "it was reloaded"
        shown = numbers(browser)
        # No row is missing; on a slow machine more moves came meanwhile than the list has rows. Numbers jump where a
        # killed run may have published more than its journal holds.
        jumps = [newer - older for newer, older in zip(shown, shown[1:]) if newer - older != 1]
        assert all(jump > 100000 for jump in jumps) and len(jumps) <= 1, shown
        assert shown[-1] < before or len(shown) == ROWS_SHOWN, (before, shown)
        assert "missed" not in state(browser), state(browser)
        browser.shot("back")
        # The browser itself logs a connection that is refused, or cut.
        browser.check_quiet(allowed=("net::ERR_",))
