#!/bin/sh
# The core archives import nothing that could do I/O, read a clock, draw random numbers or allocate. Runs on the
# archives of the build, without the imports that sanitizers add.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$BUILD"
core=$(ls libtandem_base*.a libtandem_logger_message.a libtandem_logger_codec.a libtandem_twin*.a libtandem_identification*.a)
# Every source of the core is in an archive.
(cd "$SOURCE" && find base twin identification logger/message logger/codec -name "*.c" -exec basename {} \;) | sort >"$dir/sources"
for archive in $core; do ar t "$archive"; done | sed 's/\.o$//' | sort >"$dir/objects"
cmp "$dir/sources" "$dir/objects" || { echo "these archives are not the core's sources: $core"; exit 1; }
# Names that the core itself defines are allowed.
nm --defined-only --extern-only --format=posix $core | awk 'NF > 1 { print $1 }' | sort -u >"$dir/own"
nm --undefined-only --format=posix $core | awk '$2 == "U" { print $1 }' | sort -u >"$dir/used"
ok='gsl_.*|cblas_.*|__assert_fail|mem(cpy|move|set|cmp|chr)|str(len|cmp|ncmp|chr|rchr|cspn|spn|str|ncpy|tod|pbrk)'
ok="$ok|qsort|bsearch|v?snprintf|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__(asan|ubsan|tsan)_.*"
ok="$ok|__(mem(cpy|move|set)|strncpy|v?snprintf)_chk" # imports of a fortified build
ok="$ok|__udivti3|__popcountdi2" # of the compiler: division of 128 bits, counting of bits
ok="$ok|nanf?|exp|expm1|exp2|log|log1p|log2|log10|sqrt|cbrt|pow|sin|cos|sincos|tan|asin|acos|atan|atan2|sinh|cosh|tanh"
ok="$ok|hypot|fmod|remainder|fabs|floor|ceil|trunc|round|l?lround|nearbyint|rint|l?lrint|frexp|ilogb|ldexp|copysign|fmax|fmin|erfc?"
bad=$(comm -23 "$dir/used" "$dir/own" | grep -vxE "$ok" || true)
[ -z "$bad" ] || { echo "impure symbols in the core:" $bad; exit 1; }
# The check can fail: it finds a clock.
printf '#include <time.h>\nlong now(void);\nlong now(void) { return time(0); }\n' >"$dir/wrong.c"
${CC:-cc} -c "$dir/wrong.c" -o "$dir/wrong.o"
nm --undefined-only --format=posix "$dir/wrong.o" | awk '{ print $1 }' | grep -vxE "$ok" | grep -q time ||
    { echo "the check overlooks time()"; exit 1; }
echo "the core is pure"
