#!/bin/sh
# Access list and passwords of a lab's users for mosquitto (config/mosquitto_lab.conf):
#
#   broker_access.sh DIR -c LAB.yaml [--reader NAME]...       DIR: /etc/mosquitto
#
# It writes into DIR: tandem.acl, what each user may write and read (tandem broker-acl); tandem.secrets, a line
# NAME:PASSWORD for each user; tandem.passwd, the same hashed, for the broker. Run it again after a change of the
# lab: users keep their passwords, and users that left the lab are removed. Then reload the broker.
set -eu
tandem=${TANDEM:-tandem}
dir=$1
shift
umask 077
"$tandem" broker-acl "$@" >"$dir/tandem.acl.new"
touch "$dir/tandem.secrets"
"$tandem" broker-acl "$@" --users | while IFS= read -r user; do
    line=$(user=$user awk 'index($0, ENVIRON["user"] ":") == 1 { print; exit }' "$dir/tandem.secrets")
    printf '%s\n' "${line:-$user:$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}"
done >"$dir/tandem.secrets.new"
cp "$dir/tandem.secrets.new" "$dir/tandem.passwd.new"
mosquitto_passwd -U "$dir/tandem.passwd.new"
if [ "$(id -u)" = 0 ] && id mosquitto >/dev/null 2>&1; then
    chown mosquitto: "$dir/tandem.acl.new" "$dir/tandem.passwd.new"
fi
for file in acl secrets passwd; do
    mv "$dir/tandem.$file.new" "$dir/tandem.$file"
done
