#!/usr/bin/env bash
# tests/e2e/kirchhoff_mig_stopped.sh – migrations that are interrupted by signals: one process, slabs,
# least squares, ranks. What was summed is kept, and the next run ends with the bits of an
# undisturbed one; a checkpoint of anything else is refused and left alone.
set -u
bin=${BIN:-bin}/kirchhoff-mig
. tests/check.sh
data=$work/data.segy
"$bin" --generate medium --out "$data"
check $? 'a survey is generated'
tables='--velocity gradient:v0=2000,k=0.5 --node-spacing 400'
usual="$tables --grid 9x9x41:50x50x10@1300,1300,800 --weight diffractor --spacing-receiver 25 --chunk 64 --quiet"

"$bin" "$data" $usual --deterministic --layout 1x1 --out "$work/image.segy"
check $? 'it is migrated'

# An interrupted run goes on where it was: what it keeps is a partial image, which is of these data and this image alone.
"$bin" "$data" $usual --deterministic --layout 1x1 --part 0/2 --partial "$work/half" && cp "$work/half" "$work/on.segy.checkpoint" &&
    "$bin" "$data" $usual --deterministic --layout 1x1+1 --devices host:0 --schedule dynamic --out "$work/on.segy" --json "$work/on.json" &&
    cmp -s "$work/image.segy" "$work/on.segy" && [ ! -e "$work/on.segy.checkpoint" ] &&
    [ "$(number kept_traces "$work/on.json" | cut -d. -f1)" -gt 500 ] && grep -q '"verified": true' "$work/on.json"
check $? "a run goes on: $(grep kept_traces "$work/on.json")"
cp "$data" "$work/altered.segy"
length=$((240 + 4 * $(od -An -tu2 --endian=big -j3220 -N2 "$data")))
for trace in 1 2 3 4 5; do # a sample of a few traces
    printf '\001' | dd of="$work/altered.segy" bs=1 seek=$((3600 + trace * length + 1000)) conv=notrunc 2>/dev/null
done
kept=$work/on.segy.checkpoint
stays() { # file with the checkpoint, pattern of the message, options…: refused, and nothing happens to it
    cp "$1" "$kept"
    refused 2 "$2" "$bin" "${@:3}" --deterministic --layout 1x1 --out "$work/on.segy"
    cmp -s "$1" "$kept"
    check $? "a checkpoint is left as it is: $2"
}
rm "$work/on.segy"
for other in "$work/altered.segy $usual" "$data $usual --chunk 100" "$data $usual --aperture 500" "$data $usual --lsm 2 --divide nothing"; do
    stays "$work/half" 'of another migration' $other
done
stays "$work/half" 'of an image in 1 slab, now it has 5; go on with --image-memory' "$data" $usual --image-memory 0.0000105
advice=$(sed -n 's/.*\(--image-memory [^,]*\),.*/\1/p' "$work/err")
"$bin" "$data" $usual $advice --deterministic --layout 1x1 --out "$work/on.segy" --json "$work/on.json" &&
    cmp -s "$work/image.segy" "$work/on.segy" && [ "$(number kept_traces "$work/on.json" | cut -d. -f1)" -gt 500 ] && [ ! -e "$kept" ]
check $? "going on as advised: $advice"
rm "$work/on.segy"
head -c 9999 "$work/half" >"$work/broken" && stays "$work/broken" 'a damaged partial image; delete it' "$data" $usual
{ cat "$work/half"; echo; } >"$work/broken" && stays "$work/broken" 'a damaged partial image' "$data" $usual
: >"$work/broken" && stays "$work/broken" 'a damaged partial image' "$data" $usual
sed '1s/image A/image 9/' "$work/half" >"$work/broken" && stays "$work/broken" 'of another version' "$data" $usual
head -c 5000 "$data" >"$work/broken" && stays "$work/broken" 'a damaged partial image' "$data" $usual
[ ! -e "$work/on.segy" ]
check $? 'and no image is made'
rm "$kept"
# 143: stopped before it had begun.
long="--velocity gradient:v0=2000,k=0.5 --chunk 32 --deterministic --layout 1x1 --quiet --grid"
for run in "$long 21x21x81:20x20x10@1300,1300,400" "$long 4x4x31:100x100x20@1300,1300,700 --weight modelling --lsm 3"; do
    rc=4
    for delay in 0.4 0.8 1.6 60 60; do
        [ $rc = 0 ] || timeout --preserve-status -s TERM "$delay" "$bin" "$data" $run --raw "$work/on" --json "$work/on.json" 2>"$work/err"
        rc=$?
        [ $rc = 0 ] || [ $rc = 4 ] || [ $rc = 143 ] || { check 1 "an interrupted run ends with $rc: $(cat "$work/err")"; break; }
        [ $rc != 4 ] || ! grep -q "kept in" "$work/err" || [ -e "$work/on.checkpoint" ]
        check $? 'what was summed is kept'
    done
    "$bin" "$data" $run --raw "$work/whole" --json "$work/whole.json" && cmp -s "$work/whole.f32" "$work/on.f32" &&
        cmp -s "$work/whole.fold.f32" "$work/on.fold.f32" && [ ! -e "$work/on.checkpoint" ] &&
        [ "$(number dot_test "$work/whole.json")" = "$(number dot_test "$work/on.json")" ]
    check $? 'interrupted several times, the same image'
done

