# ./run where everything is missing, with stand-ins for apt-get, sudo and cmake. On success it prints little. After a
# failure it prints the last lines of the tool, and what to do. It needs no root and no network.
set -eu
for tool in ninja script; do command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool"; exit 77; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "first_build: $*" >&2; [ ! -e "$work/out" ] || cat "$work/out" >&2; exit 1; }

mkdir -p "$work/bin" "$work/tree/cmake" "$work/tree/base"
cp "$SOURCE/run" "$work/tree"
cp "$SOURCE/cmake/deps.sh" "$work/tree/cmake"
touch "$work/tree/base/a.c" "$work/tree/base/b.c"
for tool in awk cat chmod dirname env find grep head ln mkdir mktemp ninja rm script sed sh sync tail touch wc; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done

stub() { # NAME: a program from standard input
    { echo '#!/bin/sh'; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
stub id <<'END'
echo 1000
END
stub nproc <<'END'
echo 2
END
stub df <<'END'
echo 'Filesystem 1048576-blocks Used Available Capacity Mounted on'
echo "/dev/disk 100000 0 ${STUB_FREE_MB:-90000} 0% /"
END
stub dpkg-query <<'END'
[ ! -e "$STUB/installed" ] || echo installed
END
# Like the real sudo, the stand-in closes its caller's descriptors. The system's policy file stays as it is.
stub sudo <<'END'
case "$*" in *tee*policy-rc.d*) cat >/dev/null; exit ;; *policy-rc.d*) exit ;; esac
exec 3>&- 4>&-
exec "$@"
END
stub apt-get <<'END'
noise() { for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "NOISE $i"; echo "NOISE $i" >&2; done; }
case " $* " in
*' --assume-no '*)
    [ -e "$STUB/lists" ] || { echo 'E: Unable to locate package gcc' >&2; exit 100; }
    printf '%s\n' "${STUB_UPGRADED:-0} upgraded, 170 newly installed, 0 to remove and 7 not upgraded." \
        'Need to get 114 MB of archives.' 'After this operation, 422 MB of additional disk space will be used.' Abort.
    exit 1 ;;
*' update '*)
    noise
    [ "${STUB_APT:-}" != offline ] || { echo "W: Failed to fetch  Temporary failure resolving 'x'" >&2; exit; }
    touch "$STUB/lists" ;;
*' install '*)
    echo "$*" >"$STUB/arguments"
    noise
    for i in 0 20 40 60 80 99; do echo "dlstatus:1:$i.2500:Retrieving file $i" >&3; done
    for i in 0 10 20 30 40 50 60 70 80 90 99; do echo "pmstatus:gcc:$i.7000:Unpacking" >&3; done
    [ "${STUB_APT:-}" != broken ] || { echo 'E: Sub-process /usr/bin/dpkg returned an error code (1)' >&2; exit 100; }
    touch "$STUB/installed" ;;
esac
END
# The stand-in prepares a build of 60 steps for the real ninja; each step prints something.
stub cmake <<'END'
[ "$1" != --build ] || { build=$2; shift 3; exec ninja -C "$build" "$@"; }
echo "NOISE from cmake"
[ "${STUB_BUILD:-}" != no_cmake ] || { echo 'CMake Error: gsl was not found'; exit 1; }
mkdir -p "build/$4"
{
    printf 'rule warn\n  command = echo "NOISE: lto-wrapper: warning" >&2; touch $out\n'
    printf 'rule program\n  command = %s\n' "sh $STUB/link"
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        echo "build $i.o: warn"; echo "build $i.a: warn $i.o"; files="${files:-} $i.a"
    done
    echo "build tandem: program $files"
} >"build/$4/build.ninja"
END
echo 'printf "#!/bin/sh\necho demo \$*\n" >tandem; chmod +x tandem' >"$work/link"
echo 'for i in 1 2 3 4 5 6 7 8 9; do echo "a.c:$i: error: unknown type"; done; exit 1' >"$work/compile_error"
echo 'echo "fatal error: a.o: No space left on device"; exit 1' >"$work/full"

# try STATUS LINES [VARIABLE=VALUE...] [-- OPTION...]: without a build, ./run ends with STATUS in at most LINES lines
try() {
    want=$1 lines=$2
    shift 2
    rm -rf "$work/tree/build"
    again "$want" "$lines" "$@"
}
again() {
    want=$1 lines=$2 status=0
    shift 2
    variables=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do variables="$variables $1"; shift; done
    [ $# = 0 ] || shift
    # shellcheck disable=SC2086 # words
    (cd "$work/tree" && env PATH="$work/bin" STUB="$work" TERM=xterm $variables ./run "$@") >"$work/out" 2>&1 ||
        status=$?
    [ "$status" = "$want" ] || fail "exit $status, not $want: $variables $*"
    [ "$(wc -l <"$work/out")" -le "$lines" ] || fail "more than $lines lines: $variables $*"
    [ "$want" != 0 ] || ! grep -q NOISE "$work/out" || fail "what tools print is shown, though all went well"
}
says() { grep -q -- "$1" "$work/out" || fail "does not say: $1"; }
bare() { rm -f "$work/lists" "$work/installed"; }

try 0 16 -- --for 10
says '^Installs 170 packages, builds in about 1 minute, needs 566 MB\.$'
says '^installing packages: [0-9]* %$'
says '^building build/run: 61 of 61$'
says '^demo demo --for 10$'
[ "$(readlink "$work/tree/build/tandem")" = run/tandem ] || fail "build/tandem is not the program of build/run"
grep -q force-unsafe-io "$work/arguments" || fail "dpkg waits for the disk after each new file"
again 0 1
try 0 6 -- --check
says '^Builds in about 1 minute, needs 30 MB\.$'
try 0 6 -- --release --check
[ "$(readlink "$work/tree/build/tandem")" = release/tandem ] || fail "build/tandem is not the program of build/release"

bare
try 0 16 STUB_UPGRADED=1
! grep -q force-unsafe-io "$work/arguments" || fail "a power cut could break packages that are in use"

bare # A terminal shows progress in one line that is rewritten: three lines in total, whatever the work.
rm -rf "$work/tree/build"
(cd "$work/tree" && env PATH="$work/bin" STUB="$work" TERM=xterm SHELL=/bin/sh script -qec ./run /dev/null) \
    >"$work/out" </dev/null
[ "$(wc -l <"$work/out")" -le 3 ] || fail "more than three lines on a terminal"
[ "$(tr -cd '\r' <"$work/out" | wc -c)" -ge 60 ] || fail "no line moves on a terminal"
! grep -q NOISE "$work/out" || fail "what tools print is shown on a terminal, though all went well"

bare
try 1 12 STUB_APT=offline
says 'Check the network'
try 1 24 STUB_APT=broken
says 'dpkg returned an error'
says 'By hand, as root: apt install'
try 1 3 STUB_FREE_MB=200
says '200 MB free, and 566 MB are needed'
mv "$work/bin/sudo" "$work/sudo"
try 1 3
says 'no sudo'
mv "$work/sudo" "$work/bin/sudo"
mv "$work/bin/apt-get" "$work/apt-get"
try 1 3
says 'not Debian'
mv "$work/apt-get" "$work/bin/apt-get"

touch "$work/installed"
try 1 6 STUB_BUILD=no_cmake
says 'gsl was not found'
says 'build/run.log'
cp "$work/compile_error" "$work/link"
try 1 20
says 'a.c:1: error: unknown type'
says 'build/run.log'
cp "$work/full" "$work/link"
try 1 10
says 'The disk is full'
