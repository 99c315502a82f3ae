"""Every view of the page over a live lab: drawn, live, readable, reachable by keyboard, at the size of a phone;
uploads and promotions with the token; no error in the console, no forbidden action, no request to another host.
"""
import json
import math
import pathlib
import re
import shutil
import time

from axe import check_accessible
from browser import DESKTOP, PATIENCE_S, PHONE, Browser, Keys
from lab import TOKEN, Lab
from rig import SOURCE

HERE = pathlib.Path(__file__).parent
CONTRAST = (HERE / "contrast.js").read_text()
TABS = {"overview": "Health", "lag": "Lag over time", "calibration": "Travel times", "parameters": "In force", "dynamics": "",
        "following": "Distance of the virtual robot", "map": "From above", "arm": "Real and virtual arm",
        "machines": "Latest transitions", "alarms": ""}
COLUMNS = "tau_u=Tu,tau_v=Tv,tau_r=Tr,u=u_meas,v=v_meas,r=r_meas"


def check_contrast(browser, what):
    for theme in ("light", "dark"):
        browser.theme(theme)
        found = browser.run(CONTRAST)
        assert found["seen"] > 5, (what, found)
        assert not found["weak"], (what, theme, found["weak"])
    browser.theme("light")


ABBREVIATIONS = ("RMS", "R²", "P05", "P95", "CSV", "API", "HTTP", "MQTT", "sd", "ols", "ppm")


def check_helped(browser, what):
    """Each panel has help of its own, and each abbreviation a tooltip."""
    missing = browser.driver.execute_async_script("""const done = arguments[arguments.length - 1];
        import('./page/help.js').then(({helpOf}) => done([...document.querySelectorAll('main .panel')]
            .map(panel => panel.querySelector(':scope > .help')?.getAttribute('aria-label').replace('Help: ', '')
                ?? 'no help: ' + panel.innerText.slice(0, 40))
            .filter(topic => !helpOf(topic))));""")
    assert not missing, (what, missing)
    bare = browser.run("""const found = new RegExp(`(?<![\\\\w.])(${arguments[0].join('|')})(?![\\\\w²])`);
        return [...document.querySelectorAll('main :is(p, li, th, dt, h2, h3, figcaption, small)')]
            .flatMap(node => [...node.childNodes]).filter(node => node.nodeType === 3 && found.test(node.data))
            .map(node => node.data);""", ABBREVIATIONS)
    assert not bare, (what, "no tooltip", bare)


def check_sound(browser, what):
    assert not browser.value("document.querySelector('#content .failure')"), (what, browser.text())
    check_helped(browser, what)
    check_contrast(browser, what)
    check_accessible(browser, what)
    browser.resize(PHONE)
    browser.check_width(what)
    browser.resize(DESKTOP)


# ---- reading ----

def check_overview(browser, lab):
    browser.open("#/")
    for pair in ("r1", "base", "boat", "quiet"):
        browser.wait(f"[...document.querySelectorAll('.card h2')].some(h => h.textContent === '{pair}')",
                     f"a card of {pair}")
    check_sound(browser, "overview")
    browser.shots("overview")


def drawn(browser, pair, tab):
    browser.wait(f"""document.querySelector('.tabs [aria-current=page]')?.getAttribute('href') === '#/pair/{pair}/{tab}'
        && document.querySelector('.tab > *') && !document.querySelector('.tab .wait')""", f"{pair}: {tab}")


def tabs_of(browser):
    return set(browser.value(
        "[...document.querySelectorAll('.tabs a')].map(a => a.getAttribute('href').split('/').pop())"))


