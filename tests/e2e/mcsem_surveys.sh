#!/usr/bin/env bash
# tests/e2e/mcsem_surveys.sh – realistic surveys: bad starting models, outliers, null data, an
# uneven sea floor, missing errors, absurd numbers; and runs whose work must not be lost.
. tests/check.sh
skip_under_sanitizers 'e2e/mcsem runs a part of a survey'
bin=${BIN:-bin}/mcsem
survey=$work/survey.csv
"$bin" --generate tiny --out "$survey" --truth "$work/truth.csv"
check $? 'a survey'
quick="--layout 1x1 --quiet"

# One datum in twenty is ten times too large, or too small, or has the other sign; bad starts. As well
# explained as by the true model, but for a twentieth, and that without the outliers.
awk -F, -v OFS=, 'NR > 5 && (NR * 7) % 20 == 3 { f = NR % 3 ? NR % 3 > 1 ? 10 : 0.1 : -1; $12 *= f; $13 *= f }
                  { print }' "$survey" >"$work/outliers.csv"
explains() { # survey, start, outliers at least, at most, loss
    "$bin" "$1" $quick --iterations 0 --model-in "$work/truth.csv" --json "$work/truth.json" &&
        "$bin" "$1" $quick --start "$2" --robust "$5" --iterations 20 --json "$work/run.json" 2>"$work/err"
    check $? "$1 from $2 ohm m: $(cat "$work/err")"
    awk -v rms="$(number rms "$work/run.json")" -v true="$(number rms "$work/truth.json")" -v out="$(number outliers "$work/run.json")" \
        -v least="$3" -v most="$4" 'BEGIN { exit !(rms < 1.05 * true && out >= least && out <= most) }'
    check $? "it is explained: $(number rms "$work/run.json"), $(number outliers "$work/run.json")"
}
for start in 0.1 ${EK_LONG:+1 100}; do
    for robust in student ${EK_LONG:+huber}; do
        explains "$work/outliers.csv" $start 25 40 $robust
        [ -z "${EK_LONG:-}" ] || explains "$survey" $start 0 3 $robust
    done
done
"$bin" "$work/outliers.csv" $quick --robust none --iterations 4 --json "$work/run.json" 2>"$work/err"
[ $? = 1 ] && grep -q 'not explained.*--iterations' "$work/err" && grep -q '"explained": false' "$work/run.json" &&
    grep -q worst_receivers "$work/run.json"
check $? "what is not explained fails: $(cat "$work/err")"

# Amplitudes alone do.
for start in 30 ${EK_LONG:+0.1 100}; do
    "$bin" "$survey" $quick --use amplitude --start $start --iterations 20 --json "$work/run.json" 2>"$work/err"
    check $? "amplitudes from $start ohm m: $(cat "$work/err")"
done

[ -z "${EK_LONG:-}" ] || exit $failed # the rest has no longer form

# A body below one column of fifteen: the few data that see it are no outliers.
awk -F, -v OFS=, 'NR > 1 && $6 > 2 && $1 != 7 { $6 = 1 } { print }' "$work/truth.csv" >"$work/one.csv"
"$bin" "$survey" --forward-survey --earth "$work/one.csv" --noise 0.03 --seed 5 --out "$work/one_seen.csv" &&
    "$bin" "$work/one_seen.csv" $quick --start 1 --iterations 20 --model-out "$work/found.csv" 2>"$work/err" &&
    awk -F, 'NR > 1 && $6 > most { most = $6; at = $1 } END { exit !(at == 7 && most > 8) }' "$work/found.csv"
check $? "a small body is found: $(cat "$work/err")"

# A null: Ey of an x dipole, inline.
awk -F, -v OFS=, 'NR < 5 { if (!/rows/) print; next }
    NR == 5 { print; next }
    NR == 6 { $1 = 1000; $2 = 1500; $4 = 0; $5 = 0; $7 = 4000; $8 = 1500; $12 = $13 = 1e-14; $14 = 1e-15; $10 = "Ey" }
    { print }' "$survey" >"$work/null.csv"
