#!/bin/sh
# Tests the tables of thresholds, and that the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/thresholds.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/twin/pair" "$bad/tests/arch" "$bad/tests/unit" "$bad/service/selftest" "$bad/tests/mutation"
touch "$bad/tests/unit/test_pair.c"
printf 'file\tconstants\treason\ntwin/pair/pair.c\tEXCUSED\t \ntwin/pair/gone.c\tGONE\tsolver\n' \
    >"$bad/tests/arch/thresholds_allowed.tsv"
printf 'commit\trow\tvalue\ttest\tnone\n0\ttwin/pair/pair/UNUSED\t1\tunit.test_pair\tpasses\n' \
    >"$bad/tests/mutation/thresholds.tsv"
cat >"$bad/twin/pair/pair_thresholds.def" <<'END'
THRESHOLD(NO_UNIT, 1.0, "", "three sigma", "unit.test_pair")
THRESHOLD(CHOSEN, 1.0, "s", "chosen; of right fits", "unit.test_pair")
THRESHOLD(NO_SOURCE, 1.0, "s", "", "unit.test_pair")
THRESHOLD(NO_TEST, 1.0, "s", "three sigma", "")
THRESHOLD(LOST_TEST, 1.0, "s", "three sigma", "unit.test_lost")
THRESHOLD(LOST_SCENARIO, 1.0, "s", "three sigma", "selftest joint/lost")
THRESHOLD_COUNT(UNUSED, 1, "moves", "three sigma", "unit.test_pair")
THRESHOLD(MALFORMED, 1.0, "s", "three sigma")
END
cat >"$bad/twin/pair/pair.c" <<'END'
#include "twin/pair/pair_thresholds.def"
static const double OUTSIDE = NO_UNIT + NO_SOURCE + NO_TEST + LOST_TEST + LOST_SCENARIO;
static const double EXCUSED = 1.0;
enum { MOVES_MIN = 4 };
END
out=$(python3 "$SOURCE/tests/arch/thresholds.py" "$bad" || true)
for want in 'NO_UNIT: no unit' 'NO_SOURCE: no source' 'NO_TEST: no test' 'no test unit.test_lost' \
    'no test selftest joint/lost' 'CHOSEN: source' 'UNUSED: nobody uses it' 'NO_UNIT: no record' \
    'not seen failing' 'a row has not the form' 'OUTSIDE is neither' \
    'EXCUSED is neither' 'MOVES_MIN is neither' 'gone.c has no GONE'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks: $want"; exit 1 ;; esac
done
