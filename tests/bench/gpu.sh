#!/usr/bin/env bash
# tests/bench/gpu.sh [FILE] – tests a machine's GPUs step by step: devices found, the back ends' laws,
# each solver and program against the host, GPUs together with the cores under every policy, memory and
# race checks, rates. Writes a page of Markdown to FILE (report/gpu.md).
#
#   bash tests/bench/gpu.sh          in a tree, which it builds, or ./run.sh in what `make bundle` made
#
# Each finished row is stored in FILE.d/ and not measured again, so that an interrupted run resumes:
# remove FILE.d to start over. If commands are killed after some time, TIME ends this one before that; the
# row in progress is repeated by the next call.
#
# GPUS      devices to use (all cuda and hip devices)      CLASSES   classes to verify ("S W A B C")
# OPENCL    the same through OpenCL (all its GPUs)         FEEDERS   threads that feed a GPU (8)
# COMPARE   class of the comparison of policies (B)        REPEAT    runs of each policy (3)
# LIMIT     seconds that one row may take (300)            FAKES=1   on the fakes of tests/fakegpu
# POLICIES  that are compared (six that differ most)
# TIME      seconds that this command may take (540)       READY=1   everything is built already
# RUNGS     only these ("laws solvers …", as below)        STEPS     of the cores' rate (5)
# Missing things are skipped, with the reason. Exit 0: nothing is wrong; 1: something failed; 2: time is
# up, call it again; the last line says why. The page grows row by row.
set -u
cd "$(dirname "$0")/../.." || exit 1
export BIN=${BIN:-bin} BUILD=${BUILD:-build}
file=${1:-report/gpu.md} classes=${CLASSES:-S W A B C} compare=${COMPARE:-B}
policies=${POLICIES:-evenkeel,heft,clustered-guided,dynamic,gss,static}
repeat=${REPEAT:-3} limit=${LIMIT:-300} time=${TIME:-540}
state=$file.d
[ "$limit" -le $((time / 2)) ] || limit=$((time / 2))
mkdir -p "$state" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rungs=${RUNGS:-machine laws limits solvers programs cores busy sanitizer together forwarder policies}
tests='backends_laws backends_boxes backends_cache backends_gpu backends_gpu_copy backends_abi_cuda backends_abi_hip'
solvers='bt-mz sp-mz lu-mz'
cores=$(($(nproc) > 1 ? $(nproc) - 1 : 1))
feeders=${FEEDERS:-$(($(nproc) < 8 ? $(nproc) : 8))}
fed=0x0+1x$feeders
real_path=${LD_LIBRARY_PATH:-}
fakes=$BUILD/fakegpu
case $BUILD in /*) ;; *) fakes=$PWD/$fakes ;; esac

tell() { printf '%s\n' "$*"; }
note() { printf '%s\n' "$*" >&2; }
skip() { tell "skipped: $*"; }
words() { head -c 300 "$1" | tr '\n|' ' /'; }
# A command's outcome, by its exit code; its errors are in $work/err. A device that fails is not one that
# the machine lacks.
outcome() {
    local rc=$1
    [ "$rc" != 3 ] || ! grep -qE 'is lost|driver failed|a kernel |does not build' "$work/err" || rc='3, it failed'
    case $rc in
    3) tell "skipped: $(words "$work/err")" ;;
    124) tell "skipped: takes more than $limit s" ;;
    *) tell "**wrong**: exit $rc: $(words "$work/err")" ;;
    esac
}
# The exit code, unless other units have done the work of a device that failed.
worked() { if [ "$1" = 0 ] && grep -q 'is lost' "$work/err"; then return 3; else return "$1"; fi; }
field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$work/json" | head -1; }

# Makes a row once and stores its output.
once() { # command, arguments…
    local kept
    kept=$state/$(tell "$rung $*" | tr -c 'A-Za-z0-9.\n' _ | head -c 200)
    [ -e "$kept" ] || { "$@" >"$kept.part"; mv "$kept.part" "$kept"; }
    cat "$kept"
}
# Runs a command for at most LIMIT seconds. If TIME cuts it shorter, that is no result.
limited() { # command, arguments…
    local left=$((time - SECONDS)) rc
    [ $left -gt 0 ] || exit 75
    timeout -k 5 $((left < limit ? left : limit)) "$@"
    rc=$?
    [ $rc = 137 ] && rc=124
    [ $rc != 124 ] || [ $left -ge "$limit" ] || exit 75
    return $rc
}

# ---- building ------------------------------------------------------------------------------------
build() {
    sh .ci/deps check >/dev/null 2>&1 || sh .ci/deps install >"$work/deps" 2>&1 || note "packages: $(tail -1 "$work/deps")"
    if ! make -s -j"$(nproc)" all >"$work/build" 2>&1; then
        cat "$work/build" >&2
        note "it does not build here: $(grep -m1 -E 'error|No such|\*\*\*' "$work/build")"
        exit 1
    fi
    for t in bench/devices $(printf 'tests/test_%s ' $tests); do
        make -s "$BUILD/$t" >"$work/build" 2>&1 || note "$t does not build: $(grep -m1 -E 'error|\*\*\*' "$work/build")"
    done
}
[ -n "${READY:-}" ] || build
if [ -n "${FAKES:-}" ]; then
    [ -n "${READY:-}" ] || make -s "$BUILD/fakegpu/libcuda.so.1" "$BUILD/fakegpu/libnvrtc.so.12" "$BUILD/fakegpu/libamdhip64.so.6" \
        "$BUILD/fakegpu/libhiprtc.so.6" || exit 1
    export LD_LIBRARY_PATH=$fakes${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
# Programs that do not start, as with an older C library, must not pass for a machine without GPUs.
if ! "$BIN/cu-info" --version >"$work/out" 2>&1; then
    note "the programs do not start here: $(words "$work/out")"
    exit 1
fi
gpus=${GPUS:-$("$BIN/bt-mz" --list-devices 2>/dev/null | grep -oE '^(cuda|hip):[0-9]+' | tr '\n' ' ')}
# The same cards through another driver, and cards that only OpenCL shows.
opencl=${OPENCL-$("$BIN/bt-mz" --list-devices 2>/dev/null | grep '^opencl:' | grep -v "shares the host's cores" |
    grep -oE '^opencl:[0-9]+' | tr '\n' ' ')}
gpus=${gpus:-$opencl}
cards=$(echo $gpus $opencl | tr ' ' '\n' | awk '!seen[$0]++' | tr '\n' ' ')
activity=$BUILD/bench/libgpu_activity.so
first=${gpus%% *}
all=$(echo $gpus | tr ' ' ',') many=$(echo $gpus | wc -w)

# ---- what there is -------------------------------------------------------------------------------
machine() {
    tell "# Evenkeel on GPUs"
    tell ""
    tell "$(date -u +%F), $(uname -m), $(nproc) cpus, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
    [ -n "${FAKES:-}" ] && tell "" && tell "(on the fakes of tests/fakegpu: the numbers mean nothing)"
    tell ""
    tell "## Devices and libraries"
    tell ""
    tell '```'
    "$BIN/cu-info" --layout 1x1 2>"$work/err" | sed -n '/^back ends/,/^layout/p' | grep -vE '^(back ends|layout|host|$)'
    tell '```'
    [ -n "$gpus" ] || skip "there is no GPU that a driver shows"
    tell ""
    for device in $cards; do once first_result "$device"; done
}
# Called in $(…), where limited() cannot end the rung: its 75 must.
seconds_of() { # command, arguments…: runs it, prints its seconds
    local begin rc
    begin=$(date +%s.%N)
    limited "$@" >"$work/out" 2>"$work/err"
    rc=$?
    awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN {printf "%.2f", b - a}'
    return $rc
}
first_result() { # device
    local run=("$BIN/bt-mz" --class S --steps 1 --devices "$1" --layout 0x0+1) cold warm
    cold=$(seconds_of "${run[@]}")
    case $? in
    0) warm=$(seconds_of "${run[@]}") ;;
    75) exit 75 ;;
    *) tell "$1, the first kernel: $(outcome $?)" && return ;;
    esac
    tell "First result on $1 after $cold s, again after ${warm:-?} s. "
}

# ---- laws ----------------------------------------------------------------------------------------
laws() {
    local t
    tell "## Laws of the back ends"
    tell ""
    tell "| test | result |"
    tell "|---|---|"
    for t in $tests; do once law "$t"; done
}
law() { # test
    local rc good
    if [ ! -x "$BUILD/tests/test_$1" ]; then
        tell "| $1 | skipped: it is not there (cmocka?) |"
        return
    fi
    # Tests use the fakes by themselves; here they also use the real devices.
    LD_LIBRARY_PATH=$real_path limited "$BUILD/tests/test_$1" >"$work/out" 2>&1
    rc=$?
    good=$(sed -n 's/.*PASSED  \] \([0-9]*\) test.*/\1/p' "$work/out" | awk '{n += $1} END {print n + 0}')
    case $rc in
    0) tell "| $1 | $good passed$(grep -q 'for the fake GPUs' "$work/out" && echo ', without the fakes, as PoCL is missing') |" ;;
    77) tell "| $1 | skipped: $(tail -1 "$work/out") |" ;;
    124) tell "| $1 | skipped: takes more than $limit s |" ;;
    *) tell "| $1 | **wrong** (exit $rc, $good passed): $(grep -E 'ERROR|FAILED  \] [a-z]' "$work/out" | sort -u | head -5 | tr '\n' ' ') |" ;;
    esac
}

