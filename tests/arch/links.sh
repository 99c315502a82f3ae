#!/bin/sh
# Links of documents have targets, docs/README.md leads to every page, the glossary has the terms of API and page.
# The check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/links.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/docs" "$bad/web/page"
printf '# Index\n\n[a](a.md#one-thing), [no file](gone.md), [no heading](a.md#another)\n' >"$bad/docs/README.md"
printf '# A\n\n## One thing\n' >"$bad/docs/a.md"
printf '# Lost\n' >"$bad/docs/lost.md"
printf '// docs/a.md#nothing, docs/removed.md\n' >"$bad/web/page.js"
printf '| term | meaning |\n| SYNC | together |\n| alarm | odd |\n' >"$bad/docs/glossary.md"
printf 'verdict: {enum: [SYNC, TORN]}\n' >"$bad/web/openapi.yaml"
printf 'tabs = [{label: "Alarms"}, {label: "Orbit"}]\n' >"$bad/web/page/view_pair.js"
out=$(python3 "$SOURCE/tests/arch/links.py" "$bad" || true)
for want in 'README.md: gone.md: there is no' 'README.md: a.md#another: no such' 'docs/lost.md: not reached' \
    'page.js: docs/a.md#nothing' 'page.js: there is no docs/removed.md' 'TORN is missing' 'Orbit is missing'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want: $out"; exit 1 ;; esac
done
case $out in *'SYNC is missing'* | *'Alarm is missing'*) echo "a known term is refused: $out"; exit 1 ;; *) ;; esac
case $out in *one-thing*) echo "a good link is refused: $out"; exit 1 ;; *) ;; esac
