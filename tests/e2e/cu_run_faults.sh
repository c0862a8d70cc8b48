# tests/e2e/cu_run_faults.sh – drawn jobs whose tasks fail in all ways, and whose runs are killed,
# interrupted, lose nodes or find their journal damaged: whatever happens, every task ends in the
# state that the rules say, runs beside no more than its node holds, and is not done twice.
# EK_LONG=1: more of them. SEED=30 and CASES choose others.
. tests/check.sh
needs_two_cpus
python3 tests/cu_run_faults.py "$BIN/cu-run" "$work/jobs" "${SEED:-30}" "${CASES:-$([ -z "${EK_LONG:-}" ] && echo 12 || echo 60)}" || failed=1
exit $failed
