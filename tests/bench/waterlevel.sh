#!/usr/bin/env bash
# tests/bench/waterlevel.sh – moldable tasks: the paper's figures as predicted for its machine, then
# sleep, DGEMM and FEM tasks measured on this one, beside what each method promised.
# Environment: BUILD, BIN; METHODS=list of those to be measured.
set -u
methods=${METHODS:-taskp datap dcts waterl wlsearch evenkeel}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work

"$BUILD/bench/waterlevel" || exit 1

measure() { # title, job
    printf '\n%s\n%-10s %12s %12s %8s\n' "$1" method 'planned s' 'measured s' ratio
    for m in $methods; do
        rm -rf "$work/results"
        "$BIN/cu-run" run "$2" --method "$m" --results "$work/results" --quiet --json "$work/run.json" \
            >/dev/null || { echo "$m failed"; return 1; }
        awk -v m="$m" -F'[:,]' '/"makespan_s"/ { a = $2 } /"predicted_makespan_s"/ { p = $2 }
            END { printf "%-10s %12.3f %12.3f %8.3f\n", m, p, a, a / p }' "$work/run.json"
    done
}
calibrated() { # title, job, what it needs
    "$BIN/cu-run" calibrate "$2" --repeat 3 --out "$work/job.json" --quiet && measure "$1" "$work/job.json"
}

measure 'sleep tasks, 20 cores on this machine' cu/examples/sleep.json
if [ -x "$BUILD/bench/dgemm" ]; then
    calibrated 'DGEMM tasks of order 2000' cu/examples/dgemm.json
else
    echo 'DGEMM: skipped, OpenBLAS with threads is not installed (libopenblas-pthread-dev)'
fi
if command -v ccx >/dev/null; then
    calibrated 'FEM tasks: a clamped plate with a hole, CalculiX' cu/examples/fem.json
else
    echo 'FEM: skipped, CalculiX is not installed (calculix-ccx)'
fi
