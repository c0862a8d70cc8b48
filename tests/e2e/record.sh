# tests/e2e/record.sh – the simulator reads what programs write with --json and --trace, for one run
# or a comparison; it simulates the policies that ran and shows the measured times beside. Needs
# BIN.
. tests/check.sh
export CU_PROFILE_DIR=$work/profiles
bt() { "$BIN/bt-mz" --class S --layout 1x1+1 --devices host:0 --quiet "$@" || say "bt-mz $* exits $?"; }

bt --compare static,dynamic,evenkeel --json "$work/all.json" --trace "$work/all.trace.json"
bt --schedule dynamic --json "$work/one.json"
for file in all.json all.trace.json; do
    "$BIN/cu-plan" --simulate "$work/$file" --json "$work/sim.json" >"$work/text" || say "$file fails"
    for policy in static dynamic evenkeel; do
        grep -Eq "^$policy .* [-+][0-9.]+ %$" "$work/text" || say "$file: $policy has no prediction"
    done
    [ "$(grep -c '"schedule"' "$work/sim.json")" = 3 ] || say "$file: not the policies that ran"
    [ "$(grep -c '"measured_s"' "$work/sim.json")" = 3 ] || say "$file: not what was measured"
done
"$BIN/cu-plan" --simulate "$work/one.json" --schedules all >"$work/text" || say 'a single run fails'
[ "$(grep -c ' %$' "$work/text")" = 1 ] || say 'a single run: not one policy was measured'
"$BIN/bt-mz" --class S --layout 1x1 --steps 3 --quiet --json - | "$BIN/cu-plan" --simulate - --schedules heft >"$work/short"
grep -q '^heft' "$work/short" && ! grep -q nan "$work/short" || say "three steps: $(cat "$work/short")"
grep -q '^heft' "$work/text" || say 'a single run: other policies are not simulated'
for file in all.json all.trace.json; do
    "$BIN/cu-plan" --machine cu/examples/pcad.json --run "$work/$file" --sample 3 --schedules heft |
        grep -q 'bt-mz class S' || say "--run $file fails"
done

# A unit that never worked, and nothing known of it.
bt --layout 5x1+1 --schedule sorted-greedy --json "$work/idle.json" 2>/dev/null
refused 2 'some unit did nothing' "$BIN/cu-plan" --simulate "$work/idle.json"
sed 's/"between_s": /"between_s": -/' "$work/one.json" >"$work/bad.json"
refused 2 'between_s = -' "$BIN/cu-plan" --simulate "$work/bad.json"
exit $failed
