# tests/e2e/cu_info.sh – cu-info from the command line: drawings, the OMP_PLACES line, JSON, errors.
# Needs BIN; run through tests/run.sh.
unset OMP_PLACES OMP_PROC_BIND CU_LAYOUT CU_DEVICES
. tests/check.sh

shows() { # words that the output must hold, arguments…
    words=$1
    shift
    out=$("$BIN/cu-info" "$@" 2>"$log") || say "$* exits $?: $(cat "$log")"
    case $out in *"$words"*) ;; *) say "$*: '$words' is not in: $out" ;; esac
}
log=$work/log

shows "back ends" --layout 1x1
shows "OMP_PLACES='{0:2}:7:2,{14}:2:1'" --topology "core:16 pu:1" --layout 7x2+2
shows "OMP_PLACES='{0:4}:3:4,{12}:4:1'" --topology "pack:2 core:8 pu:1" --layout 3x4+4
shows "0/. 0/. 1/. 1/. A/. B/." --topology "core:6 pu:2" --layout 2x2+2
shows "0 0 A A A B B B" --topology "core:8 pu:1" --layout 1x2+2x3
shows "layout     1x2+2x3" --topology "core:8 pu:1" --layout "1x2 + 2x3" --places "{0:2},{2:3}:2:3"
shows '"width": 3' --topology "core:8 pu:1" --layout 1x2+2x3 --json
shows "layout     4x2+1" --topology "core:9 pu:1" --places "{0:2}:4:2, {8}:1:1" --devices cuda:0
shows "layout     63x1+1" --topology "pack:2 core:32 pu:2" --devices cuda:0
shows "Usage: cu-info" --help

for key in host cpus topology places backends layout units reason devices; do
    shows "\"$key\":" --layout 1x1 --json
done
shows "\"omp_places\": \"{0:2}:4:2,{8}\"" --topology "core:9 pu:1" --layout 4x2+1 --json
shows "layout" --layout 1x1 --json "$log.json"
grep -q '"layout": "1x1"' "$log.json" || say "--json FILE: $(cat "$log.json")"

refused 2 "place 0 is cpus 0-2, 3 wide" "$BIN/cu-info" --topology "core:9 pu:1" --layout 1x4+1 \
    --places "{0:3}:1:1, {4}:1:1"
refused 2 "place 1 is cpus 4-5, 2 wide, but 3 threads feed" "$BIN/cu-info" --topology "core:9 pu:1" --layout 1x4+1x3 \
    --places "{0:4}, {4:2}"
refused 2 "no thread feeds" "$BIN/cu-info" --layout 1x1+1x0
refused 3 "8 threads on 7 cpus" "$BIN/cu-info" --topology "core:7 pu:1" --layout 1x2+2x3 --strict
refused 3 "names cpus 9" "$BIN/cu-info" --topology "core:9 pu:1" --places "{8:2}"
refused 3 "13 threads on 4 cpus" "$BIN/cu-info" --topology "core:4 pu:1" --layout 3x4+1 --strict
refused 3 "999 devices" "$BIN/cu-info" --layout 9x9+999
refused 2 "more than 65536 units" "$BIN/cu-info" --layout 1048576x1
refused 2 "7x2+2" "$BIN/cu-info" --layout 7x
refused 2 "synthetic" "$BIN/cu-info" --topology nonsense
refused 2 "has 2147483647 pus" "$BIN/cu-info" --topology 2147483647
refused 2 "has 32768 pus" "$BIN/cu-info" --topology "pack:16 [numa(memory=8000000)] core:1024(indexes=core) 2"
shows "layout     1x1" --topology "[numa(memory=4000000000)] L3:2 core:2 2" --layout 1x1
refused 2 "layouts" "$BIN/cu-info" --layouts 1x1

# A unit that waits for another one: one zone of four is the other's.
cat >"$log.json" <<'EOF'
{"program": "p", "problem": "q", "layout": "2x1", "schedule": "static", "seconds": 4, "computation_s": 3.5,
 "communication_s": 0.5, "planning_s": 0.32, "lower_bound_s": 2, "ranks": 1, "host": "elsewhere", "verified": true,
 "loss": {"imbalance_s": 1.5, "launch_s": 0.1, "transfer_s": 0.5, "contention_s": 0},
 "units": [{"kind": "cpu", "name": "cpu0", "width": 1, "busy_s": 3.4}, {"kind": "cpu", "name": "cpu1", "width": 1, "busy_s": 0.34},
 {"kind": "device", "name": "cuda:0", "width": 1, "busy_s": 2.0, "starving_s": 1.5}]}
