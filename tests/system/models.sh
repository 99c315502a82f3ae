# needs: full
# tandem models, and models from files in identify, selftest, follow and lab files.
set -eu
fail() { echo "models: $*" >&2; exit 1; }
. "$SOURCE/tests/support/fault_code.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
models=$SOURCE/config/models

"$TANDEM" models >"$work/list" || fail "list: exit $?"
grep -q '^usv3  *vessel' "$work/list" || fail "list: $(cat "$work/list")"
"$TANDEM" models --check "$models"/*.yaml >"$work/out" 2>&1 || fail "check: $(cat "$work/out")"
[ ! -s "$work/out" ] || fail "check says: $(cat "$work/out")"
"$TANDEM" models "$models/dc_motor.yaml" | grep -q "^  rows: .*k tanh(w/width)" || fail 'rows are not shown'
"$TANDEM" models --tex "$models/dc_motor.yaml" | grep -q 'J \\, \\dot{w} + f \\, w + k \\, \\operatorname{tanh}' || fail 'TeX'
"$TANDEM" models --json usv3 "$models/usv3.yaml" >"$work/json"
python3 - "$work/json" <<'PY' || fail 'JSON'
import json, sys
built_in, file = json.load(open(sys.argv[1]))["models"]
assert built_in["built_in"] and not file["built_in"] and len(file["hash"]) == 16
assert built_in["parameters"] == file["parameters"] and built_in["axes"] == file["axes"]
assert file["equations"][0]["rows"]["d2"] == "-(v*r)", file["equations"][0]
PY

# The poses are those of the robot, not of its velocities. A check prints no document.
"$TANDEM" models --json diffdrive | grep -q '"effort":"w_cmd_radps"}\],"pose":\["x_m","y_m","theta_rad"\],' ||
    fail "poses: $("$TANDEM" models --json diffdrive)"
code=0
"$TANDEM" models --check --json usv3 >"$work/out" 2>"$work/err" || code=$?
[ "$code" = 2 ] && [ ! -s "$work/out" ] && grep -q 'neither --json nor --tex' "$work/err" || fail "check as JSON: $code"

# All errors with their places; status 1 as for a file that does not exist.
printf 'model: m\nvelocities: {w: rad/s}\nefforts: {U: V}\nparameters: {J: {}, f: {}}\nequations: ["J*w'"'"' + f*J*w = U"]\nplanar: [up]\n' >"$work/bad.yaml"
code=0
"$TANDEM" models --check "$work/bad.yaml" 2>"$work/err" || code=$?
[ "$code" = 1 ] || fail "bad: exit $code"
grep -q 'bad.yaml:5:13: equation 1, character 9: f .*J' "$work/err" || fail "bad: $(cat "$work/err")"
has_fault_code '[nonlinear_term' "$work/err" bad
grep -q 'bad.yaml:6:10: planar.0.' "$work/err" || fail "bad, all of it: $(cat "$work/err")"
code=0
"$TANDEM" models usv4 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q "no model 'usv4' (did you mean usv3?)" "$work/err" || fail "unknown: $code"

# A vessel as a file gives the estimates of the built-in model, up to rounding.
data=$SOURCE/examples/data/vessel1.csv
for method in weak weak_iv; do
    "$TANDEM" identify --model usv3 --method $method --json "$data" >"$work/built_in"
    "$TANDEM" identify --model "$models/usv3.yaml" --method $method --json "$data" >"$work/file"
    python3 - "$work/built_in" "$work/file" <<'PY' || fail "identify --method $method"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert b["model"] == "usv3_data" and a["verdict"] == b["verdict"] and a["reasons"] == b["reasons"]
assert all(abs(b["values"][k] - v) <= 1e-12 * abs(v) for k, v in a["values"].items())
PY
done
"$TANDEM" identify --model "$work/bad.yaml" "$data" 2>"$work/err" && fail 'a bad model'
has_fault_code '[nonlinear_term' "$work/err" 'identify, bad'

# Weak forms need a constant inertia; the other methods find the true values.
cat >"$work/arm.yaml" <<'YAML'
model: swing
velocities: {w: rad/s}
efforts: {U: N m}
pose: {q: rad}
parameters:
  J: {sign: positive}
  h: {}
  f: {sign: positive}
equations: ["J*w' + h*cos(q)*w' + f*w = U"]
trial:
  parameters: {J: 0.5, h: 0.2, f: 0.4}
  efforts: {U: [-1, 1]}
  noise_sd: {w: 0.005}
  dt_s: 0.02
  samples: 1500
YAML
printf 't,U,w,q\n0,1,0,0\n1,1,0,0\n2,1,0,0\n' >"$work/few.csv"
for method in weak weak_iv; do
    "$TANDEM" identify --model "$work/arm.yaml" --method $method "$work/few.csv" 2>"$work/err" && fail "$method of a moving inertia"
    has_fault_code '[method_unsuited' "$work/err" "$method"
done
"$TANDEM" selftest --model "$work/arm.yaml" --runs 4 >"$work/out" || fail "selftest: $(cat "$work/out")"
"$TANDEM" selftest --model "$models/quad_z.yaml" --runs 4 >"$work/out" || fail "selftest of a thrust curve: $(cat "$work/out")"
"$TANDEM" models "$models/quad_z.yaml" | grep -q " known -(w' + g)," || fail 'what is known is not shown'
"$TANDEM" selftest --model "$models/dc_motor.yaml" --runs 4 >"$work/out" 2>"$work/err" && fail 'a self test without a robot'
grep -q 'has no robot to test it with' "$work/err" || fail "selftest: $(cat "$work/err")"

# A model file next to its lab file, loaded; its print-out can be read again.
cp "$models/dc_motor.yaml" "$work/motor.yaml"
printf 'models: [motor.yaml]\npairs: {r1: {dynamics: {model: dc_motor}}}\n' >"$work/lab.yaml"
"$TANDEM" config "$work/lab.yaml" >"$work/printed.yaml" || fail 'a lab with a model'
grep -q 'motor.yaml' "$work/printed.yaml" || fail "printed: $(cat "$work/printed.yaml")"
"$TANDEM" config "$work/printed.yaml" | cmp - "$work/printed.yaml" || fail 'printed differently again'
printf 'models: [arm.yaml]\npairs: {r1: {dynamics: {model: swing, method: weak_iv}}}\n' >"$work/lab.yaml"
"$TANDEM" config "$work/lab.yaml" 2>"$work/err" && fail 'a lab with weak forms of a moving inertia'
has_fault_code '[method_unsuited' "$work/err" lab
printf 'models: [bad.yaml, none.yaml]\npairs: {r1: {}}\n' >"$work/lab.yaml"
"$TANDEM" config "$work/lab.yaml" 2>"$work/err" && fail 'a lab with a bad model'
grep -q 'bad.yaml:5:13: equation 1' "$work/err" && grep -q 'none.yaml' "$work/err" || fail "lab: $(cat "$work/err")"

# An experiment names it.
python3 - "$SOURCE/config/experiments" "$work" <<'PY'
import sys
text = open(sys.argv[1] + "/table7.yaml").read().replace("draws.csv", sys.argv[1] + "/draws.csv")
p = "{d1: 124.6, d2: 120, d3: 141, d4: 25.9, d5: 36, d6: 37, d7: 25.8, d8: 200, d9: 18.5}"
rows = ["t_s,tau_u_n,tau_v_n,tau_r_nm"] + [f"{k / 10},{40 * (k % 60 < 30)},0,{20 * (k % 80 < 40) - 10}" for k in range(200)]
open(sys.argv[2] + "/efforts.csv", "w").write("\n".join(rows) + "\n")
open(sys.argv[2] + "/x.yaml", "w").write(
    f"model: MODEL\nname: x\nreference: {{parameters: {p}}}\nplant: {{parameters: {p.replace('124.6', '130')}}}\n"
    "runs: 1\ninput: {file: efforts.csv, columns: efforts}\ncontrol: {period_s: 0.01, bandwidth_radps: 5}\nduration_s: 15\n")
PY
cp "$models/usv3.yaml" "$work/usv3.yaml"
sed -i 's/d\([1-9]\):/d\1:/' "$work/x.yaml"
sed 's/MODEL/usv3/' "$work/x.yaml" >"$work/a.yaml"
sed 's/MODEL/usv3.yaml/' "$work/x.yaml" >"$work/b.yaml"
sed 's/MODEL/usv3_data/' "$work/x.yaml" >"$work/c.yaml"
"$TANDEM" follow --json "$work/a.yaml" >"$work/a.json" || fail 'follow usv3'
"$TANDEM" follow --json "$work/b.yaml" >"$work/b.json" || fail 'follow usv3.yaml'
"$TANDEM" follow --model "$work/usv3.yaml" --json "$work/c.yaml" >"$work/c.json" || fail 'follow --model'
cmp "$work/b.json" "$work/c.json" || fail 'follow: --model and model: differ'
python3 - "$work/a.json" "$work/b.json" <<'PY' || fail 'follow: another course'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
def walk(x, y, path=""):
    if isinstance(x, dict):
        assert x.keys() == y.keys(), path
        for k in x: walk(x[k], y[k], path + "." + k)
    elif isinstance(x, list):
        for i, (p, q) in enumerate(zip(x, y)): walk(p, q, path)
    elif isinstance(x, float):
        assert abs(x - y) <= 1e-9 * max(1, abs(x)), (path, x, y)
walk({k: v for k, v in a.items() if k != "model"}, {k: v for k, v in b.items() if k != "model"})
PY
"$TANDEM" follow "$work/c.yaml" 2>"$work/err" && fail 'follow: a model that nobody gave'
grep -q "'usv3_data'" "$work/err" || fail "follow: $(cat "$work/err")"
has_fault_code '[unknown_name' "$work/err" follow
echo models
