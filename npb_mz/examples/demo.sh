#!/bin/sh
# npb_mz/examples/demo.sh – BT-MZ class W under every policy on all cores and the first OpenCL device;
# leaves the table, a page and a trace in report/. Called by `make demo`.
set -e
BIN=${BIN:-bin}
mkdir -p report
cores=$(nproc)
layout=$((cores > 1 ? cores - 1 : 1))x1+1
"$BIN/cu-info" --layout "$layout" --devices opencl:0
echo
"$BIN/bt-mz" --class W --layout "$layout" --devices opencl:0 --compare --repeat 3 \
    --json report/bt-mz.json --report report/bt-mz.html --trace report/bt-mz.trace.json
echo
echo 'report/bt-mz.html       the comparison as a page (opens offline)'
echo 'report/bt-mz.json       the same numbers for programs'
echo 'report/bt-mz.trace.json every unit over time, for ui.perfetto.dev or chrome://tracing'
