#!/usr/bin/env bash
# tests/e2e/kirchhoff_job.sh – a migration as a cu-run job: microjobs give the image of a single run
# on one node and on three ranks, with compute processes killed, after the whole job was killed, and
# with damaged parts, with its only manager told to end; a microjob that never succeeds.
set -u
bin=$(realpath "${BIN:-bin}")/kirchhoff-mig
. tests/check.sh
"$bin" --generate medium --out "$work/data.segy"
job() { # microjobs, more members
    cat >"$work/job.json" <<JSON
{"data": "data.segy", "out": "done.segy", "raw": "done", "work": "parts", "microjobs": $1, "concurrent": 2, "layout": "1x1", $2
 "options": {"velocity": "gradient:v0=2000,k=0.5", "grid": "9x9x41:50x50x10@1300,1300,800",
             "weight": "diffractor", "deterministic": true, "node-spacing": 400, "chunk": 200}}
JSON
}
same() { # description
    cmp -s "$work/image.f32" "$work/done.f32" && [ ! -e "$work/parts" ]
    check $? "$1: the same image, nothing left behind"
    rm -f "$work"/done.*
}
"$bin" "$work/data.segy" --velocity gradient:v0=2000,k=0.5 --grid 9x9x41:50x50x10@1300,1300,800 --weight diffractor \
    --deterministic --node-spacing 400 --chunk 200 --layout 1x1 --quiet --raw "$work/image"
check $? 'one run without a job'

job 5 ''
"$bin" "$work/job.json" --schedule dynamic --json "$work/run.json" --report "$work/run.html" >"$work/log"
check $? 'a job on one node'
grep -q '5 of 5 finished' "$work/log"
check $? 'it says how far it is'
same 'one node'
grep -q '"schedule": "dynamic"' "$work/run.json" && [ "$(number points "$work/run.json")" = 20 ] && grep -q 'Inline: x and depth' "$work/run.html"
check $? 'results and page of a job'
job 2 ''
mkdir "$work/parts" && "$bin" "$work/data.segy" --velocity gradient:v0=2000,k=0.5 --grid 9x9x41:50x50x10@1300,1300,800 --weight diffractor \
    --deterministic --node-spacing 400 --chunk 200 --layout 1x1 --quiet --part 0/2 --partial "$work/parts/part-0000-of-0002.image" &&
    cp "$work/parts/part-0000-of-0002.image" "$work/parts/part-0001-of-0002.image"
"$bin" "$work/job.json" >"$work/log" 2>&1
[ $? = 2 ] && grep -q 'part-0001.*in the image already' "$work/log" && [ ! -e "$work/done.segy" ] && rm -r "$work/parts"
check $? "the same part twice: $(cat "$work/log")"
job 100000 ''
sed -i 's/9x9x41/299x299x41/' "$work/job.json"
refused 3 'the disk has room for' "$bin" "$work/job.json" && rm -r "$work/parts"
job 12 ''
(ulimit -f 10; refused 3 'ulimit -f allows' "$bin" "$work/job.json"; exit $failed) && rmdir "$work/parts"
check $? 'parts that are larger than a file may be'
"$bin" "$work/job.json" >"$work/log"
check $? 'more microjobs than chunks'
same 'more microjobs than chunks'

if command -v mpirun >/dev/null; then
    job 6 ''
    (with_mpi; mpirun --oversubscribe -n 3 "$bin" "$work/job.json" >"$work/log")
    check $? 'a job on three ranks'
    grep -q 'on rank 1' "$work/log" && grep -q 'on rank 2' "$work/log"
    check $? 'both managers worked'
    same 'three ranks'
    # The only other rank is told to end: rank 0 does the rest.
    job 12 ''
    (with_mpi; exec timeout 60 mpirun --oversubscribe -n 2 "$bin" "$work/job.json" >"$work/log" 2>&1) &
    launcher=$!
    until grep -q ' of 12 finished' "$work/log" || ! kill -0 $launcher 2>/dev/null; do
        for pid in $(pgrep -f "^$bin $work/job.json"); do
            grep -qz '^OMPI_COMM_WORLD_RANK=1$' "/proc/$pid/environ" && manager=$pid
        done 2>/dev/null
    done
    kill -TERM "$manager"
    wait $launcher
    check $? "a job whose manager is told to end: $(cat "$work/log")"
    same 'rank 0 alone'
fi

children() { # compute processes of this test
    pgrep -f -- "--part [0-9]*/[0-9]* --partial $work/parts"
}
new_child() {
    next=$(children | grep -vxF "$last" | head -1)
    [ -n "$next" ]
}
no_child() {
    ! children
}
wait_for() { # command that must succeed within ten seconds
    for _ in $(seq 500); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    return 1
}

