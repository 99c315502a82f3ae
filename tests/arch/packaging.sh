#!/bin/sh
# The content of the Debian package fits the program: lab file, manual page, completion, versions, unit.
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

"$TANDEM" completion bash >"$dir/tandem.bash"
"$TANDEM" completion zsh >"$dir/_tandem"
"$TANDEM" completion fish >"$dir/tandem.fish"
status=0
"$TANDEM" completion csh >/dev/null 2>&1 || status=$?
[ $status -eq 2 ] || fail "completion csh: exit $status"
if command -v bash >/dev/null; then
    # complete WORD...: the completions of the last word, sorted, one a line
    complete() {
        bash -c '. "$0"
            COMP_WORDS=(tandem "$@"); COMP_CWORD=$#; _tandem; printf "%s\n" "${COMPREPLY[@]}"' "$dir/tandem.bash" "$@" | sort
    }
    offers() { # WANTED WORD...
        wanted=$(printf '%s\n' $1 | sort)
        shift
        offered=$(complete "$@")
        [ "$offered" = "$wanted" ] || fail "completion of '$*' offers $offered instead of $wanted"
    }
    offers "help $(echo $commands)" ''
    offers "$(echo $commands)" help ''
    offers 'serve selftest' se
    offers --check serve --ch
    # Every option of every page, and every word that one of them accepts.
    for command in $commands; do
        "$TANDEM" "$command" --help >"$dir/page"
        sed -nE 's/^  (-., |    )(--[a-z0-9-]+)( [^ ]*)?( .*)?$/\2\3/p' "$dir/page" >"$dir/options"
        grep -q -- --help "$dir/options" || fail "no options of $command"
        offers "$(echo $(sed 's/ .*//' "$dir/options"))" "$command" --
        while read -r option words; do
            case $words in *[a-z]\|*) offers "$(echo "$words" | tr '|' ' ')" "$command" "$option" '' ;; esac
        done <"$dir/options"
    done
    offers "$("$TANDEM" identify --help | sed -n 's/^model //p' | tr '\n' ' ')" identify --model ''
    complete selftest --model us | grep -qx usv3 || fail "no usv3 among the models"
    complete robot --kind '' | grep -qx diffdrive || fail "no diffdrive among the kinds"
    complete machines l0 | grep -qx l0main || fail "no l0main among the machines"
    offers simulate team si
    offers --nominal team simulate --no
    offers '' team simulate nothing
    [ -z "$(complete serve --config '')" ] || fail "words instead of files for serve --config"
fi
# In a shell as somebody uses it: what stands on the line after a tab.
python3 tests/arch/completion.py "$dir" || fail "a shell does not complete"

version=$("$TANDEM" version | sed -n '1s/^tandem //p')
"$TANDEM" version --json | grep -q "^{\"tandem\":\"$version\",.*\"libyaml\":\"[0-9.]*\"}$" || fail "version --json"
head -n 1 packaging/debian/changelog | grep -qF "tandem ($version) " || fail "packaging/debian/changelog is not of $version"
for script in packaging/debian/postinst packaging/debian/prerm packaging/debian/postrm; do
    sh -n "$script" || fail "$script"
    [ -x "$script" ] || fail "$script cannot be executed"
done
# The unit's filter forbids calls that change priorities, and the program does not report their failure.
allowed=$(sed -n 's/^SystemCallFilter=\([a-z].*\)/\1/p' packaging/tandem.service)
for row in setpriority:setpriority pthread_setschedparam:sched_setscheduler nice:nice \
    pthread_setaffinity_np:sched_setaffinity; do
    if grep -rqE --include='*.c' "\b${row%:*}\(" base logger config web service; then
        echo "$allowed" | grep -qw "${row#*:}" || fail "tandem.service must allow ${row#*:}: the daemon calls ${row%:*}()"
    fi
done
if command -v systemd-analyze >/dev/null; then
    # The program is not at the unit's path here, and there is no manual page: both are no faults of the unit.
    sed "s|/usr/bin/tandem|$TANDEM|" packaging/tandem.service >"$dir/tandem.service"
    faults=$(systemd-analyze --man=no verify "$dir/tandem.service" 2>&1 | grep tandem || true)
    [ -z "$faults" ] || fail "$faults"
    # The output is "→ Overall exposure level for tandem.service: 1.4 OK"
    level=$(systemd-analyze security --offline=true "$dir/tandem.service" 2>/dev/null | sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
    awk -v level="$level" 'BEGIN { exit !(level != "" && level <= 1.4) }' || fail "exposure level '$level', 1.4 is the most"
    grep -q "an exposure level of $level " docs/operations.md || fail "docs/operations.md has another exposure level than $level"
else
    echo "no systemd-analyze: the unit's exposure level was NOT looked at" >&2
fi
echo "the package fits the program${level:+, exposure level $level}"
