#!/bin/sh
# Tables of the documents equal those of the stored campaign, and campaign.py finds differences: a table edited by hand,
# a falsified count, a row that a run lacks.
set -eu
command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "campaign: $*" >&2; exit 1; }
mkdir "$work/tests"
cp -r "$SOURCE/docs" "$work"
cp -r "$SOURCE/tests/campaign" "$SOURCE/tests/stat" "$work/tests"
cd "$work"
campaign() { python3 tests/campaign/campaign.py "$@"; }
# refused WORDS ARGUMENT...: the check fails, and gives the reason in these words.
refused() {
    words=$1
    shift
    if campaign check "$@" 2>said; then fail "nothing said of: $words"; fi
    grep -q "$words" said || fail "wanted '$words': $(cat said)"
}

campaign check --documents || fail "the documents of this tree"
grep -v '^#' tests/campaign/results.tsv | cut -f 1-5,8- >run
campaign check --fresh run || fail "a run that is what is stored"

cp tests/campaign/results.tsv stored
sed -i '/^output_error	measurement noise	d1	/s/interval=[0-9]*/interval=120/' tests/campaign/results.tsv
cmp -s stored tests/campaign/results.tsv && fail "no count to falsify"
refused 'measurement noise · d1: interval is 120 of 200 as stored and 1.. of 200 in a run' --fresh run
refused 'evidence.md: its tables are not what is stored' --documents
cp stored tests/campaign/results.tsv

sed -i '/^| d1 | 200 /s/ \[[0-9]/ [1/' docs/model/evidence.md
refused 'evidence.md: its tables are not what is stored' --documents
[ "$(campaign docs)" = docs/model/evidence.md ] || fail "more than one document written"
cmp -s docs/model/evidence.md "$SOURCE/docs/model/evidence.md" || fail "the document is not as before"

sed '/^output_error	measurement noise	d1	/d' run >less
refused 'measurement noise · d1: stored, but not in a run' --fresh less
sed -i '/"output_error": /d' tests/campaign/campaign.py
refused 'output_error: is not both in tests/stat and in STUDIES' --documents

# Fisher's lady tasting tea; R's binom.test(187, 200).
cd tests/campaign
python3 -c '
import campaign
assert abs(campaign.compare_counts(3, 4, 1, 4) - 34 / 70) < 1e-9, campaign.compare_counts(3, 4, 1, 4)
low, high = campaign.find_interval(187, 200)
assert abs(low - 0.891) < 5e-4 and abs(high - 0.965) < 5e-4, (low, high)
assert abs(campaign.find_interval(0, 60)[1] - 0.0487) < 1e-4, campaign.find_interval(0, 60)'
