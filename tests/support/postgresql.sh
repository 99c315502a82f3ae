#!/bin/sh
# A PostgreSQL of its own for a test: one node, or three with streaming replication.
#
#   postgresql.sh NODES [tls] [SETTING=VALUE...]
#
# Prints "ready FOLDER PORT..." and runs until its standard input ends. The caller holds the other end of that pipe, so
# the servers stop and the folder goes even if the test is killed. Node i has its data in FOLDER/si (postmaster.pid).
# s1 is the primary, and a commit waits for one of the others (ANY 1). The superuser is postgres with the password
# "secret" (FOLDER/password), loopback only. tls: a certificate for "localhost", with itself as authority
# (FOLDER/server.crt). Nothing is forced to the disk unless fsync=on is given. Exit status 77: no PostgreSQL here.
set -eu
nodes=$1
shift
# shellcheck disable=SC2012 # names of versions
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
if [ ! -x "$bin/initdb" ]; then
    echo "skipped: PostgreSQL is not installed (apt install postgresql)" >&2
    exit 77
fi
as=
if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses root
    as='setpriv --reuid=postgres --regid=postgres --clear-groups'
fi
cd /
place=/tmp
[ ! -w /dev/shm ] || place=/dev/shm
folder=$($as mktemp -d "$place/tandem_postgresql.XXXXXX")
log=$folder/log
$as touch "$log"
export PGPASSWORD=secret

stop_nodes() {
    trap - EXIT
    for data in "$folder"/s[0-9]; do
        pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) || continue
        # shellcheck disable=SC2046 # a list of words; a test may have frozen the server
        kill -CONT "$pid" $(cat "/proc/$pid/task/$pid/children" 2>/dev/null) 2>/dev/null || true
        $as "$bin/pg_ctl" -D "$data" -m immediate -s stop >/dev/null 2>&1 || true
    done
    rm -rf "$folder"
}
trap stop_nodes EXIT
trap 'exit 1' INT TERM HUP

fail() {
    echo "postgresql.sh: $1" >&2
    tail -n 20 "$log" >&2 || true
    exit 1
}

# Starts a node at a free port, which it sets as `port`.
start_node() { # NAME
    for _ in 1 2 3 4 5 6 7 8; do
        port=$(shuf -n 1 -i 21000-31999)
        if $as "$bin/pg_ctl" -D "$folder/$1" -l "$log" -s -w -t 60 -o "-p $port" start >>"$log" 2>&1; then
            return
        fi
        grep -q 'Address already in use' "$log" || fail "$1 does not start"
    done
    fail "no free port"
}

echo secret | $as tee "$folder/password" >/dev/null
$as "$bin/initdb" -D "$folder/s1" -U postgres -E UTF8 --locale=C --no-sync --no-instructions -A scram-sha-256 \
    --pwfile="$folder/password" >"$log" 2>&1 || fail "initdb failed"
if [ "${1-}" = tls ]; then
    shift
    $as openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout "$folder/server.key" -out "$folder/server.crt" 2>>"$log" ||
        fail "openssl failed"
    set -- "$@" ssl=on "ssl_cert_file='$folder/server.crt'" "ssl_key_file='$folder/server.key'"
    chmod 755 "$folder"
fi
{
    echo "listen_addresses = '127.0.0.1'"
    echo "unix_socket_directories = ''"
    echo "fsync = off"
    echo "shared_buffers = 16MB"
    echo "dynamic_shared_memory_type = mmap" # in the folder: nothing stays behind a killed server
    echo "max_connections = 40"
    echo "wal_keep_size = 64MB"
    for setting in "$@"; do
        echo "$setting"
    done
} | $as tee -a "$folder/s1/postgresql.conf" >/dev/null
start_node s1
ports=$port
for i in $(seq 2 "$nodes"); do
    [ "$i" != 2 ] || echo "host replication all 127.0.0.1/32 scram-sha-256" | $as tee -a "$folder/s1/pg_hba.conf" >/dev/null
    $as env PGPASSWORD=secret "$bin/pg_basebackup" -D "$folder/s$i" -R -c fast --no-sync \
        -d "host=127.0.0.1 port=${ports%% *} user=postgres password=secret application_name=s$i" >>"$log" 2>&1 ||
        fail "pg_basebackup failed"
    start_node "s$i"
    ports="$ports $port"
done
if [ "$nodes" -gt 1 ]; then
    for i in $(seq "$nodes"); do
        names=$(seq -s , -f 's%g' "$nodes")
        echo "synchronous_standby_names = 'ANY 1 ($names)'" | $as tee -a "$folder/s$i/postgresql.conf" >/dev/null
        $as "$bin/pg_ctl" -D "$folder/s$i" -s reload
    done
fi
echo "ready $folder $ports"
cat >/dev/null
