"""A pair whose twin can be trusted, as its card and its head say in one line. A move whose real robot took two seconds
longer: the page says which part of its lag that is, finds the move by verdict, size and word, and an address that shows
it can be sent.
"""
import json
import re

from axe import check_accessible
from browser import PHONE, Browser, Keys
from lab import TOKEN, Lab
from mover import Mover

SMALL_DESKTOP = (1280, 800)
MOVES = 40  # forecasts begin after 19 moves, usual parts after 8 more judged ones
LATE_S = 2


def check_width(browser, what):
    for size, name in ((SMALL_DESKTOP, "1280"), (PHONE, "390")):
        browser.resize(size)
        for theme in ("light", "dark"):
            browser.theme(theme)
            browser.shot(f"{what}-{name}-{theme}")
        browser.theme("light")
        browser.check_width(f"{what}, {name}")
    browser.resize(SMALL_DESKTOP)


def check_trust(browser, lab):
    """Before there is a set, and with a candidate: sizes, age and predictions that held, on the card and the pair."""
    browser.open("#/")
    browser.wait("document.querySelector('.card .trust')?.innerText.startsWith('? no set of travel times yet')", "no set yet")
    lab.fetch("/api/v1/pairs/r1/parameters/propose", "POST", b"", TOKEN)
    lab.wait(lambda: lab.get("/api/v1/pairs/r1")["trust"]["set"], "a candidate")
    trust = lab.get("/api/v1/pairs/r1")["trust"]
    assert trust["rotation_rad"] == [0.4, 1.0] and trust["displacement_m"] == [0.1, 0.5], trust
    fit = lab.get("/api/v1/pairs/r1/travel-time")["real"]["verdict"]
    sign = {"PASS": "✓", "MARGINAL": "◇", "FAIL": "✕"}[fit]
    words = f"{trust['set']['verdict']}, not in force · running fit {sign} {fit} · seen for turns 0.40 to 1.0 rad, drives 0.10 to 0.50 m"
    for place in ("#/", "#/pair/r1/alarms"):
        browser.open(place)
        browser.wait(f"document.querySelector('.trust')?.innerText.replace(/\\s/g, ' ').includes('{words}')", f"{place}: {words}")
        line = browser.text(".trust")
        assert 0 < trust["of"] < 20, trust
        held = f"{trust['held']} of {trust['of']} predictions? held"
        assert re.search(rf" · {trust['set']['moves']}.moves · .* old · {held}$", line), line
        check_accessible(browser, f"trust, {place}")
        check_width(browser, "card" if place == "#/" else "head")


def check_near(browser, lab, mover):
    """The alarms near a move that nobody answers: those of its own id and of the pair, until its deadline, each with
    its time.
    """
    mover.send("command", id="lost", op="go", rotation_rad=1.0, displacement_m=0.1)
    lab.wait(lambda: lab.get("/api/v1/pairs/r1")["commands"] == MOVES + 1, "the command that nobody answers")
    for _ in range(3):
        mover.send("real/reply", id="unknown", status="done")
    lab.wait(lambda: lab.get("/api/v1/pairs/r1")["alarm_counts"]["out_of_context"] == 3, "alarms of another id")
    lab.wait(lambda: lab.entries("r1") == MOVES + 1, "its deadline")
    lab.wait_stored("r1")
    browser.open("#/pair/r1/lag")
    browser.wait("document.querySelector('.tab tbody button')", "the moves")
    browser.click(str(MOVES + 1), ".tab tbody")
    browser.wait("document.querySelector('.why')", "the unanswered move")
    near = browser.value("[...document.querySelectorAll('.why .facts > div')].find(n => n.innerText.startsWith('Alarms')).innerText")
    assert len(re.findall(r"\d\d:\d\d:\d\d timeout", near)) == 2 and "out of context" not in near, near
    browser.click("AHEAD", ".tab .levels")
    browser.wait("document.querySelector('.tab tbody tr').innerText.includes('not in the selection')",
                 "the open move stays at its place and says that it was not chosen")
    assert rows(browser) == sorted(rows(browser), reverse=True) and browser.text(".tab tbody").count("not in the") == 1


def rows(browser):
    return browser.value("[...document.querySelectorAll('.tab tbody tr:not(.detail) button')].map(b => Number(b.textContent))")


