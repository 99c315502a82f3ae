# tandem team plan: the example against its golden output, and one clear error for each wrong file.
set -eu
fail() { echo "team_plan: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
example="$SOURCE/config/examples/class4_plan.yaml"
"$TANDEM" team plan "$example" --json >"$work/json" || fail "exit $?"
python3 -m json.tool "$work/json" >"$work/plan.json"
diff "$SOURCE/tests/golden/team/class4_plan.json" "$work/plan.json" || fail "another plan"
"$TANDEM" team plan "$example" >"$work/page"
grep -q '^  tray  R1 R2  *39  *52  *yes$' "$work/page" || fail "page: $(cat "$work/page")"
"$TANDEM" team plan "$example" --draws 0 --json | grep -q '"uncertain":null' || fail "no draws"
! "$TANDEM" team plan "$example" --spread 0 --json | grep -q '"share_with_wait":[^0]' || fail "waits without a spread"

"$TANDEM" team plan "$example" --set IB.capacity=2 --json | grep -q '"interference":\[\]' || fail "two at once interfere"
wrong() { # words of the only error, options
    want=$1
    shift
    status=0
    "$TANDEM" team plan "$example" "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 2 ] && [ ! -s "$work/out" ] || fail "$*: exit $status"
    [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q -- "$want" "$work/err" || fail "$*: says $(cat "$work/err")"
}
wrong "no robot and no resource of team cell is called 'R9'" --set R9.speed=+10%
wrong "$work/none" --from "$work/none"
wrong "--side left: one of real|virtual was expected" --side left

refuse() { # expected status, words of the only error, an edit of the example
    sed "$3" "$example" >"$work/wrong.yaml"
    status=0
    "$TANDEM" team plan "$work/wrong.yaml" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$1" ] || fail "$3: exit $status, want $1"
    [ ! -s "$work/out" ] || fail "$3: prints a plan"
    [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q -- "$2" "$work/err" || fail "$3: says $(cat "$work/err")"
}
refuse 2 "29:13: teams.cell.plan: task 'tray' comes after itself" 's/\[a1, b1\]/[a1, tray]/'
refuse 2 "24:30: teams.cell.plan: there is no task 'x' to come after" 's/a1: {seq: part,/& after: x,/'
refuse 2 "there is no 'R3'" 's/a2: {seq: part, robots: R1/a2: {seq: part, robots: R3/'
refuse 2 "there is no 'pt'" 's/a2: {seq: part/a2: {seq: pt/'
refuse 2 "'R1' is there twice" 's/\[R1, R2\], after/[R1, R1], after/'
refuse 1 'R1: the duration of Place is unknown: give nominal_s' 's/Fetch: 6, Place: 7/Fetch: 6/'
refuse 1 "task 'tray' of the plan must end .* it is stuck" 's/\[R1, R2\], after/R1, after/'
refuse 1 "task 'a1' of the plan must end .* it is horizon" 's/UnLock: IB, Place/&, Repeat/'
refuse 2 "has no 'plan'" '/^    plan/,$d'
