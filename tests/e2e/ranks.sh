# tests/e2e/ranks.sh – NPB-MZ over MPI ranks: the same bits as one process, also with devices; one
# voice; errors end all ranks.
set -u
command -v mpirun >/dev/null || { echo 'no mpirun here'; exit 77; }
bad=0
say() { echo "FAILED: $*"; bad=1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# MPI's plug-ins are gone from memory when the leak checker asks whose a block was.
[ -n "${SAN:-}" ] && export ASAN_OPTIONS=detect_leaks=0
ranks() { timeout 120 mpirun --oversubscribe -n "$@"; }
norms() { tr -d ' \n' | grep -o '"verification":{[^}]*}'; }

for program in bt-mz sp-mz lu-mz; do
    [ -x "$BIN/$program" ] || continue
    one=$("$BIN/$program" --class S --layout 1x1 --json - | norms)
    for n in 1 2 3; do
        ranks $n "$BIN/$program" --class S --layout 1x1 --schedule dynamic --json - \
            >"$work/out" 2>"$work/err" || say "$program on $n ranks exits $?: $(cat "$work/err")"
        [ "$(norms <"$work/out")" = "$one" ] || say "$program on $n ranks: other norms"
        [ "$(grep -c '"program"' "$work/out")" = 1 ] || say "$program on $n ranks: not one voice"
    done
    ranks 2 "$BIN/$program" --class S --layout 1x1+1 --devices host:0 --schedule dynamic --check \
        >"$work/out" 2>&1 || say "$program on 2 ranks with devices: $(cat "$work/out")"
done
ranks 2 "$BIN/bt-mz" --class S --layout 1x1 --compare static,dynamic --repeat 2 >"$work/out" 2>&1 ||
    say "compare on 2 ranks: $(cat "$work/out")"
ranks 2 "$BIN/bt-mz" --class S --ranks-schedule nope >"$work/out" 2>&1
[ $? = 2 ] || say "a bad --ranks-schedule is not exit 2"
exit $bad
