#!/bin/sh
# Judges a simulator against a reference recording, and records more moves until the answer is known.
#
#     gate.sh LAB.yaml PAIR REFERENCE.jsonl [OPTION OF tandem gate]...
#
# Robots, broker and tandem serve are running. If there is no REFERENCE.jsonl, it is recorded, from the
# simulator that is running now. ROUNDS (6) rounds of MOVES (40) moves each are driven at most; round K has the seed K, so that
# candidate and reference get the same moves. The candidate is in candidate.jsonl, the result in gate.xml.
#
# Exit status: that of tandem gate: 0 pass, 3 fail, 4 still undecided.
set -eu
lab=$1 pair=$2 reference=$3
shift 3
rounds=${ROUNDS:-6} moves=${MOVES:-40}
tandem=${TANDEM:-tandem}

# record_round SEED FILE: appends the messages of one round.
record_round() {
    rm -f "$2.round"
    "$tandem" record -c "$lab" "$2.round" &
    recorder=$!
    while [ ! -e "$2.round" ]; do sleep 0.1; done
    "$tandem" drive -c "$lab" --pair "$pair" --seed "$1" --count "$moves" --quiet ${DRIVE:-}
    kill "$recorder"
    wait "$recorder" || true
    cat "$2.round" >>"$2"
    rm "$2.round"
}

if [ ! -e "$reference" ]; then
    round=1
    while [ "$round" -le "$rounds" ]; do
        record_round "$round" "$reference.new"
        round=$((round + 1))
    done
    mv "$reference.new" "$reference"
    echo "recorded the reference $reference"
    exit 0
fi

rm -f candidate.jsonl
round=1
while [ "$round" -le "$rounds" ]; do
    record_round "$round" candidate.jsonl
    code=0
    "$tandem" gate -c "$lab" "$reference" candidate.jsonl --pair "$pair" --junit gate.xml "$@" || code=$?
    [ "$code" = 4 ] || break
    round=$((round + 1))
done
exit "$code"