def check_arm(browser):
    """Both arms in three views, one of them turned by keys, and the distance of the tools."""
    browser.open("#/pair/ur/arm")
    drawn(browser, "ur", "arm")
    browser.wait("document.querySelectorAll('.arms .links').length === 6", "two arms in three views")
    browser.wait("document.querySelector('.arms .trail.real').getAttribute('points').split(' ').length > 3", "a trail")
    browser.wait("/Tools apart\\s+[0-9.]+.mm/.test(document.querySelector('.tab').innerText)", "how far apart")
    assert tabs_of(browser) == set(TABS) - {"map"}, tabs_of(browser)
    drawing = "document.querySelectorAll('.arms svg')[2].querySelector('.tick line').getAttribute('x2')"
    before = browser.value(drawing)
    browser.run("document.querySelector('.arms figure[tabindex]').focus()")
    browser.press(Keys.ARROW_RIGHT)
    browser.wait(f"{drawing} !== '{before}'", "it is turned")
    browser.open("#/pair/ur/calibration")
    drawn(browser, "ur", "calibration")
    browser.wait("document.querySelector('.law')?.innerText.includes('T(v, a)')", "the law of its moves", 60)
    browser.wait("document.querySelector('.chart canvas')", "a parameter that was fitted, not an empty chart")
    check_sound(browser, "the law of an arm")
    browser.open("#/pair/ur/overview")
    browser.wait("document.querySelector('.pair-overview td')", "the calibration in short")
    browser.resize((1280, 800))
    wide = browser.value("(n => n.scrollWidth - n.clientWidth)(document.querySelector('.pair-overview .scroll'))")
    assert wide <= 0, f"the overview of an arm is cut by {wide} px"
    browser.resize(DESKTOP)
    browser.open("#/pair/ur/calibration")
    drawn(browser, "ur", "calibration")
    browser.shots("arm-law")


def check_tabs(browser):
    assert tabs_of(browser) == set(TABS) - {"arm"}, tabs_of(browser)
    for tab, words in TABS.items():
        pair = {"following": "boat", "map": "base", "machines": "base", "arm": "ur"}.get(tab, "r1")
        browser.open(f"#/pair/{pair}/{tab}")
        drawn(browser, pair, tab)
        browser.wait(f"document.querySelector('#content').innerText.includes({json.dumps(words)})", f"{tab}: {words}")
        if tab == "following":
            browser.driver.refresh()
            browser.wait("document.querySelectorAll('.tab .chart canvas').length >= 7", "the last minutes, at once")
        if tab == "lag":
            browser.wait("document.querySelector('.chart canvas')", "the chart")
            browser.wait("/predicted lags? held|No predicted lag/.test(document.querySelector('#content').innerText)",
                         "the gauge")
            browser.click("Ask")
            browser.wait("/(Yes|No|Not known): /.test(document.querySelector('#content .notice')?.innerText)", "the answer")
        check_sound(browser, tab)
        browser.shots(tab)


def check_dynamics(browser):
    """Measured and modelled response to the efforts, axis by axis, with gain and time constant in words."""
    browser.open("#/pair/vessel/dynamics")
    drawn(browser, "vessel", "dynamics")
    browser.wait("document.querySelectorAll('.predicted svg .trace.simulated').length >= 3", "simulated velocities", 60)
    words = browser.text(".predicted")
    for part in ("surge force", "m/s", "(gain)", "(time constant)", "RMS"):
        assert part in words, (part, words)
    browser.wait("document.querySelector('.chart canvas')", "the history of fits")
    check_sound(browser, "dynamics")
    browser.shots("dynamics-learnt")


def fits_shown(browser):
    """The texts of the calibration history."""
    browser.open("#/pair/r1/calibration")
    drawn(browser, "r1", "calibration")
    browser.wait("document.querySelector('.chart canvas')", "the history of fits")
    words = browser.value("document.querySelector('.chart').getAttribute('aria-label')")
    return int(words.split(" in ")[1].split(" fit")[0])


def check_history(browser, lab):
    """The daemon stores it: a page that has just been opened shows earlier fits."""
    def kept():
        """The fits with the speed that the page shows first."""
        fits = map(json.loads, lab.records("r1", "fits"))
        return sum(f["side"] == "real" and f["values"]["linear_speed_mps"] is not None for f in fits)

    lab.wait(lambda: kept() >= 3, "three fits", 90)
    before = kept()
    browser.open("#/")
    browser.driver.refresh()
    lab.wait(lambda: fits_shown(browser) >= before, f"{before} fits on the page")
    browser.run("""const side = document.getElementById('side');
        side.value = 'virtual';
        side.dispatchEvent(new Event('change'));""")
    browser.wait("document.querySelector('.chart').getAttribute('aria-label').includes('virtual')", "the other robot")


