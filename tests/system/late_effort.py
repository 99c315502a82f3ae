"""A linear robot reads a command, makes a step and publishes velocity and effort: each effort is a row late. The fit
finds a delay of minus one row and true values, and notes it. Two rows late is beyond what a loop can cause.
"""
import json
import math
import os
import random
import subprocess
import tempfile

GAIN, LAG_S = 1.6, 0.3


def record(path, seed, rate_hz, rows_late):
    chance = random.Random(seed)
    keep = math.exp(-1 / rate_hz / LAG_S)
    velocity, command, until, sent = 0.0, 0.0, 0, [0.0] * rows_late
    with open(path, "w", encoding="ascii") as file:
        file.write("t,velocity,command\n")
        for k in range(int(60 * rate_hz)):
            if k >= until:
                command = 10 * chance.uniform(-1, 1)
                until = k + rate_hz * chance.uniform(0.4, 1.2)
            sent.append(command)
            file.write(f"{k / rate_hz:.6f},{velocity + chance.gauss(0, 0.05):.9f},{sent[-1 - rows_late]}\n")
            velocity = keep * velocity + (1 - keep) * GAIN * command


def fit(path):
    run = subprocess.run([os.environ["TANDEM"], "identify", "--model", "first_order", "--json", path],
                         stdout=subprocess.PIPE, check=False)
    return json.loads(run.stdout)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "robot.csv")
        for seed, rate_hz, rows_late in ((1, 20, 0), (2, 20, 1), (3, 20, 2), (4, 50, 0), (5, 50, 1), (6, 10, 1)):
            record(path, seed, rate_hz, rows_late)
            estimate = fit(path)
            case = (seed, rate_hz, rows_late, estimate["verdict"], estimate["reason_codes"], estimate["note_codes"])
            assert ("effort_late" in estimate["note_codes"]) == (rows_late == 1), case
            assert (estimate["verdict"] == "PASS") == (rows_late < 2), case
            assert rows_late == 2 or abs(estimate["delay_s"]["value"] + rows_late / rate_hz) < 0.1 / rate_hz, case


if __name__ == "__main__":
    main()
