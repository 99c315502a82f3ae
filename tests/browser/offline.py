"""Recordings on the page, in a lab without robots: a table that is looked at without the token, with a held-out one,
and what the report shows of it; a page of another site that tries the same; a journal, which needs the token.
"""
import http.server
import json
import pathlib
import re
import threading

from axe import check_accessible
from browser import PATIENCE_S, Browser, Keys
from lab import TOKEN, Lab
from rig import SOURCE

CONTRAST = (pathlib.Path(__file__).parent / "contrast.js").read_text()
COLUMNS = "tau_u=Tu,tau_v=Tv,tau_r=Tr,u=u_meas,v=v_meas,r=r_meas"
GOLDEN = SOURCE / "tests/golden"
DESK = (1280, 800)


def choose(browser, path):
    browser.open("#/offline")
    browser.wait("document.querySelector('#recording')", "where to choose a file")
    browser.find("#recording").send_keys(str(path))


def run(browser, path, held_out=None, columns=None):
    choose(browser, path)
    browser.wait("document.querySelector('.job-request')", "the file is understood")
    if columns:
        browser.find("#columns").send_keys(columns)
    if held_out:
        browser.find("#held-out").send_keys(str(held_out))
    browser.click("Upload and run")
    browser.wait("location.hash.startsWith('#/offline/')", "uploaded")
    browser.wait("document.querySelector('#content section h2, #content .failure')", "the result", PATIENCE_S)


def check_report(browser):
    """Without the token: values with bars, curves, residuals against each input, the held-out file, parts."""
    assert not browser.value("sessionStorage.getItem('tandem-token')")
    browser.open("#/offline")
    browser.wait("document.querySelector('.drop')?.innerText.includes('Give the token')", "what needs the token")
    run(browser, GOLDEN / "usv_IA.csv", GOLDEN / "usv_W.csv", COLUMNS)
    words = browser.text()
    for part in ("surge mass", "Measured against model", "What was tried", "held out", "white noise"):
        assert part in words, (part, words)
    assert "usv_IA.csv" in browser.text("#content .bar"), browser.text("#content .bar")
    browser.wait("document.querySelectorAll('.chart canvas').length >= 3", "three velocities over time")
    plots = browser.value("[...document.querySelectorAll('.residuals figcaption')].map(n => n.textContent)")
    assert plots[:4] == ["over time", "against surge force", "against yaw moment", "over time"], plots
    assert len(plots) == 9, plots
    assert browser.value("document.querySelectorAll('.intervals').length") >= 9
    first = browser.value("document.querySelector('.residuals .move').outerHTML")
    browser.run("""const curve = document.getElementById('curve');
        curve.value = '1';
        curve.dispatchEvent(new Event('change'));""")
    browser.wait("document.querySelectorAll('.residuals figcaption').length === 9"
                 f" && document.querySelector('.residuals .move').outerHTML !== {json.dumps(first)}", "the held-out file")


def check_files(browser):
    """One picture of all interval bars, not one of each."""
    browser.run("[...document.querySelectorAll('.panel')].find(n => n.innerText.startsWith('Parameters'))"
                ".querySelector('.help').click()")
    browser.wait("document.querySelector('dialog[open] .bar button')", "the files of the panel")
    labels = browser.value("[...document.querySelectorAll('dialog .bar button')].map(b => b.textContent)")
    assert labels[:2] == ["Intervals as SVG", "Intervals as PNG"] and all("Table" in label for label in labels[2:]), labels
    browser.run("""const made = URL.createObjectURL;
        URL.createObjectURL = blob => {
            blob.text().then(text => { window.saved = text; });
            return made.call(URL, blob);
        };""")
    browser.click("Intervals as SVG", "dialog")
    picture = browser.wait("window.saved", "the picture")
    assert picture.count("<text") == browser.value("document.querySelectorAll('.panel .scroll .intervals').length - "
                                                   "[...document.querySelectorAll('.panel')].filter(n => !n.innerText.startsWith('Parameters'))"
                                                   ".flatMap(n => [...n.querySelectorAll('.intervals')]).length"), picture[:500]
    assert "surge mass" in picture, picture[:500]
    browser.press(Keys.ESCAPE)


def check_sound(browser, name):
    browser.resize(DESK)
    for theme in ("light", "dark"):
        browser.theme(theme)
        found = browser.run(CONTRAST)
        assert found["seen"] > 5 and not found["weak"], (name, theme, found)
    check_accessible(browser, name)
    browser.check_width(name)
    browser.shots(name)


def check_moves(browser):
    run(browser, GOLDEN / "smartlog.csv")
    assert "Verdicts" in browser.text(), browser.text()
    choose(browser, GOLDEN / "smartlog.csv")
    browser.wait("document.querySelector('.job-request')", "the file is understood")
    browser.run("""const action = document.getElementById('action');
        action.value = 'travel_time';
        action.dispatchEvent(new Event('change'));""")
    browser.click("Upload and run")
    browser.wait("location.hash.startsWith('#/offline/') && document.querySelector('.residuals')", "laps", PATIENCE_S)
    assert "against turn" in browser.text() and "against drive" in browser.text(), browser.text()


