# tests/e2e/okada_mogi.sh – okada and mogi from the command line: examples, forward mode, ranges,
# devices, exit codes, one helpful line per error. Needs BIN; run through tests/run.sh.
. tests/check.sh
examples=okada_mogi/examples

search() { # program, job, arguments…: JSON into $work/json, table into $work/out.csv
    rm -f "$work/out.csv"
    program=$1 job=$2
    shift 2
    "$BIN/$program" "$job" --out "$work/out.csv" --json - "$@" >"$work/json" 2>"$work/log" ||
        say "$program $job $* exits $?: $(cat "$work/log")"
    [ "$(number verified "$work/json")" = true ] || say "$program $job $*: not verified"
    [ "$(number accepted "$work/json")" = "$(($(wc -l <"$work/out.csv") - 1))" ] ||
        say "$program $job $*: $(number accepted "$work/json") accepted, but other rows"
}

# Real data; the numbers of accepted trials are known.
search mogi $examples/campi.json --layout 1x1
[ "$(number accepted "$work/json")" = 1859 ] || say "campi: $(number accepted "$work/json") accepted"
[ "$(number smallest_k "$work/json")" = 2.0 ] || say "campi: smallest k $(number smallest_k "$work/json")"
cut -d, -f1 "$work/out.csv" >"$work/campi"
head -1 "$work/out.csv" | grep -qx 'index,Es_m,Ns_m,d_m,dV_m3,misfit,chi2,rms_m' ||
    say "campi: the table's columns are $(head -1 "$work/out.csv")"
search okada $examples/parkfield.json --layout 2x1
[ "$(number accepted "$work/json")" = 1324 ] || say "parkfield: $(number accepted "$work/json") accepted"
search okada $examples/gorkha.json --layout 2x1
search mogi $examples/unimak.json --layout 1x2
cp "$work/out.csv" "$work/unimak"
search mogi $examples/unimak.json --layout 0x0+1x3 --devices host:0
cmp -s "$work/out.csv" "$work/unimak" || say 'unimak differs on a device that three threads feed'

# Any layout, policy and device: the same table.
for run in '2x1 dynamic' '1x2 static' '0x0+1 static --devices host:0' '0x0+1x3 static --devices host:0' \
    '1x1+2 dynamic --devices host:0,host:1'; do
    set -- $run
    search mogi $examples/campi.json --layout "$1" --schedule "$2" "${@:3}"
    cut -d, -f1 "$work/out.csv" | cmp -s - "$work/campi" || say "campi differs with $run"
done
if has_opencl; then
    search mogi $examples/campi.json --layout 1x1+1 --devices opencl:0 --schedule dynamic
    cut -d, -f1 "$work/out.csv" | cmp -s - "$work/campi" || say "campi differs on opencl:0"
fi

# A range of trials, brute and exact, on the host and a device.
for method in brute exact; do
    for unit in '1x1' '0x0+1 --devices host:0'; do
        search mogi $examples/campi.json --method $method --trials 76000000:76200000 --layout $unit
        awk -F, '$1 != "index" && ($1 < 76000000 || $1 >= 76200000) { exit 1 }' "$work/out.csv" ||
            say "trials beyond the range with $method"
        cut -d, -f1 "$work/out.csv" | tail -n +2 >"$work/range"
        awk '$1 >= 76000000 && $1 < 76200000' "$work/campi" | cmp -s - "$work/range" ||
            say "another set in the range with $method on $unit"
        [ -s "$work/range" ] || say 'nothing to compare in the range'
    done
done

