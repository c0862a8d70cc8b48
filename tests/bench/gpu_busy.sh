# tests/bench/gpu_busy.sh – how busy a card would be, by the virtual clock of a fake one
# (tests/fakegpu/price.c): the programs as somebody starts them who has one GPU, at sizes that are
# worth one. PRICE (h100), PROGRAMS (words of the names below). Each runs twice: in the first run PoCL
# compiles. What a program's own thread computes counts, what kernels take is PoCL's time over the
# card's speed, so figures hold to some percent.
set -u
price=${PRICE:-h100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$(cd "$BUILD/fakegpu" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
printf '%-20s %8s %12s %12s   %s\n' "$price" 'busy, %' 'card, s' 'working, s' 'lost to'
busy() { # name, program, arguments…
    name=$1 program=$2
    shift 2
    [[ " ${PROGRAMS:-$name} " == *" $name "* ]] || return 0
    for _ in 1 2; do
        FAKEGPU_PRICE=$price FAKEGPU_BUSY=1 "$BIN/$program" "$@" --devices cuda:0 --layout 0x0+1 \
            >"$work/out" 2>"$work/err" || { cat "$work/err"; return 0; }
    done
    sed -n 's/^device 0: busy \([0-9.]*\) % of \([0-9.]*\) s; seconds of work \([0-9.]*\).*/\1 \2 \3/p' "$work/err" |
        while read -r share all works; do
            printf '%-20s %8s %12s %12s   %s\n' "$name" "$share" "$all" "$works" \
                "$(sed -n 's/^lost to  *\(feeding.*\)/\1/p' "$work/out")"
        done
}
"$BIN/mcsem" --generate published --scale "${SCALE:-0.05}" --out "$work/survey" 2>/dev/null
busy mcsem mcsem "$work/survey" --mode exact --iterations 0
busy mcsem-shared mcsem "$work/survey" --iterations 0
for job in gorkha parkfield; do
    busy $job okada okada_mogi/examples/$job.json --out "$work/found"
done
for job in campi unimak; do
    busy $job mogi okada_mogi/examples/$job.json --out "$work/found"
done
"$BIN/kirchhoff-mig" --generate s1 --out "$work/s1.segy" --quiet
busy migration kirchhoff-mig "$work/s1.segy" --out "$work/image.segy"
busy bt-mz bt-mz --class W
