#!/bin/sh
# Every sentence with its code is in tests/golden/messages, and the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/messages.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
cd "$SOURCE"
tar -cf - base config identification logger service twin web tests/golden/messages docs/model/trust.md | tar -xf - -C "$bad"
sed -i "s/is a word of the language, use another name/is reserved/; s/FAULT_TOO_MANY/FAULT_NONE/" \
    "$bad/base/expression/expression.c"
sed -i 's/"too_deep"/"deep"/' "$bad/base/errors/fault.def"
sed -i 's/X(ALARM_STORE_DOWN,/X(ALARM_IDLE, "idle_alarm", ALARM_TYPE_STORAGE) &/' "$bad/logger/message/record.h"
echo 'FAULT(FAULT_IDLE, "idle", "Nobody uses it.")' >>"$bad/base/errors/fault.def"
echo 'REASON(REASON_IDLE, "idle_reason", "Nobody uses it.", NULL)' >>"$bad/identification/fit/reason.def"
sed -i 's/REASON_NO_MOTION/REASON_CODES/' "$bad/identification/arm/arm_friction_judge.c"
out=$(python3 "$SOURCE/tests/arch/messages.py" "$bad" 2>&1 || true)
for want in 'faults.txt: + reserved_name: '"'%s'"' is reserved' 'faults.txt: - reserved_name: '"'%s'"' is a word of' \
    'err_set() without a code: FAULT_NONE' 'faults.txt: + deep: nested too deep' 'idle is used nowhere' 'idle_alarm is used nowhere' \
    'idle_reason is used nowhere' 'trust.md: + | `idle_reason` | Nobody uses it. |' \
    'estimate_reason() without a code: REASON_CODES'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want"; exit 1 ;; esac
done
