#!/usr/bin/env bash
# tests/e2e/mcsem.sh – bin/mcsem from the command line: inverts a synthetic survey to the same model
# for any layout, policy and number of ranks, and after an interruption; single fields; refused
# input.
. tests/check.sh
bin=${BIN:-bin}/mcsem
survey=$work/survey.csv
# A larger survey where there is time: a third of the pairs over all cells.
what=tiny pairs=320 frequencies=2 corner='6 4 13'
[ -n "${EK_LONG:-}" ] && what=small pairs=4000 frequencies=3 share='--scale 0.35' corner='12 6 31'
"$bin" --generate $what ${share:-} --out "$survey" --truth "$work/truth.vtk"
check $? 'a survey is generated'
grep -q "^DIMENSIONS $corner" "$work/truth.vtk"
check $? 'its model is written'
"$bin" --generate $what --scale 0.1 --out "$work/tenth.csv" && [ "$(head -1 "$work/tenth.csv")" = "# survey of $((pairs / 10)) pairs" ]
check $? 'a tenth of it'

# Sanitizers make each field fifty times as long: they see a part of the survey over few cells.
few="--iterations 2 --quiet --target 15"
[ -n "${SAN:-}" ] && few="$few --earth nx=3,ny=2,nz=8 --drop-outside"
"$bin" "$survey" $few --layout 1x1 --json "$work/run.json" --model-out "$work/model.csv" \
    --responses "$work/responses.csv" --history "$work/history.csv" --models "$work/model"
check $? 'it is inverted'
python=$(command -v python3 || echo true)
"$python" - "$work/run.json" <<'EOF'
import json, os, sys
run = json.load(open(sys.argv[1]))
v = run["verification"]
part = bool(os.environ.get("SAN"))
assert run["verified"] and v["iterations"] == 2 and (part or v["rms"] < 0.8 * v["rms_at_start"]), v
assert v["difference_from_exact"] < 1e-5 and run["shared_difference"] <= 1e-5
assert run["empty_cells"] == [] and (part or run["pairs"] > 300) and len(run["history"]) >= 3
EOF
check $? 'JSON says so'
cmp -s "$work/model.csv" "$work/model.2.csv" && { [ -n "${SAN:-}" ] || [ "$(($(wc -l <"$work/responses.csv") - 1))" = $((frequencies * $(sed -n 's/.*"pairs": \([0-9]*\).*/\1/p' "$work/run.json" | head -1))) ]; }
check $? 'models of iterations, responses'

for how in '--layout 2x1 --schedule dynamic' '--layout 1x2' '--layout 2x1 --schedule naive'; do
    "$bin" "$survey" $few $how --model-out "$work/other.csv" && cmp -s "$work/model.csv" "$work/other.csv"
    check $? "the same model with $how"
done
if command -v mpirun >/dev/null; then
    (with_mpi; mpirun --oversubscribe -n 3 "$bin" "$survey" $few --layout 1x1 --schedule heft --model-out "$work/other.csv") &&
        cmp -s "$work/model.csv" "$work/other.csv"
    check $? 'the same model on three ranks'
fi
CU_FAULT=unit:1@step:2 "$bin" "$survey" $few --layout 2x1 --model-out "$work/other.csv" 2>/dev/null &&
    cmp -s "$work/model.csv" "$work/other.csv"
check $? 'the same model though a unit dies'

# A device beside a cpu unit, in both modes, with EK_LONG under every policy: the same bits as without it. Of the
# survey every 40th pair is enough for exact mode, and fewer where sanitizers make it slow.
every=40 policies=dynamic,heft,static least=3
device=$(has_opencl && echo opencl:0 || echo host:0)
[ -n "${EK_LONG:-}" ] && policies=all least=15
[ -n "${SAN:-}" ] && every=60
awk -v every=$every -v n=$frequencies 'NR == 2 || NR == 3 || NR == 5 || (NR > 5 && int((NR - 6) / n) % every == 0)' \
    "$survey" >"$work/few.csv"
exact="--mode exact --iterations 1 --quiet --target 20"
"$bin" "$work/few.csv" $exact --layout 1x1 --model-out "$work/exact.csv" --json "$work/exact.json" 2>/dev/null
check $? 'exact mode'
"$bin" "$survey" $few --layout 1x1+1 --devices $device --schedule dynamic --model-out "$work/other.csv" &&
    cmp -s "$work/model.csv" "$work/other.csv"
check $? 'the same model with a device in shared mode'
if [ -n "${EK_LONG:-}" ]; then # without: in exact mode, below
    "$bin" "$survey" $few --layout 0x0+1x3 --devices host:0 --model-out "$work/other.csv" &&
        cmp -s "$work/model.csv" "$work/other.csv"
    check $? 'the same model on a device that three threads feed'
