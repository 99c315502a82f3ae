#!/usr/bin/env python3
"""An independent position controller for Tandem's simulated arm, over Modbus TCP (docs/modbus.md).

    tandem robot --kind arm6 --modbus 127.0.0.1:1502
    examples/arm_controller.py --target 1,-1.2,-1.6,-1.8,1.2,0.5 --csv arm.csv

Each period it reads the joint angles (registers 172 to 183), decides the speed of each joint, and streams the next
angles (160 to 171). Fsm.step() decides: replace it by your own. At the end it prints, for each joint, the integrals of
its error (rad and s)

    ISE = h sum e^2,  IAE = h sum |e|,  ITAE = h sum t |e|,  e = target - angle

and the time after which it stayed within 2 % of its path; --csv records every period. Needs pymodbus (Debian:
python3-pymodbus, python3-serial-asyncio).
"""
import argparse
import csv
import math
import sys
import time

from pymodbus.client import ModbusTcpClient

MODE, STREAM, ANGLES, GOAL = 150, 160, 172, 196
EXTERNAL = 4
JOINTS = 6


class Fsm:
    """Four states: full speed far from the target, slow closer to it, proportional near it, then rest."""

    def __init__(self, options):
        self.o = options
        self.state = "REST"

    def step(self, error, speed):
        """rad and rad/s of a joint -> its next speed, rad/s."""
        o, far = self.o, abs(error)
        coasts = o.lag * abs(speed)  # the distance that it still moves by itself
        if far > o.slow_window + coasts:
            self.state = "FAST"
        elif far > o.near_window:
            self.state = "SLOW"
        elif self.state != "REST" and not (far < o.stop and coasts < o.stop):
            self.state = "NEAR"  # it does not rest while it moves
        elif far <= o.stop:
            self.state = "REST"
        elif self.state == "REST" and far > 2 * o.stop:
            self.state = "NEAR"
        speeds = {"FAST": o.speed, "SLOW": o.slow_speed, "NEAR": o.gain * far, "REST": 0.0}
        return math.copysign(speeds[self.state], error)


class Index:
    """For one joint: the integrals of its error, and since when it has stayed within 2 % of its path."""

    def __init__(self, distance):
        self.distance, self.ise, self.iae, self.itae, self.settled_s = abs(distance), 0.0, 0.0, 0.0, None

    def add(self, t, h, error):
        self.ise += h * error * error
        self.iae += h * abs(error)
        self.itae += h * t * abs(error)
        if abs(error) > 0.02 * self.distance:
            self.settled_s = None
        elif self.settled_s is None:
            self.settled_s = t


def to_words(angles):
    words = []
    for angle in angles:
        value = round(angle * 1e6) & 0xFFFFFFFF
        words += [value >> 16, value & 0xFFFF]
    return words


def to_angles(words):
    values = (words[k] << 16 | words[k + 1] for k in range(0, 2 * JOINTS, 2))
    return [1e-6 * (value - (1 << 32) if value >> 31 else value) for value in values]


class Arm:
    def __init__(self, host, port):
        self.client = ModbusTcpClient(host, port=port)
        if not self.client.connect():
            sys.exit(f"{host}:{port}: nobody speaks Modbus; tandem robot --kind arm6 --modbus {host}:{port} would")

    def read(self, address, count):
        answer = self.client.read_holding_registers(address, count=count)
        if answer.isError():
            sys.exit(f"registers from {address} on: {answer}")
        return answer.registers

    def write(self, address, words):
        answer = self.client.write_registers(address, words)
        if answer.isError():
            sys.exit(f"registers from {address} on: {answer}")

    def angles(self):
        return to_angles(self.read(ANGLES, 2 * JOINTS))


def drive(arm, target, o, rows):
    """Runs until all joints rest for half a second; returns the indices."""
    machines = [Fsm(o) for _ in range(JOINTS)]
    angles = before = stream = arm.angles()
    indices = [Index(t - q) for t, q in zip(target, angles)]
    arm.write(STREAM, to_words(stream))
    arm.write(MODE, [EXTERNAL])
    arm.write(GOAL, to_words(target))  # the arm sums the same indices and publishes them (docs/modbus.md)
    begin = last = time.monotonic()
    rested = 0.0
    while rested < 0.5:
        time.sleep(max(0.0, last + o.period - time.monotonic()))
        now = time.monotonic()
        h, last = now - last, now
        if now - begin > o.patience:
            sys.exit(f"not there after {o.patience} s: {angles}")
        angles, before = arm.angles(), angles
        errors = [t - q for t, q in zip(target, angles)]
        speeds = [m.step(e, (q - b) / h) for m, e, q, b in zip(machines, errors, angles, before)]
        # The set point stays within reach of the joints.
        ahead = o.speed * (o.lag + 3 * o.period)
        stream = [min(max(s + u * h, q - ahead), q + ahead) if m.state != "REST" else s
                  for s, u, q, m in zip(stream, speeds, angles, machines)]
        arm.write(STREAM, to_words(stream))
        rested = rested + h if all(m.state == "REST" for m in machines) else 0.0
        for index, error in zip(indices, errors):
            index.add(now - begin, h, error)
        rows.append([now - begin, *target, *angles, *stream, *speeds])
    arm.write(MODE, [0])
    return indices, errors


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--host", default="127.0.0.1")
    p.add_argument("--port", type=int, default=1502)
    p.add_argument("--target", default="1,-1.2,-1.6,-1.8,1.2,0.5", help="six angles in rad, with commas")
    p.add_argument("--csv", help="a row each period: t, targets, angles, stream, speeds")
    p.add_argument("--period", type=float, default=0.008, help="s")
    p.add_argument("--patience", type=float, default=30.0, help="s")
    p.add_argument("--speed", type=float, default=1.5, help="full, rad/s")
    p.add_argument("--slow-speed", type=float, default=0.3, help="rad/s")
    p.add_argument("--slow-window", type=float, default=0.1, help="slow from here on, rad")
    p.add_argument("--near-window", type=float, default=0.02, help="proportional from here on, rad")
    p.add_argument("--gain", type=float, default=4.0, help="of that, 1/s")
    p.add_argument("--stop", type=float, default=0.0005, help="rests within, rad")
    p.add_argument("--lag", type=float, default=0.05, help="of the joints, s")
    o = p.parse_args()
    try:
        o.target = [float(word) for word in o.target.split(",")]
    except ValueError:
        p.error("--target: six numbers with commas were expected")
    if len(o.target) != JOINTS:
        p.error("--target: six numbers with commas were expected")
    return o


def main():
    o = options()
    rows = []
    indices, errors = drive(Arm(o.host, o.port), o.target, o, rows)
    if o.csv:
        with open(o.csv, "w", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            columns = (("target", "rad"), ("q", "rad"), ("com", "rad"), ("u", "radps"))
            writer.writerow(["t_s"] + [f"{name}{j}_{unit}" for name, unit in columns for j in range(1, JOINTS + 1)])
            writer.writerows([f"{value:.6f}" for value in row] for row in rows)
    print("joint      ISE      IAE     ITAE   2 % after   rests off by, rad")
    for j, (index, error) in enumerate(zip(indices, errors), 1):
        settled = "-" if index.settled_s is None else f"{index.settled_s:.3f} s"
        print(f"{j:5d} {index.ise:8.4f} {index.iae:8.4f} {index.itae:8.4f} {settled:>11} {error:12.6f}")


if __name__ == "__main__":
    main()
