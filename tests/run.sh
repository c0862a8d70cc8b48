#!/usr/bin/env bash
# tests/run.sh PROGRAM… – runs the unit tests and tests/e2e/*.sh, each with its own time limit and a
# private OpenCL cache; prints the CPU seconds of each, what failed and, last,
# "N passed, N failed[, N skipped]". Environment: BUILD, BIN, SAN as make sets them; EK_LONG=1 runs
# instead what takes long: tests/e2e/long/*.sh and the tests that ask for EK_LONG, with their long parts;
# TESTS=word runs only tests whose name holds it.
set -u
export LC_ALL=C BIN=${BIN:-bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=$work/pocl XDG_CACHE_HOME=$work/cache
mkdir -p "$POCL_CACHE_DIR" "$XDG_CACHE_HOME"
# LLVM, inside the kernel compilers, has signal stacks of its own.
export ASAN_OPTIONS=use_sigaltstack=0
# What the vendors' libraries leave behind is not ours to report.
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
passed=0 failed=0 skipped=0
limit=$([ -z "${EK_LONG:-}" ] && echo 600 || echo 2400)

number_before() { # "PASSED  ] 7 test" , summed over the groups of a program
    sed -n "s/.*\[  $1  \] \([0-9]*\) test.*/\1/p" "$work/log" | awk "{ n += \$1 } END { print n + 0 }"
}

run() { # name, command…
    local name=$1 rc good bad cpu
    shift
    [[ $name == *${TESTS:-}* ]] || return 0
    local TIMEFORMAT='%U %S'
    { time timeout -k 5 "$limit" "$@" </dev/null >"$work/log" 2>&1; } 2>"$work/cpu"
    rc=$?
    cpu=$(awk 'END { printf "%.1f", $1 + $2 }' "$work/cpu")
    if [ $rc = 77 ]; then
        skipped=$((skipped + 1))
        echo "  skip   $name: $(tail -1 "$work/log")"
        return
    fi
    good=$(number_before PASSED) bad=$(number_before FAILED)
    [ $rc = 0 ] && [ "$good" = 0 ] && good=1
    [ $rc != 0 ] && [ "$bad" = 0 ] && bad=1
    passed=$((passed + good)) failed=$((failed + bad))
    if [ $rc = 0 ]; then
        echo "  ok     $name ($good), $cpu s"
    else
        echo "  FAILED $name (exit $rc)"
        grep -vE '^\[ (RUN|      OK)' "$work/log" | tail -40 | sed 's/^/         /'
    fi
}

# With EK_LONG those that know it, which do more then, and the long ones.
knows_long() { [ -z "${EK_LONG:-}" ] || grep -q EK_LONG "$1"; }
for program in "$@"; do
    knows_long "tests/$(basename "$program").c" && run "$(basename "$program")" "$program"
done
for script in tests/e2e/*.sh; do
    knows_long "$script" && run "e2e/$(basename "$script" .sh)" bash "$script"
done
for script in ${EK_LONG:+tests/e2e/long/*.sh}; do
    run "e2e/long/$(basename "$script" .sh)" bash "$script"
done
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
