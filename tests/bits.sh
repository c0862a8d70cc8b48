#!/usr/bin/env bash
# tests/bits.sh – which results are the same to the last bit on every instruction level that this
# processor runs: a table of programs, and for each level the first one whose bits it has. Results
# are what a program writes, but for times. Environment: BIN; LEVELS names levels instead.
set -u
export LC_ALL=C BIN=${BIN:-bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CU_PROFILE_DIR=$work/profiles XDG_CACHE_HOME=$work/cache
levels=${LEVELS:-$("$BIN/cu-info" --json | python3 -c '
import json, sys
print(*[l["name"] for l in json.load(sys.stdin)["isa_levels"] if l["runs"]])')}
quiet='--layout 1x1 --quiet --profile=off'

npb() { "$BIN/$1" --class "$2" $quiet --json - | python3 -c '
import json, sys
print(json.load(sys.stdin)["verification"])'; }

bt() { npb bt-mz W; }
sp() { npb sp-mz W; }
lu() { npb lu-mz W; }
mogi() { "$BIN/mogi" okada_mogi/examples/campi.json $quiet --out -; }
okada() { "$BIN/okada" okada_mogi/examples/unimak.json $quiet --out -; }
mcsem() { "$BIN/mcsem" "$work/survey.csv" $quiet --iterations 1 --model-out "$work/model" && cat "$work/model"; }
tables() {
    "$BIN/kirchhoff-tt" --velocity lens:v0=2000,kz=0.5,dv=500,x=500,y=500,z=500,sigma=300 \
        --grid 21x21x21:50m --shots 1 $quiet --out "$work/table" && cat "$work"/table/*.tt*
}
image() {
    "$BIN/kirchhoff-mig" "$work/data.segy" --velocity gradient:v0=2000,k=0.5 --node-spacing 400 \
        --grid 9x11x41:50x50x10@1300,1300,800 $quiet --out "$work/image" && cat "$work"/image*
}

"$BIN/mcsem" --generate small --out "$work/survey.csv" >/dev/null || exit 3
"$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" >/dev/null || exit 3
row() { printf "| %s |" "$1"; printf " %s |" "${@:2}"; printf '\n'; }
row result $levels
row --- $(for l in $levels; do echo ---; done)
for result in bt sp lu okada mogi mcsem tables image; do
    declare -A first=()
    said=()
    for level in $levels; do
        rm -rf "$work"/model* "$work"/table* "$work"/image*
        sum=$(CU_ISA=$level $result 2>"$work/log" | cksum)
        [ "${PIPESTATUS[0]}" = 0 ] || sum=failed
        [ "$sum" = '4294967295 0' ] && sum=nothing
        : "${first[$sum]:=$level}"
        [ "$sum" = nothing ] && said+=("nothing") || said+=("${first[$sum]}")
    done
    row $result "${said[@]}"
done
