# tests/e2e/long/benches.sh – measurements that nobody runs every day still run: each ends well, or is
# well under way after a few seconds, on the smallest problem it takes. Needs BUILD and BIN.
. tests/check.sh
export ROUNDS=1 REPEAT=1 RUNS=1 CLASS=S STEPS=2 MEGABYTES=4 ONLY=bt-mz
begins() { # name, command…
    local name=$1
    shift
    timeout -k 5 8 "$@" >"$work/out" 2>&1
    rc=$?
    case $rc in
    0 | 124) ran=$((ran + 1)) ;;
    *) say "$name: exit $rc: $(tail -3 "$work/out")" ;;
    esac
}
ran=0
for bench in "$BUILD"/bench/*; do
    case $bench in *.d | *.o) continue ;; esac
    [ "${bench##*/}" = isa ] || begins "${bench##*/}" "$bench"
done
for rate in bt sp lu okada mogi exact shared sum sum8 rays; do
    RATES=$rate LEVELS='plain v3 v4' begins "isa, $rate" "$BUILD/bench/isa"
done
for bench in cu_sim_real npb_mz_scaling npb_mz_ranks okada_mogi_units waterlevel; do
    begins "$bench" bash "tests/bench/$bench.sh"
done
[ $ran -ge 25 ] || say "only $ran measurements"
exit $failed
