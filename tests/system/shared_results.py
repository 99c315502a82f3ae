"""Results of two daemons in one PostgreSQL: lists and charts of all pairs from either, live things from the owner, an
outage of the database, restarts, and labs that are refused.
"""
import http.client
import os
import signal
import subprocess

from postgresql import Cluster, create_tables, join_database
from rig import TANDEM, Rig
from waiting import limit_s


def move_pair(rig, pair, first, last):
    """Commands with both replies, and all of their entries."""
    for n in range(first, last):
        rig.publish(f"tandem/v1/{pair}/command", {"id": f"{pair}-{n}", "op": "go", "displacement_m": 0.5})
        for side in ("virtual", "real"):
            rig.publish(f"tandem/v1/{pair}/{side}/reply", {"id": f"{pair}-{n}", "status": "done"})
    rig.wait(lambda: rig.get(f"/api/v1/pairs/{pair}")["entries"] == last, f"{last} entries of {pair}", 20)


def ask(rig, path):
    """Status, Location and text of an answer that is not followed."""
    connection = http.client.HTTPConnection("127.0.0.1", rig.http_port, timeout=limit_s(30))
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.getheader("Location"), text


def check_same(north, south):
    """Both daemons give the same bytes for lists and charts of both pairs."""
    north.wait_stored("r1")
    south.wait_stored("r2")
    for path in ("/api/v1/entries?limit=500", "/api/v1/pairs/r1/entries?order=oldest&limit=7",
                 "/api/v1/pairs/r2/series?points=20", "/api/v1/pairs/r2/entries?format=csv", "/api/v1/pairs/r1/alarms"):
        one, two = ask(north, path), ask(south, path)
        assert one == two and one[0] == 200, (path, one, two)
    ids = [entry["id"] for entry in north.get("/api/v1/entries?limit=500")["entries"]]
    assert len(ids) == len(set(ids)), ids
    return set(ids)


def check_live(north, south):
    """Readers of live things are sent to the owner."""
    path = "/api/v1/pairs/r2/clock?x=1"
    status, location, _ = ask(north, "/api/v1/pairs/r2")
    assert (status, location) == (307, f"http://127.0.0.1:{south.http_port}/api/v1/pairs/r2"), (status, location)
    assert north.get("/api/v1/pairs/r2")["id"] == "r2"  # urllib follows
    assert ask(north, "/api/v1/pairs/r3")[0] == 404, path


def refused(rig, text):
    run = subprocess.run([TANDEM, "serve", "-c", rig.lab], capture_output=True, text=True, timeout=limit_s(60), check=False)
    assert run.returncode != 0 and text in run.stderr, run.stderr
    for check in (["db", "check", "-c"], ["serve", "--check"]):
        run = subprocess.run([TANDEM, *check, rig.lab], capture_output=True, text=True, timeout=limit_s(60), check=False)
        assert run.returncode == 1 and "fault " in run.stdout and text in run.stdout, (check, run)


def check_refusals(cluster, lab_of):
    """A second lab of a name, a second instance, and a pair of another lab."""
    for name, instance, pairs, text in (("north", "c", "r5: {}", "stores results of the lab north"),
                                        ("east", "a", "r5: {}", "another daemon is the instance a"),
                                        ("east", "c", "r1: {}", "r1 is a pair or team of the lab north")):
        with Rig(pairs=pairs) as rig:
            join_database(rig, cluster, name, instance)
            refused(rig, text)


def stop_database(cluster, number):
    """Freezes or continues the server."""
    postmaster = int((cluster.folder / "s1/postmaster.pid").read_text().splitlines()[0])
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(postmaster)], capture_output=True, text=True, check=True)
    for pid in (postmaster, *map(int, children.stdout.split())):
        os.kill(pid, number)


def check_outage(cluster, rig):
    """The database is frozen: readiness says so before anything is to be stored, and the lab goes on; afterwards the
    database has all.
    """
    stop_database(cluster, signal.SIGSTOP)
    rig.wait(lambda: ask(rig, "/readyz")[0] == 503, "not ready", 60)
    rig.wait(lambda: "store_down" in rig.daemon_log.read_text(), "store_down", 60)
    move_pair(rig, "r1", 20, 40)
    assert "no answer" in ask(rig, "/readyz")[2], ask(rig, "/readyz")
    rig.wait(lambda: ask(rig, "/api/v1/pairs/r2/entries")[0] == 503, "lists are refused", 60)
    assert ask(rig, "/api/v1/pairs/r1")[0] == 200  # what is live needs no database
    stop_database(cluster, signal.SIGCONT)
    rig.wait(rig.ready, "ready again", 60)
    rig.wait_stored("r1")
    log = rig.daemon_log.read_text()
    assert "store_down" in log and "store_up" in log, log