def check_aligned_map(browser, lab):
    """The map shows the comparison of following: the real vessel in the virtual one's frame, and at its reported
    place.
    """
    def apart():
        data = lab.get("/api/v1/pairs/boat/trajectory")
        (_, rx, ry, _), (_, vx, vy, _) = data["real"][-1], data["virtual"][-1]
        return math.hypot(rx - vx, ry - vy)

    lab.put("/api/v1/pairs/boat/following", '{"active":false}')
    lab.wait(lambda: apart() > 1, "the real one leaves", 30)
    lab.put("/api/v1/pairs/boat/following", '{"active":true}')
    browser.open("#/pair/boat/map")
    drawn(browser, "boat", "map")
    browser.wait("document.querySelector('.tab').innerText.includes('Apart, as reported')", "both distances")
    place = "(side => document.querySelector('.map path.robot.' + side).getAttribute('transform').match(/-?[0-9.]+/g))"
    (tx, ty, _), (rx, ry, _), (vx, vy, _) = (map(float, browser.value(f"{place}('{side}')"))
                                             for side in ("reported", "real", "virtual"))
    assert math.hypot(rx - vx, ry - vy) < math.hypot(tx - vx, ty - vy), ((tx, ty), (rx, ry), (vx, vy))
    browser.shots("map-aligned")


def check_map(browser, lab):
    """The scale follows keys, rays of a lidar are drawn, and the slider shows where the robots were."""
    browser.open("#/pair/base/map")
    drawn(browser, "base", "map")
    scale = "document.querySelector('.map .scale-bar text')?.textContent"
    before = browser.wait(scale, "the scale")
    browser.run("document.querySelector('figure.map').focus()")
    for _ in range(3):
        browser.press("+")
    browser.wait(f"{scale} !== '{before}'", "another scale")
    browser.press("0")
    browser.wait(f"{scale} === '{before}'", "all of it fits again")
    lab.publish("tandem/v1/base/real/reply", '{"id":"ray1","status":"data","values":{"angle_rad":0.5,"range_m":1}}')
    browser.wait("document.querySelectorAll('.map .sweep.real').length === 1", "the end of a ray")
    lab.wait(lambda: browser.value("document.querySelector('.map .track.real')?.getAttribute('points').split(' ').length") > 5,
             "a track", 30)
    robot = "document.querySelector('.map .robot.real').getAttribute('transform')"
    now = browser.value(robot)
    browser.run("""const slider = document.getElementById('map-time');
        slider.value = -5;
        slider.dispatchEvent(new Event('input'));""")
    browser.wait(f"document.querySelector('.map-time output').innerText.includes('ago') && {robot} !== '{now}'",
                 "five seconds ago")
    check_sound(browser, "map")
    browser.shots("map-past")


def check_team_map(browser):
    browser.open("#/pair/r1/map")
    drawn(browser, "r1", "map")
    browser.wait("!document.querySelector('#map-team').closest('span').hidden", "the pair is of a team")
    browser.find("#map-team").click()
    browser.wait("document.querySelectorAll('.map .robot-label').length === 2", "both robots of the team")
    check_sound(browser, "team map")
    browser.shots("team-map")


def check_quiet_pair(browser):
    """If data are missing, the page says which, and how to get them."""
    for tab in TABS:
        browser.open(f"#/pair/quiet/{tab}")
        drawn(browser, "quiet", tab)
        assert not browser.value("document.querySelector('.tab .failure')"), (tab, browser.text())
        assert len(browser.text(".tab")) > 20, tab
    browser.shots("empty")
    for place in ("#/pair/nobody/lag", "#/pair/r1/nonsense", "#/nowhere"):
        browser.open(place)
        browser.wait("document.querySelector('#content .failure')", f"{place} is refused in words")


# ---- updates without an action ----

def newest(browser):
    return int(browser.value("document.querySelector('.tab tbody td')?.textContent || 0"))


