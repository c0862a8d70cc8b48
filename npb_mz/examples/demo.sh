#!/bin/sh
# npb_mz/examples/demo.sh – BT-MZ class W under every policy on all cores and, if there is one, the
# first OpenCL device; leaves the table, a page and a trace in $REPORT. Called by `make demo`.
set -e
BIN=${BIN:-bin} REPORT=${REPORT:-report}
mkdir -p "$REPORT"
cores=$(nproc)
if "$BIN/bt-mz" --list-devices | grep -q '^opencl:0'; then
    set -- --layout "$((cores > 1 ? cores - 1 : 1))x1+1" --devices opencl:0
else
    set -- --layout "${cores}x1"
    echo 'no OpenCL device (pocl-opencl-icd would be one): the cores alone'
fi
"$BIN/cu-info" "$@"
echo
"$BIN/bt-mz" --class "${CLASS:-W}" "$@" --compare --repeat 3 \
    --json "$REPORT/bt-mz.json" --report "$REPORT/bt-mz.html" --trace "$REPORT/bt-mz.trace.json"
echo; printf '%-24s %s\n' "$REPORT/bt-mz.html" 'the comparison as a page (opens offline)' \
    "$REPORT/bt-mz.json" 'the same numbers for programs' \
    "$REPORT/bt-mz.trace.json" 'every unit over time, for ui.perfetto.dev or chrome://tracing'