def check_token_asked(browser, lab):
    """A journal: the token is asked for before the file is chosen, or when it was dropped. A wrong one is refused at
    once, and the question stays.
    """
    browser.open("#/offline")
    browser.click("Give the token and choose a journal or a longer table …")
    browser.wait("document.querySelector('dialog #token')", "the token is asked for before there is a file")
    browser.press(Keys.ESCAPE)
    browser.wait("!document.querySelector('dialog')", "it is not given")
    assert not browser.value("document.querySelector('#recording').files.length")
    journal = lab.folder / "copy.jsonl"
    journal.write_text('{"tst":"2026-11-20T05:55:55.000000Z","topic":"tandem/v1/quiet/command","payload":{}}\n')
    choose(browser, journal)
    browser.wait("document.querySelector('dialog #token')", "the token is asked for")
    browser.press(Keys.ESCAPE)
    browser.wait("document.querySelector('#content .failure')?.innerText.includes('Nothing was uploaded')", "why nothing happens")
    browser.click("Try again")
    browser.wait("document.querySelector('dialog[open]')?.innerText.includes('copy.jsonl is a journal')", "it is asked for again")
    for text, words in (("", "The token is missing"), ("wrong", "Wrong token")):
        browser.run("document.querySelector('dialog #token').value = arguments[0]", text)
        browser.click("Use it", "dialog")
        browser.wait(f"document.querySelector('dialog .failure')?.innerText.includes('{words}')", words)
        assert not browser.value("sessionStorage.getItem('tandem-token')")
    check_accessible(browser, "a wrong token")
    browser.run("document.querySelector('dialog #token').value = arguments[0]", TOKEN)
    browser.click("Use it", "dialog")
    browser.wait("!document.querySelector('dialog') && document.querySelector('.job-request')?.innerText.includes('copy.jsonl')",
                 "the journal goes on")
    browser.click("Upload and run")
    browser.wait("location.hash.startsWith('#/offline/') && document.querySelector('#content .bar')?.innerText.includes('copy.jsonl')",
                 "its name")


FOREIGN = """
const done = arguments[arguments.length - 1];
const address = arguments[0];
const csv = new Blob(["rotation_rad,displacement_m,lap_s\\n1,0,2\\n"], {type: "text/csv"});
const attempt = options => fetch(`${address}api/v1/identify?model=travel_time`, {method: "POST", body: csv, ...options})
    .then(r => `${r.type} ${r.status}`, () => "refused");
Promise.all([attempt({}), attempt({mode: "no-cors"}),
    attempt({headers: {"Content-Type": "text/csv", "Tandem-Page": "look"}}),
    attempt({mode: "no-cors", headers: {"Content-Type": "text/plain", "Tandem-Page": "look"}}),
    attempt({mode: "no-cors", referrerPolicy: "no-referrer"})])
    .then(answers => {
        navigator.sendBeacon(`${address}api/v1/identify?model=travel_time`, csv);
        done(answers);
    });
"""


def refused_tokens(lab):
    found = re.search(r'tandem_http_refused_total\{reason="token"\} (\d+)', lab.fetch("/metrics"))
    return int(found.group(1))


def check_foreign(browser, lab):
    """A page of another site on this machine tries to have a table fitted, in every way that a browser has."""
    handler = type("Page", (http.server.BaseHTTPRequestHandler,), {
        "do_GET": lambda self: (self.send_response(200), self.end_headers(), self.wfile.write(b"<!doctype html><p>x")),
        "log_message": lambda *_: None})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    before = len(lab.get("/api/v1/identify")["jobs"])
    refused = refused_tokens(lab)
    try:
        browser.driver.get(f"http://127.0.0.1:{server.server_port}/")
        answers = browser.driver.execute_async_script(FOREIGN, lab.address)
    finally:
        server.shutdown()
    assert answers == ["refused"] * 5, answers
    assert len(lab.get("/api/v1/identify")["jobs"]) == before, "a foreign page began a job"
    assert refused_tokens(lab) >= refused + 3, "requests without a preflight did not come"


with Lab(pairs="quiet: {}") as lab:
    lab.start_daemon()
    with Browser(lab.address, "offline") as browser:
        browser.resize(DESK)
        browser.open("#/offline")
        browser.wait("document.querySelector('.drop')", "where to drop a file")
        check_sound(browser, "choose")
        check_report(browser)
        check_files(browser)
        check_sound(browser, "report")
        check_moves(browser)
        check_token_asked(browser, lab)
        browser.check_quiet(allowed=("the server responded with a status of 401",))
    with Browser(lab.address, "foreign") as browser:
        check_foreign(browser, lab)
