# tandem replay: odd recordings, several files, what it says of them, and wrong usage.
set -eu
fail() { echo "replay: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo 'pairs: {r1: {}}' >lab.yaml

# line SECOND TOPIC PAYLOAD: as other programs write it, with spaces after the colons
line() { echo "{\"tst\": \"2026-11-20T05:00:$1Z\", \"topic\": \"tandem/v1/$2\", \"qos\": 1, \"retain\": 0, \"payload\": $3}"; }
{
    line 00 r1/command '{"id": "a", "op": "go", "displacement_m": 1}'
    line 03 r1/real/reply '{"id": "a", "status": "done"}'
    line 04 r1/entry '{"pair": "r1"}'
    line 05 r9/command '{"id": "x", "op": "go"}'
} >odd.jsonl
{
    line 02 r1/virtual/reply '{"id": "a", "status": "done"}'
    line 06 r1/command '{"id": "b", "op": "go", "displacement_m": 1}'
    line 04 r1/real/reply '{"id": "b", "status": "done"}'
    line 07 r1/virtual/reply '{"id": "b", "status": "done"}'
    line 08 r1/command '{"id": "c", "op": "go"}' | head -c 60
} >even.jsonl

# Whatever the order of the files, and from standard input: one and the same document.
"$TANDEM" replay -c lab.yaml odd.jsonl even.jsonl --json >one
"$TANDEM" replay even.jsonl --json odd.jsonl --config=lab.yaml >two
"$TANDEM" replay -c lab.yaml even.jsonl - --json <odd.jsonl >three
cmp one two && cmp one three || fail "the order of the files shows"
grep -q '"real_lap_s":3,"virtual_lap_s":2,"lag_s":1,"verdict":"AHEAD"' one || fail "verdict: $(cat one)"

# What was not taken as it stands there is said.
"$TANDEM" replay -c lab.yaml odd.jsonl even.jsonl >text
for words in '9 lines, 7 events, 0 malformed' '1 of topics that are not read' '1 of pairs that are not in the lab file' '1 earlier than the one before' \
    '1 torn at the end of a file'; do
    grep -qF "$words" text || fail "no '$words' in $(cat text)"
done

# The tables that --help names are there.
"$TANDEM" replay -c lab.yaml odd.jsonl --csv tables >/dev/null
for table in entries alarms log changes travel_time; do
    [ -s "tables/$table.csv" ] || fail "no $table.csv"
done

# refuse STATUS TEXT ARGUMENT...
refuse() {
    want=$1 text=$2
    shift 2
    code=0
    "$TANDEM" replay "$@" >out 2>err || code=$?
    [ "$code" = "$want" ] || fail "exit $code, not $want: $*"
    grep -qF -- "$text" err || fail "no '$text' from '$*': $(cat err)"
    grep -q '^tandem: ' err || fail "no 'tandem: ' from '$*'"
}
refuse 2 'needs -c LAB.yaml' odd.jsonl
refuse 2 'needs FILE...' -c lab.yaml
refuse 2 "unknown option '--jsn'" -c lab.yaml --jsn odd.jsonl
refuse 2 'a number within' -c lab.yaml --speed -1 odd.jsonl
refuse 2 'none.yaml: cannot open' -c none.yaml odd.jsonl
refuse 1 'none.jsonl: cannot read' -c lab.yaml none.jsonl
refuse 1 'cannot be made' -c lab.yaml --csv /proc/none odd.jsonl
