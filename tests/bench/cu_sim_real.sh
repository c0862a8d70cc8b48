# tests/bench/cu_sim_real.sh – every policy on class A, measured, and as the simulator predicts it from
# what was measured: task times, neighbours, launches, link, exchange, noise. Medians of REPEAT runs.
# STEPS (40), REPEAT (11), ONLY, LAYOUTS="2x1 1x1+1" and DEVICES (opencl:0) choose less or more.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CU_PROFILE_DIR=$work/profiles
for program in ${ONLY:-bt-mz sp-mz lu-mz}; do
    for layout in ${LAYOUTS:-2x1 1x1+1}; do
        devices=
        case $layout in *+*) devices=${DEVICES:-opencl:0} ;; esac
        # Fewer steps than the class has are not verified: that is exit 1 and none of our business.
        "$BIN/$program" --class A --steps "${STEPS:-40}" --layout "$layout" --devices "$devices" --compare all \
            --profile=make --repeat "${REPEAT:-11}" --json "$work/record.json" --quiet 2>"$work/err"
        [ $? -le 1 ] || { echo "$program on $layout: $(tail -1 "$work/err")"; continue; }
        "$BIN/cu-plan" --simulate "$work/record.json" --schedules all >"$work/text" || continue
        sed -n 1p "$work/text"
        awk '$NF == "%" && $(NF - 1) ~ /^[-+]/ {
                 of[$1] = $(NF - 2); p = $(NF - 1) + 0; m = p < 0 ? -p : p; within += m <= 5; n++; if (m > worst) worst = m
                 printf "  %-20s measured %9.4f s  predicted %+6.1f %%\n", $1, $(NF - 2), p }
             END { printf "  %d of %d policies within 5 %%, the worst is %.1f %% off; static and naive measure %+.1f %% apart\n",
                   within, n, worst, of["static"] ? 100 * (of["naive"] / of["static"] - 1) : 0 }' "$work/text"
    done
done