# ---- what the devices can do ---------------------------------------------------------------------
limits() {
    tell "## What the devices can do"
    tell ""
    if [ -x "$BUILD/bench/devices" ] && limited env FEEDERS="$feeders" "$BUILD/bench/devices" $cards >"$state/devices" 2>"$work/err"; then
        cat "$state/devices"
    else
        skip "devices: $([ -x "$BUILD/bench/devices" ] && words "$work/err")"
    fi
}
copy_of() { awk -F'|' -v d=" $1 " '$2 == d && NF > 6 {print $4 + 0; exit}' "$state/devices" 2>/dev/null; }

# ---- the solvers ---------------------------------------------------------------------------------
points() { # of a class's mesh
    case $1 in
    S) echo $((24 * 24 * 6)) ;; W) echo $((64 * 64 * 8)) ;; A) echo $((128 * 128 * 16)) ;;
    B) echo $((304 * 208 * 17)) ;; C) echo $((480 * 320 * 28)) ;; D) echo $((1632 * 1216 * 34)) ;;
    E) echo $((4224 * 3456 * 92)) ;; *) echo 0 ;;
    esac
}
# One row: the measured rate beside the bound set by reading u and the forcing and writing u.
row() { # program, class, devices, layout, more…
    local program=$1 class=$2 devices=$3 layout=$4 rc gb share
    shift 4
    limited "$BIN/$program" --class "$class" --devices "$devices" --layout "$layout" "$@" \
        --json "$work/json" >"$work/out" 2>"$work/err"
    worked $?
    rc=$?
    if [ $rc != 0 ]; then
        tell "| $program | $class | $devices | $layout | $(outcome $rc) | | | |"
        return
    fi
    gb=$(awk -v p="$(points "$class")" -v n="$(field steps)" -v s="$(field seconds)" 'BEGIN {print 120e-9 * p * n / s}')
    share=$(awk -v g="$gb" -v c="$(copy_of "${devices%%,*}")" 'BEGIN {if (c > 0) printf "%.0f %%", 100 * g / c}')
    tell "$(printf '| %s | %s | %s | %s | %s | %.0f | %.1f | %s |' "$program" "$class" "$devices" "$layout" \
        "$(field verified)" "$(field rate)" "$gb" "$share")"
}
table() {
    tell "| program | class | devices | layout | verified | Mop/s | least GB/s | of the copy |"
    tell "|---|---|---|---|---|---|---|---|"
}
solvers() {
    local device program class
    tell "## Each GPU alone"
    tell ""
    tell "Least GB/s: 15 numbers a point and step, reading u and the forcing and writing u; of the copy: that, against the device's own copy."
    tell ""
    table
    for class in $classes; do
        for device in $cards; do
            # Through a second driver the small ones suffice.
            [[ " $gpus " == *" $device "* || " ${classes%%[B-F]*} " == *" $class "* ]] || continue
            for program in $solvers; do once row "$program" "$class" "$device" "$fed"; done
        done
    done
}
together() {
    local program class
    tell "## With the cores, and all together"
    tell ""
    table
    for program in $solvers; do
        for class in $classes; do
            once row "$program" "$class" "$first" "${cores}x1+1"
            [ "$many" -gt 1 ] || continue
            once row "$program" "$class" "$all" "0x0+$many"
            once row "$program" "$class" "$all" "${cores}x1+$many"
        done
    done
    return 0
}

