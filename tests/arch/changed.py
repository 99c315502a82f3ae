"""changed.py BUILD: tests that tests/changed.py selects every test that it must, and few others."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from changed import Reach  # noqa: E402

# Tests that run lines of a file. Files that are reached through tables of functions: lab_memory, identify, serve.
KNOWN = """
identification/numeric/svd.c: unit.test_svd golden.test_mrclam system.identify
identification/travel/travel_kalman.c: unit.test_travel_kalman unit.test_pair golden.replay.moves system.online
twin/pair/pair.c: unit.test_pair unit.test_lab_memory golden.replay.alarms system.demo system.replay browser.views
identification/model/diffdrive.c: unit.test_models unit.test_identify golden.replay.moves system.selftest
logger/message/codec_native.c: unit.test_codec golden.replay.clocks system.test_serve
service/tool/child.c: system.demo system.document_readme
service/wire/rtde.c: unit.test_rtde system.bridge
web/page/chart.js: browser.views
tests/support/rig.py: system.arm system.online browser.views
tests/support/lab_script.h: unit.test_pair
tests/golden/replay.py: golden.replay.alarms golden.replay.moves
tests/golden/replay/alarms/expected.json: golden.replay.alarms
tests/golden/arm/modbus.json: golden.test_arm_modbus
tests/fuzz/corpus/csv/crlf.csv: fuzz.csv
config/mosquitto.conf: unit.test_delivery system.arm
service/sim/robot/robot_command.c: system.demo
examples/robot/python/robot.py: system.kit_clients
docs/tutorials/follow.md: system.document_follow
"""
# At most this share of the tests, without those of the architecture.
FEW = {"tests/unit/test_svd.c": 0.01, "tests/golden/replay/moves/lab.yaml": 0.03,
       "identification/arm/arm_friction.c": 0.3, "service/machine/machine_code.c": 0.06,
       "docs/modbus.md": 0.02, "README.md": 0.02, "CHANGELOG.md": 0.02}


def without_arch(tests):
    return {t for t in tests if not t.startswith("arch.")}


def main(build):
    faults = []
    start = time.process_time()
    reach = Reach(build)
    every = without_arch(reach.tests)
    for row in KNOWN.strip().splitlines():
        file, _, tests = row.partition(": ")
        if not (reach.source / file).exists():
            faults.append(f"{file} is gone: mend KNOWN")
        selected = reach.select([file])
        faults += [f"{file} does not select {t}" for t in tests.split() if t in reach.tests and t not in selected]
    for file, share in FEW.items():
        selected = without_arch(reach.select([file]))
        if len(selected) > share * len(every) + 1:
            faults.append(f"{file} selects {len(selected)} of {len(every)} tests, {share:.0%} at most")
    for test in every:
        if reach.of(test) is None:
            faults.append(f"{test}: its program is not built")
        elif not any(f.startswith(("tests/", "README", "docs/")) for part in reach.of(test) for f in part.files):
            faults.append(f"{test} does not reach its own source")
    status = reach.select(["base/errors/status.h"])
    compiled = [t for t in every if t.split(".")[-2 if t[-1].isdigit() else -1].startswith("test_")]
    if sum(t in status for t in compiled) < 0.9 * len(compiled):
        faults.append(f"base/errors/status.h selects {len(status)} tests")
    for file in ("tests/CMakeLists.txt", "cmake/deps.sh", "twin/no_such.c", "x" * 12):
        faults += [] if len(reach.select([file])) == len(reach.tests) else [f"{file} does not select every test"]
    if time.process_time() - start > 20:
        faults.append(f"{time.process_time() - start:.0f} s of processor time, 20 s at most")
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
