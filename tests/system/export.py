"""export.py: see export.sh."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import mcap_check
from npm import NPM, npm_has

TANDEM, SOURCE = os.environ["TANDEM"], os.environ["SOURCE"]
T0 = 1795154400
LAB = """name: shown
broker: {username: operator, password_file: /secret/pw, prefix: "lab/one"}
http: {token_file: /secret/token}
pairs:
  r1: {timeout_s: 4, sync_tolerance_s: 0.05}
  r2: {timeout_s: 4, sync_tolerance_s: 0.05}
"""


def stamp(t):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(T0 + int(t))) + f".{round(t % 1 * 1e6) % 1000000:06d}Z"


def line(t, topic, payload, **more):
    return {"tst": stamp(t), "topic": f"lab/one/{topic}", "qos": 1, "retain": 0, **more, "payload": payload}


def recording():
    """Two pairs, a move every 5 s; r1's fifth virtual reply is lost. Lists of samples, flags, texts that are no JSON."""
    lines = [line(0, "r1/real/connection", {"state": "online", "boot": "b1"}, retain=1)]
    for k in range(8):
        for pair, shift in (("r1", 0.0), ("r2", 1.7)):
            t = 1 + 5 * k + shift
            lines.append(line(t, f"{pair}/command", {"id": f"c{k}", "op": "go", "rotation_rad": 1.0}, mid=k + 1))
            for side, lap in (("real", 1.25), ("virtual", 1.22)):
                if (pair, k, side) != ("r1", 4, "virtual"):
                    lines.append(line(t + lap, f"{pair}/{side}/reply",
                                      {"id": f"c{k}", "status": "done", "t": T0 + t + lap - 0.02}, mid=k + 100))
            samples = [{"t": T0 + t + 0.1 * i, "seq": 10 * k + i, "nu": [0.1 * i, 0, 0.5], "tau": [1, 0, i]}
                       for i in range(3)]
            lines.append(line(t + 0.31, f"{pair}/real/telemetry", samples, qos=0))
            lines.append(line(t + 0.32, f"{pair}/real/telemetry", samples[0], qos=0))
    lines.append(line(20.5, "r1/command", {"id": "c3", "op": "go", "rotation_rad": 1.0}, dup=1, mid=4))
    lines.append(line(21.0, "r1/real/reply", "no JSON at all \u00e9", encoding="latin1"))
    lines.append(line(21.1, "r9/command", {"id": "x", "op": "go"}))
    lines.sort(key=lambda x: x["tst"])
    return "".join(json.dumps(x) + "\n" for x in lines)


def tandem(*words, code=0):
    run = subprocess.run([TANDEM, *map(str, words)], capture_output=True, text=True)
    assert run.returncode == code, (words, run.returncode, run.stdout, run.stderr)
    return run


def check_mcap(folder):
    tandem("export", "-c", folder / "lab.yaml", folder / "all.jsonl", "-o", folder / "all.mcap")
    file = mcap_check.read(folder / "all.mcap")
    topics = {m.topic for m in file.messages}
    assert {"lab/one/r1/entry", "lab/one/r1/alarm", "lab/one/r2/real/telemetry"} <= topics, topics
    entries = [json.loads(m.data) for m in file.messages if m.topic == "lab/one/r1/entry"]
    assert [e["n"] for e in entries] == list(range(1, 9)) and entries[4]["verdict"] == "TIMEOUT", entries
    raw = [m for m in file.messages if m.encoding == ""]
    assert [m.data for m in raw] == ["no JSON at all \u00e9".encode("latin1")] and raw[0].schema == ""
    samples = [m for m in file.messages if m.topic == "lab/one/r1/real/telemetry"]
    assert len(samples) == 8 * 4 and all(json.loads(m.data)["nu"][2] == 0.5 for m in samples)
    # Replies come 20 ms after their stamps, the samples later: by the clock's fit they were sent before.
    ages = [(m.log_ns - m.publish_ns) / 1e6 for m in samples[4:]]
    assert all(abs(a - b) < 1 for a, b in zip(ages, 7 * [290, 190, 90, 300])), ages
    for name, encoding, text in file.schemas.values():
        assert encoding == "jsonschema" and json.loads(text)["type"] == "object" and "$ref" not in text, name
    about = file.metadata["tandem.capture"]
    assert about["trigger"] == "asked for" and "anew" in about["numbering"], about
    lab = file.attachments["lab.yaml"][1].decode()
    assert "sync_tolerance_s" in lab and "secret" not in lab and "operator" not in lab, lab
    return len(file.messages)