# Forward mode: the reference's columns in, 17 digits out.
for model in okada:okada_ref_public mogi:mogi_ref; do
    "$BIN/${model%%:*}" --forward "tests/data/okada_mogi/${model##*:}.csv" --out "$work/u.csv" ||
        say "${model%%:*} --forward exits $?"
    [ "$(head -1 "$work/u.csv")" = id,uE_m,uN_m,uU_m ] || say 'columns of the displacements'
    [ "$(wc -l <"$work/u.csv")" = "$(wc -l <"tests/data/okada_mogi/${model##*:}.csv")" ] ||
        say 'rows of the displacements'
    grep -qi nan "$work/u.csv" && say 'a displacement is NaN'
done
# Okada's check list, case 2, that opens; seen along a line.
printf '%s\n' 'E_m,N_m,Ec_m,Nc_m,L_m,W_m,d_m,strike_deg,dip_deg,rake_deg,slip_m,opening_m,nu,lE,lN,lU' \
    '2,3,1.5,0.34202014332566871,3,2,2.1206147584281831,90,70,0,0,1,0.25,0.6,0,0.8' >"$work/f.csv"
"$BIN/okada" --forward "$work/f.csv" | awk -F, 'NR == 1 && $5 != "uL_m" { exit 1 }
    NR == 2 && ($3 < 0.010564 || $3 > 0.010565 || ($5 - 0.6 * $2 - 0.8 * $4) ^ 2 > 1e-34) { exit 1 }' ||
    say 'wrong displacements of a fault that opens'
sed -i 's/,lU/,lX/' "$work/f.csv"
# Where a fault reaches the ground there is no displacement; a metre beside its trace there is one.
printf '%s\n' 'E_m,N_m,Ec_m,Nc_m,L_m,W_m,d_m,strike_deg,dip_deg,rake_deg,slip_m' \
    '0,1,0,0,3000,2000,0,0,90,0,1' '0,0,0,0,3000,2000,0,0,90,0,1' '1,0,0,0,3000,2000,0,0,90,0,1' >"$work/t.csv"
"$BIN/okada" --forward "$work/t.csv" >"$work/u.csv" 2>"$work/log" || say "points on a trace: $(cat "$work/log")"
[ "$(grep -c ',nan,nan,nan$' "$work/u.csv")" = 2 ] && sed -n 4p "$work/u.csv" | grep -q '^3,[-0-9]' &&
    grep -q 't.csv:2: displacements of 2 points are undefined' "$work/log" || say "points on a trace: $(cat "$work/u.csv" "$work/log")"
refused 2 "f.csv: no column 'lU'" "$BIN/okada" --forward "$work/f.csv"
"$BIN/mogi" $examples/campi.json --dry-run | grep -q '177303581 trials' || say 'dry run'

# Nothing between the grid points of Campi Flegrei fits at 1.5 deviations; at 3 much does.
for k in 1.5 3; do
    sed "s|\"k_sigma\": [^}]*}|\"k_sigma\": $k}|; s|\"campi_stations|\"$PWD/$examples/campi_stations|" $examples/campi.json >"$work/k.json"
    "$BIN/mogi" "$work/k.json" --certify "$work/proof.json" --json - >"$work/json" || say "--certify exits $?"
    [ "$(number certified "$work/json")" = "$([ $k = 3 ] && echo false || echo true)" ] || say "k $k: certified $(number certified "$work/json")"
    [ $k = 3 ] && [ "$(number boxes_open "$work/json")" -gt 100 ] || [ $k-$(number boxes_open "$work/json") = 1.5-0 ] ||
        say "k $k: $(number boxes_open "$work/json") open boxes"
    grep -q '"levels"' "$work/proof.json" || say 'no proof'
done
# Near Parkfield no fault of 20 x 10 km fits at 2 deviations; at 4 some do.
for k in 2 4; do
    sed 's|"k_sigma": [^}]*}|"k_sigma": '$k'}|; s|"parkfield_s|"'"$PWD/$examples"'/parkfield_s|; /"d_m"/s/: 0,.*/: 2000, "max": 2000, "n": 1},/
        /strike/s/: 310,.*/: 317.5, "max": 317.5, "n": 1},/; /"dip/s/: 75,.*/: 82.5, "max": 82.5, "n": 1},/
        /"L_m"/s/: 10000,.*/: 20000, "max": 20000, "n": 1},/; /"W_m"/s/: 4000,.*/: 10000, "max": 10000, "n": 1},/' $examples/parkfield.json >"$work/k.json"
    "$BIN/okada" "$work/k.json" --certify "$work/proof.json" --json - >"$work/json" || say "okada --certify exits $?"
    [ "$(number certified "$work/json")" = "$([ $k = 4 ] && echo false || echo true)" ] || say "okada, k $k: certified $(number certified "$work/json")"
    [ $k = 4 ] && [ "$(number boxes_open "$work/json")" -gt 100 ] || [ $k-$(number boxes_open "$work/json") = 2-0 ] ||
        say "okada, k $k: $(number boxes_open "$work/json") open boxes"
done
refused 2 'knows one source' "$BIN/mogi" $examples/unimak.json --certify "$work/proof.json"

# Invalid jobs are refused with file and line.
station='site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m'
printf '%s\n' "$station" 'A,0,0,.01,.01,.02,.005,.005,.01' 'B,900,0,.01,.01,.02,.005,.005,.01' >"$work/s.csv"
job() { # sed script that is applied to a valid job
    sed "$1" >"$work/job.json" <<EOF
{"model": "mogi", "stations": "s.csv",
 "accept": {"k_sigma": 2},
 "constraints": {"radius_over_depth": 0.4},
 "parameters": [
  {"name": "Es_m", "min": 0, "max": 10, "n": 3},
  {"name": "Ns_m", "min": 0, "max": 10, "n": 3},
  {"name": "d_m", "min": 100, "max": 200, "n": 3},
  {"name": "dV_m3", "min": 1, "max": 20, "n": 3}]}
EOF
}
job ''
"$BIN/mogi" "$work/job.json" --layout 1x1 --quiet || say 'a valid job is refused'
while IFS='|' read -r edit words; do
    job "$edit"
    refused 2 "$words" "$BIN/mogi" "$work/job.json"