# ---- the other programs: the host's result, and the same on each device --------------------------
# Runs a program on the host and on each device; the files written must be identical.
same() { # name, suffix of the result, program, arguments… with OUT for the result's path
    local device
    for device in host $cards; do
        once runs_on "$device" "$@"
        [ -e "$state/$1.host$2" ] || return
    done
}
runs_on() { # device, name, suffix, program, arguments…
    local device=$1 name=$2 suffix=$3 unit="--layout $fed --devices $1" run begin end rc
    local host=$state/$2.host
    [ "$device" != host ] || unit='--layout 1x1'
    run="${*:4} $unit"
    begin=$(date +%s.%N)
    limited $BIN/${run//OUT/$state/$name.${device/:/}} >"$work/out" 2>"$work/err"
    worked $?
    rc=$?
    end=$(date +%s.%N)
    # 1: verified as insufficient, as for an inversion cut short; it must be the same result anyway.
    if [ -d "$host" ]; then
        [ $rc != 1 ] || rc=9
    elif [ $rc -le 1 ]; then
        [ -s "$host$suffix" ] && cmp -s "$host$suffix" "$state/$name.${device/:/}$suffix"
        rc=$?
    fi
    tell "| $name | $device | $(awk -v a="$begin" -v b="$end" 'BEGIN {printf "%.2f", b - a}') | $(
        case $rc in
        0) [ "$device" = host ] && echo 'done' || { [ -d "$host" ] && echo verified || echo 'same bits'; } ;;
        1) echo "**wrong**: not the host's result $(words "$work/err")" ;;
        *) outcome $rc ;;
        esac) |"
    # Part of a result is none to compare with.
    [ $rc = 0 ] || [ "$device" != host ] || rm -rf "$host$suffix"
}
programs() {
    local tables='--velocity gradient:v0=2000,k=0.5 --node-spacing 400'
    tell "## The other programs, against the host"
    tell ""
    tell "| case | unit | seconds | result |"
    tell "|---|---|---|---|"
    same mogi '' mogi okada_mogi/examples/campi.json --quiet --out OUT
    same okada '' okada okada_mogi/examples/parkfield.json --quiet --out OUT
    same brute '' mogi okada_mogi/examples/campi.json --method brute --trials 76000000:77000000 --quiet --out OUT
    if "$BIN/mcsem" --generate tiny --out "$state/survey" 2>"$work/err"; then
        same inversion '' mcsem "$state/survey" --mode exact --iterations 1 --target 20 --quiet --model-out OUT
    fi
    if "$BIN/kirchhoff-mig" --generate medium --out "$state/data.segy" 2>"$work/err"; then
        same migration .f32 kirchhoff-mig "$state/data.segy" $tables --grid 9x9x41:50x50x10@1300,1300,800 \
            --weight diffractor --spacing-receiver 25 --deterministic --quiet --raw OUT
    fi
    # Rays may differ in the last bits on another processor; their tables certify themselves.
    same rays '' kirchhoff-tt --velocity lens:v0=2000,kz=0.5,dv=500,x=800,y=800,z=800,sigma=300 \
        --grid 31x31x31:50 --shots 4 --quiet --out OUT
}

