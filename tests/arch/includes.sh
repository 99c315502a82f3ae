#!/bin/sh
# The include directions, and that the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/includes.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
for room in base identification logger/message twin config web service; do mkdir -p "$bad/$room"; done
printf '#include "web/http/web.h"\n' >"$bad/twin/wrong.c"
printf '#include <time.h>\n' >"$bad/identification/wrong.c"
printf '#include "logger/storage/journal.h"\n' >"$bad/logger/message/codec.c"
out=$(python3 "$SOURCE/tests/arch/includes.py" "$bad" || true)
for want in twin/wrong.c:1 identification/wrong.c:1 logger/message/codec.c:1; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want"; exit 1 ;; esac
done
