# The JSON Schema of lab files agrees with the program: examples and print-outs satisfy it; files that the program
# refuses for a key, a type or a range do not.
set -eu
python3 -c 'import jsonschema, yaml' 2>/dev/null || { echo "no python3-jsonschema or python3-yaml"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$TANDEM" config --schema >"$dir/schema.json"
cmp "$dir/schema.json" "$SOURCE/config/lab.schema.json"
for lab in "$SOURCE"/config/examples/*.yaml; do
    cp "$lab" "$dir/good_$(basename "$lab")"
    "$TANDEM" config "$lab" >"$dir/good_printed_$(basename "$lab")"
    "$TANDEM" config --json "$lab" >"$dir/printed.json"
    python3 - "$dir/printed.json" "$dir/good_printed_$(basename "$lab")" <<'PY'
import json, sys, yaml
as_json, as_yaml = json.load(open(sys.argv[1])), yaml.safe_load(open(sys.argv[2]))
assert as_json == as_yaml, f"{sys.argv[2]}: config --json prints other values"
PY
done
cat >"$dir/good_numbers.yaml" <<'END'
pairs: {r1: {mode: link}}
teams:
  c:
    tasks:
      t:
        op: pick
        payload: {m: 007, a: .5, b: -.5, c: +3, d: 1., e: 5.e3, f: 00, g: -007, h: 1e999, i: ~, j: null, k: , l: "~",
                  q: "007", r: -0.25, s: 12345678901234567890, u: [~, .25, +.5e-1], v: true, w: text}
    sequences: {s: [t]}
    robots: {R1: {pair: r1, sequence: s}}
END
"$TANDEM" config --json "$dir/good_numbers.yaml" >"$dir/good_numbers.json"
python3 - "$dir/good_numbers.json" <<'PY'
import json, sys
payload = json.load(open(sys.argv[1]))["teams"]["c"]["tasks"]["t"]["payload"]
want = {"m": 7, "a": .5, "b": -.5, "c": 3, "d": 1, "e": 5000, "f": 0, "g": -7, "h": "1e999", "i": None, "j": None,
        "k": None, "l": "~", "q": "007", "r": -.25, "s": 12345678901234567890, "u": [None, .25, .05], "v": True,
        "w": "text"}
assert payload == want, f"config --json prints {payload}"
PY
n=0
while IFS= read -r line; do
    n=$((n + 1))
    printf '%s\n' "$line" >"$dir/bad_$n.yaml"
    if "$TANDEM" config "$dir/bad_$n.yaml" >/dev/null 2>&1; then
        echo "the program takes: $line"
        exit 1
    fi
done <<'END'
pairs: {}
name: no pairs
[]
pairs: {r1: {}, "r 1": {}}
{pairs: {r1: {}}, brokr: {}}
{pairs: {r1: {}}, broker: {port: 70000}}
{pairs: {r1: {}}, broker: {port: "1883"}}
{pairs: {r1: {}}, broker: {port: 1883.5}}
{pairs: {r1: {}}, broker: {host: 5}}
{pairs: {r1: {}}, broker: {host: ""}}
{pairs: {r1: {}}, broker: {protocol: 4}}
{pairs: {r1: {}}, broker: {tls: {enable: true}}}
{pairs: {r1: {}}, http: {enabled: 1}}
{pairs: {r1: {}}, http: []}
{pairs: {r1: {}}, defaults: {count: 5}}
{pairs: {r1: {}}, defaults: {timeout_s: .nan}}
{pairs: {r1: {mode: Link}}}
{pairs: {r1: {clock: {jump_s: 0}}}}
{pairs: {r1: {}}, teams: {c: {}}}
{pairs: {r1: {}}, teams: {c: {robots: {R1: {}}, lockin: free}}}
{pairs: {r1: {}}, teams: {c: {robots: {R1: {}}, positions: {P: {x_m: 1}}}}}
{pairs: {r1: {}}, teams: {c: {robots: {R1: {}}, resources: {A: {capacity: 65}}}}}
{pairs: {r1: {}}, teams: {c: {robots: {R1: {}}, sequences: {s: []}}}}
{pairs: {r1: {}}, teams: {c: {robots: {R1: {}}, sequences: {s: [{Meet: m}]}}}}
{pairs: {r1: {}}, teams: {c: {robots: {R1: {}}, sequences: {s: [{Repeat: {times: 2, steps: [{a: 1, b: 2}]}}]}}}}
{pairs: {r1: {}}, teams: {c: {robots: {R1: {}}, jobs: [{part: a}]}}}
END
python3 - "$dir" <<'END'
import glob, json, math, sys
import jsonschema, yaml
schema = json.load(open(sys.argv[1] + "/schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
check = jsonschema.Draft202012Validator(schema)
def load(path):
    return yaml.safe_load(open(path, encoding="utf-8"))
def has_nan(value):
    return isinstance(value, float) and math.isnan(value) or \
        isinstance(value, dict) and any(map(has_nan, value.values()))
good, bad = glob.glob(sys.argv[1] + "/good_*"), glob.glob(sys.argv[1] + "/bad_*")
assert len(good) >= 6 and len(bad) >= 15
for path in good:
    check.validate(load(path))
for path in bad:
    value = load(path)
    # JSON has no nan, so that no schema can refuse it.
    assert has_nan(value) or not check.is_valid(value), open(path).read()
END