# ---- how many cores a GPU is worth ---------------------------------------------------------------
cores() {
    local program class=${classes##* }
    tell "## In cores: class $class, $(nproc) cpus, ${STEPS:-5} steps"
    tell ""
    tell "| program | one core, Mop/s | all $(nproc) | $first | in cores | of all cores |"
    tell "|---|---|---|---|---|---|"
    for program in $solvers; do once in_cores "$program" "$class"; done
}
rate_on_cores() { # program, class, cores
    limited "$BIN/$1" --class "$2" --steps "${STEPS:-5}" --layout "$3x1" --json "$work/json" >"$work/out" 2>"$work/err" && field rate
}
in_cores() { # program, class
    local one many card
    one=$(rate_on_cores "$1" "$2" 1) || [ $? != 75 ] || exit 75
    many=$(rate_on_cores "$1" "$2" "$(nproc)") || [ $? != 75 ] || exit 75
    card=$(awk -F ' *[|] *' -v p="$1" -v c="$2" -v d="$first" '$2 == p && $3 == c && $4 == d {print $7}' "$state/solvers.md" 2>/dev/null)
    if [ -z "$one" ] || [ -z "$many" ]; then
        tell "| $1 | skipped: $(words "$work/err") | | | | |"
        return
    fi
    tell "$(awk -v p="$1" -v a="$one" -v b="$many" -v g="$card" 'BEGIN {
        printf "| %s | %.0f | %.0f | %s | %s | %s |", p, a, b, g, g ? sprintf("%.0f", g / a) : "", g ? sprintf("%.1f", g / b) : ""}')"
}

