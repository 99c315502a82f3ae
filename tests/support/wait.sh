# tests/support/wait.sh - for shell tests that wait for something to be so:
#
#   . tests/support/wait.sh
#   wait_for SECONDS WHAT COMMAND...    calls the test's fail(), which shows the logs, with what it waited for
#   pass_time SECONDS                   where the time itself is the matter: the test needs virtual time
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
