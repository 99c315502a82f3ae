"""replay, play and identify refuse files that are no recordings, with an error that says what they are."""
import json
import os
import subprocess
import sys

sys.path.insert(0, "tests/support")
from fault_code import says  # noqa: E402
from rig import TANDEM, Rig  # noqa: E402
from waiting import limit_s  # noqa: E402

MARK = b"\xef\xbb\xbf"


def line(second, topic, payload):
    return json.dumps({"tst": f"2026-11-20T05:00:{second:02}Z", "topic": topic, "qos": 1, "retain": 0, "payload": payload}).encode() + b"\n"


def moves(pair, count=3, prefix="tandem/v1"):
    text = b""
    for n in range(count):
        text += line(4 * n, f"{prefix}/{pair}/command", {"id": f"c{n}", "op": "go", "displacement_m": 1})
        text += line(4 * n + 1, f"{prefix}/{pair}/virtual/reply", {"id": f"c{n}", "status": "done"})
        text += line(4 * n + 2, f"{prefix}/{pair}/real/reply", {"id": f"c{n}", "status": "done"})
    return text


def telemetry(pair, count=40):
    return b"".join(line(n, f"tandem/v1/{pair}/real/telemetry", {"t": n, "seq": n, "nu": [0.1 * n, 0, 0], "tau": [1, 0, 0]})
                    for n in range(count))


def run(rig, *arguments, stdin=b"", status=None):
    done = subprocess.run([TANDEM, *map(str, arguments)], input=stdin, capture_output=True, timeout=limit_s(120))
    said = (done.stdout + done.stderr).decode()
    assert status is None or done.returncode == status, (arguments, done.returncode, said)
    return done.returncode, said


def commands(rig):
    return {"replay": ("replay", "-c", rig.lab), "play": ("play", "--port", rig.broker_port, "--speed", 0),
            "identify": ("identify", "--model", "usv3", "--journal")}


def write(rig, name, data):
    path = rig.folder / name
    path.write_bytes(data)
    return path


def no_recordings(rig):
    odd = {
        "empty.jsonl": (b"", {"replay": "no_data", "play": "nothing is in it", "identify": "no_data"}),
        "blank.jsonl": (b"\n \n", {"replay": "no_data", "play": "nothing is in it", "identify": "no_data"}),
        "mark.jsonl": (MARK, {"replay": "no_data", "play": "nothing is in it", "identify": "no_data"}),
        "binary.bin": (bytes(range(256)) * 8, {"replay": "no_data", "play": "not one line", "identify": "no_data"}),
        "zeros.bin": (b"\0" * 9000, {"replay": "no_data", "play": "not one line", "identify": "no_data"}),
        "table.txt": (b"lap_s,rotation_rad\n1,2\n", {"replay": "no_data", "play": "not one line",
                                                     "identify": "no_data"}),
        "wide.jsonl": (moves("r1").decode().encode("utf-16"), dict.fromkeys(commands(rig), "compressed_file")),
        "wide_be.jsonl": (b"\xfe\xff" + moves("r1").decode().encode("utf-16-be"), dict.fromkeys(commands(rig), "compressed_file")),
    }
    for name, (data, words) in odd.items():
        path = write(rig, name, data)
        for command, options in commands(rig).items():
            for operand, stdin in ((path, b""), ("-", data)):
                _, said = run(rig, *options, operand, stdin=stdin, status=1)
                assert words[command] in said or says(words[command], said), (command, name, said)
                assert "tandem: " in said, (command, name, said)
    # A file named .csv is a table of moves to replay.
    _, said = run(rig, "replay", "-c", rig.lab, write(rig, "table.csv", odd["table.txt"][0]), status=1)
    assert says("missing_column", said) and "table.csv:1: " in said and "'real_lap_s'" in said, said


def other_labs(rig):
    path = write(rig, "other.jsonl", moves("boat") + moves("b2"))
    _, said = run(rig, "replay", "-c", rig.lab, path, status=1)
    assert says("no_data", said) and f"{path}: " in said and "boat, b2" in said, said
    _, said = run(rig, "replay", "-c", rig.lab, "--json", path, status=1)
    assert '"unknown_pair":18' in said and "boat, b2" in said, said
    path = write(rig, "prefix.jsonl", moves("r1", prefix="elsewhere"))
    _, said = run(rig, "replay", "-c", rig.lab, path, status=1)
    assert says("no_data", said) and "'tandem/v1/'" in said and "'elsewhere/r1/command'" in said, said
    # A recording with one pair of the lab is enough, and so is the journal of a daemon that received nothing.
    run(rig, "replay", "-c", rig.lab, write(rig, "both.jsonl", moves("boat") + moves("r1")), status=0)
    run(rig, "replay", "-c", rig.lab, write(rig, "quiet.jsonl", line(1, "tandem/v1/$lab/start", {"version": "1"})), status=0)


