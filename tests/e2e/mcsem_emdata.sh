#!/usr/bin/env bash
# tests/e2e/mcsem_emdata.sh – MARE2DEM's data files: a survey converted to one is the same survey,
# for every data type, version and phase convention; errors are reported with their line.
. tests/check.sh
skip_under_sanitizers 'e2e/mcsem runs a part of a survey'
bin=${BIN:-bin}/mcsem
survey=$work/survey.emdata
"$bin" --generate tiny --out "$work/survey.csv" && "$bin" --generate tiny --out "$survey"
check $? 'a survey is written in both formats'
head -1 "$survey" | grep -q '^Format: EMData_2.2$' && grep -q '^# Data: 1280$' "$survey"
check $? 'its blocks'

# The same model, to the last bit.
run() { # survey, output
    "$bin" "$1" --iterations 1 --target 20 --layout 1x1 --quiet --model-out "$2" 2>"$work/err"
}
run "$work/survey.csv" "$work/table.model" && run "$survey" "$work/emdata.model" &&
    cmp -s "$work/table.model" "$work/emdata.model"
check $? 'the same model from both'

# Amplitudes (or their logarithms) and phases, lagging, version 2.3, rows upside down, data of other
# methods, comments: the same numbers but for rounding.
polar() { # 21 or 27
    awk -v log10="$(($1 == 27))" '
        /^Format/ { print "Format: EMData_2.3   ! comment"; next }
        /^! (earth|sea)/ { print; next }
        /^!/ { next }
        /^Phase/ { print "phase convention: LAG"; print "# MT Frequencies: 1"; print "0.01"; next }
        /edipole/ { print $1, $2, $3, $4, $5, $6, 0, $7, $8, "% a shot"; next }
        /^# Data/ { data = 1; n = $3; next }
        !data { print; next }
        $1 == 1 { re = $5; next }
        { a = sqrt(re^2 + $5^2); p = -atan2($5, re) * 45 / atan2(1, 1)
          row[++k] = "22 " $2 " " $3 " " $4 " " sprintf("%.14g %.14g", p, $6 / a * 45 / atan2(1, 1))
          row[++k] = log10 ? "27 " $2 " " $3 " " $4 " " sprintf("%.14g %.14g", log(a) / log(10), $6 / a / log(10)) \
                           : "21 " $2 " " $3 " " $4 " " sprintf("%.14g %.14g", a, $6) }
        END { print "# Data: " n + 1; while (k) print row[k--]; print "103 1 0 1 2.5 0.1" }' "$survey"
}
rms() { # survey: its misfit at the start
    "$bin" "$1" --iterations 0 --layout 1x1 --quiet --json - 2>"$work/err" |
        sed -n 's/.*"rms_at_start": \([0-9.]*\).*/\1/p'
}
want=$(rms "$survey")
for kind in 21 27; do
    polar $kind >"$work/polar.emdata"
    got=$(rms "$work/polar.emdata")
    awk -v a="$got" -v b="$want" 'BEGIN { exit !(b > 20 && a - b < 1e-7 && b - a < 1e-7) }'
    check $? "type $kind with phases: $want, $got, $(cat "$work/err")"
    grep -q '1 data are of kinds that are not inverted' "$work/err"
    check $? 'another method is mentioned'
done

# No word of the earth: a grid below the midpoints.
{ printf '\357\273\277'; cat "$survey"; } >"$work/marked.emdata"
got=$(rms "$work/marked.emdata")
[ "$got" = "$want" ]
check $? "behind a byte-order mark: $got, $want"
sed '/^! /d' "$survey" >"$work/plain.emdata"
"$bin" "$work/plain.emdata" --earth nz=5,dz=200 --iterations 0 --quiet --json "$work/run.json" 2>"$work/err" &&
    grep -q '"cells": [1-9]' "$work/run.json" && grep -q '"layers": 5' "$work/run.json"
check $? "a grid of its own: $(cat "$work/err")"

# Lengths of receivers: level channels of E are wires, upright ones points, which is said.
awk '/^# CSEM Rec/ { wires = 1 } / 0 0 R[13]$/ && wires { sub(/0 R/, "30 R") } { print }' "$survey" >"$work/wires.emdata"
sed -i 's/ 30 R/ 20 R/' "$work/wires.emdata"
for mode in shared exact; do
    "$bin" "$work/wires.emdata" --mode $mode --forward-survey --out "$work/wires.$mode.emdata" 2>"$work/err" && [ ! -s "$work/err" ] &&
        "$bin" "$survey" --mode $mode --forward-survey --out "$work/points.$mode.emdata"
    check $? "receivers' wires in $mode mode: $(cat "$work/err")"
