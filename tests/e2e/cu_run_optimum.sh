# tests/e2e/cu_run_optimum.sh – plans of small random jobs on up to four cores of different nodes,
# with dependencies, GPUs, memory and width limits: every method's plan is checked, no plan is
# shorter than the bound, and evenkeel's is as short as the best semi-active schedule. Large jobs
# with dependencies that were cut from full schedules take little longer than these. For many
# tasks on many different nodes evenkeel is no worse than the other methods that are fast enough
# there, and at least 5 % better where GPUs are scarce. CASES (60; 12 large ones), SEED (1).
. tests/check.sh
python3 tests/moldable_optimum.py "$BIN/cu-run" "$work/job.json" "${SEED:-1}" "${CASES:-60}" || failed=1
python3 tests/moldable_planted.py "$BIN/cu-run" "$work/job.json" "${SEED:-1}" "${CASES:-12}" || failed=1

for member in '"after": ["first"]' '"interference": 0.3' '"gpus": 1'; do
    python3 - "$member" >"$work/large.json" <<'END'
import random, sys
rng = random.Random(4)
nodes = ', '.join('{"name": "n%d", "cores": 64, "gpus": 4, "factor": %.4f}' % (i, rng.uniform(.5, 2)) for i in range(150))
tasks = ', '.join('{"count": 60, "command": "true", "time": "%.2f/p^%.2f+%.2f", %s}' %
                  (rng.lognormvariate(4, 1), rng.uniform(.5, 1), rng.uniform(.1, 3), sys.argv[1]) for _ in range(40))
print('{"nodes": [%s], "oversubscribe": true, "tasks": [{"name": "first", "command": "true", "time": "9/p"}, %s]}' % (nodes, tasks))
END
    "$BIN/cu-run" plan "$work/large.json" --method taskp,dcts,waterl,evenkeel >"$work/out" 2>"$work/err" ||
        say "$member: $(cat "$work/err")"
    [[ $member == *gpus* ]] && gain=1.05 || gain=1
    awk -v gain=$gain '/^[a-z]/ && $3 > 0 { if ($1 == "evenkeel") ours = $2; else if (!best || $2 < best) best = $2 }
         END { exit !(ours > 0 && ours * gain <= best) }' "$work/out" || say "$member: $(cat "$work/out")"
done
exit $failed
