# tandem replay: odd recordings, several files, its remarks on them, and wrong usage.
set -eu
fail() { echo "replay: $*" >&2; exit 1; }
. "$SOURCE/tests/support/fault_code.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo 'pairs: {r1: {}}' >lab.yaml

# line SECOND TOPIC PAYLOAD: a message as other programs write it, with spaces after the colons
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

# The order of the files does not matter, and standard input gives the same document.
"$TANDEM" replay -c lab.yaml odd.jsonl even.jsonl --json >one
"$TANDEM" replay even.jsonl --json odd.jsonl --config=lab.yaml >two
"$TANDEM" replay -c lab.yaml even.jsonl - --json <odd.jsonl >three
cmp one two && cmp one three || fail "the order of the files shows"
grep -q '"real_lap_s":3,"virtual_lap_s":2,"lag_s":1,"verdict":"AHEAD"' one || fail "verdict: $(cat one)"

# The records of a pair, a time or a verdict alone; counts are those of all.
only() { "$TANDEM" replay -c lab.yaml odd.jsonl even.jsonl "$@" >only || fail "$*"; sed -n '/^$/q;p' only; }
[ "$(only | wc -l)" = 2 ] || fail "records: $(cat only)"
[ "$(only --verdict BEHIND | awk '{print $3}')" = b ] || fail "--verdict: $(cat only)"
[ "$(only --late --until 2026-11-20T05:00:05Z | awk '{print $3}')" = a ] || fail "--late --until: $(cat only)"
[ "$(only --since 2026-11-20T05:00:05Z | awk '{print $3}')" = b ] && grep -q 'r1: 2 commands' only || fail "--since: $(cat only)"
printf '%s\n' '{"tst":"2026-11-20T06:00:00.000000Z","topic":"tandem/v1/r1/command","qos":1,"retain":0,"payload":{"id":"z","op":"go","rotation_rad":1}}' >late.jsonl
"$TANDEM" replay -c lab.yaml odd.jsonl even.jsonl late.jsonl --json --late >only 2>err || fail "alarms: $(cat err)"
grep -q '"alarms":\[\]' only && grep -q '2 alarms left out: --verdict and --late choose entries' err || fail "alarms: $(cat err)"
echo 'pairs: {r1: {}, r2: {}}' >both.yaml
"$TANDEM" replay -c both.yaml odd.jsonl even.jsonl --json --pair r2 >only
grep -q '^{"pairs":{"r2":{"entries":\[\]' only && ! grep -q '"r1"' only || fail "--pair: $(cat only)"
for words in '--pair r3:the lab has no pair' '--late --verdict SYNC:give one of them' '--since soon:--since: not a time'; do
    code=0
    # shellcheck disable=SC2086
    "$TANDEM" replay -c lab.yaml odd.jsonl ${words%%:*} 2>err || code=$?
    [ "$code" = 2 ] && grep -qF -- "${words#*:}" err || fail "$words: $code, $(cat err)"
done

# Replay reports each line that it could not use as written.
"$TANDEM" replay -c lab.yaml odd.jsonl even.jsonl >text
for words in '9 lines, 7 events, 0 malformed' '1 of topics that are not read' '1 of pairs that are not in the lab file' '1 earlier than the previous one' \
    '1 torn at the end of a file'; do
    grep -qF "$words" text || fail "no '$words' in $(cat text)"
done

# A line stamped years ahead is skipped: it would fire every probe until then, and make all later messages late.
at() { echo "{\"tst\":\"$1\",\"topic\":\"$2\",\"qos\":1,\"retain\":0,\"payload\":$3}"; }
move() {
    at "$1T05:00:00Z" tandem/v1/r1/command "{\"id\":\"$2\",\"op\":\"go\",\"displacement_m\":1}"
    at "$1T05:00:02Z" tandem/v1/r1/virtual/reply "{\"id\":\"$2\",\"status\":\"done\"}"
    at "$1T05:00:03Z" tandem/v1/r1/real/reply "{\"id\":\"$2\",\"status\":\"done\"}"
}
ahead() { at 2091-11-20T05:00:00Z tandem/v1/r1/real/telemetry '{"t":1,"seq":1}'; }
echo 'pairs: {r1: {probe_interval_s: 1}}' >probed.yaml
clean() { move 2026-11-20 a; move 2026-11-21 b; }
{ move 2026-11-20 a; ahead; move 2026-11-21 b; } >ahead.jsonl
clean >clean.jsonl
code=0
timeout $((60 * ${TANDEM_PATIENCE:-1})) "$TANDEM" replay -c probed.yaml ahead.jsonl --json >out 2>err || code=$?
[ "$code" = 1 ] && grep -qF 'lines left out: 1 stamped too far ahead' err || fail "a line far ahead: $code, $(cat err)"
grep -qF 'ahead.jsonl:4:1: ' err && grep -qF '2091-11-20T05:00:00' err && grep -qF '23741 ' err &&
    grep -qF '2026-11-20T05:00:03' err && grep -qF -- '--pause-max' err || fail "far ahead: $(cat err)"
