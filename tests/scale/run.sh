#!/bin/sh
# tests/scale/run.sh PROGRAM – runs the search's coordinator on simulated clusters of 24 to 1,024 nodes
# and prints a table. Environment: NODES="24 48", SCHEDULES="hrdls gss".
set -u
program=$1
command -v smpirun >/dev/null || { echo 'scale: skipped: no SimGrid here (Debian: libsimgrid-dev)'; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
simulate() { # nodes, schedule, what, seconds
    cat >"$work/platform.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-$1" speed="1Gf" bw="125MBps" lat="50us"/>
</platform>
XML
    seq -f 'node-%g' 0 "$1" >"$work/hosts"
    smpirun -np $(($1 + 1)) -platform "$work/platform.xml" -hostfile "$work/hosts" \
        --cfg=smpi/simulate-computation:no --cfg=smpi/async-small-thresh:65536 --cfg=smpi/host-speed:1Gf \
        --log=root.thresh:error "$program" "$2" "$3" "$4" >"$work/line" 2>"$work/log"
    cat "$work/line"
    [ -s "$work/line" ] || {
        cat "$work/log"
        exit 1
    }
}
echo 'nodes   speeds  schedule    first     last     mean  st.dev. spread %  requests conflict % after 5 % efficiency %'
for nodes in ${NODES:-24 48 256 1024}; do
    for schedule in ${SCHEDULES:-hrdls chunk gss tss fac wf static}; do
        [ "$nodes" -le 256 ] || [ "$schedule" = hrdls ] && simulate "$nodes" "$schedule" mixed 300
    done
done
for nodes in 24 48; do
    simulate $nodes hrdls delays 300
done
