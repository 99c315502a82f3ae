#!/bin/sh
# The core archives import nothing that could do I/O, read a clock, take randomness or allocate.
# Run on archives built here without sanitizers, which add symbols of their own.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$SOURCE"
# Our own names are whatever the core itself defines.
find base twin identification logger/message -name "*.c" | while read -r source; do
    ${CC:-cc} -std=c17 -O1 -ffp-contract=off -I. -c "$source" -o "$dir/$(echo "$source" | tr / _).o"
done
nm --defined-only --extern-only --format=posix "$dir"/*.o | awk 'NF > 1 { print $1 }' | sort -u >"$dir/own"
nm --undefined-only --format=posix "$dir"/*.o | awk '$2 == "U" { print $1 }' | sort -u >"$dir/used"
ok='gsl_.*|cblas_.*|__assert_fail|mem(cpy|move|set|cmp|chr)|str(len|cmp|ncmp|chr|rchr|cspn|spn|str|ncpy|tod|pbrk)'
ok="$ok|qsort|bsearch|v?snprintf|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_"
ok="$ok|nanf?|exp|expm1|exp2|log|log1p|log2|log10|sqrt|cbrt|pow|sin|cos|sincos|tan|asin|acos|atan|atan2|sinh|cosh|tanh"
ok="$ok|hypot|fmod|remainder|fabs|floor|ceil|trunc|round|l?lround|nearbyint|rint|l?lrint|frexp|ldexp|copysign|fmax|fmin|erfc?"
bad=$(comm -23 "$dir/used" "$dir/own" | grep -vxE "$ok" || true)
[ -z "$bad" ] || { echo "impure symbols in the core:" $bad; exit 1; }
# The check can fail: a clock is seen.
printf '#include <time.h>\nlong now(void);\nlong now(void) { return time(0); }\n' >"$dir/wrong.c"
${CC:-cc} -c "$dir/wrong.c" -o "$dir/wrong.o"
nm --undefined-only --format=posix "$dir/wrong.o" | awk '{ print $1 }' | grep -vxE "$ok" | grep -q time ||
    { echo "the check overlooks time()"; exit 1; }
echo "the core is pure"
