# tests/e2e/okada_mogi_results.sh – after a search, from the command line: binary rows, statistics,
# nested refinement. Needs BIN; run through tests/run.sh.
. tests/check.sh
campi=okada_mogi/examples/campi.json

# The same rows in both files; statistics in words and in JSON.
"$BIN/mogi" $campi --layout 1x1 --out "$work/a.csv" --binary "$work/a.bin" --json "$work/json" \
    >"$work/text" || say "campi exits $?"
[ "$(od -An -c -N8 "$work/a.bin" | tr -d ' ')" = EKTRIALS ] || say 'binary: no magic'
size=$(od -An -tu4 -j12 -N4 "$work/a.bin" | tr -d ' ')
rows=$(od -An -tu8 -j16 -N8 "$work/a.bin" | tr -d ' ')
[ "$rows" = 1859 ] || say "binary: $rows rows"
od -An -v -tu8 -w72 -j"$size" "$work/a.bin" | awk '{ print $1 }' >"$work/index"
tail -n +2 "$work/a.csv" | cut -d, -f1 | cmp -s - "$work/index" || say 'binary: the trials differ'
grep -q '"statistics"' "$work/json" || say 'no statistics in the JSON'
grep -q '^Es_m  *426296' "$work/text" || say "no centre of gravity: $(cat "$work/text")"
grep -qx '1 cluster' "$work/text" || say 'the number of clusters is not printed'

# The same bits, whoever found the trials.
statistics() { sed -n '/^ "statistics"/,/^ }/p' "$work/json"; }
statistics >"$work/one"
"$BIN/mogi" $campi --layout 2x1 --schedule dynamic --method brute --json "$work/json" --quiet ||
    say "brute exits $?"
statistics | cmp -s - "$work/one" || say 'the statistics depend on the layout'
[ "$(wc -l <"$work/one")" -gt 100 ] || say 'no statistics to compare'

# A checkpoint that meets a full disk costs no results: the search goes on, and says so.
(ulimit -f 1; exec "$BIN/mogi" $campi --layout 1x1 --checkpoint "$work/state" --json -) 2>"$work/log" | cat >"$work/full"
[ "${PIPESTATUS[0]}" = 0 ] || say "a full disk: $(cat "$work/log")"
grep -q '"accepted": 1859' "$work/full" && grep -q 'state: cannot be written.*the search goes on' "$work/log" ||
    say "a full disk: $(cat "$work/log")"

# What the best trial predicts at each station.
"$BIN/mogi" $campi --layout 1x1 --residuals "$work/r.csv" --quiet || say "--residuals exits $?"
[ "$(wc -l <"$work/r.csv")" = 15 ] || say 'residuals: the stations differ'
awk -F, 'NR > 1 { for (c = 0; c < 3; c++) { r = ($(10 + c) - $(4 + c)) / $(7 + c) - $(13 + c)
        if (r < -1e-6 || r > 1e-6) exit 1 } }' "$work/r.csv" || say 'residuals do not add up'

