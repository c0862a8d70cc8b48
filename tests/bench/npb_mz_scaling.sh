# tests/bench/npb_mz_scaling.sh – one and two CPU units of one core each, interleaved.
# CLASS (A), REPEAT (3), SCHEDULES (heft evenkeel).
set -u
class=${CLASS:-A} repeat=${REPEAT:-3} schedules=${SCHEDULES:-heft evenkeel}
[ "$(nproc)" -ge 2 ] || { echo 'skipped: needs two cores'; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$2" | head -1; }
median() { sort -n "$1" | awk '{a[NR] = $1} END {print (a[int((NR + 1) / 2)] + a[int((NR + 2) / 2)]) / 2}'; }

for program in bt-mz sp-mz lu-mz; do
    [ -x "$BIN/$program" ] || continue
    for _ in $(seq "$repeat"); do
        "$BIN/$program" --class "$class" --layout 1x1 --schedule static --json "$work/one" --quiet
        field rate "$work/one" >>"$work/$program-one"
        for s in $schedules; do
            "$BIN/$program" --class "$class" --layout 2x1 --schedule "$s" --json "$work/two" --quiet
            field rate "$work/two" >>"$work/$program-$s"
        done
    done
    one=$(median "$work/$program-one")
    printf '%s class %s, one core: %.0f Mop/s (median of %d)\n' "$program" "$class" "$one" "$repeat"
    for s in $schedules; do
        two=$(median "$work/$program-$s")
        printf '  2x1 %-20s %9.0f Mop/s  %.3f x one core\n' "$s" "$two" \
            "$(echo "$two $one" | awk '{print $1 / $2}')"
    done
done
