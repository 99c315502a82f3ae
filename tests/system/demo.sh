#!/bin/sh
# needs: virtual time
# The demo compares the robots, ends by itself, on Ctrl-C and when a part dies, and leaves no process behind.
set -eu
. tests/support/wait.sh
TANDEM=${TANDEM:-build/dev/tandem}
SOURCE=${SOURCE:-.}
work=$(mktemp -dt tandem-demo-test.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    tail -n 40 "$work/out" "$work"/*/*.log >&2
    exit 1
}

# Processes whose working directory is $1: the children of a demo that runs there.
children() {
    for process in /proc/[0-9]*; do
        if [ "$(readlink "$process/cwd" 2>/dev/null)" = "$1" ]; then
            echo "${process#/proc/}"
        fi
    done
}

rows() { [ "$(grep -cE '(AHEAD|BEHIND|SYNC|UNRESOLVED)' "$work/out")" -ge "$1" ]; }
nobody() { [ -z "$(children "$1")" ]; }

start() { # OPTION...
    : >"$work/out" # the file must be empty before anybody reads it, so this shell creates it, not the child
    "$TANDEM" demo "$@" >"$work/out" 2>&1 &
    demo=$!
}

# --- by itself -------------------------------------------------------------------------------
"$TANDEM" demo --for 12 --dir "$work/a" >"$work/out" 2>&1 || fail "exit status $?"
grep -q 'page     http://127.0.0.1:[0-9]*/' "$work/out" || fail "no address"
grep -q '#  move  .* verdict ' "$work/out" || fail "no header"
rows 6 || fail "too few rows"
grep -qE '^([0-9]+) commands, \1 entries: .*; 0 alarms$' "$work/out" || fail "summary"
grep -q '^real    turns at .* true 3.0000; drives at .* true 0.9000; fit ' "$work/out" ||
    fail "fit of the real robot"
grep -q '^virtual turns at ' "$work/out" || fail "fit of the virtual robot"
if grep -q "$(printf '\033')" "$work/out"; then
    fail "colours on a pipe"
fi
nobody "$work/a" || fail "children are left: $(children "$work/a")"

# The demo's journal replays to the same number of entries, and the broker ran with the recommended settings.
entries=$(sed -n 's/^\([0-9]*\) commands, .*/\1/p' "$work/out")
"$TANDEM" replay -c "$work/a/lab.yaml" "$work/a/journal" >"$work/replay" || fail "replay"
grep -q "^r1: $entries commands, " "$work/replay" || fail "replay differs: $(tail -n 5 "$work/replay")"
grep -Ev '^(#|$|listener|allow_anonymous|persistence_location)' "$SOURCE/config/mosquitto.conf" |
    while read -r line; do
        grep -qx "$line" "$work/a/mosquitto.conf" || fail "the demo's broker lacks '$line'"
    done

# --- Ctrl-C, and a temporary directory that goes away -----------------------------------------
start
wait_for 30 "a row" rows 1
dir=$(sed -n 's/^  files    //p' "$work/out")
[ "$(children "$dir" | wc -l)" = 5 ] || fail "not five children: $(children "$dir")"
kill -s INT "$demo"
wait "$demo" || fail "exit status after Ctrl-C"
nobody "$dir" || fail "children are left after Ctrl-C"
[ ! -e "$dir" ] || fail "$dir is left"
grep -q ' commands, ' "$work/out" || fail "no summary after Ctrl-C"

# --- a part dies -----------------------------------------------------------------------------
start --dir "$work/b"
wait_for 30 "a row" rows 1
for child in $(children "$work/b"); do
    if tr '\0' ' ' <"/proc/$child/cmdline" | grep -q '^tandem serve '; then
        kill -s KILL "$child"
    fi
done
status=0
wait "$demo" || status=$?
[ $status = 1 ] || fail "exit status $status after the daemon's death"
grep -q 'daemon ended unexpectedly with status 137' "$work/out" || fail "no word of the death"
nobody "$work/b" || fail "children are left after a death"

# --- the demo itself is killed -----------------------------------------------------------------
start --dir "$work/c"
wait_for 30 "a row" rows 1
kill -s KILL "$demo"
wait "$demo" 2>/dev/null || true
wait_for 15 "the end of the demo's children" nobody "$work/c"

# --- wrong usage ------------------------------------------------------------------------------
status=0
"$TANDEM" demo --dir "$work/c/missing/d" >"$work/out" 2>&1 || status=$?
[ $status = 1 ] || fail "a directory that cannot be made"
status=0
"$TANDEM" demo --for never >"$work/out" 2>&1 || status=$?
[ $status = 2 ] || fail "wrong usage"
echo "demo: fine"
