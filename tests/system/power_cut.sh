#!/bin/sh
# needs: full, real time
# The power fails (tests/faults/kinds_power.py): a round of each kind passes, and one that ignores syncs of the journal
# does not. TANDEM_SEED chooses other rounds.
set -eu
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
FAULTS_FOLDER=$(mktemp -d)
export FAULTS_FOLDER
trap 'rm -rf "$FAULTS_FOLDER"' EXIT
round=${TANDEM_SEED:-1}
sh tests/faults/run.sh --number "$round" power_cut power_cut_synced
if POWER_PLANT=.jsonl sh tests/faults/run.sh --number "$round" --fresh power_cut >"$FAULTS_FOLDER/planted"; then
    cat "$FAULTS_FOLDER/planted"
    echo "a journal that is not synced is not noticed" >&2
    exit 1
fi
grep -q "DID NOT HOLD" "$FAULTS_FOLDER/planted"
echo "power cuts: both kinds held, and the planted fault is found"
