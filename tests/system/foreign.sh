#!/bin/sh
# needs: full, a minute
# Journal, checkpoint, store and codecs on other machines: 32 bit (i386) and big-endian (s390x). Debian's cross
# compilers build their unit tests, qemu-user runs them. Where these are not installed, the test says so (exit status
# 77). CUnit, Jansson, SQLite and zlib for those machines are fetched once, from the same Debian, into the folder
# TANDEM_FOREIGN (~/.cache/tandem-foreign). Nothing is installed.
set -eu
packages='gcc-i686-linux-gnu libc6-dev-i386-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static'
cd "$(dirname "$0")/../.."
store=${TANDEM_FOREIGN:-${XDG_CACHE_HOME:-$HOME/.cache}/tandem-foreign}
tests='test_checkpoint test_codec test_csv test_expression test_journal test_journal_disk test_journal_reader
    test_json_scan test_json_write test_message test_store test_store_queue test_store_reader test_store_series
    test_topic_index'
rooms='base/text base/errors base/numbers base/expression logger/message logger/codec logger/storage'

# fetch ARCH: puts its libraries below $store/ARCH. apt uses lists of its own here, so the machine's lists do not
# change.
fetch() {
    [ ! -e "$store/$1/done" ] || return 0
    mkdir -p "$store/$1/state/lists/partial" "$store/$1/cache/archives/partial"
    options="-q -o APT::Architecture=$1 -o APT::Architectures=$1 -o Dir::State=$store/$1/state -o Dir::Cache=$store/$1/cache
        -o Dir::State::status=/dev/null -o APT::Sandbox::User="
    # shellcheck disable=SC2086 # a list of options
    apt-get $options update
    # shellcheck disable=SC2086
    (cd "$store/$1" && apt-get $options download libcunit1-dev libjansson-dev libsqlite3-dev zlib1g-dev)
    for package in "$store/$1"/*.deb; do
        dpkg-deb -x "$package" "$store/$1/root"
    done
    rm -rf "$store/$1/state" "$store/$1/cache" "$store/$1"/*.deb
    touch "$store/$1/done"
}

# build ARCH TRIPLE QEMU OPTIONS: builds the tests, linked statically, in $scratch/ARCH.
build() {
    out=$scratch/$1
    root=$store/$1/root/usr
    libraries=$(dirname "$(find "$root/lib" -name libcunit.a)")
    mkdir -p "$out"
    flags="-std=c17 -O1 -g1 -D_GNU_SOURCE -ffp-contract=off -I. -isystem $root/include -isystem $root/include/${libraries##*/}"
    compile="$2-gcc $4 $flags -DTANDEM_SOURCE_DIR=\"$PWD\""
    for room in $rooms; do
        ls "$room"/*.c
    done >"$out/sources"
    xargs -P "$(nproc)" -I '{}' sh -c 'exec $1 -c -o "$2/$(echo "{}" | tr / @).o" "{}"' - "$compile" "$out" <"$out/sources"
    # Linux writes such a lock in the byte order of the machine that runs qemu.
    echo 'int pthread_mutexattr_setprotocol(void *a, int b); int pthread_mutexattr_setprotocol(void *a, int b) { return !a || b < 0; }' |
        "$2-gcc" -x c -c -o "$out/no_priority.o" -
    "$2-ar" rcs "$out/rooms.a" "$out"/*.o
    echo "$tests" | xargs -P "$(nproc)" -n 1 sh -c 'exec $1 -static -o "$2/$4" "tests/unit/$4.c" "$2/no_priority.o" "$2/rooms.a" $3' - "$compile" \
        "$out" "-L$libraries -Wl,--no-warnings -lcunit -ljansson -lsqlite3 -lz -lm -lpthread -ldl"
}

# check ARCH TRIPLE QEMU OPTIONS OF THE COMPILER
check() {
    for tool in "$2-gcc" "$3" apt-get; do
        if ! command -v "$tool" >/dev/null; then
            echo "SKIPPED $1: $tool is not installed (apt install $packages)"
            skipped=yes
            return
        fi
    done
    fetch "$1" >"$scratch/fetched" 2>&1 || { cat "$scratch/fetched" && exit 1; }
    build "$@"
    for test in $tests; do
        if timeout $((300 * ${TANDEM_PATIENCE:-1})) "$3" "$scratch/$1/$test" >"$scratch/$1/$test.log" 2>&1; then
            echo "$1 $test: $(sed -n 's/^ *asserts *\([0-9]*\).*/\1/p' "$scratch/$1/$test.log") checks"
        else
            echo "$1 $test FAILED:"
            tail -n 40 "$scratch/$1/$test.log"
            failed=yes
        fi
    done
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed='' skipped=''
# With SSE2 a double has 64 bits in registers, as on all other machines.
check i386 i686-linux-gnu qemu-i386-static '-msse2 -mfpmath=sse -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64'
check s390x s390x-linux-gnu qemu-s390x-static ''
[ -z "$failed" ] || exit 1
[ -z "$skipped" ] || exit 77
