# tests/e2e/cu_info.sh – cu-info from its command line: drawings, the OMP_PLACES line, JSON, errors.
# Needs BIN; run through tests/run.sh.
unset OMP_PLACES OMP_PROC_BIND CU_LAYOUT CU_DEVICES
. tests/check.sh

shows() { # words that the output must hold, arguments…
    words=$1
    shift
    out=$("$BIN/cu-info" "$@" 2>"$log") || say "$* exits $?: $(cat "$log")"
    case $out in *"$words"*) ;; *) say "$*: '$words' is not in: $out" ;; esac
}
refused() { # exit code, words that the one line must hold, arguments…
    code=$1 words=$2
    shift 2
    "$BIN/cu-info" "$@" >/dev/null 2>"$log"
    rc=$?
    [ $rc = "$code" ] || say "$* exits $rc instead of $code"
    [ "$(wc -l <"$log")" = 1 ] || say "$*: not one line on stderr: $(cat "$log")"
    grep -q -- "$words" "$log" || say "$*: '$words' is not in: $(cat "$log")"
}
log=$work/log

shows "back ends" --layout 1x1
shows "OMP_PLACES='{0:2}:7:2,{14}:2:1'" --topology "core:16 pu:1" --layout 7x2+2
shows "OMP_PLACES='{0:4}:3:4,{12}:4:1'" --topology "pack:2 core:8 pu:1" --layout 3x4+4
shows "0/. 0/. 1/. 1/. A/. B/." --topology "core:6 pu:2" --layout 2x2+2
shows "layout     4x2+1" --topology "core:9 pu:1" --places "{0:2}:4:2, {8}:1:1" --devices cuda:0
shows "layout     63x1+1" --topology "pack:2 core:32 pu:2" --devices cuda:0
shows "Usage: cu-info" --help

for key in host cpus topology places backends layout units reason devices; do
    shows "\"$key\":" --layout 1x1 --json
done
shows "\"omp_places\": \"{0:2}:4:2,{8}\"" --topology "core:9 pu:1" --layout 4x2+1 --json
shows "layout" --layout 1x1 --json "$log.json"
grep -q '"layout": "1x1"' "$log.json" || say "--json FILE: $(cat "$log.json")"

refused 2 "place 0 is cpus 0-2, 3 wide" --topology "core:9 pu:1" --layout 1x4+1 \
    --places "{0:3}:1:1, {4}:1:1"
refused 3 "names cpus 9" --topology "core:9 pu:1" --places "{8:2}"
refused 3 "13 threads on 4 cpus" --topology "core:4 pu:1" --layout 3x4+1 --strict
refused 3 "999 devices" --layout 9x9+999
refused 2 "7x2+2" --layout 7x
refused 2 "synthetic" --topology nonsense
refused 2 "layouts" --layouts 1x1

# A unit that waits for another one: one zone of four is the other's.
cat >"$log.json" <<'EOF'
{"program": "p", "problem": "q", "layout": "2x1", "schedule": "static", "seconds": 4, "computation_s": 3.5,
 "communication_s": 0.5, "lower_bound_s": 2, "ranks": 1, "host": "elsewhere", "verified": true,
 "loss": {"imbalance_s": 1.5, "launch_s": 0.1, "transfer_s": 0.5, "contention_s": 0},
 "units": [{"kind": "cpu", "name": "cpu0", "width": 1, "busy_s": 3.4}, {"kind": "cpu", "name": "cpu1", "width": 1, "busy_s": 0.34},
 {"kind": "device", "name": "cuda:0", "width": 1, "busy_s": 2.0, "starving_s": 1.5}]}
EOF
shows "less than 2 s; this one took 3.5 s" --explain "$log.json"
shows " 38 %  units had nothing to do" --explain "$log.json"
shows " 12 %  exchanges" --explain "$log.json"
shows " 90 %  unit cpu1 (cpu) did nothing" --explain "$log.json"
shows " 75 %  device cuda:0 had nothing to do in tasks of its own" --explain "$log.json"
case $out in *launch*|*ranges*) say "2.5 % are worth no line: $out" ;; esac
echo '{}' >"$log.json"
refused 2 "no finished run in it" --explain "$log.json"
exit $failed
