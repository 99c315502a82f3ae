"""browser.py - the page in a headless Chromium, with the browser's findings: errors, requests, sizes, contrast."""
import base64
import json
import os
import pathlib
import shutil
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SHOTS = pathlib.Path(os.environ.get("BUILD", "build/asan")) / "screenshots"
DESKTOP = (1360, 900)
PHONE = (390, 844)
PATIENCE_S = 40 * int(os.environ.get("TANDEM_PATIENCE", "1"))


class Browser:
    def __init__(self, address, name):
        self.address, self.name = address, name
        self.requests = []
        self.messages = []
        self.profile = tempfile.mkdtemp(prefix="tandem-browser-")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # Root in a container has no sandbox, and /dev/shm is small.
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
                         "--disable-component-update", "--disable-sync",
                         "--disable-default-apps", "--disable-extensions", f"--user-data-dir={self.profile}",
                         f"--window-size={DESKTOP[0]},{DESKTOP[1]}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_page_load_timeout(30)
        self.driver.set_script_timeout(30)
        self.resize(DESKTOP)
        # Recorded over navigations: actions that the page's policy forbade.
        self.command("Page.addScriptToEvaluateOnNewDocument", source="""
            addEventListener('securitypolicyviolation', e => {
                const kept = JSON.parse(sessionStorage.getItem('violations') ?? '[]');
                const what = e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + ':' + e.lineNumber;
                sessionStorage.setItem('violations', JSON.stringify([...kept, what]));
            });""")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    # ---- looking ----

    def open(self, place=""):
        """Opens an address of the page, "#/…"; without a reload if the page is already open."""
        if self.driver.current_url.startswith(self.address):
            self.run("location.hash = arguments[0]", place or "#/")
        else:
            self.driver.get(self.address + place)
        self.wait("document.querySelector('#content h1, #content .card, #content .empty, #content .failure')",
                  f"{place} is drawn")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def value(self, expression, *arguments):
        return self.run(f"return {expression}", *arguments)

    def wait(self, expression, what, seconds=PATIENCE_S):
        end = time.monotonic() + seconds
        while True:
            found = self.value(expression)
            if found:
                return found
            if time.monotonic() > end:
                self.shot("failed")
                raise AssertionError(f"not within {seconds} s: {what}\n{self.value('document.body.innerText')[:3000]}")
            time.sleep(0.05)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, words, within="body"):
        """The button or link with this text."""
        script = f"""[...document.querySelector({json.dumps(within)}).querySelectorAll('button, a, summary')]
            .find(n => n.textContent.trim().endsWith({json.dumps(words)}))"""
        for last in (False, False, True):
            node = self.wait(script, f"there is '{words}'")
            try:
                self.run("arguments[0].scrollIntoView({block: 'center'})", node)
                node.click()
                return
            except StaleElementReferenceException:  # drawn again at this moment
                if last:
                    raise

    def press(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def text(self, selector="#content"):
        return self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    # ---- sizes, colours, pictures ----

    def resize(self, size):
        self.command("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                     mobile=False)

    def theme(self, name):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])
        time.sleep(0.2)

    def shot(self, name, whole=True):
        SHOTS.mkdir(parents=True, exist_ok=True)
        size = self.value("[innerWidth, Math.min(document.documentElement.scrollHeight, 4000)]")
        clip = {"clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}} if whole else {}
        data = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)["data"]
        (SHOTS / f"{self.name}-{name}.png").write_bytes(base64.b64decode(data))

    def shots(self, name):
        """Light, dark, and in the size of a phone."""
        for theme in ("light", "dark"):
            self.theme(theme)
            self.shot(f"{name}-{theme}")
        self.theme("light")
        self.resize(PHONE)
        time.sleep(0.3)
        self.shot(f"{name}-phone")
        self.check_width(name)
        self.resize(DESKTOP)

    def check_width(self, what):
        wide = self.value("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{what}: the page scrolls sideways by {wide} px"

    # ---- errors ----

    def read_logs(self):
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        self.messages += [entry for entry in self.driver.get_log("browser")]

    def check_quiet(self, allowed=()):
        """No error in the console, no forbidden action, no request to another host."""
        self.read_logs()
        loud = [m["message"] for m in self.messages if m["level"] in ("SEVERE", "WARNING")
                and not any(words in m["message"] for words in allowed)]
        assert not loud, loud
        violations = self.value("sessionStorage.getItem('violations')")
        assert not violations, violations
        foreign = [url for url in self.requests if not url.startswith((self.address, "data:", "blob:", "chrome"))]
        assert not foreign, foreign
        assert any("/page/main.js" in url for url in self.requests), "the log of requests is empty"


__all__ = ["Browser", "Keys", "DESKTOP", "PATIENCE_S", "PHONE", "SHOTS"]
