#!/bin/sh
# A system test does not sleep: it waits for an event, or lets virtual time pass. TANDEM_PATIENCE multiplies its limits.
# And this check itself can fail.
set -eu

# Prints the sleeps in the folder $1. virtual_clock.py tests sleeps; test_nothing_lost.c says why it passes real time.
find_sleeps() {
    cd "$1"
    for file in *.py *.sh *.c; do
        [ -f "$file" ] || continue
        case $file in virtual_clock.py | test_nothing_lost.c) continue ;; esac
        if grep -qE '(^|[^a-z_])(u|nano)?sleep(\(| +[0-9$"])|sleep_until' "$file"; then
            echo "$file: sleeps"
        fi
        head=$file
        [ ! -f "${file%.py}.sh" ] || head=${file%.py}.sh
        if grep -q 'pass_time' "$file" && ! grep -qE '^[ /*#]*needs: .*virtual time' "$head"; then
            echo "$file: passes time that is real"
        fi
    done
}

# Prints the limits of real time in the folder $1 that a busy machine reaches.
find_limits() {
    cd "$1"
    for file in *.py *.sh; do
        [ -f "$file" ] || continue
        head=$file
        [ ! -f "${file%.py}.sh" ] || head=${file%.py}.sh
        ! grep -qE '^# needs: .*virtual time' "$head" || continue
        sed -n "s/.*\(timeout=[0-9]\|\.join([0-9]\|\.wait([0-9][0-9]\|timeout [1-9]\).*/$file: a fixed limit: \1/p" "$file"
    done
}

out=$(find_sleeps "$SOURCE/tests/system"; for folder in system faults support; do find_limits "$SOURCE/tests/$folder"; done)
[ -z "$out" ] || { echo "$out"; exit 1; }
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
echo 'time.sleep(1)' >"$bad/a.py"
echo 'sleep 1' >"$bad/b.sh"
printf '/* needs: threads, real time */\npass_time_ms(1);\n' >"$bad/c.c"
[ "$(find_sleeps "$bad" | wc -l)" = 3 ] || { echo "the check overlooks: $(find_sleeps "$bad")"; exit 1; }
printf 'urlopen(url, timeout=10)\nthread.join(5)\ndaemon.wait(20)\ndaemon.wait(limit_s(20))\n' >"$bad/a.py"
printf '# needs: virtual time\ntimeout 5 true\n' >"$bad/b.sh"
echo 'timeout 1 mosquitto' >"$bad/d.sh"
[ "$(find_limits "$bad" | wc -l)" = 4 ] || { echo "the check overlooks: $(find_limits "$bad")"; exit 1; }
