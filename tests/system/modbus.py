"""A simulated arm by Modbus TCP: mbpoll, pymodbus, modbus-serial and Node-RED's nodes read and write, the
controllers of examples/ drive it by a stream of set points, and a client that sent half a request delays nobody.
"""
import csv
import math
import os
import pathlib
import shutil
import socket
import subprocess
import sys

from pymodbus.client import ModbusTcpClient

from arm_controller import to_angles, to_words
from npm import NPM, npm_has
from fault_code import says
from rig import free_port, Rig, SOURCE, TANDEM
from waiting import limit_s, pass_time, wait_until

BUILD = pathlib.Path(os.environ["BUILD"])
WORK = [0.0, -math.pi / 2, -math.pi / 2, -math.pi / 2, math.pi / 2, 0.0]
MOVEJ, MOVEL, SPEEDJ, SPEEDL, STOPJ, HALT, MODE = range(1, 8)
MOVING, DONE, REFUSED, STOPPED = range(1, 5)


class Arm:
    """Connects with pymodbus."""

    def __init__(self, port):
        self.client = ModbusTcpClient("127.0.0.1", port=port)
        assert self.client.connect()
        self.counter = self.read(128)[0]

    def read(self, address, count=1):
        answer = self.client.read_holding_registers(address, count=count)
        assert not answer.isError(), answer
        return answer.registers

    def write(self, address, *words):
        answer = self.client.write_registers(address, list(words))
        assert not answer.isError(), answer

    def command(self, operation, numbers=(0.0,) * 6, speed=0, time_ms=0):
        self.counter = (self.counter + 1) % 65536
        self.write(128, self.counter, operation, *to_words(numbers), speed, time_ms)

    def state(self):
        """(state, reason) of the latest command, once it was accepted."""
        accepted, what, why = self.read(144, 3)
        return (what, why) if accepted == self.counter else (None, None)

    def wait(self, what, why=0, seconds=20):
        wait_until(lambda: self.state() == (what, why), lambda: f"{self.state()} instead of {(what, why)}", seconds, 0.01)

    def angles(self):
        return to_angles(self.read(172, 12))

    def rounded(self):
        words, turns = self.read(270, 6), self.read(320, 6)
        return [w / 1000 + 2 * math.pi * (t - 65536 if t > 32767 else t) for w, t in zip(words, turns)]


