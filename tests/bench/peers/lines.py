"""lines.py FILE: reads each line as JSON and adds up what its payload holds, as a replay must at least (bench_replay)."""
import json
import sys

members = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        members += len(json.loads(line)["payload"])
print(members)
