"""The recipes of docs/operations.md, run as written but in other folders; and its figures of disk space."""
import json
import os
import re
import shutil
import subprocess

from rig import Rig, SOURCE, TANDEM
from waiting import limit_s

TEXT = (SOURCE / "docs/operations.md").read_text()
MOVES = 30
ENTRIES = "/api/v1/pairs/r1/entries?limit=500"


class Lab(Rig):
    """A machine's folders below a folder of the test: etc/tandem, etc/mosquitto, var/lib/tandem."""

    def __init__(self):
        super().__init__("r1: {}", shipped="mosquitto_lab.conf")
        for folder in ("etc/tandem", "etc/mosquitto/conf.d", "var/lib/tandem", "bin"):
            (self.folder / folder).mkdir(parents=True)
        text = self.lab.read_text().replace("broker: {", f"broker: {{username: tandem, password_file: {self.folder}/etc/tandem/"
                                                         "broker.password, ")
        for old, new in (("journal", "journal"), ("store.db", "tandem.db"), ("checkpoint", "tandem.checkpoint")):
            text = text.replace(f"{self.folder}/{old}", f"{self.folder}/var/lib/tandem/{new}")
        self.lab.rename(self.folder / "etc/tandem/lab.yaml")
        self.lab = self.folder / "etc/tandem/lab.yaml"
        self.lab.write_text(text)
        for command in ("systemctl", "chown"):  # the test itself starts and stops the services, and is one user
            (self.folder / "bin" / command).symlink_to("/bin/true")
        give_access(self)

    def type(self, name, **variables):
        """Runs one block of the document, in a folder that has the package's files."""
        block = re.search(rf"^```sh {name}\n(.*?)^```", TEXT, re.S | re.M).group(1)
        block = re.sub(r"/(etc|var|backup)/", rf"{self.folder}/\1/", block).replace("-g tandem ", "")
        path = f"{self.folder}/bin:{SOURCE}/docs/examples:{os.environ['PATH']}"
        subprocess.run(["sh", "-euc", block], cwd=SOURCE / "config", check=True,
                       env={**os.environ, **variables, "PATH": path, "TANDEM": TANDEM})

    def login(self, user):
        path = self.folder / f"{user}.password"
        line = re.search(rf"^{user}:(.*)$", (self.folder / "etc/mosquitto/tandem.secrets").read_text(), re.M)
        path.write_text(line.group(1) + "\n")
        path.chmod(0o600)
        return ["--user", user, "--password-file", path]


def give_access(lab):
    lab.type("access")
    conf = lab.folder / "etc/mosquitto/conf.d/tandem.conf"
    assert (lab.folder / "etc/tandem/broker.password").stat().st_mode & 0o777 == 0o640
    assert conf.read_text() == (SOURCE / "config/mosquitto_lab.conf").read_text()
    for name in ("acl", "passwd"):
        shutil.copy(lab.folder / f"etc/mosquitto/tandem.{name}", lab.folder)


def drive(lab, moves):
    had = lab.get("/api/v1/pairs/r1")["entries"]
    driver = lab.start("drive", *lab.login("r1-l1"), "--pair", "r1", "--count", moves, "--interval", 0, "--turn-max", 0.4,
                       "--drive-max", 0.2)
    assert driver.wait(limit_s(120)) == 0
    lab.wait(lambda: lab.get("/api/v1/pairs/r1")["entries"] == had + moves, f"{moves} more verdicts", 30)
    lab.wait_stored("r1")


def back_up(lab):
    """A backup of the running daemon lacks later entries. Returns the entries of that time and the folder."""
    lab.wait(lambda: (lab.folder / "var/lib/tandem/tandem.checkpoint").exists(), "a checkpoint")
    drive(lab, MOVES)
    at_backup = lab.get(ENTRIES)["entries"]
    lab.type("backup")
    drive(lab, 5)
    folder, = (lab.folder / "backup").iterdir()
    assert {p.name for p in folder.iterdir()} == {"lab.yaml", "tandem.checkpoint", "tandem.db", "journal"}, folder
    return at_backup, folder


def restore(lab, at_backup, folder):
    lab.stop_daemon()
    lab.type("restore", **{"from": str(folder)})
    lab.start_daemon()
    lab.wait_stored("r1")
    assert lab.get(ENTRIES)["entries"] == at_backup, "other entries than those of the backup"
    log = lab.daemon_log.read_text()
    assert "checkpoint_unused" not in log, log
    drive(lab, 3)


def restore_journal_alone(lab, at_backup, folder):
    """Store and checkpoint are rebuilt."""
    lab.stop_daemon()
    data = lab.folder / "var/lib/tandem"
    shutil.rmtree(data)
    data.mkdir()
    subprocess.run(["cp", "-Rp", folder / "journal", data], check=True)
    lab.start_daemon()
    lab.wait_stored("r1")
    assert lab.get(ENTRIES)["entries"] == at_backup, "other entries than those of the backup"
    subprocess.run([TANDEM, "replay", "-c", folder / "lab.yaml", folder / "journal"], check=True, stdout=subprocess.DEVNULL)


def sent_bytes(words):
    return float(re.search(rf"^\| [^|]*{words}[^|]*\| about (\d+) ", TEXT, re.M).group(1))


def measure_disk(folder):
    """The figures of the document, within a third."""
    sizes = {}
    for path in (folder / "journal").iterdir():
        for line in path.read_text().splitlines(keepends=True):
            topic = json.loads(line)["topic"].rpartition("/")[2]
            sizes.setdefault(topic, []).append(len(line.encode()))
    mean = {topic: sum(found) / len(found) for topic, found in sizes.items()}
    move = mean["command"] + 2 * mean["reply"]
    print(f"journal: {move:.0f} bytes a move, {mean['telemetry']:.0f} a sample of telemetry")
    assert abs(move / sent_bytes("a command with two replies") - 1) < 1 / 3
    assert abs(mean["telemetry"] / sent_bytes("a sample of telemetry") - 1) < 1 / 3


def main():
    with Lab() as lab:
        lab.start_daemon()
        for side in ("real", "virtual"):
            lab.start("robot", *lab.login(f"r1-{side}"), "--pair", "r1", "--side", side, "--angular-speed", 8, "--linear-speed", 4,
                      "--telemetry-rate", 20)
        lab.wait_online("r1")
        at_backup, folder = back_up(lab)
        measure_disk(folder)
        restore(lab, at_backup, folder)
        restore_journal_alone(lab, at_backup, folder)


main()
