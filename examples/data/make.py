#!/usr/bin/env python3
"""Makes the tables of this folder again: nothing here was recorded, all of it is computed from the truths below.

    make.py [DIR]        moves.csv, vessel1.csv and vessel2.csv into DIR (here)
"""
import math
import pathlib
import random
import sys

# A robot: seconds of each move, rotation and displacement; its speeds.
MOVES = {"t0_s": 0.05, "ta_s": 0.12, "tr_s": 0.16, "angular_speed_radps": 1.2, "linear_speed_mps": 0.2}
MOVES_NOISE_S = 0.02

# A vessel: d1 ... d9 of docs/model/usv3.md, in that order.
VESSEL = (60.0, 75.0, 8.0, 18.0, 12.0, 30.0, 25.0, 6.0, 5.0)
LARGEST_EFFORT = (40.0, 25.0, 8.0)  # N, N, N m
PERIOD_S, STEPS, SAMPLES = 0.05, 20, 2000
VELOCITY_NOISE = (0.002, 0.002, 0.001)  # m/s, m/s, rad/s


def move(kind, rng):
    rotation = rng.choice((-1, 1)) * rng.uniform(0.3, 3.0) if kind != "drive" else 0.0
    displacement = rng.uniform(0.1, 1.0) if kind != "turn" else 0.0
    lap = MOVES["t0_s"] + rng.gauss(0, MOVES_NOISE_S)
    if rotation:
        lap += MOVES["ta_s"] + abs(rotation) / MOVES["angular_speed_radps"]
    if displacement:
        lap += MOVES["tr_s"] + displacement / MOVES["linear_speed_mps"]
    return f"{lap:.4f},{rotation:.4f},{displacement:.4f}"


def accelerate(nu, tau):
    """Equations (2) of docs/model/usv3.md, solved for the derivatives."""
    u, v, r = nu
    d1, d2, d3, d4, d5, d6, d7, d8, d9 = VESSEL
    return ((tau[0] + d2 * v * r - (d4 + d5 * abs(u)) * u) / d1,
            (tau[1] - d1 * u * r - (d6 + d7 * abs(v)) * v) / d2,
            (tau[2] - (d2 - d1) * u * v - (d8 + d9 * abs(r)) * r) / d3)


def step(nu, tau, h):
    """Heun's rule: the error of 2.5 ms is far below the noise."""
    k1 = accelerate(nu, tau)
    k2 = accelerate([x + h * k for x, k in zip(nu, k1)], tau)
    return [x + h * (a + b) / 2 for x, a, b in zip(nu, k1, k2)]


def vessel(rng):
    """Rows of one trial: efforts that change every one to four seconds, each on its own."""
    nu, tau, until = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    for n in range(SAMPLES):
        t = n * PERIOD_S
        for axis in range(3):
            if t >= until[axis]:
                tau[axis] = round(rng.uniform(-1, 1) * LARGEST_EFFORT[axis], 2)
                until[axis] = t + rng.uniform(1, 4)
        seen = [x + rng.gauss(0, sd) for x, sd in zip(nu, VELOCITY_NOISE)]
        yield ",".join([f"{t:.2f}", *(f"{x:.2f}" for x in tau), *(f"{x:.5f}" for x in seen)])
        for _ in range(STEPS):
            nu = step(nu, tau, PERIOD_S / STEPS)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    rng = random.Random(1)
    rows = [move(kind, rng) for _ in range(20) for kind in ("turn", "drive", "both")]
    (folder / "moves.csv").write_text("\n".join(["duration_s,rotation_rad,displacement_m", *rows, ""]))
    for day in (1, 2):
        rows = vessel(random.Random(10 + day))
        head = "t_s,tau_u_n,tau_v_n,tau_r_nm,u_mps,v_mps,r_radps"
        (folder / f"vessel{day}.csv").write_text("\n".join([head, *rows, ""]))


main()
