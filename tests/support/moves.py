"""moves.py - a journal of moves that a lab reads at its start, made instead of driven."""
import random
import time


def write_moves(path, pairs, moves, seed):
    """Each pair has this number of moves, one a second, the last one a minute ago."""
    draw = random.Random(seed)
    start = time.time() - 60 - moves
    with open(path, "w", buffering=1 << 20) as out:
        def line(t, topic, payload):
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t)) + f".{int(t % 1 * 1e6):06d}Z"
            out.write(f'{{"tst":"{stamp}","topic":"tandem/v1/{topic}","qos":1,"retain":0,"payloadlen":{len(payload)},"payload":{payload}}}\n')
        for k in range(moves):
            t = start + k
            for pair in pairs:
                line(t, f"{pair}/command", f'{{"id":"c{k}","op":"go","rotation_rad":{draw.uniform(0.1, 0.3):.3f},"displacement_m":{draw.uniform(0, 0.05):.3f}}}')
            for side, lap in (("virtual", 0.3), ("real", 0.35 + 0.04 * draw.gauss(0, 1))):
                for pair in pairs:
                    line(t + max(lap, 0.1) + (0.1 if side == "real" else 0), f"{pair}/{side}/reply", f'{{"id":"c{k}","status":"done"}}')