fi
for device in '0x0+1 --devices host:0' "0x0+1 --devices $device" '0x0+1x3 --devices host:0'; do
    "$bin" "$work/few.csv" $exact --layout $device --model-out "$work/other.csv" 2>/dev/null &&
        cmp -s "$work/exact.csv" "$work/other.csv"
    check $? "the same model on $device alone in exact mode"
done
"$bin" "$work/few.csv" $exact --layout 1x1+1 --devices host:0 --compare $policies --json "$work/all.json" 2>/dev/null
check $? 'every policy'
"$python" - "$work/exact.json" "$work/all.json" $least <<'EOF'
import json, sys
alone, runs = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["runs"]
assert len(runs) >= int(sys.argv[3]) and all(r["verified"] for r in runs)
assert {r["verification"]["rms"] for r in runs} == {alone["verification"]["rms"]}
EOF
check $? 'the same misfit under every policy'

# Killed after the first iteration, taken up again.
"$bin" "$survey" $few --layout 1x1 --checkpoint "$work/state" --model-out "$work/other.csv" &
pid=$!
for _ in $(seq 600); do
    sleep 0.02
    grep -q '"iteration": 1' "$work/state" 2>/dev/null && break
done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
rm -f "$work/other.csv"
[ -e "$work/state" ]
check $? 'there is a checkpoint'
sed 's/"m":/"n":/' "$work/state" >"$work/broken"
refuses 'a damaged checkpoint' 'start afresh' "$bin" "$survey" $few --checkpoint "$work/broken"
for other in '--step 0.5' '--difference 1e-6' '--earth anisotropy=1.1' '--sea 0:0.3125;1:0.3125'; do
    refuses "the checkpoint of a run without $other" 'other options' "$bin" "$survey" $few $other --checkpoint "$work/state"
done
"$bin" "$survey" $few --layout 1x1 --checkpoint "$work/state" --model-out "$work/other.csv" &&
    cmp -s "$work/model.csv" "$work/other.csv" && [ ! -e "$work/state" ]
check $? 'the same model after an interruption'
CU_FAULT=rank:0@step:3 "$bin" "$work/few.csv" $exact --layout 1x1 --checkpoint "$work/state" 2>/dev/null
"$bin" "$work/few.csv" $exact --iterations 0 --checkpoint "$work/state" 2>"$work/err"
check $? "after rejected trials, the accepted model's fields: $(cat "$work/err")"

# Single fields.
cp tests/data/mcsem/fields.csv "$work/cases.csv"
"$bin" --forward "$work/cases.csv" --out "$work/fields.csv" 2>"$work/said"
check $? 'fields of a table'
paste -d, "$work/fields.csv" <(cut -d, -f22,23 "$work/cases.csv") | awk -F, '
    NR > 1 { d = sqrt(($2-$4)^2 + ($3-$5)^2) / sqrt($4^2 + $5^2); if (d > 1e-7) bad++; n++ }
    END { exit !(n == 414 && !bad) }'
check $? 'they are the reference'"'"'s'

