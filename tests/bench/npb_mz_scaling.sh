# tests/bench/npb_mz_scaling.sh – one and two CPU units of one core each, interleaved; beside them
# two runs at once that share nothing but the machine: what their rates add up to is all that two
# units can reach, for they wait for the same caches and memory.
# CLASS (A), REPEAT (3), SCHEDULES (heft evenkeel), ONLY (bt-mz sp-mz lu-mz); STEPS, for short
# runs, which are not verified.
set -u
class=${CLASS:-A} repeat=${REPEAT:-3} schedules=${SCHEDULES:-heft evenkeel}
[ "$(nproc)" -ge 2 ] || { echo 'skipped: needs two cores'; exit 0; }
read -ra core < <(taskset -cp $$ | sed 's/.*: //; s/[,-]/ /g') # the first is not the last
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$2" | head -1; }
median() { sort -n "$1" | awk '{a[NR] = $1} END {print (a[int((NR + 1) / 2)] + a[int((NR + 2) / 2)]) / 2}'; }

for program in ${ONLY:-bt-mz sp-mz lu-mz}; do
    [ -x "$BIN/$program" ] || continue
    solve() { # core to stay on or "", layout, policy, file; appends its rate to that
        ${1:+taskset -c $1} "$BIN/$program" --class "$class" --layout "$2" --schedule "$3" \
            ${STEPS:+--steps "$STEPS"} --json "$4.json" --quiet
        field rate "$4.json" >>"$4"
    }
    for _ in $(seq "$repeat"); do
        solve '' 1x1 static "$work/$program-one"
        for s in $schedules; do solve '' 2x1 "$s" "$work/$program-$s"; done
        solve "${core[0]}" 1x1 static "$work/first" &
        solve "${core[-1]}" 1x1 static "$work/last"
        wait $!
        paste "$work/first" "$work/last" | awk 'END { print $1 + $2 }' >>"$work/$program-apart"
    done
    one=$(median "$work/$program-one")
    printf '%s class %s, one core: %.0f Mop/s (median of %d)\n' "$program" "$class" "$one" "$repeat"
    for s in $schedules; do
        two=$(median "$work/$program-$s")
        printf '  2x1 %-20s %9.0f Mop/s  %.3f x one core\n' "$s" "$two" \
            "$(echo "$two $one" | awk '{print $1 / $2}')"
    done
    median "$work/$program-apart" | awk -v one="$one" '{
        printf "  two runs at once      %12.0f Mop/s  %.3f x one core\n", $1, $1 / one }'
done
