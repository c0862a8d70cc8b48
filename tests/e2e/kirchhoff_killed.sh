#!/usr/bin/env bash
# tests/e2e/kirchhoff_killed.sh – a migration killed (SIGKILL) at random moments continues from what
# it saved to the bits of an undisturbed run: cores, devices, slabs, ranks, least squares. A full
# disk is reported once. SEED (1).
set -u
bin=${BIN:-bin}/kirchhoff-mig
. tests/check.sh
data=$work/data.segy
seed=${SEED:-1}
RANDOM=$seed
"$bin" --generate medium --out "$data"
check $? 'a survey is generated'
usual="$data --velocity gradient:v0=2000,k=0.5 --chunk 32 --deterministic --quiet"
image='--grid 15x15x61:30x30x10@1300,1300,400'

kept() { compgen -G "$work/on.checkpoint*" >/dev/null || compgen -G "$work/on.slab*" >/dev/null; }
# Kills the command once something is saved, a drawn moment later; rc: 137, or how it ended before.
# The session is killed until it is empty: ranks have groups of their own, and would run to the end.
killed() {
    (exec setsid "$@" >"$work/out" 2>&1) &
    local run=$! wait
    for ((wait = 0; wait < 3000; wait++)); do
        kept && break
        kill -0 $run 2>/dev/null || break
        sleep 0.02
    done
    sleep 0.$(printf %03d $((RANDOM % 400)))
    while ps -s $run -o stat= | grep -qv '^Z'; do
        pkill -KILL -s $run
        sleep 0.02
    done 2>/dev/null
    wait $run 2>/dev/null
    rc=$?
}
goes_on() { # name, launcher, options…
    local name=$1 launcher=$2 rc=137 round had=false
    shift 2
    rm -f "$work"/on*
    "$bin" $usual $image "$@" --layout 1x1 --raw "$work/whole" || check 1 "$name: undisturbed"
    for round in 1 2; do
        [ $rc = 137 ] || break
        killed $launcher "$bin" $usual $image "$@" $how --save-every 0.01 --raw "$work/on"
        [ $rc = 137 ] || [ $rc = 0 ]
        check $? "$name, seed $seed: ends with $rc: $(cat "$work/out")"
        # Ranks may have finished the image before the launcher was killed: that is no interrupted run.
        [ $rc = 137 ] && [ -e "$work/on.f32" ] && ! kept && rc=0
    done
    kept && had=true
    [ $rc = 0 ] || $had
    check $? "$name, seed $seed: killed, and nothing is saved"
    "$bin" $usual $image "$@" --layout 1x1 --raw "$work/on" --json "$work/on.json" 2>"$work/err" &&
        cmp -s "$work/whole.f32" "$work/on.f32" && cmp -s "$work/whole.fold.f32" "$work/on.fold.f32" &&
        grep -q '"verified": true' "$work/on.json" && ! kept
    check $? "$name, seed $seed: goes on: $(cat "$work/err"; ls "$work")"
    [ $rc = 0 ] || [ "$name" = 'least squares' ] || [ "$name" = slabs ] || [ "$(number kept_traces "$work/on.json" | cut -d. -f1)" -gt 0 ]
    check $? "$name, seed $seed: work of the killed runs counts"
}
how='--layout 1x1' goes_on 'one core' ''
[ -z "${EK_LONG:-}" ] || how='--layout 0x0+1 --devices host:0 --schedule dynamic' goes_on 'a device' ''
how='--layout 1x1+1 --devices host:0 --schedule dynamic' goes_on 'a core and a device' ''
how='--layout 1x1' goes_on slabs '' --image-memory 0.0001
image='--grid 4x4x31:100x100x20@1300,1300,700' how='--layout 1x1' goes_on 'least squares' '' --weight modelling --lsm 3
if command -v mpirun >/dev/null; then
    with_mpi
    how='--layout 1x1' goes_on 'three ranks' 'mpirun --oversubscribe -n 3'
fi

# Files of ranks that were merged before the run that did so was killed: they do not count twice.
"$bin" $usual $image --part 1/2 --partial "$work/half" && cp "$work/half" "$work/on.checkpoint" && cp "$work/half" "$work/on.checkpoint.rank7"
"$bin" $usual $image --raw "$work/on" 2>"$work/err" && cmp -s "$work/whole.f32" "$work/on.f32" && ! kept
check $? "a file that was merged: $(cat "$work/err")"
"$bin" $usual $image --part 0/3 --partial "$work/on.checkpoint.rank1" && cp "$work/half" "$work/on.checkpoint.rank2"
touch "$work/on.checkpoint.part-4711-0-0" "$work/on.checkpoint.rank12.part-4711-0-0" "$work/on.slab2of3.part-4711-0-0" # half written when killed
"$bin" $usual $image --raw "$work/on" --json "$work/on.json" 2>"$work/err" && cmp -s "$work/whole.f32" "$work/on.f32" && ! kept &&
    [ "$(number kept_traces "$work/on.json" | cut -d. -f1)" -gt 0 ]
check $? "files of ranks alone: $(cat "$work/err")"
"$bin" $usual $image --part 0/3 --partial "$work/on.checkpoint" && "$bin" $usual $image --part 0/2 --partial "$work/on.checkpoint.rank1"
"$bin" $usual $image --raw "$work/on" 2>"$work/err"
[ $? = 2 ] && grep -q 'has, too; delete' "$work/err" && kept
check $? "files that share traces: $(cat "$work/err")"
rm -f "$work"/on*

# No room to save: told once, and the run goes on.
(ulimit -f 100; exec "$bin" $usual $image --layout 1x1 --save-every 0.01 --raw "$work/on") >"$work/out" 2>"$work/err"
[ $? = 0 ] && [ "$(grep -c 'is not saved' "$work/err")" = 1 ]
check $? "no room: $(cat "$work/err")"
exit $failed