# What is wrong is said with its line.
spoil() { # sed script, pattern
    sed "$1" "$survey" >"$work/bad.csv"
    refuses "$1" "$2" "$bin" "$work/bad.csv" $few
}
spoil '6s/,999.9,Ex/,-3,Ex/' 'bad.csv:6: the receiver is 3 m above'
spoil '7s/Ex,[0-9.]*/Ex,0/' 'bad.csv:7: frequency 0 Hz'
spoil '8s/\(Ex,[0-9.]*\),[^,]*/\1,nan/' 'bad.csv:8: '
spoil '8s/\(Ex,[0-9.]*\),[^,]*/\1,x/' 'bad.csv:8: '
spoil '8s/\(Ex,[0-9.]*\),[^,]*,[^,]*/\1,nan,nan/' "bad.csv:8: re is 'nan'"
spoil '2s/start=1/start=-1/' 'bad.csv:2: start'
# of a pair, its first line is named
spoil '8s/\(Ex,[0-9.]*\),[^,]*/\1,1e300/' 'bad.csv:[0-9]*: the field .* times its standard error'
spoil '300,$d' 'cut short'
spoil '8p' 'too long'
spoil '9,$s/Ex/Q/' 'component'
head -c 30000 "$survey" >"$work/bad.csv"
refuses 'a file cut short' 'bad.csv:' "$bin" "$work/bad.csv" $few
refuses 'an output that an inversion does not have' 'model-out' "$bin" "$survey" $few --out "$work/none"
refuses 'no survey' 'no survey is given' "$bin" --iterations 2
refuses 'no such survey' 'nowhere.csv' "$bin" nowhere.csv
spoil_case() { # column, what stands in its third line instead, pattern
    awk -F, -v OFS=, -v name="$1" -v value="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == 3 { $column = value } { print }' "$work/cases.csv" >"$work/bad.csv"
    refuses "$1 = '$2'" "bad.csv:3: .*$3" "$bin" --forward "$work/bad.csv" --out "$work/none"
}
spoil_case rho_h_ohmm '-1;0.3125;1' 'resistivity of layer 1'
spoil_case rho_h_ohmm '1e12;nan;1' rho_h_ohmm
spoil_case rho_h_ohmm '1e12;0;1' 'resistivity of layer 2'
spoil_case rho_v_ohmm '1e12;0.3;inf' rho_v_ohmm
spoil_case rho_v_ohmm '1e12;0.3' 'do not fit'
spoil_case interfaces_z_m '1000;0' 'does not lie below'
spoil_case interfaces_z_m '0;x' interfaces_z_m
spoil_case interfaces_z_m '' 'do not fit'
spoil_case n_layers 4 n_layers
spoil_case freq_hz 0 frequency
spoil_case freq_hz -0.25 frequency
spoil_case freq_hz nan freq_hz
spoil_case freq_hz '' freq_hz
spoil_case src_z -1 'above the sea surface'
spoil_case rec_z -0.5 'above the sea surface'
spoil_case rec_x inf rec_x
spoil_case src_azimuth_deg north src_azimuth_deg
spoil_case component Jx component
spoil_case src_kind coil src_kind
[ ! -e "$work/none" ]
check $? 'nothing is written where a case is wrong'
{
    echo "id,freq_hz,src_len_m,src_x,src_y,src_z,src_azimuth_deg,src_dip_deg,rec_x,rec_y,rec_z,component,interfaces_z_m,rho_h_ohmm,aniso_lambda"
    echo "a,1,0,0,0,900,0,0,10,0,900,Ex,0;1000,1e12;0.3;1,1;1;2"
    echo "b,1,100,0,0,900,0,0,40,0,900,Ex,0;1000,1e12;0.3;1,1;1;2"
} >"$work/bad.csv"
refuses 'a wire through the receiver' 'bad.csv:3: .*touches' "$bin" --forward "$work/bad.csv"
sed '3s/,1;1;2$/,1;1;-2/' "$work/bad.csv" >"$work/negative.csv"
refuses 'an anisotropy below 0' 'negative.csv:3: resistivity of layer 3' "$bin" --forward "$work/negative.csv"
sed '3d; s/aniso_lambda/rho_v_ohmm/; s/,1;1;2$/,1e12;0.3;4/' "$work/bad.csv" >"$work/vertical.csv"
sed -i 3d "$work/bad.csv"
[ "$("$bin" --forward "$work/bad.csv")" = "$("$bin" --forward "$work/vertical.csv")" ]
check $? 'aniso_lambda is the root of rho_v / rho_h'

sed '5s/[^,]*$/-2/' "$work/model.csv" >"$work/bad.csv"
refuses 'a model of negative resistivity' 'bad.csv:5: resistivity -2 ohm m' "$bin" "$survey" $few --model-in "$work/bad.csv"
sed '$d' "$work/model.csv" >"$work/bad.csv"
refuses 'a model cut short' 'rows are not [0-9]* columns of [0-9]* layers' "$bin" "$survey" $few --model-in "$work/bad.csv"
spoil_model() { # awk program, pattern
    awk -F, -v OFS=, "$1" "$work/model.csv" >"$work/bad.csv"
    refuses "a model after $1" "bad.csv:4: .*$2" "$bin" "$survey" $few --model-in "$work/bad.csv"
}
spoil_model 'NR == 4 { $0 = last } { print; last = $0 }' 'given twice'
spoil_model 'NR > 3 { $5 += 50 } { print }' 'of another grid'
spoil_model '{ print $0, (NR > 1 ? (1 + (NR > 3)) * $6 : "rho_v_ohmm") }' 'give --vertical'
"$bin" "$survey" --forward-survey --vertical --earth "$work/bad.csv" --out "$work/one" &&
    "$bin" "$survey" --forward-survey --vertical --model-in "$work/bad.csv" --out "$work/other" && cmp "$work/one" "$work/other"
check $? 'an earth of given vertical resistivities'

# Cells without data are listed; pairs outside the grid may be left out.
"$bin" --generate tiny --out "$work/tiny.csv" --quiet
"$bin" "$work/tiny.csv" --earth nx=8 --iterations 0 --json "$work/run.json" --quiet 2>"$work/err"
grep -q 'of 24 cells have no data' "$work/err" && grep -q empty_cells "$work/run.json"
check $? "empty cells are listed: $(cat "$work/err")"
"$bin" "$survey" --earth nx=4 --drop-outside --iterations 0 --json - --quiet | grep -q '"dropped_pairs": [1-9]'
check $? 'pairs outside the grid are left out'
exit $failed
