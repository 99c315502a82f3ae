"""Recordings of known truth for compare and gate: 80 or 240 moves of pair r1, which turns at 1.2 rad/s and drives at
0.2 m/s. Times of the real robot scatter by 20 ms, those of the virtual one by 10 ms."""
import datetime
import json
import random

START = 1795154400.0


def lap(rotation, displacement, speed, turn_speed, delay, sd, rng):
    turn = .12 + rotation / turn_speed if rotation else 0
    drive = .16 + displacement / speed if displacement else 0
    return delay + turn + drive + rng.gauss(0, sd)


def lines(seed, day, moves=80, plan=1, speed=.2, delay=.06, slow_from=None, slow=1.0, lost=(), wrong=(), skip=(),
          extra=()):
    """Yields (time, line). speed, delay: of the simulator; slow: a factor from one move on."""
    rng, choose, t, n = random.Random(seed), random.Random(plan), START + day * 86400, 0

    def line(at, topic, payload):
        text = json.dumps(payload, separators=(",", ":"))
        stamp = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return at, (f'{{"tst":"{stamp}","topic":"tandem/v1/r1/{topic}","qos":1,"retain":0,'
                    f'"payloadlen":{len(text)},"payload":{text}}}')

    for k in range(moves):
        kind = choose.randrange(3)
        rotation = round(choose.uniform(.3, 3.1), 2) if kind != 1 else 0
        displacement = round(choose.uniform(.1, 1.4), 2) if kind != 0 else 0
        todo = ([] if k in skip else [(rotation, displacement)]) + ([(.5, .5)] if k in extra else [])
        for a, r in todo:
            n += 1
            command = {"id": f"d{day}-{n}", "op": "go"}
            command |= ({"rotation_rad": a} if a else {}) | ({"displacement_m": r} if r else {})
            factor = slow if slow_from is not None and k >= slow_from else 1.0
            yield line(t, "command", command)
            real = lap(a, r, .2, 1.2, .06, .02, rng)
            virtual = lap(a, r, speed * factor, 1.2 * factor, delay, .01, rng)
            done = {"id": command["id"], "status": "done"}
            yield line(t + real, "real/reply", done | {"values": {"x_m": round(r, 3)}})
            if k not in lost:
                x = round(r + (.2 if k in wrong else 0), 3)
                yield line(t + virtual, "virtual/reply", done | {"values": {"x_m": x}})
            t += max(real, virtual) + 2 + (11 if k in lost else 0)


RECORDINGS = {
    "A": {"seed": 11, "day": 0},
    # B: the simulator drives 8 % slower, two replies are missing, a value is wrong, a move is left out, one added
    "B": {"seed": 12, "day": 1, "speed": .2 * .92, "lost": (30, 55), "wrong": (41,), "skip": (20,), "extra": (60,)},
    "same": {"seed": 13, "day": 2},
    "gate_A": {"seed": 21, "day": 3, "moves": 240, "plan": 5},
    "gate_same": {"seed": 22, "day": 4, "moves": 240, "plan": 5},
    "gate_late": {"seed": 23, "day": 5, "moves": 240, "plan": 5, "delay": .085},
    "gate_turns": {"seed": 24, "day": 6, "moves": 240, "plan": 5, "slow_from": 120, "slow": .97},
    "split": {"seed": 25, "day": 7, "plan": 6, "speed": .18, "slow_from": 40, "slow": .2 / .18},
}


def write(path, **how):
    with open(path, "w") as out:
        for _, text in sorted(lines(**how), key=lambda pair: pair[0]):
            print(text, file=out)


def write_all(folder):
    for name, how in RECORDINGS.items():
        write(f"{folder}/{name}.jsonl", **how)
