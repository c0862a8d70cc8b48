# tests/e2e/survive.sh – NPB-MZ with --survive: ranks are killed and frozen, nodes are lost, and the
# run continues from memory to the same bits; nothing is left behind. KILLS=500 kills that many
# ranks at random moments.
. tests/check.sh
with_mpi
# what, launch, program, arguments…: the norms are those of one process, $one.
same() {
    what="$1: $3" launch=$2 program=$3
    shift 3
    timeout 120 "$BIN/$program" --layout 1x1 --survive 10 --launch "$launch" --json "$work/out" \
        --quiet "$@" >"$work/err" 2>&1 || say "$what: exit $?: $(cat "$work/err")"
    [ "$(norms <"$work/out")" = "$one" ] || say "$what: other norms: $(cat "$work/err")"
    return $failed
}
launched() { grep -c 'all are launched again' "$work/err"; }
from() { # the step at which the last launch resumed, of 60
    grep -q "\"steps\": $((60 - $1)),$" "$work/out" && grep -q "\"steps_before\": $1[,]*$" "$work/out" \
        || say "$what: not from step $1: $(cat "$work/out")"
}
alone() { [ "$what" ] && ! pgrep -f "$work" >/dev/null || say "$what: left behind: $(pgrep -af "$work")"; }

both="--class S --layout 1x1+1 --devices host:0 --schedule static"
one=$("$BIN/bt-mz" $both --json - | norms)
CU_FAULT=rank:0@step:35 same 'one process' '' bt-mz $both
[ "$(launched)" = 1 ] && ! grep 'never happened' "$work/err" || say "one process: $(cat "$work/err")"
from 30
alone
one=$("$BIN/bt-mz" --class S --layout 1x1 --json - | norms)
"$BIN/bt-mz" --class S --launch 'mpirun -n 2' >"$work/err" 2>&1
[ $? = 2 ] || say '--launch alone is not exit 2'
"$BIN/bt-mz" --class S --survive 10 --compare static,dynamic >"$work/err" 2>&1
[ $? = 2 ] || say '--survive and --compare is not exit 2'
"$BIN/bt-mz" --class S --survive 10 --launch no-such-launcher >"$work/err" 2>&1
[[ $? == 12[67] && $(launched) == 0 ]] && ! grep 'is killed' "$work/err" || # 126: a folder of PATH is closed to this user
    say "a launcher that is not there: $(cat "$work/err")"
"$BIN/bt-mz" --class S --survive 10 --launch 'true;' >"$work/err" 2>&1
[ $? = 2 ] && grep -q 'no rank has run on this node' "$work/err" || say "nothing was launched: $(cat "$work/err")"
CU_FAULT=rank:0@step:2 "$BIN/bt-mz" --class S --layout 1x1 --survive 10 >"$work/err" 2>&1
[ $? = 3 ] && grep -q '5 launches in a row' "$work/err" || say "dies again and again: $(cat "$work/err")"
# A launcher that does not notice that its processes have ended, as mpirun sometimes does.
cat >"$work/hung" <<'END2'
[ $CU_LAUNCH = 0 ] && { true & exec sleep 300; }
exec "$@"
END2
same 'a hung launcher' "sh $work/hung" bt-mz --class S
[ "$(launched)" = 1 ] && grep -q 'the launcher is killed' "$work/err" || say "$what: $(cat "$work/err")"
alone
command -v mpirun >/dev/null || exit $failed

run='mpirun --oversubscribe -n'
OMPI_COMM_WORLD_SIZE=2 "$BIN/bt-mz" --class S --survive 10 >"$work/err" 2>&1
[ $? = 2 ] && grep -q "mpirun -n 2'" "$work/err" || say "--survive under mpirun: $(cat "$work/err")"

for program in ${EK_LONG:+bt-mz sp-mz} lu-mz; do
    one=$("$BIN/$program" --class S --layout 1x1 --json - | norms)
    # Counted from where a launch resumes: fewer steps remain then.
    step=45
    [ $program = sp-mz ] && step=65
    CU_FAULT=rank:1@step:$step same killed "$run 2" $program --class S
    [ "$(launched)" = 1 ] || say "$what: $(cat "$work/err")"
