#!/bin/sh
# needs: virtual time, full
# tandem demo --team: two simulated robots share a place. The demo ends by itself and in time, prints what a
# simulation predicts of the work, leaves no process behind, and its journal replays.
set -eu
TANDEM=${TANDEM:-build/dev/tandem}
SOURCE=${SOURCE:-.}
work=$(mktemp -dt tandem-demo-team-test.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    tail -n 60 "$work/out" "$work"/*/*.log >&2
    exit 1
}

nobody() { # matches processes with working directory $1
    for process in /proc/[0-9]*; do
        if [ "$(readlink "$process/cwd" 2>/dev/null)" = "$1" ]; then
            fail "left behind: ${process#/proc/}"
        fi
    done
}

# --- its time is over before the team has ended ------------------------------------------------
"$TANDEM" demo --team "$SOURCE/config/examples/class3.yaml" --for 30 --dir "$work/a" >"$work/out" 2>&1 || fail "exit status $?"
grep -q 'page     http://127.0.0.1:[0-9]*/#/team/cell ' "$work/out" || fail "no address"
grep -qE '^ +0\.[0-9]+ s  R2       wait     IB behind R1$' "$work/out" || fail "no reason why R2 waits"
grep -qE '^ +[0-9.]+ s  R1       done     Move IB, [0-9.]+ s$' "$work/out" || fail "no robot moved"
grep -qE '^cell: not ended after .* 0 alarms, 0 activities failed$' "$work/out" || fail "no end"
nobody "$work/a"

# --- the team ends, with one part each, six times over -----------------------------------------
sed 's/buffers: .*/buffers: {IB: [a, b]}/' "$SOURCE/config/examples/class3.yaml" >"$work/short.yaml"
grep -q 'IB: \[a, b\]}' "$work/short.yaml" || fail "the example's buffer"
"$TANDEM" demo --team "$work/short.yaml" --for 120 --dir "$work/b" >"$work/out" 2>&1 || fail "exit status $?"
grep -qE '^cell: ended after [0-9.]+ s, 0 alarms, 0 activities failed$' "$work/out" || fail "not ended"
grep -qE '^ +[0-9.]+ s  R2       grant    IB #2, waited for [0-9.]+ s$' "$work/out" || fail "no hand-over"
grep -q '^  team cell, runs 10000, ' "$work/out" || fail "no simulation"
grep -qE '^  1  +[0-9.e+]+ +[0-9.]+ +(yes|no)$' "$work/out" || fail "not held against what was recorded"
grep -q '^Its buffers hold what the file says 6 times over' "$work/out" || fail "too little work to learn from"
! grep -qE "times are the file's| nominal " "$work/out" || fail "times that were not learnt"
nobody "$work/b"
commands=$(grep -cE ' start +(Move|PickPrt|PlacePrt)' "$work/out")
"$TANDEM" replay -c "$work/b/lab.yaml" "$work/b/journal" >"$work/replay" || fail "replay"
entries=$(sed -n 's/^r[12]: \([0-9]*\) commands, .*/\1/p' "$work/replay" | awk '{ n += $1 } END { print n }')
[ "$entries" -ge "$commands" ] && [ "$commands" -ge 10 ] || fail "$commands activities, $entries commands in the replay"

# --- what is no team ---------------------------------------------------------------------------
echo 'pairs: {r1: {}}' >"$work/none.yaml"
status=0
"$TANDEM" demo --team "$work/none.yaml" --for 5 >"$work/out" 2>&1 || status=$?
[ $status = 2 ] || fail "exit status $status without a team"
grep -q "it has no 'teams:'" "$work/out" || fail "no word of what lacks"
echo "demo of a team: fine"
