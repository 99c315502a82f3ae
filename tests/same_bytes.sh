#!/bin/sh
# same_bytes.sh TANDEM_A TANDEM_B: two builds, of two compilers, print the same bytes for every
# recorded case and every table in the tree.
set -eu
a=$1
b=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$(dirname "$0")/.."
count=0
for case in tests/golden/replay/*/; do
    for program in "$a" "$b"; do
        "$program" replay -c "$case/lab.yaml" --json "$case/input.jsonl" >"$out/$(basename "$(dirname "$program")")" 2>/dev/null
    done
    cmp "$out"/* || { echo "$case: the two builds differ"; exit 1; }
    count=$((count + 1))
done
for method in ols huber tukey auto; do
    for program in "$a" "$b"; do
        "$program" identify --model travel_time --json --method "$method" tests/golden/smartlog.csv \
            >"$out/$(basename "$(dirname "$program")")" 2>/dev/null || :
    done
    cmp "$out"/* || { echo "identify, $method: the two builds differ"; exit 1; }
    count=$((count + 1))
done
echo "$count outputs, the same bytes from both builds"
