#!/bin/sh
# needs: full, real time
# Programs of the last three versions of the store's schema write a data directory, this program continues in it
# (tests/faults/upgrade.py).
#
#   tests/system/upgrade.sh build   builds those programs from this repository, once, into the folder TANDEM_OLD
#                                   (~/.cache/tandem-old); some minutes
#   tests/system/upgrade.sh         the test; if they are not built it says so, and the exit status is 77
set -eu
cd "$(dirname "$0")/../.."
old=${TANDEM_OLD:-${XDG_CACHE_HOME:-$HOME/.cache}/tandem-old}
schema=logger/storage

# version COMMIT: the version of its store.
version() {
    git grep -h 'STORE_SCHEMA_VERSION = ' "$1" -- $schema | sed -n 's/.*STORE_SCHEMA_VERSION = \([0-9]*\).*/\1/p'
}

build() {
    built=0
    for commit in $(git log --format=%h -G'STORE_SCHEMA_VERSION = ' -- $schema); do
        [ $built -lt 3 ] || break
        before=$(git rev-parse --short "$commit^")
        of_store=$(version "$before")
        [ "$of_store" != "$(version "$commit")" ] || continue # the constant was only moved
        built=$((built + 1))
        [ ! -x "$old/tandem-$of_store" ] || continue
        scratch=$(mktemp -d)
        echo "store version $of_store: commit $before"
        git archive "$before" | tar -x -C "$scratch"
        sed -i '/^ *add_subdirectory(tests)/d' "$scratch/CMakeLists.txt" # not every earlier commit has all tests
        cmake -S "$scratch" -B "$scratch/build" -G Ninja -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 >/dev/null
        cmake --build "$scratch/build" --target tandem >"$scratch/log" || { tail -n 20 "$scratch/log" && exit 1; }
        mkdir -p "$old"
        echo "$before" >"$old/tandem-$of_store.commit"
        mv "$scratch/build/tandem" "$old/tandem-$of_store"
        rm -rf "$scratch"
    done
}

if [ "${1:-}" = build ]; then
    build
    exit
fi
command -v python3 >/dev/null && command -v mosquitto >/dev/null || exit 77
if ! ls "$old"/tandem-[0-9]* >/dev/null 2>&1; then
    echo "SKIPPED: no programs of earlier versions in $old (tests/system/upgrade.sh build)"
    exit 77
fi
TANDEM_OLD=$old PYTHONPATH=tests/support:tests/faults exec python3 tests/faults/upgrade.py
