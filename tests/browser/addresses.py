"""Addresses of the page: what a view shows is in its address, and an address of nothing is refused in one sentence,
without an error in the console. The list of pairs as a file; nothing of it is cut at 1280 px.
"""
import json

from axe import check_accessible
from browser import Browser
from lab import Lab
from mover import Mover

DESK = (1280, 800)
MOVES = 24  # a set of travel times needs about twenty


def reload(browser, condition, what):
    browser.driver.refresh()
    browser.wait(condition, what)


def check_nothing(browser):
    for place, words in (("#/pair/nosuch", "no pair 'nosuch'"), ("#/pair/r/lag", "no pair 'r'"), ("#/pair/a b", "no pair 'a b'"),
                         ("#/pair/r1/nosuch", "no tab 'nosuch'"), ("#/team/nosuch", "no team 'nosuch'"),
                         ("#/offline/12", "There is no such recording"), ("#/nosuch", "There is no such view")):
        browser.open(place)
        browser.wait(f"document.querySelector('#content .failure')?.innerText.includes({json.dumps(words)})", f"{place}: {words}")
        assert browser.value("document.querySelectorAll('#content .failure').length") == 1, browser.text()
        assert not browser.value("!!document.querySelector('.tabs')"), (place, browser.text())
    check_accessible(browser, "no such view")
    browser.check_quiet()


def check_map(browser, lab):
    for x in range(4):
        for side in ("real", "virtual"):
            lab.publish(f"tandem/v1/r1/{side}/telemetry", {"pose": [x, 0.1 * x, 0], "nu": [0.1, 0, 0]})
    scale = "document.querySelector('.map .scale-bar text')?.textContent"
    browser.open("#/pair/r1/map")
    before = browser.wait(scale, "the map")
    browser.run("document.querySelector('figure.map').focus()")
    for _ in range(4):
        browser.press("+")
    browser.wait("/[?&]at=[-0-9.]+(%2C|,)/.test(location.hash)", "the part of the map is in the address")
    browser.run("""const slider = document.getElementById('map-time');
        slider.value = -300;
        slider.dispatchEvent(new Event('input'));
        slider.dispatchEvent(new Event('change'));""")
    browser.wait("/[?&]t=[0-9]+/.test(location.hash)", "the time is in the address")
    closer, address = browser.value(scale), browser.value("location.hash")
    assert closer != before
    reload(browser, f"{scale} === {json.dumps(closer)}", "the same part after a reload")
    assert -600 <= int(browser.value("document.getElementById('map-time').value")) <= -300
    assert browser.value("location.hash") == address
    browser.run("document.querySelector('figure.map').focus()")
    browser.press("0")
    browser.wait("!/[?&]at=/.test(location.hash)", "all of the map has no place in the address")
    for bad in ("at=1,2", "at=a,b,c", "at=1,2,-3", "t=soon", "t=1"):
        browser.open(f"#/pair/r1/map?{bad}")
        browser.wait(f"{scale} === {json.dumps(before)} && document.getElementById('map-time').value === '0'", f"{bad}: all of it, now")


def choose(browser, field, value):
    browser.run("""const node = document.getElementById(arguments[0]);
        node.value = arguments[1];
        node.dispatchEvent(new Event('change'));""", field, value)


def check_calibration(browser):
    browser.open("#/pair/r1/calibration")
    browser.wait("document.querySelector('.chart canvas')", "the history of fits")
    choose(browser, "term", "angular_speed_radps")
    choose(browser, "side", "virtual")
    label = "document.querySelector('.chart')?.getAttribute('aria-label')"
    browser.wait("location.hash.endsWith('?term=angular_speed_radps&side=virtual')", "both are in the address")
    reload(browser, f"{label}?.startsWith('angular speed of the virtual robot')", "the same parameter after a reload")
    browser.open("#/pair/r1/calibration?term=nosuch&side=nosuch")
    browser.wait(f"{label}?.startsWith('linear speed of the real robot')", "no such parameter: the first one")


def check_team_times(browser):
    """A team's chart shows the last course, also when it ended long ago."""
    times = browser.driver.execute_async_script("""const done = arguments[arguments.length - 1];
        import('./page/view_team.js').then(({timesOf}) => {
            const team = {state: {robots: {A: {since: 150}, B: {since: 160}}, run: null}, last_run: {t: 100}};
            done([timesOf('course', {...team, finished: true}), timesOf('course', {...team, finished: false})]);
        });""")
    assert times == ["&since=99.000&until=161.000", "&since=99.000"], times


def check_list(browser):
    browser.resize(DESK)
    browser.open("#/?look=table")
    browser.wait("document.querySelectorAll('.pairs-box tbody tr[data-row]').length === 3", "the pairs")
    wide = browser.value("(n => n.scrollWidth - n.clientWidth)(document.querySelector('.pairs-box'))")
    assert wide <= 0, f"the table is cut by {wide} px"
    browser.run("""const made = URL.createObjectURL;
        URL.createObjectURL = blob => {
            blob.text().then(text => { window.saved = text; });
            return made.call(URL, blob);
        };""")
    browser.click("Table as CSV")
    head, *rows = browser.wait("window.saved", "the file").strip().split("\r\n")
    assert head.startswith("pair,state,reason,last_lag_s,"), head
    assert [row.split(",")[0] for row in rows] == browser.value(
        "[...document.querySelectorAll('.pairs-box tbody tr[data-row]')].map(row => row.dataset.row)"), rows
    moves = head.split(",").index("moves")
    assert {row.split(",")[0]: row.split(",")[moves] for row in rows}["r1"] == str(MOVES + 1), rows


def check_card(browser, lab, mover):
    """Two verdicts next to a lag: the lag stays on one line."""
    mover.send("command", id="odd", op="go", rotation_rad=1.0, displacement_m=0.1)
    lab.wait(lambda: lab.get("/api/v1/pairs/r1")["commands"] == MOVES + 1, "a command")
    mover.send("real/reply", id="odd", status="data", values={"range_m": 1})
    mover.send("virtual/reply", id="odd", status="data", values={"range_m": 2})
    lab.wait(lambda: lab.get("/api/v1/pairs/r1")["last_consistent"] is False, "replies that contradict each other")
    for width in (1280, 390):
        browser.resize((width, 800))
        browser.open("#/?look=cards")
        browser.wait("document.querySelectorAll('.card .chip').length === 2", "two chips")
        lines = browser.run("""const range = document.createRange();
            range.selectNode(document.querySelector('.card .big').firstChild);
            return range.getClientRects().length;""")
        assert lines == 1, f"{width} px: the lag has {lines} lines"
        browser.check_width("a card with two chips")
        browser.shot(f"card-{width}")
    browser.resize(DESK)


with Lab(pairs="r1: {timeout_s: 8, calibration: {publish_every: 1}}\n  r10: {}\n  quiet: {}") as lab:
    lab.start_daemon()
    mover = Mover(lab)
    for k in range(1, MOVES + 1):
        mover.move(k)
    lab.wait_stored("r1")
    with Browser(lab.address, "address") as browser:
        browser.resize(DESK)
        check_nothing(browser)
        check_map(browser, lab)
        check_calibration(browser)
        check_team_times(browser)
        check_card(browser, lab, mover)
        check_list(browser)
        browser.check_quiet()
