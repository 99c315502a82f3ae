"""Two daemons want one port. The second one ends, and says why where its user looks: its log goes to a file, its
standard output is the terminal. The one that answers names its lab.
"""
import os
import pty
import subprocess

from rig import Rig, TANDEM
from waiting import limit_s


def main():
    with Rig("r1: {}") as rig:
        rig.lab.write_text("name: first\n" + rig.lab.read_text())
        rig.start_daemon()
        assert rig.get("/readyz")["lab"] == "first", rig.get("/readyz")
        other = rig.folder / "other"
        other.mkdir()
        lab = other / "lab.yaml"
        lab.write_text(f"name: second\nbroker: {{port: {rig.broker_port}}}\nhttp: {{port: {rig.http_port}}}\npairs: {{r1: {{}}}}\n")
        ours, theirs = pty.openpty()
        with open(other / "log", "wb") as log:
            code = subprocess.run([TANDEM, "serve", "-c", str(lab)], cwd=other, stdout=theirs, stderr=log, timeout=limit_s(60),
                                  check=False).returncode
        os.close(theirs)
        said = os.read(ours, 4096).decode()
        assert code != 0 and "serve has ended" in said and str(rig.http_port) in said, (code, said)


if __name__ == "__main__":
    main()
