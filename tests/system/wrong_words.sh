# Unknown words get a suggestion, the nearest one that exists, for commands, options, models and kinds; and `tandem
# help`.
set -eu
fail() { echo "wrong_words: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# says STATUS TEXT ARGUMENT...
says() {
    want=$1 text=$2
    shift 2
    code=0
    "$TANDEM" "$@" </dev/null >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = "$want" ] || fail "exit $code, not $want: $*"
    grep -qF -- "$text" "$work/out" "$work/err" || fail "no '$text' from '$*': $(cat "$work/out" "$work/err")"
}
says 2 "unknown command 'srve' (did you mean serve?)" srve
says 2 "unknown command 'SERVE' (did you mean serve?)" SERVE
says 2 "unknown command 'walk', see" walk
says 2 "unknown option '--jsn' (did you mean --json?)" replay --jsn
says 2 "unknown option '--prot' (did you mean --port?)" drive --prot 5
says 2 "unknown option '--hlep' (did you mean --help?)" play --hlep
says 2 "unknown option '--frobnicate', see" play --frobnicate
says 2 "unknown option '-z', see" play -z
says 2 "unknown model 'usv' (did you mean usv3?)" identify --model usv -
says 2 "unknown model 'travel-time' (did you mean travel_time?)" identify --model travel-time -
says 2 "no model 'usv4' (did you mean usv3?)" selftest --model usv4
says 2 "(did you mean link?)" machines lnk
says 2 "(did you mean diffdrive?)" robot --kind difdrive
# Names that others use.
says 2 "--kind ur5: one of kinematic, diffdrive, usv3, arm6, position_servo was expected (did you mean arm6?)" robot --kind ur5
says 2 "(did you mean arm6?)" robot --kind UR10e
says 2 "(did you mean diffdrive?)" robot --kind turtlebot3
says 2 "(did you mean usv3?)" demo --kind boat
says 2 "was expected (did you mean link?)" drive --mode lnk
says 2 "kinematic|usv3|arm6 was expected" demo --kind xyz
# Doors that people try.
"$TANDEM" version >"$work/want"
for flag in -V --version; do
    "$TANDEM" "$flag" | cmp - "$work/want" || fail "$flag"
done
"$TANDEM" help | grep -q '^  status ' || says 2 "curl -s http://127.0.0.1:8420/api/v1/status" status
printf 'pairs: {r1: {}}\n' >"$work/lab.yaml"
says 0 "r1" serve --check "$work/lab.yaml"
says 2 "takes [LAB.yaml], not also" serve --check "$work/lab.yaml" "$work/lab.yaml"
says 2 "one lab file was expected" serve --check -c "$work/lab.yaml" "$work/lab.yaml"
printf 'pairs: {r1: {dynamics: {model: usv4}}}\n' >"$work/lab.yaml"
says 2 "there is no usv4 (did you mean usv3?)" config "$work/lab.yaml"

# The page of a command, under both its names.
for command in $("$TANDEM" help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
    "$TANDEM" "$command" --help >"$work/want" || fail "$command --help"
    "$TANDEM" help "$command" | cmp - "$work/want" || fail "help $command"
done
says 2 "unknown command 'serv' (did you mean serve?)" help serv