done <<'EOF'
s/"n": 3}]/"n": 0}]/|job.json:8: parameters\[3\].n = 0
s/"n": 3}]/"n": -1}]/|job.json:8: parameters\[3\].n = -1
s/"n": 3}]/"n": 2.5}]/|job.json:8: parameters\[3\].n = 2.5 is not a whole number
s/"n": 3}]/"n": 3, "step": 1}]/|job.json:8: give value alone, or min, max and either n or step
s/"n": 3}]/"value": 3}]/|job.json:8: give value alone
s/"max": 20,/"max": 1e999,/|job.json:8: parameters\[3\].max is not a (finite) number
s/"k_sigma": 2/"k_sigma": [1, "a"]/|job.json:2: accept.k_sigma\[1\] is not a (finite) number
s/"min": 100/"min": 300/|job.json:7: min 300 is above max 200
s/"d_m"/"depth_m"/|job.json:7: model mogi has no parameter 'depth_m'
s/"n": 3}]/"m": 3}]/|job.json:8: unknown key 'parameters\[3\].m'
s/"accept"/"acept"/|job.json:2: unknown key 'acept' (did you mean 'accept'
s/radius_over_depth/radius/|job.json:3: model mogi has no constraint
s/"radius_over_depth": 0.4/"expressions": "d_n < 3"/|job.json:3: constraints.expressions 'd_n < 3': there is no such parameter: 'd_n < 3' (did you mean 'd_m'
s/"n": 3/"n": 1000000000000000/|more than 2^127 trials\|job.json
s/"max": 20,/"max": NaN,/|job.json:8: parameters\[3\].max is not a (finite) number
s/"k_sigma": 2/"k_sigma": -1/|job.json:2: accept.k_sigma = -1 is out of range
s/"mogi"/"okada"/|this is a job for model okada
s/s.csv/none.csv/|none.csv: cannot be opened
s/{"name": "Es_m".*$//|3 parameters, but 1 source of model mogi has 4
s/"Ns_m"/"Es_m"/|job.json:6: parameter 'Es_m' occurs twice
s/"min": 100/"min": -100/|beyond the model's
$ s/}]}/}]/|job.json:9:
EOF
job ''
while IFS='|' read -r edit words; do
    sed "$edit" "$work/s.csv" >"$work/t.csv" && cp "$work/t.csv" "$work/bad.csv"
    job 's/s.csv/bad.csv/'
    refused 2 "$words" "$BIN/mogi" "$work/job.json"
done <<'EOF'
3s/.005,.01$/-1,.01/|bad.csv:3: sN = -1 of station 'B' is not above 0
3s/.005,.01$/nan,.01/|bad.csv:3: sN_m is 'nan', not a finite number
3s/$/,7/|bad.csv:3: 10 cells where there are 9 columns
3s/900/1e400/|bad.csv:3: E_m is '1e400', not a finite number
3s/B/\x00/|bad.csv:3: a zero byte
2,3d|0 stations
3s/.005,.01$/0,.01/|bad.csv:3: sN = 0 of station 'B' is not above 0
3s/,.01$//|bad.csv:3: 8 cells where there are 9 columns
3s/^B/A/|bad.csv:3: station 'A' is there already, on line 2
3s/^B,900/B,0/|bad.csv:3: station 'B' has the coordinates of 'A'
3s/900/x/|bad.csv:3: E_m is 'x'
3s/.01,.01,.02/nan,nan,nan/|bad.csv:3: station 'B' has no observation
1s/sU_m/zU_m/|column uU has no sU
1s/uE_m/uE_inch/|column 'uE_inch': unknown unit
EOF
warns() { # words that a warning must contain
    "$BIN/mogi" "$work/job.json" --layout 1x1 --quiet 2>"$work/log" || say "$1: $(cat "$work/log")"
    grep -q -- "$1" "$work/log" || say "'$1' is not in: $(cat "$work/log")"
}
sed '1s/$/,z_m,note/; 2,$s/$/,0,x/; 1s/uU_m/u_up_m/' "$work/s.csv" >"$work/bad.csv"
job 's/s.csv/bad.csv/'
warns "bad.csv: not used: 'note'$"
sed '1s/uN_m/uN_mm/; 1s/sN_m/sN/' "$work/s.csv" >"$work/bad.csv"
warns "bad.csv: 'uN_mm' is in units of 0.001 m, but 'sN' of 1 m; name both units$"
printf '%s\n' 'lon,lat,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m' '9,5,0,0,1,1,1,1' '18,5,0,0,1,1,1,1' >"$work/bad.csv"
job 's/"s.csv"/{"file": "bad.csv", "utm_zone": 31}/'
warns '15 degrees away from the middle of UTM zone 31'
job 's/"s.csv"/{"file": "bad.csv", "utm_zone": 55}/'
refused 2 "bad.csv:2: station 'S01' is 138 degrees away from UTM zone 55" "$BIN/mogi" "$work/job.json"
job 's/"k_sigma": 2/"keep_all": true, "best": 3/'
refused 2 'job.json:2: accept.best must be left out where keep_all' "$BIN/mogi" "$work/job.json"
job 's/"k_sigma": 2/"best": 1000000000000/'
refused 2 'job.json:2: accept.best = 1e+12 is out of range, it must be at least 1 and at most 250000' "$BIN/mogi" "$work/job.json"
for endless in /dev/zero /dev/urandom; do
    refused 2 "$endless:[0-9]*: a zero byte" "$BIN/mogi" --forward $endless
    refused 2 "$endless:[0-9]*: a zero byte" "$BIN/mogi" $endless
