# For tests of tandem identify: a folder for each test, and a check of refusals.
fail() { echo "${0##*/}: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$SOURCE/tests/support/fault_code.sh"

# refuse STATUS TEXT ARGUMENT...: checks the exit status, words on stderr, nothing on stdout. TEXT that begins with
# "[CODE] " is a fault of this code, with the following words in its line.
refuse() {
    want=$1 text=$2
    shift 2
    code=0
    "$TANDEM" identify "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = "$want" ] || fail "exit $code, not $want: $*"
    case $text in "["*) has_fault_code "${text%%]*}" "$work/err" "$*"; text=${text#*] } ;; esac
    grep -qF -- "$text" "$work/err" || fail "no '$text' from '$*': $(cat "$work/err")"
    grep -q '^tandem: ' "$work/err" || fail "no 'tandem: ' from '$*'"
    [ ! -s "$work/out" ] || fail "output in addition to an error: $*"
}