# ---- how busy it is ------------------------------------------------------------------------------
busy() {
    local cupti=${CUDA_HOME:-/usr/local/cuda}
    tell "## How busy $first is, fed by $feeders threads"
    tell ""
    case $first in cuda:*) ;; *) skip 'CUPTI records NVIDIA GPUs only'; return ;; esac
    [ -z "${FAKES:-}" ] || { skip 'the fakes keep no records'; return; }
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$cupti/extras/CUPTI/lib64:$cupti/lib64
    [ -n "${READY:-}" ] || make -s "$activity" >"$work/build" 2>&1
    case $activity in /*) ;; *) activity=$PWD/$activity ;; esac
    if [ ! -e "$activity" ] || ldd "$activity" | grep -q 'not found'; then
        skip "CUPTI is missing: $(ldd "$activity" 2>&1 | grep -m1 'not found')"
        return
    fi
    tell "Busy: of the time from the first copy or kernel to the last; steady: from the sixtieth on. Seconds of the"
    tell "card, of its work, of the whole program; the three kinds of work that took longest."
    tell ""
    tell "| program | busy, % | steady, % | card, s | work, s | program, s | slowest |"
    tell "|---|---|---|---|---|---|---|"
    . tests/bench/gpu_cases.sh
    cases=$state/cases
    gpu_cases_data limited
    gpu_cases recorded ''
    # A card's worth of points: 1.5 million.
    GRID=121x121x101:17x17x20@500,500,100 gpu_cases recorded migration
    rm -rf "$cases"
}
recorded() { # the only name that counts or '', first, sample, scale, name, program, arguments…
    local case=("${@:6}")
    if [ -z "$1" ]; then once record_of "$5"; elif [ "$5" = "$1" ]; then once record_of "$5, larger"; fi
}
record_of() { # name; the program is in ${case[@]}
    local seconds rc
    rm -f "$work/records"
    seconds=$(CUDA_INJECTION64_PATH=$activity GPU_ACTIVITY=$work/records seconds_of "$BIN/${case[0]}" "${case[@]:1}" \
        --devices "$first" --layout "$fed")
    rc=$?
    [ $rc != 75 ] || exit 75
    if [ $rc -gt 1 ] || [ ! -s "$work/records" ]; then
        tell "| $1 | $([ $rc -le 1 ] && echo 'skipped: no records' || outcome $rc) | | | | | |"
        return
    fi
    tell "$(awk -v name="$1" -v whole="$seconds" '/^device/ && !n++ {busy = $4; card = $7; steady = $9}
        /^    / && n == 1 && k++ < 3 {
            at = match($0, / +[0-9]+ +[0-9.]+ s /); split(substr($0, RSTART), w, " ")
            what = substr($0, 5, RSTART - 5); slow = slow (k > 1 ? ", " : "") sprintf("%s %.3f s", what, w[2])}
        END {printf "| %s | %s | %s | %.4f | %.4f | %s | %s |", name, busy, steady, card, card * busy / 100, whole, slow}' "$work/records")"
}

# ---- HIP on top of CUDA --------------------------------------------------------------------------
forwarder() {
    local program class
    tell "## HIP on top of CUDA"
    tell ""
    case $gpus in *cuda:0*) ;; *) skip 'there is no CUDA device for it'; return ;; esac
    if [ ! -e "$fakes/hip2cuda/libamdhip64.so.6" ] &&
        ! make -s "$BUILD/fakegpu/hip2cuda/libamdhip64.so.6" "$BUILD/fakegpu/hip2cuda/libhiprtc.so.6" >/dev/null 2>&1; then
        skip 'the forwarder does not build'
        return
    fi
    export LD_LIBRARY_PATH=$fakes/hip2cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    table
    for program in $solvers; do
        for class in ${classes%%[B-F]*}; do once row "$program" "$class" hip:0 0x0+1; done
    done
}

# ---- policies ------------------------------------------------------------------------------------
policies() {
    tell "## Policies on $first with $cores cores, class $compare, against the GPU alone"
    tell ""
    for program in $solvers; do once compared "$program"; done
}
compared() { # program
    local alone rc run=(limited "$BIN/$1" --class "$compare" --devices "$first")
    "${run[@]}" --layout 0x0+1 --json "$work/json" >"$work/out" 2>"$work/err"
    rc=$?
    [ $rc = 0 ] || { tell "$1: $(outcome $rc)" && return; }
    alone=$(field rate)
    tell "$1 alone: $(printf '%.0f' "$alone") Mop/s"
    tell ""
    tell "| policy | Mop/s | of the GPU alone | to the lower bound | verified |"
    tell "|---|---|---|---|---|"
    "${run[@]}" --layout "${cores}x1+1" --compare "$policies" --repeat "$repeat" --json "$work/json" >"$work/out" 2>"$work/err"
    rc=$?
    [ $rc = 0 ] || { tell "$1 --compare: $(outcome $rc)" && return; }
    awk -v alone="$alone" -F '[ :",]+' '$2 == "schedule" {policy = $3} $2 == "seconds" {s = $3} $2 == "rate" {rate = $3}
        $2 == "verified" {good = $3}
        $2 == "lower_bound_s" && policy != "" {
            printf "| %s | %.0f | %.2f | %s | %s |\n", policy, rate, rate / alone, ($3 + 0 > 0 ? sprintf("%.2f", s / $3) : "-"), good
            policy = ""}' "$work/json"
    tell ""
}

# ---- memory and races ----------------------------------------------------------------------------
sanitizer() {
    local tool
    tell "## compute-sanitizer"
    tell ""
    checker=$(command -v compute-sanitizer || ls "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null)
    if [ -z "$checker" ]; then
        skip 'it is not installed'
        return
    fi
    tell "| tool | program | result |"
    tell "|---|---|---|"
    for tool in memcheck racecheck; do
        for program in $solvers; do once checked $tool "$program"; done
    done
}
checked() { # tool, program
    limited "$checker" --tool "$1" --target-processes all --error-exitcode 9 "$BIN/$2" --class S --steps 2 \
        --devices "$first" --layout 0x0+1 >"$work/out" 2>&1
    case $? in
    0) tell "| $1 | $2 | clean |" ;;
    124) tell "| $1 | $2 | skipped: takes more than $limit s |" ;;
    *) tell "| $1 | $2 | **wrong**: $(grep -m3 '=====' "$work/out" | tr '\n|' ' /') |" ;;
    esac
}

# ---- all steps ------------------------------------------------------------------------------------
page() { for rung in $rungs; do cat "$state/$rung.md" 2>/dev/null; done; }
ends() { # exit code, why
    page >"$file"
    [ -z "${late:-}" ] || { cat "$state/$late.part" && tell "" && tell "($2)"; } >>"$file"
    note "written to $file"
    note "exit $1: $2"
    exit "$1"
}
for rung in $rungs; do
    [ -n "$gpus" ] || [ "$rung" = machine ] || continue
    [ -e "$state/$rung.md" ] && note "$rung: done before" && continue
    note "$rung …"
    (page) >"$file"
    ( "$rung" ) | tee "$state/$rung.part" | tee -a "$file"
    [ "${PIPESTATUS[0]}" != 75 ] || late=$rung
    [ -z "${late:-}" ] || break
    echo >>"$state/$rung.part" && mv "$state/$rung.part" "$state/$rung.md"
done
all_rows() { cat "$state"/*.md "$state/${late:-none}.part" 2>/dev/null; }
wrong=$(all_rows | grep '\*\*wrong')
[ -z "$wrong" ] || ends 1 "$(tell "$wrong" | wc -l) wrong, the first: $(tell "$wrong" | head -1)"
[ -z "${late:-}" ] || ends 2 "time is up after $SECONDS s: call it again, it goes on with $late"
ends 0 "nothing is wrong, $(all_rows | grep -c skipped:) skipped"
