"""The overview lists the pairs of other labs of the database, with links to their own pages, and says which are away."""
from browser import PATIENCE_S, Browser
from lab import Lab
from postgresql import Cluster, create_tables, join_database

OTHERS = "document.querySelector('nav[aria-label=\"Pairs of other labs\"]')"

with Cluster(1) as cluster, Lab(pairs="r1: {}") as north, Lab(pairs="r2: {}") as south:
    join_database(north, cluster, "north", "a")
    join_database(south, cluster, "south", "b")
    create_tables(north, cluster)
    north.start_daemon(PATIENCE_S)
    with Browser(north.address, "shared_labs") as browser:
        browser.open("#/")
        browser.wait("document.querySelector('article, table')", "the own pair")
        assert browser.value(f"{OTHERS}.hidden")
        south.start_daemon(PATIENCE_S)
        browser.wait(f"{OTHERS}.innerText.includes('r2')", "the pair of the other lab")
        address = browser.value(f"{OTHERS}.querySelector('a').href")
        assert address == f"{south.address}#/pair/r2", address
        assert "south" in browser.text("nav[aria-label='Pairs of other labs']")
        browser.shot("others")
        south.stop_daemon()
        browser.wait(f"{OTHERS}.innerText.includes('south, away')", "the other daemon is away")
