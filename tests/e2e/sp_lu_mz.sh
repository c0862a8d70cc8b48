# tests/e2e/sp_lu_mz.sh – sp-mz and lu-mz from the command line: every kind of unit verifies, all
# schedules give the same bits. bt_mz.sh tests the command line itself. Needs BIN; run through
# tests/run.sh.
. tests/check.sh
log=$work/log


for program in sp-mz lu-mz; do
    verified $program --class W --layout 1x1
    verified $program --class S --layout 2x1 --schedule static
    verified $program --class S --layout 1x2 --schedule dynamic
    verified $program --class S --layout 0x0+1 --devices host:0
    verified $program --class S --layout 1x1+2 --devices host:0,host:1 --schedule dynamic
    if has_opencl; then
        verified $program --class S --layout 0x0+1 --devices opencl:0
        verified $program --class S --layout 1x1+1 --devices opencl:0 --schedule dynamic
    fi

    first=$(norms_of $program --layout 1x1 --schedule static)
    [ -n "$first" ] || say "$program: no norms in the JSON"
    for layout in 2x1 1x2 1x3; do
        for schedule in static dynamic memorizing-dynamic; do
            [ "$(norms_of $program --layout $layout --schedule $schedule 2>/dev/null)" = "$first" ] ||
                say "$program: norms differ: $layout $schedule"
        done
    done

    "$BIN/$program" --class S --steps 3 --json "$log" >/dev/null && grep -q '"verified": null' "$log" ||
        say "$program: a run with other steps than the class is not \"verified\": null: $(grep verified "$log")"
done
echo "$("$BIN/lu-mz" --class S --json -)" | grep -q '"surface"' || say 'lu-mz: no surface integral'
exit $failed
