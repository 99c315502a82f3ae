"""micropython_robot.py PORT PAIR SIDE: the class of examples/robot/micropython under CPython, with a body on two
wheels.
"""
import math
import sys
import time

time.ticks_ms = lambda: time.monotonic_ns() // 1000000 % (1 << 30)  # the same path as on a board
time.ticks_us = lambda: time.monotonic_ns() // 1000 % (1 << 30)
time.ticks_diff = lambda a, b: (a - b + (1 << 29)) % (1 << 30) - (1 << 29)

from tandem import Robot  # noqa: E402

PERIOD_S = 0.01


class Body:
    goal, at, speed = [0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0]

    def begin(self, turn_rad, way_m):
        self.goal = [turn_rad, way_m]

    def stop(self):
        self.goal = [0.0, 0.0]

    def step(self):
        w = math.copysign(min(abs(self.goal[0]) / PERIOD_S, 1.0), self.goal[0])
        v = 0.0 if w else math.copysign(min(abs(self.goal[1]) / PERIOD_S, 0.2), self.goal[1])
        self.speed, self.goal = [v, w], [self.goal[0] - w * PERIOD_S, self.goal[1] - v * PERIOD_S]
        self.at[2] = math.remainder(self.at[2] + w * PERIOD_S, 2 * math.pi)
        self.at[0] += v * PERIOD_S * math.cos(self.at[2])
        self.at[1] += v * PERIOD_S * math.sin(self.at[2])
        return self.speed == [0.0, 0.0]

    def pose(self):
        return self.at

    def nu(self):
        return self.speed


robot = Robot(Body(), "127.0.0.1", sys.argv[2], sys.argv[3], int(sys.argv[1]))
due = time.monotonic()
for period in range(10**9):
    robot.step()
    if period % 5 == 0:
        robot.sample()
    due += PERIOD_S
    time.sleep(max(0.0, due - time.monotonic()))