def check_live(browser, lab):
    browser.open("#/pair/r1/lag")
    drawn(browser, "r1", "lag")
    browser.wait("document.querySelector('.tab tbody td')", "the table")
    browser.run("window.sameDocument = true")
    browser.wait("document.querySelector('.stream-state').textContent.includes('live')", "the stream is live")
    before = newest(browser)
    begin = time.monotonic()
    browser.wait(f"Number(document.querySelector('.tab tbody td').textContent) >= {before + 3}", "three more moves")
    assert browser.value("window.sameDocument"), "it was reloaded"
    print(f"three more moves after {time.monotonic() - begin:.1f} s")


def check_machines(browser):
    browser.open("#/pair/base/machines?machine=tandem.link")
    drawn(browser, "base", "machines")
    browser.wait("document.querySelector('.diagram .node.now')", "a state is lit")
    lit, left = set(), set()
    end = time.monotonic() + 20
    while (len(lit) < 2 or len(left) < 2) and time.monotonic() < end:
        lit |= set(browser.value("[...document.querySelectorAll('.diagram .node.now')].map(n => n.id)"))
        left |= set(browser.value("[...document.querySelectorAll('.diagram .node.recent')].map(n => n.id)"))
        time.sleep(0.05)
    assert len(lit) >= 2 and len(left) >= 2 and all(name.startswith("link.") for name in lit | left), (lit, left)
    browser.wait("document.querySelector('.diagram .edge.last')?.id.startsWith('link.arc.')", "the last arc is lit")
    browser.click("l0main")
    browser.wait("document.querySelector('.diagram .node.now')?.id.startsWith('l0main.')", "the robot's machine is lit")
    assert browser.value("location.hash").endswith("machine=real.l0main")
    browser.wait("document.querySelector('.diagram .edge.last')?.id.startsWith('l0main.arc.')", "and its last arc")


def check_drawn(browser, lab):
    """A robot's own machine, as its author drew it."""
    for state, arc in (("LISTEN", 1), ("TURN", 0)):
        lab.publish("tandem/v1/r1/real/machines", {"Drive": {"state": state, "A": 0.5, "arc": arc}})
        browser.open("#/pair/r1/machines?machine=real.Drive")
        browser.wait(f"document.querySelector('.diagram .drawn .state.now')?.id === 'Drive.{state}'", f"{state} is lit")
        assert browser.value("document.querySelectorAll('.diagram .state.now').length") == 1
        assert browser.value("[...document.querySelectorAll('.diagram .arc.last')].map(a => a.dataset.arcs)") == [str(arc)]


# ---- a team ----


def make_team(lab):
    """The shipped team of class 3 with many parts, and robots fast enough for the test; and that of the plan."""
    head = lab.lab.read_text()
    plan = (SOURCE / "config/examples/class4_plan.yaml").read_text()
    plan = re.sub(r"pair: r[12], ", "", plan[plan.index("  cell:"):]).replace("cell:", "planned:")
    text = (SOURCE / "config/examples/class3.yaml").read_text()
    text = re.sub(r"buffers: .*", f"buffers: {{IB: [{', '.join('ab' * 40)}]}}", text[text.index("defaults:"):])
    lab.lab.write_text(head[:head.index("\npairs:")] + "\n" + text + plan)


def check_plan(browser):
    """The plan before anything is measured; with more room; and a wrong question."""
    browser.open("#/team/planned")
    browser.wait("document.querySelectorAll('.plan-chart g').length === 9", "six tasks, one of both robots, two clashes")
    words = browser.text()
    for part in ("Nothing runs the plan", "52.0 s", "No plan of these tasks is shorter", "75 % of 200 plays", "a1 and b1 both need IB",
                 "6 of 6 guesses"):
        assert part in words, (part, words)
    check_sound(browser, "team, planned")
    browser.shots("team-plan")
    browser.find("#plan-set").send_keys("IB.capacity=2", Keys.ENTER)
    browser.wait("document.querySelectorAll('.plan-chart g').length === 7", "no clash with two places")
    assert "set=IB.capacity%3D2" in browser.value("location.hash"), browser.value("location.hash")
    browser.find("#plan-set").send_keys(",R9.speed=+5%", Keys.ENTER)
    browser.wait("document.body.innerText.includes(\"no robot and no resource of team planned is called 'R9'\")", "who is meant")


