#!/usr/bin/env bash
# tests/bench/gpu.sh [FILE] – everything that wants a real GPU, in one go: builds, holds the back ends
# to their laws, verifies the three NPB-MZ solvers alone on each GPU and together with the cores, runs
# HIP on top of CUDA, and measures. Writes what came out as Markdown to FILE (report/gpu.md).
#
# On a machine with an NVIDIA or AMD GPU, in a fresh tree:
#   bash tests/bench/gpu.sh
#
# GPUS      devices to use (all cuda and hip devices)      CLASSES   classes to verify ("S W A B C")
# COMPARE   class of the comparison of policies (B)        REPEAT    runs of each policy (3)
# LIMIT     seconds that one run may take (300)            FAKES=1   on the stand-ins of tests/fakegpu
# What is missing is skipped, with the reason. Exit 0 unless something that ran was wrong.
set -u
cd "$(dirname "$0")/../.." || exit 1
export BIN=${BIN:-bin} BUILD=${BUILD:-build}
file=${1:-report/gpu.md} classes=${CLASSES:-S W A B C} compare=${COMPARE:-B}
repeat=${REPEAT:-3} limit=${LIMIT:-300} wrong=0
mkdir -p "$(dirname "$file")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tell() { printf '%s\n' "$*" | tee -a "$work/page"; }
fail() { wrong=1; tell "**wrong:** $*"; }
skip() { tell "skipped: $*"; }
finish() {
    cp "$work/page" "$file.part" && mv "$file.part" "$file"
    echo "written to $file"
    exit $wrong
}
field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$work/json" | head -1; }
words() { head -c 300 "$1" | tr '\n' ' '; }

# ---- building ------------------------------------------------------------------------------------
tell "# Evenkeel on GPUs"
tell ""
tell "$(date -u +%F), $(uname -m), $(nproc) cpus, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(git describe --always --dirty 2>/dev/null)"
tell ""
sh .ci/deps check >/dev/null 2>&1 || sh .ci/deps install >"$work/deps" 2>&1 || skip "installing packages: $(tail -1 "$work/deps")"
if ! make -s -j"$(nproc)" all >"$work/build" 2>&1; then
    fail "it does not build here: $(grep -m1 -E 'error|No such' "$work/build")"
    finish
fi
benches=''
make -s "$BUILD/bench/devices" >"$work/build" 2>&1 && benches=1
tests='backends_laws backends_boxes backends_cache backends_gpu backends_gpu_copy backends_abi_cuda backends_abi_hip'
made=''
for t in $tests; do make -s "$BUILD/tests/test_$t" >"$work/build" 2>&1 && made="$made $t"; done

real_path=${LD_LIBRARY_PATH:-}
fakes=$PWD/$BUILD/fakegpu
case $BUILD in /*) fakes=$BUILD/fakegpu ;; esac
if [ -n "${FAKES:-}" ]; then
    make -s "$BUILD/fakegpu/libcuda.so.1" "$BUILD/fakegpu/libnvrtc.so.12" "$BUILD/fakegpu/libamdhip64.so.6" \
        "$BUILD/fakegpu/libhiprtc.so.6" >"$work/build" 2>&1 || fail "no stand-ins: $(tail -1 "$work/build")"
    export LD_LIBRARY_PATH=$fakes${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    tell "(on the stand-ins of tests/fakegpu: the numbers mean nothing)"
    tell ""
fi

# ---- what there is -------------------------------------------------------------------------------
tell "## Devices and libraries"
tell ""
tell '```'
"$BIN/cu-info" --layout 1x1 2>"$work/err" | sed -n '/^back ends/,/^layout/p' | grep -vE '^(back ends|layout|host|$)' | tee -a "$work/page"
tell '```'
gpus=${GPUS:-$("$BIN/bt-mz" --list-devices 2>/dev/null | grep -oE '^(cuda|hip):[0-9]+' | tr '\n' ' ')}
tell ""
if [ -z "$gpus" ]; then
    skip "there is no GPU that CUDA's or HIP's driver shows"
    finish
fi
first=${gpus%% *}

# ---- laws ----------------------------------------------------------------------------------------
tell "## Laws of the back ends"
tell ""
tell "| test | result |"
tell "|---|---|"
for t in $tests; do
    case " $made " in *" $t "*) ;; *) tell "| $t | skipped: it does not build (cmocka?) |"; continue ;; esac
    # Tests bring the stand-ins by themselves; beside those, they try the real ones.
    LD_LIBRARY_PATH=$real_path timeout 900 "$BUILD/tests/test_$t" >"$work/out" 2>&1
    rc=$?
    good=$(sed -n 's/.*PASSED  \] \([0-9]*\) test.*/\1/p' "$work/out" | awk '{n += $1} END {print n + 0}')
    case $rc in
    0) tell "| $t | $good passed |" ;;
    77) tell "| $t | skipped: $(tail -1 "$work/out") |" ;;
    *)
        wrong=1
        tell "| $t | **wrong** (exit $rc, $good passed): $(grep -E 'ERROR|FAILED  \] [a-z]' "$work/out" | sort -u | head -5 | tr '\n' ' ') |"
        ;;
    esac
done
tell ""

# ---- what the devices can do ---------------------------------------------------------------------
tell "## What the devices can do"
tell ""
if [ -n "$benches" ] && timeout "$limit" "$BUILD/bench/devices" $gpus >"$work/devices" 2>"$work/err"; then
    tee -a "$work/page" <"$work/devices"
