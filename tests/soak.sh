#!/usr/bin/env bash
# tests/soak.sh – `make soak`: injects faults into every program at times drawn from a seed, until the time
# is up. A run that a fault ended is restarted with the same command, as a user or a batch system would;
# its result must be that of an undisturbed run.
#
# Environment: BIN; MINUTES (5), SEED (drawn, and printed), ONLY=word: programs or faults whose name contains it.
# Prints losses as they happen and finally a table: faults injected, survived, lost, and how many came after
# the end of their run. Exit 1: a result was lost; its folder is kept.
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=$(cd "${BIN:-bin}" && pwd) || exit 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_WAIT_POLICY=passive LC_ALL=C
minutes=${MINUTES:-5} seed=${SEED:-$RANDOM}
[ -w /dev/shm ] && export TMPDIR=${TMPDIR:-/dev/shm} # each save waits for the disk
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
mkdir "$XDG_CACHE_HOME"
trap '[ -n "${lost:-}" ] || rm -rf "$work"' EXIT
ulimit -c 0
RANDOM=$seed
mpi="mpirun --oversubscribe -n 2"
npb="--class W --checkpoint @@/state --every 3 --json @@/json --quiet --profile=off"
okada="okada_mogi/examples/parkfield.json --method brute --trials 376000000:376400000"

# Devices only for programs in which they compute the same bits as cores.
# name | possible faults | results (norms: in the JSON) | command; @@ is the run's own folder
subjects=(
    "bt-mz|kill term hup usr1 freeze slow die full|norms|$BIN/bt-mz $npb --layout 2x1 --schedule dynamic"
    "sp-mz|kill term usr1 freeze die full|norms|$BIN/sp-mz $npb --layout 1x1"
    "lu-mz|kill term usr1 freeze slow die full|norms|$BIN/lu-mz $npb --layout 2x1 --schedule dynamic"
    "bt-mz-ranks|kill kill-rank term freeze-rank|norms|$mpi $BIN/bt-mz $npb --layout 1x1"
    "lu-mz-ranks|kill-rank term freeze-rank|norms|$mpi $BIN/lu-mz $npb --layout 1x1"
    "okada|kill term freeze slow die full|out.csv|$BIN/okada $okada --layout 2x1 --checkpoint @@/state --out @@/out.csv --quiet"
    "okada-ranks|kill-rank term freeze-rank|out.csv|$mpi $BIN/okada $okada --layout 1x1 --checkpoint @@/state --out @@/out.csv --quiet"
    "mogi|kill term freeze die full|out.csv|$BIN/mogi okada_mogi/examples/campi.json --layout 1x1+1 --devices host:0 --checkpoint @@/state --out @@/out.csv --quiet"
    "mcsem|kill term freeze slow die full|model.csv|$BIN/mcsem $work/survey.csv --iterations 2 --target 7 --layout 2x1 --checkpoint @@/state --model-out @@/model.csv --quiet"
    "kirchhoff-tt|kill term freeze slow die full|tt/|$BIN/kirchhoff-tt --velocity lens:v0=2000,kz=0.5,dv=500,x=500,y=500,z=500,sigma=200 --grid 41x41x41:25m --shots 6 --layout 2x1 --resume --out @@/tt --quiet"
    "kirchhoff-mig|kill term freeze slow die full|image.segy|$BIN/kirchhoff-mig $work/data.segy --velocity gradient:v0=2000,k=0.5 --node-spacing 400 --grid 9x11x41:50x50x10@1300,1300,800 --layout 1x1+1 --devices host:0 --out @@/image.segy --quiet"
    "cu-run|kill term hup freeze full|done.*|cp -n $work/job.json @@/ && cd @@ && exec $BIN/cu-run run job.json --resume --quiet"
)
"$BIN/mcsem" --generate small --out "$work/survey.csv" >/dev/null && "$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" >/dev/null || exit 2
cat >"$work/job.json" <<'END'
{"nodes": [{"name": "a", "cores": 2}], "oversubscribe": true, "tasks": [{"name": "t", "count": 12,
 "command": "sleep 0.1; echo {id} >done.{id}", "time": "0.1/p+0.05"}]}
END

