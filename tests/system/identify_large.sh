# Very large files: many rows, many columns, one endless line, a field without an end, and too little memory for them.
# TANDEM_ROWS=10000000 makes the long file as long as allowed (600 MB); the default is 300000 rows.
set -eu
fail() { echo "identify_large: $*" >&2; exit 1; }
rows=${TANDEM_ROWS:-300000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$SOURCE/tests/support/fault_code.sh"
# identify STATUS TEXT|CODE ARGUMENT...: reads standard input; prints one line on stderr if it fails, else none
identify() {
    want=$1 text=$2 code=0
    shift 2
    "$TANDEM" identify --model usv3 --method ols_central --json "$@" - >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = "$want" ] || fail "exit $code, not $want: $(head -c 300 "$work/err")"
    if [ "$want" = 0 ]; then
        grep -qF -- "$text" "$work/out" || fail "no '$text': $(head -c 300 "$work/out")"
        [ ! -s "$work/err" ] || fail "words beside a result: $(head -c 300 "$work/err")"
    else
        has_fault_code "[$text" "$work/err" "standard input"
        [ "$(wc -l <"$work/err")" = 1 ] || fail "more than one line: $(head -c 300 "$work/err")"
        [ ! -s "$work/out" ] || fail "output beside an error"
    fi
}

long_table() {
    awk -v n="$1" 'BEGIN {
        print "t,tau_u,tau_v,tau_r,u,v,r"
        for (k = 0; k < n; k++) {
            if (k % 1000 == 0) phase = k % 7000
            s = (k * 7919 % 1009) / 1009 - 0.5
            printf "%.1f,%d,0,%d,%.4f,%.4f,%.4f\n", k / 10, (k % 300 < 150 ? 60 : -20), (k % 170 < 80 ? 30 : -30),
                   1 + s * 0.3 + phase / 1e4, s * s, 0.2 * (k % 170 - 85) / 85 + s / 9
        }
    }'
}

long_table "$rows" >"$work/long.csv"
identify 0 "\"n\":$rows," <"$work/long.csv"

# One row twice as long as a line may be; a header of a million names; a line, a field and a quote that do not end.
much() { head -c "${1}000000" /dev/zero | tr '\0' "$2"; }
{ echo t,tau_u,tau_v,tau_r,u,v,r; much 100 1; } | identify 1 too_long
{ echo t,tau_u,tau_v,tau_r,u,v,r; printf '"'; much 100 1; } | identify 1 too_long
{ echo t,tau_u,tau_v,tau_r,u,v,r; printf '"'; much 10 '\n'; } | identify 1 too_long
much 100 , | identify 1 too_long
{ printf t; much 100 a; } | identify 1 too_long
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "c%d,", i; print "t" }' | identify 1 too_many
{ echo t,tau_u,tau_v,tau_r,u,v,r; awk 'BEGIN { for (i = 0; i < 5000; i++) printf "1,"; print "1" }'; } |
    identify 1 too_many
much 50 '\0' | identify 1 too_long
much 50 '\n' | identify 1 missing_header
much 50 '#' | identify 1 too_long
yes '# a remark' | head -n 2000000 | identify 1 missing_header

# Too little memory gives an error, too. A sanitizer needs more memory than the limit, so it is left out.
if (ulimit -v 300000 && "$TANDEM" version >/dev/null 2>&1); then
    refused=0
    for limit in 20000 30000 45000 60000 90000 120000; do
        code=0
        (ulimit -v $limit && exec "$TANDEM" identify --model usv3 --method weak_iv --json "$work/long.csv") \
            >"$work/out" 2>"$work/err" || code=$?
        case $code in
        0) python3 -c 'import json, sys; json.load(sys.stdin)' <"$work/out" || fail "no document within $limit kB" ;;
        1) refused=1
           has_fault_code '[no_memory' "$work/err" "$limit kB"
           [ "$(wc -l <"$work/err")" = 1 ] || fail "within $limit kB: $(head -c 300 "$work/err")" ;;
        127) ;; # the dynamic loader itself had too little
        *) fail "exit $code within $limit kB: $(head -c 300 "$work/err")" ;;
        esac
    done
    [ "$refused" = 1 ] || [ "$rows" -lt 300000 ] || fail "no limit was too low"
fi
