# tests/e2e/layout_auto.sh – --layout auto tries layouts on the problem, runs the best one and
# remembers it; with OMP_PLACES or an explicit layout it tries none. Needs BIN.
. tests/check.sh
needs_two_cpus
export CU_PROFILE_DIR=$work/profiles
bt() { "$BIN/bt-mz" --class S --layout auto --tune 4 --devices host:0 "$@" >"$work/out" 2>"$work/err"; }
# The best layout may be one with more threads than cpus, which is worth a warning.
clean() {
    local noise
    noise=$(grep -v 'they take turns$' "$work/err")
    [ -z "$noise" ] || say "$1: noise on stderr: $noise"
}

# Tried, chosen, run, verified, kept.
bt || say "exit $?: $(cat "$work/err")"
clean first
grep -q '^layout auto: bt-mz class S' "$work/out" || say "no heading: $(cat "$work/out")"
tried=$(grep -c 'steps/s$' "$work/out")
[ "$tried" -ge 1 ] || say 'nothing was tried'
chosen=$(sed -n 's/^layout \([0-9x+]*\).*: best of .*/\1/p' "$work/out")
grep -q "^  $chosen .*steps/s" "$work/out" || say "'$chosen' was not among those tried"
grep -q "layout $chosen\( \|$\)" "$work/out" || say "layout $chosen did not run"
grep -q ' yes$' "$work/out" || say "not verified: $(cat "$work/out")"
file=$(ls "$CU_PROFILE_DIR"/bt-mz-layout-*.json)
"$BIN/cu-info" --profiles | grep -q "^bt-mz class S.*layout $chosen" || say 'cu-info does not list it'

# The next run takes it; JSON on standard output is JSON alone.
bt --json - || say "second run: exit $?"
grep -q "^layout $chosen.*earlier run" "$work/err" || say "not remembered: $(cat "$work/err")"
head -1 "$work/out" | grep -qx '{' || say "no JSON alone: $(head -1 "$work/out")"
grep -q "\"layout\": \"$chosen\"" "$work/out" || say "JSON has another layout than $chosen"

# Another problem or other devices are tried by themselves; a damaged memory is ignored with a line.
bt --quiet --devices host:0,host:1 || say "two devices: exit $?"
[ "$(ls "$CU_PROFILE_DIR"/bt-mz-layout-*.json | wc -l)" = 2 ] || say 'other devices: no memory of their own'
clean quiet
sed -i "s/\"tried\": /\"tried\": 1/" "$file"
bt || say "damaged memory: exit $?"
grep -q 'layout ignored: .*changed after' "$work/err" || say "not refused: $(cat "$work/err")"
[ "$(grep -vc 'they take turns$' "$work/err")" = 1 ] || say "not one line: $(cat "$work/err")"
grep -q 'steps/s$' "$work/out" || say 'damaged memory: not tried anew'

# Neither taken nor kept; nothing to choose from; decided already.
CU_PROFILE_DIR=$work/none bt --profile=off || say "--profile=off: exit $?"
[ -e "$work/none" ] && say '--profile=off keeps something'
OMP_PLACES='{0},{1}' bt --devices '' || say "OMP_PLACES: exit $?"
grep -q 'steps/s' "$work/out" && say 'layouts are tried although OMP_PLACES is given'
bt --devices host:99999
[ $? = 3 ] || say 'a missing device is not exit 3'
bt --tune nonsense
[ $? = 2 ] || say '--tune nonsense is not exit 2'
CU_PROFILE_DIR=/proc/nowhere bt || say "a folder that cannot be written: exit $?"
grep -q 'is not kept' "$work/err" || say 'nobody says that it is not kept'

# Ctrl-C while trials run: exit 4, no trial is left behind.
rm -rf "$CU_PROFILE_DIR"
timeout --preserve-status -s INT 1 "$BIN/bt-mz" --class A --layout auto --tune 30 >"$work/out" 2>&1
rc=$?
[ $rc = 4 ] || say "interrupted trials: exit $rc"
ls "$CU_PROFILE_DIR" 2>/dev/null | grep -q layout && say 'interrupted trials are kept'
exit $failed
