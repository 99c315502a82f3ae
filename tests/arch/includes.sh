#!/bin/sh
# Tests the include directions, and that the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/includes.py" "$SOURCE" --symbols "$BUILD"
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
# The check by symbols: a core room calls the shell, and two files call each other, without any include.
cd "$bad"
build() { # ARCHIVE FILE TEXT: one object in one archive
    printf '%s\n' "$3" >"$2.c"
    ${CC:-cc} -c "$2.c" -o "$2.c.o"
    ar q "libtandem_$1.a" "$2.c.o" 2>/dev/null
}
build twin_pair low 'void high(void); void low(void) { high(); }'
build web_server high 'void high(void) { }'
build web_http left 'void right(void); void left(void) { right(); }'
build web_http right 'void left(void); void right(void) { left(); }'
out=$(python3 "$SOURCE/tests/arch/includes.py" "$SOURCE" --symbols "$bad" || true)
for want in 'twin/pair/low calls web/server/high' 'circle of calls in web/http: left right'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want"; exit 1 ;; esac
done
