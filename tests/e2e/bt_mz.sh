# tests/e2e/bt_mz.sh – bt-mz from the command line: results, exit codes, one helpful line per error.
# Needs BIN; run through tests/run.sh.
. tests/check.sh
needs_two_cpus

log=$work/log

verified bt-mz --class S --layout 2x1 --schedule static
verified bt-mz --class S --layout 1x2 --schedule dynamic
verified bt-mz --class S --layout 0x0+1 --devices host:0
verified bt-mz --class S --layout 1x1+2 --devices host:0,host:1 --schedule dynamic
if has_opencl; then
    verified bt-mz --class S --layout 0x0+1 --devices opencl:0
    verified bt-mz --class S --layout 1x1+1 --devices opencl:0 --schedule dynamic
    verified bt-mz --class S --layout 1x1+1 --devices opencl:0 --schedule memorizing-dynamic:learn=2
    CU_OPENCL_SPLIT=2 verified bt-mz --class S --layout 0x0+2 --devices opencl:0,opencl:1 --schedule dynamic
fi

# A file written to standard output has it to itself.
for option in --json --trace; do
    "$BIN/bt-mz" --class S --steps 2 --layout 1x1 --check $option - 2>"$log" | python3 -m json.tool >/dev/null 2>&1 ||
        say "$option -: there is more than JSON"
    "$BIN/bt-mz" --class S --steps 2 --layout 1x1 $option - 2>"$log" | python3 -m json.tool >/dev/null 2>&1 ||
        say "$option -: there is more than JSON"
done
[ "$("$BIN/bt-mz" --class S --steps 2 --layout 1x1 --report - | head -c 9)" = '<!DOCTYPE' ] || say "--report -: there is more than the page"
refused 2 'only one of' "$BIN/bt-mz" --class S --json - --trace -

refused 2 "unknown class 'Z'" "$BIN/bt-mz" --class Z
refused 2 "unknown class ' '" "$BIN/bt-mz" --class ' '
refused 3 '9 devices' "$BIN/bt-mz" --layout 9x9+9
refused 2 "schedule: 'nope'" "$BIN/bt-mz" --schedule nope
refused 3 'opencl:' "$BIN/bt-mz" --devices opencl:7
refused 2 "mean 'dynamic'" "$BIN/bt-mz" --schedule dynamc
refused 2 "mean 'schedule'" "$BIN/bt-mz" --schedul3 static
refused 2 'mean .opencl' "$BIN/bt-mz" --devices opncl:0
refused 3 'TB of memory, .* are available' "$BIN/bt-mz" --class F
refused 3 'cannot be written' "$BIN/bt-mz" --class S --json "$work/nowhere/file"

# OMP_PLACES that agree with the layout, and others that do not.
OMP_PLACES='{0}:1:1,{1}:1:1' CU_LAYOUT=2x1 "$BIN/bt-mz" --class S --check >"$work/out" 2>&1 ||
    say "OMP_PLACES that agree are refused: $(cat "$work/out")"
OMP_PLACES='{0}:1:1,{1}:1:1' CU_LAYOUT=3x1 "$BIN/bt-mz" --class S >"$work/out" 2>&1
[ $? = 2 ] || say "OMP_PLACES that disagree: not exit 2"
# A runtime that has bound the first thread to a cpu.
OMP_PROC_BIND=true "$BIN/bt-mz" --class S --steps 1 --layout 2x1 --quiet >"$work/out" 2>&1 || say "OMP_PROC_BIND: $(cat "$work/out")"

# The same bits for any policy and any number of units.
first=$(norms_of bt-mz --layout 1x1 --schedule static)
[ -n "$first" ] || say 'no norms in the JSON'
for layout in 2x1 1x2; do
    for schedule in static dynamic memorizing-dynamic; do
        [ "$(norms_of bt-mz --layout $layout --schedule $schedule)" = "$first" ] ||
            say "norms differ: $layout $schedule"
    done
done