"$bin" "$work/null.csv" $quick --iterations 0 --robust none --json "$work/run.json" 2>"$work/err" &&
    awk -v rms="$(number rms "$work/run.json")" 'BEGIN { exit !(rms > 1 && rms < 50) }' &&
    [ "$(number log_data "$work/run.json")" -lt "$(number data "$work/run.json")" ]
check $? "a null is no logarithm: $(number rms "$work/run.json") $(cat "$work/err")"

# West of x = 2500 m the sea is 1000 m deep, east of it 1300 m: both halves as if they were alone.
half() { # side, shift, name: pairs well on that side of x = 2500 m
    awk -F, -v OFS=, -v side="$1" -v shift="$2" 'NR < 6 { if (!/rows/) print; next }
        ($1 - 2500) * side > 300 && ($7 - 2500) * side > 300 { $3 += shift; $9 += shift; print }' "$survey" >"$work/$3"
}
half -1 0 west.csv
half 1 300 east.csv
{ cat "$work/west.csv"; sed 1,4d "$work/east.csv"; } >"$work/both.csv"
awk 'BEGIN { for (x = -7050; x < 12500; x += 100) for (y = -3000; y < 6500; y += 250) print x, y, x < 2500 ? 1000 : 1300 }' >"$work/floor.xyz"
program=$(realpath "$bin")
fields="--iterations 0 --mode exact --residual complex $quick"
"$bin" "$work/west.csv" $fields --responses "$work/west" && "$bin" "$work/east.csv" --earth seabed=1300 $fields --responses "$work/east" &&
    "$bin" "$work/both.csv" --seabed "$work/floor.xyz" $fields --responses "$work/both"
check $? 'a step of the sea floor'
cut -d, -f2-9,13,14 "$work/west" "$work/east" | grep -v src | sort >"$work/apart"
cut -d, -f2-9,13,14 "$work/both" | grep -v src | sort >"$work/together"
[ "$(wc -l <"$work/apart")" -gt 200 ] && paste -d, "$work/apart" "$work/together" | awk -F, '
    { d = sqrt(($9-$19)^2 + ($10-$20)^2) / sqrt($9^2 + $10^2); if ($1 != $11 || d > 1e-6) bad++ } END { exit bad > 0 }'
check $? 'fields over a step are those over two floors'
# Instruments on the sea floor are in the sea: the fields of a survey are those of single cases.
awk -F, -v OFS=, '/^# rows/ || (head && NR > head + 40) { next } /^src_x/ { head = NR }
    head && NR > head { if (NR % 3) $9 = 1000; if (NR % 2) $3 = 1000; $5 = 0 } { print }' "$survey" >"$work/lying.csv"
"$bin" "$work/lying.csv" --forward-survey --difference 1e-8 --out "$work/fields.csv" &&
    grep -v '^#' "$work/fields.csv" | awk -F, -v OFS=, '
        { print NR == 1 ? "id,interfaces_z_m,rho_h_ohmm" : NR ",0;1000,1e12;0.3125;1", $0 }' >"$work/cases.csv" &&
    "$bin" --forward "$work/cases.csv" --out "$work/single.csv" &&
    paste -d, "$work/single.csv" <(cut -d, -f15,16 "$work/cases.csv") | awk -F, '
        NR > 1 { d = sqrt(($2-$4)^2 + ($3-$5)^2) / sqrt($4^2 + $5^2 + 1e-30); if (d > 1e-6) bad++; n++ }
        END { exit !(n == 40 && !bad) }'
check $? "instruments on the sea floor: $(head -3 "$work/single.csv" "$work/fields.csv")"
# A byte-order mark before the lines that say what the earth is; semicolons; a long line of those;
# out of a pipe.
mark() { { printf '\357\273\277'; cat "$1"; } >"$2"; }
mark "$work/west.csv" "$work/marked.csv"
mark "$work/floor.xyz" "$work/marked.xyz"
sed '/^#/!s/,/;/g' "$work/west.csv" >"$work/semicolons.csv"
awk '/^# earth/ { sub(/earth/, sprintf("earth%5000s", "")) } { print }' "$work/west.csv" >"$work/long.csv"
for same in marked.csv semicolons.csv long.csv; do
    "$bin" "$work/$same" $fields --responses "$work/same" && cmp "$work/west" "$work/same"
    check $? "a table: $same"
