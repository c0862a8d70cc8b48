# tests/e2e/isa.sh – instruction levels of every program: unknown names and levels that the
# processor lacks are refused, the option overrides the variable, and all levels give the same bits.
# Needs BIN; run through tests/run.sh.
. tests/check.sh
unset CU_ISA CU_LAYOUT CU_DEVICES
levels() { "$BIN/cu-info" --json | python3 -c '
import json, sys
print(*[l["name"] for l in json.load(sys.stdin)["isa_levels"] if l["runs"] == (sys.argv[1] == "runs")])' "$1"; }
runs=$(levels runs) lacks=$(levels lacks)
[ -n "$runs" ] || say 'cu-info lists no level'
example=okada_mogi/examples
for program in 'bt-mz --class S' 'sp-mz --class S' 'lu-mz --class S' "okada $example/parkfield.json" \
    "mogi $example/campi.json" "mcsem $work/none.csv" "kirchhoff-mig $work/none.segy" \
    'kirchhoff-tt --velocity const:v=1500 --grid 5x5x5:20m --shots 1' 'cu-info'; do
    run="$BIN/$program"
    for name in V3 lanes8; do # as no program's user may name it
        refused 2 "isa '$name'" $run --isa "$name"
    done
    CU_ISA=v9 refused 2 "isa 'v9'" $run
    for name in $lacks; do
        refused 3 "isa $name: this processor has no" $run --isa "$name"
    done
done
# All levels by the variable, without EK_LONG of the programs that do not take long; by the option, which overrides it, two
# programs and two levels.
[ -n "${EK_LONG:-}" ] && results='' || results='bt sp lu mogi tables'
SMALL=1 RESULTS=$results LEVELS=$runs bash tests/bits.sh >"$work/bits" 2>&1 || say "bits, by variable: $(cat "$work/bits")"
OPTION=1 SMALL=1 RESULTS='bt tables' LEVELS=$(tr ' ' '\n' <<<"$runs" | tail -2 | xargs) bash tests/bits.sh >"$work/bits" 2>&1 ||
    say "bits, by option: $(cat "$work/bits")"
exit $failed