def check_why(browser):
    browser.open("#/pair/r1/lag")
    browser.wait("document.querySelector('.tab tbody button')", "the moves")
    assert rows(browser)[0] == MOVES
    browser.click(str(MOVES), ".tab tbody")
    browser.wait("document.querySelector('.why .parts')", "the parts")
    words = browser.text(".why")
    for part in ("Mostly by the motion.", "real: done", "agree", "none"):
        assert part in words, (part, words)
    assert re.search(r"motion \+(1\.9|2\.)", words), words
    assert browser.value("document.activeElement.getAttribute('aria-expanded')") == "true", "the focus stays"
    answer = browser.run("return fetch(document.querySelector('.why a').href).then(r => r.json())")
    assert [e["n"] for e in answer["entries"]] == [MOVES], answer
    browser.wait("document.querySelector('.holds .missed')", "the late move is in the map of predictions, as a square")
    assert browser.value("document.querySelectorAll('.holds .move').length") >= 10
    browser.shot("map")
    check_accessible(browser, "why")
    check_width(browser, "open")


def check_address(browser):
    """The address has the open move; a reload shows it, and Enter closes it."""
    place = browser.value("location.hash")
    assert "move=" in place, place
    browser.driver.refresh()
    browser.wait("document.querySelector('.why .parts')", "it is open again")
    browser.run("document.querySelector('.opens[aria-expanded=true]').focus()")
    browser.press(Keys.ENTER)
    browser.wait("!document.querySelector('.why')", "it is closed")
    assert "move=" not in browser.value("location.hash")
    for bad in ("move=abc", "move=-1", "move=1e300", "verdict=FOO"):
        browser.open(f"#/pair/r1/lag?{bad}")
        browser.wait("document.querySelector('.tab tbody button')", f"the moves in spite of {bad}")
        assert browser.value("location.hash") == "#/pair/r1/lag", bad


def fill(browser, field, text):
    browser.run("""const node = document.getElementById(arguments[0]);
        node.value = arguments[1];
        node.dispatchEvent(new Event('input'));""", field, text)


def check_question(browser):
    for field, text, words in (("next-displacement", "", "Displacement, m: nothing was given"),
                               ("next-bound", "0", "Bound of the lag, s: 0 was given")):
        before = browser.value("document.getElementById(arguments[0]).value", field)
        fill(browser, field, text)
        browser.click("Ask", ".tab")
        browser.wait(f"document.querySelector('.tab .failure')?.innerText.includes('{words}')", words)
        fill(browser, field, before)


def check_filters(browser, lab):
    verdicts = {e["n"]: e["verdict"] for e in map(json.loads, lab.records("r1", "entries"))}
    for chosen in (["AHEAD"], ["AHEAD", "SYNC"]):
        browser.click(chosen[-1], ".tab .levels")
        wanted = sorted((n for n, verdict in verdicts.items() if verdict in chosen), reverse=True)[:25]
        browser.wait(f"[...document.querySelectorAll('.tab tbody button')].map(b => b.textContent).join() === '{','.join(map(str, wanted))}'",
                     f"moves that are {chosen}")
    fill(browser, "move-text", f"C{MOVES}")
    browser.wait("document.querySelectorAll('.tab tbody tr').length === 1", "one move has this id")
    fill(browser, "move-text", "")
    fill(browser, "size-from", "0.7")
    browser.wait("location.hash.includes('from=0.7')", "the address has the size")
    browser.wait("document.querySelectorAll('.tab tbody tr').length > 1 "
                 "&& [...document.querySelectorAll('.tab tbody tr')].every(r => /\\+(0.80|1.00)/.test(r.textContent))", "large turns")
    check_width(browser, "filtered")
    fill(browser, "size-from", "7")
    browser.wait(f"document.querySelector('.tab').innerText.includes('No such move')", "nothing is as large")


with Lab(pairs="r1: {timeout_s: 8, sync_tolerance_s: 0.5}") as lab:
    lab.start_daemon()
    mover = Mover(lab)
    for k in range(1, MOVES):
        mover.move(k)
    mover.move(MOVES, LATE_S)
    lab.wait_stored("r1")
    with Browser(lab.address, "why") as browser:
        browser.resize(SMALL_DESKTOP)
        check_trust(browser, lab)
        check_why(browser)
        check_address(browser)
        check_question(browser)
        check_filters(browser, lab)
        check_near(browser, lab, mover)
        browser.check_quiet()
