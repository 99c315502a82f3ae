#!/usr/bin/env python3
"""Makes the tables of this folder again: nothing here was recorded, all of it is computed from the true values below.

    make.py [DIR]        moves.csv, vessel1.csv, vessel2.csv, arm_poses.csv, arm_poses2.csv and arm_joints.csv into DIR (here)
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


# A UR5's links: nominal d, a, alpha (docs/model/arm.md), and the errors of this arm: x y z in m, rx ry rz in rad.
LINKS = ((0.089159, 0.0, math.pi / 2), (0.0, -0.425, 0.0), (0.0, -0.39225, 0.0), (0.10915, 0.0, math.pi / 2),
         (0.09465, 0.0, -math.pi / 2), (0.0823, 0.0, 0.0))
CORRECTIONS = ((3e-4, -3e-4, 0.0, -5e-4, 0.0, 0.0), (-4e-4, 0.0, 0.0, -1e-4, 7e-4, 0.0), (-2e-4, 1e-4, 0.0, 2.7e-3, 1.8e-3, 0.0),
               (0.0, 1.6e-3, 0.0, -4e-4, 1e-4, 0.0), (0.0, -3e-4, 0.0, -2e-4, -1e-4, 0.0), (0.0, 0.0, 2.6e-4, 0.0, 0.0, 0.0))
POSE_NOISE = (5e-5, 1e-4)  # m, rad

# Its joints: inertia, viscous and Coulomb friction, offset, in A by rad/s^2, rad/s, 1, 1; the weight on each, by the
# terms of equation (6) there; the coupling of joints 2 and 3.
FRICTION = ((0.33, 0.89, 0.72, -0.05), (0.61, 0.91, 0.75, -0.4), (0.25, 0.4, 1.03, -0.05), (0.2, 0.33, 0.3, 0.37),
            (0.12, 0.21, 0.22, -0.1), (0.1, 0.22, 0.27, -0.17))
GRAVITY = ((), (-3.4, -1.6, -0.7, 0.45), (-0.43, 1.4, 0.3), (0.8, -0.39), (-0.3,), ())
COUPLED = {1: (0.25, -0.18), 2: (0.05, -0.05)}
JOINT_NOISE = (1e-5, 2e-4, 0.05)  # rad, rad/s, A
JOINT_HZ, JOINT_ROWS = 50, 1500


def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def turn(v, at=(0.0, 0.0, 0.0)):
    """A rotation by a rotation vector, then a shift (Rodrigues)."""
    angle = math.hypot(*v)
    a = math.sin(angle) / angle if angle > 1e-12 else 1.0
    b = (1 - math.cos(angle)) / angle**2 if angle > 1e-6 else 0.5
    k = ((0, -v[2], v[1]), (v[2], 0, -v[0]), (-v[1], v[0], 0))
    rows = [[(i == j) * (1 - b * angle**2) + a * k[i][j] + b * v[i] * v[j] for j in range(3)] + [at[i]] for i in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def vector(m):
    """The rotation vector of a rotation that is not half a turn."""
    w = [(m[2][1] - m[1][2]) / 2, (m[0][2] - m[2][0]) / 2, (m[1][0] - m[0][1]) / 2]
    angle = math.atan2(math.hypot(*w), (m[0][0] + m[1][1] + m[2][2] - 1) / 2)
    return [x * (angle / math.sin(angle) if angle > 1e-12 else 1.0) for x in w]


def tool(q):
    at = turn((0.0, 0.0, 0.0))
    for angle, (d, a, alpha), c in zip(q, LINKS, CORRECTIONS):
        for step in (turn((0, 0, angle)), turn((alpha, 0, 0), (a, 0, d)), turn(c[3:], c[:3])):
            at = multiply(at, step)
    return at


def poses(rng, count):
    """Rows of joint angles and the tool's pose, as a tracker would measure it."""
    while count > 0:
        q = [round(rng.uniform(-math.pi, math.pi), 6) for _ in range(6)]
        at = multiply(tool(q), turn([rng.gauss(0, POSE_NOISE[1]) for _ in range(3)]))
        pose = [at[i][3] + rng.gauss(0, POSE_NOISE[0]) for i in range(3)] + vector(at)
        if math.hypot(*pose[3:]) < 3.0:
            yield ",".join(f"{x:.6f}" for x in (*q, *pose))
            count -= 1


def weights(q):
    """The weight on each joint, by its terms."""
    q23, q234 = q[1] + q[2], q[1] + q[2] + q[3]
    far, wrist = math.sin(q234), math.cos(q234) * math.sin(q[4])
    return ((), (math.cos(q[1]), math.cos(q23), far, wrist), (math.cos(q23), far, wrist), (far, wrist),
            (far * math.cos(q[4]),), ())


def joints(rng):
    """Rows of moves from rest to rest: angles, speeds and currents."""
    start, way, begun, lasts = [0.0] * 6, [0.0] * 6, 0.0, -0.3
    for n in range(JOINT_ROWS):
        t = n / JOINT_HZ
        if t >= begun + lasts + 0.3:
            start = [x + w for x, w in zip(start, way)]
            way = [rng.uniform(-1.5, 1.5) - x for x in start]
            begun, lasts = t, rng.uniform(1.2, 3.0)
        share = min((t - begun) / lasts, 1.0)
        phase = 2 * math.pi * share
        q = [x + w * (share - math.sin(phase) / (2 * math.pi)) for x, w in zip(start, way)]
        qd = [w / lasts * (1 - math.cos(phase)) for w in way]
        qdd = [w * 2 * math.pi / lasts**2 * math.sin(phase) for w in way]
        row = [f"{t:.2f}"]
        for j, (inertia, viscous, coulomb, offset) in enumerate(FRICTION):
            i = inertia * qdd[j] + viscous * qd[j] + coulomb * math.tanh(qd[j] / 0.01) + offset
            i += sum(g * w for g, w in zip(GRAVITY[j], weights(q)[j]))
            if j in COUPLED:
                i += (COUPLED[j][0] * math.cos(q[2]) + COUPLED[j][1]) * qdd[3 - j]
            seen = [x + rng.gauss(0, sd) for x, sd in zip((q[j], qd[j], i), JOINT_NOISE)]
            row += [f"{seen[0]:.5f}", f"{seen[1]:.4f}", f"{seen[2]:.3f}"]
        yield ",".join(row)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    rng = random.Random(1)
    rows = [move(kind, rng) for _ in range(20) for kind in ("turn", "drive", "both")]
    (folder / "moves.csv").write_text("\n".join(["duration_s,rotation_rad,displacement_m", *rows, ""]))
    for day in (1, 2):
        rows = vessel(random.Random(10 + day))
        head = "t_s,tau_u_n,tau_v_n,tau_r_nm,u_mps,v_mps,r_radps"
        (folder / f"vessel{day}.csv").write_text("\n".join([head, *rows, ""]))
    head = ",".join([*(f"q{j}_rad" for j in range(1, 7)), "x_m", "y_m", "z_m", "rx_rad", "ry_rad", "rz_rad"])
    for name, seed, count in (("arm_poses", 21, 100), ("arm_poses2", 22, 40)):
        (folder / f"{name}.csv").write_text("\n".join([head, *poses(random.Random(seed), count), ""]))
    head = "t_s," + ",".join(f"q{j}_rad,qd{j}_radps,i{j}_a" for j in range(1, 7))
    (folder / "arm_joints.csv").write_text("\n".join([head, *joints(random.Random(23)), ""]))


main()
