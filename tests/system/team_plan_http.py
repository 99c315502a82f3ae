"""The daemon's plan of a team: at first a guess, then by durations that its robots showed. A restarted daemon and the
recording give the same plan. The largest plan is answered, a larger one is refused.
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
    tasks: {{Fetch: {{op: go, nominal_s: 9, payload: {{rotation_rad: 1}}}}, Place: {{op: go, nominal_s: 9, payload: {{rotation_rad: -1}}}}}}
    sequences:
      part: [Lock: IB, Fetch, UnLock: IB, Place]
    robots:
      R1: {{pair: r1, sequence: part, cycles: {CYCLES}}}
      R2: {{pair: r2, sequence: part, cycles: {CYCLES}}}
    plan:
      a1: {{seq: part, robots: R1}}
      a2: {{seq: part, robots: R1}}
      b1: {{seq: part, robots: R2, after: a1}}
"""
# 64 robots and tasks of 1000 activities.
LARGE = ("\n  large:\n    tasks: {Go: {nominal_s: 1}}\n    sequences: {s: [{Repeat: {times: 1000, steps: [Go]}}]}\n"
         "    robots: {" + ", ".join(f"R{i}: {{}}" for i in range(64)) + "}\n"
         "    plan: {" + ", ".join(f"t{i}: {{seq: s, robots: R{i}}}" for i in range(64)) + "}\n"
         "  longer:\n    tasks: {Go: {nominal_s: 1}}\n    sequences: {s: [{Repeat: {times: 1025, steps: [Go]}}]}\n"
         "    robots: {R1: {}}\n    plan: {t: {seq: s, robots: R1}}\n")
SPEED = ("--linear-speed", "4", "--angular-speed", "8", "--t0", "0.05", "--noise", "0.01")


def plan(rig, query=""):
    return rig.get("/api/v1/teams/cell/plan" + query)


def check_guess(rig):
    guess = plan(rig)
    assert [task["guessed"] for task in guess["tasks"]] == [True] * 3 and guess["length_s"] == 36, guess
    assert plan(rig, "?seed=2")["uncertain"] != guess["uncertain"], "the seed does not show"
    assert plan(rig, "?spread=0")["uncertain"]["share_with_wait"] == 0
    assert plan(rig, "?draws=0")["uncertain"] is None
    assert len(guess["interference"]) == 1 and plan(rig, "?set=IB.capacity=2")["interference"] == []
    assert rig.get("/api/v1/teams/cell")["planned"] == 3


def refused(rig, path, status, words):
    run = subprocess.run(["curl", "-sS", "-w", "%{http_code}", f"http://127.0.0.1:{rig.http_port}/api/v1/teams/{path}"],
                         stdout=subprocess.PIPE, text=True, check=True)
    assert run.stdout.endswith(str(status)) and words in run.stdout, run.stdout


def check_large(rig):
    large = rig.get("/api/v1/teams/large/plan?draws=1000")
    assert large["length_s"] == 1000 and len(large["tasks"]) == 64, large["length_s"]
    refused(rig, "longer/plan", 409, "task 't' of the plan has more than 1024 activities")
    refused(rig, "cell/plan?set=R9.speed=%2B5%25", 400, "no robot and no resource of team cell is called 'R9'")
    refused(rig, "cell/plan?set=R9", 400, "NAME.WHAT=VALUE")


def main():
    with Rig() as rig:
        head = rig.lab.read_text()
        rig.lab.write_text(head[:head.index("\npairs:")] + TEAM + LARGE.removeprefix("\n"))
        rig.start_daemon()
        check_guess(rig)
        check_large(rig)
        for pair in ("r1", "r2"):
            rig.start("robot", "--pair", pair, "--mode", "link", "--side", "both", "--telemetry-rate", 1, *SPEED)
        rig.wait_online("r1", "r2")
        run = subprocess.run([TANDEM, "team", "run", "-c", str(rig.lab), "--timeout", "90", "cell"], stdout=subprocess.PIPE, text=True)
        assert run.returncode == 0, run.stdout
        measured = plan(rig)
        assert not any(task["guessed"] for task in measured["tasks"]) and measured["length_s"] < 18, measured
        rig.stop_daemon()
        rig.start_daemon()
        assert plan(rig) == measured, "the restarted daemon plans otherwise"
        run = subprocess.run([TANDEM, "team", "plan", str(rig.lab), "--team", "cell", "--from", str(rig.folder / "journal"), "--json"],
                             stdout=subprocess.PIPE, check=True)
        assert json.loads(run.stdout) == measured, (json.loads(run.stdout), measured)


if __name__ == "__main__":
    main()
