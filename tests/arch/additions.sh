#!/bin/sh
# short: TANDEM_SHORT=1
# The recipes of docs/adding.md: each patch of additions/ adds one thing, all of them to one copy of the tree; the
# additions must be visible from all sides without another line of code.
set -eu
command -v patch >/dev/null && command -v mosquitto >/dev/null && command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$work"
for patch in tests/arch/additions/*.patch; do
    # A recipe adds at most one new source with its header, and one row (an option also has its field).
    new=$(grep -c '^--- /dev/null' "$patch" || true)
    rows=$(awk '/^\+\+\+ /{next} /^--- /{fresh = ($2 == "/dev/null"); next} /^\+/ && !fresh {n++} END {print n + 0}' \
        "$patch")
    [ "$new" -le 2 ] && [ "$rows" -le 4 ] || { echo "$patch: $new new files, $rows changed lines: no row of a table"; \
        exit 1; }
    patch -d "$work" -p1 -s --no-backup-if-mismatch -F1 <"$patch" \
        || { echo "$patch no longer applies: docs/adding.md is out of date"; exit 1; }
done
[ -z "${TANDEM_SHORT:-}" ] || exit 0 # building the copy costs a minute of computing
# Objects that ./test --full has built optimized, and that no recipe touches, are not compiled again if the copy can be
# mounted, for this build, at the tree's own place.
built=build/optimized
if [ "$(id -u)" = 0 ] && [ -f $built/tandem ] && unshare -m mount --bind "$work" "$SOURCE" 2>/dev/null; then
    mkdir "$work/build" && cp -a $built "$work/build/" &&
        unshare -m sh -ec "mount --bind '$work' '$SOURCE'; cmake --build '$SOURCE/$built' --target tandem"
else
    built=build
    cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DTANDEM_WERROR=ON &&
        cmake --build "$work/build" --target tandem
fi >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
TANDEM="$work/$built/tandem" SOURCE="$work" PYTHONPATH=tests/support exec python3 tests/arch/additions.py
