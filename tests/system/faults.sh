#!/bin/sh
# needs: real time
# The judge of the fault rounds detects faults, docs/reliability.md has every kind, and one round of some kinds runs.
set -eu
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH=tests/support:tests/faults python3 tests/faults/check.py
FAULTS_FOLDER=$(mktemp -d)
export FAULTS_FOLDER
trap 'rm -rf "$FAULTS_FOLDER"' EXIT
sh tests/faults/run.sh daemon_killed second_lost daemon_killed_link checkpoint_old
