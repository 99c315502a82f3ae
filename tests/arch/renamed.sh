#!/bin/sh
# No old name of docs/renamed.tsv is left, and the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/renamed.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/docs" "$bad/old_room" "$bad/new_room"
{
    printf 'room\told_room\tnew_room\npath\told_room/a.c\tnew_room/a.c\nroom\tgone_room\tno_room\nfile\tgone_room/b\tnew_room/b\n'
    printf 'id\tset_old\tset_new\nid\ttold\treported\nmember\told_member\tnew_member\nkey\tcrew\tteam\noption\t--old\t--new\n'
    printf 'metric\ttandem_old_total\ttandem_new_total\nevent\told_event\tnew_event\nword\told_word\tnew_word\n'
    printf 'id\tlost_old\tlost_new\nid\tscoped\tscoped_new\told_room/*\n'
} >"$bad/docs/renamed.tsv"
{
    printf '/* set_new() is told. */\nint set_old(int reported, int told); int scoped_new, scoped;\n'
    printf 'char *text = "new_member old_member --new team reported tandem_new_total new_event told";\n'
} >"$bad/new_room/a.c"
cp "$bad/new_room/a.c" "$bad/old_room/a.c"
printf 'The crew has a page: gone_room/b.h, "crew", --old, `tandem_old_total`, old_event.\n' >"$bad/docs/page.md"
: >"$bad/new_room/b.h"
out=$(python3 "$SOURCE/tests/arch/renamed.py" "$bad" || true)
for want in 'old_room/a.c still exists' 'no_room does not exist' 'docs/page.md:1: gone_room/b is' 'a.c:2: set_old' 'a.c:1: told is' \
    'a.c:3: old_member' 'page.md:1: crew' 'page.md:1: --old' 'page.md:1: tandem_old_total' 'page.md:1: old_event' 'kind word' \
    'lost_new occurs nowhere' 'old_room/a.c:2: scoped is'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want: $out"; exit 1 ;; esac
done
case $out in *"new_room/a.c:2: scoped"*) echo "the check does not keep to the places of a name"; exit 1 ;; *) ;; esac
