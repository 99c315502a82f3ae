#!/bin/sh
# needs: virtual time, full
# A robot of examples/robot/mujoco, an independent physics engine, as the real one of a pair. By hand, with figures for
# docs/robots/simulators.md: BUILD=… TANDEM=… SOURCE=$PWD sh tests/system/mujoco.sh long
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/mujoco.py" "$@"
