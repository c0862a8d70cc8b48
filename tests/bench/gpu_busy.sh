# tests/bench/gpu_busy.sh – how busy a card would be, by the virtual clock of a fake one
# (tests/fakegpu/price.c): the programs on one GPU, at sizes that justify one. Each runs twice: in the
# first run PoCL compiles. The host's computing counts (between two calls, of the thread that computes
# longest, as if each had a cpu); kernels cost PoCL's time divided by the card's speed: figures are
# accurate to some percent.
# FEEDERS (1: threads that feed the card, layout 0x0+1xFEEDERS), PRICE (h100), ONLY (words of the names below), MEMORY (4000, MB), CELLS (7) of mcsem, times four.
set -u
price=${PRICE:-h100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$(cd "$BUILD/fakegpu" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
printf '%-20s %8s %12s %12s   %s\n' "$price" 'busy, %' 'card, s' 'working, s' 'lost to feeding, by the wall clock'
busy() { # name, program, arguments…
    name=$1 program=$2
    shift 2
    [[ " ${ONLY:-$name} " == *" $name "* ]] || return 0
    for _ in 1 2; do
        FAKEGPU_PRICE=$price FAKEGPU_MEMORY=${MEMORY:-4000} FAKEGPU_BUSY=1 \
            "$BIN/$program" "$@" --devices cuda:0 --layout "0x0+1x${FEEDERS:-1}" >"$work/out" 2>"$work/err" || { cat "$work/err"; return 0; }
    done
    sed -n 's/^device 0: busy \([0-9.]*\) % of \([0-9.]*\) s; seconds of work \([0-9.]*\).*/\1 \2 \3/p' "$work/err" |
        while read -r share all works; do
            printf '%-20s %8s %12s %12s   %s\n' "$name" "$share" "$all" "$works" \
                "$(awk 'feeding { print $2, $3, $4; exit } /^lost to  *feeding/ { feeding = 1 }' "$work/out")"
        done
}
# The cells of a corner of the published survey, with the same density.
"$BIN/mcsem" --generate published --out "$work/survey"
corner="--earth nx=${CELLS:-7},ny=4 --drop-outside --iterations 0"
busy mcsem mcsem "$work/survey" $corner --mode exact
busy mcsem-shared mcsem "$work/survey" $corner
for job in gorkha parkfield; do
    busy $job okada okada_mogi/examples/$job.json --out "$work/found"
done
for job in campi unimak; do
    busy $job mogi okada_mogi/examples/$job.json --out "$work/found"
done
"$BIN/kirchhoff-mig" --generate small --out "$work/small.segy" --quiet
busy migration kirchhoff-mig "$work/small.segy" --velocity gradient:v0=2000,k=0.5 \
    --grid 41x41x101:25x25x15@1000,1000,100 --out "$work/image.segy"