done
"$bin" /dev/stdin $fields --responses "$work/same" < <(cat "$work/west.csv") && cmp "$work/west" "$work/same"
check $? 'a table out of a pipe'
"$bin" "$work/both.csv" --seabed "$work/marked.xyz" $fields --responses "$work/same" && cmp "$work/both" "$work/same"
check $? 'a sea floor behind a byte-order mark'
awk -F, 'BEGIN { OFS = FS } /^src_x/ { head = NR } head && NR == head + 3 { $7 = $1; $8 = "-0"; $2 = 0; $9 = $3; $6 = 0 } { print }' \
    "$survey" >"$work/touching.csv"
refuses 'a source in its receiver' 'touching.csv:[0-9]*: the source touches' "$bin" "$work/touching.csv" --iterations 0
for how in '' '--seabed flat'; do
    refuses "receivers below the sea floor $how" 'said to lie 500 m deep' "$bin" "$survey" --earth seabed=500 $how --iterations 0
done
refuses 'receivers at many depths over one floor' 'over one sea floor' "$bin" "$work/both.csv" --earth seabed=1300 --iterations 0
awk 'NR == 2 { sub(/seabed=[0-9.]*,/, "") } { print }' "$work/both.csv" >"$work/unsaid.csv"
"$bin" "$work/unsaid.csv" --iterations 0 $quick --cells "$work/cells.csv" 2>"$work/err" &&
    grep -q 'a layered earth is a poor one' "$work/err" &&
    awk -F, 'NR > 1 && $2 { if ($8 < 1000) bad = 1; rough += $10 } END { exit bad || !rough }' "$work/cells.csv"
check $? "the floor follows the receivers: $(cat "$work/err")"
# Fields over such a floor are written with what says where it is: from anywhere they are those of the same earth.
for how in "both.csv --seabed floor.xyz" "unsaid.csv" "unsaid.csv --seabed flat"; do
    for as in csv emdata; do
        (cd "$work" && "$program" $how --forward-survey --out "again.$as") &&
            "$bin" "$work/again.$as" $fields --robust none --noise 0.03 --json "$work/run.json" 2>"$work/err" &&
            awk -v rms="$(number rms "$work/run.json")" 'BEGIN { exit !(rms < 0.001) }'
        check $? "fields over the floor of $how as $as: $(number rms "$work/run.json") $(cat "$work/err")"
    done
done

# The model hangs below the floor of each column, in VTK and on the page.
"$bin" "$work/both.csv" --seabed "$work/floor.xyz" --iterations 0 $quick --model-out "$work/model.vtk" --report "$work/page.html" &&
    grep -q '^DATASET STRUCTURED_GRID' "$work/model.vtk" && grep -o '"seabed": *\[[^]]*' "$work/page.html" | grep -q '1000.0.*1300.0' &&
    awk '/^POINTS/ { n = $2; next } n-- > 0 { if ($1 < 1000 && $3 > top[0]) top[0] = $3; if ($1 > 4000 && $3 > top[1]) top[1] = $3 }
         BEGIN { top[0] = top[1] = -1e9 } END { exit !(top[0] == -1000 && top[1] == -1300) }' "$work/model.vtk"
check $? "columns below their floors: $(grep -m 3 -A 2 POINTS "$work/model.vtk")"

# A model's fields as a survey: without noise they are that model's, with noise as far as noise goes;
# the same from a table (which has its own grid) and from VTK.
"$bin" --generate tiny --out "$work/same.csv" --truth "$work/truth.vtk" &&
    "$bin" "$survey" --forward-survey --earth "$work/truth.csv" --out "$work/clean.csv" &&
    "$bin" "$survey" --forward-survey --earth "$work/truth.vtk" --out "$work/vtk.csv" &&
    "$bin" "$survey" --forward-survey --earth "$work/truth.csv" --noise 0.05 --seed 3 --out "$work/noisy.emdata"
