# tests/bench/npb_mz_ranks.sh – one rank and two ranks of one core each, interleaved: the speed-up,
# and how much of the faces' way between ranks the computation hides.
# Medians, and the best of each beside them: on a busy machine two cores are seldom both free.
# CLASS (A), REPEAT (5), SCHEDULES of the ranks (evenkeel), ONLY (bt-mz sp-mz lu-mz); STEPS, for
# short runs, which are not verified.
set -u
class=${CLASS:-A} repeat=${REPEAT:-5} schedules=${SCHEDULES:-evenkeel}
[ "$(nproc)" -ge 2 ] || { echo 'skipped: needs two cores'; exit 0; }
command -v mpirun >/dev/null || { echo 'skipped: no mpirun here'; exit 0; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$2" | head -1; }
median() { sort -n "$1" | awk '{a[NR] = $1} END {print (a[int((NR + 1) / 2)] + a[int((NR + 2) / 2)]) / 2}'; }

for program in ${ONLY:-bt-mz sp-mz lu-mz}; do
    [ -x "$BIN/$program" ] || continue
    solve() { # launcher…, with the ranks' policy in $s
        "$@" "$BIN/$program" --class "$class" --layout 1x1 --ranks-schedule "${s:-evenkeel}" \
            ${STEPS:+--steps "$STEPS"} --quiet --json "$work/json" 2>>"$work/err"
        status=$?
        [ $status = 0 ] || [ $status = 1 -a -n "${STEPS:-}" ] || { tail -1 "$work/err"; return 1; }
    }
    for _ in $(seq "$repeat"); do
        solve && field rate "$work/json" >>"$work/$program-one"
        for s in $schedules; do
            solve mpirun -n 2 || continue
            for f in rate at_once_s left_s; do
                field $f "$work/json" >>"$work/$program-$s-$f"
            done
        done
    done
    one=$(median "$work/$program-one") best=$(sort -n "$work/$program-one" | tail -1)
    printf '%s class %s, one rank: %.0f Mop/s (median of %d)\n' "$program" "$class" "$one" "$repeat"
    for s in $schedules; do
        of() { median "$work/$program-$s-$1"; }
        awk -v s="$s" -v one="$one" -v two="$(of rate)" -v best="$best" \
            -v best2="$(sort -n "$work/$program-$s-rate" | tail -1)" -v all="$(of at_once_s)" \
            -v left="$(of left_s)" 'BEGIN {
            printf "  2 ranks, %-10s %9.0f Mop/s  %.3f x one rank (%.3f best to best)\n", s, two,
                two / one, best2 / best
            printf "  faces: %.0f us when waited for at once, %.1f us after the computation: %.0f%% hidden\n",
                1e6 * all, 1e6 * left, 100 * (1 - left / all) }'
    done
done