has_fault_code '[time_jump' err 'a line far ahead'
"$TANDEM" replay -c probed.yaml clean.jsonl --json >want
sed 's/"ahead":1/"ahead":0/; s/"lines":7/"lines":6/' out | cmp - want || fail "far ahead: $(cat out) instead of $(cat want)"
{ "$TANDEM" replay -c probed.yaml ahead.jsonl 2>/dev/null || true; } | grep -qF '1 stamped far ahead' || fail "far ahead is not counted"
# --pause-max accepts such a line. Months in which the daemon was away need no option.
{ move 2026-11-20 a; move 2027-02-20 b; } >months.jsonl
{ "$TANDEM" replay -c lab.yaml months.jsonl --json 2>/dev/null || true; } | grep -q '"ahead":3' || fail "three months"
"$TANDEM" replay -c lab.yaml --pause-max 100 months.jsonl --json | grep -q '"ahead":0' || fail "three months, allowed"
{
    at 2026-11-20T04:59:00Z tandem/v1/\$lab/start '{"version":"1"}'
    move 2026-11-20 a
    at 2027-02-20T04:59:00Z tandem/v1/\$lab/start '{"version":"1"}'
    move 2027-02-20 b
} >away.jsonl
timeout $((120 * ${TANDEM_PATIENCE:-1})) "$TANDEM" replay -c probed.yaml away.jsonl --json >out 2>err || fail "three months away: $?"
grep -q '"ahead":0' out && ! [ -s err ] || fail "three months away: $(cat err)"
[ "$(grep -o '"verdict":"AHEAD"' out | wc -l)" = 2 ] || fail "three months away: $(cat out)"

# Skipped lines are counted and named. Whole lines skipped for a time step give a failure; with --strict any line does.
torn_end() { clean; printf '{"tst":"2026-11-22T05:00:00Z","topic":"tandem/v1/r1/com'; }
for row in "clean 0 0" "torn_end 0 1 torn" "ahead 1 1 too.far.ahead" "no_message 0 1 no.message" \
    "elsewhere 0 1 topics.that.are.not.read" "stranger 0 1 not.in.the.lab.file"; do
    set -- $row
    case $1 in clean | torn_end) $1 ;; ahead) clean; ahead ;; no_message) clean; echo '{"tst":' ;;
    elsewhere) clean; at 2026-11-22T05:00:00Z other/topic '{}' ;;
    stranger) clean; at 2026-11-22T05:00:00Z tandem/v1/nobody/command '{"id":"x","op":"go"}' ;; esac >left.jsonl
    for strict in "" --strict; do
        want=${strict:+$3} want=${want:-$2} code=0
        "$TANDEM" replay -c probed.yaml --json $strict left.jsonl >out 2>err || code=$?
        [ "$code" = "$want" ] || fail "$1 $strict: $code, not $want: $(cat err)"
        [ "$want" = 0 ] || grep -q "lines left out: 1 .*${4:-}" err || fail "$1 $strict: $(cat err)"
    done
done

# The tables that --help names exist.
"$TANDEM" replay -c lab.yaml odd.jsonl --csv tables >/dev/null
for table in entries alarms log changes travel_time; do
    [ -s "tables/$table.csv" ] || fail "no $table.csv"
done

# The table of entries is a table of moves; an output that cannot be written is reported.
"$TANDEM" replay -c lab.yaml tables/entries.csv --json >moves
grep -q '"verdict":"TIMEOUT"' moves || fail "a table of moves: $(cat moves)"
if [ -w /dev/full ]; then
    code=0
    "$TANDEM" replay -c lab.yaml odd.jsonl --json >/dev/full 2>err || code=$?
    [ "$code" = 1 ] && grep -qF 'standard output: cannot be written' err || fail "a full disk: $code, $(cat err)"
fi

# refuse STATUS TEXT ARGUMENT...: TEXT may begin with "[CODE] "
refuse() {
    want=$1 text=$2
    shift 2
    code=0
    "$TANDEM" replay "$@" >out 2>err || code=$?
    [ "$code" = "$want" ] || fail "exit $code, not $want: $*"
    case $text in "["*) has_fault_code "${text%%]*}" err "$*"; text=${text#*] } ;; esac
    grep -qF -- "$text" err || fail "no '$text' from '$*': $(cat err)"
    grep -q '^tandem: ' err || fail "no 'tandem: ' from '$*'"
}
refuse 2 'replay: the lab file is missing' odd.jsonl
refuse 2 'needs FILE...' -c lab.yaml
refuse 2 "unknown option '--jsn'" -c lab.yaml --jsn odd.jsonl
refuse 2 'a number within' -c lab.yaml --speed -1 odd.jsonl
refuse 2 'a number within' -c lab.yaml --pause-max -1 odd.jsonl
refuse 2 '[file_unreadable] none.yaml: ' -c none.yaml odd.jsonl
refuse 1 '[file_unreadable] none.jsonl: ' -c lab.yaml none.jsonl
refuse 1 '[file_unwritable] /proc/none: ' -c lab.yaml --csv /proc/none odd.jsonl
