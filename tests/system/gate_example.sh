#!/bin/sh
# needs: virtual time
# docs/examples/gate.sh over a real broker: it records a reference, an equal simulator passes, a slower one fails.
set -eu
. "$SOURCE/tests/support/broker.sh"
. "$SOURCE/tests/support/wait.sh"
broker_start
pids=
finish() {
    # shellcheck disable=SC2086 # a list of numbers
    kill $pids 2>/dev/null || true
    broker_stop
}
trap finish EXIT
fail() { echo "gate_example: $*" >&2; exit 1; }
cd "$broker_dir"
port=$(free_port)
cat >lab.yaml <<END
broker: {host: 127.0.0.1, port: $broker_port}
http: {port: $port}
journal: {dir: $broker_dir/journal}
store: {file: $broker_dir/store.db}
checkpoint: {file: $broker_dir/checkpoint}
pairs: {r1: {timeout_s: 3}}
END
is_online() { mosquitto_sub -p "$broker_port" -C 1 -W 5 -t "tandem/v1/r1/$1/connection" | grep -q '"online"'; }
robot() { # SIDE T0
    "$TANDEM" robot --side "$1" --port "$broker_port" --linear-speed 20 --angular-speed 40 --ta 0 --tr 0 --t0 "$2" \
        --noise 0.001 >"$1.log" 2>&1 &
    pids="$pids $!"
    robot_pid=$!
    wait_for 20 "the $1 robot" is_online "$1"
}
gate() { # WANT
    code=0
    sh "$SOURCE/docs/examples/gate.sh" lab.yaml r1 reference.jsonl --margin abs_lag_s=0.1 >gate.log 2>&1 || code=$?
    [ "$code" = "$1" ] || fail "exit $code instead of $1: $(cat gate.log)"
}
"$TANDEM" serve -c lab.yaml >serve.log 2>&1 &
pids="$pids $!"
export TANDEM ROUNDS=3 MOVES=16 DRIVE="--interval 0"
robot real 0.02
robot virtual 0.02
simulator=$robot_pid
gate 0
[ -s reference.jsonl ] || fail "no reference: $(cat gate.log)"
gate 0
grep -q '^pass' gate.log && grep -q 'failures="0"' gate.xml || fail "equal: $(cat gate.log)"
kill "$simulator"
wait "$simulator" || fail "the simulator's exit status"
robot virtual 0.5
gate 3
grep -q '^fail' gate.log && grep -q 'type="worse"' gate.xml || fail "slower: $(cat gate.log)"
