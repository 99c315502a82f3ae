"""The chart of lags with its plots: histogram, lag against the size of the move, two times and two pairs over each
other, a long time in means that are named so, moves without a lag. All of it is in the address, and at the size of a
phone.
"""
import random
import re

from axe import check_accessible
from browser import PHONE, Browser, Keys
from history import GAP_S, Past, go, lap_s
from lab import Lab

SMALL_DESKTOP = (1280, 800)
MOVES, LONG = 60, 1100  # moves of a pair; above 600 they are drawn in buckets
OPEN_MAX = 16  # commands without an answer
LATE_S, UNANSWERED = 0.3, 10  # of the second pair; the move of the first one that its virtual robot does not answer
PAIRS = """near: {timeout_s: 1.5, sync_tolerance_s: 0.05}
  late: {sync_tolerance_s: 0.05}
  long: {}
  full: {timeout_s: 1.5}
  ur: {arm: ur5}
  ship: {kind: usv3}"""
WORDS = "document.querySelector('.tab').innerText.replace(/\\s/g, ' ')"


def write_past(lab):
    draw = random.Random(1)
    with Past(lab) as past:
        for k in range(LONG):
            command, slow = go(k), 0.2 if k > LONG / 2 else 0
            past.move("long", GAP_S * k, command, lap_s(command), lap_s(command) + slow + draw.gauss(0, 0.004))
        for _ in range(OPEN_MAX + 2):
            past.move("full", 0, go(0), None, None)
        for k in range(MOVES):
            t, command = GAP_S * k, go(k)
            for pair, more in (("near", 0), ("late", LATE_S), ("ship", 0)):
                silent = pair == "near" and k == UNANSWERED
                past.move(pair, t, command, None if silent else lap_s(command) + draw.gauss(0, 0.004),
                          lap_s(command) + more)
            past.move("ur", t, {"op": "movej", "q_rad": [0.3 + k % 5 * 0.2, -1.5, -1.5, -1.5, 1.5, 0]}, 0.9, 0.95)


def looked_at(browser, what):
    check_accessible(browser, what)
    for size, name in ((SMALL_DESKTOP, "1280"), (PHONE, "390")):
        browser.resize(size)
        for theme in ("light", "dark"):
            browser.theme(theme)
            browser.shot(f"{what}-{name}-{theme}")
        browser.theme("light")
        browser.check_width(f"{what}, {name}")
    browser.resize(SMALL_DESKTOP)


def open_lags(browser, place):
    browser.open(f"#/pair/{place}")
    browser.wait("document.querySelectorAll('.plots .plot').length >= 2 && document.querySelector('.chart canvas')", place)
    return browser.value(WORDS)


def wait_words(browser, pattern):
    browser.wait(f"/{pattern}/.test({WORDS})", pattern)


def columns(browser, move):
    """Motion and network of a row of the table."""
    return browser.value("""(cells => [cells[4].textContent, cells[4].firstChild.title, cells[5].textContent])(
        [...document.querySelectorAll('.tab tbody tr')].find(r => r.cells[0].textContent === arguments[0]).cells)""", str(move))


def check_plots(browser):
    words = open_lags(browser, "near/lag")
    assert f"of {MOVES} moves" in words and "Without a lag: 1 TIMEOUT" in words, words
    assert re.search(r"TIMEOUT, at the bottom because it has no lag", words) and "OVERFLOW" not in words, words
    heights = browser.value("[...document.querySelectorAll('.plot .column title')].map(t => parseInt(t.textContent.split(': ')[1]))")
    beyond = re.search(r"Beyond the axis: (\d+).lag", words)
    assert sum(heights) + int(beyond[1] if beyond else 0) == MOVES - 1, (heights, words)
    motion, title, network = columns(browser, MOVES)
    assert re.fullmatch(r"[−+]?0\.0\d\d", motion) and title.startswith("motion: real "), (motion, title)
    assert re.fullmatch(r"[−+]?0\.00\d", network), network
    turns = browser.value("document.querySelectorAll('.plot .sign').length")
    assert 0 < turns < MOVES, turns
    assert f"Left out: {MOVES - 1 - turns} moves without a turn." in words, words
    browser.run("""const box = document.getElementById('against');
        box.value = 'displacement_m';
        box.dispatchEvent(new Event('change'));""")
    wait_words(browser, "drive, m")
    assert "against=displacement_m" in browser.value("location.hash")
    looked_at(browser, "plots")


