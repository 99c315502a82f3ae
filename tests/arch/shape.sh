#!/bin/sh
# Tests the measures of the code, and that the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/shape.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/twin"
{
    printf 'static int run(int a)\n{\n'
    awk 'BEGIN { for (i = 0; i < 70; i++) print "    a++;"; for (i = 0; i < 121; i++) printf "/"; print "" }'
    printf '}\n'
} >"$bad/twin/wrong.c"
out=$(python3 "$SOURCE/tests/arch/shape.py" "$bad" || true)
for want in 'static function run' 'run has 73 lines' '121 columns'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks: $want"; exit 1 ;; esac
done
