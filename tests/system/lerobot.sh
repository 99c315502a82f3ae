#!/bin/sh
# docs/examples/lerobot_to_csv.py on a small data set, with a stand-in for pyarrow; identify reads the result.
set -eu
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/set/meta" "$dir/set/data/chunk-000" "$dir/stub/pyarrow"
cat >"$dir/stub/pyarrow/__init__.py" <<'PY'
PY
cat >"$dir/stub/pyarrow/parquet.py" <<'PY'
import json
class Table:
    def __init__(self, columns): self.columns = columns
    def to_pydict(self): return self.columns
def read_table(path, columns): return Table({name: json.load(open(path))[name] for name in columns})
PY
python3 - "$dir/set" <<'PY'
import json, math, random, sys
draw, folder = random.Random(1), sys.argv[1]
json.dump({"fps": 30, "features": {"action": {"shape": [2]}, "observation.state": {
    "shape": [2], "names": ["elbow.pos", "wrist roll.pos"]}}}, open(folder + "/meta/info.json", "w"))
rows = {name: [] for name in ("timestamp", "episode_index", "frame_index", "action", "observation.state")}
for episode in range(2):
    x, command = 0.0, 0.0
    for k in range(600):
        command = draw.uniform(-40, 40) if k % 25 == 0 else command
        for name, value in zip(rows, (k / 30, episode, k, [0.0, command], [0.0, x + draw.gauss(0, 0.05)])):
            rows[name].append(value)
        x += (command - x) * (1 - math.exp(-1 / 30 / 0.2))
order = sorted(range(1200), key=lambda _: draw.random())
json.dump({name: [values[k] for k in order] for name, values in rows.items()}, open(folder + "/data/chunk-000/file-000.parquet", "w"))
PY
PYTHONPATH="$dir/stub" python3 "$SOURCE/docs/examples/lerobot_to_csv.py" "$dir/set" "$dir/out" --degrees --per-unit elbow=0.02
head -1 "$dir/out/episode_000001.csv" | grep -qx "t_s,elbow_command,elbow_position,wrist_roll_command,wrist_roll_position." ||
    { echo "columns: $(head -1 "$dir/out/episode_000001.csv")"; exit 1; }
"$TANDEM" identify --model first_order --json --columns command=wrist_roll_command,velocity=wrist_roll_position \
    "$dir/out/episode_000000.csv" >"$dir/fit.json"
python3 -c '
import json, sys
fit = json.load(open(sys.argv[1]))["derived"]
assert abs(fit["gain"]["value"] - 1) < 0.02 and abs(fit["time_constant_s"]["value"] - 0.2) < 0.02, fit' "$dir/fit.json"
echo "lerobot: an episode gives gain and time constant"
