"""A lab that has just begun: the page says which moves are missing instead of FAIL, advises the model of the pair's
kind, asks for no token where the lab has none, and calls the verdict of a robot that has gone a past one.
"""
from axe import check_accessible
from browser import Browser, Keys
from lab import Lab


def check_begun(browser):
    browser.open("#/pair/quiet/calibration")
    browser.wait("document.querySelector('.tab')?.innerText.includes('No moves yet')", "it says what is missing")
    assert "turns on the spot" in browser.text(".tab") and "FAIL" not in browser.text(".tab"), browser.text(".tab")
    assert not browser.value("!!document.querySelector('.tab .plots')"), "empty axes"
    browser.open("#/pair/quiet/dynamics")
    browser.wait("document.querySelector('.tab')?.innerText.includes('model: diffdrive')", "advice for wheels")
    browser.wait("document.querySelector('#top').innerText.includes('Read only')", "no token is asked for")


def check_answers(browser):
    """The only pair has no page of its own, but its answers."""
    browser.press("a")
    browser.wait("document.querySelector('dialog[open]')?.innerText.includes('Five answers about quiet')", "the answers")
    browser.press(Keys.ESCAPE)
    browser.wait("!document.querySelector('dialog')", "they are closed")


def check_offline(browser, lab, robot):
    lab.publish("tandem/v1/quiet/command", '{"id":"c1","op":"go","rotation_rad":0.1,"displacement_m":0.1}')
    lab.wait(lambda: lab.get("/api/v1/pairs/quiet")["last_verdict"] == "SYNC", "a move in step")
    robot.terminate()
    lab.wait(lambda: lab.get("/api/v1/pairs/quiet")["real"]["connection"] == "offline", "it has gone")
    browser.open("#/")
    browser.wait("document.querySelector('.card')?.innerText.includes('was SYNC')", "a past verdict")
    assert not browser.value("!!document.querySelector('.card .last .tone-sync')"), "green, though a robot is offline"


with Lab(pairs="quiet: {}") as lab:
    text = lab.lab.read_text()
    lab.lab.write_text(text.replace(f", token_file: {lab.folder}/token", ""))
    lab.start_daemon()
    with Browser(lab.address, "new") as browser:
        check_begun(browser)
        browser.open("#/")
        browser.wait("document.querySelector('.pair-overview')?.innerText.includes('Health')", "the only pair fills the page")
        check_accessible(browser, "the only pair")
        check_answers(browser)
        robots = [lab.start("robot", "--pair", "quiet", "--side", side, "--t0", "0.02") for side in ("real", "virtual")]
        lab.wait_online("quiet")
        check_offline(browser, lab, robots[0])
        browser.shots("new")
