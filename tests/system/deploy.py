"""deploy/: compose file, StatefulSet and image recipe are complete, and nothing in them runs as root or has a default
secret. The three servers, the broker and both daemons run by the scripts and settings of the compose file, on free
ports of this machine. Each query of the dashboard finds rows. The primary is lost, and comes back as a standby. A backup is
restored.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

import yaml
from postgresql import is_without_libpq
from rig import SOURCE, TANDEM, find_mosquitto, free_port
from waiting import limit_s, wait_until

DEPLOY = SOURCE / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
RECIPE = (DEPLOY / "Dockerfile").read_text()
LAB, SERVICE, STATEFUL_SET = yaml.safe_load_all((DEPLOY / "statefulset.yaml").read_text())
SHORT = "TANDEM_SHORT" in os.environ  # without the third server, the loss of one, and the backup
POSTGRES = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None)
# PostgreSQL refuses root. The test uses a folder that this user reaches.
AS_POSTGRES = ["--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit_s(120), check=False,
                          **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def check_compose(secrets):
    """Every file is there; every secret is a file that secrets.sh makes; nobody is root or writes to the root."""
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
        assert service["image"] == "tandem" or int(service["user"].split(":")[0]) > 0, name
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert source in COMPOSE["volumes"] or (DEPLOY / source).is_file(), (name, volume)
        assert set(service["secrets"]) <= set(COMPOSE["secrets"]), name
        for key, value in service.get("environment", {}).items():
            assert "PASSWORD" not in key or (key.endswith("__FILE") and value.startswith("/run/secrets/")), (name, key)
    for name, secret in COMPOSE["secrets"].items():
        assert secret == {"file": f"./secrets/{name}"} and (secrets / name).stat().st_size > 20, name
    used = {name for service in COMPOSE["services"].values() for name in service["secrets"]}
    assert used == set(COMPOSE["secrets"]), used ^ set(COMPOSE["secrets"])


def check_recipe():
    copied = re.findall(r"^COPY ((?!--from).*) \S+$", RECIPE, re.M)
    for name in " ".join(copied).split():
        assert (SOURCE / name).exists(), name
    rooms = set(re.findall(r"^tandem_room\((\w+)", (SOURCE / "CMakeLists.txt").read_text(), re.M))
    assert {"base", "web"} <= rooms <= set(" ".join(copied).split()), rooms
    user = str(STATEFUL_SET["spec"]["template"]["spec"]["securityContext"]["runAsUser"])
    assert f"USER {user}:{user}\n" in RECIPE and f"useradd --system --uid {user} " in RECIPE
    assert 'HEALTHCHECK' in RECIPE and '["tandem", "status"]' in RECIPE


def check_stateful_set(folder, secrets):
    """The lab file of the ConfigMap is one; mounts have volumes; the probe asks for what the daemon serves."""
    pod = STATEFUL_SET["spec"]["template"]["spec"]
    container, = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] and pod["securityContext"]["runAsNonRoot"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    volumes = {volume["name"] for volume in pod["volumes"] + [
        {"name": claim["metadata"]["name"]} for claim in STATEFUL_SET["spec"]["volumeClaimTemplates"]]}
    assert volumes == {mount["name"] for mount in container["volumeMounts"]}, volumes
    assert SERVICE["spec"]["selector"].items() <= STATEFUL_SET["spec"]["template"]["metadata"]["labels"].items()
    lab = LAB["data"]["lab.yaml"]
    for name, source in (("postgresql_password", "tandem_password"), ("broker_password", "broker_hall1"),
                         ("http_token", "http_token"), ("ca.pem", "ca.pem")):
        assert f"/run/secrets/tandem/{name}\n" in lab.replace("}", "\n"), name
        assert f"--from-file={name}" in (DEPLOY / "statefulset.yaml").read_text(), name
        lab = lab.replace(f"/run/secrets/tandem/{name}", str(secrets / source))
    (folder / "stateful.yaml").write_text(lab)
    assert "/run/secrets" not in lab
    run(TANDEM, "config", folder / "stateful.yaml")


def contains(large, small):
    if isinstance(small, dict):
        return all(key in large and contains(large[key], value) for key, value in small.items())
    if isinstance(small, list):
        return len(large) == len(small) and all(map(contains, large, small))
    return large == small


def check_by_tools(folder):
    """kubectl drops members that it does not know; compose refuses them."""
    if shutil.which("kubectl"):
        (folder / "set.yaml").write_text(yaml.safe_dump(STATEFUL_SET))
        known = json.loads(run("kubectl", "set", "image", "--local", "-o", "json", "-f", folder / "set.yaml", "tandem=other"))
        known["spec"]["template"]["spec"]["containers"][0]["image"] = "tandem"
        assert contains(known, STATEFUL_SET), known
    else:
        print("no kubectl: members of statefulset.yaml were NOT compared with those of Kubernetes", file=sys.stderr)
    compose = next((words for words in (["docker-compose"], ["docker", "compose"]) if shutil.which(words[0])
                    and subprocess.run([*words, "version"], capture_output=True, check=False).returncode == 0), None)
    if compose:
        run(*compose, "-f", DEPLOY / "compose.yaml", "config", "-q")
    else:
        print("no compose: compose.yaml was NOT compared with its schema", file=sys.stderr)


class Machine:
    """Servers, broker and daemons as the compose file has them; secrets and ports are the test's."""

    def __init__(self, folder, secrets):
        self.folder, self.secrets = folder, secrets
        self.processes = {}
        self.ports = [free_port() for _ in range(3)]
        self.broker_port, self.http = free_port(), {"hall1": free_port(), "hall2": free_port()}
        self.primary = 1

    def start(self, name, *command, **options):
        log = open(self.folder / f"{name}.log", "a")
        self.processes[name] = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, **options)

    def stop(self, name, number=signal.SIGTERM):
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait(limit_s(60))

    def node_environment(self, node):
        settings = dict(COMPOSE["services"][f"db{node}"]["environment"])
        scratch = self.folder / f"db{node}"
        settings.update(NODES=" ".join(f"localhost:{port}" for port in self.ports), PRIMARY=self.primary,
                        PGDATA=scratch / "data", SECRETS=self.secrets, SCRATCH=scratch, LISTEN="127.0.0.1",
                        PATH=f"{POSTGRES}:{os.environ['PATH']}")
        return {key: str(value) for key, value in settings.items()}

    def start_node(self, node):
        scratch = self.folder / f"db{node}"
        scratch.mkdir(exist_ok=True)
        if AS_POSTGRES:
            shutil.chown(scratch, "postgres", "postgres")
        # A server ends with the test, even if that is killed.
        self.start(f"db{node}", "setpriv", *AS_POSTGRES, "--pdeathsig=QUIT", "sh", DEPLOY / "compose/node.sh", "-c", "fsync=off",
                   "-c", "shared_buffers=16MB", env=self.node_environment(node), cwd="/")

    def sql(self, text, node=None, database="postgres", user="postgres", secret="postgres_password"):
        return run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text,
                   f"host=localhost port={self.ports[(node or self.primary) - 1]} user={user} dbname={database} "
                   f"sslmode=verify-full sslrootcert={self.secrets}/ca.pem",
                   env=dict(os.environ, PGPASSWORD=(self.secrets / secret).read_text().strip())).strip()

    def admin(self, program, *arguments):
        run(POSTGRES / program, "-h", "localhost", "-p", self.ports[self.primary - 1], "-U", "postgres", *arguments,
            env=dict(os.environ, PGPASSWORD=(self.secrets / "postgres_password").read_text().strip()))

    def wait_standbys(self, count):
        wait_until(lambda: self.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") == str(count),
                   f"{count} standbys", 60)

    def wait_node(self, node):
        wait_until(lambda: subprocess.run([POSTGRES / "pg_isready", "-q", "-h", "localhost", "-p", str(self.ports[node - 1])],
                                          check=False).returncode == 0 or self.processes[f"db{node}"].poll() is not None,
                   f"db{node}", 60)
        assert self.processes[f"db{node}"].poll() is None, (self.folder / f"db{node}.log").read_text()

    def placed(self, name):
        """A file of deploy/compose with the places of this test."""
        text = (DEPLOY / "compose" / name).read_text()
        for node, port in enumerate(self.ports, 1):
            text = text.replace(f"db{node}:5432", f"localhost:{port}")
        for old, new in (("/run/secrets", self.secrets), ("/deploy/", f"{DEPLOY}/compose/"), ("/mosquitto/data", self.folder),
                         ("listener 8883", f"listener {self.broker_port} 127.0.0.1"), ("/tmp/", f"{self.folder}/"),
                         ("port: 8883", f"port: {self.broker_port}"), ("host: broker", "host: localhost"),
                         ("0.0.0.0", "127.0.0.1"), ("port: 8420", f"port: {self.http.get(name[:5])}")):
            text = text.replace(old, str(new))
        path = self.folder / name
        path.write_text(("user root\n" if name.endswith(".conf") and os.geteuid() == 0 else "") + text)
        return path

    def start_broker(self):
        settings = self.placed("broker.conf")
        self.start("broker", "sh", DEPLOY / "compose/broker.sh", settings,
                   env=dict(os.environ, SECRETS=str(self.secrets), SCRATCH=str(self.folder),
                            PATH=f"{pathlib.Path(find_mosquitto()).parent}:{os.environ['PATH']}"))

    def start_daemon(self, lab):
        place = self.folder / lab
        place.mkdir(exist_ok=True)
        self.start(f"daemon {lab}", TANDEM, "serve", "-c", self.folder / f"{lab}.yaml", cwd=place)
        wait_until(lambda: self.is_ready(lab), f"{lab} is ready", 60)

    def is_ready(self, lab):
        assert self.processes[f"daemon {lab}"].poll() is None, (self.folder / f"daemon {lab}.log").read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http[lab]}/readyz", timeout=limit_s(10)) as answer:
                return json.load(answer)["ready"]
        except OSError:
            return False

    def publish(self, topic, message):
        run("mosquitto_pub", "-h", "localhost", "-p", self.broker_port, "--cafile", self.secrets / "ca.pem", "-u", "robots",
            "-P", (self.secrets / "broker_robots").read_text().strip(), "-q", "1", "-t", topic, "-m", json.dumps(message))

    def move(self, hall, name):
        """A command with both replies, and its entry in the database."""
        topic = f"tandem/hall{hall}/v1/r{hall}"
        self.publish(f"{topic}/command", {"id": name, "op": "go", "displacement_m": 0.5})
        for side in ("virtual", "real"):
            self.publish(f"{topic}/{side}/reply", {"id": name, "status": "done"})
        wait_until(lambda: self.sql(f"SELECT count(*) FROM results.entries WHERE lab = 'hall{hall}' AND id = '{name}'",
                                    database="tandem") == "1", f"the entry of {name}", 60)


