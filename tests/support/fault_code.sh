# has_fault_code [CODE FILE WHAT...: FILE reports a fault of this code, or the test fails.
has_fault_code() {
    python3 "$SOURCE/tests/support/fault_code.py" "${1#?}" "$2" || fail "no fault ${1#?} from '$3': $(cat "$2")"
}
