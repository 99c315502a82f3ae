#!/bin/sh
# Prints the travel times of all robots with their 95 % intervals as a table, then advice on what to
# record.
#
#     calibration.sh [URL]        needs curl and jq; TANDEM_TOKEN if the daemon is on another machine
set -eu
url=${1:-http://127.0.0.1:8420}
ask() {
    curl -sS --fail-with-body ${TANDEM_TOKEN:+-H "Authorization: Bearer $TANDEM_TOKEN"} "$url$1"
}

list_pairs() {
    cursor=
    while :; do
        page=$(ask "/api/v1/pairs?limit=100$cursor")
        printf '%s\n' "$page" | jq -r '.pairs[].id'
        cursor=$(printf '%s\n' "$page" | jq -r '.next_cursor // empty | "&cursor=" + .')
        [ -n "$cursor" ] || return 0
    done
}

# A row of six for each parameter, one of three for each advice.
list_fit() {
    fit=$(ask "/api/v1/pairs/$1/travel-time")
    printf '%s\n' "$fit" | jq -r --arg pair "$1" '
        def figure: if . == null then "-" else (. * 10000 | round / 10000 | tostring) end;
        to_entries[] | .key as $side | .value
        | .verdict as $verdict | .ci95 as $ends
        | (.values | to_entries[] | [$pair, $side, .key, (.value | figure),
             "[" + ($ends[.key] | map(figure) | join(", ")) + "]", $verdict] | @tsv),
          (.advice[] | [$pair, $side, .] | @tsv)'
}

pairs=$(list_pairs)
rows=$(for pair in $pairs; do list_fit "$pair"; done)
printf '%s\n' "$rows" | awk -F '\t' '
    function row(a, b, c, d, e, f) { printf "%-12s %-8s %-20s %10s  %-22s %s\n", a, b, c, d, e, f }
    BEGIN { row("pair", "side", "parameter", "value", "95 %", "verdict") }
    NF == 6 { row($1, $2, $3, $4, $5, $6) }
    NF == 3 { advice = advice $1 " " $2 ", advice: " $3 "\n" }
    END { printf "%s", advice }'