done
job ''
{ printf '\357\273\277'; cat "$work/job.json"; } >"$work/marked.json"
"$BIN/mogi" "$work/marked.json" --layout 1x1 --quiet || say 'a byte-order mark is refused'

refused 2 'which job' "$BIN/mogi"
refused 2 'did you mean .brute' "$BIN/mogi" $examples/campi.json --method brut
refused 2 'BEGIN:END' "$BIN/mogi" $examples/campi.json --trials 5
refused 2 'must be above BEGIN' "$BIN/mogi" $examples/campi.json --trials 5:5
refused 2 'the job has trials 0:177303581 only' "$BIN/mogi" $examples/campi.json --trials 0:177303582
refused 3 'cannot be written' "$BIN/mogi" $examples/campi.json --out /dev/null/none/file --layout 1x1
printf 'E_m,N_m,Es_m,Ns_m,d_m\n1,2,3,4,5\n' >"$work/f.csv"
refused 2 "f.csv: no column 'dV_m3'" "$BIN/mogi" --forward "$work/f.csv"
printf 'E_m,N_m,Es_m,Ns_m,d_m,dV_m3\n1,2,3,4,-5,1\n' >"$work/f.csv"
refused 2 'f.csv:2: d_m = -5 is out of range' "$BIN/mogi" --forward "$work/f.csv"
# No column about a fault is ignored: openings beside slip components or magnitudes are refused, and
# so are faults that reach above the ground.
fault='E_m,N_m,Ec_m,Nc_m,L_m,W_m,d_m,strike_deg,dip_deg'
for slip in strike_slip_m,dip_slip_m rake_deg,Mw; do
    printf '%s\n' "$fault,$slip,opening_m" '1,2,0,0,3000,2000,900,30,40,1,2,3' >"$work/f.csv"
    refused 2 "f.csv: column 'opening_m' does not go with" "$BIN/okada" --forward "$work/f.csv"
done
printf '%s\n' "$fault,rake_deg,slip_m,Mw,reference" '1,2,0,0,3000,2000,643,30,40,1,2,7,3' \
    '1,2,0,0,3000,2000,642,30,40,1,2,7,3' >"$work/f.csv"
refused 2 'f.csv:3: this source is not below ground' "$BIN/okada" --forward "$work/f.csv"
sed -i 3d "$work/f.csv"
[ "$("$BIN/okada" --forward "$work/f.csv" | wc -l)" = 2 ] || say 'a fault given by its centroid is refused'
# Points off the surface are refused, and unknown columns named in a warning; zero heights are fine.
for column in z_m Height depth_km elev; do
    printf '%s\n' "E_m,N_m,Es_m,Ns_m,d_m,dV_m3,$column" 1,2,3,4,5,6,0 1,2,3,4,5,6,-7.5 >"$work/f.csv"
    refused 2 "f.csv:3: $column = -7.5, but --forward knows displacements of the surface only" \
        "$BIN/mogi" --forward "$work/f.csv"
    sed -i 's/-7.5/0.0/' "$work/f.csv"
    [ -z "$("$BIN/mogi" --forward "$work/f.csv" 2>&1 >"$work/u.csv")" ] || say "a column $column of zeros"
done
printf '%s\n' "$fault,rake_deg,slip_m,openning_m,zone" '1,2,0,0,3000,2000,643,30,40,1,2,7,0' >"$work/f.csv"
"$BIN/okada" --forward "$work/f.csv" 2>&1 | grep -q "f.csv: not used: 'openning_m'$" ||
    say 'no warning names a misspelt column'
exit $failed
