"""A vessel drives a course in the current and wind of the paper's Table 8, without a daemon: `tandem mission` reads its
telemetry and sends efforts. A signal, silence and wrong files end it with one clear error each.
"""
import json
import signal
import subprocess
import sys

sys.path.insert(0, "tests/support")
from fault_code import says  # noqa: E402
from rig import SOURCE, TANDEM, Rig  # noqa: E402
from waiting import limit_s  # noqa: E402

TRIAL_2 = ("vessel: wamv\nactuation: allocated\ncurrent_force_n: 6.8\ncurrent_direction_rad: 1.92\n"
           "wind_force_n: 6.2\nwind_direction_rad: 1.22\neffort_timeout_s: 2\n")
COURSE = "kind: vessel\npair: boat\ncourse_m: [[30, 0], [30, 30]]\n"


def mission(rig, path, *options, status=0):
    done = subprocess.run([TANDEM, "mission", "-c", str(rig.lab), str(path), *options], capture_output=True, text=True,
                          timeout=limit_s(300))
    assert done.returncode == status, (path, done.returncode, done.stdout, done.stderr)
    return done


def write(rig, name, text):
    path = rig.folder / name
    path.write_text(text)
    return path


def start_vessel(rig, *options):
    vessel = write(rig, "vessel.yaml", TRIAL_2)
    return rig.start("robot", "--kind", "usv3", "--pair", "boat", "--side", "real", "--parameters", vessel,
                     "--telemetry-rate", 10, "--period", 0.05, *options)


def course(rig):
    report = json.loads(mission(rig, write(rig, "course.yaml", COURSE), "--json").stdout)
    assert report["verdict"] == "done" and len(report["way_points"]) == 2, report
    assert 50 < report["length_m"] < 60 and 60 < report["duration_s"] < 90, report
    off = report["off_course"]
    assert off["rms_m"] <= 0.10 and off["largest_m"] <= 0.30 and off["anywhere_m"] < 2, report
    assert abs(report["pose"][0] - 30) < 3 and abs(report["pose"][1] - 30) < 3, report


def signal_brakes(rig):
    """From where the vessel is now, near [30, 30]."""
    path = write(rig, "far.yaml", "kind: vessel\npair: boat\ncourse_m: [[600, 40]]\n")
    control = rig.listen("control.jsonl", "tandem/v1/boat/real/control")
    process = rig.run([TANDEM, "mission", "-c", rig.lab, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rig.wait(lambda: "tau" in control.read_text(), "the vessel is steered", 20)
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=limit_s(60))
    assert process.returncode == 1 and "quit, 0 of 1 way-points" in out, (out, said)
    assert "way-point 1 was not reached: quit" in said, said
    rig.catch_up(control)
    efforts = [line for line in control.read_text().splitlines() if "real/control" in line]
    assert json.loads(json.loads(efforts[-1])["payload"])["tau"] == [0, 0, 0], efforts[-1]


def refused_from_here(rig):
    """The course is checked again from where the vessel is: it must not begin in a disc."""
    text = COURSE + "map: {obstacles: {pier: {x_m: 30, y_m: 34, radius_m: 6}}}\n"
    said = mission(rig, write(rig, "pier.yaml", text.replace("[30, 30]]", "[30, 20]]")), status=1).stderr
    assert "pier.yaml: the start (" in said and "around pier" in said, said


def silence(rig, vessel):
    path = write(rig, "far.yaml", "kind: vessel\npair: boat\ncourse_m: [[600, 40]]\n")
    control = rig.listen("silent.jsonl", "tandem/v1/boat/real/control")
    process = rig.run([TANDEM, "mission", "-c", rig.lab, path, "--json"], stdout=subprocess.PIPE, text=True)
    rig.wait(lambda: "tau" in control.read_text(), "the vessel is steered", 20)
    vessel.terminate()
    vessel.wait(limit_s(10))
    report = json.loads(process.communicate(timeout=limit_s(60))[0])
    assert process.returncode == 1 and report["verdict"] == "failed", report
    assert report["reason"] == "no telemetry for 2 s", report
    said = mission(rig, path, "--connect-timeout", "1", status=1).stderr
    assert "no vessel reports at tandem/v1/boat/real/telemetry within 1 s" in said, said


def somebody_steers(rig):
    """A vessel that does not report is steered by somebody else: a course is refused, and sends nothing."""
    path = write(rig, "far.yaml", "kind: vessel\npair: boat\ncourse_m: [[600, 40]]\n")
    somebody = rig.run(["mosquitto_pub", "-p", rig.broker_port, "-t", "tandem/v1/boat/real/control", "-m",
                        '{"t": 0, "tau": [1, 0, 0]}', "--repeat", 10000, "--repeat-delay", 0.1])
    said = mission(rig, path, "--connect-timeout", str(limit_s(20)), status=1).stderr
    somebody.terminate()
    assert "one mission at a time steers a vessel" in said, said


def wrong_files(rig):
    for text, code, words in (
            ("course_m: [[0, 0], [30, 0], [0, 2]]", "out_of_range", "course_m: way-point 2 (30.00, 0.00): a turn of 176 deg"),
            ("course_m: [[30, 0], [30, 30], [0, 25]]\nvessel: iacquabot\nspeed_mps: 2", "out_of_range", "speed_mps: 2 m/s"),
            ("course_m: [[0, 0], [30, 0]]\nmap: {obstacles: {b: {x_m: 30, y_m: 0, radius_m: 1}}}", "in_obstacle", "around b"),
            ("course_m: [[0, 0], 5]", "", "course_m[1]"),
            ("course_m: []", "", "course_m"),
            ("course_m: [[0, 0]]\nvessel: raft", "unknown_value", "wamv or iacquabot"),
            ("course_m: [[0, 0]]\nlookahead_m: 0", "out_of_range", "lookahead_m"),
            ("course_m: [[0, 0]]\npair: a b", "bad_name", "pair"),
            ("steps: [{sweep: true}]", "unknown_key", "steps")):
        said = mission(rig, write(rig, "bad.yaml", "kind: vessel\n" + text + "\n"), status=2).stderr
        assert words in said and (not code or says(code, said)), (text, said)
    said = mission(rig, write(rig, "bad.yaml", "kind: boat\nsteps: [{sweep: true}]\n"), status=2).stderr
    assert "wheels, vessel or arm" in said, said


def plan():
    harbour = SOURCE / "config/missions/harbour.yaml"
    done = subprocess.run([TANDEM, "mission", "--plan", "--json", harbour], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert [piece["kind"] for piece in document["pieces"]][:4] == ["line", "left", "line", "right"], document
    assert abs(sum(piece["length_m"] for piece in document["pieces"]) - document["length_m"]) < 1e-6, document


def main():
    with Rig(pairs="boat: {}") as rig:
        plan()
        wrong_files(rig)
        vessel = start_vessel(rig)
        course(rig)
        signal_brakes(rig)
        refused_from_here(rig)
        silence(rig, vessel)
        somebody_steers(rig)
    print("missions of vessels: fine")


if __name__ == "__main__":
    main()