def which_model(rig):
    path = write(rig, "day.jsonl", telemetry("boat") + telemetry("b2"))
    for data in (path.read_bytes(), MARK + path.read_bytes(), b"\n" + path.read_bytes()):
        path.write_bytes(data)
        _, said = run(rig, "identify", "--model", "odometry", path, status=1)
        assert says("wrong_file", said) and "odometry reads a table" in said and "usv3, " in said, said
        _, said = run(rig, "identify", "--model", "travel_time", path, status=1)
        assert says("no_data", said) and "no 'go'" in said and "tandem replay -c LAB.yaml" in said, said
    _, said = run(rig, "identify", "--model", "usv3", "--pair", "nope", path, status=1)
    assert says("no_data", said) and "nope" in said and "boat real, b2 real" in said, said
    _, said = run(rig, "identify", "--model", "usv3", "--pair", "boat", "--side", "virtual", path, status=1)
    assert says("no_data", said) and "boat real, b2 real" in said, said
    run(rig, "identify", "--model", "usv3", "--pair", "boat", path, status=0)


def marks(rig):
    plain, marked = write(rig, "plain.jsonl", moves("r1")), write(rig, "marked.jsonl", MARK + moves("r1"))
    both = [run(rig, "replay", "-c", rig.lab, "--json", path, status=0)[1] for path in (plain, marked)]
    assert both[0] == both[1] and both[0].count('"verdict":"AHEAD"') == 3, both[1]
    # Lines of a marked file and of another file are merged by time.
    halves = moves("r1").splitlines(keepends=True)
    first, second = write(rig, "first.jsonl", MARK + b"".join(halves[::2])), write(rig, "second.jsonl", MARK + b"".join(halves[1::2]))
    assert run(rig, "replay", "-c", rig.lab, "--json", second, first, status=0)[1] == both[0]
    _, said = run(rig, "play", "--port", rig.broker_port, "--speed", 0, marked, status=0)
    assert "9 lines, 9 sent, 9 acknowledged, 0 skipped, 0 malformed" in said, said


def long_lines(rig):
    long = line(2, "tandem/v1/r1/command", "x" * 500_000)
    path = write(rig, "long.jsonl", moves("r1")[:0] + line(0, "tandem/v1/r1/command", {"id": "a", "op": "go"}) + long + line(3, "tandem/v1/x", 1))
    end = write(rig, "end.jsonl", line(0, "tandem/v1/r1/command", {"id": "a", "op": "go"}) + long[:-1])
    for file in (path, end):
        for command, options in commands(rig).items():
            _, said = run(rig, *options, file, status=1)
            assert says("too_long", said) and f"{file}:2:1: " in said, (command, said)
    _, said = run(rig, "replay", "-c", rig.lab, "--json", path)
    assert '"lines":3,' in said and '"overlong":1' in said and '"malformed":1' in said, said


def no_files(rig):
    fifo = rig.folder / "journal.fifo"
    os.mkfifo(fifo)
    folder = rig.folder / "fifo_journal"
    folder.mkdir()
    os.mkfifo(folder / "journal-20261120T055555.599953Z.jsonl")
    for path in (fifo, folder, "/dev/zero", "/dev/null"):
        for command, options in commands(rig).items():
            _, said = run(rig, *options, path, status=2 if command == "identify" else 1)
            assert says("not_a_file", said) and "'-'" in said, (command, said)
    # A pipe that the shell has opened is accepted.
    script = f'"$TANDEM" replay -c {rig.lab} <(cat {rig.folder}/plain.jsonl)'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=limit_s(60))
    assert done.returncode == 0 and "3 commands, 3 AHEAD" in done.stdout, done
    # The daemon neither hangs on the file nor writes into it.
    lab = rig.folder / "fifo.yaml"
    lab.write_text(rig.lab.read_text().replace(f"{rig.folder}/journal", str(folder)))
    _, said = run(rig, "serve", "-c", lab, status=1)
    assert says("not_a_file", said), said


