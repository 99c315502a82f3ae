"""The map of the sweeps is a layer of the tab Map: its picture, both robots where it has them, and how far each is off."""
from axe import check_accessible
from browser import PHONE, Browser
from lab import Lab
from lidar_tour import tour
from waiting import limit_s

STOPS = 4
PAIRS = "r1: {timeout_s: 60, live_map: {range_m: 12, x_min_m: -1, y_min_m: -1, x_max_m: 11, y_max_m: 7, every_s: 0.1}}"

with Lab(pairs=PAIRS) as lab:
    journal, _ = tour(STOPS, 1, both=True)
    journal.write(lab.folder / "tour.jsonl")
    lab.start_daemon()
    assert lab.start("play", "--speed", "5", lab.folder / "tour.jsonl").wait(limit_s(60)) == 0
    lab.wait(lambda: lab.get("/api/v1/pairs/r1/map.json")["robots"]["virtual"]["matched"]["matched"] >= STOPS - 1, "sweeps", 20)
    with Browser(lab.address, "live-map") as browser:
        browser.open("#/pair/r1/map")
        browser.wait("document.querySelector('.map image.ground')?.getAttribute('href').startsWith('data:image/png')", "the picture")
        for side in ("real", "virtual"):
            browser.wait(f"document.querySelector('.map path.robot.{side}.located')", f"the {side} robot on the map")
        said = browser.text(".tab")
        assert "Drift of the real robot" in said and f"{STOPS - 1} sweeps matched, 0 not, 0 refused" in said, said
        # The picture lies where its cells are: its width is that of 12 m on the scale of the view.
        ratio = browser.value("(image => image.getAttribute('width') / image.getAttribute('height'))(document.querySelector('.ground'))")
        assert abs(float(ratio) - 12 / 8) < 0.01, ratio
        check_accessible(browser, "the map of the sweeps")
        browser.shots("live-map")
        browser.resize(PHONE)
        browser.check_width("the map of the sweeps, 390")
        browser.check_quiet()
