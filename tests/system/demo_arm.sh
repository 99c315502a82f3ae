#!/bin/sh
# needs: virtual time
# tandem demo --kind arm6: two arms are driven and calibrated, the simulated one gets the real one's times, and the
# demo prints the gap between their tools before and after. Then its journal replays.
set -eu
TANDEM=${TANDEM:-build/dev/tandem}
work=$(mktemp -dt tandem-demo-arm-test.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    tail -n 60 "$work/out" "$work"/a/*.log >&2
    exit 1
}

"$TANDEM" demo --kind arm6 --for 45 --dir "$work/a" >"$work/out" 2>&1 || fail "exit status $?"
grep -q ' tools .*real, calibrated' "$work/out" || fail "no column of the tools"
grep -qE '^ +[0-9]+  [+-][0-9.]+ rad +([0-9.]+ +){2}[+-][0-9.]+  AHEAD +[0-9.]+ ' "$work/out" || fail "no move of joints"
grep -qE '^ +[0-9]+  [0-9.]+ m  ' "$work/out" || fail "no line"
grep -qE 'parameter set [0-9]+ goes to the simulator: its joints move at 0\.8[0-9]+ of the commanded' "$work/out" ||
    fail "no parameter set"
grep -qE '^([0-9]+) commands, \1 entries: [^;]*; 0 alarms$' "$work/out" || fail "a command without an entry, other values, or an alarm"
grep -qE '^real    moves joints at 0\.8[0-9]+ .* true 0\.8500; lines at 0\.8[0-9]+ .* true 0\.8500; fit ' "$work/out" ||
    fail "fit of the real arm"
# The gaps are 57 mm and 3 mm when the machine is otherwise idle.
sed -n 's/^tools apart on the way.*: \([0-9.]*\) mm before, \([0-9.]*\) mm after.*/\1 \2/p' "$work/out" |
    awk '{ print "tools", $1, "mm apart before,", $2, "mm after"; good = $1 > 20 && $2 < $1 / 3 } END { exit !good }' ||
    fail "the gap between the tools"

entries=$(sed -n 's/^\([0-9]*\) commands, .*/\1/p' "$work/out")
"$TANDEM" replay -c "$work/a/lab.yaml" "$work/a/journal" >"$work/replay" || fail "replay"
grep -q "^r1: $entries commands, " "$work/replay" || fail "replay differs: $(tail -n 5 "$work/replay")"
echo "demo of arms: fine"