now() { date +%s%3N; }
draw() { drawn=$((RANDOM % $1)); } # not printed: a subshell has other random numbers than its parent
result() { # folder, what: a line that is the result's alone
    case $2 in
    norms) tr -d ' \n' <"$1/json" | grep -o '"residual":\[[^]]*\]' ;;
    *'*') (cd "$1" && sha256sum $2) ;;
    */) (cd "$1/$2" && find . -type f ! -name '*.json' -print0 | sort -z | xargs -0 sha256sum) | sha256sum ;;
    *) sha256sum <"$1/$2" ;;
    esac 2>&1
}
# A process of the program itself, not mpirun or a guard: any process of the group with its name.
one_of() { # process group, name; sets `victim`
    local all
    mapfile -t all < <(pgrep -g "$1" -x "${2:0:15}")
    [ ${#all[@]} != 0 ] && draw ${#all[@]} && victim=${all[drawn]}
}
inject() { # fault, process group, program
    local victim=
    draw 9
    local pause=0.${drawn}1
    case $1 in
    kill) kill -KILL -- "-$2" ;;
    term) kill -TERM "$2" ;;
    hup) kill -HUP "$2" ;;
    usr1) kill -USR1 "$2" ;;
    kill-rank) one_of "$2" "$3" && kill -KILL $victim ;;
    freeze) kill -STOP -- "-$2" && sleep $pause && kill -CONT -- "-$2" ;;
    freeze-rank) one_of "$2" "$3" && kill -STOP $victim && sleep $pause && kill -CONT $victim ;;
    esac 2>/dev/null # 0 as well where the run itself does what is to happen
}
run() { # folder, limit on a file in KiB, command: in the background, a process group of its own
    (ulimit -f "$2" && exec setsid bash -c "${3//@@/$1}" >>"$1/log" 2>&1 </dev/null) &
    pid=$!
}
over() { # sets `rc`; the shell itself need not tell of deaths
    wait $pid
    rc=$?
} 2>/dev/null
# Disturbs a run once and restarts it until it finishes; sets `tries`, `hit`.
disturbed() { # folder, fault, name, command, undisturbed milliseconds
    local fault= limit=unlimited
    case $2 in
    slow) fault=unit:$((RANDOM % 2))@slow:$((2 + RANDOM % 4)) ;;
    die) fault=unit:$((RANDOM % 2))@step:$((1 + RANDOM % 9)) ;;
    full) limit=$((1 + RANDOM % 64)) ;;
    esac
    draw "$5"
    local program=${3%-ranks} moment=$drawn
    CU_FAULT=$fault run "$1" $limit "$4"
    sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
    inject "$2" $pid "$program" && hit=1 || hit=0
    over
    ! grep -q 'never happened' "$1/log" || hit=0
    [ "$2" != full ] || grep -q 'cannot be written\|too large' "$1/log" || hit=0
    for ((tries = 1; rc != 0 && tries < 6; tries++)); do
        run "$1" unlimited "$4"
        over
    done
    return $rc
}

declare -A wanted took injected survived
lost=
echo "soak: $minutes min, SEED=$seed"
end=$(($(now) + minutes * 60000))
faults=0 kept=0 late=0
while [ "$(now)" -lt $end ]; do
    IFS='|' read -r name may what command <<<"${subjects[RANDOM % ${#subjects[@]}]}"
    read -ra kinds <<<"$may"
    kind=${kinds[RANDOM % ${#kinds[@]}]}
    case $name/$kind in *"${ONLY:-}"*) ;; *) continue ;; esac
    if [ -z "${wanted[$name]:-}" ]; then
        mkdir "$work/$name" && begun=$(now) && run "$work/$name" unlimited "$command" && wait $pid ||
            { echo "soak: $name fails undisturbed: $(tail -3 "$work/$name/log")"; lost=1; exit 1; }
        took[$name]=$(($(now) - begun)) wanted[$name]=$(result "$work/$name" "$what")
    fi
    faults=$((faults + 1)) folder=$work/$faults
    mkdir "$folder"
    disturbed "$folder" $kind "$name" "$command" "${took[$name]}" && [ "$(result "$folder" "$what")" = "${wanted[$name]}" ]
    survives=$?
    if [ $survives = 0 ] && [ $hit = 0 ]; then
        faults=$((faults - 1)) late=$((late + 1))
        rm -rf "$folder"
        continue
    fi
    injected[$name/$kind]=$((${injected[$name/$kind]:-0} + 1))
    if [ $survives = 0 ]; then
        survived[$name/$kind]=$((${survived[$name/$kind]:-0} + 1)) kept=$((kept + 1))
        rm -rf "$folder"
    else
        lost=$folder
        echo "LOST: $name, $kind, fault $faults, $tries starts: $folder"
        tail -3 "$folder/log" | sed 's/^/      /'
    fi
done
printf '%-28s %8s %8s %6s\n' 'program/fault' injected survived lost
for key in $(printf '%s\n' "${!injected[@]}" | sort); do
    printf '%-28s %8d %8d %6d\n' "$key" "${injected[$key]}" "${survived[$key]:-0}" $((${injected[$key]} - ${survived[$key]:-0}))
done
echo "$faults faults, $kept survived, $((faults - kept)) lost; $late came too late"
[ $kept = $faults ]
