# tests/e2e/okada_nodes.sh – searches over ranks give the same table with any policy, whichever rank
# is killed, and wherever a run is resumed. Needs BIN and mpirun; run through
# tests/run.sh.
set -u
command -v mpirun >/dev/null || { echo 'skipped: no mpirun'; exit 77; }
. tests/check.sh
with_mpi
examples=okada_mogi/examples
ranks() { # how many, program, arguments…
    n=$1 program=$2
    shift 2
    timeout 300 mpirun --oversubscribe -n "$n" "$BIN/$program" "$@"
}
same() { # how it was found
    cmp -s "$work/one.csv" "$work/out.csv" || say "the table differs $1"
}

# Any policy and number of ranks. Batches end at whole geometries, so that even the number of
# evaluations is the same.
one() { # program, arguments…: with one process
    "$BIN/$1" "${@:2}" --layout 1x1 --out "$work/one.csv" --json "$work/one.json" --quiet || say "$* exits $?"
}
many() { # number of policies, their list, ranks, program, arguments…: each finds what one process finds
    local policies=$1
    shift
    rm -f "$work/out.csv"
    ranks "$2" "$3" "${@:4}" --layout 1x1 --compare "$1" --out "$work/out.csv" \
        --json "$work/out.json" --quiet >"$work/log" 2>&1 || say "$* exits $?: $(cat "$work/log")"
    same "with $*"
    python3 - "$work/one.json" "$work/out.json" "$policies" "$2" <<'END' || say "$*: other numbers"
import json, sys
one, runs = (json.load(open(path)) for path in sys.argv[1:3])
runs, policies, ranks = runs["runs"], int(sys.argv[3]), int(sys.argv[4])
keys = ["trials", "accepted", "evaluations", "verified"]
for run in runs:
    for key in keys:
        if run[key] != one[key]:
            sys.exit("%s: %s is %s, not %s" % (run["schedule"], key, run[key], one[key]))
sys.exit(len(runs) != policies or any(run["ranks"] != ranks for run in runs))
END
}
one okada $examples/parkfield.json --method brute --trials 376000000:377000000
many 8 hrdls,chunk,gss,tss,fac,wf,static,hrdls:b=0.1,c=1,average 3 okada $examples/parkfield.json --method brute --trials 376000000:377000000
many 2 hrdls,static 1 okada $examples/parkfield.json --method brute --trials 376000000:377000000
one mogi $examples/campi.json
[ "$(number accepted "$work/one.json")" = 1859 ] || say 'campi'
ranks 2 mogi $examples/campi.json --layout 1x1 --out "$work/out.csv" --quiet || say 'campi on 2 ranks'
same 'of campi'
one mogi $examples/unimak.json
ranks 3 mogi $examples/unimak.json --layout 1x1 --out "$work/out.csv" --quiet || say 'unimak on 3 ranks'
same 'of two sources'
# Batches with more accepted trials than a worker holds: rank 0 searches the rest.
printf '%s\n' 'E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m' '0,0,.01,.01,.02,.005,.005,.01' >"$work/s.csv"
cat >"$work/wide.json" <<END
{"model": "mogi", "stations": "s.csv", "accept": {"k_sigma": 1e9}, "parameters": [
 {"name": "Es_m", "min": -5e3, "max": 5e3, "n": 70}, {"name": "Ns_m", "min": -5e3, "max": 5e3, "n": 70},
 {"name": "d_m", "min": 1e3, "max": 5e3, "n": 18}, {"name": "dV_m3", "min": -1e6, "max": 1e6, "n": 10}]}
END
"$BIN/mogi" "$work/wide.json" --layout 1x1 --binary "$work/one.bin" --quiet || say "wide exits $?"
for schedule in static ${EK_LONG:+hrdls}; do
    ranks 3 mogi "$work/wide.json" --layout 1x1 --schedule $schedule --binary "$work/out.bin" --quiet || say "wide: $?"
    cmp -s "$work/one.bin" "$work/out.bin" || say "the set differs with full workers, $schedule"
    rm -f "$work/out.bin"
done

# Runs that take a few seconds on any machine: units sleep most of the time.
slow="$examples/parkfield.json --method brute --trials 376000000:378000000 --layout 1x1 --schedule hrdls"
one okada $examples/parkfield.json --method brute --trials 376000000:378000000
factor() { # seconds, ranks: how slow units must be
    awk -v t="$(number search_s "$work/one.json")" "BEGIN { print 1 + $1 * $2 / t }"
}
begin() { # ranks, arguments…: in the background
    rm -f "$work/out.csv" "$work/log"
    CU_FAULT=unit:0@slow:$(factor "${seconds:-7}" "$1") timeout 300 mpirun --oversubscribe -n "$1" "$BIN/okada" $slow \
        --out "$work/out.csv" "${@:2}" >"$work/log" 2>&1 &
    launcher=$!
}
rank_is() { # number: pids of the processes that search as this rank of the run in $work
    for p in $(pgrep -f "okada $slow --out $work/out.csv"); do
        tr '\0' '\n' 2>/dev/null <"/proc/$p/environ" | grep -q "^CU_FAMILY=$1 " && echo "$p"
    done
}
wait_for() { # command that prints something once the condition holds
    for _ in $(seq 1000); do
        [ -n "$("$@")" ] && return
        kill -0 $launcher 2>/dev/null || break
        sleep 0.25
    done
    say "in vain: waited for $*: $(cat "$work/log")"
}