def apart(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def mbpoll(port, *arguments):
    run = subprocess.run(["mbpoll", "-0", "-1", "-p", str(port), *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=limit_s(20))
    return run.returncode, run.stdout


def check_commands(arm):
    arm.command(MOVEJ, [WORK[0] + 1.0] + WORK[1:], speed=3000)
    arm.wait(DONE)
    arm.command(MOVEJ, WORK, speed=3000)
    arm.wait(DONE)
    high, low = arm.read(148, 2)
    lap_s = (high << 16 | low) / 1000
    assert 1.65 < lap_s < 3.0 and arm.read(147) == [1000], lap_s  # 2 sqrt(1.0 / 1.4) s, and the servos' lag
    assert apart(arm.angles(), WORK) < 1e-3, arm.angles()
    assert apart(arm.rounded(), arm.angles()) < 5.1e-4
    tool = [w - 65536 if w > 32767 else w for w in arm.read(400, 6)]
    assert apart(tool[:3], [4869, -1091.5, 4318.6]) < 15, tool
    before = arm.angles()
    arm.command(MOVEL, [1.5, 0.0, 0.5, 0.0, 3.1, 0.0])
    arm.wait(REFUSED, 3)
    arm.command(MOVEJ, [7.0] + WORK[1:])
    arm.wait(REFUSED, 2)
    arm.command(42)
    arm.wait(REFUSED, 1)
    assert apart(arm.angles(), before) < 1e-4, "a refused move moved the arm"
    arm.command(MOVEJ, [1.5] + WORK[1:], time_ms=5000)
    pass_time(0.3)
    assert arm.state() == (MOVING, 0) and 0 < arm.read(147)[0] < 500
    first = arm.counter
    arm.command(HALT)
    arm.wait(DONE)
    assert arm.counter != first and 0.0 < arm.angles()[0] < 0.5, arm.angles()
    arm.command(SPEEDJ, [0.2, 0, 0, 0, 0, 0], time_ms=500)
    arm.wait(DONE)
    arm.command(SPEEDJ, [0.2, 0, 0, 0, 0, 0])
    arm.wait(REFUSED, 1)


def check_stream(arm):
    begin = arm.angles()
    arm.write(150, 4)
    target = list(begin)
    for k in range(125):
        target[0] = begin[0] + 0.2 * k / 125
        arm.write(160, *to_words(target))
        pass_time(0.008)
    # The watchdog alone keeps the connection alive; then it stops.
    for k in range(40):
        arm.write(151, k + 1)
        pass_time(0.02)
    assert apart(arm.angles(), target) < 2e-3, (arm.angles(), target)
    pass_time(0.7)
    assert max(arm.read(280, 6)) == 0, "it does not stand"
    arm.write(160, *to_words([7.0] + begin[1:]))
    pass_time(0.2)
    assert arm.read(261) == [1] and apart(arm.angles(), target) < 2e-3, "set points out of range were accepted"
    arm.command(MOVEJ, begin)
    arm.wait(REFUSED, 7)
    answer = arm.client.write_registers(160, to_words(begin)[:6])
    assert answer.isError() and answer.exception_code == 2, answer
    arm.write(150, 0)


def check_mbpoll(arm, port):
    code, text = mbpoll(port, "-t", "4", "-r", "270", "-c", "6", "127.0.0.1")
    assert code == 0 and f"[270]: \t{arm.read(270)[0]}" in text, text
    code, text = mbpoll(port, "-t", "3", "-r", "320", "-c", "6", "127.0.0.1")
    assert code == 0 and "[321]: \t65535" in text, text
    code, text = mbpoll(port, "-t", "0", "-r", "260", "-c", "6", "127.0.0.1")
    assert code == 0 and "[260]: \t1" in text, text
    code, text = mbpoll(port, "-t", "4:int", "-B", "-r", "172", "-c", "6", "127.0.0.1")
    assert code == 0 and "[172]: \t" in text, text
    stream = [str(round(1e6 * q)) for q in arm.angles()]
    code, text = mbpoll(port, "-t", "4:int", "-B", "-r", "160", "127.0.0.1", "--", *stream)
    assert code == 0 and "Written 6 references" in text, text
    assert apart(to_angles(arm.read(160, 12)), arm.angles()) < 1e-5
    for address, value in (("270", "1"), ("144", "1")):
        code, text = mbpoll(port, "-t", "4", "-r", address, "127.0.0.1", value)
        assert code == 1 and "Illegal data address" in text, text
    code, text = mbpoll(port, "-t", "4", "-r", "800", "-c", "1", "127.0.0.1")
    assert code == 1 and "Illegal data address" in text, text


def same_indices(rig, ise, iae):
    """The sums that the arm itself computes; null until it had a goal."""
    shown = (rig.get("/api/v1/pairs/r1/machines")["real"] or {}).get("modbus", {})
    return None not in (shown.get("ise1_rad2s"), shown.get("iae1_rads")) and (
        abs(shown["ise1_rad2s"] - ise) < 0.1 * ise + 1e-3 and abs(shown["iae1_rads"] - iae) < 0.1 * iae + 1e-3)


def check_controllers(rig, arm, port):
    """The same machine in two languages: both move the arm to its goal, and the arm's own indices over HTTP match
    theirs within the tolerance of a loaded machine.
    """
    folder, found = rig.folder, {}
    for name, sign in (("python", 1), ("c", -1)):
        target = [0.4 * sign + q for q in WORK]
        table = folder / f"{name}.csv"
        words = [f"{q:.6f}" for q in target]
        if name == "python":
            run = [sys.executable, str(SOURCE / "examples/arm_controller.py"), "--port", str(port),
                   f"--target={','.join(words)}", "--csv", str(table)]
            printed = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True, timeout=limit_s(60)).stdout
        else:
            with open(table, "w") as out:
                run = [str(BUILD / "tests/arm_controller"), "127.0.0.1", str(port), *words]
                printed = subprocess.run(run, stdout=out, stderr=subprocess.PIPE, text=True, timeout=limit_s(60))
                assert printed.returncode == 0, printed.stderr
                printed = printed.stderr
        assert apart(arm.angles(), target) < 1.5e-3, (name, arm.angles(), target)
        rows = list(csv.DictReader(open(table)))
        assert len(rows) > 50, "too few periods"
        errors = [float(r["target1_rad"]) - float(r["q1_rad"]) for r in rows]
        steps = [float(b["t_s"]) - float(a["t_s"]) for a, b in zip([{"t_s": 0}] + rows, rows)]
        ise, iae, itae = (float(word) for word in printed.splitlines()[1].split()[1:4])
        assert abs(ise - sum(h * e * e for h, e in zip(steps, errors))) < 2e-3, (printed, name)
        assert abs(iae - sum(h * abs(e) for h, e in zip(steps, errors))) < 2e-3
        rig.wait(lambda: same_indices(rig, ise, iae), f"{name}: indices over HTTP")
        found[name] = iae / abs(errors[0])
    print("IAE over way:", found)


JS = """
const ModbusRTU = require('modbus-serial'); const client = new ModbusRTU();
(async () => {
  await client.connectTCP('127.0.0.1', {port: +process.argv[2]}); client.setID(1);
  const mrad = (await client.readHoldingRegisters(270, 6)).data, input = (await client.readInputRegisters(270, 6)).data;
  if (String(mrad) !== String(input)) throw new Error('FC 3 and 4 differ');
  await client.writeRegisters(210, [1, 65535]); await client.writeRegister(212, 7);
  const back = (await client.readHoldingRegisters(210, 3)).data;
  if (String(back) !== '1,65535,7') throw new Error(String(back));
  try { await client.writeRegister(270, 1); throw new Error('wrote an angle'); }
  catch (e) { if (e.modbusCode !== 2) throw e; }
  if (!(await client.readCoils(260, 6)).data[0]) throw new Error('no power');
  console.log(mrad.join(' ')); client.close();
})().catch(e => { console.error(e); process.exit(1); });
"""


def check_modbus_serial(arm, port, folder):
    if not npm_has("modbus-serial@8"):
        print("SKIPPED: modbus-serial, which npm has not got for us")
        return
    script = folder / "client.js"
    script.write_text(JS)
    run = subprocess.run(["node", script, str(port)], env={**os.environ, "NODE_PATH": str(NPM / "node_modules")},
                         timeout=limit_s(60), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout
    assert [int(word) for word in run.stdout.split()] == arm.read(270, 6), run.stdout


FLOW = """[{"id": "tab", "type": "tab", "label": "arm"},
 {"id": "client", "type": "modbus-client", "name": "the arm", "clienttype": "tcp", "bufferCommands": true, "stateLogEnabled": false,
  "tcpHost": "127.0.0.1", "tcpPort": "PORT", "tcpType": "DEFAULT", "unit_id": "1", "commandDelay": "1",
  "clientTimeout": "5000", "reconnectOnTimeout": true, "reconnectTimeout": "1000", "parallelUnitIdsAllowed": true},
 {"id": "read", "z": "tab", "type": "modbus-read", "name": "", "topic": "", "dataType": "HoldingRegister", "adr": "270",
  "quantity": "6", "rate": "500", "rateUnit": "ms", "delayOnStart": false, "server": "client", "wires": [["angles"], []]},
 {"id": "angles", "z": "tab", "type": "file", "name": "", "filename": "FOLDER/angles", "filenameType": "str",
  "appendNewline": true, "overwriteFile": "false", "wires": [[]]},
 {"id": "once", "z": "tab", "type": "inject", "props": [{"p": "payload"}], "once": true, "onceDelay": "1",
  "payload": "[21, 65535]", "payloadType": "json", "wires": [["write"]]},
 {"id": "write", "z": "tab", "type": "modbus-write", "name": "", "dataType": "MHoldingRegisters", "adr": "220",
  "quantity": "2", "server": "client", "wires": [[], []]}]"""


def check_node_red(rig, arm, port):
    """Node-RED's own nodes read the angles into a file, and write two registers."""
    if not npm_has("node-red@3", "node-red-contrib-modbus@5.23.3"):
        print("SKIPPED: node-red-contrib-modbus, which npm has not got for us")
        return
    folder = rig.folder / "node-red"
    folder.mkdir()
    (folder / "node_modules").symlink_to(NPM.resolve() / "node_modules")
    (folder / "settings.js").write_text("module.exports = {uiHost: '127.0.0.1', uiPort: %d, flowFile: 'flow.json'};"
                                        % free_port())
    (folder / "flow.json").write_text(FLOW.replace("PORT", str(port)).replace("FOLDER", str(folder)))
    log = open(folder / "log", "w+")
    rig.run(["node", NPM / "node_modules/node-red/red.js", "-u", folder], stdout=log, stderr=log)
    angles = folder / "angles"
    try:
        rig.wait(lambda: angles.exists() and len(angles.read_text().splitlines()) > 2, "Node-RED read angles", 120)
        rig.wait(lambda: arm.read(220, 2) == [21, 65535], "Node-RED wrote registers", 60)
    except AssertionError:
        print((folder / "log").read_text())
        raise
    last = angles.read_text().splitlines()[-1]
    assert [int(word) for word in last.strip("[]").split(",")] == arm.read(270, 6), last


def start_robot(rig, *options):
    robot = rig.start("robot", "--kind", "arm6", "--modbus", "127.0.0.1:0", *options, stdout=subprocess.PIPE, text=True)
    line = robot.stdout.readline()
    assert line.startswith("Modbus TCP at 127.0.0.1:"), line
    return robot, int(line.split(":")[1])


def check_refusals():
    for options, text in ((["--kind", "kinematic", "--modbus", "127.0.0.1:0"], "kind arm6"),
                          (["--kind", "arm6", "--count", "2", "--modbus", "127.0.0.1:0"], "one robot"),
                          (["--kind", "arm6", "--side", "both", "--modbus", "127.0.0.1:0"], "one side"),
                          (["--kind", "arm6", "--modbus", "0.0.0.0:0"], "unsafe_address"),
                          (["--kind", "arm6", "--modbus", "robot.example:1"], "bad_address")):
        run = subprocess.run([TANDEM, "robot", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=limit_s(20))
        assert run.returncode != 0 and (says(text, run.stderr) if "_" in text else text in run.stderr), (options, run.returncode, run.stderr)


def main():
    check_refusals()
    with Rig() as rig:
        rig.start_daemon()
        robot, port = start_robot(rig)
        mute = socket.create_connection(("127.0.0.1", port))
        mute.sendall(bytes.fromhex("000100000006000301"))
        arm = Arm(port)
        check_commands(arm)
        check_stream(arm)
        check_mbpoll(arm, port)
        check_controllers(rig, arm, port)
        check_modbus_serial(arm, port, rig.folder)
        check_node_red(rig, arm, port)
        mute.sendall(bytes.fromhex("0e0001"))
        assert len(mute.recv(100)) == 11, "the rest of the request was not answered"
        robot.terminate()
        printed = robot.stdout.read()
        assert "Modbus: " in printed and " 0 malformed" in printed, printed
        assert " 0 replies" in printed, "answers to Modbus went over MQTT: " + printed
        print(printed)


main()
