"""A mission sent by the page: wrong points are refused in the form; the path, the machines and the stack of plans are
live; it is cancelled, and the robot halts. A vessel gets a course. A pair without missions says what the lab file lacks.
"""
import urllib.request

from axe import check_accessible
from browser import PHONE, Browser, Keys
from lab import MAP, TOKEN, Lab

PAIRS = f"base: {{mode: link, missions_max: 2, map: {MAP}}}\n  other: {{mode: link}}\n" \
        "  boat: {kind: usv3, mode: link, missions_max: 1, virtual_expected: never}\n" \
        "  cells: {mode: link, missions_max: 1, map: cells.yaml}"


def fill(browser, field, text):
    browser.run(f"document.getElementById('{field}').value = {text!r}")


def send(browser, points):
    fill(browser, "mission-points", points)
    browser.click("Send", "dialog")


with Lab(pairs=PAIRS) as lab:
    (lab.folder / "cells.pgm").write_text("P2 4 2 255  0 0 205 254  254 254 254 254")
    (lab.folder / "cells.yaml").write_text("image: cells.pgm\nresolution: 0.5\norigin: [1, 1, 0.5]\n")
    lab.start_daemon()
    for side in ("real", "virtual"):
        lab.start("robot", "--kind", "diffdrive", "--pair", "base", "--side", side, "--mode", "link", "--map", MAP,
                  "--telemetry-rate", "5")
    lab.start("robot", "--kind", "usv3", "--pair", "boat", "--side", "real", "--mode", "link", "--telemetry-rate", "5")
    lab.wait_online("base")
    with Browser(lab.address, "mission") as browser:
        browser.open("#/pair/other/mission")
        browser.wait("document.querySelector('.tab')?.innerText.includes('missions_max: 4')", "what the lab file lacks")
        asked = "performance.getEntriesByType('resource').filter(e => e.name.endsWith('/pairs/other/missions')).length"
        browser.wait("performance.getEntriesByType('resource').filter(e => e.name.endsWith('/pairs/other')).length >= 2",
                     "the head of the page is fetched again")
        assert browser.value(asked) == 1, browser.value(asked)
        browser.open("#/pair/cells/mission")
        outlines = browser.wait("[...document.querySelectorAll('.map .cells')].map(p => p.getAttribute('d')).join(' ')",
                                "a map of cells")
        assert outlines == "M2 1h1v1h-1z M0 1h2v1h-2z", outlines
        check_accessible(browser, "a map of cells")
        browser.open("#/pair/base")
        browser.wait("document.querySelector('h1')?.innerText === 'base' && [...document.querySelectorAll('.tabs a')]"
                     ".some(a => a.innerText === 'Mission')", "the tab is there")
        browser.run("[...document.querySelectorAll('.tabs a')].find(a => a.innerText === 'Mission').click()")
        browser.wait("document.querySelector('.tab')?.innerText.includes('No mission runs')", "nothing runs")
        check_accessible(browser, "no mission")
        for panel in ("Mission under way", "Missions"):
            browser.run(f"document.querySelector('[aria-label=\"Help: {panel}\"]').click()")
            address = browser.wait("document.querySelector('dialog a[href^=\"page/\"]')?.href", "its document")
            with urllib.request.urlopen(address) as answer:
                assert answer.read().startswith(b"# mission"), address
            browser.press(Keys.ESCAPE)
            browser.wait("!document.querySelector('dialog')", "it is closed")
        browser.click("Send a mission", ".tab")
        browser.wait("document.getElementById('mission-points')", "the form")
        check_accessible(browser, "the form of a mission")
        fill(browser, "token", TOKEN)
        for points, words in (("far away", "Two numbers"), ("1, 1; 2, 2", "one goal")):
            send(browser, points)
            browser.wait(f"document.querySelector('dialog .failure')?.innerText.includes({words!r})", points)
        send(browser, "100, 100")
        browser.wait("document.querySelector('dialog .failure')?.innerText.includes('free point')", "out of bounds")
        send(browser, "2.3, 0.2")
        browser.wait("!document.querySelector('dialog') && document.querySelector('.tab .facts')?.innerText.includes('follows a path')",
                     "its machines")
        assert "the next step, then done" in browser.text(".tab .facts"), browser.text(".tab .facts")
        assert "L2" not in browser.text(".tab") and "STEP" not in browser.text(".tab"), browser.text(".tab")
        browser.wait("document.querySelector('.map .track.route') && document.querySelector('.map .track.real')", "path and track")
        check_accessible(browser, "a mission under way")
        browser.resize(PHONE)
        browser.check_width("a mission, 390")
        browser.shots("mission")
        browser.click("Cancel", ".tab table")
        browser.click("End the mission", "dialog")
        browser.wait("document.querySelector('.tab table').innerText.includes('cancelled')", "it is cancelled")
        lab.wait(lambda: lab.get("/api/v1/pairs/base")["outstanding"] == 0, "the robot has halted")
        browser.open("#/pair/boat/mission")
        browser.wait("document.querySelector('.tab')?.innerText.includes('No mission runs')", "the vessel waits")
        browser.click("Send a mission", ".tab")
        browser.wait("document.getElementById('mission-actuation')", "the form of a course")
        check_accessible(browser, "the form of a course")
        send(browser, "0, 0; 30, 0; 0, 2")
        browser.wait("document.querySelector('dialog .failure')?.innerText.includes('turns no tighter')", "a tight turn")
        send(browser, "60, 0; 60, 40")
        browser.wait("!document.querySelector('dialog') && document.querySelector('.tab .facts')?.innerText.includes('driving')",
                     "its course")
        browser.wait("document.querySelector('.map .track.route') && document.querySelector('.map .track.real')", "path and track")
        check_accessible(browser, "a course under way")
        browser.check_quiet(allowed=("400", "404"))