done
one=$("$BIN/bt-mz" --class S --layout 1x1 --json - | norms)
CU_FAULT=rank:0@step:45 same 'another number of ranks' "$run \$((3 - CU_LAUNCH))" bt-mz --class S
[ "$(launched)" = 1 ] && from 40 || say "$what: $(cat "$work/err")"
alone

# Two nodes, distinguished by their host names. Rank 1's node is lost with its keeper; the next launch
# has a new node in its place, which gets its zones from the other one.
keepers() { # of this test, without the first process
    for pid in $(pgrep -x ek-keeper); do
        grep -qz '^CU_SURVIVE=' "/proc/$pid/environ" && grep -qzF "$work" "/proc/$pid/cmdline" && echo "$pid"
    done 2>/dev/null
}
cat >"$work/node" <<END2
work=$work
$(declare -f keepers)
[ "\$OMPI_COMM_WORLD_RANK" = 0 ] && exec "\$@"
hostname node\$CU_LAUNCH
"\$@"
code=\$?
[ \$CU_LAUNCH = 0 ] && { keepers >$work/lost; kill -9 \$(<$work/lost); }
exit \$code
END2
if unshare --uts hostname a-node 2>/dev/null; then
    CU_FAULT=rank:0@slow:20,rank:1@step:35 same 'a lost node' "$run 2 unshare --uts bash $work/node" bt-mz --class S --ranks-schedule heft
    [ -s "$work/lost" ] && [ "$(launched)" = 1 ] && from 30 || say "$what: $(cat "$work/lost" "$work/err")"
    for _ in $(seq 100); do [ -z "$(keepers)" ] && break; sleep 0.1; done
    alone
fi

# SIGTERM ends all ranks at the same step, with exit code 4; one signal is enough.
timeout 60 "$BIN/bt-mz" --class A --layout 1x1 --survive 5 --launch "$run 2" --checkpoint "$work/state" \
    --every 5 --quiet >"$work/err" 2>&1 &
told=$!
until [ -e "$work/state" ] || ! kill -0 $told 2>/dev/null; do sleep 0.1; done
kill -TERM $(pgrep -P $told -x ek-keeper)
wait $told
[ $? = 4 ] && grep -q "resumes from $work/state" "$work/err" || say "SIGTERM: $(cat "$work/err")"

# A rank is frozen before it has reported for the first time.
cat >"$work/late" <<END2
[ \$CU_LAUNCH = 0 ] && [ "\$OMPI_COMM_WORLD_RANK" = 1 ] && kill -STOP \$\$
exec "\$@"
END2
one=$("$BIN/bt-mz" --class S --layout 1x1 --json - | norms)
same 'frozen at once' "$run 2 bash $work/late" bt-mz --class S
[ "$(launched)" = 1 ] || say "$what: $(cat "$work/err")"
alone

# Any process of a rank, at any moment, killed or frozen.
processes() {
    for pid in $(pgrep -x bt-mz); do
        grep -qz '^OMPI_COMM_WORLD_RANK=' "/proc/$pid/environ" && grep -qzF "$work" "/proc/$pid/cmdline" && echo "$pid"
    done 2>/dev/null
}
one=$("$BIN/bt-mz" --class W --layout 1x1 --json - | norms)
kills=${KILLS:-${EK_LONG:+20}}
for ((done = 0; done < ${kills:-1};)); do
    same "kill $done" "$run $((2 + RANDOM % 2))" bt-mz --class W &
    for ((i = 0; i < 3; i++)); do
        sleep 0.$((3 + RANDOM % 7))$((RANDOM % 10))
        pid=$(processes | shuf -n 1)
        [ "$pid" ] && kill -$( ((RANDOM % 4)) && echo KILL || echo STOP) "$pid" 2>/dev/null && done=$((done + 1))
    done
    wait $! || failed=1
done
alone
exit $failed