def check_dashboard(machine):
    """Each query runs with the rights of a reader, and finds what the daemons stored."""
    dashboard = json.loads((DEPLOY / "grafana/results.json").read_text())
    source = yaml.safe_load((DEPLOY / "grafana/datasource.yaml").read_text())["datasources"][0]
    assert source["uid"] == "tandem-results" and source["user"] == "tandem_reader"
    provider, = yaml.safe_load((DEPLOY / "grafana/dashboards.yaml").read_text())["providers"]
    assert any(f":{provider['options']['path']}:" in volume for volume in COMPOSE["services"]["grafana"]["volumes"])
    queries = [dashboard["templating"]["list"][0]["query"]]
    for panel in dashboard["panels"]:
        assert panel["datasource"]["uid"] == source["uid"], panel["title"]
        queries += [target["rawSql"] for target in panel["targets"]]
    for query in queries:
        text = query.replace("$__timeFilter(time)", "time BETWEEN now() - interval '1 day' AND now() + interval '1 day'")
        text = text.replace("${lab:sqlstring}", "'hall1', 'hall2'")
        assert "$" not in text, text
        rows = machine.sql(text, database=source["jsonData"]["database"], user=source["user"], secret="reader_password")
        assert rows or "results.changes" in query, query


def lose_primary(machine):
    """docs/scale.md, "A server is lost": the daemons go on with the promoted server."""
    machine.stop("db1", signal.SIGQUIT)
    positions = {node: machine.sql("SELECT pg_last_wal_receive_lsn() - '0/0'", node=node) for node in (2, 3)}
    machine.primary = max(positions, key=lambda node: int(positions[node]))
    for node in (2, 3):
        machine.stop(f"db{node}", signal.SIGINT)
        machine.start_node(node)
        machine.wait_node(node)
    machine.sql("SELECT pg_promote()")
    machine.wait_standbys(1)
    machine.move(1, "after")
    machine.start_node(1)  # with its old data
    assert machine.processes["db1"].wait(limit_s(20)) == 1
    assert "remove its data" in (machine.folder / "db1.log").read_text()
    shutil.rmtree(machine.folder / "db1/data")
    machine.start_node(1)
    machine.wait_standbys(2)
    machine.move(2, "last")


