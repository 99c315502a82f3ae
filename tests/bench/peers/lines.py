"""lines.py FILE: reads each line as JSON and sums its payload, the minimum work of a replay (bench_replay)."""
import json
import sys

members = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        members += len(json.loads(line)["payload"])
print(members)