# Compute processes are killed as they come, three of them: they are tried again.
job 6 ''
"$bin" "$work/job.json" >"$work/log" 2>"$work/err" &
pid=$!
last=
for _ in 1 2 3; do
    wait_for new_child
    [ -n "$next" ] && kill -9 "$next" 2>/dev/null
    last=$next
done
wait $pid
rc=$?
[ $rc = 0 ] && grep -q 'died of signal 9; it is tried again' "$work/err"
check $? "killed compute processes are replaced (exit $rc): $(cat "$work/err")"
same 'killed compute processes'

# A frozen compute process does not keep an interrupted job from ending.
ended() { ! kill -0 $pid || grep -q '^State:.Z' /proc/$pid/status; }
job 6 ''
"$bin" "$work/job.json" >"$work/log" 2>"$work/err" &
pid=$!
next='' last=''
wait_for new_child
kill -STOP "$next"
kill -TERM $pid
wait_for ended || kill -9 $pid "$next"
wait $pid 2>/dev/null
check $(($? != 4)) "interrupted with a frozen compute process: $(cat "$work/err")"

# The whole job is killed when some parts are finished, and one of these is damaged afterwards.
job 8 ''
"$bin" "$work/job.json" >"$work/log" 2>&1 &
pid=$!
wait_for test -e "$work/parts/part-0001-of-0008.image" -a -e "$work/parts/part-0000-of-0008.image"
check $? 'parts are there early'
kill -9 $pid
wait $pid 2>/dev/null
wait_for no_child
check $? 'compute processes end with their manager'
printf 'x' | dd of="$work/parts/part-0000-of-0008.image" bs=1 seek=5000 conv=notrunc 2>/dev/null
echo half >"$work/parts/part-0003-of-0008.image.part-4711-0-0" # as by a compute process that was killed
"$bin" "$work/job.json" >"$work/log" 2>"$work/err"
check $? "taken up again: $(cat "$work/err")"
grep -q 'of 8 microjobs were finished before' "$work/log" && grep -q 'damaged .* computed again' "$work/err" &&
    [ "$(wc -l <"$work/err")" = 1 ]
check $? "finished microjobs are kept, damaged ones are not: $(cat "$work/log" "$work/err")"
same 'after kill -9'

# One that never succeeds is set aside after three failures; the others are kept.
job 4 ''
mkdir -p "$work/parts/part-0002-of-0004.image"
"$bin" "$work/job.json" >"$work/log" 2>"$work/err"
rc=$?
[ $rc = 3 ] && grep -q 'set aside after 3 failures: 2;' "$work/err" && [ ! -e "$work/done.segy" ] &&
    [ -f "$work/parts/part-0003-of-0004.image" ]
check $? "a microjob is set aside (exit $rc): $(cat "$work/err")"
rmdir "$work/parts/part-0002-of-0004.image"
"$bin" "$work/job.json" >"$work/log" && grep -q '3 of 4 microjobs were finished before' "$work/log"
check $? 'and done by the next run'
same 'after setting aside'

"$bin" "$work/job.json" --compare >/dev/null 2>"$work/err"
[ $? = 2 ] && grep -q 'no --compare' "$work/err"
check $? 'what a job does not do it refuses'

# The command line's layout counts before the file's.
job 2 ''
"$bin" "$work/job.json" --layout 3y7 >/dev/null 2>"$work/err"
[ $? != 0 ] && grep -q 3y7 "$work/err"
check $? "a layout of the command line: $(cat "$work/err")"
rm -rf "$work/parts"
"$bin" "$work/job.json" --layout auto >/dev/null 2>"$work/err"
[ $? = 2 ] && grep -q 'name them' "$work/err"
check $? "no guesses for a job: $(cat "$work/err")"

# Bad jobs and bad input.
job 4 '"colour": 1,' && refused 2 "job.json:1: unknown key 'colour'" "$bin" "$work/job.json"
job 0 '' && refused 2 'microjobs' "$bin" "$work/job.json"
job 4 '"about": 1,' && sed -i 's/"weight": "diffractor"/"wait": 1/' "$work/job.json" && refused 2 'wait' "$bin" "$work/job.json"
job 4 '' && sed -i 's/data.segy/nowhere.segy/' "$work/job.json" && refused 2 'nowhere.segy' "$bin" "$work/job.json"
job 4 '' && echo '{' >"$work/job.json" && refused 2 'job.json' "$bin" "$work/job.json"
job 4 ''
cp "$work/data.segy" "$work/good.segy"
printf '\177\300\000\000' | dd of="$work/data.segy" bs=1 seek=$((3600 + 1005 * 3044 + 240 + 400)) conv=notrunc 2>/dev/null
refuses 'a sample that is no number' 'sample 101 of trace 1006 is no finite number' "$bin" "$work/job.json"
exit $failed
