#!/bin/sh
# Faults in a whole lab, round after round (real broker, real daemon): tests/faults/run.sh [--quick] [--rounds N]
# [KIND...]
#
#   tests/faults/run.sh --quick          every kind once, within ten minutes on two cores
#   tests/faults/run.sh --rounds 300     continues where it was stopped, if the commit is the same; a table at the end
#   tests/faults/run.sh --number 7 KIND  round 7 of a kind again
#   tests/faults/run.sh --list           the kinds
#   tests/faults/run.sh sweep            every I/O call of a short life fails, one after the other; some 1400 calls, an hour's
#                                        work for two cores; sweep --sample 40 --seed 7: some, drawn
#
# Environment: TANDEM, the program (built with the preset release otherwise); FAULTS_FOLDER, the folder of rounds and of
# the files of rounds that failed (build/faults). docs/reliability.md has the guarantees and the results of the last
# long run.
set -eu
cd "$(dirname "$0")/../.."
for tool in python3 mosquitto mosquitto_pub; do
    PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 77; }
done
if [ -z "${TANDEM:-}" ]; then
    cmake --preset release >/dev/null
    cmake --build --preset release --target tandem >/dev/null
    TANDEM=$PWD/build/release/tandem
fi
# Limits of time are longer on a busy machine, as in ./test.
export TANDEM_PATIENCE="${TANDEM_PATIENCE:-$(awk -v cores="$(nproc)" '{ print int(1 + $1 / cores) }' /proc/loadavg)}"
export TANDEM SOURCE="$PWD" FAULTS_FOLDER="${FAULTS_FOLDER:-$PWD/build/faults}" PYTHONPATH=tests/support
mkdir -p "$FAULTS_FOLDER"
export IO_RECORD_LIBRARY="$FAULTS_FOLDER/io_record.so"
cc -D_GNU_SOURCE -std=c17 -O2 -Wall -Wextra -shared -fPIC -o "$IO_RECORD_LIBRARY" tests/support/io_record.c
# Small disks are mounted in a name space of these processes, and vanish with the last of them.
own=
if [ "$(id -u)" = 0 ] && unshare -m sh -c 'mount -t tmpfs -o size=1m none /mnt' 2>/dev/null; then
    own="unshare -m"
    export FAULTS_MOUNTS=yes
fi
if [ "${1:-}" = sweep ]; then
    shift
    exec python3 tests/faults/sweeps.py "$@"
fi
exec $own python3 tests/faults/faults.py "$@"