def check_status(cluster, rig):
    """tandem status shows what is live while the database is away."""
    stop_database(cluster, signal.SIGSTOP)
    for pair in ((), ("r6",)):
        run = subprocess.run([TANDEM, "status", *pair, "--url", f"http://127.0.0.1:{rig.http_port}"], capture_output=True,
                             text=True, timeout=limit_s(60), check=False)
        assert run.returncode in (0, 1) and "alarms" in run.stdout and "/alarms" in run.stderr, run
    stop_database(cluster, signal.SIGCONT)


with Cluster(1) as cluster, Rig(pairs="r1: {}") as north, Rig(pairs="r2: {}") as south:
    join_database(north, cluster, "north", "a")
    join_database(south, cluster, "south", "b")
    create_tables(north, cluster)
    north.start_daemon()
    south.start_daemon()
    for rig, pair, lab, owner in ((north, "r2", "south", south), (south, "r1", "north", north)):
        other = {"pair": pair, "lab": lab, "address": f"http://127.0.0.1:{owner.http_port}", "running": True}
        rig.wait(lambda: rig.get("/api/v1/shared-pairs") == [other], f"{pair} of {lab}", 20)
    move_pair(north, "r1", 0, 20)
    move_pair(south, "r2", 0, 20)
    assert len(check_same(north, south)) == 40
    check_live(north, south)
    check_refusals(cluster, north)
    check_outage(cluster, north)
    assert len(check_same(north, south)) == 60
    # Nobody is sent to a daemon that does not run, or back to this one.
    south.stop_daemon()
    cluster.sql("UPDATE tandem.instance SET seen = now() - interval '1 hour' WHERE name = 'b'", database="tandem")
    north.wait(lambda: ask(north, "/api/v1/pairs/r2")[0] == 503, "south does not run", 20)
    assert "lab south: ask its daemon, which does not run" in ask(north, "/api/v1/pairs/r2")[2]
    south.start_daemon()
    cluster.sql("INSERT INTO tandem.instance SELECT 'd', 'west', home, version, fingerprint, address, n, now() + interval '1 hour' "
                "FROM tandem.instance WHERE name = 'a'; INSERT INTO tandem.pairs VALUES ('r4', 'west')", database="tandem")
    north.wait(lambda: ask(north, "/api/v1/pairs/r4")[0] == 404 and "of this one" in ask(north, "/api/v1/pairs/r4")[2],
               "the same address", 20)
    assert "shared-pairs" in ask(north, "/api/v1/pairs/r9")[2]
    # A restart finds its results; one whose checkpoint is gone reads its journal and stores nothing twice.
    north.stop_daemon()
    (north.folder / "checkpoint").unlink()
    north.start_daemon()
    assert len(check_same(north, south)) == 60
    move_pair(north, "r1", 40, 45)
    assert len(check_same(north, south)) == 65
    rows = cluster.sql("SELECT count(*), count(DISTINCT seq), count(DISTINCT p) FROM tandem.entries", database="tandem")
    assert rows.split("|")[0] == "65" and rows.split("|")[2] == "2", rows
    # A lab with a new name and the same files: its results are listed once. The old lab's stay for SQL.
    north.stop_daemon()
    north.lab.write_text(north.lab.read_text().replace("name: north", "name: north2").replace("instance: a", "instance: a2"))
    refused(north, "tandem db retire -c FILE --lab north")
    retire = [TANDEM, "db", "retire", "-c", north.lab, "--lab", "north"]
    south.wait(lambda: subprocess.run(retire, capture_output=True, check=False).returncode == 0, "retired", 60)
    north.start_daemon()
    north.wait(lambda: cluster.sql("SELECT count(*) FROM tandem.entries WHERE p = 'north2'", database="tandem") == "45",
               "results of the new name", 60)
    assert len(check_same(north, south)) == 65
    assert sum(b["count"] for b in south.get("/api/v1/pairs/r1/series?points=20")["buckets"]) == 45
    # A pair that the lab file no longer has is free.
    assert cluster.sql("SELECT p FROM tandem.pairs WHERE pair = 'r1'", database="tandem") == "north2"
    north.stop_daemon()
    north.lab.write_text(north.lab.read_text().replace("r1: {}", "r6: {}"))
    north.start_daemon()
    south.wait(lambda: [other["pair"] for other in south.get("/api/v1/shared-pairs")] == ["r4", "r6"], "r1 is free", 60)
    check_status(cluster, north)