def set_back(machine, dump):
    """docs/scale.md, "Backup and restore": the journals have what came after the backup."""
    for lab in ("hall1", "hall2"):
        machine.stop(f"daemon {lab}")
    machine.admin("pg_restore", "--clean", "--if-exists", "--create", "-d", "postgres", dump)
    count = "SELECT count(*) FROM results.entries"
    assert machine.sql(count, database="tandem") == "2"
    for lab in ("hall1", "hall2"):
        machine.start_daemon(lab)
    wait_until(lambda: machine.sql(count, database="tandem") == "4", "all entries again", 60)


def main(folder):
    secrets = folder / "secrets"
    run("sh", DEPLOY / "compose/secrets.sh", secrets)
    check_compose(secrets)
    check_recipe()
    check_by_tools(folder)
    check_stateful_set(folder, secrets)
    if is_without_libpq() or not POSTGRES:
        print("skipped: this build or this machine has no PostgreSQL", file=sys.stderr)
        sys.exit(77)
    if AS_POSTGRES:  # Debian's numbers of users differ from the images'
        folder.chmod(0o711)
        for path in (secrets, *secrets.iterdir()):
            if path.name != "broker.key":
                shutil.chown(path, "postgres", "postgres")
    machine = Machine(folder, secrets)
    try:
        nodes = range(1, 3 if SHORT else 4)
        for node in nodes:
            machine.start_node(node)
        for node in nodes:
            machine.wait_node(node)
        machine.wait_standbys(len(nodes) - 1)
        machine.start_broker()
        for lab in ("hall1", "hall2"):
            machine.placed(f"{lab}.yaml")
        tables = [word.replace("/etc/tandem/lab.yaml", str(folder / "hall1.yaml")).replace("/run/secrets", str(secrets))
                  for word in COMPOSE["services"]["tables"]["command"]]
        run(TANDEM, *tables)
        for lab in ("hall1", "hall2"):
            run(TANDEM, "serve", "--check", folder / f"{lab}.yaml")
            machine.start_daemon(lab)
        machine.move(1, "first")
        machine.move(2, "first")
        machine.publish("tandem/hall1/v1/r1/real/reply", {"id": "first", "status": "done"})  # an alarm: it is late
        wait_until(lambda: machine.sql("SELECT count(*) FROM results.alarms", database="tandem") != "0", "an alarm", 60)
        check_dashboard(machine)
        if not SHORT:
            machine.admin("pg_dump", "-Fc", "-f", folder / "tandem.dump", "tandem")
            lose_primary(machine)
            set_back(machine, folder / "tandem.dump")
    except BaseException:
        for log in sorted(folder.glob("*.log")):
            print(f"-- {log.name}", *log.read_text(errors="replace").splitlines()[-30:], sep="\n", file=sys.stderr)
        raise
    finally:
        for name in sorted(machine.processes, reverse=True):  # servers last
            machine.stop(name, signal.SIGQUIT if name.startswith("db") else signal.SIGTERM)


if __name__ == "__main__":
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
    with tempfile.TemporaryDirectory(prefix="tandem-deploy-", dir=memory) as place:
        main(pathlib.Path(place))
