# mosquitto accepts the settings files that Tandem ships (here on sockets in a folder of the test).
set -eu
command -v mosquitto >/dev/null || { echo "no mosquitto"; exit 77; }
dir=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || kill "$broker" || true; rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$dir/log" >&2; exit 1; }
cd "$SOURCE"
. tests/support/wait.sh

run() { # FILE: mosquitto accepts the file, runs and saves
    grep -q "^listener 0 $dir/socket" "$1" || fail "$1 has no listener"
    (cd "$dir" && exec mosquitto -c "$1") >"$dir/log" 2>&1 &
    broker=$!
    wait_for 10 "it runs" grep -q 'running' "$dir/log"
    kill "$broker" || fail "it stopped by itself"
    wait "$broker" || fail "it ended with status $?"
    broker=
    ! grep -qi 'error\|unknown' "$dir/log" || fail "it does not take a setting"
    [ -s "$dir/mosquitto.db" ] || fail "it did not save its sessions"
    rm "$dir/mosquitto.db"
}

for file in config/mosquitto.conf config/mosquitto_lab.conf; do
    sed -e "s|^listener 1883 .*|listener 0 $dir/socket|" -e "s|/var/lib/mosquitto/|$dir/|" -e "s|/etc/mosquitto/|$dir/|" "$file" \
        >"$dir/$(basename "$file")"
    echo "user $(id -un)" >>"$dir/$(basename "$file")"
    # No listener is reachable from the network.
    ! grep '^listener' "$file" | grep -qvE '^listener [0-9]+ (127\.0\.0\.1|::1)$' || fail "$file: a listener beyond loopback"
done
run "$dir/mosquitto.conf"

# The file for a lab sets the same limits and saving; Debian's own file sets the persistence.
settings() { grep -E '^(max_|set_|autosave|persistent_client)' "$1"; }
[ "$(settings config/mosquitto.conf)" = "$(settings config/mosquitto_lab.conf)" ] || fail "the two files differ"
printf 'pairs: {r1: {}}\n' >"$dir/lab.yaml"
docs/examples/broker_access.sh "$dir" -c "$dir/lab.yaml"
printf 'persistence true\npersistence_location %s/\n' "$dir" >>"$dir/mosquitto_lab.conf"
run "$dir/mosquitto_lab.conf"

# The same holds with the encrypted listener, which needs a certificate before it can be enabled.
command -v openssl >/dev/null || { echo "no openssl: the listener of the network was NOT tried" >&2; exit 0; }
mkdir "$dir/certs"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -keyout "$dir/certs/broker.key" \
    -out "$dir/certs/broker.pem" 2>"$dir/log" || fail "openssl"
sed -i -e 's/^#\(listener 8883\)/\1/' -e 's/^#\(certfile\|keyfile\)/\1/' -e "s|^listener 8883|listener 0 $dir/socket.tls|" \
    "$dir/mosquitto_lab.conf"
grep -q '^keyfile' "$dir/mosquitto_lab.conf" && grep -q 'socket.tls$' "$dir/mosquitto_lab.conf" || fail "no encrypted listener"
run "$dir/mosquitto_lab.conf"
