"""A mission sent by the page: wrong points are refused in the form; the path, the machines and the stack of plans are
live; it is cancelled, and the robot halts. A pair without missions says what the lab file lacks.
"""
from axe import check_accessible
from browser import PHONE, Browser
from lab import MAP, TOKEN, Lab

PAIRS = f"base: {{mode: link, missions_max: 2, map: {MAP}}}\n  other: {{mode: link}}"


def fill(browser, field, text):
    browser.run(f"document.getElementById('{field}').value = {text!r}")


def send(browser, points):
    fill(browser, "mission-points", points)
    browser.click("Send", "dialog")


with Lab(pairs=PAIRS) as lab:
    lab.start_daemon()
    for side in ("real", "virtual"):
        lab.start("robot", "--kind", "diffdrive", "--pair", "base", "--side", side, "--mode", "link", "--map", MAP,
                  "--telemetry-rate", "5")
    lab.wait_online("base")
    with Browser(lab.address, "mission") as browser:
        browser.open("#/pair/other/mission")
        browser.wait("document.querySelector('.tab')?.innerText.includes('missions_max: 4')", "what the lab file lacks")
        browser.open("#/pair/base/mission")
        browser.wait("document.querySelector('.tab')?.innerText.includes('No mission runs')", "nothing runs")
        check_accessible(browser, "no mission")
        browser.click("Send a mission", ".tab")
        browser.wait("document.getElementById('mission-points')", "the form")
        check_accessible(browser, "the form of a mission")
        fill(browser, "token", TOKEN)
        send(browser, "far away")
        browser.wait("document.querySelector('dialog .failure')?.innerText.includes('Two numbers')", "no path")
        send(browser, "100, 100")
        browser.wait("document.querySelector('dialog .failure')?.innerText.includes('free point')", "out of bounds")
        send(browser, "2.3, 0.2")
        browser.wait("!document.querySelector('dialog') && document.querySelector('.tab .facts')?.innerText.includes('FOLLOWING')",
                     "its machines")
        assert "STEP, END" in browser.text(".tab .facts"), browser.text(".tab .facts")
        browser.wait("document.querySelector('.map .track.route') && document.querySelector('.map .track.real')", "path and track")
        check_accessible(browser, "a mission under way")
        browser.resize(PHONE)
        browser.check_width("a mission, 390")
        browser.shots("mission")
        browser.click("Cancel", ".tab table")
        browser.click("End the mission", "dialog")
        browser.wait("document.querySelector('.tab table').innerText.includes('cancelled')", "it is cancelled")
        lab.wait(lambda: lab.get("/api/v1/pairs/base")["outstanding"] == 0, "the robot has halted")
        browser.check_quiet(allowed=("400", "404"))
