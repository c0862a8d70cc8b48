#!/usr/bin/env bash
# tests/races.sh – multi-threaded tests under ThreadSanitizer: built by clang into build-races, with Archer
# (libomp), through which it knows OpenMP's barriers. TESTS selects others, RACES_CC another clang. Last
# line: "N passed, N failed"; skipped if clang, libomp or Archer is missing.
set -u
tests=${TESTS:-test_cu_thread_pool test_cu_team test_cu_donate test_cu_farm test_cu_sched_laws test_mcsem_device test_mcsem_tables}
archer=$(clang -print-resource-dir 2>/dev/null)/../../libarcher.so
[ -e "$archer" ] || { echo "skipped: no $archer (clang, libomp-dev)"; exit 0; }
export OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS='ignore_noninstrumented_modules=1 history_size=5'
build=build-races passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Variables of the calling make must not reach these programs.
env -u MAKEFLAGS -u MAKELEVEL make -j"$(nproc)" CC="${RACES_CC:-clang}" SAN=thread OPT=-O1 levels=plain BUILD=$build \
    $(printf "$build/tests/%s " $tests) >"$log" 2>&1 || { tail -20 "$log"; echo '0 passed, 1 failed'; exit 1; }
for test in $tests; do
    timeout 600 "$build/tests/$test" >"$log" 2>&1
    rc=$?
    if [ $rc = 0 ]; then
        passed=$((passed + 1))
        echo "  ok     $test"
    elif grep -q 'FATAL: ThreadSanitizer' "$log"; then # addresses where it wants none, on some kernels
        echo "  skip   $test: $(grep -m1 'FATAL: ThreadSanitizer' "$log")"
    else
        failed=$((failed + 1))
        echo "  FAILED $test (exit $rc, $(grep -c 'WARNING: ThreadSanitizer' "$log") races)"
        grep -A12 'WARNING: ThreadSanitizer' "$log" | head -60
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
