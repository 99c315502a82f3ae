"""tandem replay of telemetry whose dynamics are fitted: a recording without lines of the daemon, a journal that
states how its fits ended, pieces of one, and --refit.
"""
import datetime
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile

TANDEM = os.environ["TANDEM"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
BEGIN_S, SECONDS, RATE_HZ = 1763800000, 100, 10
GAIN, LAG_S = 2.0, 0.5
REPLAYED_S = 5.0  # assumed duration of a fit whose end no line states
LAB = "pairs:\n  r1: {dynamics: {model: first_order, sides: real, window: 400, window_s: 40, refit_s: 30, fit_timeout_s: 20}}\n"


def line(t_s, topic, payload):
    stamp = datetime.datetime.fromtimestamp(t_s, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"tst": stamp, "topic": "tandem/v1/" + topic, "qos": 0, "retain": 0, "payload": payload}


def telemetry():
    """A channel that follows steps with a lag."""
    draw = random.Random(5)
    nu, lines = 0.0, []
    for k in range(SECONDS * RATE_HZ):
        if k % 12 == 0:
            tau = draw.uniform(-1, 1)
        sample = {"t": 50 + k / RATE_HZ, "seq": k, "nu": [round(nu + draw.gauss(0, 0.01), 5)], "tau": [round(tau, 5)]}
        lines.append(line(BEGIN_S + k / RATE_HZ + 0.01, "r1/real/telemetry", sample))
        nu = GAIN * tau + (nu - GAIN * tau) * math.exp(-1 / RATE_HZ / LAG_S)
    return lines


def start():
    return line(BEGIN_S, "$lab/start", {"version": "1"})


def fit(t_s, job, outcome="done"):
    return line(t_s, "$lab/fit", {"pair": "r1", "side": "real", "job": job, "outcome": outcome})


def run(folder, lines, *options):
    text = "".join(json.dumps(one) + "\n" for one in sorted(lines, key=lambda one: one["tst"]))
    command = [TANDEM, "replay", "-c", folder / "lab.yaml", "--json", *options, "-"]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    return done.stdout


def look(document):
    pair = json.loads(document)["pairs"]["r1"]
    ends = [c["t"] for c in pair["changes"] if c["action"] in ("proposed", "rejected")]
    return pair["dynamics"]["real"], ends, [a["code"] for a in pair["alarms"]]


def check_made(document, ends_after, where):
    """Every fit was made, each after its assumed duration; the values are the channel's."""
    real, ends, alarms = look(document)
    assert not alarms, (where, alarms)
    assert real["counts"]["started"] == real["counts"]["done"] == len(ends) == len(ends_after), (where, real["counts"], ends)
    values = real["fit"]["values"]
    for name, truth in (("command_per_velocity", 1 / GAIN), ("command_per_acceleration", LAG_S / GAIN)):
        assert abs(values[name] / truth - 1) < 0.05, (where, values)
    for t_s, after_s in zip(ends, ends_after):
        assert abs(t_s - BEGIN_S - after_s) < 0.15, (where, ends, ends_after)


def check_plain(folder, lines):
    """The first fit starts after half a window, the next ones each 30 s later."""
    made = [20 + REPLAYED_S, 50 + REPLAYED_S, 80 + REPLAYED_S]
    document = run(folder, lines)
    check_made(document, made, "plain")
    assert run(folder, lines, "--refit") == document, "--refit has nothing to pass over"
    assert run(folder, lines) == document, "two replays differ"
    # The recording ends while a fit is in progress.
    check_made(run(folder, lines[:22 * RATE_HZ]), made[:1], "short")
    return made


def check_fits(folder, lines, made):
    sample = [21.5, 58.5, 81.5]
    ends = [fit(BEGIN_S + t, job + 1) for job, t in enumerate(sample)]
    for first in ([start()], []):
        check_made(run(folder, first + lines + ends), sample, "told")
        check_made(run(folder, first + lines + ends, "--refit"), made, "reported, made again")
    # One fit failed, and the daemon gave up one: replay repeats what happened.
    real, _, _ = look(run(folder, [start(), *lines[:70 * RATE_HZ], ends[0], fit(BEGIN_S + 53, 2, "failed")]))
    assert (real["counts"]["done"], real["counts"]["failed"], real["counts"]["lost"]) == (1, 1, 0), real["counts"]
    real, _, alarms = look(run(folder, [start(), *lines, ends[0]]))
    assert real["counts"]["lost"] >= 1 and alarms[0] == "fit_timeout", (real["counts"], alarms)


def check_untold(folder, lines, made):
    """The lab that wrote the journal followed no dynamics: replay gives up the first fit at the time when the daemon
    would.
    """
    check_made(run(folder, [start(), *lines]), [40, 50 + REPLAYED_S, 80 + REPLAYED_S], "untold")
    # A piece of a journal: its lines are about other fits.
    pieces = [fit(BEGIN_S + t, 17 + k) for k, t in enumerate((5, 21, 35, 65, 95))]
    document = run(folder, lines + pieces)
    check_made(document, made, "a piece")
    assert look(document)[0]["counts"]["stray"] == len(pieces)
    check_made(run(folder, [start(), *lines, *pieces]), made, "a piece from a start on")


def check_recorded():
    """Long recordings, if available: the result is the same without the daemon's lines."""
    cases = pathlib.Path(os.environ.get("TANDEM_DATA") or SOURCE / "../shared/data").parent / "trust"
    def first_fit(lines):
        command = [TANDEM, "replay", "-c", cases / "lab_dynamics.yaml", "--json", "-"]
        done = subprocess.run(command, input=b"".join(lines), stdout=subprocess.PIPE, check=True)
        pair = json.loads(done.stdout)["pairs"]["boat"]
        assert not [a for a in pair["alarms"] if a["code"] == "fit_timeout"], pair["alarms"]
        return pair["changes"][0]["set"]["values"]

    for name, count in (("plain_telemetry", 4500), ("gust_none", 2000)):
        file = cases / f"{name}.jsonl.gz"
        if not file.exists():
            print(f"no {name}: not looked at")
            continue
        lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)[:count]
        bare = [text for text in lines if b"$lab/fit" not in text]
        values = first_fit(bare)
        assert bare == lines or first_fit(lines) == values, values


with tempfile.TemporaryDirectory(prefix="tandem-test-") as scratch:
    here = pathlib.Path(scratch)
    (here / "lab.yaml").write_text(LAB)
    recording = telemetry()
    when = check_plain(here, recording)
    check_fits(here, recording, when)
    check_untold(here, recording, when)
check_recorded()