else
    skip "devices: $(words "$work/err")"
fi
copy_of() { awk -F'|' -v d=" $1 " '$2 == d && NF > 6 {print $4 + 0; exit}' "$work/devices" 2>/dev/null; }
tell ""

# ---- the solvers ---------------------------------------------------------------------------------
points() { # of a class's mesh
    case $1 in
    S) echo $((24 * 24 * 6)) ;; W) echo $((64 * 64 * 8)) ;; A) echo $((128 * 128 * 16)) ;;
    B) echo $((304 * 208 * 17)) ;; C) echo $((480 * 320 * 28)) ;; D) echo $((1632 * 1216 * 34)) ;;
    E) echo $((4224 * 3456 * 92)) ;; *) echo 0 ;;
    esac
}
# One row: what a run says, beside what a step cannot do without: reading u and the forcing, writing u.
row() { # program, class, devices, layout, more…
    program=$1 class=$2 devices=$3 layout=$4
    shift 4
    timeout "$limit" "$BIN/$program" --class "$class" --devices "$devices" --layout "$layout" "$@" \
        --json "$work/json" >"$work/out" 2>"$work/err"
    rc=$?
    case $rc in
    0) ;;
    3) tell "| $program | $class | $devices | $layout | skipped: $(words "$work/err") | | | |"; return ;;
    124) tell "| $program | $class | $devices | $layout | skipped: takes more than $limit s | | | |"; return ;;
    *) wrong=1; tell "| $program | $class | $devices | $layout | **wrong**: exit $rc, $(words "$work/err") | | | |"; return ;;
    esac
    rate=$(field rate) seconds=$(field seconds) steps=$(field steps)
    gb=$(awk -v p="$(points "$class")" -v n="$steps" -v s="$seconds" 'BEGIN {print 120e-9 * p * n / s}')
    share=$(awk -v g="$gb" -v c="$(copy_of "${devices%%,*}")" 'BEGIN {if (c > 0) printf "%.0f %%", 100 * g / c}')
    tell "$(printf '| %s | %s | %s | %s | %s | %.0f | %.1f | %s |' "$program" "$class" "$devices" "$layout" \
        "$(field verified)" "$rate" "$gb" "$share")"
}
table() {
    tell "| program | class | devices | layout | verified | Mop/s | least GB/s | of the copy |"
    tell "|---|---|---|---|---|---|---|---|"
}
cores=$(($(nproc) > 1 ? $(nproc) - 1 : 1))
solvers='bt-mz sp-mz lu-mz'

tell "## Each GPU alone"
tell ""
tell "Least GB/s: 15 numbers a point and step, reading u and the forcing and writing u; of the copy: that, against the device's own copy."
tell ""
table
for device in $gpus; do
    for program in $solvers; do
        for class in $classes; do row "$program" "$class" "$device" 0x0+1; done
    done
done
tell ""
tell "## With the cores, and all together"
tell ""
table
all=$(echo $gpus | tr ' ' ',') n=$(echo $gpus | wc -w)
for program in $solvers; do
    for class in $classes; do
        row "$program" "$class" "$first" "${cores}x1+1"
        [ "$n" -gt 1 ] && row "$program" "$class" "$all" "0x0+$n"
        [ "$n" -gt 1 ] && row "$program" "$class" "$all" "${cores}x1+$n"
    done
done
tell ""

# ---- HIP on top of CUDA --------------------------------------------------------------------------
tell "## HIP on top of CUDA"
tell ""
case $gpus in
*cuda:0*)
    if make -s "$BUILD/fakegpu/hip2cuda/libamdhip64.so.6" "$BUILD/fakegpu/hip2cuda/libhiprtc.so.6" >/dev/null 2>&1; then
        kept=${LD_LIBRARY_PATH:-}
        export LD_LIBRARY_PATH=$fakes/hip2cuda${kept:+:$kept}
        table
        for program in $solvers; do
            for class in ${classes%%[D-F]*}; do row "$program" "$class" hip:0 0x0+1; done
        done
        export LD_LIBRARY_PATH=$kept
    else
        skip 'the forwarder does not build'
    fi
    ;;
*) skip 'there is no CUDA device for it' ;;
esac
tell ""

# ---- policies ------------------------------------------------------------------------------------
tell "## Policies on $first with $cores cores, class $compare, against the GPU alone"
tell ""
for program in $solvers; do
    if ! timeout "$limit" "$BIN/$program" --class "$compare" --devices "$first" --layout 0x0+1 \
        --json "$work/json" >"$work/out" 2>"$work/err"; then
        skip "$program: $(words "$work/err")"
        continue
    fi
    alone=$(field rate)
    tell "$program alone: $(printf '%.0f' "$alone") Mop/s"
    tell ""
    tell "| policy | Mop/s | of the GPU alone | to the lower bound | verified |"
    tell "|---|---|---|---|---|"
    timeout $((limit * repeat)) "$BIN/$program" --class "$compare" --devices "$first" --layout "${cores}x1+1" \
        --compare --repeat "$repeat" >"$work/out" 2>"$work/err" || fail "$program --compare: $(words "$work/err")"
    awk -v alone="$alone" '/^schedule/ {on = 1; next} on && NF > 8 {
        printf "| %s | %.0f | %.2f | %s | %s |\n", $1, $3, $3 / alone, $6, $10}' "$work/out" | tee -a "$work/page"
    tell ""
done
finish
