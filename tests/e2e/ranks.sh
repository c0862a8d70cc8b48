# tests/e2e/ranks.sh – NPB-MZ over MPI ranks: the same bits as in one process for any number of
# ranks and any units, also when zones move because a rank is slow; only one rank prints; errors and
# deaths end all ranks.
set -u
command -v mpirun >/dev/null || { echo 'no mpirun here'; exit 77; }
. tests/check.sh
with_mpi
ranks() { timeout 120 mpirun --oversubscribe -n "$@"; }
# what, number of ranks, program, arguments…: verifies; the JSON goes to $work/out.
good() {
    what="$1: $3 on $2 ranks ${CU_FAULT:+with CU_FAULT=$CU_FAULT}"
    n=$2 program=$3
    shift 3
    ranks "$n" "$BIN/$program" --class S "$@" --json - >"$work/out" 2>"$work/err" ||
        say "$what: exit $?: $(cat "$work/err")"
}
# Likewise; the norms are those of one process, $one. (Devices round otherwise.)
same() {
    good "$@"
    [ "$(norms <"$work/out")" = "$one" ] || say "$what: other norms"
}
# field, least value: an integer in the JSON.
at_least() {
    value=$(sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$work/out")
    [ "${value:-0}" -ge "$2" ] || say "$what: $1 is '$value', not at least $2"
}

for program in bt-mz sp-mz lu-mz; do
    one=$("$BIN/$program" --class S --layout 1x1 --json - | norms)
    # SP's zones are equal, as LU's, and carry nothing, as BT's: on three ranks only.
    brief=
    [ $program = sp-mz ] && [ -z "${EK_LONG:-}" ] && brief=yes
    for n in ${EK_LONG:+1 3} $([ "$brief" ] && echo 3 || echo 2 5); do # BT and SP have 4 zones: one of 5 ranks has none
        same plain $n $program --layout 1x1 --schedule dynamic --ranks-schedule heft
        [ "$(grep -c '"program"' "$work/out")" = 1 ] || say "$program on $n ranks: more or fewer than one rank prints JSON"
        # A rank that a busy machine slowed may have given all its zones away.
        [ $n = 1 ] || ! grep -q '"zones_moved": 0,*$' "$work/out" || at_least messages 8
    done
    # A slow rank gives zones away, with what they carry; from a device, too.
    CU_FAULT=rank:0@slow:20@step:15 same slow 3 $program --layout 1x1 --ranks-schedule heft
    at_least zones_moved 1
    [ "$brief" ] && continue
    good devices 2 $program --layout 1x1+1 --devices host:0 --schedule dynamic
    CU_FAULT=rank:1@slow:20 good 'slow, devices' 2 $program --layout 1x1+1 --devices host:0 \
        --schedule static --ranks-schedule heft
    at_least zones_moved 1
done

for schedule in static ${EK_LONG:+guided-runtime clustered-guided evenkeel} dynamic; do
    CU_FAULT=rank:1@slow:20 same "$schedule" 2 lu-mz --layout 1x1 --ranks-schedule $schedule
    [ $schedule = static ] || [ $schedule = evenkeel ] || at_least zones_moved 1
done
# The mpirun of Debian 13 dies over "program : program".
cat >"$work/unlike" <<'END'
layouts=(1x1 2x2 0x0+1)
[ "$OMPI_COMM_WORLD_RANK" = 2 ] && export CU_DEVICES=host:0
exec "$@" --layout "${layouts[OMPI_COMM_WORLD_RANK]}"
END
ranks 3 bash "$work/unlike" "$BIN/lu-mz" --class S --json - >"$work/out" 2>"$work/err" ||
    say "ranks of different layouts: $(cat "$work/err")"
if has_opencl; then
    good 'one device for two' 2 bt-mz --layout 1x1+1 --devices opencl:0 --schedule static
fi

ranks 2 "$BIN/bt-mz" --class S --layout 1x1 --compare static,dynamic --repeat 2 >"$work/out" 2>&1 ||
    say "compare on 2 ranks: $(cat "$work/out")"
grep -q 'faces between ranks: ' "$work/out" || say "faces between ranks are not reported: $(cat "$work/out")"
ranks 3 "$BIN/bt-mz" --class S --ranks-schedule nope >"$work/out" 2>&1
[ $? = 2 ] && [ "$(grep -c ^bt-mz: "$work/out")" = 1 ] || say "a bad --ranks-schedule is not exit 2 with one line: $(cat "$work/out")"
CU_FAULT=rank:2@slow:2 ranks 2 "$BIN/bt-mz" --class S >"$work/out" 2>&1
[ $? = 2 ] || say 'a fault of a rank that does not exist is not exit 2'

# A rank is killed: all end soon; the last checkpoint is intact, and other ranks resume from it with the
# same bits.
one=$("$BIN/bt-mz" --class S --layout 1x1 --json - | tr -d ' \n' | grep -o '"residual":[^]]*]')
CU_FAULT=rank:1@step:40 timeout 60 mpirun --oversubscribe -n 3 "$BIN/bt-mz" --class S --layout 1x1 \
    --checkpoint "$work/state" --every 7 >"$work/out" 2>&1
[ $? = 3 ] || say "a killed rank: not exit 3: $(cat "$work/out")"
grep -q 'rank 1 of 3 died of signal 9' "$work/out" || say "a killed rank: $(cat "$work/out")"
for n in 2 1; do
    cp "$work/state" "$work/again"
    ranks $n "$BIN/bt-mz" --class S --layout 1x1 --checkpoint "$work/again" --json - >"$work/out" 2>&1 ||
        say "$n ranks do not resume: $(cat "$work/out")"
    grep -q '"steps": 25' "$work/out" || say "$n ranks do not resume at step 35"
    tr -d ' \n' <"$work/out" | grep -qF "$one" || say "$n ranks: other norms after resuming"
done

# The disk is full for one rank only: nobody replaces the older checkpoint or leaves a partial one, all
# end, and the ranks that have written their parts know why, too. (MPI itself must need no large file.)
cat >"$work/full" <<'END'
[ "$OMPI_COMM_WORLD_RANK" = "$FULL" ] && ulimit -S -f 1
exec "$@"
END
for full in 0 1 3; do
    cp "$work/state" "$work/full.state"
    FULL=$full timeout 60 mpirun --oversubscribe -n $((full + 1 > 2 ? full + 1 : 2)) --mca btl self,tcp bash "$work/full" \
        "$BIN/bt-mz" --class S --layout 1x1 --checkpoint "$work/full.state" --every 1 >"$work/out" 2>&1
    rc=$?
    [ $rc = 3 ] && grep -q '^bt-mz: checkpoint .*cannot be written: File too large; any older' "$work/out" &&
        ! grep '^bt-mz: checkpoint' "$work/out" | grep -qv 'File too large'
    check $? "a disk that is full for rank $full: exit $rc: $(cat "$work/out")"
    cmp -s "$work/state" "$work/full.state"
    check $? "a disk that is full for rank $full: the older checkpoint has changed"
    ls "$work" | grep -q '\.part' && say "a disk that is full for rank $full: a partial file is left"
done

# Only one run at a time may use a checkpoint; a second one is refused and does not disturb it. Injected
# faults make the run long without using cpu time.
CU_FAULT=rank:0@slow:12,rank:1@slow:12 mpirun --oversubscribe -n 2 "$BIN/bt-mz" --class A --layout 1x1 --checkpoint "$work/one" --every 5 --quiet \
    >"$work/out" 2>&1 &
run=$!
until [ -e "$work/one" ] || ! kill -0 $run 2>/dev/null; do sleep 0.1; done
ranks 2 "$BIN/bt-mz" --class A --layout 1x1 --checkpoint "$work/one" --quiet >"$work/err" 2>&1
[ $? = 2 ] && grep -q "$work/one: process .* works on it" "$work/err" || say "two runs with one checkpoint: $(cat "$work/err")"
"$BIN/bt-mz" --class A --checkpoint "$work/one" --quiet >"$work/err" 2>&1
[ $? = 2 ] || say "a run without MPI with the checkpoint of another: $(cat "$work/err")"
kill -0 $run || say "the first run has ended: $(cat "$work/out")"

# A rank is frozen: it is named, with its host, and goes on when it is continued.
rank_is() { # the process that computes; its parent, the guard, has the same name
    for pid in $(pgrep -x bt-mz); do
        grep -qz "^OMPI_COMM_WORLD_RANK=$1$" "/proc/$pid/environ" && grep -qz '^CU_GUARD=' "/proc/$pid/environ" &&
            grep -qz "^$work/one$" "/proc/$pid/cmdline" && echo "$pid"
    done 2>/dev/null
}
frozen=$(rank_is 1)
kill -STOP "$frozen"
sleep ${EK_LONG:+7} 6
kill -CONT "$frozen"
grep -qE "rank 1 of 2 on .*\(process $frozen\) has been stopped since [0-9:]{8}" "$work/out" ||
    say "a frozen rank is not named: $(cat "$work/out")"
[ -z "${EK_LONG:-}" ] || grep -qE 'rank 0 of 2 has waited for (rank 1 on .*|the other ranks) since' "$work/out" ||
    say "no rank says that it waits for the frozen rank: $(cat "$work/out")"
grep -q 'rank 1 of 2 has waited' "$work/out" && say "the frozen rank says that it waits: $(cat "$work/out")"
kill -TERM $(rank_is 0)
wait $run
[ $? = 4 ] || say "a rank that was frozen: $(cat "$work/out")"

# Measurements cover all ranks: their units in the trace, bounds and losses, times of all zones.
ranks 2 "$BIN/bt-mz" --class S --layout 2x1 --trace "$work/trace" --json "$work/out" >"$work/err" 2>&1 ||
    say "trace: $(cat "$work/err")"
[ "$(grep -c '"name": "thread_name"' "$work/trace")" = 4 ] || say 'trace: units of some rank are missing'
for tid in 0 1 2 3; do
    grep -q "\"tid\": $tid" "$work/trace" || say "trace: nothing of unit $tid"
    grep -q "\"name\": \"compute $tid\"" "$work/trace" || say "trace: nothing of zone $tid"
done
bound=$(sed -n 's/^ *"lower_bound_s": \([0-9.e-]*\),$/\1/p' "$work/out")
took=$(sed -n 's/^ *"computation_s": \([0-9.e-]*\),$/\1/p' "$work/out")
awk -v b="${bound:-0}" -v t="$took" 'BEGIN { exit !(b > 0 && b <= t) }' || say "bound '$bound' of '$took'"
grep -q '"imbalance_s": [0-9]' "$work/out" || say "no losses of ranks"
[ "$(tr -d ' \n' <"$work/out" | sed 's/.*"task_seconds":{"cpu":\[\([^]]*\)\].*/\1/' | tr ',' '\n' | grep -c .)" = 4 ] ||
    say "no times of all zones"

# Ranks with different options do not wait for one another for ever.
apart() { timeout -k 5 60 mpirun --oversubscribe -n 1 "$BIN/bt-mz" --class S --quiet : -n 1 "$BIN/$@" --quiet; }
refuses 'another problem' 'rank 1 is to do' apart bt-mz --class S --steps 6
refuses 'another number of runs' 'rank 1 is to do' apart bt-mz --class S --repeat 2
refuses 'another program' 'rank 1 is to do' apart sp-mz --class S

# SIGTERM to one rank ends all, at the same step, which is saved; each exits 4.
mpirun --oversubscribe -n 2 "$BIN/bt-mz" --class A --layout 1x1 --checkpoint "$work/told" --every 5 \
    >"$work/out" 2>&1 &
run=$!
until [ -e "$work/told" ] || ! kill -0 $run 2>/dev/null; do sleep 0.1; done
kill -TERM $(pgrep -P $run bt-mz | head -1)
wait $run
[ $? = 4 ] && grep -q "resumes from $work/told" "$work/out" || say "SIGTERM: $(cat "$work/out")"
exit $failed