# Workers are killed, more than once, whatever they are doing. Long enough for five kills on a busy
# machine, where a search of 7 s has ended before the fourth.
seconds=20 begin 4
for rank in 1 2 3 2 1; do
    wait_for rank_is $rank
    sleep 0.$((RANDOM % 4))
    kill -9 $(rank_is $rank) 2>/dev/null
done
wait $launcher || say "with killed workers it exits $?: $(cat "$work/log")"
same 'with killed workers'
[ "$(grep -c 'died of signal 9.*started again' "$work/log")" -ge 3 ] || say "killed workers are not restarted: $(cat "$work/log")"

# A worker is frozen: the others take over its batch, and its guard restarts it.
begin 3
wait_for rank_is 2
sleep 0.5
kill -STOP $(rank_is 2)
wait $launcher || say "with a frozen worker it exits $?: $(cat "$work/log")"
same 'with a frozen worker'

# A worker that dies at each second batch is given up.
slowly=$(factor 20 2)
CU_FAULT=rank:1@step:2,rank:0@slow:$slowly,rank:2@slow:$slowly ranks 3 okada $slow --out "$work/out.csv" --quiet >"$work/log" 2>&1 ||
    say "without rank 1 it exits $?"
same 'without rank 1'
grep -q 'rank 1 of 3 died .*the others go on without it' "$work/log" || say "rank 1: $(cat "$work/log")"

# Rank 0 is killed; the search is resumed with other ranks and in another layout.
saved() { # a range of trials, not only the head of the file
    find "$work/state" -size +90c 2>/dev/null
}
seconds=20 begin 3 --checkpoint "$work/state"
wait_for saved
kill -9 $(rank_is 0)
wait $launcher && say 'a run that has lost rank 0 succeeds'
[ -s "$work/state" ] || say 'no checkpoint is left'
[ -e "$work/out.csv" ] && say 'an incomplete search writes a table'
grep -q 'rank 0 of 3 died of signal 9' "$work/log" || say "the death of rank 0 is not reported: $(cat "$work/log")"
"$BIN/mogi" $examples/campi.json --checkpoint "$work/state" --quiet >"$work/log" 2>&1
[ $? = 2 ] && grep -q 'checkpoint of another job' "$work/log" || say "a checkpoint of another job: $(cat "$work/log")"
seconds=15 begin 2 --checkpoint "$work/state"
wait_for rank_is 0
sleep 0.5
kill -INT $(rank_is 0)
wait $launcher
grep -q 'interrupted: .* of 2000000 trials are done; the same command goes on' "$work/log" ||
    say "an interrupted run says $(cat "$work/log")"
"$BIN/okada" $slow --layout 2x1 --out "$work/out.csv" --checkpoint "$work/state" --json "$work/out.json" --quiet ||
    say "it does not resume: exit $?"
same 'after two restarts'
grep -q '^ "trials": 2000000,' "$work/out.json" || say 'trials after two restarts'
[ -e "$work/state" ] && say 'the checkpoint of a complete search is left'

# One process, interrupted: long before its end, however busy the machine is.
CU_FAULT=unit:0@slow:$(factor 20 1) "$BIN/okada" $slow --out "$work/out.csv" --checkpoint "$work/state" --quiet 2>"$work/log" &
launcher=$!
wait_for saved
kill -INT $launcher
wait $launcher
[ $? = 4 ] || say "SIGINT: $(cat "$work/log")"
"$BIN/okada" $slow --out "$work/out.csv" --checkpoint "$work/state" --quiet || say 'after SIGINT'
same 'after SIGINT'
"$BIN/okada" $slow --checkpoint /proc/none/state --quiet 2>"$work/log"
[ $? = 3 ] && grep -q '/proc/none/state: cannot be written' "$work/log" || say "no such folder: $(cat "$work/log")"
head -c 64 /dev/urandom >"$work/state"
"$BIN/okada" $slow --checkpoint "$work/state" --quiet 2>"$work/log"
[ $? = 2 ] && grep -q 'this is no checkpoint' "$work/log" || say "a foreign file: $(cat "$work/log")"
exit $failed
