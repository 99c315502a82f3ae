#!/bin/sh
# The examples of docs/protocol.md and docs/protocol: each satisfies its schema, and the program accepts those that are
# addressed to it; the output of a replay satisfies the schemas, too.
set -eu
python3 -c 'import jsonschema' 2>/dev/null || { echo "SKIPPED: python3-jsonschema is not installed"; exit 77; }
exec python3 "$SOURCE/tests/arch/protocol.py" "$SOURCE" "$TANDEM"