done
grep -q ' 20 R' "$work/wires.exact.emdata" && paste <(grep '^[12] [12] ' "$work/wires.shared.emdata" | cut -d' ' -f5) \
    <(grep '^[12] [12] ' "$work/wires.exact.emdata" | cut -d' ' -f5) |
    awk '{ if (($1 - $2)^2 > 1e-9 * ($2^2 + 1e-30)) bad++; n++ } END { exit bad > 0 || n < 600 }'
check $? "wires in both modes: $(head -20 "$work/wires.shared.emdata")"
cmp -s "$work/wires.exact.emdata" "$work/points.exact.emdata"
[ $? = 1 ]
check $? 'wires are no points'
awk '/^# Data/ { data = 1 } data && $1 == 1 { $1 = 5 } data && $1 == 2 { $1 = 6 } { print }' "$work/wires.emdata" >"$work/upright.emdata"
"$bin" "$work/upright.emdata" --forward-survey --out "$work/up.emdata" 2>"$work/err" && grep -q 'not level; they are taken as points' "$work/err"
check $? "upright channels: $(cat "$work/err")"
"$bin" "$work/wires.exact.emdata" --forward-survey --out "$work/wires.csv" && grep -q ',rec_len_m$' "$work/wires.csv" && grep -q ',20$' "$work/wires.csv" &&
    "$bin" "$work/wires.csv" --mode exact --residual complex --iterations 0 --quiet --json "$work/run.json" &&
    awk -v rms="$(number rms "$work/run.json")" 'BEGIN { exit !(rms < 1e-3) }'
check $? "wires in a table: $(number rms "$work/run.json")"

# The older format: names, a length for all, heads of columns; receivers of 1.0 without angles.
"$bin" "$survey" --iterations 0 --quiet --json "$work/run.json"
for version in 1.0 1.2; do
    awk -v version=$version '/^Format/ { print "Format: EMDATA_" version; print "Dipole Length: 270"; print "# Integ Pts: 10"; next }
        /^Phase/ { print "Phase: lead"; next }
        /^UTM/ { next }
        /^#/ { block = $2 $3; sub(/CSEM /, ""); print; print "#  heads of columns"; next }
        /^!/ { print; next }
        block ~ /^Transmitters/ { print $1, $2, $3, $4, $5; next }
        block ~ /^CSEMReceivers/ && version == 1.0 { print $1, $2, $3; next }
        block ~ /^Data/ { $1 = $1 == 1 ? "ReEx" : $1 == 2 ? "imagEX" : $1 } { print }' "$survey" >"$work/old.emdata"
    "$bin" "$work/old.emdata" --iterations 0 --quiet --json "$work/again.json"
    check $? "EMData_$version"
    [ "$(number rms "$work/run.json")" = "$(number rms "$work/again.json")" ]
    check $? "the misfit of EMData_$version: $(number rms "$work/run.json") $(number rms "$work/again.json")"
done
sed 's/^# Integ Pts/# Solve Orientations/' "$work/old.emdata" >"$work/bad.emdata"
refuses 'orientations' "effect of '# Solve Orientations'" "$bin" "$work/bad.emdata" --iterations 0

