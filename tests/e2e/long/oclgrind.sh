# tests/e2e/long/oclgrind.sh – the programs' kernels under oclgrind, which interprets them: no work-item reads
# or writes beyond a buffer, and no two of a launch touch the same byte if one of them writes.
# Environment: BIN. Its search for values never written stops at an instruction of clang 14 (freeze).
. tests/check.sh
skip_under_sanitizers 'an interpreter of kernels'
command -v oclgrind >/dev/null || { echo 'skipped: oclgrind is not installed'; exit 77; }
unset OMP_PLACES OMP_PROC_BIND CU_LAYOUT CU_DEVICES
export CU_KERNEL_CACHE=0
clean() { # program, arguments…: runs on oclgrind's device, which has nothing to say
    program=$1
    shift
    oclgrind --data-races --log "$work/log" "$BIN/$program" "$@" --devices opencl:0 --layout 0x0+1 \
        --json "$work/json" >"$work/out" 2>"$work/err"
    check $? "$program runs under oclgrind: $(cat "$work/err")"
    grep -q '"opencl:0"' "$work/json"
    check $? "$program computes on oclgrind's device"
    [ ! -s "$work/log" ]
    check $? "$program: $(head -20 "$work/log")"
}
for program in bt-mz sp-mz lu-mz; do clean $program --class S --steps 1; done

# Coarse grids: some hundred trials, and their geometries.
cp okada_mogi/examples/*_stations.csv "$work"
search() { # model, stations, "name least greatest number; …", sources
    printf '{"model": "%s", "sources": %s, "stations": {"file": "%s", "noise_floor": 0.005}, "accept": {"k_sigma": [3]}, "parameters": [' "$1" "${4-1}" "$2"
    echo "$3" | tr ';' '\n' | awk '{printf "%s{\"name\": \"%s\", \"min\": %s, \"max\": %s, \"n\": %s}", (NR > 1 ? ", " : ""), $1, $2, $3, $4}'
    echo ']}'
}
search mogi campi_stations.csv 'Es_m 422000 432000 6;Ns_m 4515000 4525000 6;d_m 1500 6000 4;dV_m3 1e6 20e6 10' >"$work/mogi.json"
search okada parkfield_stations.csv 'Ec_m 722000 742000 3;Nc_m 3965000 3985000 3;d_m 0 6000 2;strike_deg 310 330 3;dip_deg 75 90 2;L_m 10000 40000 2;W_m 4000 14000 2;rake_deg 165 195 2;slip_m 0.1 0.6 2' \
    >"$work/okada.json"
# Two sources, whose geometries are joined; faults that open.
search mogi campi_stations.csv "$(for i in 1 2; do
    echo "Es_m.$i 422000 432000 4;Ns_m.$i 4515000 4525000 4;d_m.$i 1500 6000 2;dV_m3.$i 1e6 20e6 4"
done | paste -sd ';')" 2 >"$work/two.json"
search okada parkfield_stations.csv 'Ec_m 722000 742000 2;Nc_m 3965000 3985000 2;d_m 0 6000 2;strike_deg 310 330 2;dip_deg 75 90 2;L_m 10000 40000 2;W_m 4000 14000 2;rake_deg 165 195 2;slip_m 0.1 0.6 2;opening_m 0 0.5 3' \
    >"$work/opening.json"
clean mogi "$work/two.json" --quiet
clean okada "$work/opening.json" --quiet
for program in mogi okada; do
    clean $program "$work/$program.json" --quiet
    clean $program "$work/$program.json" --method brute --quiet
done

"$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" || say 'kirchhoff-mig: no data'
clean kirchhoff-mig "$work/data.segy" --velocity gradient:v0=2000,k=0.5 --node-spacing 800 --grid 2x2x9:50x50x20@1300,1300,800 \
    --weight diffractor --spacing-receiver 25 --deterministic --quiet
clean kirchhoff-tt --velocity gradient:v0=2000,k=0.5 --grid 2x2x2:200 --shots 1 --quiet --out "$work/times"
# A few pairs of a survey, each by itself.
"$BIN/mcsem" --generate tiny --out "$work/tiny.csv" >"$work/out" || say 'mcsem: no survey'
{ sed -n 's/ 320 / 6 /;1,3p' "$work/tiny.csv"; echo '# rows 12'; sed -n 5,17p "$work/tiny.csv"; } >"$work/six.csv"
clean mcsem "$work/six.csv" --iterations 1 --mode exact --quiet
# Two cells by their tables, in several depths: wires, E and H.
awk 'BEGIN { print "# earth nx=2,ny=1,x0=0,y0=0,dx=9000,dy=9000,nz=2,dz=100,seabed=1000,start=1"
    print "src_x,src_y,src_z,src_azimuth_deg,src_dip_deg,src_len_m,rec_x,rec_y,rec_z,component,freq_hz,re,im"
    for (i = 0; i < 60; i++) { x = int(i / 30) * 9000; r = 1000 + i % 30 * 8
        printf "%d,0,%d,0,0,100,%d,0,1000,%s,0.5,,\n", x - r, 970 + i % 3, x + r, substr("ExHyEz", i % 3 * 2 + 1, 2) } }' >"$work/cells.csv"
"$BIN/mcsem" "$work/cells.csv" --forward-survey --noise 0.01 --out "$work/data.csv" || say 'mcsem: no fields'
clean mcsem "$work/data.csv" --iterations 1 --cells "$work/cells" --quiet
awk -F, 'NR > 1 && $7 { bad = 1 } END { exit bad || NR != 3 }' "$work/cells"
check $? "mcsem: no table of $(cat "$work/cells")"
exit $failed
