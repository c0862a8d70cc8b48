# tests/e2e/checkpoint.sh – a run that is killed goes on to the same bits, with other units and ranks
# too; a cut, damaged or foreign checkpoint is refused and nothing is lost.
set -u
bad=0
say() { echo "FAILED: $*"; bad=1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$work/state
norms() { tr -d ' \n' | grep -o '"residual":.*\],"error":\[[^]]*\]'; }

for program in bt-mz sp-mz lu-mz; do
    run() { "$BIN/$program" --class W --checkpoint "$file" --every 5 "$@"; }
    wanted=$("$BIN/$program" --class W --layout 1x1 --json - | norms)
    # Killed again and again, each time a little later, until a run comes through.
    for ms in 2 3 4 5; do
        timeout -s KILL 0.$ms "$BIN/$program" --class W --layout 1x1 --checkpoint "$file" \
            --every 5 >"$work/out" 2>&1
        [ -e "$file" ] && break
    done
    [ -e "$file" ] || { timeout -s KILL 1 "$BIN/$program" --class W --checkpoint "$file" --every 2 >/dev/null 2>&1; }
    if [ -e "$file" ]; then
        cp "$file" "$work/copy"
        run --layout 2x1 --schedule dynamic --json - >"$work/json" 2>"$work/err" ||
            say "$program does not go on: $(cat "$work/err")"
        [ "$(norms <"$work/json")" = "$wanted" ] || say "$program: other norms after going on"
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
exit $bad
