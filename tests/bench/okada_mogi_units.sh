# tests/bench/okada_mogi_units.sh – every trial by itself, on units and ranks together: what they reach
# beside the sum of what each reaches alone, and the processor time that a trial costs. Runs take
# turns, the best of each counts: what disturbs the machine only ever adds. RUNS=5, TRIALS (of the Parkfield job). Needs BIN.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
runs=${RUNS:-5} trials=${TRIALS:-300000000:330000000}
export POCL_MAX_PTHREAD_COUNT=1 # as a device, PoCL is one core here
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
okada() { # name, launcher…: Mtrial/s into $work/name, Eq. (9)'s efficiency into $work/name.own
    name=$1
    shift
    TIMEFORMAT=%U
    { time "$@" okada_mogi/examples/parkfield.json --method brute --trials "$trials" --schedule hrdls \
        --quiet --json "$work/json" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; } 2>"$work/time"
    awk -v r="$trials" '{ split(r, t, ":"); print 1e6 * $1 / (t[2] - t[1]) }' "$work/time" >>"$work/$name.cost"
    sed -n 's/^ "search_s": \([^,]*\),*$/\1/p' "$work/json" |
        awk -v r="$trials" '{ split(r, t, ":"); print 1e-6 * (t[2] - t[1]) / $1 }' >>"$work/$name"
    sed -n 's/^ "efficiency": \([^,]*\),*$/\1/p' "$work/json" >>"$work/$name.own"
}
bin=$BIN/okada
device=host:0
"$bin" --list-devices | grep -q '^opencl:0' && device=opencl:0
for _ in $(seq "$runs"); do
    okada cpu env "$bin" --layout 1x1
    okada device env "$bin" --layout 0x0+1 --devices $device
    okada both env "$bin" --layout 1x1+1 --devices $device
    okada two env "$bin" --layout 2x1
    command -v mpirun >/dev/null && okada ranks mpirun --oversubscribe -n 2 "$bin" --layout 1x1
done
best() { sort -g "$work/$1" 2>/dev/null | tail -1; }
cpu=$(best cpu)
say() { # name, what, sum of the parts
    [ -s "$work/$1" ] || return
    awk -v r="$(best "$1")" -v s="$3" -v own="$(best "$1.own")" -v cost="$(sort -g "$work/$1.cost" | head -1)" -v what="$2" 'BEGIN {
        printf "%-18s %8.2f %10.2f %11.1f %11.1f %10.4f\n", what, r, s, 100 * r / s, 100 * own, cost }'
}
printf '%-18s %8s %10s %11s %11s %10s\n' units Mtrial/s 'sum alone' 'of it, %' 'Eq. 9, %' 'cpu s/M'
sum() { awk -v a="$1" -v b="$2" 'BEGIN { print a + b }'; }
say cpu '1x1' "$cpu"
say device "0x0+1 $device" "$(best device)"
say both "1x1+1 $device" "$(sum "$cpu" "$(best device)")"
say two '2x1' "$(sum "$cpu" "$cpu")"
say ranks '2 ranks of 1x1' "$(sum "$cpu" "$cpu")"
