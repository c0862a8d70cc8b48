# tests/e2e/cu_run_optimum.sh – plans of small drawn jobs on up to four cores of unlike nodes, with
# dependencies, GPUs, memory and limits of width: every method's plan is checked, no plan is shorter
# than the bound, and evenkeel's is as short as the best of all semi-active schedules.
. tests/check.sh
python3 tests/moldable_optimum.py "$BIN/cu-run" "$work/job.json" "${SEED:-1}" "${CASES:-60}" || failed=1
exit $failed
