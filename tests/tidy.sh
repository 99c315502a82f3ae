#!/bin/sh
# clang-tidy over all sources, or those named: tests/tidy.sh [FILE...] One file a run: clang-tidy 14 reports false
# faults of va_list after it has read another file. Uses the compilation database of build/clang (made when missing);
# exit status 1 when there is a finding.
set -eu
cd "$(dirname "$0")/.."
build=build/clang
# CMake's globs may have new files; the generated sources must exist.
cmake --preset clang >/dev/null
cmake --build --preset clang --target tandem_web_resources >/dev/null
[ $# -gt 0 ] || set -- $(git ls-files -- '*.c')
printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -n 1 clang-tidy -p $build --quiet --extra-arg=-Wno-unknown-warning-option \
    2>$build/tidy.err && echo "clang-tidy: $# files, no finding"