check $? 'surveys of a model'
grep -v '^#' "$work/clean.csv" >"$work/clean" && grep -v '^#' "$work/vtk.csv" | paste -d, - "$work/clean" | awk -F, '
    NR > 1 && (($12 - $26)^2 + ($13 - $27)^2 > 1e-14 * ($26^2 + $27^2) || $1 != $15) { bad = 1 } END { exit bad || NR != 641 }'
check $? 'the same from VTK'
for of in 'clean.csv 0 0.01' 'noisy.emdata 0.85 1.15'; do
    read -r file least most <<<"$of"
    "$bin" "$work/$file" --earth "$work/truth.csv" --iterations 0 --robust none --residual complex $quick --json "$work/run.json" &&
        awk -v rms="$(number rms "$work/run.json")" -v least=$least -v most=$most 'BEGIN { exit !(rms >= least && rms < most) }'
    check $? "its fields in $file: $(number rms "$work/run.json")"
done
sed '/^[0-9]/d' "$work/truth.csv" >"$work/bad.csv"
refuses 'a model without layers' 'bad.csv' "$bin" "$survey" --forward-survey --earth "$work/bad.csv"
sed '4s/^[^,]*/1e19/' "$work/truth.csv" >"$work/bad.csv"
refuses 'a column that no grid has' 'bad.csv:4: column 1e+19' "$bin" "$survey" --forward-survey --earth "$work/bad.csv"
sed 's/^DIMENSIONS 6/DIMENSIONS 7/' "$work/truth.vtk" >"$work/bad.vtk"
refuses "another grid's model" 'are not 5 x 3 columns' "$bin" "$survey" --forward-survey --earth "$work/bad.vtk"

# How sure a model is: known better above than below, in the table, in VTK; tied to what is below, its last layer is known
# better than where the bottom is free.
sure="$quick --model-in $work/truth.csv --iterations 0 --uncertainty"
"$bin" "$survey" $sure --model-out "$work/tied.csv" && "$bin" "$survey" $sure --bottom free --model-out "$work/sure.csv"
check $? 'two models that say how sure they are'
sums() { awk -F, 'NR > 1 { sum[$2] += $7 } END { print sum[0], sum[5], sum[10], sum[11] }' "$1"; }
echo "$(sums "$work/tied.csv") $(sums "$work/sure.csv")" | awk '{ exit !($1 < $2 && $2 < $3 && $5 < $6 && $6 < $7 && $4 < $8) }'
check $? "uncertainties over what is known: $(sums "$work/tied.csv"); with a free bottom: $(sums "$work/sure.csv")"
awk -F, 'NR == 1 { exit_early = $7 != "sigma_ln_rho" || $8 != "resolution_m" || $9 != "investigated_m"; next }
         !($7 > 0) || !($8 > 0) || !($9 > 300 && $9 <= 1800) { bad = 1 } END { exit exit_early || bad }' "$work/sure.csv"
check $? "uncertainties: $(head -13 "$work/sure.csv")"
"$bin" "$survey" $sure --model-out "$work/sure.vtk" && grep -q '^SCALARS sigma_ln_rho' "$work/sure.vtk"
check $? 'uncertainties in VTK'

# What no earth explains fails, and the worst is named: a receiver whose gain is wrong, a datum.
bad=$(awk -F, 'NR == 6 { print $7 }' "$survey")
awk -F, -v OFS=, -v bad="$bad" 'NR > 5 && $7 == bad { $12 *= 3; $13 *= 3 } { print }' "$survey" >"$work/gain.csv"
"$bin" "$work/gain.csv" $quick --iterations 6 --json "$work/run.json" 2>"$work/err"
[ $? = 1 ] && grep -q '"converged": false' "$work/run.json" && grep -q '"explained": false' "$work/run.json" &&
    grep -q '"verified": false' "$work/run.json" && grep -A 3 '"worst_receivers"' "$work/run.json" | grep -q "$bad"