def check_team(browser, lab):
    """Before it begins, at work with its prediction, in trouble; the steps that lead to it are marked."""
    browser.open("#/team/cell")
    browser.wait("document.querySelector('h1')?.textContent === 'Team cell'", "the team")
    browser.wait("document.querySelector('.main-nav a[aria-current]')?.textContent === 'Team cell'", "its place is marked")
    browser.wait("document.body.textContent.includes('Nothing was predicted yet')", "nothing has begun")
    check_sound(browser, "team, not begun")
    lab.fetch("/api/v1/teams/cell/start", "POST", b"", TOKEN)
    browser.wait("document.querySelector('.team-chart .forecast')", "the prediction")
    browser.wait("document.querySelector('.team-chart .now')", "and where it begins")
    browser.wait("document.querySelector('.diagram .node.now')", "a machine is lit")
    link = browser.value("[...document.querySelectorAll('td a')].map(a => a.getAttribute('href'))")
    assert "#/pair/r1" in link, link
    browser.wait("/nine of ten/.test(document.body.textContent) && /[0-9.]+ s .[0-9.]+ to [0-9.]+/.test(document.body.textContent)",
                 "P05 to P95")
    assert browser.value("!!document.querySelector('.team-chart .begin')"), "where activities are predicted to begin"
    width = "document.querySelector('.diagram svg').getBoundingClientRect().width"
    before = browser.value(width)
    browser.run("document.querySelector('.diagram').parentNode.querySelector('[aria-label=Closer]').click()")
    browser.wait(f"{width} > 1.2 * {before}", "the drawing is larger")
    check_sound(browser, "team, at work")
    browser.shots("team")
    browser.click("resource")
    browser.wait("document.querySelector('.diagram .node.now')?.id.startsWith('resource.')", "a unit's machine is lit")
    lab.fetch("/api/v1/teams/cell/robots/R1/abort", "POST", b"", TOKEN)
    browser.wait("[...document.querySelectorAll('td')].some(td => td.textContent.includes('in error'))", "R1 failed")
    browser.wait("document.body.textContent.includes('took another path')", "an unpredicted path")
    check_sound(browser, "team, in trouble")
    browser.open("#/")
    browser.wait("document.querySelector('.main-nav a[aria-current]')?.textContent === 'Pairs'", "back at the pairs")
    browser.open("#/team/nobody")
    browser.wait("document.querySelector('#content .failure')", "there is no such team")


# ---- by keyboard ----

def focused(browser):
    return browser.value("""(n => ({
        tag: n.tagName, text: n.textContent.trim().slice(0, 40), href: n.getAttribute('href'),
        outline: getComputedStyle(n).outlineStyle + getComputedStyle(n, '::after').outlineStyle
    }))(document.activeElement)""")


