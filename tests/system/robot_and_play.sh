#!/bin/sh
# needs: virtual time
# Two robots, a driver and a recording, over a real broker: every command is answered, the recording plays back message
# for message, and wrong usage gives an error.
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
    tail -n 20 "$work"/*.log >&2
    exit 1
}

finish() {
    # shellcheck disable=SC2086 # a list of numbers
    kill $pids 2>/dev/null || true
    broker_stop
}
trap finish EXIT

# Topic and payload of the lab's messages. %J formats numbers again, so that lengths differ, and writes an empty line
# for a payload that is no JSON.
strip() {
    grep -v -e '/heartbeat/' -e '^$' "$1" |
        sed 's/.*"topic":"[a-z]*\/v1\///; s/"\(qos\|retain\|mid\|payloadlen\)":[0-9]*,//g'
}
count() { grep -c "$1" "$work/first.jsonl" || true; }
recorded() { [ "$(count "$2")" -ge "$1" ]; } # COUNT WORDS
came_back() { [ "$(strip "$work/second.jsonl" | wc -l)" -ge "$(strip "$work/first.jsonl" | wc -l)" ]; }
hears() { mosquitto_pub -p "$broker_port" -t "$2" -m '{}' && [ -s "$1" ]; } # FILE TOPIC
is_online() { mosquitto_sub -p "$broker_port" -C 1 -W 5 -t "tandem/v1/$1/connection" | grep -q '"online"'; }

record() { # FILE TOPIC
    mosquitto_sub -p "$broker_port" -q 1 -t "$2" -F %J >"$1" 2>"$1.log" &
    pids="$pids $!"
    recorder=$!
}

# --- observe mode: delays, duplicates, another clock, telemetry, MQTT 3.1.1 ------------------
"$TANDEM" robot --side real $broker --linear-speed 5 --angular-speed 20 --t0 0.01 \
    --clock-offset 0.8 --clock-drift 40 --telemetry-rate 20 >"$work/real.log" 2>&1 &
real=$!
"$TANDEM" robot --side virtual $broker --protocol 3.1.1 --linear-speed 6 --angular-speed 25 --t0 0.01 \
    --delay 0.005 --jitter 0.002 --duplicate 0.2 >"$work/virtual.log" 2>&1 &
virtual=$!
pids="$pids $real $virtual"
record "$work/first.jsonl" 'tandem/v1/#'
first=$recorder
wait_for 20 "the robots" recorded 2 '"state":"online","boot":"'
"$TANDEM" drive $broker --count 20 --interval 0 >"$work/drive.log" 2>&1 || fail "drive"
tail -n 1 "$work/drive.log" | grep -q '^drive r1: 20 commands, 20 answered, 0 timed out$' ||
    fail "not every command was answered"
mosquitto_pub -p "$broker_port" -t tandem/v1/r1/real/probe -m '{"probe":5,"sent":1763617674.25}'
mosquitto_pub -p "$broker_port" -q 1 -t tandem/v1/r1/command -m 'not json'
mosquitto_pub -p "$broker_port" -q 1 -t tandem/v1/r1/command -m '{"op":"dance"}'
mosquitto_pub -p "$broker_port" -q 1 -t tandem/v1/r1/command -m '{"id":"x1","op":"lidar"}'
wait_for 20 "the echo" recorded 1 '"probe":5,"sent":1763617674.25,"t_received":'
wait_for 20 "the lidar" recorded 2 '"status":"data","values":{"ahead_m":'
wait_for 20 "telemetry" recorded 20 '"topic":"tandem/v1/r1/real/telemetry"'
kill "$real" "$virtual"
wait "$real" || fail "the real robot's exit status"
wait "$virtual" || fail "the virtual robot's exit status"
wait_for 20 "the robots' farewell" recorded 2 '"state":"offline","boot":"'
kill "$first"
wait "$first" || true

[ "$(count '"topic":"tandem/v1/r1/real/reply"')" = 22 ] || fail "real replies"
[ "$(count '"topic":"tandem/v1/r1/virtual/reply"')" -ge 22 ] || fail "virtual replies"
[ "$(count '"topic":"tandem/v1/r1/real/telemetry"')" -ge 20 ] || fail "telemetry"
[ "$(count '"state":"online","boot":"')" = 2 ] || fail "online"
[ "$(count '"state":"offline","boot":"')" = 2 ] || fail "offline"
[ "$(count '"probe":5,"sent":1763617674.25,"t_received":')" = 1 ] || fail "echo"
[ "$(count '"status":"data","values":{"ahead_m":')" -ge 2 ] || fail "lidar"
[ "$(count '"status":"ignored"')" -ge 2 ] || fail "ignored"
grep -q 'malformed$' "$work/real.log" || fail "summary"
grep -q ' 1 malformed$' "$work/real.log" || fail "malformed is counted"
# test_mqtt_client tests the will of a killed robot; here its clock is 0.8 s ahead.
awk -F'"t":' '/real\/telemetry/ { split($2, t, ","); split($1, s, "\""); print t[1]; exit }' \
    "$work/first.jsonl" | awk -v now="$(date +%s)" \
    '{ d = $1 - now; exit !(d > -60 && d < 60) }' || fail "the robot's clock is far off"

# --- played back, ten times as fast, under another prefix ------------------------------------
record "$work/second.jsonl" 'again/v1/#'
second=$recorder
wait_for 20 "the recorder" hears "$work/second.jsonl" again/v1/heartbeat/ready
"$TANDEM" play $broker --speed 10 --qos 1 --prefix-from tandem/v1 --prefix-to again/v1 \
    "$work/first.jsonl" >"$work/play.log" 2>&1 || fail "play"
wait_for 20 "what was played" came_back
kill "$second"
wait "$second" || true
strip "$work/first.jsonl" >"$work/first.txt"
strip "$work/second.jsonl" >"$work/second.txt"
diff "$work/first.txt" "$work/second.txt" >"$work/diff.log" || fail "the recording came back otherwise"
grep -q "$(wc -l <"$work/first.txt") sent, $(wc -l <"$work/first.txt") acknowledged" \
    "$work/play.log" || fail "counts of play"
sent=$(wc -l <"$work/first.txt")
"$TANDEM" play $broker --speed 0 --json --prefix-from tandem/v1 --prefix-to third/v1 "$work/first.jsonl" \
    >"$work/play.json" 2>"$work/play.log" || fail "play --json"
grep -q "^{\"lines\":[0-9]*,\"sent\":$sent,.*,\"refused\":0,\"acknowledged\":[0-9]*}$" "$work/play.json" ||
    fail "counts of play --json: $(cat "$work/play.json")"

# --- link mode: a robot receives the commands of its own side only ---------------------------
"$TANDEM" robot --side real --mode link $broker --for 6 >"$work/link.log" 2>&1 &
link=$!
pids="$pids $link"
wait_for 20 "the robot in link mode" is_online r1/real
mosquitto_pub -p "$broker_port" -t tandem/v1/r1/command -m '{"id":"no","op":"lidar"}'
mosquitto_pub -p "$broker_port" -t tandem/v1/r1/virtual/command -m '{"id":"no","op":"lidar"}'
mosquitto_pub -p "$broker_port" -t tandem/v1/r1/real/command -m '{"id":"yes","op":"lidar"}'
wait "$link" || fail "link"
grep -q ' 1 commands, 1 replies' "$work/link.log" || fail "link mode"

# --- moves as JSON: without a robot, so that none is answered --------------------------------
"$TANDEM" drive $broker --count 2 --interval 0 --timeout 0.01 --json >"$work/drive.json" 2>&1 || fail "drive --json"
move='^{"id":"c[0-9a-f]*-[12]","rotation_rad":[-0-9.]*,"displacement_m":[0-9.]*,"real_lap_s":null,"virtual_lap_s":null}$'
[ "$(grep -c "$move" "$work/drive.json")" = 2 ] &&
    tail -n 1 "$work/drive.json" | grep -qx '{"pair":"r1","commands":2,"answered":0,"timed_out":2}' ||
    fail "drive --json: $(cat "$work/drive.json")"

# --- wrong usage, and no broker --------------------------------------------------------------
expect() { # STATUS ARGUMENTS...
    want=$1
    shift
    got=0
    "$TANDEM" "$@" >"$work/usage.log" 2>&1 || got=$?
    [ "$got" = "$want" ] || fail "tandem $*: exit status $got, not $want"
}
for command in robot drive play; do
    expect 0 "$command" --help
    grep -q '^SYNOPSIS$' "$work/usage.log" || fail "help of $command"
    expect 2 "$command" --no-such-option
done
expect 2 robot --side left
expect 2 robot --pair a/b
expect 2 robot operand
expect 2 drive --turn-max 0.1 --turn-min 1
expect 2 play
expect 2 play --prefix-from a x.jsonl
expect 1 play $broker /nonexistent.jsonl
expect 1 play --port 1 --speed 10 "$work/usage.log"
grep -q 'note: at another speed .* stamps no longer agree' "$work/usage.log" || fail "play --speed: no note"
expect 1 drive --port 1
grep -q 'drive r1: 0 commands' "$work/usage.log" || fail "drive without a broker: $(cat "$work/usage.log")"
expect 1 robot --port 1 --for 0.3
grep -q 'connecting to 127.0.0.1:1:' "$work/usage.log" || fail "no broker: no reason given"
echo "robot, drive and play: fine"
