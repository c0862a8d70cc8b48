# tests/e2e/signals.sh – signals of batch systems and terminals: SIGTERM and SIGHUP save the state
# and end the run, SIGUSR1 saves it and continues, alone and under mpirun. Needs BIN; run through
# tests/run.sh.
. tests/check.sh
file=$work/state

ready() { # pid: waits until the program, not yet this shell, has a handler for SIGUSR1 (bit 9 of SigCgt)
    for ((i = 0; i < 300; i++)); do
        # check the name first: this shell catches signals, too
        [ "$(cat "/proc/$1/comm" 2>/dev/null)" = bash ] && { sleep 0.02; continue; }
        caught=$(sed -n 's/^SigCgt:.*\(...\)$/\1/p' "/proc/$1/status" 2>/dev/null)
        ((0x${caught:-200} >> 9 & 1)) && return # or it has ended already
        sleep 0.1
    done
    say "$2: never ready"
}
there() { # pid of who writes it: waits for the file
    until [ -s "$file" ] || ! kill -0 "$1" 2>/dev/null; do sleep 0.1; done
    [ -s "$file" ] || say "$2: nothing is saved"
}
ended() { # pid, exit code, what
    wait "$1"
    local rc=$?
    [ $rc = "$2" ] || say "$3: exits $rc: $(cat "$work/out")"
}
# Would save by itself only long after the end.
save() { exec "$BIN/bt-mz" --class A --layout 1x1 --checkpoint "$file" --every 100000 --quiet; }

for signal in HUP TERM; do
    save >"$work/out" 2>&1 &
    pid=$!
    ready $pid $signal
    kill -USR1 $pid # answered at the end of a step: there is something to save
    there $pid "$signal after SIGUSR1"
    rm -f "$file"
    kill -$signal $pid
    ended $pid 4 $signal
    [ -s "$file" ] || say "$signal: nothing is saved"
    rm -f "$file"
done
# Under nohup, with a library that installs a handler before main(), as libpsm2 does.
cat >"$work/taker.c" <<'END'
#include <signal.h>
#include <unistd.h>
static void end(int number) { _exit(number); }
__attribute__((constructor)) static void take(void) { signal(SIGHUP, end); }
END
taker=$work/taker.so
[ -z "${SAN:-}" ] && ${CC:-cc} -shared -fPIC "$work/taker.c" -o "$taker" || taker=
(trap '' HUP && LD_PRELOAD=$taker save) >"$work/out" 2>&1 &
pid=$!
ready $pid nohup
sleep 0.5
kill -HUP $pid
kill -USR1 $pid
there $pid USR1
kill -TERM $pid 2>/dev/null || say "SIGUSR1 or, under nohup, SIGHUP ended it: $(cat "$work/out")"
ended $pid 4 'after USR1'
rm -f "$file"

