#!/bin/sh
# needs: a minute, full
# Verdicts on recordings with known truth; the recordings are not part of this repository.
trust=${TANDEM_TRUST:-$SOURCE/../shared/trust}
[ -f "$trust/day1.csv" ] || { echo "SKIPPED: no cases in $trust (set TANDEM_TRUST)"; exit 77; }
command -v python3 >/dev/null || exit 77
TANDEM_TRUST=$trust exec python3 tests/system/trust_cases.py
