"""postgresql.py - a PostgreSQL of the test's own (postgresql.sh), and SQL through psql.

    with Cluster(3) as cluster:
        cluster.sql("SELECT 1")
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from rig import SOURCE, TANDEM
from waiting import limit_s


def is_without_libpq():
    """Whether the program was built with TANDEM_POSTGRESQL=OFF."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as lab:
        lab.write("{pairs: {r1: {}}, engine: {postgresql: {servers: ['127.0.0.1:1']}, instance: a}}")
        lab.flush()
        said = subprocess.run([TANDEM, "db", "check", "-c", lab.name], capture_output=True, text=True, check=False).stderr
    assert "tandem: " in said, said
    return "this build has no PostgreSQL" in said


class Cluster:
    """Servers that stop when this object does, or when the test is killed."""

    def __init__(self, nodes=1, *settings):
        """Ends the test as skipped, visibly, where PostgreSQL is not installed."""
        if not shutil.which("psql"):
            print("skipped: PostgreSQL is not installed (apt install postgresql)", file=sys.stderr)
            sys.exit(77)
        if is_without_libpq():
            print("skipped: this build has no PostgreSQL", file=sys.stderr)
            sys.exit(77)
        self.script = subprocess.Popen(["sh", str(SOURCE / "tests/support/postgresql.sh"), str(nodes), *settings],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        words = self.script.stdout.readline().split()
        if not words:
            sys.exit(self.script.wait())
        self.folder = pathlib.Path(words[1])
        self.ports = [int(word) for word in words[2:]]
        self.password_file = self.folder / "password"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.script.stdin.close()
        self.script.wait(limit_s(60))

    def processes(self, node):
        """The process ids of a server, its first one first."""
        first = (self.folder / f"s{node + 1}/postmaster.pid").read_text().split()[0]
        children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text()
        return [int(pid) for pid in [first, *children.split()]]

    def sql(self, text, database="postgres", node=0, user="postgres", password="secret", fails=False):
        """Rows as lines of values with | between them. fails: the error instead."""
        run = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
                              "-p", str(self.ports[node]), "-U", user, "-d", database, "-c", text],
                             env=dict(os.environ, PGPASSWORD=password), capture_output=True, text=True, timeout=limit_s(60),
                             check=False)
        assert (run.returncode != 0) == fails, run.stderr
        return (run.stderr if fails else run.stdout).strip()


def join_database(rig, cluster, name, instance):
    """The rig's lab file with a name and the database."""
    (rig.folder / "password").write_text("of-the-lab\n")
    (rig.folder / "password").chmod(0o600)
    rig.lab.write_text(f"name: {name}\n" + rig.lab.read_text() + f"""engine:
  postgresql: {{servers: ["127.0.0.1:{cluster.ports[0]}"], user: writer, password_file: {rig.folder}/password}}
  instance: {instance}
  advertise: http://127.0.0.1:{rig.http_port}
""")


def create_tables(rig, cluster):
    """Those of the database that the rig's lab file names."""
    subprocess.run([TANDEM, "db", "init", "-c", rig.lab, "--admin-password-file", cluster.password_file], check=True,
                   stdout=subprocess.DEVNULL)