check $? "a receiver whose gain is wrong, x = $bad: $(cat "$work/err") $(grep -A 6 worst_rec "$work/run.json")"
awk -F, -v OFS=, 'NR == 106 { $12 *= 1e3 } { print }' "$survey" >"$work/datum.csv"
"$bin" "$work/datum.csv" $quick --iterations 1 --json "$work/run.json" 2>"$work/err"
[ $? = 1 ] && grep -q 'line 106' "$work/err" && grep -A 6 '"worst_data"' "$work/run.json" | grep -q '"line": 106'
check $? "a wrong datum: $(cat "$work/err")"

# Data without errors take --noise; what is out of all bounds is said.
awk -F, -v OFS=, 'NR > 5 && NR % 2 { $14 = "" } { print }' "$survey" >"$work/bare.csv"
"$bin" "$work/bare.csv" $quick --iterations 0 --json "$work/run.json" &&
    [ "$(number data "$work/run.json")" = "$(grep -c '^[^#s]' "$survey")" ]
check $? 'data without sigma count'
"$bin" --generate small --scale 0.02 --out "$work/zero.emdata"
sed -i '/^# Data/,$ s/[^ ]*$/0/; s/^# Data.*/# Data: '"$(sed -n 's/^# Data: //p' "$work/zero.emdata")"'/; s/^\(! type\).*/\1/' "$work/zero.emdata"
refuses 'a file of a forward model' 'standard error 0' "$bin" "$work/zero.emdata" --iterations 0
"$bin" "$work/zero.emdata" --noise 0.05 --iterations 0 $quick
check $? 'but not with --noise'
spoil() { # sed script, pattern
    sed "$1" "$survey" >"$work/bad.csv"
    refuses "$1" "$2" "$bin" "$work/bad.csv" --iterations 0
}
spoil '6s/^[^,]*/1e30/' 'bad.csv:6: a coordinate of 1e+30 m'
spoil '6s/Ex,0.25/Ex,1e30/' 'frequency 1e+30 Hz'
spoil '4s/.*/# rows -5/' 'not a number of rows'
spoil '2s/nx=5/nx=5,nx=6/' "'nx' is given twice"

# Work is not lost, and inputs are not written over.
refuses 'an output over the survey' 'input' "$bin" "$survey" --iterations 0 --model-out "$survey"
"$bin" "$survey" --iterations 0 --history "$work/nowhere/h.csv" >/dev/null 2>"$work/err"
[ $? = 3 ] && grep -q nowhere "$work/err"
check $? "where nothing can be written: $(cat "$work/err")"
"$bin" "$survey" $quick --iterations 1000 --stall-times 0 --target 0 --history "$work/history.csv" --checkpoint "$work/state" 2>/dev/null &
pid=$!
for _ in $(seq 600); do
    sleep 0.05
    [ -s "$work/state" ] && break
done
kill -TERM $pid
wait $pid
[ $? = 4 ] && [ "$(wc -l <"$work/history.csv")" -ge 2 ]
check $? 'an interrupted run writes its history'

# A tolerance that cannot be kept is said; straight above a vertical dipole Ex is 0.
{
    echo "id,freq_hz,src_len_m,src_x,src_y,src_z,src_azimuth_deg,src_dip_deg,rec_x,rec_y,rec_z,component,interfaces_z_m,rho_h_ohmm"
    echo "x,1,0,0,0,900,0,90,0,0,800,Ex,0;1000,1e12;0.3;1"
    echo "z,1,0,0,0,900,0,90,0,0,800,Ez,0;1000,1e12;0.3;1"
} >"$work/above.csv"
"$bin" --forward "$work/above.csv" --out "$work/fields.csv" && awk -F, '
    NR == 2 { x = sqrt($2^2 + $3^2) } NR == 3 { exit !(x < 1e-14 * sqrt($2^2 + $3^2)) }' "$work/fields.csv"
