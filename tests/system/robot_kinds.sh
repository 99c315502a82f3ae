#!/bin/sh
# needs: virtual time
# The lab's robots over a real broker: every command answered once, parameters applied and acknowledged, machines
# published, restarts, a slow simulator, many robots in one process.
set -eu
. tests/support/broker.sh
. tests/support/wait.sh
TANDEM=${TANDEM:-build/dev/tandem}
broker_start
work=$broker_dir
broker="--port $broker_port"
pids=

fail() {
    echo "FAILED: $*" >&2
    grep -v heartbeat "$work/all" | tail -n 20 | cut -c 1-300 >&2
    tail -n 5 "$work"/*.log >&2
    exit 1
}

finish() {
    # shellcheck disable=SC2086 # a list of numbers
    kill $pids 2>/dev/null || true
    broker_stop
}
trap finish EXIT

pub() { mosquitto_pub -p "$broker_port" -q 1 -t "tandem/v1/$1" -m "$2"; }
seen() { grep -c -F -- "$1" "$work/all" || true; }
is_seen() { [ "$(seen "$2")" -ge "$1" ]; } # COUNT TEXT
wait_seen() { wait_for 20 "$1 times '$2'" is_seen "$@"; }

mosquitto_sub -p "$broker_port" -q 1 -v -t 'tandem/v1/#' >"$work/all" &
pids="$pids $!"

# --- one pair ---------------------------------------------------------------------------------
printf 'controller: pid\nscan_count: 1\nreal: {gain_left_ratio: 1.03}\n' >"$work/robots.yaml"
printf 'obstacles:\n  wall: {shape: wall, points_m: [[1.5, -2], [1.5, 2]]}\n' >"$work/map.yaml"
# shellcheck disable=SC2086 # an option and its value
"$TANDEM" robot $broker --kind diffdrive --side both --parameters "$work/robots.yaml" --map "$work/map.yaml" \
    --telemetry-rate 10 >"$work/pair.log" 2>&1 &
pair=$!
pids="$pids $pair"
wait_seen 1 'r1/real/connection {"state":"online"'
wait_seen 1 'r1/virtual/connection {"state":"online"'
pub r1/command '{"id":"a","op":"go","rotation_rad":1.0,"displacement_m":0.2}'
pub r1/command '{"id":"b","op":"resume"}'
pub r1/command '{"id":"c","op":"dance"}'
wait_seen 2 '"id":"b","t_start"'
[ "$(seen 'resume is not for now: the robot is in ')" = 2 ] || fail "a warning"
[ "$(seen 'go, lidar, resume or halt was expected')" = 2 ] || fail "an error"
wait_seen 2 '"status":"done","values":{"x_m":'
pub r1/command '{"id":"d","op":"lidar"}'
wait_seen 2 '"status":"data","values":{"angle_rad":0,"range_m":'
pub r1/command '{"id":"e","op":"resume"}'
wait_seen 2 '{"id":"e","t_start"'
pub r1/command '{"id":"f","op":"go","displacement_m":0.5}'
pass_time 0.3
pub r1/command '{"id":"g","op":"halt"}'
wait_seen 2 '{"id":"g","t_start"'
[ "$(seen '"status":"halted"')" = 2 ] || fail "halted"
wait_seen 1 'r1/real/machines {"t":'
[ "$(seen '"l0main":{"state":')" -ge 2 ] || fail "machines"

# Parameters: known ones apply at once, unknown ones are refused with a reason, version 0 restores the start values.
pub r1/virtual/parameters '{"version":3,"model":"travel_time","values":{"t0_s":1.0,"colour":3,"kp":-1}}'
wait_seen 1 'ack {"version":3,"applied":["t0_s"],"refused":[{"name":"colour","reason":"a diffdrive has no such parameter"},{"name":"kp","reason":'
pub r1/command '{"id":"h","op":"go","rotation_rad":0.5}'
wait_seen 1 'r1/real/reply {"id":"h"'
[ "$(seen 'r1/virtual/reply {"id":"h"')" = 0 ] || fail "the new t0_s had no effect"
wait_seen 1 'r1/virtual/reply {"id":"h"'
# Relative values change the robot's own start values, however often they come; adjust comes in both forms.
for _ in 1 2; do
    pub r1/virtual/parameters '{"version":4,"values":{"t0_s":9,"ta_s":0},"adjust":{"t0_s":{"add":0.25},"linear_speed_mps":{"factor":0.9},"kp":3,"colour":{"add":1}}}'
done
wait_seen 2 'ack {"version":4,"applied":["t0_s","linear_speed_mps","ta_s"],"refused":[{"name":"kp","reason":'
[ "$(seen '"form":"relative"}')" = 2 ] || fail "relative"
pub r1/command '{"id":"i","op":"go","rotation_rad":0.5}'
wait_seen 1 'r1/virtual/reply {"id":"i"'
pub r1/virtual/parameters '{"version":0}'
wait_seen 1 'ack {"version":0,"applied":[],"refused":[]}'
kill "$pair"
wait "$pair" || fail "exit status of the pair"
for id in a b c d e f g h i; do
    [ "$(grep -c "reply {\"id\":\"$id\"" "$work/all")" = 2 ] || fail "$id has not one reply a side"
done
[ "$(seen '{"state":"offline","boot":"')" = 2 ] || fail "offline"

# --- half as fast, with its simulated time in telemetry; restarts ---------------------------------
# shellcheck disable=SC2086
"$TANDEM" robot $broker --pair slow --kind diffdrive --side virtual --pace 0.5 --telemetry-rate 10 --for 3 \
    >"$work/slow.log" 2>&1 || fail "the slow robot"
grep 'slow/virtual/telemetry' "$work/all" | tail -n 1 | sed 's/.*"sim_t":\([0-9.]*\).*/\1/' |
    awk '{ exit !($1 > 0.8 && $1 < 1.7) }' || fail "simulated time at half the pace"
# shellcheck disable=SC2086
"$TANDEM" robot $broker --pair boots --kind diffdrive --reboot 2 --for 6 >"$work/boots.log" 2>&1 || fail "reboots"
[ "$(grep 'boots/real/connection' "$work/all" | grep -c '"online"')" -ge 2 ] || fail "it did not come back"
[ "$(grep 'boots/real/connection' "$work/all" | grep '"online"' | sort -u | wc -l)" -ge 2 ] || fail "the boot mark"

# --- many ---------------------------------------------------------------------------------------
# shellcheck disable=SC2086
"$TANDEM" robot $broker --kind diffdrive --pair n1 --count 100 --for 10 >"$work/many.log" 2>&1 &
many=$!
pids="$pids $many"
wait_seen 1 'n100/virtual/connection {"state":"online"'
i=0
while [ $i -lt 100 ]; do
    i=$((i + 1))
    pub "n$i/command" "{\"id\":\"m$i\",\"op\":\"go\",\"rotation_rad\":0.5,\"displacement_m\":0.1}"
done
wait "$many" || fail "exit status of many"
cat "$work/many.log"
grep -q '^200 robots: 200 commands, 200 replies, ' "$work/many.log" || fail "200 replies"
grep -q ' 0 overruns, ' "$work/many.log" || fail "overruns"

# --- wrong usage ----------------------------------------------------------------------------------
printf 'kp: x\nreal:\n  colour: 1\n' >"$work/bad.yaml"
# shellcheck disable=SC2086
"$TANDEM" robot $broker --kind diffdrive --parameters "$work/bad.yaml" 2>"$work/bad.log" && fail "a bad file"
grep -q 'bad.yaml:1:5: kp' "$work/bad.log" || fail "the first fault"
grep -q 'bad.yaml:3:3: ' "$work/bad.log" || fail "the second fault"
status=0
"$TANDEM" robot --kind boat 2>/dev/null || status=$?
[ $status = 2 ] || fail "unknown kind"
echo "the robots: fine"