# Half a datum counts half; amplitudes or phases alone, as a file has them, are those of --use; a
# response file is a file of data, and has the response and what is left of it.
sed '$d; s/^# Data: 1280/# Data: 1279/' "$survey" >"$work/half.emdata"
"$bin" "$work/half.emdata" --iterations 0 --quiet --json "$work/run.json" 2>"$work/err" && [ "$(number data "$work/run.json")" = 639 ]
check $? "half a datum: $(cat "$work/err")"
polar() { # keep: amplitudes (0), phases (1)
    awk -v keep="$1" '/^# Data/ { data = 1; print "# Data: 640"; next } !data || /^!/ { print; next }
        $1 == 1 { re = $5; next }
        { a = sqrt(re * re + $5 * $5); pi = atan2(0, -1)
          if (keep) printf "22 %s %s %s %.15g %.15g\n", $2, $3, $4, atan2($5, re) * 180 / pi, $6 / a * 180 / pi
          else printf "21 %s %s %s %.15g %.15g\n", $2, $3, $4, a, $6 }' "$survey"
}
for part in amplitude phase; do
    polar "$([ $part = phase ] && echo 1 || echo 0)" >"$work/polar.emdata"
    "$bin" "$survey" --use $part --iterations 0 --quiet --json "$work/used.json" --responses "$work/used.resp" &&
        "$bin" "$work/polar.emdata" --iterations 0 --quiet --json "$work/run.json" &&
        "$bin" "$work/used.resp" --iterations 0 --quiet --json "$work/again.json"
    check $? "$part alone"
    awk -v a="$(number rms "$work/used.json")" -v b="$(number rms "$work/run.json")" -v c="$(number rms "$work/again.json")" \
        'BEGIN { exit !(a > 0.5 && (a - b)^2 < 1e-12 * a * a && (a - c)^2 < 1e-12 * a * a) }'
    check $? "the same misfit: $(number rms "$work/used.json") $(number rms "$work/run.json") $(number rms "$work/again.json")"
    awk '/^# Data/ { data = 1; next } data && !/^!/ { if (NF != 8 || $1 != ($1 == 21 ? 21 : 22)) bad = 1
        if ($1 == 21 && ($8 - ($5 - $7) / $6)^2 > 1e-4) bad = 1; n++ } END { exit bad || n != 640 }' "$work/used.resp"
    check $? "responses of ${part}s: $(tail -1 "$work/used.resp")"
done

# Errors are raised where a table says so.
printf 'freq_hz,component,rec_x,relative,floor\n,,,0.02,\n0.25,Ex,,0.3,0\n' >"$work/errors.csv"
"$bin" "$survey" --iterations 0 --quiet --errors "$work/errors.csv" --responses "$work/raised.csv" && "$bin" "$survey" --iterations 0 --quiet --responses "$work/plain.csv" &&
    paste -d, "$work/plain.csv" "$work/raised.csv" | awk -F, 'NR > 1 { a = 0.3 * sqrt($10^2 + $11^2)
        want = $9 == 0.25 && a > $12 ? a : $12; if (($28 - want)^2 > 1e-12 * want^2) bad = 1; more += $28 > 2 * $12 } END { exit bad || !more }'
check $? 'errors of one frequency are raised'
refuses 'errors without a rule' "neither a column 'relative'" "$bin" "$survey" --iterations 0 --errors "$work/plain.csv"

# Turned channels have names of their own, are no columns of a table, and each has its own noise.
printf '%s\n' 'Format: EMData_2.2' '! earth nx=1,ny=1,nz=3,dz=200,seabed=1000' '# CSEM Frequencies: 1' 1 '# Transmitters: 1' \
    '0 0 960 90 0 0 edipole T' '# CSEM Receivers: 1' '300 2000 999.9 30 0 0 0 R' '# Data: 4' '1 1 1 1 1e-13 1e-15' \
    '2 1 1 1 1e-13 1e-15' '3 1 1 1 1e-13 1e-15' '4 1 1 1 1e-13 1e-15' >"$work/turned.emdata"
refuses 'a table of turned channels' 'line 10 is turned: end the name in .emdata' \
    "$bin" "$work/turned.emdata" --forward-survey --out "$work/turned.csv"
"$bin" "$work/turned.emdata" --forward-survey --out "$work/clean.emdata" &&
    "$bin" "$work/turned.emdata" --forward-survey --noise 0.01 --out "$work/noisy.emdata" &&
    paste <(grep '^[12] 1 1' "$work/clean.emdata") <(grep '^[12] 1 1' "$work/noisy.emdata") |
    awk '{ x[NR] = ($11 - $5) / $12 } END { exit !(NR == 4 && (x[1] - x[3])^2 > 1e-4 && (x[2] - x[4])^2 > 1e-4) }'
check $? 'each channel has its own noise'
"$bin" "$work/turned.emdata" --earth nx=2,dx=9999 --forward-survey --out "$work/clean.emdata" 2>"$work/err" && [ ! -s "$work/err" ]
check $? 'fields of an earth need no data in its columns'
"$bin" "$work/turned.emdata" --iterations 0 --quiet --responses "$work/turned.csv" && grep -q ',E,1,' "$work/turned.csv"
check $? 'a turned channel is none of the axes'

