#!/bin/sh
# tandem identify reads ROS 2 bags: by type, by paths, by joints; what it finds is the robot that was recorded.
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/identify_bags.py"