EOF
shows "less than 2 s; this one took 3.5 s" --explain "$log.json"
shows " 38 %  units had nothing to do" --explain "$log.json"
shows " 12 %  exchanges" --explain "$log.json"
shows "  8 %  the policy's decisions" --explain "$log.json"
shows " 90 %  unit cpu1 (cpu) was idle" --explain "$log.json"
shows " 75 %  device cuda:0 waited for work during its own tasks" --explain "$log.json"
case $out in *launch*|*ranges*) say "2.5 % are worth no line: $out" ;; esac
# Cores that no unit had, and more threads than there are.
for cores in 2 4 8; do
    sed "s/\"ranks\": 1/&, \"cores\": $cores/" "$log.json" >"$log.$cores.json"
done
shows " 33 %  3 threads shared 2 cores" --explain "$log.2.json"
shows " 62 %  5 of 8 cores had no unit" --explain "$log.8.json"
shows " 25 %  1 of 4 cores" --explain "$log.4.json"

# Traces: 16 steps of 8 tasks of 1 s on two units, some of which take longer.
trace() { # how many times as long task t of step k takes on unit u, in Python
    python3 - "$1" <<'END'
import json, sys
events = [{"name": "process_name", "ph": "M", "pid": 3, "tid": 0, "args": {"name": "other"}},
          {"name": "process_name", "ph": "M", "pid": 4, "tid": 0, "args": {"name": "static"}}]
for k in range(16):
    for t in range(8):
        u = t // 4
        seconds = eval(sys.argv[1])
        events.append({"name": "compute", "cat": "compute", "ph": "X", "pid": 4, "tid": u, "ts": 0,
                       "dur": 1e6 * seconds, "args": {"step": k, "first": t, "count": 1}})
        events.append({"name": "compute", "cat": "compute", "ph": "X", "pid": 3, "tid": u, "ts": 0,
                       "dur": 1e6 * (1 + k + u), "args": {"step": k, "first": t, "count": 1}})
run = {"program": "p", "problem": "q", "layout": "2x1", "schedule": "static", "seconds": 64, "ranks": 1, "loss": {},
       "units": [{"kind": "cpu", "name": "cpu0", "width": 1, "busy_s": 64}, {"kind": "cpu", "name": "cpu1", "width": 1, "busy_s": 64}]}
print(json.dumps({"traceEvents": events, "otherData": {"result": {"runs": [run], "task_seconds": {"cpu": [1] * 8, "device": None}}}}))
END
}
trace '1' >"$log.json"
shows "p q: static on 2x1 took 64 s" --explain "$log.json"
case $out in *%*) say "an even run explains itself by: $out" ;; esac
trace '5 if k == 0 else 1' >"$log.json" # 4 s of each unit
shows " 25 %  tasks of the first step took 5 times as long" --explain "$log.json"
case $out in *quarter*|*"same tasks"*) say "a first step is also: $out" ;; esac
trace '2 if k >= 12 else 1' >"$log.json" # 16 s of 64
shows " 25 %  tasks of the last quarter took 2 times as long" --explain "$log.json"
case $out in *"first step"*|*"same tasks"*) say "a slow end is also: $out" ;; esac
trace '1.5 if u == 1 else 1' >"$log.json" # 32 s too many of one of two units
shows " 25 %  unit cpu1 took 1.5 times as long" --explain "$log.json"
case $out in *"first step"*|*quarter*) say "a slow unit is also: $out" ;; esac
sed 's/"first": [0-9]*, "count": [0-9]*/"first": -1e300, "count": 1e301/' "$log.json" >"$log.wild.json"
grep -q 1e301 "$log.wild.json" && timeout 20 "$BIN/cu-info" --explain "$log.wild.json" >"$log.wild" ||
    say "tasks that nobody has: exit $?, $(cat "$log.wild")"
echo '{}' >"$log.json"
refused 2 "no finished run in it" "$BIN/cu-info" --explain "$log.json"
exit $failed