# Units that die: others take over, the data of a lost device are recomputed, the result verifies.
for fault in unit:0@step:9 unit:1@step:9; do
    CU_FAULT=$fault "$BIN/bt-mz" --class S --layout 2x1 --schedule static --json "$work/f.json" \
        >/dev/null 2>&1 || say "CU_FAULT=$fault: exit $?"
    grep -q '"units_lost": 1' "$work/f.json" || say "CU_FAULT=$fault: the loss is not reported"
    CU_FAULT=$fault "$BIN/bt-mz" --class S --layout 1x1+1 --devices host:0 --schedule dynamic \
        --check >/dev/null 2>&1 || say "CU_FAULT=$fault with a device: exit $?"
done
CU_HOST_FAULT=launch:500 "$BIN/bt-mz" --class S --layout 1x1+1 --devices host:0 --check \
    >/dev/null 2>&1 || say 'a failing launch is not survived'
for n in 5 6 7 8; do # also if another unit notices the loss while it fetches a zone
    CU_HOST_FAULT=read:$n "$BIN/bt-mz" --class S --layout 1x1+1 --devices host:0 \
        --schedule dynamic --check >/dev/null 2>&1 || say "a failing read $n is not survived"
done
for n in 2 5 6 12; do # while two threads feed each device: opening, moving zones in, later
    CU_HOST_FAULT=write:$n@1 "$BIN/bt-mz" --class S --layout 0x0+2x2 --devices host:0,host:1 \
        --schedule dynamic --check >/dev/null 2>&1 || say "a failing write $n is not survived"
done
CU_FAULT=unit:1@step:9999,unit:0@slow:2@step:60,unit:0@slow:2@step:61 "$BIN/bt-mz" --class S \
    --layout 2x1 >/dev/null 2>"$work/err" || say "faults that never happen: exit $?"
[ "$(grep -c 'never happened: the run had 60 steps' "$work/err")" = 2 ] ||
    say "faults that never happen: $(cat "$work/err")"
CU_FAULT=unit:0@step:2,unit:1@step:3 "$BIN/bt-mz" --class S --layout 2x1 >/dev/null 2>&1
[ $? = 3 ] || say 'losing the last unit is not exit 3'

# A comparison: every policy, every file.
"$BIN/bt-mz" --class S --layout 2x1 --compare --repeat 2 --json "$work/c.json" \
    --report "$work/c.html" --trace "$work/c.trace" >"$work/table" 2>&1 || say '--compare fails'
[ "$(grep -c '"schedule"' "$work/c.json")" = "$("$BIN/bt-mz" --list-schedules | grep -c '^[a-z]')" ] ||
    say 'compare leaves policies out'
grep -q 'NO$' "$work/table" && say 'compare: a run is not verified'
grep -q '"traceEvents"' "$work/c.trace" || say 'no trace events'
grep -q '@DATA@' "$work/c.html" && say 'the report has no data'
ls "$work" | grep -q part && say 'partial files are left'

# The same events for Paje's tools: sorted by time, balanced, and of existing containers.
"$BIN/bt-mz" --class S --layout 2x1 --compare static,dynamic --trace "$work/t.paje" >/dev/null 2>&1 ||
    say 'no Paje trace'
awk '/^%/ { next } $1 == 4 { there[$3] = 1 } $1 == 5 { delete there[$4] }
    $1 == 6 { n[$5]++; bad += !($4 in there) || $2 < last || /compute "[^0-9]/; last = $2 }
    END { for (c in there) bad++
          exit bad || n["compute"] != 480 || n["idle"] != n["compute"] + n["exchange"] + n["move"] }' \
    "$work/t.paje" || say "Paje trace: $(grep -c '^6' "$work/t.paje") states"

# Ctrl-C, sent once the first policy has finished: the table of finished runs, exit 4.
"$BIN/bt-mz" --class W --layout 1x1 --compare --repeat 64 >"$work/table" 2>&1 &
pid=$!
for _ in $(seq 300); do
    [ -s "$work/table" ] && break
    sleep 0.2
done
sleep 1
kill -INT "$pid"
wait "$pid"
rc=$?
[ $rc = 4 ] || say "interrupted run exits $rc"
grep -q 'interrupted' "$work/table" || say "no table after Ctrl-C: $(cat "$work/table")"
exit $failed
