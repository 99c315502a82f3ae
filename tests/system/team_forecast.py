"""A team works twice over a real broker. The robots' recorded times predict how long the work takes: by activity and
in all, from the first run alone and from both.
"""
import json
import subprocess

from rig import Rig, TANDEM

CYCLES = 8
TEAM = f"""
defaults: {{mode: link, timeout_s: 60, tolerances: {{_m: 0.1, _rad: 0.1}}}}
pairs: {{r1: {{}}, r2: {{}}}}
teams:
  cell:
    resources: {{IB: {{}}}}
    positions: {{IB: {{x_m: 0, y_m: 0}}, SPos: {{x_m: -0.5, y_m: 0.4, safe: true}}, OB: {{x_m: -1.5, y_m: 0, safe: true}}}}
    tasks: {{Move: {{to: position}}, PickPrt: {{op: go}}}}
    sequences:
      cycle: [Lock: IB, Move: IB, PickPrt, Move: SPos, UnLock: IB, Move: OB]
    robots:
      R1: {{pair: r1, sequence: cycle, cycles: {CYCLES}}}
      R2: {{pair: r2, sequence: cycle, cycles: {CYCLES}, positions: {{SPos: {{x_m: 0.5}}, OB: {{x_m: 1.5}}}}}}
"""
SPEED = ("--linear-speed", "4", "--angular-speed", "8", "--t0", "0.05", "--noise", "0.01")


def work(rig):
    run = subprocess.run([TANDEM, "team", "run", "-c", str(rig.lab), "--timeout", "90", "cell"], stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stdout


def simulate(rig, *options):
    run = subprocess.run([TANDEM, "team", "simulate", str(rig.lab), "--from", str(rig.folder / "journal"), "--json", *options],
                         stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def check(study, runs):
    """The tolerance is wide: other work on the machine varies."""
    recorded = [run["makespan_s"] for run in study["recorded"]]
    makespan = {name: figure["value"] for name, figure in study["makespan_s"].items()}
    print(f"recorded {recorded}, predicted {makespan['p05']:.2f} .. {makespan['p95']:.2f}", flush=True)
    assert len(recorded) == runs, study["recorded"]
    for took in recorded:
        assert 0.8 * makespan["p05"] < took < 1.2 * makespan["p95"], (took, makespan)
    assert makespan["p05"] < makespan["p50"] < makespan["p95"] < 1.5 * makespan["p05"], makespan
    kinds = {(a["robot"], a["task"], a["arg"]): a for a in study["activities"]}
    assert len(kinds) == 8 and all(a["from"] in ("measured", "fitted") for a in kinds.values()), kinds
    assert kinds["R1", "PickPrt", None]["from"] == "measured", kinds
    for name, a in kinds.items():
        assert a["measured"]["n"] == runs * CYCLES, (name, a)
        assert abs(a["mean_s"] - a["measured"]["mean_s"]) < 0.05 + 0.3 * a["measured"]["mean_s"], (name, a)
    assert study["finished"] == study["runs"] and study["expected"]["end"] == "finished", study


def main():
    with Rig() as rig:
        head = rig.lab.read_text()
        rig.lab.write_text(head[:head.index("\npairs:")] + TEAM)
        rig.start_daemon()
        for pair, pose in (("r1", "-1.5,0,0"), ("r2", "1.5,0,0")):
            rig.start("robot", "--pair", pair, "--mode", "link", "--side", "both", "--telemetry-rate", 1, "--pose=" + pose, *SPEED)
        rig.wait_online("r1", "r2")
        work(rig)
        check(simulate(rig), 1)
        work(rig)
        rig.stop_daemon()
        both = simulate(rig)
        check(both, 2)
        assert simulate(rig, "--threads", "5") == both, "threads show"
        alone = simulate(rig, "--side", "virtual", "--set", "R2.cycles=1")
        assert alone["recorded"] == [], "that is other work"
        assert alone["expected"]["makespan_s"] < both["expected"]["makespan_s"], alone["expected"]


if __name__ == "__main__":
    main()
