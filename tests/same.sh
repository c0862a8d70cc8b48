#!/usr/bin/env bash
# tests/same.sh OLD NEW – runs the programs of two builds, folders OLD and NEW, on small problems
# and compares their results bit by bit: norms, accepted sets, models, tables, images, simulated
# steps. For changes that must not change results. Exits 1 if any differs. About ten seconds.
set -u
[ $# = 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd) here=$(cd "$(dirname "$0")/.." && pwd) bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CU_PROFILE_DIR=$work/profiles PATH=/usr/bin:/bin

same() { # file to compare, or "-" for what is printed; command
    local file=$1 side
    shift
    for side in old new; do
        mkdir -p "$work/$side" && cd "$work/$side" || exit 1
        "${!side}/$@" >log 2>err || echo "$*: $side exits $?: $(tail -1 err)"
        case $file in
        -) mv log result ;;
        verification) sed -n '/^ "verification"/,/^ [^ ]*}/p' json >result ;;
        *) mv "$file" result ;;
        esac
    done
    if [ -s result ] && cmp -s ../old/result ../new/result; then
        echo "same     $*"
    else
        echo "DIFFERS  $*"
        bad=1
    fi
}
examples=$here/okada_mogi/examples
same verification bt-mz --class S --layout 2x1 --json json --quiet
same verification sp-mz --class S --layout 1x2 --json json --quiet
same verification lu-mz --class S --layout 2x1 --schedule dynamic --json json --quiet
same set.csv mogi "$examples/campi.json" --trials 0:3000000 --out set.csv --layout 2x1 --quiet
same set.csv okada "$examples/parkfield.json" --trials 0:200000000 --out set.csv --layout 2x1 --quiet
same survey.csv mcsem --generate small --scale 0.1 --out survey.csv
for side in old new; do mv "$work/$side/result" "$work/$side/survey.csv"; done
same model.csv mcsem survey.csv --iterations 2 --layout 2x1 --model-out model.csv --quiet
gradient=gradient:v0=1500,k=0.6
same tt/source-000000.tt kirchhoff-tt --velocity $gradient --grid 31x31x31:20m --shots 1 --out tt --quiet
same data.segy kirchhoff-mig --generate small --out data.segy
for side in old new; do mv "$work/$side/result" "$work/$side/data.segy"; done
same image.f32 kirchhoff-mig data.segy --velocity gradient:v0=2000,k=0.5 --node-spacing 400 \
    --grid 9x9x41:50x50x10@1300,1300,800 --deterministic --layout 2x1 --raw image --out image.segy --quiet
same - cu-plan --simulate "$here/tests/data/cu/bt-mz-D-16x1+1.json" --schedules static,dynamic,heft,abe,gss
same - cu-run plan --tasks '10 x 71.07/p^0.42+4.47' --nodes cs1:8:1.0,ws1:12:1.4 --method wlsearch
exit $bad
