#!/bin/sh
# The include directions, and that the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/includes.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/twin/pair" "$bad/identification/fit" "$bad/logger/message" "$bad/web/anything"
printf '#include "web/http/web.h"\n' >"$bad/twin/wrong.c"
printf '#include <time.h>\n' >"$bad/identification/fit/wrong.c"
printf '#include "logger/storage/journal.h"\n' >"$bad/logger/message/wrong.c"
printf '#include "twin/pair/b.h"\n' >"$bad/twin/pair/a.c"
printf '#include "twin/pair/a.h"\n' >"$bad/twin/pair/b.c"
touch "$bad/twin/pair/a.h" "$bad/twin/pair/b.h" "$bad/web/anything/new.c"
out=$(python3 "$SOURCE/tests/arch/includes.py" "$bad" || true)
for want in twin/wrong.c:1 identification/fit/wrong.c:1 logger/message/wrong.c:1 'circle of files: twin/pair/a twin/pair/b' \
    'web/anything/new.c: no row'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want"; exit 1 ;; esac
done