check $? "nothing across the axis: $(cat "$work/fields.csv")"
"$bin" --forward "$work/above.csv" --tolerance 1e-14 --out "$work/fields.csv" 2>"$work/err"
[ $? = 1 ] && grep -q 'may not keep --tolerance' "$work/err"
check $? "a tolerance that is too small: $(cat "$work/err")"
awk -F, -v OFS=, '!/^[#s]/ { $3 = 1010 } { print }' "$survey" >"$work/buried.csv"
refuses 'a source in the ground' '1000 m deep, and an instrument 1010 m' "$bin" "$work/buried.csv" --iterations 0

# Two receivers' gains are off by 10 %, their phases by 7 degrees: a layered earth does not explain that; --drift does and finds
# them, to the same bits on two ranks and in every run.
awk -F, -v OFS=, '/^[#s]/ { print; next }
    { k = $7 "," $8; if (!(k in id)) id[k] = n++; s = id[k] == 2 ? 1 : id[k] == 7 ? -1 : 0; g = exp(0.1 * s)
      re = g * ($12 * cos(0.12 * s) - $13 * sin(0.12 * s)); $13 = g * ($12 * sin(0.12 * s) + $13 * cos(0.12 * s)); $12 = re
      $14 *= g; print }' "$survey" >"$work/off.csv"
"$bin" "$work/off.csv" --model-in "$work/truth.csv" --iterations 4 --quiet --json "$work/run.json" 2>"$work/err"
[ $? = 1 ] && grep -q '^ "explained": false' "$work/run.json" && grep -q '^ "worst_receivers": ' "$work/run.json"
check $? "gains that are off are not explained: $(cat "$work/err")"
drifts() { "$@" "$work/off.csv" --model-in "$work/truth.csv" --iterations 5 --drift 0.1 --quiet --json "$work/run.json" 2>"$work/err"; }
drifts "$bin" --model-out "$work/one.csv" && grep -q '^ "explained": true' "$work/run.json"
check $? "gains that are off are found: $(cat "$work/err")"
grep -A 8 '"drift": \[' "$work/run.json" >/dev/null && tr -d '\n' <"$work/run.json" | grep -o '"gain": [0-9.]*,  *"phase_deg": [-0-9.]*' |
    awk '{ sub(/,/, "", $2); if ($2 > 1.07 && $2 < 1.14 && $4 > 5 && $4 < 9) up++; else if ($2 < 0.94 && $2 > 0.87 && $4 < -5 && $4 > -9) down++
           else if ($2 > 1.03 || $2 < 0.97) bad++ } END { exit !(up == 2 && down == 2 && !bad) }'
check $? "gains and phases: $(grep -A 1 '"gain"' "$work/run.json" | tr -d '\n')"
(with_mpi; drifts mpirun -n 2 "$bin" --model-out "$work/two.csv") && cmp -s "$work/one.csv" "$work/two.csv"
check $? "drift on two ranks: $(cat "$work/err")"
"$bin" "$work/off.csv" --model-in "$work/truth.csv" --drift 0.1 --iterations 2 --quiet --json "$work/run.json" --compare naive,heft 2>"$work/err"
grep -q '"psnr_db": "infinite"' "$work/run.json" && ! grep -q '"psnr_db": [0-9]' "$work/run.json"
check $? "drift begins anew in every run: $(cat "$work/err")"
for option in "--checkpoint $work/state" '--residual complex' '--use real'; do
    refuses "--drift with $option" 'follow from logarithms' "$bin" "$work/off.csv" --drift 0.1 $option
done
sed 's/e-1[0-9]$/e-30/' "$survey" >"$work/sure.csv"
"$bin" "$work/sure.csv" $quick --iterations 1 2>"$work/err"
[ $? = 1 ] && grep -q 'is off by [0-9]* errors' "$work/err"
check $? "errors that are far too small: $(cat "$work/err")"
exit $failed
