"""axe.py - the faults that axe-core, which knows the rules of accessibility, finds in a view: none of them may be
serious.
"""
from npm import NPM, npm_has

RUN = """const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then(
    r => done(r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(
        v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ")).join(", "))),
    e => done([String(e)]));"""


def read_axe():
    """Its source, or None: npm has it, Debian has not."""
    if not npm_has("axe-core@4"):
        print("SKIPPED: accessibility by axe-core, which npm has not got for us")
        return None
    return (NPM / "node_modules/axe-core/axe.min.js").read_text()


AXE = read_axe()


def check_accessible(browser, what):
    if AXE is None:
        return
    if not browser.value("!!window.axe"):
        browser.run(AXE)
        # axe-core detects a planted fault: a picture without a text for people who cannot see it.
        browser.run("const i = document.createElement('img'); i.id = 'mute'; document.querySelector('#content').append(i)")
        assert any(f.startswith("image-alt") for f in browser.driver.execute_async_script(RUN)), "axe-core is blind"
        browser.run("document.querySelector('#mute').remove()")
    for theme in ("light", "dark"):
        browser.theme(theme)
        found = browser.driver.execute_async_script(RUN)
        assert not found, (what, theme, found)
    browser.theme("light")
