#!/bin/sh
# The Debian package in a bare Debian 12 (minbase): build it, install it, run its service with the unit's settings,
# upgrade, remove and purge it; nothing may be left.
#
#   tests/package/run.sh            needs root, the network (apt) and some 700 MB in /var/tmp; takes some minutes
#
# No systemd runs in there: unit.py does what systemd would with the unit's lines (user, directory, capabilities, notify
# socket). The base system is stored in ${FRESH_BASE:-/var/tmp/fresh-base}. Exit status 77: skipped.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
base=${FRESH_BASE:-/var/tmp/fresh-base}
skip() { echo "SKIPPED, the package was NOT tested: $*" >&2; exit 77; }
say() { echo "== $*"; }
[ "$(id -u)" = 0 ] || skip "not root"
[ ! -e "$base/.done" ] || [ -x "$base/usr/bin/apt-get" ] || skip "$base is no Debian"

root=$source
. "$source/cmake/deps.sh"
# shellcheck disable=SC2046 # lists of packages
deps_install $(deps_names "$deps_to_build" "$deps_to_package") || skip "packages are not to be had"
deps_build release deb
deb=$(ls "$source"/build/release/tandem_*.deb)

if [ ! -e "$base/.done" ]; then
    say "debootstrap into $base"
    uri=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
    rm -rf "$base"
    debootstrap --variant=minbase bookworm "$base" ${uri:+"$uri"} >/var/tmp/tandem-debootstrap.log 2>&1 ||
        skip "debootstrap failed, see /var/tmp/tandem-debootstrap.log"
    : >"$base/.done"
fi

root=$(mktemp -d /var/tmp/tandem-package.XXXXXX)
cleanup() {
    umount -l "$root/proc" 2>/dev/null || :
    umount -l "$root/dev" 2>/dev/null || :
    rm -rf --one-file-system "$root"
    rm -f "$root.before" "$root.after"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
cp -a "$base/." "$root/"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # nothing starts by itself in a chroot
chmod 755 "$root/usr/sbin/policy-rc.d"
cp "$deb" "$root/root/tandem.deb"

inside() {
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
quietly() {
    inside "$@" >"$root/root/log" 2>&1 || { tail -n 30 "$root/root/log" >&2; return 1; }
}
fail() { echo "FAILED: $*" >&2; exit 1; }
need() { # TEXT COMMAND...: it must succeed inside
    need_text=$1
    shift
    inside "$@" >/dev/null 2>&1 || fail "$need_text"
}
need_not() {
    need_text=$1
    shift
    if inside "$@" >/dev/null 2>&1; then fail "$need_text"; fi
}
# Every file that packages and their scripts could leave behind.
picture() {
    inside find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /run -o -path /root -o -path /var/log \
        -o -path /var/cache -o -path /var/lib/dpkg -o -path /var/lib/apt \) -prune -o -printf '%M %u %g %p\n' | sort
    sort "$root/etc/passwd" "$root/etc/group" "$root/etc/shadow" "$root/etc/gshadow" | sed 's/^/account /'
}
run_unit() { # runs with the unit's settings and a network of its own: the ports are free
    unshare --net --fork --kill-child python3 "$source/tests/package/unit.py" "$root" "$@"
}

say "dependencies"
quietly apt-get update || skip "no network"
quietly apt-get satisfy -y --no-install-recommends "$(dpkg-deb -f "$deb" Depends), $(dpkg-deb -f "$deb" Recommends)"
picture >"$root.before"

say "install"
quietly apt-get install -y --no-install-recommends /root/tandem.deb
need "the program does not run" tandem version
need "not enabled" test -e /etc/systemd/system/multi-user.target.wants/tandem.service
for page in man1/tandem.1 man1/tandem-serve.1 man5/tandem-lab.5; do
    need "no manual page $page" test -s "/usr/share/man/$page.gz"
done
for file in lab.schema.json grafana-dashboard.json alerts.yaml node-red-flow.json protocol/entry.schema.json; do
    need "no $file" test -s "/usr/share/tandem/$file"
done
for script in who_was_late.py calibration.sh broker_access.sh; do
    need "no example $script" test -x "/usr/share/doc/tandem/examples/$script"
done
[ "$(inside stat -c '%U:%G %a' /var/lib/tandem)" = 'tandem:tandem 750' ] || fail "/var/lib/tandem is not the daemon's"
[ "$(inside dpkg-query -W -f '${Conffiles}' tandem | awk '{ print $1 }')" = /etc/tandem/lab.yaml ] || fail "conffiles"
[ -z "$(inside find / -xdev -user tandem ! -path '/var/lib/tandem*' ! -path '/proc/*')" ] || fail "the daemon owns more than its directory"
need "its files were changed" dpkg --verify tandem

say "run"
run_unit first

say "upgrade"
echo '# of the administrator' >>"$root/etc/tandem/lab.yaml"
inside sh -c 'echo secret-of-the-package-test >/etc/tandem/token; chgrp tandem /etc/tandem/token; chmod 640 /etc/tandem/token'
echo 'log: {level: debug}' >>"$root/etc/tandem/lab.yaml"
inside sh -c 'dpkg-deb -R /root/tandem.deb /root/next && sed -i "s/^Version: .*/&+next/" /root/next/DEBIAN/control &&
    dpkg-deb -b /root/next /root/next.deb' >/dev/null
quietly apt-get install -y --no-install-recommends /root/next.deb
inside dpkg-query -W -f '${Version}' tandem | grep -q next || fail "not upgraded"
need "the lab file was changed by the upgrade" grep -q 'of the administrator' /etc/tandem/lab.yaml
run_unit again

say "remove"
quietly apt-get remove -y tandem
need_not "the program is still there" test -e /usr/bin/tandem
need "the lab file went with remove" test -e /etc/tandem/lab.yaml
need "the data went with remove" test -e /var/lib/tandem/tandem.db

say "purge"
quietly apt-get purge -y tandem
picture >"$root.after"
diff "$root.before" "$root.after" || fail "purge left this behind (>) or took too much (<)"
say "tandem installs, runs, upgrades and goes without a trace: $(basename "$deb"), $(($(stat -c %s "$deb") / 1000)) kB"
