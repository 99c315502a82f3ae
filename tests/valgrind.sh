#!/bin/sh
# Runs the unit tests under valgrind: tests/valgrind.sh [SUITE...]   (default: every tests/unit/test_*.c)
# Builds without sanitizers in build/valgrind. Exit status 1 if one of them fails, leaks or reads uninitialised memory.
set -eu
cd "$(dirname "$0")/.."
build=build/valgrind
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g" >/dev/null
[ $# -gt 0 ] || set -- $(ls tests/unit/test_*.c | sed 's|.*/||; s|\.c$||')
cmake --build $build --target tandem tests_unit
failed=0
for name in "$@"; do
    status=0
    TANDEM_VALGRIND=1 timeout 1800 valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        --show-leak-kinds=definite --child-silent-after-fork=yes $build/tests/tests_unit "$name" >$build/"$name".out \
        2>$build/"$name".err || status=$?
    if [ $status -eq 0 ]; then
        echo "valgrind $name: clean"
    else
        echo "valgrind $name: exit status $status, see $build/$name.out and .err"
        failed=1
    fi
done
exit $failed
