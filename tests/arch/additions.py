"""Tests that command line, lab file, HTTP and replay show the additions of tests/arch/additions/."""
import os
import subprocess
import sys
import tempfile
import urllib.error

import rig

TANDEM = os.environ["TANDEM"]


def tandem(*arguments, code=0):
    done = subprocess.run([TANDEM, *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def check(what, holds):
    assert holds, what
    print(f"ok   {what}")


def command_line():
    check("subcommand: listed", "  hello       greet somebody" in tandem("--help"))
    check("subcommand: runs", tandem("hello", "-n", "lab") == "hello lab\n")
    check("robot kind: in the list", "buoy: stays where it is" in tandem("robot", "--list"))
    check("machine: in the list", "doorbell" in tandem("machines", "--list"))
    check("machine: as Graphviz", "RINGS" in tandem("machines", "--dot", "doorbell"))
    check("model: in the help", "parachute" in tandem("identify", "--help"))
    check("identify option: in the help", "say hello before the result" in tandem("identify", "--help"))
    moves = "rotation_rad,displacement_m,lap_s\n" + "".join(
        f"{0.1 * (i % 7)},{0.2 * (i % 5)},{1 + 0.1 * (i % 7) + 0.4 * (i % 5)}\n" for i in range(40))
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
        table.write(moves)
        table.flush()
        check("identify option: does what it means",
            tandem("identify", "--model", "travel_time", "--greet", table.name).startswith("hello\n"))
    check("model: in the self test", "every estimate is where chance allows it"
          in tandem("selftest", "--model", "parachute", "--runs", "5"))


LAB = """broker: {port: 1}
pairs:
  r1: {room: 7, dynamics: {model: parachute}}
"""


def lab_file(folder):
    lab = folder / "addition.yaml"
    lab.write_text(LAB)
    printed = tandem("config", str(lab))
    check("pair option: accepted and printed", "room: 7" in printed)
    check("model: accepted by the lab file", "parachute" in printed)
    lab.write_text(LAB.replace("7", "100"))
    check("pair option: out of range refused", "room: 100 is out of range" in tandem("config", str(lab), code=2))
    lab.write_text(LAB.replace("parachute", "parasol"))
    check("model: the ones there are, where another is named", "parachute" in tandem("config", str(lab), code=2))
    lab.write_text("pairs: {r1: {codec: letter, letter_done: e}}\n")
    check("codec option: taken and printed", 'letter_done: "e"' in tandem("config", str(lab)))
    lab.write_text("pairs: {r1: {codec: letter, letter_done: E}}\n")
    check("codec option: checked by the codec", "a small letter was expected" in tandem("config", str(lab), code=2))
    lab.write_text("pairs: {r1: {letter_done: e}}\n")
    check("codec option: refused for other codecs", "it is for codec: letter" in tandem("config", str(lab), code=2))
    check("codec option: documented", "`letter_done`" in tandem("config", "--docs"))
    lab.write_text("pairs: {r1: {codec: morse}}\n")
    check("codec: the ones there are, where another is named", "native, letter" in tandem("config", str(lab), code=2))
    check("pair option: documented", "room" in tandem("config", "--docs"))
    check("pair option: in the schema", '"room"' in tandem("config", "--schema"))


def problem(lab, path, **how):
    try:
        lab.fetch(path, **how)
    except urllib.error.HTTPError as error:
        return error.read().decode()
    raise AssertionError(f"{path} was not refused")


def http():
    with rig.Rig(pairs="r1: {room: 7}\n  p1: {codec: letter}") as lab:
        lab_file(lab.folder)
        check("codec: in the access list", "\ntopic write tandem/v1/letter/p1\n" in tandem("broker-acl", "-c", str(lab.lab)))
        lab.start_daemon()
        check("model: in the list of the page", "parachute" in lab.fetch("/page/models.js"))
        told = problem(lab, "/api/v1/identify?model=travel_time&greet=maybe", method="POST", body=b"x",
                       token="secret-of-the-test", kind="text/csv")
        check(f"identify option: known over HTTP ({told})", "greet" in told and "must be true or false" in told)
        check("identify option: in the contract", '"greet"' in lab.fetch("/api/v1/openapi.json"))
        check("route: answers", lab.get("/api/v1/greeting") == {"greeting": "lab"})
        check("alarm: can be asked for", lab.get("/api/v1/pairs/r1/alarms?type=battery")["alarms"] == [])
        check("alarm: named where another is asked for",
            "battery" in problem(lab, "/api/v1/pairs/r1/alarms?type=nonsense"))
        check("alarm: counted", lab.get("/api/v1/pairs/r1")["alarm_counts"]["battery"] == 0)
        check("alarm: in the metrics", 'type="battery"' in lab.fetch("/metrics"))
        lab.start("robot", "--kind", "buoy", "--pair", "r1", "--side", "real")
        lab.start("robot", "--kind", "buoy", "--pair", "r1", "--side", "virtual")
        lab.wait_online("r1")
        lab.publish("tandem/v1/r1/command", {"id": "c1", "op": "go", "rotation_rad": 0, "displacement_m": 1})
        lab.wait(lambda: lab.get("/api/v1/pairs/r1")["entries"] == 1, "the buoys answer")
        lab.wait_stored("r1")
        entry = lab.get("/api/v1/pairs/r1/entries")["entries"][0]
        check(f"robot kind: answers ({entry['verdict']})", entry["real_status"] == entry["virtual_status"] == "done")
        lab.publish("tandem/v1/p1/command", {"id": "c1", "op": "go", "rotation_rad": 0, "displacement_m": 1})
        lab.publish("tandem/v1/letter/p1", "d")
        lab.wait(lambda: lab.get("/api/v1/pairs/p1")["real"]["seen"], "the letter is read")
        lab.stop_daemon()
        lab.lab.write_text(lab.lab.read_text().replace("room: 7", "room: 8"))
        lab.start_daemon()
        check("pair option: a checkpoint of another value is refused",
            "belongs to another program or lab file" in lab.daemon_log.read_text())
        check("pair option: the journal makes up for it", lab.get("/api/v1/pairs/r1")["entries"] == 1)


def main():
    command_line()
    http()
    return 0


if __name__ == "__main__":
    sys.exit(main())
