"""Who may publish and receive what at a real mosquitto with the settings, access list and passwords that Tandem
ships.

The expected rights are read from the table of docs/protocol.md, not from the program.
"""
import concurrent.futures
import os
import re
import signal
import subprocess

from rig import Rig, SOURCE, TANDEM
from waiting import limit_s

PAIRS = ("r1", "r2")
ROLES = ("real", "virtual", "l1")
PREFIX = "lab/7"
MOVES = 4


def read_protocol():
    """(topic below the pair or the prefix, the words of "from", those of "to") of every row."""
    rows = []
    for line in (SOURCE / "docs/protocol.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4 and "→" in cells[1]:
            source, _, target = cells[1].partition(" → ")
            rows += [(topic, source, target) for topic in re.findall(r"`([^`]*)`", cells[0])]
    assert len(rows) > 20 and ("real/reply", "robot", "Tandem, L1") in rows, rows
    return rows


def parties(words, topic, pair):
    """The users of a pair that a word of the table stands for."""
    users = set()
    if re.search(r"robot|simulator", words):
        users |= {f"{pair}-{topic.partition('/')[0]}"} if "/" in topic else {f"{pair}-real", f"{pair}-virtual"}
    if re.search(r"L1|controller", words):
        users.add(f"{pair}-l1")
    return users


def expected(rows):
    """topic -> who may write it, who must receive it."""
    table = {}
    for topic, source, target in rows:
        if topic.startswith("tandem/v1/"):
            name = topic.replace("tandem/v1", PREFIX).replace("<client>", "any")
            own = {f"{pair}-{role}" for pair in PAIRS for role in ROLES} if "each Tandem program" in source else set()
            table[name] = ({"tandem"} | own, {"reader"})
            continue
        for pair in PAIRS:
            writers, hearers = table.setdefault(f"{PREFIX}/{pair}/{topic}", (set(), {"reader", f"{pair}-l1"}))
            writers |= parties(source, topic, pair) | {"tandem"}
            hearers |= parties(target, topic, pair)
    return table


class Lab(Rig):
    def __init__(self):
        super().__init__("r1: {}\n  r2: {mode: link}", shipped="mosquitto_lab.conf")
        self.lab.write_text(self.lab.read_text().replace("broker: {", f"broker: {{prefix: {PREFIX}, username: tandem, "
                                                         f"password_file: {self.folder}/tandem.password, "
                                                         "telemetry_username: tandem-telemetry, telemetry_password_file: "
                                                         f"{self.folder}/tandem-telemetry.password, "))
        self.make_access()

    def make_access(self, *options):
        subprocess.run([SOURCE / "docs/examples/broker_access.sh", self.folder, "-c", self.lab, *options],
                       check=True, env={**os.environ, "TANDEM": TANDEM})
        self.passwords = dict(line.split(":") for line in (self.folder / "tandem.secrets").read_text().splitlines())
        for user, password in self.passwords.items():
            (self.folder / f"{user}.password").write_text(password + "\n")
            (self.folder / f"{user}.password").chmod(0o600)

    def login(self, user):
        return ["-p", self.broker_port, "-u", user, "-P", self.passwords[user]]

    def client(self, program, *arguments, **options):
        return self.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def say(self, user, topic, text):
        return self.client("mosquitto_pub", "-V", "5", "-q", "1", *self.login(user), "-t", topic, "-m", text)

    def program(self, user, name, *arguments):
        return self.start(name, "--prefix", PREFIX, "--user", user, "--password-file", self.folder / f"{user}.password",
                          *arguments)


def receive_all(lab, users):
    """Records what each user receives, as lists of lines that grow."""
    files = {}
    for user in users:
        path = lab.folder / f"heard-{user}"
        lab.run(["mosquitto_sub", *lab.login(user), "-q", "1", "-t", "#", "-t", f"{PREFIX}/#", "-F", "%t %p"],
                stdout=open(path, "w"), stderr=subprocess.STDOUT)
        files[user] = path
    return files


def check_matrix(lab):
    """Every user writes to every topic; the test compares what arrived, and at whom, with the protocol."""
    table = expected(read_protocol())
    table |= {f"{PREFIX}/r1/nonsense": ({"tandem"}, {"reader"}), f"{PREFIX}/r1/real": ({"tandem"}, {"reader"}),
              f"{PREFIX}/r1/real/reply/more": ({"tandem"}, {"reader"}), f"{PREFIX}": ({"tandem"}, {"reader"}),
              "tandem/v1/r1/command": (set(), set()), "elsewhere": (set(), set())}
    users = [user for user in lab.passwords if user != "reader"]
    # A user has one connection: users who subscribe here do not publish, and the other way round.
    for listeners, speakers in ((["reader", "r1-real", "r2-virtual"], ["tandem", "r1-virtual", "r1-l1", "r2-real", "r2-l1"]),
                                (["reader", "r1-virtual", "r1-l1"], ["tandem", "r1-real", "r2-virtual", "r2-l1", "r2-real"])):
        received = receive_all(lab, listeners)
        lab.wait(lambda: says(lab, "tandem", f"{PREFIX}/begin") and "begin" in received["reader"].read_text(), "the reader listens")
        with concurrent.futures.ThreadPoolExecutor(len(speakers)) as pool:
            list(pool.map(lambda user: [lab.say(user, topic, f"from {user}").wait(limit_s(20)) for topic in table], speakers))
        assert says(lab, "tandem", f"{PREFIX}/end")
        lab.wait(lambda: f"{PREFIX}/end" in received["reader"].read_text(), "the reader receives the end")
        got = {user: set(re.findall(r"^(\S+) from (?!nobody)(\S+)$", path.read_text(), re.M)) for user, path in received.items()}
        came = {(topic, user) for topic, (writers, _) in table.items() for user in writers if user in speakers}
        assert got["reader"] == came, (got["reader"] ^ came, "received by the reader, or right")
        for user in listeners[1:]:
            mine = {topic for topic, (_, hearers) in table.items() if user in hearers}
            lacks = {(t, u) for t, u in came if t in mine} - got[user]
            assert not lacks, f"{user} does not receive {lacks}"
            pair, role = user.split("-")
            strange = {t for t, _ in got[user] if not t.startswith((f"{PREFIX}/{pair}/", f"{PREFIX}/heartbeat/"))}
            assert not strange, f"{user} receives {strange}"
            side = {"real": "virtual", "virtual": "real"}.get(role)
            assert not [t for t, _ in got[user] if side and t.startswith(f"{PREFIX}/{pair}/{side}/")], f"{user} receives the other robot"
        end_clients(lab)
    return len(table) * len(users)


def says(lab, user, topic):
    return lab.say(user, topic, "from nobody").wait(limit_s(20)) is not None


def end_clients(lab):
    for process in lab.processes:
        if process not in (lab.broker, lab.daemon) and process.poll() is None:
            process.terminate()
            process.wait(limit_s(10))


def check_strangers(lab):
    """The broker refuses a client without a name, with a wrong password, or with a will on another user's topic."""
    for login in ([], ["-u", "r1-real"], ["-u", "r1-real", "-P", "wrong"], ["-u", "nobody", "-P", "wrong"]):
        client = lab.client("mosquitto_pub", "-p", lab.broker_port, *login, "-t", f"{PREFIX}/r1/real/reply", "-m", "x")
        assert client.wait(limit_s(20)) != 0, login
    received = receive_all(lab, ["reader"])["reader"]
    lab.wait(lambda: says(lab, "tandem", f"{PREFIX}/begin") and "begin" in received.read_text(), "the reader listens")
    will = lab.run(["mosquitto_sub", *lab.login("r2-real"), "-t", "x", "--will-topic", f"{PREFIX}/r1/real/reply",
                    "--will-payload", "will", "-W", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    will.send_signal(signal.SIGKILL) if will.poll() is None else None
    assert will.wait(limit_s(10)) != 0
    assert says(lab, "tandem", f"{PREFIX}/end")
    lab.wait(lambda: f"{PREFIX}/end" in received.read_text(), "the reader receives the end")
    assert "will" not in received.read_text(), "a will on another robot's topic"
    end_clients(lab)


def check_lab(lab):
    """A whole lab with user names: commands, replies, entries in both modes; nobody can impersonate the daemon."""
    broker_log = lab.folder / "mosquitto.log"
    had = broker_log.read_text().count(" as tandem ")
    lab.start_daemon()
    received = receive_all(lab, ["reader"])["reader"]
    for pair, mode in (("r1", "observe"), ("r2", "link")):
        for side in ("real", "virtual"):
            lab.program(f"{pair}-{side}", "robot", "--pair", pair, "--side", side, "--mode", mode, "--angular-speed", 8,
                        "--linear-speed", 4)
    lab.wait_online(*PAIRS)
    for pair, mode in (("r1", "observe"), ("r2", "link")):
        driver = lab.program(f"{pair}-l1", "drive", "--pair", pair, "--mode", mode, "--count", MOVES, "--interval", 0)
        assert driver.wait(limit_s(60)) == 0
    # A reply and a command of another user do not reach the daemon.
    before = lab.get("/api/v1/pairs/r1")
    for user, topic in (("r2-real", "r1/real/reply"), ("r1-virtual", "r1/real/reply"), ("r1-real", "r1/command")):
        pause = [p for p in lab.processes if p.poll() is None and user in map(str, p.args)]
        for process in pause:
            process.terminate()
            process.wait(limit_s(10))
        assert lab.say(user, f"{PREFIX}/{topic}", '{"id":"x","op":"go","status":"done","displacement_m":1}').wait(limit_s(20)) is not None
    intruder = lab.client("mosquitto_sub", "-i", "tandem", *lab.login("r2-real"), "-t", f"{PREFIX}/#", "-W", "1")
    intruder.wait(limit_s(20))
    lab.wait_stored(*PAIRS)
    for pair in PAIRS:
        entries = lab.get(f"/api/v1/pairs/{pair}/entries?limit=50")["entries"]
        assert len(entries) == MOVES and all(entry["consistent"] for entry in entries), entries
    after = lab.get("/api/v1/pairs/r1")
    assert after["alarm_counts"]["out_of_context"] == before["alarm_counts"]["out_of_context"] == 0, after
    assert broker_log.read_text().count(" as tandem ") == had + 1, "another client impersonated the daemon"
    assert broker_log.read_text().count(" as tandem-telemetry ") == 1
    assert lab.say("r1-real", f"{PREFIX}/r1/real/telemetry", '{"t":1763617674.2,"seq":1}').wait(limit_s(20)) is not None
    lab.wait(lambda: lab.get("/api/v1/pairs/r1")["real"]["telemetry"] == 1, "telemetry comes")
    lab.wait(lambda: received.read_text().count(f"{PREFIX}/r1/entry ") == MOVES, "the reader receives the entries")
    lab.stop_daemon()
    end_clients(lab)


def check_again(lab):
    """Another reader, one robot less: the passwords stay, and the broker loads the new list."""
    before = dict(lab.passwords)
    lab.lab.write_text(lab.lab.read_text().replace("\n  r2: {mode: link}", ""))
    lab.make_access("--reader", "anna", "--reader", "ben b")
    assert set(lab.passwords) == {"tandem", "tandem-telemetry", "anna", "ben b", "r1-real", "r1-virtual", "r1-l1"}, lab.passwords
    assert all(before[user] == password for user, password in lab.passwords.items() if user in before)
    lab.broker.send_signal(signal.SIGHUP)
    lab.passwords["r2-real"] = before["r2-real"]
    lab.wait(lambda: lab.say("ben b", f"{PREFIX}/x", "x").wait(limit_s(20)) == 0 and lab.say("r2-real", f"{PREFIX}/x", "x").wait(limit_s(20)) != 0,
             "the broker knows the new users only")


def check_wrong(lab):
    """Input that would make a different list than the user meant is refused."""
    for text, options, words in (
            ("broker: {prefix: \"a\\nuser x\"}", [], "control characters"), ("broker: {prefix: \" a\"}", [], "blanks"),
            ("broker: {username: \"a\\ntopic write #\"}", [], "control characters"), ("broker: {username: \"a:b\"}", [], "without ':'"),
            ("broker: {username: r1-real}", [], "one of a pair's users"), ("", ["--reader", "r1-l1"], "one of a pair's users"),
            ("", ["--reader", "tandem"], "the daemon's name"), ("", ["--reader", ""], "a name"),
            ("broker: {prfix: a}", [], "did you mean 'prefix'")):
        lab.lab.write_text(f"{text}\npairs: {{r1: {{}}}}\n")
        done = subprocess.run([TANDEM, "broker-acl", "-c", lab.lab, *options], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and words in done.stderr and not done.stdout, (text, options, done)
    lab.lab.write_text("pairs: {heartbeat: {}}\n")
    done = subprocess.run([TANDEM, "broker-acl", "-c", lab.lab], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "take another name" in done.stderr, done
    assert subprocess.run([TANDEM, "broker-acl"], capture_output=True, check=False).returncode == 2


def main():
    with Lab() as lab:
        print(f"{check_matrix(lab)} pairs of user and topic are as docs/protocol.md has them", flush=True)
        check_strangers(lab)
        check_lab(lab)
        check_again(lab)
        check_wrong(lab)


main()
