#!/bin/sh
# Runs the broker with the passwords of SECRETS. SCRATCH: the folder for their hashes, in memory.
set -eu
umask 077
for user in hall1 hall2 robots; do
    printf '%s:%s\n' "$user" "$(cat "$SECRETS/broker_$user")"
done >"$SCRATCH/passwords"
mosquitto_passwd -U "$SCRATCH/passwords"
exec mosquitto -c "$1"
