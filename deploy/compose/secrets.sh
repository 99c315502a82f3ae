#!/bin/sh
# Makes the secrets of compose.yaml: random passwords, and certificates of an authority of its own.
#
#   secrets.sh DIR      DIR: deploy/secrets
#
# Run it as root, so that each file belongs to the user of the container that reads it. A file that is there stays:
# put your own in its place, or remove it to get a new one. Certificates end after two years.
set -eu
[ $# = 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
umask 077
mkdir -p "$1"
cd "$1"

# Owner and group are the users of the images: postgres 999, mosquitto 1883, tandem 842, grafana 472.
protect() { # FILE OWNER:GROUP
    chmod 0440 "$1"
    [ "$(id -u)" != 0 ] || chown "$2" "$1"
}
while read -r file owner; do
    [ -s "$file" ] || openssl rand -hex 24 >"$file"
    protect "$file" "$owner"
done <<'FILES'
postgres_password 999:842
replication_password 999:999
reader_password 999:472
tandem_password 842:842
broker_hall1 842:1883
broker_hall2 842:1883
broker_robots 1883:1883
http_token 842:842
grafana_password 472:472
FILES

[ -s ca.pem ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 730 \
    -subj '/CN=Tandem' -keyout ca.key -out ca.pem 2>/dev/null
chmod 0444 ca.pem
for server in postgresql:999 broker:1883; do
    name=${server%:*}
    names=DNS:broker,DNS:localhost
    [ "$name" = broker ] || names=DNS:db1,DNS:db2,DNS:db3,DNS:localhost
    if [ ! -s "$name.pem" ]; then
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" -keyout "$name.key" \
            -out "$name.csr" 2>/dev/null
        echo "subjectAltName=$names" >"$name.ext"
        openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 730 -extfile "$name.ext" \
            -out "$name.pem" 2>/dev/null
        rm "$name.csr" "$name.ext"
    fi
    chmod 0444 "$name.pem"
    protect "$name.key" "${server#*:}:${server#*:}"
    chmod 0400 "$name.key" # PostgreSQL refuses a key that its group can read
done
