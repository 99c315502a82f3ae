# needs: virtual time
# tandem machines: every output format, and the errors for wrong usage.
set -eu
fail() { echo "machines: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$TANDEM" machines >"$work/tables" || fail "tables: exit $?"
"$TANDEM" machines --list >"$work/names"
[ -s "$work/names" ] || fail "no machine listed"
while read -r name; do
    grep -q "^$name - " "$work/tables" || fail "$name is not among the tables"
    "$TANDEM" machines --dot "$name" >"$work/$name.dot"
    grep -q "^digraph \"$name\" {" "$work/$name.dot" || fail "$name: no digraph"
    if command -v dot >/dev/null; then
        dot -Tsvg "$work/$name.dot" >"$work/$name.svg" 2>"$work/err" || fail "$name: dot refused it"
        [ ! -s "$work/err" ] || fail "$name: dot warns: $(cat "$work/err")"
    fi
done <"$work/names"
"$TANDEM" machines --json >"$work/json"
if command -v python3 >/dev/null; then
    python3 - "$work/json" "$work/names" <<'PY'
import json, sys
machines = json.load(open(sys.argv[1]))["machines"]
assert [m["name"] for m in machines] == open(sys.argv[2]).read().split()
for m in machines:
    names = [s["name"] for s in m["states"]]
    assert m["initial"] in names
    for a in m["arcs"]:
        assert a["from"] in names and (a["to"] is None or a["to"] in names) and a["label"]
PY
fi
"$TANDEM" machines --help | grep -q '^SYNOPSIS' || fail "help"

refused() { # words expected on stderr, then the arguments
    words=$1; shift
    status=0
    "$TANDEM" machines "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 2 ] || fail "$*: exit $status, want 2"
    [ ! -s "$work/out" ] || fail "$*: wrote to stdout"
    grep -q -- "$words" "$work/err" || fail "$*: says $(cat "$work/err")"
}
refused "no machine 'nosuch', the machines are: " nosuch
refused "unknown option '--nosuch'" --nosuch
refused "machines of files go with '--svg'" --svg
refused "machines of files go with '--drawio'" --drawio executive
golden=tests/golden/machines
refused "exactly one machine of a drawing goes with '--svg'" "$golden/handshake.drawio" --svg
refused "take --dot in place of '--svg'" config/machines/counter.yaml --svg

# A machine written as a drawing and read back is identical to the letter.
for file in config/machines/*.yaml; do
    "$TANDEM" machines "$file" --yaml >"$work/before" 2>/dev/null
    "$TANDEM" machines "$file" --drawio >"$work/again.drawio" 2>/dev/null
    "$TANDEM" machines "$work/again.drawio" --yaml >"$work/after" 2>/dev/null
    cmp "$work/before" "$work/after" || fail "$file: not the same after --drawio"
done
# The machine generated from the firmware equals the shipped one.
"$TANDEM" machines generate config/machines/l0firmware.yaml --lang c | cmp - examples/robot/avr/L0Firmware.c ||
    fail "examples/robot/avr: tandem machines generate ../../../config/machines/l0firmware.yaml --lang c --out ."
# A drawing keeps its own layout; only the highlighted state of unit.test_drawing's picture is missing.
"$TANDEM" machines "$golden/plans.drawio" --svg 2>/dev/null >"$work/svg"
sed 's/#ffd75e/#fff/' "$golden/plans.svg" | cmp - "$work/svg" || fail "--svg"
refused "exactly one NAME goes with '--dot'" --dot
refused "one form of output only" --json --list
if [ -w /dev/full ]; then
    status=0
    "$TANDEM" machines >/dev/full 2>"$work/err" || status=$?
    [ "$status" -eq 1 ] || fail "full disk: exit $status, want 1"
fi

# ---- machines of files: run, and what is refused ----
machines=$SOURCE/config/machines
printf 'P,b,more\n3,0,x\n3,1,x\n3,0,x\n3,-,x\n' >"$work/in.csv"
status=0
"$TANDEM" machines run "$machines/counter.yaml" --inputs "$work/in.csv" --out "$work/steps.csv" >"$work/out" 2>"$work/err" || status=$?
[ "$status" -eq 0 ] || fail "run: exit $status: $(cat "$work/err")"
grep -q '^Counter: 4 cycles, 3 of 4 arcs taken, 2 of 2 states$' "$work/out" || fail "coverage: $(cat "$work/out")"
grep -q '^  never: 3 COUNT -> WAIT: !(C > 0) / e = true$' "$work/out" || fail "coverage: $(cat "$work/out")"
[ "$(tail -1 "$work/steps.csv")" = '3,0.074999999999999997,-,3,COUNT,1,0,,2,COUNT,1' ] || fail "steps: $(cat "$work/steps.csv")"
printf 'b,P\n1,2\n,2\n' >"$work/in.csv" # nobody is connected, and the state does not need anybody
"$TANDEM" machines run "$machines/counter.yaml" --inputs "$work/in.csv" >"$work/steps.csv" 2>"$work/err" || fail "connected: $(cat "$work/err")"
printf 'b,P\n,2\n' >"$work/in.csv"
status=0
"$TANDEM" machines run "$machines/counter.yaml" --inputs "$work/in.csv" >"$work/steps.csv" 2>"$work/err" || status=$?
[ "$status" -eq 1 ] || fail "undefined: exit $status"
grep -q "^tandem: Counter: UNDEFINED in WAIT at 0 s: '!b' read b, which has no value yet$" "$work/err" || fail "undefined: $(cat "$work/err")"
"$TANDEM" machines run "$machines/handshake.yaml" --period 0.1 >"$work/steps.csv" 2>"$work/err" --cycles 20 || fail "network: $(cat "$work/err")"
[ "$(sed -n 6p "$work/steps.csv")" = '4,0.40000000000000002,SUB,1,,1,END,1,DONE,1,,5,DONE,1' ] || fail "network: $(cat "$work/steps.csv")"

. "$SOURCE/tests/support/fault_code.sh"
refused_file() { # expected status, words expected on stderr that may begin with "[CODE] ", then the arguments
    want=$1; words=$2; shift 2
    status=0
    "$TANDEM" machines "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$want" ] || fail "$*: exit $status, want $want"
    case $words in "["*) has_fault_code "${words%%]*}" "$work/err" "$*"; words=${words#*]}; words=${words# } ;; esac
    grep -q -- "$words" "$work/err" || fail "$*: says $(cat "$work/err")"
}
printf 'b\n1\n' >"$work/in.csv"
refused_file 1 "[missing_column] in.csv:1: .*'P'" run "$machines/counter.yaml" --inputs "$work/in.csv"
printf 'b,P\n1,2\n2,2\n' >"$work/in.csv"
refused_file 1 "[boolean_expected] in.csv:3:1: " run "$machines/counter.yaml" --inputs "$work/in.csv"
printf 'b,P\n1,2\n1,two\n' >"$work/in.csv"
refused_file 1 "[not_a_number] in.csv:3:3:" run "$machines/counter.yaml" --inputs "$work/in.csv"
refused_file 2 "no --inputs: a CSV file with b, P was expected" run "$machines/counter.yaml"
refused_file 1 "E-FILE" run "$work/nosuch.yaml"
refused_file 2 "machines run needs FILE..., see" run
refused_file 2 "--lang c, lua, python or table was expected" generate "$machines/counter.yaml"
refused_file 2 "--out DIR was expected with --test" generate --lang c --test 2 "$machines/counter.yaml"
refused_file 2 "--out DIR was expected with several machines" generate --lang c "$machines/handshake.yaml"
refused_file 1 "$work/nosuch/Counter.lua" generate --lang lua --out "$work/nosuch" "$machines/counter.yaml"
sed 's/ready: truth/ready: number/; s/when: ready/when: ready > 0/; s/"!ready"/"!(ready > 0)"/' "$machines/handshake_master.yaml" >"$work/master.yaml"
refused_file 1 "ready of Master" run "$work/master.yaml" "$machines/handshake_slave.yaml"
refused_file 2 "machines of files go with '--yaml'" --yaml smartlog
"$TANDEM" machines "$machines/plans.yaml" --json 2>/dev/null | grep -q '"push"' || fail "a file as JSON"
"$TANDEM" machines "$machines/plans.yaml" --yaml >"$work/plans.yaml" 2>/dev/null
"$TANDEM" machines "$work/plans.yaml" --yaml 2>/dev/null | cmp -s - "$work/plans.yaml" || fail "YAML is not read back"

# ---- `show` prints a machine despite its errors; `run` needs one without errors ----
for name in f01_incomplete f02_overlap f09_unreachable_sink f11_label_between; do
    status=0
    "$TANDEM" machines "$SOURCE/tests/golden/machines/$name.drawio" --yaml >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 1 ] || fail "$name: exit $status, want 1"
    cmp -s "$work/out" "$SOURCE/tests/golden/machines/$name.F.yaml" || fail "$name is shown as $(cat "$work/out")"
    grep -q '^E-' "$work/err" || fail "$name: says $(cat "$work/err")"
    refused_file 1 '^E-' run "$SOURCE/tests/golden/machines/$name.F.yaml" --inputs /dev/null
    [ ! -s "$work/out" ] || fail "$name runs"
    refused_file 1 '^E-' generate "$SOURCE/tests/golden/machines/$name.F.yaml" --lang c
    [ ! -s "$work/out" ] || fail "$name became a program"
done
status=0
"$TANDEM" machines "$SOURCE/tests/golden/machines/f12_types.drawio" --yaml >"$work/out" 2>"$work/err" || status=$?
[ "$status" -eq 1 ] && [ ! -s "$work/out" ] || fail "what was not understood is shown: $(cat "$work/out")"
