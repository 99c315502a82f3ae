"""versions.py: see versions.sh."""
import json
import subprocess
import sys

from rig import TANDEM, Rig

TEXTS = ["sim é 1", "sim é 1", "2 " + "v" * 62]


def move(rig, name):
    rig.publish("tandem/v1/r1/command", {"id": name, "op": "go", "rotation_rad": 1.0})
    for side in ("real", "virtual"):
        rig.publish(f"tandem/v1/r1/{side}/reply", {"id": name, "status": "done"})
    rig.wait(lambda: any(e["id"] == name for e in rig.get("/api/v1/pairs/r1/entries")["entries"]), "the entry is stored", 20)


def replay(rig, lab):
    done = subprocess.run([TANDEM, "replay", "-c", lab, "--json", rig.folder / "journal"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pair = json.loads(done.stdout)["pairs"]["r1"]
    return [e.get("virtual_version") for e in pair["entries"]], [(c["n"], c["previous_version"]) for c in pair["changes"]]


def check(rig):
    first = rig.lab.read_text()
    for k, text in enumerate(TEXTS):
        rig.lab.write_text(first.replace("VERSION", json.dumps(text)))
        rig.start_daemon()
        rig.wait(lambda: rig.get("/api/v1/pairs/r1")["virtual"]["version"] == text, "its version", 20)
        move(rig, f"c{k}")
        rig.daemon.kill() if k == 0 else rig.daemon.terminate()
        rig.daemon.wait()
    rig.start_daemon()
    change, = rig.get("/api/v1/pairs/r1/parameters/changes")["changes"]
    assert (change["action"], change["by"]) == ("version_changed", "virtual"), change
    assert (change["previous_version"], change["virtual_version"]) == (TEXTS[0], TEXTS[2]), change
    old = rig.folder / "old.yaml"
    old.write_text(first.replace("VERSION", "another"))
    for lab in (rig.lab, old):
        assert replay(rig, lab) == (TEXTS, [(change["n"], TEXTS[0])]), replay(rig, lab)


def main():
    with Rig(pairs="r1: {virtual: {version: VERSION}}") as rig:
        check(rig)
    return 0


if __name__ == "__main__":
    sys.exit(main())
