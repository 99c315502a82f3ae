#!/bin/sh
# Builds release and runs the benches, one after the other: tests/bench/run.sh [WHAT...]
# Their JSON lines go to stdout and to build/bench.jsonl. docs/benchmarks.md says what they measure.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset release >/dev/null
cmake --build --preset release --target benches >&2
[ $# -gt 0 ] || set -- $(ls tests/bench/bench_*.c | sed 's|.*/bench_||; s|\.c$||') page fleet_bursts team_grants compare
# A peer of bench_replay in C++, if compiler and library are installed (Debian: g++, libsimdjson-dev).
c++ -O3 -march=native -o build/release/tests/bench/lines_simdjson tests/bench/peers/lines.cpp -lsimdjson 2>/dev/null ||
    echo "bench_replay goes without simdjson" >&2
# A peer of bench_ingest in Node (npm; better-sqlite3 is compiled if npm has no binary for this machine).
[ -d build/release/npm/node_modules/better-sqlite3/build/Release ] ||
    npm install --silent --no-audit --no-fund --prefix build/release/npm mqtt@5 better-sqlite3@12 >/dev/null 2>&1 ||
    echo "bench_ingest goes without Node" >&2
bench() {
    if [ "$1" = page ]; then
        TANDEM=build/release/tandem SOURCE=$PWD BUILD=$PWD/build/release PYTHONPATH=tests/support:tests/browser \
            "$(. tests/browser/python.sh; echo "$python")" tests/bench/page.py
    elif [ -f tests/bench/"$1".py ]; then
        TANDEM=build/release/tandem SOURCE=$PWD PYTHONPATH=tests/support python3 tests/bench/"$1".py
    else
        build/release/tests/bench/bench_"$1"
        # Commands and replies among the telemetry, of many pairs: they give entries and calibrations.
        [ "$1" != ingest ] || build/release/tests/bench/bench_ingest 20000 4 3 100 15
    fi
}
: >build/bench.jsonl
failed=0
for what in "$@"; do
    if bench "$what" >build/bench.part; then
        tee -a build/bench.jsonl <build/bench.part
    else
        cat build/bench.part
        echo "bench_$what: failed" >&2
        failed=1
    fi
done
rm -f build/bench.part
exit "$failed"
