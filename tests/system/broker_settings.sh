# mosquitto takes the settings file that is shipped (here on a socket in a folder of its own).
set -eu
command -v mosquitto >/dev/null || { echo "no mosquitto"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sed -e "s|^listener .*|listener 0 $dir/socket|" -e "s|^persistence_location .*|persistence_location $dir/|" \
    "$SOURCE/config/mosquitto.conf" >"$dir/mosquitto.conf"
echo "user $(id -un)" >>"$dir/mosquitto.conf"
grep -q "^listener 0 $dir/socket" "$dir/mosquitto.conf"
status=0
timeout 1 mosquitto -c "$dir/mosquitto.conf" >"$dir/log" 2>&1 || status=$?
cat "$dir/log"
[ "$status" = 124 ] || { echo "it stopped by itself"; exit 1; }
grep -q 'running' "$dir/log"
if grep -qi 'error\|unknown' "$dir/log"; then
    exit 1
fi
[ -s "$dir/mosquitto.db" ] || { echo "it did not save its sessions"; exit 1; }
# No listener that the network reaches.
if grep '^listener' "$SOURCE/config/mosquitto.conf" | grep -qvE '^listener [0-9]+ (127\.0\.0\.1|::1)$'; then
    echo "a listener beyond loopback"
    exit 1
fi
