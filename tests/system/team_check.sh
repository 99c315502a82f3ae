# tandem team check: its findings, its output, and the exit status.
set -eu
fail() { echo "team_check: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$SOURCE/tests/support/fault_code.sh"
check() { # expected status, words expected in the output that may begin with "[CODE] ", then the arguments
    want=$1; words=$2; shift 2
    status=0
    "$TANDEM" team check "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$want" ] || fail "$*: exit $status, want $want: $(cat "$work/out" "$work/err")"
    case $words in "["*) has_fault_code "${words%%]*}" "$work/err" "$*"; words=${words#*]}; words=${words# } ;; esac
    cat "$work/out" "$work/err" | grep -q -- "$words" || fail "$*: says $(cat "$work/out" "$work/err")"
}

team() { # name of the file, locking, resources of R1 and R2 in their order, further lines
    cat >"$work/$1" <<YAML
teams:
  cell:
    locking: $2
    resources: {A: {kind: tool}, B: {kind: tool}}
    tasks: {Go: {op: go}}
    robots: {R1: {sequence: one}, R2: {sequence: two}}
    sequences:
      one: [$3]
      two: [$4]
YAML
}

team ab_ba.yaml free 'Lock: A, Go, Lock: B, Go, UnLock: [A, B]' 'Lock: B, Go, Lock: A, Go, UnLock: [A, B]'
check 1 'worst: end deadlock, waits R1 holds A wants B, R2 holds B wants A' "$work/ab_ba.yaml"
check 1 '"worst":{"end":"deadlock","path":\["R1 ends Go","R2 ends Go"\]' --json "$work/ab_ba.yaml"
sed 's/free/ordered/' "$work/ab_ba.yaml" >"$work/against.yaml"
check 2 'against.yaml:9:' "$work/against.yaml"

# All teams follow the locking rule, and still have a fault.
team trap.yaml free 'Lock: A, Go, Lock: B, Go, UnLock: [A, B]' 'Lock: [A, B], Go, UnLock: [A, B]'
check 1 'R1 holds A wants B, R2 wants A B' "$work/trap.yaml"
sed 's/free/ordered/' "$work/trap.yaml" >"$work/ordered.yaml"
check 0 'complete yes, ' "$work/ordered.yaml"
check 0 'blocked [1-9]' --failures 1 "$work/ordered.yaml"
check 3 'complete no, stop states, states 5' --failures 2 --states 3 "$work/ordered.yaml"

# Work that no robot does.
sed 's/^      two:.*/&\n      three: [Go]/' "$work/ordered.yaml" >"$work/unused.yaml"
check 0 'unused_sequences three' "$work/unused.yaml"

# The examples, and a lab file.
for file in config/examples/class*.yaml config/examples/seed004_A.yaml; do
    check 0 'complete yes, ' --failures 1 --losses 1 "$file"
done

check 2 '[file_unreadable]' "$work/none.yaml"
check 2 '[missing_key]' config/examples/lab.yaml
check 2 'needs FILE'
check 2 'takes FILE, not also ' "$work/trap.yaml" "$work/ordered.yaml"
check 2 'within' --failures x "$work/ordered.yaml"
"$TANDEM" team check --help | grep -q '^SYNOPSIS' || fail "help"
echo "tandem team check reports its findings"
