#!/usr/bin/env python3
"""The tool's pose and motion of a nominal UR arm, by Orocos KDL: lines of the links d1 a2 a3 d4 d5 d6 and six joint
angles on stdin; on stdout the 3 x 4 of the pose and the 6 x 6 of the Jacobian, row by row. Exit status 77 if PyKDL
is missing.
"""
import sys
from math import pi

try:
    import PyKDL as kdl
except ImportError:
    sys.exit(77)


def chain_of(d1, a2, a3, d4, d5, d6):
    chain = kdl.Chain()
    for a, alpha, d in ((0, pi / 2, d1), (a2, 0, 0), (a3, 0, 0), (0, pi / 2, d4), (0, -pi / 2, d5), (0, 0, d6)):
        chain.addSegment(kdl.Segment(kdl.Joint(kdl.Joint.RotZ), kdl.Frame.DH(a, alpha, d, 0)))
    return chain


for line in sys.stdin:
    numbers = [float(word) for word in line.split()]
    chain = chain_of(*numbers[:6])
    q = kdl.JntArray(6)
    for i in range(6):
        q[i] = numbers[6 + i]
    frame, slope = kdl.Frame(), kdl.Jacobian(6)
    kdl.ChainFkSolverPos_recursive(chain).JntToCart(q, frame)
    kdl.ChainJntToJacSolver(chain).JntToJac(q, slope)
    out = [frame[i, k] for i in range(3) for k in range(4)] + [slope[i, k] for i in range(6) for k in range(6)]
    print(" ".join(f"{x:.17g}" for x in out))