catches() { # pid, program: waits until the process is that, and catches SIGINT
    local caught
    for ((i = 0; i < 20000; i++)); do
        [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] || continue
        caught=$(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/$1/status" 2>/dev/null)
        ((0x${caught:-0} >> 1 & 1)) && break
    done
}
# Before anything is begun: the exit code is that of an interrupted run, however early the signal
# comes, while the program executes itself again, too.
for wait in 0 0.02 0.05 0.1; do
    "$BIN/bt-mz" --class A --layout 1x1 --quiet >"$work/out" 2>&1 &
    pid=$!
    catches $pid bt-mz
    sleep $wait
    kill -INT $pid
    ended $pid 4 "INT after $wait s"
done
interrupt() { # what, command…: sends SIGINT soon after the command has begun its work
    local wait pid what=$1
    shift
    for wait in 0.2 0.5 1 2 4; do
        "$@" >"$work/out" 2>&1 &
        pid=$!
        catches $pid "$(basename "$1")"
        sleep $wait
        kill -INT $pid
        ended $pid 4 "$what"
        grep -q 'nothing is saved' "$work/out" || break
    done
}

# Before the first batch: nothing has been searched, and no result is printed.
interrupt 'INT at once' "$BIN/okada" okada_mogi/examples/parkfield.json --method brute --trials 0:20000000 \
    --layout 1x1 --quiet --out "$work/table" --checkpoint "$file"
grep -q 'interrupted: .* of 20000000 trials' "$work/out" || say "INT at once: $(cat "$work/out")"
[ -e "$work/table" ] && say 'INT at once: there is a table'
rm -f "$file"

# A proof that takes minutes: undecided boxes are reported as open.
interrupt 'INT while certifying' "$BIN/okada" tests/data/okada_mogi/parkfield-g1-k2.5.json --certify "$work/proof" \
    --json "$work/said" --quiet
grep -q 'interrupted: boxes not decided yet are open in ' "$work/out" || say "INT while certifying: $(cat "$work/out")"
grep -q '"certified": false' "$work/said" && grep -q '"levels"' "$work/proof" || say 'INT while certifying: no proof'

# A table, while its reader keeps the program waiting: writing goes on after the signal.
mkfifo "$work/pipe"
table() { exec "$BIN/mogi" okada_mogi/examples/campi.json --layout 1x1 --quiet --out "$1"; }
(table "$work/whole")
table "$work/pipe" >"$work/out" 2>&1 &
pid=$!
exec 3<"$work/pipe"
read -r -n 1 -u 3 first
until grep -q ') [SZ] ' /proc/$pid/stat; do sleep 0.05; done
kill -TERM $pid
while grep -q '^ShdPnd:.*[1-9a-f]' /proc/$pid/status; do sleep 0.05; done
{ printf %s "$first"; cat <&3; } | cmp -s - "$work/whole" || say "TERM while a table is written: $(cat "$work/out")"
ended $pid 0 'TERM while a table is written'

# SIGUSR1 does not kill programs without anything to save.
cat >"$work/job.json" <<'END'
{"nodes": "localhost", "tasks": [{"name": "a", "command": "sleep 0.5", "time": "0.5/p"}]}
END
"$BIN/mcsem" --generate small --out "$work/small.csv" >/dev/null
awk 'NR == 2 || NR == 3 || NR == 5 || NR > 5 && int((NR - 6) / 3) % 4 == 0' "$work/small.csv" >"$work/survey.csv"
"$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" >/dev/null
survives() {
    "$@" >"$work/out" 2>&1 &
    pid=$!
    ready $pid "$1"
    for _ in 1 2 3; do
        kill -USR1 $pid 2>/dev/null
        sleep 0.05
    done
    ended $pid 0 "$* after SIGUSR1"
}
survives "$BIN/cu-run" run "$work/job.json" --quiet
survives "$BIN/cu-plan" --simulate tests/data/cu/pcf-40.json
survives "$BIN/okada" okada_mogi/examples/parkfield.json --layout 2x1 --quiet --checkpoint "$work/okada"
survives "$BIN/mcsem" "$work/survey.csv" --iterations 1 --target 15 --layout 1x1 --checkpoint "$work/mcsem"
survives "$BIN/kirchhoff-tt" --velocity const:v=1500 --grid 101x101x101:20m --shots 2 --out "$work/tt"
survives "$BIN/kirchhoff-mig" "$work/data.segy" --velocity const:v=2000 --grid 41x41x41:20m --out "$work/image.segy"

# Ranks, signalled as Slurm does: all save the same step.
if command -v mpirun >/dev/null; then
    with_mpi
    # Many short steps, and a few long ones.
    for run in 'bt-mz --class B --every 100000' "mcsem $work/survey.csv --mode exact --iterations 20"; do
        mpirun --oversubscribe -n 2 "$BIN"/$run --layout 1x1 --checkpoint "$file" --quiet >"$work/out" 2>&1 &
        launcher=$!
        guards=
        for ((i = 0; i < 300; i++)); do
            guards=$(ps -o pid= --ppid $launcher)
            [ "$(wc -w <<<"$guards")" = 2 ] && break
            sleep 0.1
        done
        for guard in $guards; do ready "$guard" 'a rank'; done
        sleep 1
        kill -USR1 $guards
        there $launcher "$run: ranks, USR1"
        rm -f "$file"
        kill -TERM $(head -1 <<<"$guards") 2>/dev/null ||
            say "$run: SIGUSR1 ended the ranks: $(cat "$work/out")"
        ended $launcher 4 "$run: ranks, TERM"
        [ -s "$file" ] || say "$run: ranks, TERM: nothing is saved"
        rm -f "$file"
    done
fi
exit $failed
