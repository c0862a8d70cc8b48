#!/usr/bin/env bash
# tests/bench/run.sh – all measurements, as ratios within one run. BENCH=word runs only those whose
# name holds it. Peers are taken by path (PEER_BT=… the official Fortran bt-mz class A binary).
set -u
export BIN=${BIN:-bin} BUILD=${BUILD:-build}
for bench in "$BUILD"/bench/* tests/bench/*.sh tests/bench/figures.py; do
    name=$(basename "$bench")
    [ -f "$bench" ] && [ "$name" != run.sh ] && [ "$name" != gpu.sh ] && [ "$name" != gpu_cases.sh ] || continue
    [[ $name == *${BENCH:-}* ]] || continue
    case $name in *.d | *.o | *.so) continue ;; esac
    echo "== $name"
    case $name in *.sh) bash "$bench" ;; *.py) python3 "$bench" ;; *) "$bench" ;; esac || echo "   (exit $?)"
done
