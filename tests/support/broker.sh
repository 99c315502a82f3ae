# tests/support/broker.sh - a private mosquitto on a free loopback port, for shell tests:
#
#   . tests/support/broker.sh
#   broker_start            # sets broker_port, broker_dir, broker_pid; exits 77 without mosquitto
#   broker_stop             # also done by the trap that broker_start sets
#
# It uses the settings file that Tandem ships, plus the lines of $broker_settings. A test with a trap of its own calls
# broker_stop there.

broker_program=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v mosquitto || true)

# A loopback port that nobody listens on.
free_port() {
    while :; do
        # Not by awk: mawk takes every seed above 2^31 for the same one.
        free_port_n=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 12000))
        # Local address in hexadecimal, state 0A is LISTEN.
        if ! grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf '%04X' "$free_port_n") .* 0A " \
            /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
            echo "$free_port_n"
            return
        fi
    done
}

# That somebody listens on its port is not enough: it may be another one.
broker_up() {
    grep -q 'mosquitto version .* running$' "$broker_dir/mosquitto.log" 2>/dev/null
}

broker_launch() {
    "$broker_program" -c "$broker_dir/mosquitto.conf" >"$broker_dir/stdout" 2>&1 &
    broker_pid=$!
    broker_tries=0
    until broker_up; do
        broker_tries=$((broker_tries + 1))
        if [ "$broker_tries" -gt $((500 * ${TANDEM_PATIENCE:-1})) ] || ! kill -0 "$broker_pid" 2>/dev/null; then
            echo "mosquitto did not start:" >&2
            cat "$broker_dir/stdout" "$broker_dir/mosquitto.log" >&2
            exit 1
        fi
        sleep 0.02
    done
}

broker_start() {
    if [ -z "$broker_program" ]; then
        echo "mosquitto is not installed" >&2
        exit 77
    fi
    broker_dir=$(mktemp -dt tandem-broker.XXXXXX)
    broker_port=$(free_port)
    {
        # The test itself sets the address and the permitted clients.
        grep -Ev '^(listener|allow_anonymous|persistence_location) ' \
            "${SOURCE:-.}/config/mosquitto.conf"
        echo "listener $broker_port 127.0.0.1"
        echo "persistence_location $broker_dir/"
        echo "log_dest file $broker_dir/mosquitto.log"
        # Otherwise mosquitto changes to a user who cannot write here.
        [ "$(id -u)" != 0 ] || echo "user root"
        case ${broker_settings:-} in
            *allow_anonymous*) ;;
            *) echo "allow_anonymous true" ;;
        esac
        printf '%s\n' "${broker_settings:-}"
    } >"$broker_dir/mosquitto.conf"
    trap broker_stop EXIT
    trap 'exit 1' INT TERM
    broker_launch
}

broker_stop() {
    if [ -n "${broker_pid:-}" ]; then
        kill "$broker_pid" 2>/dev/null || true
        wait "$broker_pid" 2>/dev/null || true
        broker_pid=
    fi
    if [ -n "${broker_dir:-}" ]; then
        rm -rf "$broker_dir"
        broker_dir=
    fi
}
