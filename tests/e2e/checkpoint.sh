# tests/e2e/checkpoint.sh – a killed run continues from its checkpoint to the same bits, also with
# other units and ranks; a truncated, damaged or foreign checkpoint is refused and nothing is lost.
. tests/check.sh
file=$work/state

for program in bt-mz sp-mz lu-mz; do
    run() { "$BIN/$program" --class W --checkpoint "$file" --every 5 "$@"; }
    wanted=$("$BIN/$program" --class W --layout 1x1 --json - | norms)
    # Killed between two saves, then again soon after a save, perhaps while it saves.
    CU_FAULT=rank:0@step:18 run --layout 1x1 >/dev/null 2>&1
    for wait in 0.003 0.01 0.02; do
        touch "$work/before"
        "$BIN/$program" --class W --layout 1x1 --checkpoint "$file" --every 1 >/dev/null 2>&1 &
        while kill -0 $! 2>/dev/null && ! [ "$file" -nt "$work/before" ]; do sleep 0.003; done
        sleep $wait
        kill -KILL $! 2>/dev/null
        wait $! 2>/dev/null
    done
    # A fast processor may have finished, and removed the file, by then.
    [ -e "$file" ] || CU_FAULT=rank:0@step:18 run --layout 1x1 >/dev/null 2>&1
    if [ -e "$file" ]; then
        cp "$file" "$work/copy"
        run --layout 2x1 --schedule dynamic --json - >"$work/json" 2>"$work/err" ||
            say "$program does not resume: $(cat "$work/err")"
        [ "$(norms <"$work/json")" = "$wanted" ] || say "$program: other norms after resuming"
        [ -e "$file" ] && say "$program: the checkpoint of a complete run is left"

        head -c 100000 "$work/copy" >"$file"
        run >"$work/out" 2>&1
        [ $? = 2 ] && grep -q 'cut short' "$work/out" || say "$program: cut short: $(cat "$work/out")"
        cp "$work/copy" "$file"
        printf 'x' | dd of="$file" bs=1 seek=90001 conv=notrunc 2>/dev/null
        run >"$work/out" 2>&1
        [ $? = 2 ] && grep -q 'damaged' "$work/out" || say "$program: damaged: $(cat "$work/out")"
        cp "$work/copy" "$file"
        "$BIN/$program" --class S --checkpoint "$file" >"$work/out" 2>&1
        [ $? = 2 ] && grep -q 'class W' "$work/out" || say "$program: foreign: $(cat "$work/out")"
        cmp -s "$file" "$work/copy" || say "$program: a refused checkpoint was touched"
        rm -f "$file"
    else
        say "$program: no checkpoint was ever written"
    fi
done

echo nonsense >"$file"
"$BIN/bt-mz" --checkpoint "$file" >"$work/out" 2>&1
[ $? = 2 ] || say "nonsense is taken for a checkpoint"
"$BIN/bt-mz" --checkpoint "$file" --compare >"$work/out" 2>&1
[ $? = 2 ] || say '--checkpoint with --compare is accepted'
rm -f "$file"
# A lost device: the run goes back to the last save, not to the start.
CU_FAULT=unit:1@step:40 "$BIN/bt-mz" --class S --layout 1x1+1 --devices host:0 --schedule dynamic \
    --checkpoint "$file" --every 10 --json "$work/json" >/dev/null 2>&1 || say 'lost device: fails'
grep -q '"steps_repeated": 9' "$work/json" || say "lost device: $(grep repeated "$work/json")"
# What is saved after that is of the right step, too.
CU_FAULT=unit:1@step:25,rank:0@step:45 "$BIN/bt-mz" --class S --layout 1x1+1 --devices host:0 --schedule dynamic \
    --checkpoint "$file" --every 10 >/dev/null 2>&1
[ -e "$file" ] && "$BIN/bt-mz" --class S --layout 1x1 --checkpoint "$file" --json "$work/json" >"$work/out" 2>&1 &&
    grep -q '"steps": 20,' "$work/json" || say "lost device, then killed: $(cat "$work/out"; grep '"steps' "$work/json")"

# Invalid names, folders that cannot be written and invalid numbers of steps are reported before
# anything is computed.
refused 2 'not a file name' "$BIN/bt-mz" --class S --checkpoint ''
refused 2 'not a file name' "$BIN/bt-mz" --class S --checkpoint "$work"
refused 3 'cannot be written' "$BIN/bt-mz" --class S --checkpoint "$work/nowhere/state"
for every in 0 -1 x 1.5 99999999999; do
    refused 2 'every' "$BIN/bt-mz" --class S --checkpoint "$file" --every $every
done

# A full disk: the older checkpoint is unchanged, and no partial file is left.
save() { "$BIN/bt-mz" --class W --layout 1x1 --checkpoint "$file" --every 1 "$@"; }
CU_FAULT=unit:0@step:9 save >/dev/null 2>&1
[ -e "$file" ] || say 'no checkpoint of the run that lost its last unit'
cp "$file" "$work/copy"
(ulimit -f 500; save) >"$work/out" 2>&1
[ $? = 3 ] && grep -q 'cannot be written' "$work/out" || say "a full disk: $(cat "$work/out")"
cmp -s "$file" "$work/copy" || say 'a full disk: the older checkpoint has changed'
ls "$work" | grep -q '\.part' && say 'a full disk: a partial file is left'
printf x >>"$file"
save >"$work/out" 2>&1
[ $? = 2 ] && grep -q 'too long' "$work/out" || say "too long: $(cat "$work/out")"
rm -f "$file"

# A checkpoint is removed only once the results are written.
"$BIN/bt-mz" --class S --checkpoint "$file" --every 50 --json /dev/full >"$work/out" 2>&1
[ $? = 3 ] && [ -e "$file" ] || say "no room for the result: $(cat "$work/out")"
"$BIN/bt-mz" --class S --checkpoint "$file" --json "$work/json" >/dev/full 2>"$work/out"
[ $? = 3 ] && [ -e "$file" ] || say "no room for the table: $(cat "$work/out")"
"$BIN/bt-mz" --class S --checkpoint "$file" --json "$work/json" >"$work/out" 2>&1 && [ ! -e "$file" ] ||
    say "a finished run leaves its checkpoint: $(cat "$work/out")"

# SIGTERM: the run saves the step it has reached, whatever --every says.
"$BIN/bt-mz" --class A --layout 1x1 --checkpoint "$file" --every 20 >"$work/out" 2>&1 &
run=$!
until [ -e "$file" ] || ! kill -0 $run 2>/dev/null; do sleep 0.1; done
cp "$file" "$work/copy"
kill -TERM $run
wait $run
[ $? = 4 ] || say "SIGTERM: $(cat "$work/out")"
cmp -s "$file" "$work/copy" && say 'SIGTERM: no later step is saved'
exit $failed
