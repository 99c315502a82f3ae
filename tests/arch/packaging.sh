#!/bin/sh
# What the Debian package holds fits the program: lab file, manual page, completion, versions, unit.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$SOURCE"
fail() { echo "FAILED: $*" >&2; exit 1; }
"$TANDEM" serve -c packaging/lab.yaml --check >/dev/null || fail "packaging/lab.yaml"

commands=$("$TANDEM" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 13 ] || fail "no list of commands in the help"
sh packaging/manual.sh "$TANDEM" "$dir"
for command in $commands; do
    grep -q "^\.BR tandem-$command " "$dir/man1/tandem.1" || fail "tandem $command is not in the manual page"
    grep -q '^\.SH SYNOPSIS' "$dir/man1/tandem-$command.1" || fail "tandem-$command(1) has no synopsis"
done
grep -q 'pairs/r1/entries' "$dir/man1/tandem.1" || fail "the manual page ends too early"
keys=$("$TANDEM" config --docs | sed -n 's/^| `\([a-z_.0-9]*\)` .*/\1/p')
[ "$(echo "$keys" | wc -l)" -ge 100 ] || fail "no list of keys in the reference of the lab file"
for key in $keys; do
    grep -qxF ".B $key" "$dir/man5/tandem-lab.5" || fail "$key is not in tandem-lab(5)"
done
if command -v mandoc >/dev/null; then
    # Help pages may have long lines.
    faults=$(mandoc -Tlint "$dir"/man?/*.? | grep -v 'longer than 80' || true)
    [ -z "$faults" ] || fail "$faults"
fi

if command -v bash >/dev/null; then
    completed=$(PATH="$(dirname "$TANDEM"):$PATH" bash -c '. packaging/tandem.bash-completion
        complete_words() { COMP_WORDS=(tandem "$@"); COMP_CWORD=$#; _tandem; echo "${COMPREPLY[*]}"; }
        complete_words se; complete_words serve --ch; complete_words robot --pac')
    [ "$completed" = "$(printf 'serve selftest\n--check\n--pace')" ] || fail "completion says: $completed"
fi

version=$("$TANDEM" version | sed -n '1s/^tandem //p')
head -n 1 packaging/debian/changelog | grep -qF "tandem ($version) " || fail "packaging/debian/changelog is not of $version"
for script in packaging/debian/postinst packaging/debian/prerm packaging/debian/postrm; do
    sh -n "$script" || fail "$script"
    [ -x "$script" ] || fail "$script cannot be executed"
done
if command -v systemd-analyze >/dev/null; then
    # The program is not where the unit looks for it; a manual page is none of the unit's faults.
    sed "s|/usr/bin/tandem|$TANDEM|" packaging/tandem.service >"$dir/tandem.service"
    faults=$(systemd-analyze --man=no verify "$dir/tandem.service" 2>&1 | grep tandem || true)
    [ -z "$faults" ] || fail "$faults"
    # "→ Overall exposure level for tandem.service: 1.4 OK"
    level=$(systemd-analyze security --offline=true "$dir/tandem.service" 2>/dev/null | sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
    awk -v level="$level" 'BEGIN { exit !(level != "" && level <= 1.4) }' || fail "exposure level '$level', 1.4 is the most"
    grep -q "an exposure level of $level " docs/operations.md || fail "docs/operations.md has another exposure level than $level"
else
    echo "no systemd-analyze: the unit's exposure level was NOT looked at" >&2
fi
echo "the package fits the program${level:+, exposure level $level}"
