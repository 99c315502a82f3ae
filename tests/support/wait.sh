# tests/support/wait.sh - for shell tests that wait for an event:
#
#   . tests/support/wait.sh
#   wait_for SECONDS WHAT COMMAND...    calls the test's fail(), which shows the logs, with the event that is missing
#   pass_time SECONDS                   if the time itself matters: the test needs virtual time
#
# TANDEM_PATIENCE multiplies the limits: a busy machine takes longer.

wait_for() {
    wait_seconds=$1
    wait_what=$2
    wait_tries=$((wait_seconds * 10 * ${TANDEM_PATIENCE:-1}))
    shift 2
    until "$@"; do
        wait_tries=$((wait_tries - 1))
        [ $wait_tries -gt 0 ] || fail "not within $wait_seconds s: $wait_what"
        sleep 0.1
    done
}

pass_time() {
    sleep "$1"
}