# Least squares killed after its last migration: image, fold and checks come from what was saved.
last="$data $long 3x2x21:100x100x20@1300,1300,700 --weight modelling --lsm 1"
"$bin" $last --raw "$work/whole" --json "$work/whole.json"
CU_FAULT=rank:0@step:2 "$bin" $last --raw "$work/last" --save-every 0.0001 2>"$work/err"
[ -e "$work/last.checkpoint" ] && [ ! -e "$work/last.f32" ]
check $? "killed after its last migration: $(cat "$work/err")"
"$bin" $last --raw "$work/last" --json "$work/last.json" && cmp -s "$work/whole.f32" "$work/last.f32" && cmp -s "$work/whole.fold.f32" "$work/last.fold.f32" &&
    grep -q '"verified": true' "$work/last.json" && [ "$(number dot_test "$work/whole.json")" = "$(number dot_test "$work/last.json")" ]
check $? "resumed after its last migration: $(grep -e verified -e dot_test "$work/last.json")"

# An image in slabs, for want of memory: the same bits on cores and devices, interrupted and not, and what is beyond the aperture.
for run in ${EK_LONG:+"--classes 3 --class-width 300 --layout 1x1"} "--aperture 150 --layout 1x1+1 --devices host:0"; do
    slabs="$data --velocity gradient:v0=2000,k=0.5 --chunk 32 --deterministic --quiet --grid 13x7x45:50x50x10@1000,1300,400 $run"
    "$bin" $slabs --raw "$work/whole" --out "$work/whole.segy"
    rc=4
    for delay in 0.3 0.6 60; do
        [ $rc = 0 ] || timeout --preserve-status -s TERM "$delay" "$bin" $slabs --image-memory 0.00002 --raw "$work/slabs" \
            --out "$work/slabs.segy" --json "$work/slabs.json" 2>"$work/err"
        rc=$?
    done
    for kind in .f32 .fold.f32 .segy; do cmp -s "$work/whole$kind" "$work/slabs$kind" || say "slabs, $run: $kind differs: $(cat "$work/err")"; done
    [ "$(number slabs "$work/slabs.json")" -gt 2 ] && grep -q '"verified": true' "$work/slabs.json" && ! compgen -G "$work/*.slab*" >/dev/null
    check $? "slabs, $run: $(grep -e slabs -e verified "$work/slabs.json"; ls "$work")"
done
refused 2 'made in slabs by one run' "$bin" "$data" $usual --image-memory 0.00001 --part 0/2 --partial "$work/x"
# Ranks that have saved chunks are told to end: one of them is (exit code 4), or mpirun, which tells them all a second later and
# kills them after another one (exit code 1). What they have is kept, and one process goes on with it. Ranks compute without
# vectors, so that they do not finish before that; a run that does is repeated.
if command -v mpirun >/dev/null; then
    ranks="$data --velocity gradient:v0=2000,k=0.5 --chunk 32 --deterministic --quiet --layout 1x1 --grid 21x21x121:20x20x10@1200,1200,400"
    saved() { [ -e "$work/ranks.checkpoint" ] && [ -e "$work/ranks.checkpoint.rank1" ]; }
    "$bin" $ranks --raw "$work/whole"
    for told in 'INT a.rank 4' ${EK_LONG:+'TERM mpirun 1'}; do
        read -r signal whom ends <<<"$told"
        for round in 1 2 3 4; do
            rm -f "$work"/ranks.*
            (with_mpi; exec mpirun --oversubscribe -n 2 "$bin" $ranks --isa plain --save-every 0.01 --raw "$work/ranks" >"$work/out" 2>&1) &
            launcher=$!
            until saved || ! kill -0 $launcher 2>/dev/null; do sleep 0.02; done
            [ $whom = mpirun ] && first=$launcher || first=$(ps -o pid= --ppid $launcher | head -1)
            [ -z "$first" ] || kill -$signal $first
            wait $launcher
            rc=$?
            [ -e "$work/ranks.f32" ] || break
        done
        [ $rc = "$ends" ] && compgen -G "$work/ranks.checkpoint*" >/dev/null && [ ! -e "$work/ranks.f32" ]
        check $? "$signal to $whom: ranks keep what they have: $rc, $(cat "$work/out"; ls "$work")"
        [ $whom = mpirun ] || grep -q 'kept in' "$work/out"
        check $? "$signal to $whom: and say so: $(cat "$work/out")"
        "$bin" $ranks --raw "$work/ranks" --json "$work/ranks.json" 2>>"$work/out" &&
            cmp -s "$work/whole.f32" "$work/ranks.f32" && ! compgen -G "$work/ranks.checkpoint*" >/dev/null &&
            [ "$(number kept_traces "$work/ranks.json" | cut -d. -f1)" -gt 0 ]
        check $? "$signal to $whom: one process goes on: $(grep kept "$work/ranks.json"; cat "$work/out")"
    done
    # One rank is told while all compute travel times, for minutes: the others end, too.
    mkdir "$work/made"
    "$bin" --generate small --out "$work/small.segy"
    (with_mpi; TMPDIR=$work/made exec timeout 60 mpirun --oversubscribe -n 2 "$bin" "$work/small.segy" --velocity lens:v0=2000,kz=0.5,dv=500,x=1500,y=1500,z=900,sigma=300 \
        --grid 21x21x21:40x40x40@1300,1300,200 --node-spacing 20 --layout 1x1 --quiet --raw "$work/tables" >"$work/out" 2>&1) &
    launcher=$!
    until [ "$(ls "$work/made" | grep -c kirchhoff-mig)" = 2 ] || ! kill -0 $launcher 2>/dev/null; do sleep 0.02; done
    sleep 0.5
    kill -TERM $(pgrep -o -f "^$bin .*--raw $work/tables")
    wait $launcher
    rc=$?
    [ $rc = 4 ] && [ ! -e "$work/tables.f32" ]
    check $? "a rank is told to end while travel times are computed: $rc, $(cat "$work/out")"
fi
exit $failed
