#!/bin/sh
# The libraries' own faults: libpaho, libmicrohttpd and SQLite from Debian's sources, under a sanitizer, in a soak that
# cuts the daemon's link under load (flaps.py). Run it by hand: it fetches sources and takes minutes.
#
#   tests/faults/dependencies.sh                     AddressSanitizer, 200 cuts
#   tests/faults/dependencies.sh address --cuts 510 --runs 10 --after 0.5 --rate 2300
#                                                    the long form: an hour, 2300 messages/s on a quiet machine
#   tests/faults/dependencies.sh thread              ThreadSanitizer, with the program of the preset tsan
#
# Environment: TANDEM, another program; DEPENDENCIES, the libraries ("paho.mqtt.c libmicrohttpd sqlite3"); CACHE, the
# folder of sources and libraries ($HOME/.cache/tandem-dependencies). A source that is unpacked there is used as it is.
# `apt-get source` needs deb-src lines in apt's sources.
set -eu
cd "$(dirname "$0")/../.."
kind=${1:-address}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- --cuts 200
cache=${CACHE:-$HOME/.cache/tandem-dependencies}
prefix=$cache/$kind
flags="-O1 -g -fno-omit-frame-pointer -fsanitize=$kind"
mkdir -p "$prefix/lib"

source_of() {
    ls -d "$cache/$1"-*/ >/dev/null 2>&1 || (cd "$cache" && apt-get -qq source "$1" >&2)
    ls -d "$cache/$1"-*/ | tail -1
}

# Paho's tracking of its heap hides double frees: PAHO_HIGH_PERFORMANCE switches it off.
build_paho_mqtt_c() {
    cmake -S "$1" -B "$2" -DPAHO_WITH_SSL=TRUE -DPAHO_HIGH_PERFORMANCE=TRUE -DPAHO_ENABLE_TESTING=FALSE \
        -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" &&
        cmake --build "$2" --target paho-mqtt3as &&
        cp -d "$2"/src/libpaho-mqtt3as.so* "$prefix/lib"
}

build_libmicrohttpd() {
    (cd "$2" && "$1/configure" --disable-static --disable-doc --disable-examples --enable-https CFLAGS="$flags" &&
        make -C src/microhttpd) &&
        cp -d "$2"/src/microhttpd/.libs/libmicrohttpd.so* "$prefix/lib"
}

# The tools that generate SQLite's sources end with leaks of their own: they are built without a sanitizer.
build_sqlite3() {
    (cd "$2" && BUILD_CFLAGS=-O1 "$1/configure" --disable-static --disable-tcl --disable-readline CFLAGS="$flags" &&
        make BCC="${CC:-gcc} -O1" libsqlite3.la) &&
        cp -d "$2"/.libs/libsqlite3.so* "$prefix/lib"
}

export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" \
    TSAN_OPTIONS="second_deadlock_stack=1:exitcode=0:suppressions=$PWD/tests/faults/tsan.txt:${TSAN_OPTIONS:-}"
for name in ${DEPENDENCIES:-paho.mqtt.c libmicrohttpd sqlite3}; do
    work=$prefix/$name
    if [ ! -e "$work/built" ]; then
        from=$(source_of "$name")
        rm -rf "$work"
        mkdir -p "$work"
        echo "building $name with -fsanitize=$kind" >&2
        "build_$(echo "$name" | tr . _)" "$from" "$work" >"$prefix/$name.log" 2>&1 ||
            { tail -20 "$prefix/$name.log" >&2; exit 1; }
        touch "$work/built"
    fi
done

if [ -z "${TANDEM:-}" ]; then
    preset=dev
    [ "$kind" = thread ] && preset=tsan
    cmake --preset $preset >/dev/null
    cmake --build --preset $preset --target tandem >/dev/null
    TANDEM=$PWD/build/$preset/tandem
fi
# A program that brings the sanitizer itself needs no preloading.
if ! ldd "$TANDEM" | grep -q "lib[at]san"; then
    FLAPS_PRELOAD=$(${CC:-gcc} -print-file-name=lib$(echo "$kind" | cut -c1)san.so)
    export FLAPS_PRELOAD
fi
export TANDEM SOURCE="$PWD" FLAPS_LIBRARIES="$prefix/lib" PYTHONPATH=tests/support
exec python3 tests/faults/flaps.py "$@"