def check_npm(folder, count):
    if not npm_has("@mcap/core@2.2.2"):
        print("SKIPPED in part: @mcap/core is not at hand, our own reader alone has read the files", flush=True)
        return
    run = subprocess.run(["node", f"{SOURCE}/tests/system/mcap_read.mjs", folder / "all.mcap"], capture_output=True,
                         text=True, env={**os.environ, "NODE_PATH": str(NPM.resolve() / "node_modules")})
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {"indexed": count, "streamed": count, "unordered": 0, "attachments": 1,
                                      "metadata": 1, "done": True}, run.stdout


def check_replay(folder):
    """The same bytes from the file of lines and from the MCAP file made of it."""
    for words in ([], ["--json"]):
        one, other = (tandem("replay", "-c", folder / "lab.yaml", folder / f"all.{end}", *words)
                      for end in ("jsonl", "mcap"))
        assert one.stdout == other.stdout, (one.stdout, other.stdout)
    lines = tandem("replay", "-c", folder / "lab.yaml", folder / "all.mcap").stdout
    assert "TIMEOUT" in lines and "malformed" in lines, lines


def check_torn(folder):
    """A file cut in its summary has all messages; one cut in its chunk has those before the cut."""
    data = (folder / "all.mcap").read_bytes()
    chunk, size = next((at, len(body)) for opcode, body, at in mcap_check.records(data, 8) if opcode == 0x06)
    whole = tandem("replay", "-c", folder / "lab.yaml", folder / "all.mcap").stdout
    for cut in (len(data) - 1, chunk + 9 + size * 9 // 10, 30):
        (folder / "torn.mcap").write_bytes(data[:cut])
        run = tandem("replay", "-c", folder / "lab.yaml", folder / "torn.mcap", code=0 if cut > 30 else 1)
        if cut > chunk + 9 + size:
            assert run.stdout == whole
        elif cut > 30:
            assert "1 torn at the end of a file" in run.stdout, run.stdout
            assert verdicts(run.stdout)[:11] == verdicts(whole)[:11], run.stdout
    damaged = bytearray(data)
    damaged[chunk + 9 + size // 2] ^= 1
    (folder / "damaged.mcap").write_bytes(damaged)
    run = tandem("replay", "-c", folder / "lab.yaml", folder / "damaged.mcap", code=1)
    assert "CRC" in run.stderr, run.stderr


def verdicts(text):
    return [(w[0], w[2], w[-1]) for w in map(str.split, text.splitlines()) if len(w) > 8 and w[3] == "go"]


def check_slices(folder):
    lab, all_lines = folder / "lab.yaml", (folder / "all.jsonl").read_text().splitlines()
    whole = verdicts(tandem("replay", "-c", lab, folder / "all.jsonl").stdout)
    # r1's command 4 (at 21 s) times out at 25 s; r2's of 22.7 s is open at 23 s.
    tandem("export", "-c", lab, folder / "all.jsonl", "--since", T0 + 23, "--until", T0 + 30, "-o",
           folder / "cut.jsonl")
    lines = (folder / "cut.jsonl").read_text().splitlines()
    assert set(lines) <= set(all_lines)
    assert json.loads(lines[0])["tst"] == stamp(21.0), "the oldest open command begins the slice"
    cut = verdicts(tandem("replay", "-c", lab, folder / "cut.jsonl").stdout)
    assert cut and set(cut) <= set(whole), (cut, whole)
    assert "out_of_context" not in tandem("replay", "-c", lab, folder / "cut.jsonl").stdout
    # Around an entry, whose number is that of the whole recording.
    tandem("export", "-c", lab, folder / "all.jsonl", "--around", "entry:r1:5", "--before", 1, "--after", 2, "--pair",
           "r1", "-o", folder / "five.mcap")
    file = mcap_check.read(folder / "five.mcap")
    entries = [json.loads(m.data)["n"] for m in file.messages if m.schema == "tandem.entry"]
    assert 5 in entries and all("/r2/" not in m.topic for m in file.messages), entries
    about = file.metadata["tandem.capture"]
    assert about["pair"] == "r1" and float(about["until"]) == T0 + 27, about
    tandem("export", "-c", lab, folder / "all.jsonl", "--around", "entry:r1:2", "--before", 0, "--after", 0, "--pair",
           "r1", "-o", folder / "bare.jsonl")
    bare = verdicts(tandem("replay", "-c", lab, folder / "bare.jsonl").stdout)
    assert bare and set(bare) <= set(whole), ("without time after it an entry has its reply", bare, whole)
    tandem("export", "-c", lab, folder / "all.jsonl", "--around", "id:c6", "--pair", "r2", "-o", folder / "id.jsonl")
    assert '"c6"' in (folder / "id.jsonl").read_text()


def versions_of(text):
    return [[(e.get("real_version"), e.get("virtual_version")) for e in pair["entries"]]
            for pair in json.loads(text)["pairs"].values()]


def check_versions(folder):
    """A slice names the versions in force, though it is younger than the lines that state them."""
    lines = [json.loads(text) for text in (folder / "all.jsonl").read_text().splitlines()]
    lines[0]["payload"]["version"] = "fw 2"
    lines += [line(t, "$lab/version", {"pair": pair, "side": "virtual", "version": version})
              for t, pair, version in ((0.5, "r1", "sim 1"), (12.0, "r1", "sim 2"), (0.6, "r2", "other"), (38.0, "r1", "sim 3"))]
    lines.sort(key=lambda x: x["tst"])
    (folder / "known.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    (folder / "named.yaml").write_text(LAB.replace("0.05}", "0.05, virtual: {version: of today}}"))
    lab = folder / "named.yaml"
    wanted = versions_of(tandem("replay", "-c", lab, "--json", folder / "known.jsonl").stdout)
    assert wanted[0][1] == ("fw 2", "sim 1") and wanted[0][6] == ("fw 2", "sim 2"), wanted
    for end in ("jsonl", "mcap"):
        for words, pairs in (([], wanted), (["--pair", "r1"], [wanted[0], []])):
            out = folder / f"known{len(words)}.{end}"
            tandem("export", "-c", lab, folder / "known.jsonl", "--since", T0 + 25.5, "--until", T0 + 40, *words, "-o", out)
            got = versions_of(tandem("replay", "-c", lab, "--json", out).stdout)
            assert got == [pair[-3:] for pair in pairs], (words, got, wanted)
    head = [json.loads(text) for text in (folder / "known2.jsonl").read_text().splitlines()[:3]]
    assert [(x["tst"], x["topic"]) for x in head[:2]] == 2 * [(stamp(25.5), "lab/one/$lab/version")], head
    assert [x["payload"] for x in head[:2]] == [{"pair": "r1", "side": "real", "version": "fw 2"},
                                                {"pair": "r1", "side": "virtual", "version": "sim 2"}], head


def check_csv(folder):
    tandem("export", "-c", folder / "lab.yaml", folder / "all.jsonl", "--pair", "r2", "-o", folder / "all.csv")
    rows = list(csv.DictReader(open(folder / "all.csv")))
    assert len(rows) == 8 * 4 and {r["pair"] for r in rows} == {"r2"}, rows[:2]
    assert rows[2]["nu[0]"] == "0.2" and rows[2]["tau[2]"] == "2" and rows[2]["seq"] == "2", rows[2]
    assert abs(float(rows[0]["t"]) - (T0 + 2.7 + 0.31)) < 1e-6, rows[0]


def check_errors(folder):
    lab, base = folder / "lab.yaml", ["export", "-c", folder / "lab.yaml", folder / "all.jsonl"]
    for words, code, text in [
            (["-o", folder / "n.mcap", "--around", "entry:r1:57"], 1, "r1 has entries 1 to 8 in these files"),
            (["-o", folder / "n.mcap", "--around", "id:none"], 1, "'none'"),
            (["-o", folder / "n.mcap", "--around", "entry:r1:0"], 2, "entry:PAIR:N"),
            (["-o", folder / "n.mcap", "--around", "entry:r7:1"], 2, "'r7'"),
            (["-o", folder / "n.mcap", "--pair", "r7"], 2, "'r7'"),
            (["-o", folder / "n.mcap", "--since", 20, "--until", 10], 2, "not after"),
            (["-o", folder / "n.mcap", "--since", "noon"], 2, "ISO 8601"),
            (["-o", folder / "n.mcap", "--until", 1000], 1, "no message"),
            (["-o", folder / "n.mcap", "--around", T0, "--since", T0], 2, "not both"),
            (["-o", folder / "n.mcap", "--before", 3], 2, "not both"),
            (["-o", folder / "n.csv", "--until", T0 + 0.1], 1, "no telemetry"),
            (["-o", folder / "n.bag"], 2, ".mcap"),
            (["-o", folder / "all.mcap"], 1, "exists"),
            (["-o", folder / "none/n.mcap"], 1, "none/n.mcap")]:
        run = tandem(*base, *words, code=code)
        assert text in run.stderr.lower() or text in run.stderr, (words, run.stderr)
        assert not (folder / "n.mcap").exists(), words
    tandem("export", "-c", lab, "-", "-o", folder / "n.mcap", code=2)
    (folder / "garbage").write_text("no\nmessage\n")
    assert "not one line of it is a message" in tandem("export", "-c", lab, folder / "garbage", "-o", folder / "n.mcap", code=1).stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "lab.yaml").write_text(LAB)
        (folder / "all.jsonl").write_text(recording())
        count = check_mcap(folder)
        check_npm(folder, count)
        check_replay(folder)
        check_torn(folder)
        check_slices(folder)
        check_versions(folder)
        check_csv(folder)
        check_errors(folder)
    print("export: slices are read by other programs, and replayed as the recording")


sys.exit(main())
