#!/bin/sh
# needs: full, real time
# A sample of the sweep over I/O calls (tests/faults/sweeps.py): one call fails in each life. TANDEM_SEED draws others.
set -eu
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
FAULTS_FOLDER=$(mktemp -d)
export FAULTS_FOLDER
trap 'rm -rf "$FAULTS_FOLDER"' EXIT
sh tests/faults/run.sh sweep --sample 60 --seed "${TANDEM_SEED:-1}"
