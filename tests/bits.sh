#!/usr/bin/env bash
# tests/bits.sh – which results are the same to the last bit on every instruction level that this
# processor supports: a table of programs, and for each level the first one whose bits it has.
# Results are a program's output without times. Fails where it contradicts the README: mcsem and
# kirchhoff-mig agree on all levels, the others on all levels with fused multiply-adds and on all
# without. Environment: BIN; LEVELS selects levels; SMALL=1 takes the smallest problems, RESULTS=…
# only these; OPTION=1 selects levels by --isa while CU_ISA is invalid.
set -u
export LC_ALL=C BIN=${BIN:-bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CU_PROFILE_DIR=$work/profiles XDG_CACHE_HOME=$work/cache
levels=${LEVELS:-$("$BIN/cu-info" --json | python3 -c '
import json, sys
print(*[l["name"] for l in json.load(sys.stdin)["isa_levels"] if l["runs"]])')}
class=${SMALL:+S} class=${class:-W}
common="--layout 1x1 --quiet --profile=off --json $work/json"

npb() { "$BIN/$1" --class $class $quiet && python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["verification"])' "$work/json"; }

bt() { npb bt-mz; }
sp() { npb sp-mz; }
lu() { npb lu-mz; }
mogi() { "$BIN/mogi" okada_mogi/examples/campi.json $quiet --out -; }
okada() { "$BIN/okada" okada_mogi/examples/parkfield.json $quiet --out -; }
mcsem() { "$BIN/mcsem" "$survey" $quiet ${exact:-} --iterations 1 --target 1000 --model-out "$work/model" && cat "$work/model"; }
tables() {
    "$BIN/kirchhoff-tt" --velocity lens:v0=2000,kz=0.5,dv=500,x=500,y=500,z=500,sigma=300 \
        --grid 21x21x21:50m --shots 1 $quiet --out "$work/table" && cat "$work"/table/*.tt*
}
image() {
    "$BIN/kirchhoff-mig" "$work/data.segy" --velocity gradient:v0=2000,k=0.5 --node-spacing 400 \
        --grid 9x11x41:50x50x10@1300,1300,800 $quiet --out "$work/image" && cat "$work"/image*
}

results=${RESULTS:-bt sp lu okada mogi mcsem tables image}
if [[ $results == *mcsem* ]]; then
    survey=$work/all.csv
    "$BIN/mcsem" --generate small --out "$survey" >/dev/null || exit 3
    [ -z "${SMALL:-}" ] || # a 2000th of it, cell by cell, from wires so short that they have few points
        { survey=$work/few.csv exact='--mode exact'
            awk -F, -v OFS=, 'NR == 2 || NR == 3 || NR == 5 || (NR > 5 && int((NR - 6) / 3) % 2000 == 0) {
                if (NR > 5) $6 = 10
                print }' "$work/all.csv" >"$survey"; }
fi
[[ $results != *image* ]] || "$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" >/dev/null || exit 3
row() { printf "| %s |" "$1"; printf " %s |" "${@:2}"; printf '\n'; }
expected() { # result, level: the first level whose bits it should have, of those tried
    local like=" $2 "
    case $1$2 in
    mcsem* | image*) like=" $levels " ;;
    *plain | *v2) like=' plain v2 ' ;;
    *v3 | *v4) like=' v3 v4 ' ;;
    esac
    for level_ in $levels; do
        [[ $like == *" $level_ "* ]] && echo "$level_" && return
    done
}
bad=0
row result $levels
row --- $(for l in $levels; do echo ---; done)
for result in $results; do
    declare -A first=()
    said=()
    for level in $levels; do
        rm -rf "$work"/model* "$work"/table* "$work"/image* "$work"/json
        quiet="$common${OPTION:+ --isa $level}"
        sum=$(CU_ISA=$([ "${OPTION:-}" ] && echo v9 || echo "$level") $result 2>"$work/log" | cksum; [ "${PIPESTATUS[*]}" = '0 0' ]) || sum="failed$level"
        : "${first[$sum]:=$level}"
        found=${first[$sum]}
        [ "$sum" = '4294967295 0' ] && found=nothing
        [ "$sum" = "failed$level" ] && found="failed: $(tail -1 "$work/log")"
        grep -q "\"isa\": \"$level\"" "$work/json" || found="$found, another level"
        [ "$found" = "$(expected $result "$level")" ] || bad=1
        said+=("$found")
    done
    row $result "${said[@]}"
done
[ $bad = 0 ] || echo 'bits: not as the README says'
exit $bad
