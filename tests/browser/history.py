"""history.py - moves of a lab's past, written into its journal before the daemon starts."""
import json
import time

GAP_S = 2  # between two moves of a pair


class Past:
    """Moves one after the other, the last one a minute before now: fills the lab's journal when it is left."""

    def __init__(self, lab):
        self.lab, self.lines = lab, []

    def move(self, pair, at_s, command, virtual_s, real_s, start_s=0.01):
        """A command at_s after the begin of this past, and when both robots reply: None, not at all. Their replies
        say when the motion began.
        """
        name = f"c{len(self.lines)}"
        self.lines.append((at_s, f"{pair}/command", {"id": name, **command}))
        for side, lap_s in (("virtual", virtual_s), ("real", real_s)):
            if lap_s is not None:
                self.lines.append((at_s + lap_s, f"{pair}/{side}/reply",
                                   {"id": name, "status": "done", "t_start": at_s + start_s, "t": at_s + lap_s}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        begin = time.time() - 60 - max(t for t, *_ in self.lines)
        (self.lab.folder / "journal").mkdir()
        with open(self.lab.folder / "journal/journal-20200101T000000.000000Z.jsonl", "w") as out:
            for t, topic, payload in sorted(self.lines, key=lambda row: row[0]):
                payload = json.dumps({key: value + begin if key in ("t", "t_start") else value
                                      for key, value in payload.items()})
                t += begin
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t)) + f".{int(t % 1 * 1e6):06d}Z"
                out.write(json.dumps({"tst": stamp, "topic": f"tandem/v1/{topic}", "qos": 1, "retain": 0,
                                      "payloadlen": len(payload), "payload": json.loads(payload)}) + "\n")


def go(k):
    """Turns, drives, and moves that do both."""
    return {"op": "go", "rotation_rad": (0.4 + k % 4 * 0.2) * (k % 3 != 1),
            "displacement_m": (0.1 + k % 5 * 0.1) * (k % 3 != 0)}


def lap_s(command):
    """The lap of a robot with two constant speeds."""
    return 0.05 + 0.5 * command["rotation_rad"] + command["displacement_m"]