# Magnetic sources: E at a receiver is what, by reciprocity, B of an electric dipole there tells; tables hold them, too.
loops() { # rows of data
    printf '%s\n' 'Format: EMData_2.2' '! earth nx=1,ny=1,nz=3,dz=200,seabed=1000,start=3' 'Phase Convention: lead' \
        '# CSEM Frequencies: 1' 2 '# Transmitters: 2' '0 0 960 30 10 0 bdipole T' '300 2000 999.9 0 0 0 edipole T' \
        '# CSEM Receivers: 2' '300 2000 999.9 0 0 0 0 R' '0 0 960 30 10 0 0 R' "# Data: $#" "$@"
}
loops '1 1 1 1 1e-16 1e-18' '2 1 1 1 1e-16 1e-18' '11 1 2 2 1e-18 1e-20' '12 1 2 2 1e-18 1e-20' >"$work/loops.emdata"
"$bin" "$work/loops.emdata" --forward-survey --out "$work/clean.emdata" && grep -q '^0 0 960 30 10 0 bdipole' "$work/clean.emdata" &&
    awk '/^# Data/ { data = 1 } data && NF == 6 { v[$1] = $5 } # E = -i w B
         END { re = 4 * atan2(0, -1) * v[12]; im = -4 * atan2(0, -1) * v[11]; size = sqrt(re^2 + im^2)
               exit !(size > 0 && sqrt((re - v[1])^2 + (im - v[2])^2) < 1e-8 * size) }' "$work/clean.emdata"
check $? "loops by reciprocity: $(tail -4 "$work/clean.emdata")"
loops '5 1 1 1 1e-16 1e-18' '6 1 1 1 1e-16 1e-18' '11 1 1 1 1e-20 1e-22' '12 1 1 1 1e-20 1e-22' >"$work/own.emdata"
"$bin" "$work/own.emdata" --forward-survey --out "$work/own.csv" && grep -q ',src_kind$' "$work/own.csv" && grep -q ',loop$' "$work/own.csv" &&
    "$bin" "$work/own.csv" --iterations 0 --quiet --residual complex --json "$work/run.json" &&
    awk -v rms="$(number rms "$work/run.json")" 'BEGIN { exit !(rms < 1e-3) }'
check $? "loops in a table: $(number rms "$work/run.json") $(cat "$work/own.csv")"
sed 's/10 0 bdipole/10 5 bdipole/' "$work/own.emdata" >"$work/long.emdata"
"$bin" "$work/long.emdata" --iterations 0 --quiet 2>"$work/err"
grep -q '1 magnetic sources have a length' "$work/err"
check $? "loops with a length: $(cat "$work/err")"

spoil() { # sed script, pattern
    sed "$1" "$survey" >"$work/bad.emdata"
    "$bin" "$work/bad.emdata" --iterations 0 >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q -- "$2" "$work/err"
    check $? "$1 is refused: $(cat "$work/err")"
}
data=$(grep -n '^# Data' "$survey" | cut -d: -f1)
row=$((data + 2))
spoil '1s/2.2/1.3/' "bad.emdata:1: format 'EMData_1.3'"
spoil "${row}s/^1/Rex/" "bad.emdata:$row: 'Rex' is not a data type"
spoil '4s/lead/sideways/' 'bad.emdata:4: phase convention'
spoil '7s/.*/-0.25/' 'bad.emdata:7: frequency -0.25 Hz'
spoil '12s/edipole/loop/' "bad.emdata:12: source type 'loop'"
spoil '12s/^[^ ]* [^ ]* [^ ]*/0 0 -5/' 'source reaches'
spoil '13s/.*/1 2 3/' 'bad.emdata:13: a transmitter needs'
spoil "${row}s/^1 1/1 4/" "bad.emdata:$row: frequency 4, there are 1 to 2"
spoil "${row}s/^1 1 [0-9]*/1 1 99999/" "bad.emdata:$row: transmitter 99999"
spoil "${row}s/[^ ]*\$/0/" "bad.emdata:$row: standard error 0"
spoil "${row}s/[^ ]* [^ ]*\$/nan 1e-15/" "bad.emdata:$row: 'nan'"
spoil "$((row + 1))s/^2/1/" "bad.emdata:$((row + 1)): line $row has this number"
spoil '1300,$d' 'cut short' 
spoil '500,$d' 'cut short'
spoil "${data},\$d" "no block '# Data'"
spoil '3s/.*/! sea water/' "sea"
spoil '/^# Transm/s/: .*/: many/' "not a number of rows"
exit $failed
