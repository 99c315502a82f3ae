#!/bin/sh
# Fuzzes every target for a time, from its corpus: tests/fuzz/run.sh [--merge] [--jobs N] SECONDS [WHAT...]
# Findings stay in build/fuzz/findings/<what>; exit status 1 if there is one. New inputs stay in
# build/fuzz/found/<what> from run to run; --merge copies those that reach new code into the corpus.
set -eu
usage() {
    echo "usage: tests/fuzz/run.sh [--merge] [--jobs N] SECONDS [WHAT...]" >&2
    exit 2
}
merge=no jobs=1
while [ $# -gt 0 ]; do
    case $1 in
    --merge) merge=yes ;;
    --jobs) jobs=${2:-}; shift ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
case ${1:-} in '' | *[!0-9]*) usage ;; esac
case $jobs in '' | *[!0-9]*) usage ;; esac
seconds=$1
shift
cd "$(dirname "$0")/../.."
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzzers
[ $# -gt 0 ] || set -- $(ls tests/fuzz/fuzz_*.c | sed 's|.*/fuzz_||; s|\.c$||')
out=build/fuzz

# -max_len: the limit of a corpus file; longer inputs only slow the search down.
fuzz_one() {
    mkdir -p "$out/found/$1" "$out/findings/$1"
    dict=
    [ ! -f "tests/fuzz/$1.dict" ] || dict=-dict=tests/fuzz/$1.dict
    if "$out/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
        -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$out/findings/$1/" $dict \
        "$out/found/$1" "tests/fuzz/corpus/$1" >"$out/$1.log" 2>&1; then
        echo "fuzz $1: $(awk '/number_of_executed_units/ {print $2}' "$out/$1.log") runs, no finding"
    else
        echo "fuzz $1: FINDING, see $out/$1.log and $out/findings/$1"
        touch "$out/failed"
    fi
}

rm -f "$out/failed"
running=0
for what in "$@"; do
    fuzz_one "$what" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        wait
        running=0
    fi
done
wait
if [ "$merge" = yes ]; then
    for what in "$@"; do
        # Without counters only new code counts, not how often it ran: few files.
        "$out/tests/fuzz/fuzz_$what" -set_cover_merge=1 -use_counters=0 -max_len=4096 "tests/fuzz/corpus/$what" "$out/found/$what" \
            >>"$out/$what.log" 2>&1
        echo "corpus $what: $(ls "tests/fuzz/corpus/$what" | wc -l) files"
    done
fi
[ ! -e "$out/failed" ]