def check_keyboard(browser):
    browser.open("#/")
    browser.wait("document.querySelectorAll('.card').length >= 4", "cards")
    browser.run("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    browser.driver.refresh()
    browser.wait("document.querySelectorAll('.card').length >= 4", "cards")
    seen = []
    for _ in range(40):
        browser.press(Keys.TAB)
        now = focused(browser)
        if now["tag"] != "BODY":
            assert "solid" in now["outline"] or "auto" in now["outline"], ("focus is not seen", now)
        seen.append(now)
        if now["href"] == "#/pair/r1":
            break
    texts = [n["text"] for n in seen]
    assert texts[0] == "Skip to the content", texts
    assert "Pairs" in texts and "Offline" in texts and seen[-1]["href"] == "#/pair/r1", texts
    browser.press(Keys.ENTER)
    browser.wait("document.querySelector('.tabs')", "Enter opens the pair")
    browser.run("document.querySelector('.tabs a').focus()")
    browser.press(Keys.ARROW_RIGHT)
    browser.press(Keys.ENTER)
    drawn(browser, "r1", "lag")


# ---- actions that change the lab ----

def check_promotion(browser, lab):
    """Propose, promote and roll back; the page asks for the token once."""
    browser.open("#/pair/r1/parameters")
    drawn(browser, "r1", "parameters")
    if not browser.value("[...document.querySelectorAll('button')].some(b => b.textContent.startsWith('Promote set'))"):
        browser.click("Make a candidate now …")
        answer(browser, "Make a candidate")
    promote = "[...document.querySelectorAll('.tab button')].find(b => b.textContent.startsWith('Promote set'))"
    browser.wait(promote, "there is a candidate")
    browser.value(promote).click()
    answer(browser, browser.value("document.querySelector('dialog .actions button').textContent"))
    browser.wait("document.querySelector('.tab').innerText.includes('Roll back set')", "it is in force")
    assert lab.get("/api/v1/pairs/r1/parameters")["active"], "the daemon has it too"
    browser.shots("parameters-promoted")
    back = "[...document.querySelectorAll('.tab button')].find(b => b.textContent.startsWith('Roll back set'))"
    browser.value(back).click()
    answer(browser, browser.value("document.querySelector('dialog .actions button').textContent"))
    lab.wait(lambda: not lab.get("/api/v1/pairs/r1/parameters")["active"], "it is out of force", PATIENCE_S)


def answer(browser, label):
    """The question on the page, with the token where it is needed. A wrong token is refused with a text."""
    browser.wait("document.querySelector('dialog[open]')", "a question")
    if browser.value("!!document.querySelector('dialog #token')"):
        browser.find("dialog #token").send_keys("wrong")
        browser.click(label, "dialog .actions")
        browser.wait("document.querySelector('dialog .failure')", "a wrong token is refused")
        assert "Wrong token" in browser.text("dialog .failure"), browser.text("dialog")
        browser.press(Keys.ESCAPE)
        browser.wait("!document.querySelector('dialog')", "Escape closes it")
        give_token(browser)
        browser.run("[...document.querySelectorAll('.tab button')]"
                    ".find(b => b.textContent.startsWith(arguments[0])).click()", label[:14])
        browser.wait("document.querySelector('dialog[open]')", "the question again")
    browser.click(label, "dialog .actions")
    browser.wait("!document.querySelector('dialog')", f"{label}: done")


def give_token(browser):
    browser.find("#top .tools button").click()
    browser.wait("document.querySelector('dialog #token')", "the token is asked for")
    field = browser.find("dialog #token")
    field.clear()
    field.send_keys(TOKEN)
    browser.press(Keys.ENTER)
    browser.wait("!document.querySelector('dialog')"
                 " && document.querySelector('#top').innerText.includes('Token given')", "the token is stored")


def upload(browser, path, fill=None, refused=False):
    browser.open("#/offline")
    browser.wait("document.querySelector('#recording')", "where to choose a file")
    browser.find("#recording").send_keys(str(path))
    browser.wait("document.querySelector('.job-request')", "the file is understood")
    if fill:
        fill()
    browser.click("Upload and run")
    if refused:
        browser.wait("document.querySelector('#content .job-request .failure')", "it is refused")
        browser.wait("document.querySelector('dialog #token')", "another token is asked for")
        browser.press(Keys.ESCAPE)
        return
    browser.wait("location.hash.startsWith('#/offline/')", "uploaded")
    browser.wait("""document.querySelector('#content h1')?.textContent.startsWith('A recording')
        && document.querySelector('#content section h2, #content .failure')""", "the result", 60)


def check_download(browser, lab):
    """The table as a file: fetched with the token, which a plain link could not carry."""
    browser.open("#/pair/r1/lag")
    drawn(browser, "r1", "lag")
    browser.run("""
        const plain = window.fetch, made = URL.createObjectURL;
        window.asked = [];
        window.fetch = (address, options) => {
            window.asked.push([String(address), options?.headers?.Authorization ?? ""]);
            return plain(address, options);
        };
        URL.createObjectURL = blob => {
            blob.text().then(text => { window.saved = text; });
            return made.call(URL, blob);
        };""")
    browser.click("Table as CSV")
    browser.wait("window.saved", "the file")
    assert browser.value("window.saved").startswith("pair,n,"), browser.value("window.saved")[:100]
    asked = [header for address, header in browser.value("window.asked") if "format=csv" in address]
    assert asked == ["Bearer " + TOKEN], asked
    browser.run("window.saved = ''")
    browser.click("Report")
    browser.wait("window.saved", "the report")
    assert browser.value("window.saved").startswith("<!doctype html>"), browser.value("window.saved")[:100]
    assert browser.value("location.hash") == "#/pair/r1/lag"


def check_uploads(browser, lab):
    journal = lab.folder / "copy.jsonl"
    shutil.copy(sorted((lab.folder / "journal").glob("*.jsonl"))[0], journal)
    browser.open("#/offline")
    browser.wait("document.querySelector('.drop')", "where to drop a file")
    check_sound(browser, "offline")
    browser.shots("offline")
    upload(browser, journal)
    browser.wait("document.querySelector('.chart canvas')", "the lag of the recording")
    for words in ("Verdicts", "Travel times", "Laps against the fit", "Alarms"):
        assert words in browser.text(), words
    check_sound(browser, "a recording replayed")
    browser.shots("replay")

    table = lab.folder / "moves.csv"
    table.write_text(lab.fetch("/api/v1/pairs/r1/entries?format=csv&limit=1000"))
    upload(browser, table)
    browser.wait("document.querySelector('.chart canvas')", "the lag of the table")

    upload(browser, SOURCE / "tests/golden/usv_W.csv", lambda: browser.find("#columns").send_keys(COLUMNS))
    browser.wait("document.querySelector('#content').innerText.includes('surge mass')", "the fit's parameters", 60)
    assert "usv_W.csv" in browser.text(), browser.text()
    assert "125.71" in browser.text(), browser.text()
    check_sound(browser, "a fit")
    browser.shots("fit")

    long = lab.folder / "long.csv"
    long.write_text("rotation_rad,real_lap_s\n" + "0.5,1.25\n" * 700000)
    browser.run("sessionStorage.setItem('tandem-token', 'wrong')")
    upload(browser, long, refused=True)
    assert "wrong token" in browser.text("#content .failure"), browser.text()
    browser.run("sessionStorage.setItem('tandem-token', arguments[0])", TOKEN)

    broken = lab.folder / "broken.csv"
    broken.write_text("t,tau_u,tau_v,tau_r,u,v,r\n0,1,0,0,fast,0,0\n")
    upload(browser, broken)
    assert "broken.csv:2:9" in browser.text() and "'fast' is not a number" in browser.text(), browser.text()
    browser.click("Another recording")
    browser.wait("document.querySelectorAll('#content tbody tr').length >= 4", "what was uploaded before")


def timed(what, check, *arguments):
    begin = time.monotonic()
    check(*arguments)
    print(f"{what}: {time.monotonic() - begin:.1f} s", flush=True)


with Lab() as lab:
    lab.start_daemon(PATIENCE_S)
    lab.start_robots()
    lab.put("/api/v1/pairs/boat/following", '{"active":true}')
    with Browser(lab.address, "view") as browser:
        timed("overview", check_overview, browser, lab)
        timed("live", check_live, browser, lab)
        timed("tabs", check_tabs, browser)
        timed("dynamics", check_dynamics, browser)
        timed("history", check_history, browser, lab)
        timed("aligned map", check_aligned_map, browser, lab)
        timed("map", check_map, browser, lab)
        timed("arm", check_arm, browser)
        timed("machines", check_machines, browser)
        timed("drawn", check_drawn, browser, lab)
        timed("nothing there", check_quiet_pair, browser)
        timed("keyboard", check_keyboard, browser)
        timed("promotion", check_promotion, browser, lab)
        timed("download", check_download, browser, lab)
        timed("uploads", check_uploads, browser, lab)
        # The daemon refuses missing resources and the wrong token: the browser itself logs these answers.
        browser.check_quiet(allowed=("replay?name=long.csv", "the server responded with a status of 401"))

with Lab() as lab:
    make_team(lab)
    lab.start_daemon(PATIENCE_S)
    for pair, pose in (("r1", "-1.5,0,0"), ("r2", "1.5,0,0")):
        lab.start("robot", "--pair", pair, "--mode", "link", "--side", "both", "--telemetry-rate", 1, "--pose=" + pose,
                  "--linear-speed", "4", "--angular-speed", "10", "--t0", "0.02")
    lab.wait_online("r1", "r2")
    with Browser(lab.address, "view") as browser:
        timed("team", check_team, browser, lab)
        timed("team map", check_team_map, browser)
        timed("plan", check_plan, browser)
        browser.check_quiet(allowed=("plan?set=",))