# Stations given by longitude and latitude are written with them.
grep -v '^#' ${campi%/*}/unimak_stations.csv | cut -d, -f1-3,6- >"$work/lonlat.csv"
sed 's|"unimak_stations.csv"|"lonlat.csv"|; s|"k_sigma": [^}]*|"best": 3|' ${campi%/*}/unimak.json >"$work/lonlat.json"
"$BIN/mogi" "$work/lonlat.json" --trials 0:1000000 --layout 1x1 --residuals "$work/r.csv" --quiet 2>/dev/null || say "lon, lat: exits $?"
awk -F, 'NR == FNR { lon[$1] = $2; lat[$1] = $3; next }
    FNR == 1 { if (!/,lon,lat$/) exit 1; next } { n++; x = $(NF - 1) - lon[$1]; y = $NF - lat[$1]
        if (x * x + y * y > 1e-16) exit 1 } END { exit n < 5 }' "$work/lonlat.csv" "$work/r.csv" || say 'residuals: other coordinates'

# The best trials of a range, though better ones lie outside of it.
sed 's|"k_sigma": [^}]*|"best": 3|; s|"campi_st|"'"$PWD/${campi%/*}"'/campi_st|' $campi >"$work/best.json"
for method in brute exact; do
    "$BIN/mogi" "$work/best.json" --trials 0:300000 --method $method --layout 1x1 --out "$work/best.$method" --quiet || say "best of a range, $method: $?"
done
[ "$(wc -l <"$work/best.exact")" = 4 ] && cmp -s "$work/best.exact" "$work/best.brute" || say 'other trials are the best of a range'

# Data along a line of sight with an unknown offset, together with components: the true source is found.
awk 'BEGIN { print "E_m,N_m,value_m,sigma_m,lE,lN,lU"
    for (i = 0; i < 40; i++) { e = 700 * (i % 7 - 3); n = 900 * (i % 5 - 2); r = (e * e + n * n + 9e6) ^ 1.5
        print e "," n "," 0.25 + 1e-5 * e + 0.75 / 3.14159265358979 * 5e6 * (0.6 * e + 0.8 * 3000) / r ",0.002,0.6,0,0.8" } }' >"$work/asc.csv"
printf '%s\n' 'E_m,N_m,uU_m,sU_m' '0,0,0.1326,0.002' '3000,0,0.0469,0.002' >"$work/gnss.csv"
cat >"$work/los.json" <<EOF
{"model": "mogi", "stations": ["gnss.csv", {"file": "asc.csv"}], "scenes": {"asc": {"offset": true, "ramp": true}},
 "accept": {"k_sigma": 0.5}, "parameters": [{"name": "Es_m", "min": -1000, "max": 1000, "n": 21},
 {"name": "Ns_m", "min": -1000, "max": 1000, "n": 21}, {"name": "d_m", "min": 2000, "max": 4000, "n": 21},
 {"name": "dV_m3", "min": 1e6, "max": 9e6, "n": 33}]}
EOF
"$BIN/mogi" "$work/los.json" --layout 1x1 --out "$work/los.csv" --residuals "$work/r.csv" --quiet ||
    say "los exits $?"
grep -q '^[0-9]*,0,0,3000,5000000,' "$work/los.csv" || say 'los: the true source is not accepted'
awk -F, 'NR == 1 { if ($22 != "rL") exit 1; next } $22 != "" { n++; if ($22 < -1 || $22 > 1) exit 1 } END { exit n != 40 }' \
    "$work/r.csv" || say 'los: residuals'

# Pixels without a value are left out and counted; a file that has no others is refused.
sed '3s/,0[^,]*,0.002/,nan,0.002/; 9s/,[^,]*,0.002/,,0.002/' "$work/asc.csv" >"$work/holes.csv"
sed 's|"asc.csv"}|"holes.csv"}|; s|"scenes": {"asc"|"scenes": {"holes"|' "$work/los.json" >"$work/holes.json"
"$BIN/mogi" "$work/holes.json" --layout 1x1 --out "$work/holes.out" --quiet 2>"$work/log" || say "holes: $?"
grep -q 'holes.csv:3: no observation; 2 of 40 rows are left out$' "$work/log" && [ "$(wc -l <"$work/log")" = 1 ] &&
    grep -q '^[0-9]*,0,0,3000,5000000,' "$work/holes.out" || say "holes: $(cat "$work/log")"
sed '2,$s/,[^,]*,0.002/,NaN,0.002/' "$work/asc.csv" >"$work/holes.csv"
"$BIN/mogi" "$work/holes.json" --layout 1x1 --quiet 2>"$work/log"
[ $? = 2 ] && grep -q 'none of its 40 rows holds an observation' "$work/log" && [ "$(wc -l <"$work/log")" = 1 ] || say "only missing pixels: $(cat "$work/log")"

# Where the signal is near the noise, most geometries are rejected before all data are evaluated.
awk 'BEGIN { print "E_m,N_m,value_m,sigma_m,lE,lN,lU"
    for (i = 0; i < 400; i++) { e = 700 * (i % 20 - 9.5); n = 900 * (int(i / 20) - 9.5); r = (e * e + n * n + 9e6) ^ 1.5
        x = sin(i + 1) * 43758.5453; x -= int(x)
        print e "," n "," 0.017 * x + 0.75 / 3.14159265358979 * 2e6 * (0.6 * e + 0.8 * 3000) / r ",0.01,0.6,0,0.8" } }' >"$work/near.csv"
sed 's|"stations": [^}]*}\]|"stations": "near.csv"|; s|{"asc": {|{"near": {|; s|"k_sigma": 0.5|"misfit": "rms", "misfit_below": 1.04|
    s|"min": -1000, "max": 1000|"min": -4000, "max": 4000|' "$work/los.json" >"$work/near.json"
"$BIN/mogi" "$work/near.json" --layout 1x1 --json "$work/json" --out "$work/near.out" --quiet || say "near: $?"
awk '/"evaluations"/ { exit !($2 + 0 > 9261 * 50 && $2 + 0 < 9261 * 300) }' FS=: "$work/json" &&
    grep -q ',0,0,3000,2000000,' "$work/near.out" || say "near: $(grep evaluations "$work/json")"
mkdir "$work/sub"
"$BIN/mogi" "$work/los.json" --layout 1x1 --refine-out "$work/sub/finer.json" --quiet || say 'los: refine'
"$BIN/mogi" "$work/sub/finer.json" --dry-run >/dev/null || say 'los: the refined job is invalid'

# Pipes and devices are written to; only regular files are replaced.
"$BIN/mogi" $campi --layout 1x1 --quiet --out - --json >(cat >"$work/piped.json") |
    cmp -s - "$work/a.csv" || say 'standard output: the rows differ'
for option in --out --binary --json --residuals; do
    "$BIN/mogi" $campi --layout 1x1 --quiet $option /dev/full 2>"$work/log"
    [ $? = 3 ] && [ "$(wc -l <"$work/log")" = 1 ] || say "$option on a full disk: $(cat "$work/log")"
    [ -c /dev/full ] || { say "$option has replaced a device"; break; }
done
# Output that cannot be written is reported before the search.
for option in --certify "--certify $work/proof --json" --json --report --trace --residuals --refine-out; do
    timeout 10 "$BIN/okada" okada_mogi/examples/parkfield.json --method brute --layout 1x1 --quiet $option "$work" 2>"$work/log"
    [ $? = 3 ] && [ "$(wc -l <"$work/log")" = 1 ] || say "$option of a folder: $(cat "$work/log")"
done
TMPDIR=$work/none "$BIN/mogi" $campi --layout 1x1 --quiet || say 'a few trials need TMPDIR'

# Maps, if the zone is known; a trial explains the synthetic data generated from it.
sed 's|"campi_stations.csv"|"'"$PWD/${campi%/*}"'/campi_stations.csv", "utm_zone": 33|' $campi >"$work/zone.json"
"$BIN/mogi" "$work/zone.json" --layout 1x1 --geojson "$work/map.json" --psvelo "$work/map" --quiet || say "maps: exits $?"
grep -A9 '"Point"' "$work/map.json" | grep -q '14\.1[0-9]*,*$' || say 'the chamber is not at Pozzuoli'
[ "$(cat "$work/map.observed" "$work/map.predicted" "$work/map.residual" | grep -c '^14\.')" = 42 ] && [ -s "$work/map.faults" ] || say 'psvelo: other rows'
"$BIN/mogi" "$work/zone.json" --generate "$work/made.csv" --trials 7000000:7000001 --seed 3 || say "--generate exits $?"
sed 's|"stations": [^}]*}|"stations": "made.csv"|; s|"k_sigma": [^}]*|"best": 1|' "$work/zone.json" >"$work/made.json"
"$BIN/mogi" "$work/made.json" --trials 7000000:7000001 --layout 1x1 --out "$work/made.out" --quiet || say 'synthetic data'
awk -F, 'NR == 2 { exit !($7 > 15 && $7 < 80) }' "$work/made.out" || say "synthetic data: $(cat "$work/made.out")"

# Evidence and Bayes factors; jobs on other data are refused.
"$BIN/mogi" $campi --layout 1x1 --quiet --json "$work/one.json" || say 'evidence'
below=$(sed -n 's/.*"rms_misfit_for_99": \([0-9.]*\).*/\1/p' "$work/one.json")
sed 's|"k_sigma": [^}]*|"misfit": "rms", "misfit_below": '"$below"'|' "$work/zone.json" >"$work/all.json"
"$BIN/mogi" "$work/all.json" --layout 1x1 --against "$work/one.json,$work/one.json" --json "$work/json" >"$work/text" || say "--against exits $?"
grep -q '^ln evidence .*: at least 99[0-9.]* % of the posterior are accepted$' "$work/text" && grep -q '^Es_m .* \.\. ' "$work/text" || say "the posterior is not printed: $(cat "$work/text")"
[ "$(grep -c '^ln Bayes factor against .*one.json: ' "$work/text")" = 2 ] || say "Bayes factors: $(cat "$work/text")"

# A warning says that a range is too narrow.
sed 's|"max": 6000|"max": 2800|; s|"campi_stations|"'"$PWD"'/okada_mogi/examples/campi_stations|' \
    $campi >"$work/narrow.json"
"$BIN/mogi" "$work/narrow.json" --layout 1x1 | grep -q '^warning: d_m: .* last value .* 2800' ||
    say 'no warning of a range that is too narrow'

# --refine finds what the refined job finds.
"$BIN/mogi" $campi --layout 1x1 --refine 2 --refine-by 1,d_m=2,dV_m3=3 --refine-out "$work/job.json" \
    --out "$work/nested.csv" >"$work/text" || say "--refine exits $?"
grep -q 'refined 1 of 2' "$work/text" && grep -q 'refined 2 of 2' "$work/text" ||
    say "rounds are not printed: $(cat "$work/text")"
"$BIN/mogi" "$work/job.json" --layout 2x1 --out "$work/again.csv" --quiet || say 'the refined job fails'
cmp -s "$work/nested.csv" "$work/again.csv" || say 'the refined job finds something else'
[ "$(wc -l <"$work/again.csv")" -gt 1860 ] || say 'the refined job finds no more'
"$BIN/mogi" $campi --layout 1x1 --refine-out "$work/next.json" --quiet || say "--refine-out exits $?"
"$BIN/mogi" "$work/next.json" --dry-run | grep -q ' geometries, ' || say 'the refined job is invalid'

# Invalid options are refused.
refused 2 'excludes --trials' "$BIN/mogi" $campi --refine 1 --trials 0:10
refused 2 'did you mean .d_m' "$BIN/mogi" $campi --refine 1 --refine-by d_n=2
refused 2 'its data differ from those of' "$BIN/mogi" "$work/los.json" --against "$work/one.json"
refused 2 'has no evidence' "$BIN/mogi" $campi --against "$work/made.json"
refused 2 'which utm_zone' "$BIN/mogi" $campi --geojson "$work/x.json"
refused 2 'give each parameter one value' "$BIN/mogi" $campi --generate "$work/x.csv"
refused 2 'whole number' "$BIN/mogi" $campi --refine-out "$work/x.json" --refine-by 0.5
exit $failed
