# tests/bench/gpu_busy.sh – how busy a card would be, by the virtual clock of a fake one
# (tests/fakegpu/price.c): the programs on one GPU, at sizes that justify one. Columns: the share of the
# time from the first launch to the last wait; to the end of the last launch (without fetching
# results); both times; what the program itself reports. The host's computing counts (between two
# calls, of the thread that computes longest, as if each had a cpu); kernels cost PoCL's time divided by
# the card's speed: figures are accurate to some percent, and too low where other programs run.
#
# NPB-MZ runs only a sample of each launch and thus fails its verification, the migration's image is
# priced as one 40 times larger (FAKEGPU_SAMPLE, FAKEGPU_SCALE). Each program runs twice: in the first
# run, which computes next to nothing, PoCL compiles.
# FEEDERS (8: threads that feed the card, layout 0x0+1xFEEDERS), PRICE (h100), ONLY (words of the names in
# gpu_cases.sh), MEMORY (4000, MB), CELLS (7) of mcsem, times four. On a real card: gpu.sh's rung `busy`.
set -u
price=${PRICE:-h100} feeders=${FEEDERS:-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$(cd "$BUILD/fakegpu" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
printf '%-20s %8s %8s %12s %12s   %s\n' "$price" 'busy, %' 'steady' 'card, s' 'working, s' 'lost to feeding, by the wall clock'
busy() { # first launch that counts, sample, scale, name, program, arguments…
    local first=$1 sample=$2 scale=$3 name=$4 program=$5 part=1000000 rc
    shift 5
    [[ " ${ONLY:-$name} " == *" $name "* ]] || return 0
    [ "$program" != mcsem ] || part= # its kernels cannot do without what is left out
    for part in $part "$sample"; do
        FAKEGPU_PRICE=$price FAKEGPU_MEMORY=${MEMORY:-4000} FAKEGPU_BUSY=$first FAKEGPU_SCALE=$scale FAKEGPU_SAMPLE=$part \
            "$BIN/$program" "$@" --devices cuda:0 --layout "0x0+1x$feeders" >"$work/out" 2>"$work/err"
        rc=$?
        [ $rc = 0 ] || { [ $rc = 1 ] && [ "$part" != 1 ]; } || { cat "$work/err"; return 0; }
    done
    sed -n 's/^device 0: busy \([0-9.]*\) % of \([0-9.]*\) s, \([0-9.]*\) %.*; seconds of work \([0-9.]*\).*/\1 \2 \3 \4/p' "$work/err" |
        while read -r share all steady works; do
            printf '%-20s %8s %8s %12s %12s   %s\n' "$name" "$share" "$steady" "$all" "$works" \
                "$(awk 'feeding { print $2, $3, $4; exit } /^lost to  *feeding/ { feeding = 1 }' "$work/out")"
        done
}
. tests/bench/gpu_cases.sh
cases=$work
gpu_cases_data
"$BIN/mcsem" "$cases/survey" --earth nx=1,ny=1 --drop-outside --iterations 0 --mode exact --devices cuda:0 --layout 0x0+1 >"$work/out" 2>&1
gpu_cases busy
