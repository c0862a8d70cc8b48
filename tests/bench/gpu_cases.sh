# tests/bench/gpu_cases.sh – the programs at sizes that justify a GPU, for gpu_busy.sh (a fake one) and
# gpu.sh (a real one). They include this file and call gpu_cases COMMAND…, which calls
# COMMAND… FIRST SAMPLE SCALE NAME PROGRAM ARGUMENT…, without devices and layout, for each; COMMAND
# may use the first three as gpu_busy.sh explains. `cases` is a folder for their data.
# CELLS (7) of mcsem, times four; GRID of the migration's image.
gpu_cases_data() { # made once; command… that calls the programs
    mkdir -p "$cases"
    [ -e "$cases/survey" ] || "$@" "$BIN/mcsem" --generate published --out "$cases/survey" --quiet
    [ -e "$cases/s1.segy" ] || "$@" "$BIN/kirchhoff-mig" --generate s1 --out "$cases/s1.segy" --quiet
    # Parkfield with 9.6e9 trials.
    cp okada_mogi/examples/parkfield_stations.csv "$cases"
    sed '/[EN]c_m/s/: 11/: 21/; /strike/s/: 9/: 17/; /L_m/s/: 7/: 13/' okada_mogi/examples/parkfield.json >"$cases/fine.json"
}
gpu_cases() { # command…
    local program job corner="--earth nx=${CELLS:-7},ny=4 --drop-outside --iterations 0"
    for program in bt-mz sp-mz lu-mz; do
        "$@" 100 64 1 $program $program --class C
    done
    # The cells of a corner of the published survey, with the same density.
    "$@" 1 1 1 mcsem mcsem "$cases/survey" $corner --mode exact
    "$@" 1 1 1 mcsem-shared mcsem "$cases/survey" $corner
    for job in gorkha parkfield; do
        "$@" 1 1 1 $job okada okada_mogi/examples/$job.json --out "$cases/found"
    done
    "$@" 1 1 1 parkfield-fine okada "$cases/fine.json" --out "$cases/found"
    for job in campi unimak; do
        "$@" 1 1 1 $job mogi okada_mogi/examples/$job.json --out "$cases/found"
    done
    # 34,596 traces; an image of 44,541 points.
    "$@" 1 1 40 migration kirchhoff-mig "$cases/s1.segy" --velocity gradient:v0=2000,k=0.5 \
        --grid "${GRID:-21x21x101:100x100x20@500,500,100}" --out "$cases/image.segy"
}
