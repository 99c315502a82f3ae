"""The C client of examples/robot on an ATmega328P: its size by avr-size; the firmware of the lab's L0 in simavr,
on a serial line, through the bridge to a broker: checked, driven, calibrated, its clock known.
"""
import pathlib
import subprocess
import sys

from kit import check_robot, check_speeds, drive, fit, python_has, ROBOT
from rig import Rig, SOURCE
from waiting import limit_s

FLAGS = ["-mmcu=atmega328p", "-Os", "-std=c99", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections,--relax",
         "-flto", "-I", ROBOT / "c"]
CLIENT = ROBOT / "c/tandem_robot.c"
FLASH_BYTES, RAM_BYTES = 5 * 1024, 1024
FIRMWARE_BYTES, FIRMWARE_RAM_BYTES = 10 * 1024, 1280  # of 32 KB and 2 KB; the 2 KB include the stack
MOVES = 24


def build(folder, name, source, *options):
    path = folder / name
    subprocess.run(["avr-gcc", *FLAGS, *options, "-o", path, source, CLIENT, "-lm"], check=True)
    table = subprocess.run(["avr-size", path], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[1].split()
    text, data, bss = map(int, table[:3])
    print(f"{name}: {text + data} bytes of flash, {data + bss} of RAM")
    return path, text + data, data + bss


def check_sizes(folder):
    """The runtime, a minimal program and the client, linked together."""
    _, flash, ram = build(folder, "least", SOURCE / "tests/support/avr/least.c")
    assert flash <= FLASH_BYTES and ram <= RAM_BYTES, (flash, ram)


def run_firmware(rig, simulator, firmware, *bridge):
    link = rig.folder / (pathlib.Path(firmware).name + ".tty")
    rig.run([simulator, firmware, link])
    rig.wait(link.exists, "simavr's line")
    rig.run([ROBOT / "bridge/bridge.py", link, f"127.0.0.1:{rig.broker_port}", *bridge])


def check_json_lines(folder, simulator):
    firmware, flash, ram = build(folder, "l0", ROBOT / "avr/l0.c")
    assert flash <= FIRMWARE_BYTES and ram <= FIRMWARE_RAM_BYTES, (flash, ram)
    with Rig(pairs="avr: {probe_interval_s: 0.5, sync_tolerance_s: 0.3}") as rig:
        rig.start_daemon()
        rig.start("robot", "--kind", "diffdrive", "--pair", "avr", "--side", "virtual")
        run_firmware(rig, simulator, firmware, "tandem/v1/avr", "real")
        entries = drive(rig, "avr", MOVES)
        assert all(e["real_status"] == "done" and e["verdict"] in ("SYNC", "AHEAD", "BEHIND") for e in entries), entries
        # simavr catches up after a delay: its clock then runs fast for some ms.
        assert all(0.0 < e["real_motion_s"] < e["real_lap_s"] + 0.1 for e in entries), entries
        check_speeds(rig, "avr", "real", angular_speed_radps=2.0, linear_speed_mps=0.25)
        rig.wait(lambda: rig.get("/api/v1/pairs/avr/clock")["real"]["drift_ppm"] is not None, "the drift is known", 120)
        clock = rig.get("/api/v1/pairs/avr/clock")["real"]
        print("clock:", clock)
        assert clock["probes"] > 20 and abs(clock["drift_ppm"]) < 2000, clock
        print("real:", fit(rig, "avr", "real")["values"])
        check_robot(rig, "avr", "real", ["boot"])


def check_positional(folder, simulator):
    """The shipped mapping, for the real robot only: the simulated one is Tandem's own. The bridge forwards the
    lines.
    """
    shipped, mapping = SOURCE / "config/mappings/positional_text.yaml", folder / "positional_text.yaml"
    if not shipped.exists():
        print("SKIPPED: positional text, for there is no", shipped)
        return
    text = shipped.read_text().replace("sides: {bt: real, sim: virtual}", "side: real")
    mapping.write_text(text.replace("course/{pair}/{side}/", "course/{pair}/bt/"))
    firmware, _, _ = build(folder, "l0_positional", ROBOT / "avr/l0.c", "-DPOSITIONAL")
    with Rig(pairs=f"p1: {{codec: mapping, mapping: {mapping}, mode: link, sync_tolerance_s: 0.3}}") as rig:
        rig.start_daemon()
        rig.start("robot", "--kind", "diffdrive", "--pair", "p1", "--side", "virtual", "--mode", "link")
        run_firmware(rig, simulator, firmware, "course/p1/bt")
        rig.wait_online("p1")
        driver = rig.start("drive", "--pair", "p1", "--mode", "link", "--count", MOVES, "--interval", 0.05, "--turn-max", 1.5,
                           "--drive-max", 0.5, "--timeout", 30)
        assert driver.wait(limit_s(600)) == 0
        rig.wait(lambda: rig.get("/api/v1/pairs/p1")["entries"] >= MOVES, "entries", 30)
        check_speeds(rig, "p1", "real", angular_speed_radps=2.0, linear_speed_mps=0.25)
        print("positional:", fit(rig, "p1", "real")["values"])


def main():
    with Rig() as rig:
        folder = rig.folder
        check_sizes(folder)
        simulator = folder / "simavr_run"
        built = subprocess.run(["cc", "-std=gnu11", "-O2", "-o", simulator, SOURCE / "tests/support/avr/simavr_run.c", "-lsimavr"],
                               stderr=subprocess.DEVNULL, check=False)
        if built.returncode != 0 or not python_has("paho.mqtt.client"):
            print("SKIPPED: the firmware at work, for there is no libsimavr-dev or no python3-paho-mqtt")
            return 0
        check_json_lines(folder, simulator)
        check_positional(folder, simulator)
    return 0


if __name__ == "__main__":
    sys.exit(main())
