#!/usr/bin/env bash
# tests/e2e/mcsem_inversion.sh – the result of an inversion: data explained to their errors within
# 15 or 20 iterations, the body at its place, and (EK_LONG=1) nothing where there is none.
. tests/check.sh
skip_under_sanitizers 'e2e/mcsem runs a part of a survey'
bin=${BIN:-bin}/mcsem
what=tiny columns=5 iterations=15
[ -n "${EK_LONG:-}" ] && what=small columns=11 iterations=20
"$bin" --generate $what --out "$work/survey.csv" --truth "$work/truth.csv"
check $? 'a survey with one body'
"$bin" "$work/survey.csv" --iterations $iterations --layout 2x1 --model-out "$work/model.csv" \
    --history "$work/history.csv" >"$work/out"
check $? 'it is inverted'
grep -q 'BLAS: .*openblas' "$work/out"
check $? 'the BLAS is named'
tail -1 "$work/history.csv" | awk -F, '{ exit !($3 > 0.95 && $3 < 1.08) }'
check $? "RMS misfit near 1: $(tail -1 "$work/history.csv")"

# Centre of log-resistivity in columns, rows and layers.
centre() {
    awk -F, -v n=$columns 'NR > 1 { w = log($6 / 3); if (w < 0) w = 0
                      s += w; x += w * ($1 % n); y += w * int($1 / n); z += w * $2 }
             END { print x / s, y / s, z / s }' "$1"
}
paste -d ' ' <(centre "$work/truth.csv") <(centre "$work/model.csv") | awk '
    function apart(a, b) { return a > b ? a - b : b - a }
    { exit !(apart($1, $4) < 1 && apart($2, $5) < 1 && apart($3, $6) < 1) }'
check $? "the body is at $(centre "$work/truth.csv"), found at $(centre "$work/model.csv")"

# In the larger survey, column by column: the deepest, strongest layer within one of the body's, 10 to 90 ohm m; elsewhere
# less than 3 ohm m.
[ $what = tiny ] || paste -d, "$work/truth.csv" "$work/model.csv" | awk -F, '
    NR > 1 { if ($6 > most[$1]) { most[$1] = $6; } if ($6 > 2 && !($1 in first)) first[$1] = $2
             if ($6 > 2) last[$1] = $2
             if ($12 > found[$1]) { found[$1] = $12; at[$1] = $2 } }
    END { for (c in most) {
              wrong = most[c] > 2 && (found[c] < 10 || found[c] > 90 || at[c] < first[c] - 1 || at[c] > last[c] + 1)
              if (wrong || (most[c] < 2 && found[c] > 3)) {
                  print "column " c ": " found[c] " at layer " at[c]
                  bad = 1
              } }
          exit bad }'
check $? 'each column'
exit $failed
