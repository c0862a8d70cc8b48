# tests/e2e/capacity.sh – cu-plan --machine from the command line: the examples, restarts after
# Ctrl-C and after a kill, exit codes. Needs BIN; run through tests/run.sh.
. tests/check.sh
plan() { "$BIN/cu-plan" --machine cu/examples/pcad.json --run cu/examples/cmp-451.json "$@"; }

# All of PCAD's combinations; the answer as JSON names the policies and the nodes.
plan --schedules sorted-greedy --json "$work/a.json" >"$work/text" || say 'the example fails'
grep -q '1439 of 1439 combinations' "$work/text" || say "not all combinations: $(head -1 "$work/text")"
grep -q '"optimizer"' "$work/a.json" || say 'no nodes in the JSON'

# Interrupted, killed, continued: the same table as in one go, and no table before its time.
set -- --sample 80 --seed 3 --schedules abe,heft -j 2
plan "$@" --csv "$work/whole.csv" >/dev/null || say 'a sample fails'
[ "$(wc -l <"$work/whole.csv")" = 161 ] || say 'not a line for each scenario and policy'
for signal in INT KILL; do
    echo 'old' >"$work/plan.csv"
    plan "$@" --csv "$work/plan.csv" >/dev/null 2>&1 &
    pid=$!
    until [ "$(cat "$work/plan.csv.part" 2>/dev/null | wc -l)" -gt 20 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    if kill -$signal $pid 2>/dev/null; then
        wait $pid 2>/dev/null
        rc=$?
        [ $signal = KILL ] || [ $rc = 4 ] || [ $rc = 0 ] || say "Ctrl-C: exit $rc"
        [ $rc = 0 ] || [ "$(cat "$work/plan.csv")" = old ] || say "$signal: the old table is gone"
    fi
done
plan "$@" --csv "$work/plan.csv" >/dev/null || say 'the last part fails'
cmp -s "$work/plan.csv" "$work/whole.csv" || say 'parts and whole differ'
[ -e "$work/plan.csv.part" ] && say 'the part is left over'

# A profile of a program, and its --json, are tasks too.
CU_PROFILE_DIR=$work "$BIN/bt-mz" --class S --layout 1x1 --profile=make --json "$work/run.json" --quiet || say 'no profile'
for tasks in "--profile $(ls "$work"/bt-mz-*.json)" "--run $work/run.json"; do
    # shellcheck disable=SC2086
    "$BIN/cu-plan" --machine cu/examples/pcad.json $tasks --sample 5 --schedules heft | grep -q 'bt-mz class S' ||
        say "cu-plan $tasks fails"
done

refused 2 'either --simulate' "$BIN/cu-plan" --schedules heft
refused 2 '--report goes with --machine' "$BIN/cu-plan" --simulate tests/data/cu/pcf-40.json --report "$work/r.html"
refused 2 '--cold goes with --simulate' "$BIN/cu-plan" --machine x.json --cold
refused 2 'from --run' "$BIN/cu-plan" --machine cu/examples/pcad.json
refused 2 'nowhere' "$BIN/cu-plan" --machine nowhere.json --run cu/examples/cmp-451.json
refused 2 'nowhere' "$BIN/cu-plan" --machine cu/examples/pcad.json --run nowhere.json
sed 's/"cores": 24/"cores": -24/' cu/examples/pcad.json >"$work/machine.json"
refused 2 'nodes\[2\].cores = -24' "$BIN/cu-plan" --machine "$work/machine.json" --run cu/examples/cmp-451.json
refused 2 'nope' "$BIN/cu-plan" --machine cu/examples/pcad.json --run cu/examples/cmp-451.json --schedules nope
refused 2 'jobs' "$BIN/cu-plan" --machine cu/examples/pcad.json --run cu/examples/cmp-451.json -j zero
refused 3 'cannot be written' "$BIN/cu-plan" --machine cu/examples/pcad.json --run cu/examples/cmp-451.json --sample 2 --csv "$work/nowhere/x"

# A device or a pipe holds nothing to go on from, and is not read.
timeout 60 "$BIN/cu-plan" --machine cu/examples/pcad.json --run cu/examples/cmp-451.json --sample 2 --csv /dev/full >"$work/out" 2>&1
[ $? = 3 ] || say "--csv /dev/full: $(cat "$work/out")"
mkfifo "$work/fifo"
cat "$work/fifo" >"$work/through" &
timeout 60 "$BIN/cu-plan" --machine cu/examples/pcad.json --run cu/examples/cmp-451.json --sample 2 --csv "$work/fifo" >/dev/null 2>&1 ||
    say '--csv to a pipe fails'
wait $!
grep -q '^scenario,' "$work/through" || say '--csv to a pipe writes nothing'

# One signal ends the wait for a pipe's reader.
"$BIN/cu-plan" --machine cu/examples/pcad.json --run cu/examples/cmp-451.json --sample 2 --csv "$work/fifo" >"$work/out" 2>&1 &
pid=$!
used() { cut -d' ' -f14 /proc/$pid/stat; }
for still in 1 2 3; do
    until last=$(used) && sleep 0.5 && [ "$(used)" = "$last" ]; do :; done
done
kill -TERM $pid
wait $pid
[ $? = 3 ] && grep -q 'fifo: nobody reads it' "$work/out" || say "TERM while a pipe has no reader: $(cat "$work/out")"
exit $failed