def terminal(rig):
    """A terminal gets no control characters of a file but line ends and tabs."""
    bad = "\x1b[2J\x9b31m\x07"
    topic = f"tandem/v1/{bad}r1/real/telemetry"
    path = write(rig, "bad.jsonl", line(0, "tandem/v1/r1/command", {"id": "a" + bad, "op": "g" + bad[:5]}) +
                 line(1, "tandem/v1/r1/real/reply", {"id": "a" + bad, "status": "done", "values": {"x" + bad: 1}}) +
                 line(1, "tandem/v1/r1/virtual/reply", {"id": "a" + bad, "status": "done", "values": {"x" + bad: 2}}) +
                 line(1, "tandem/v1/r1/virtual/reply", {"id": "b" + bad, "status": "done"}) +
                 line(1, f"tandem/v1/{bad}/command", {"op": "go"}) + line(2, topic, {"nu": [1, 0, 0], "tau": [1, 0, 0]}) * 40 +
                 b'{"tst":"' + bad.encode() + b'"}\n')
    raw = write(rig, "raw.jsonl", b"\x1b[2J\x9b31m\n" * 3)
    table = write(rig, "bad.csv", b"t\x1b[2J,x\x9b\n\x1b]0;a\x07,1\n")
    yaml = write(rig, "bad.yaml", b'name: "a\\e[2J"\nbroker: {host: "h\\e[2J\\x9b"}\n"ke\\ey": 1\npairs: {"r\\e1": {}}\n')
    for arguments in (("replay", "-c", rig.lab, path), ("replay", "-c", rig.lab, raw), ("identify", "--model", "usv3", path),
                      ("identify", "--model", "usv3", raw), ("identify", "--model", "usv3", "--pair", "nope", path),
                      ("identify", "--model", "travel_time", table), ("identify", "--model", "usv3", table), ("config", yaml),
                      ("serve", "-c", yaml, "--check"), ("play", "--port", rig.broker_port, "--speed", 0, raw)):
        _, said = run(rig, *arguments)
        wrong = [c for c in said if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]
        assert not wrong and said, (arguments, said)


def record(rig):
    """`tandem record` and the recipe of docs/protocol.md record the same without heartbeats; the recording replays."""
    path, by_recipe = rig.folder / "recorded.jsonl", rig.folder / "recipe.jsonl"
    recorder = rig.run([TANDEM, "record", "-c", rig.lab, path], stderr=subprocess.PIPE, text=True)
    assert "listening" in recorder.stderr.readline()
    recipe = rig.run(["mosquitto_sub", "-p", rig.broker_port, "-t", "tandem/v1/#", "-T", "tandem/v1/heartbeat/#", "-q", "1", "-F", "%J"],
                     stdout=open(by_recipe, "w"))
    plain = write(rig, "plain.jsonl", moves("r1"))

    def both_have(topic):
        return all(topic in (file.read_text() if file.exists() else "") for file in (path, by_recipe))
    while not both_have("tandem/v1/awake"):
        rig.publish("tandem/v1/awake", "1")
    run(rig, "play", "--port", rig.broker_port, "--speed", 0, plain, status=0)
    rig.publish("tandem/v1/r1/notice", {"id": "k\u00fcche \x07"})
    rig.wait(lambda: both_have("notice"), "both have the last one")
    recipe.terminate()
    recorder.terminate()
    assert recorder.wait(limit_s(10)) == 0, recorder.stderr.read()

    def read(file):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        return [(row["topic"], row["qos"], row["retain"], row["payload"]) for row in rows if "awake" not in row["topic"]]
    assert read(path) and not [row for row in read(path) if "heartbeat" in row[0]], read(path)
    assert read(path) == read(by_recipe), (read(path), read(by_recipe))
    _, said = run(rig, "replay", "-c", rig.lab, path, status=0)
    assert "r1: 3 commands" in said, said
    # `tandem record` never overwrites a recording; it refuses no topics, and a folder that does not exist.
    _, said = run(rig, "record", "-c", rig.lab, path, "--for", 1, status=1)
    assert says("file_unwritable", said) and f"{path}: " in said and "File exists" in said, said
    _, said = run(rig, "record", "-c", rig.lab, rig.folder / "none" / "x", "--for", 1, status=1)
    assert says("file_unwritable", said) and "No such file" in said, said
    _, said = run(rig, "record", path, status=2)
    assert "record: the lab file is missing" in said, said
    away = write(rig, "away.yaml", b"broker: {port: 1}\npairs: {r1: {}}\n")
    _, said = run(rig, "record", "-c", away, rig.folder / "away.jsonl", "--for", 1, status=1)
    assert "connecting to" in said, said
    code, said = run(rig, "record", "-c", rig.lab, "-", "--for", 0.5, status=0)
    assert "0 found no room" in said, said
    said = subprocess.run([TANDEM, "record", "--json", "-c", rig.lab, rig.folder / "counted.jsonl", "--for", "0.5"],
                          stdout=subprocess.PIPE, check=True).stdout
    counts = json.loads(said)
    assert counts["messages"] == len((rig.folder / "counted.jsonl").read_text().splitlines()), counts
    assert counts["cut"] == counts["without_room"] == 0, counts
    _, said = run(rig, "record", "--json", "-c", rig.lab, "-", "--for", 0.5, status=2)
    assert "not standard output" in said, said


def main():
    with Rig() as rig:
        no_recordings(rig)
        other_labs(rig)
        which_model(rig)
        marks(rig)
        long_lines(rig)
        no_files(rig)
        terminal(rig)
        record(rig)
    print("odd recordings: fine")


if __name__ == "__main__":
    main()
