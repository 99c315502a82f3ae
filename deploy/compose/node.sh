#!/bin/sh
# Runs one of three PostgreSQL servers. Without data it makes them first: the primary new ones, a standby a copy.
#
#   NODES     addresses of all, such as "db1:5432 db2:5432 db3:5432"
#   NODE      number of this one, from 1; its name for replication is s1, s2, s3
#   PRIMARY   number of the one that is written
#   PGDATA    folder of the data, which may be absent
#   SECRETS   folder of ca.pem, postgresql.pem, postgresql.key and the files of passwords
#   SCRATCH   folder for the socket and the password of replication
#
# Every server names all standbys, so a promoted one does not acknowledge alone.
set -eu
umask 077
address() { echo "$NODES" | cut -d ' ' -f "$1"; }
refuse() { echo "node.sh: server $NODE: $1" >&2; exit 1; }
quoted() { printf "'%s'" "$(sed "s/'/''/g" "$SECRETS/$1")"; }

own=$(address "$NODE")
written=$(address "$PRIMARY")
printf '*:*:*:replicator:%s\n' "$(sed 's/[\\:]/\\&/g' "$SECRETS/replication_password")" >"$SCRATCH/passwords"
upstream="host=${written%:*} port=${written#*:} user=replicator passfile=$SCRATCH/passwords application_name=s$NODE
    sslmode=verify-full sslrootcert=$SECRETS/ca.pem"

make_primary() {
    for other in $NODES; do
        if [ "$other" != "$own" ] && pg_isready -q -h "${other%:*}" -p "${other#*:}"; then
            refuse "it has no data, and $other runs: set PRIMARY to the number of the server that is written"
        fi
    done
    initdb -D "$PGDATA.new" -U postgres -E UTF8 --locale=C --data-checksums -A scram-sha-256 \
        --pwfile="$SECRETS/postgres_password" --no-instructions
    cat >"$PGDATA.new/pg_hba.conf" <<'RULES'
local   all         all                scram-sha-256
hostssl all         all        all     scram-sha-256
hostssl replication replicator all     scram-sha-256
RULES
    { # a line is a statement; tandem db init adds the rest
        echo "CREATE ROLE replicator REPLICATION LOGIN PASSWORD $(quoted replication_password)"
        echo "CREATE ROLE tandem_reader LOGIN PASSWORD $(quoted reader_password)"
    } | postgres --single -D "$PGDATA.new" postgres >/dev/null
}

copy_primary() {
    until pg_isready -q -h "${written%:*}" -p "${written#*:}"; do
        echo "node.sh: server $NODE waits for $written" >&2
        sleep 1
    done
    pg_basebackup -D "$PGDATA.new" -c fast -d "$upstream"
    touch "$PGDATA.new/standby.signal"
}

if [ ! -e "$PGDATA" ]; then
    rm -rf "$PGDATA.new"
    if [ "$NODE" = "$PRIMARY" ]; then make_primary; else copy_primary; fi
    mv "$PGDATA.new" "$PGDATA"
elif [ "$NODE" != "$PRIMARY" ] && [ ! -e "$PGDATA/standby.signal" ]; then
    refuse "it was the primary, and PRIMARY is $PRIMARY: remove its data, and it becomes a standby"
fi
[ "$NODE" != "$PRIMARY" ] || upstream= # a standby that is to be promoted follows nobody
exec postgres -D "$PGDATA" -p "${own#*:}" -c listen_addresses="${LISTEN:-*}" -c unix_socket_directories="$SCRATCH" \
    -c ssl=on -c ssl_cert_file="$SECRETS/postgresql.pem" -c ssl_key_file="$SECRETS/postgresql.key" \
    -c primary_conninfo="$upstream" -c synchronous_standby_names='ANY 1 (s1, s2, s3)' -c wal_keep_size=1GB "$@"