def check_two_pairs(browser):
    """The choice writes the address, and the address makes the choice."""
    browser.run("""const box = document.getElementById('compare');
        box.value = 'pair';
        box.dispatchEvent(new Event('change'));
        const pair = document.getElementById('compare-pair');
        pair.value = 'late';
        pair.dispatchEvent(new Event('change'));""")
    wait_words(browser, f"Circles: pair late, {MOVES}.moves")
    assert "with=late" in browser.value("location.hash")
    browser.driver.refresh()
    wait_words(browser, r"pair near: \d+.lags, median [−+]?0\.00.*pair late: \d+.lags, median \+0\.(29|30)")
    assert browser.value("document.querySelectorAll('.plot polyline.other').length") == 1
    assert browser.value("document.querySelectorAll('.plot circle.other').length") > 0
    assert not browser.value("!!document.querySelector('.plot .sign ~ circle.other')"), "circles above signs"
    looked_at(browser, "pairs")


def check_no_pair(browser):
    """The choice stays, so that it can be mended. The pair is looked for once, and no answer is an error."""
    browser.open("#/pair/near/lag?with=nobody")
    wait_words(browser, "Nothing to compare with: the lab has no pair")
    assert browser.value("document.getElementById('compare-pair').value") == "nobody"


def check_no_time(browser):
    """A time that no calendar has is left out."""
    for query in ("from2=1e300", "since=1e299&until=1e300"):
        words = open_lags(browser, f"near/lag?{query}")
        assert f"of {MOVES} moves" in words and "1e" not in browser.value("location.hash"), words


def check_two_times(browser, lab):
    """A time, the one before it, and one further back: the later half of a long history is 0.2 s late."""
    newest = lab.get("/api/v1/pairs/long/entries?limit=1")["entries"][0]["t"]
    middle = newest - GAP_S * LONG / 2
    shown = f"long/lag?since={middle:.3f}&until={middle + 200:.3f}"
    for more in ("from2=before", f"from2={middle - 200:.0f}"):
        words = open_lags(browser, f"{shown}&{more}")
        medians = re.findall(r"median ([−+]?[\d.]+)", words)
        assert len(medians) == 2 and abs(float(medians[0])) > 0.19 and float(medians[1].replace("−", "-")) < 0.01, words
        assert more in browser.value("location.hash")
    looked_at(browser, "times")
    words = open_lags(browser, "long/lag?from2=before")
    assert "choose 10 min, 1 h or 1 d, or zoom in" in words, words


def check_long(browser):
    """Means are named so, and a histogram of a part says which."""
    words = open_lags(browser, "long/lag")
    assert re.search(r"Each mark is the mean of the moves within [\d.]+ s, with the sign of their commonest verdict", words), words
    assert re.search(r"only the newest 1 000.moves of 1100 are counted here", words), words
    assert "the lag that was predicted" not in words, "intervals are not drawn for means"
    looked_at(browser, "long")


def check_overflow(browser):
    """Commands that were too many are marked, and the legend has their sign."""
    browser.open("#/pair/full/lag")
    wait_words(browser, "⊘ OVERFLOW, at the bottom because it has no lag: too many commands were open")
    words = browser.value(WORDS)
    assert f"Without a lag: {OPEN_MAX} TIMEOUT, 2 OVERFLOW." in words and "No lags in the time shown" in words, words
    assert "seen for" not in browser.text(".trust"), browser.text(".trust")
    browser.find(".answers-button").click()
    answer = browser.wait("document.querySelector('dialog[open] .answers')?.innerText", "answers")
    assert "First find why neither robot answers" in answer and "No move that both robots answered" in answer, answer
    browser.press(Keys.ESCAPE)
    looked_at(browser, "full")


def check_kinds(browser):
    """Sizes and advice of arms and vessels."""
    words = open_lags(browser, "ur/lag")
    assert "largest joint turn, rad" in words and "Next move" not in words and "Displacement, m" not in words, words
    assert "distance, m" in open_lags(browser, "ship/lag")
    browser.find(".answers-button").click()
    answer = browser.wait("document.querySelector('dialog[open] .answers')?.innerText", "answers")
    assert "straight on" in answer or "Nothing: " in answer, answer


with Lab(pairs=PAIRS) as lab:
    write_past(lab)
    lab.start_daemon(60)
    lab.wait(lambda: lab.entries("long") == LONG, "the past is read", 60)
    for name in ("near", "late", "long", "ur", "ship"):
        lab.wait_stored(name)
    with Browser(lab.address, "lags") as browser:
        browser.resize(SMALL_DESKTOP)
        check_plots(browser)
        check_two_pairs(browser)
        check_two_times(browser, lab)
        check_long(browser)
        check_overflow(browser)
        check_kinds(browser)
        browser.check_quiet()
        check_no_pair(browser)
        check_no_time(browser)
        browser.check_quiet()
