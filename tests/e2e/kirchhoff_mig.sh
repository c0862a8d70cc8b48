#!/usr/bin/env bash
# tests/e2e/kirchhoff_mig.sh – bin/kirchhoff-mig from the command line: from synthetic data to
# images, the same bits on every unit, policy and number of ranks; files for other programs; refused
# input.
set -u
bin=${BIN:-bin}/kirchhoff-mig
. tests/check.sh
data=$work/data.segy
python=$(command -v python3 || echo true)
"$bin" --generate medium --out "$data"
check $? 'a survey is generated'
"$bin" --generate small --out "$work/small.segy"
tables='--velocity gradient:v0=2000,k=0.5 --node-spacing 400'
usual="$tables --grid 9x9x41:50x50x10@1300,1300,800 --weight diffractor --spacing-receiver 25 --chunk 64 --quiet"

# One image, whoever makes it.
"$bin" "$data" $usual --deterministic --layout 1x1 --out "$work/image.segy" --raw "$work/image" --json "$work/run.json"
check $? 'it is migrated'
for how in '--layout 2x1 --schedule dynamic' '--layout 1x1+1 --devices opencl:0 --schedule greedy' \
    '--layout 1x1+1 --devices host:0 --compare static,evenkeel' '--layout 1x1 --max-memory 0.05' '--layout 1x1 --chunk 100' \
    ${EK_LONG:+'--layout 1x2 --schedule gss' '--layout 0x0+1 --devices opencl:0'}; do
    "$bin" "$data" $usual --deterministic $how --raw "$work/other" >/dev/null 2>"$work/err"
    rc=$?
    [ $rc = 3 ] && grep -q 'opencl' "$work/err" && continue
    [ $rc = 0 ] && cmp -s "$work/image.f32" "$work/other.f32" && cmp -s "$work/image.fold.f32" "$work/other.fold.f32"
    check $? "the same bits with $how: $(cat "$work/err")"
done
# Depths that do not end at a node, on the host and on a device.
odd="$tables --grid 3x3x31:50x50x40@1300,1300,100 --weight diffractor --quiet --deterministic"
"$bin" "$work/small.segy" $odd --layout 1x1 --raw "$work/odd" &&
    "$bin" "$work/small.segy" $odd --layout 0x0+1 --devices host:0 --raw "$work/other" && cmp -s "$work/odd.f32" "$work/other.f32"
check $? 'the same bits of 31 depths on a device'
for aperture in ${EK_LONG:+'--aperture 90'} '--aperture 400 --taper 0' '--aperture-base 30 --dip 30'; do
    "$bin" "$work/small.segy" $odd --layout 1x1 --raw "$work/near" $aperture && ! cmp -s "$work/odd.f32" "$work/near.f32" &&
        "$bin" "$work/small.segy" $odd --layout 0x0+1 --devices host:0 --raw "$work/other" $aperture && cmp -s "$work/near.f32" "$work/other.f32" &&
        cmp -s "$work/near.fold.f32" "$work/other.fold.f32"
    check $? "the same bits on a device with $aperture"
done
# More columns than a device has room for rows: they follow in windows.
wide="$tables --grid 41x37x5:10x10x10@1200,1200,980 --weight kinematic --quiet --deterministic"
"$bin" "$work/small.segy" $wide --layout 1x1 --raw "$work/wide" &&
    "$bin" "$work/small.segy" $wide --layout 0x0+1 --devices host:0 --raw "$work/other" && cmp -s "$work/wide.f32" "$work/other.f32"
check $? 'the same bits of 1,517 columns on a device'
# A line, and what is left out of traces.
line="$tables --grid 9x1x43:50x50x10@900,1500,800 --weight amplitude --line auto --mute 0:0.2,2000:1.3 --offset-max 2500 \
--offset-taper 300 --quiet --deterministic"
"$bin" "$data" $line --layout 1x2 --raw "$work/line" --json "$work/line.json" &&
    "$bin" "$data" $line --layout 0x0+1 --devices host:0 --raw "$work/other" && cmp -s "$work/line.f32" "$work/other.f32" &&
    cmp -s "$work/line.fold.f32" "$work/other.fold.f32" && grep -q '"dimension": "2.5"' "$work/line.json" &&
    grep -q '"filter": "half"' "$work/line.json" && [ "$(number silent_traces "$work/line.json")" = 0.0 ]
check $? "the same bits of a line on a device: $(cat "$work/line.json")"
# Far from the origin of coordinates the image is the same, with a small aperture, too.
"$python" - "$work/small.segy" "$work/far.segy" <<'PY'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
for at in range(3600, len(data), 3044):
    sx, sy, gx, gy = struct.unpack(">4i", data[at + 72:at + 88])
    data[at + 72:at + 88] = struct.pack(">4i", sx + 50000000, sy + 450000000, gx + 50000000, gy + 450000000)
open(sys.argv[2], "wb").write(data)
PY
if [ -e "$work/far.segy" ]; then
    near="--weight diffractor --aperture 12 --taper 1 --anti-alias 0 --quiet --layout 1x1"
    "$bin" "$work/small.segy" $tables $near --grid 9x9x11:5.3x5.3x40@980.2,980.2,300 --raw "$work/near" &&
        "$bin" "$work/far.segy" $tables $near --grid 9x9x11:5.3x5.3x40@500980.2,4500980.2,300 --raw "$work/far" &&
        cmp -s "$work/near.fold.f32" "$work/far.fold.f32" && "$python" - "$work/near" "$work/far" <<'PY'
import struct, sys
near, far = (struct.unpack("<891f", open(name + ".f32", "rb").read()) for name in sys.argv[1:])
assert max(abs(a - b) for a, b in zip(near, far)) < 1e-3 * max(near)
PY
    check $? 'the same image far from the origin'
fi
# Where no trace counts, as all are muted there, the image is 0, not what a filter leaves before the mute.
"$bin" "$work/small.segy" $tables --grid 3x3x41:50x50x20@500,500,100 --filter half --mute 0:1.5 --quiet --layout 1x1 --raw "$work/late" &&
    "$python" - "$work/late" <<'PY'
import struct, sys
image, fold = (struct.unpack("<369f", open(sys.argv[1] + end, "rb").read()) for end in (".f32", ".fold.f32"))
assert fold.count(0) > 300 and max(fold) > 0 and all(x == 0 for x, n in zip(image, fold) if n == 0)
PY
check $? 'no image where no trace counts'
# Least squares: the same bits on every unit, less and less unexplained.
least="$tables --grid 5x4x31:100x100x20@1300,1300,700 --weight modelling --lsm 3 --chunk 64 --quiet --deterministic"
for how in '--layout 1x1' '--layout 1x2 --schedule gss' '--layout 1x1+1 --devices host:0 --schedule dynamic'; do
    "$bin" "$work/small.segy" $least $how --raw "$work/$([ "$how" = '--layout 1x1' ] && echo least || echo other)" --json "$work/least.json" &&
        { [ "$how" = '--layout 1x1' ] || cmp -s "$work/least.f32" "$work/other.f32"; }
    check $? "the same least-squares image with $how"
done
$python - "$work/least.json" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
norm = run["lsm"]["residual"]
assert run["verified"] and run["lsm"]["dot_test"] < 1e-6 and len(norm) == 4 and norm == sorted(norm, reverse=True), run["lsm"]
END
check $? 'least squares explain more with each iteration'
"$bin" "$data" $tables --grid 2x2x5:100x100x20@1300,1300,700 --wavelet 20 --out "$work/least.segy" 2>"$work/err"
[ $? = 2 ] && grep -q -- 'add --lsm' "$work/err"
check $? "a wavelet belongs to least squares: $(cat "$work/err")"
"$bin" "$data" $tables --grid 2x2x5:100x100x20@1300,1300,-20 --weight modelling --lsm 2 --quiet --layout 1x1 --out "$work/least.segy" \
    --raw "$work/least" 2>"$work/err"
head -c 3600 "$work/least.segy" | grep -aq 'least squares, 2 iterations' && grep -q '"least_squares_iterations": 2' "$work/least.json" &&
    [ "$(grep -c 'above the ground' "$work/err")" = 1 ]
check $? "an image says that it is one of least squares, and that it begins above the ground: $(cat "$work/err")"
"$bin" "$data" $tables --grid 3x3x9:50@1300,1300,9000 --layout 1x1 --quiet --raw "$work/other" 2>"$work/err" && grep -q 'the image is empty' "$work/err"
check $? "an empty image is told: $(cat "$work/err")"
refused 2 'wants all traces at once' "$bin" "$data" $least --part 0/2 --partial "$work/x"
refused 2 'leave out --divide' "$bin" "$data" $least --divide fold
refused 2 'that of --dimension 3' "$bin" "$data" $tables --grid 5x1x9:50 --weight modelling --dimension 2.5
# One trace that has its wavelet elsewhere: all that it gives is rounded away, which is no failure. Nor is no signal at all.
# (At few points: the filter's own rounding comes close to half of what counts.)
{ head -c 3600 "$work/small.segy"; tail -c +$((3601 + 200 * 3044)) "$work/small.segy" | head -c 3044; } >"$work/one.segy"
{ head -c 3840 "$work/one.segy"; head -c 2804 /dev/zero; } >"$work/zero.segy"
for one in 'one samples' 'zero any.signal'; do
    "$bin" "$work/${one% *}.segy" --velocity gradient:v0=1500,k=0.6 --grid 3x3x9:50x50x20@500,500,100 --deterministic --layout 1x1 \
        --quiet --raw "$work/other" 2>"$work/err" && grep -q "empty: no trace has ${one#* }" "$work/err"
    check $? "an image of nothing, $one: $(cat "$work/err")"
done
# --deterministic rounds to what is small in most traces, also if one is 100,000 times as loud.
"$python" - "$work/small.segy" "$work/loud.segy" <<'PY'
import struct, sys
data, at = bytearray(open(sys.argv[1], "rb").read()), 3600 + 296 * 3044 + 240
data[at:at + 2804] = struct.pack(">701f", *(1e5 * x for x in struct.unpack(">701f", data[at:at + 2804])))
open(sys.argv[2], "wb").write(data)
PY
if [ -e "$work/loud.segy" ]; then
    for run in small:plain: loud:loud: loud:rounded:--deterministic; do
        IFS=: read -r from to how <<<"$run"
        "$bin" "$work/$from.segy" $usual $how --layout 1x1 --raw "$work/$to"
    done
    "$python" - "$work/plain" "$work/loud" "$work/rounded" <<'PY'
import struct, sys
plain, loud, rounded = (struct.unpack("<3321f", open(name + ".f32", "rb").read()) for name in sys.argv[1:])
off = sorted(abs(a - b) for a, b in zip(loud, rounded))
assert off[len(off) // 2] < 1e-6 * max(plain), off[len(off) // 2] / max(plain)
PY
    check $? 'a loud trace does not coarsen what others give'
fi
if command -v mpirun >/dev/null; then
    (with_mpi; mpirun --oversubscribe -n 3 "$bin" "$data" $usual --deterministic --layout 1x1 --raw "$work/other") &&
        cmp -s "$work/image.f32" "$work/other.f32"
    check $? 'the same bits on three ranks'
fi
CU_FAULT=unit:1@step:1 "$bin" "$data" $usual --deterministic --layout 1x1+1 --devices host:0 --raw "$work/other" 2>/dev/null &&
    cmp -s "$work/image.f32" "$work/other.f32"
check $? 'the same bits though a device dies'

# Tables of kirchhoff-tt give the image of formulas, but for how time changes with the source's place:
# between nodes 400 m apart that is a difference. More tables than fit into memory.
below="--grid 9x9x41:50x50x10@1300,1300,800 --weight diffractor --quiet --layout 1x1"
"${BIN:-bin}/kirchhoff-tt" --velocity gradient:v0=2000,k=0.5 --grid 9x9x16:100@1100,1100,0 --sources 4x4:400@400,400 \
    --out "$work/tt" --layout 1x1 --quiet && "$bin" "$work/small.segy" $tables $below --raw "$work/a" &&
    "$bin" "$work/small.segy" --tables "$work/tt" $below --chunk 64 --max-memory 0.01 --raw "$work/other" &&
    "$python" - "$work/a" "$work/other" <<'PY'
import struct, sys
a, b = (struct.unpack("<%df" % (9 * 9 * 41), open(name + ".f32", "rb").read()) for name in sys.argv[1:])
assert max(abs(x - y) for x, y in zip(a, b)) < 0.03 * max(a), max(abs(x - y) for x, y in zip(a, b))
PY
check $? 'tables of kirchhoff-tt'
# A velocity cube: the tables of a run itself are those of kirchhoff-tt, bit by bit.
"$python" - "$work" <<'PY'
import json, struct, sys
n = [5, 5, 41]
open(sys.argv[1] + "/cube.bin", "wb").write(struct.pack("<41f", *(2000 + 30 * k for k in range(41))) * 25)
json.dump({"n": n, "step": [1000, 1000, 60], "origin": [-900, -900, 0], "data": "cube.bin"}, open(sys.argv[1] + "/cube.json", "w"))
PY
if [ -e "$work/cube.json" ]; then
    coarse=5x1x10:100x50x50@900,1500,800
    cube_line="--grid 9x1x43:50x50x10@900,1500,800 --weight amplitude --line auto --quiet --deterministic --layout 1x1"
    "${BIN:-bin}/kirchhoff-tt" --velocity "cube:$work/cube.json" --grid $coarse --sources 9x1:1000@-2000,1500,0 --out "$work/cube_tt" \
        --layout 1x1 --quiet && "$bin" "$data" --tables "$work/cube_tt" $cube_line --raw "$work/a" && mkdir "$work/tmp" &&
        TMPDIR=$work/tmp "$bin" "$data" --velocity "cube:$work/cube.json" --table-grid $coarse --node-spacing 1000 $cube_line \
            --raw "$work/b" --json "$work/b.json" && cmp -s "$work/a.f32" "$work/b.f32" && [ -z "$(ls "$work/tmp")" ] &&
        [ "$(number failing_share "$work/b.json")" = 0.0 ]
    check $? "a velocity cube: $(grep failing "$work/b.json")"
    if command -v mpirun >/dev/null; then
        (with_mpi; TMPDIR=$work/tmp mpirun --oversubscribe -n 2 "$bin" "$data" --velocity "cube:$work/cube.json" --table-grid $coarse \
            --node-spacing 1000 $cube_line --raw "$work/c" --json "$work/c.json") && cmp -s "$work/a.f32" "$work/c.f32" &&
            [ "$(number judged "$work/b.json")" = "$(number judged "$work/c.json")" ]
        check $? 'tables that ranks have shared'
    fi
    sed 's/"step"/"scale": 0.001, "step"/; s/1000, 1000/100, 100/' "$work/cube.json" >"$work/km.json"
    "${BIN:-bin}/kirchhoff-tt" --velocity "cube:$work/km.json" --grid 3x3x3:100@900,1500,0 --arrival first --out "$work/km_tt" \
        --layout 1x1 --quiet 2>"$work/err"
    [ "$(grep -c 'in km/s?' "$work/err")" = 1 ] && [ "$(grep -c 'beyond is taken' "$work/err")" = 2 ]
    check $? "a cube in km/s, smaller than the grid: $(cat "$work/err")"
fi

# Times between tables are judged by rays through the velocity itself, which know nothing of tables: nodes so far apart that a lens
# is lost between them end with exit 1. Where tables come from a linear velocity, its formula judges all. A corner of the survey.
{
    head -c 3600 "$work/small.segy"
    for row in 5 6 7 8 9 10; do
        tail -c +$((3601 + (363 + 11 * row + 5) * 3044)) "$work/small.segy" | head -c $((6 * 3044))
    done
} >"$work/corner.segy"
lens="$work/corner.segy --velocity lens:v0=2000,kz=0.5,dv=1000,x=1000,y=1000,z=200,sigma=400 --grid 3x3x6:100x100x40@1000,1000,500 \
--weight diffractor --quiet --layout 1x1 --raw $work/lens --json $work/lens.json"
if [ -n "${EK_LONG:-}" ]; then
    "$bin" $lens --node-spacing 200 && "$python" - "$work/lens.json" <<'PY'
import json, sys
times = json.load(open(sys.argv[1]))["certificate"]["resummed"]["times"]
assert times["rays"] >= 8 and times["missed"] == 0 == times["wrong"] and 0 < times["rms_s"] < 1e-3, times
PY
    check $? "times by rays: $(grep -A 5 times "$work/lens.json")"
fi
"$bin" $lens --node-spacing 600 2>"$work/err"
[ $? = 1 ] && grep -q 'rays by more than two samples, .* ms rms: denser sources' "$work/err"
check $? "a lens between tables: $(cat "$work/err")"
"$bin" "$work/small.segy" --tables "$work/tt" $below --raw "$work/other" --json "$work/b.json" && "$python" - "$work/b.json" <<'PY'
import json, sys
again = json.load(open(sys.argv[1]))["certificate"]["resummed"]
assert again["verified"] and again["times"] is None and 1e-5 < again["share"] < 0.03, again
PY
check $? "tables against the formula: $(grep -A 8 resummed "$work/b.json")"

# What is said, and what others read.
"$python" - "$work/run.json" "$work/image" <<'PY'
import json, struct, sys
run = json.load(open(sys.argv[1]))
assert run["verified"] and run["traces"] == 2304 and run["weight"] == "diffractor", run
c = run["certificate"]
assert c["resummed"]["verified"] and 20 <= c["resummed"]["points"] <= 100 and c["resummed"]["share"] < 0.01, c
assert c["geometry"]["sources"] == 9 and c["geometry"]["spacing_receiver_m"] == 200 and c["residual"] is None, c
head = json.load(open(sys.argv[2] + ".json"))
x = struct.unpack("<%df" % (9 * 9 * 41), open(sys.argv[2] + ".f32", "rb").read())
top = max(range(len(x)), key=lambda i: x[i])
assert head["n"] == [1, 9, 9, 41] and abs(x[top] - run["peak"]) < 1e-6 * x[top]
assert 0.8 < x[top] < 1.1 and top % 41 == 20 and top // 41 == 4 * 9 + 4, (x[top], top)
PY
check $? 'JSON and raw image: the point at 1500, 1500, 1000'
if "$python" -c 'import segyio' 2>/dev/null; then
    "$python" - "$work" "$bin" <<'PY'
import math, subprocess, sys
import segyio
import numpy as np
work, tool = sys.argv[1:]
with segyio.open(work + "/data.segy", ignore_geometry=True) as f:
    assert f.tracecount == 2304 and len(f.samples) == 701 and segyio.dt(f) == 4000
    h, trace = f.header[700], f.trace[700]
    s = [h[segyio.TraceField.SourceX] / 100, h[segyio.TraceField.SourceY] / 100, 0]
    g = [h[segyio.TraceField.GroupX] / 100, h[segyio.TraceField.GroupY] / 100, 0]
    assert h[segyio.TraceField.SourceGroupScalar] == -100
def arrival(a, b):
    r2 = sum((p - q) ** 2 for p, q in zip(a, b))
    x = 0.25 * r2 / ((2000 + 0.5 * a[2]) * (2000 + 0.5 * b[2]))
    return math.acosh(1 + x / 2) / 0.5, math.sqrt(r2 * (1 + x / 4))
d, t = np.zeros(701), np.arange(701) * 0.004
for p, a in (([1500, 1500, 1000], 1), ([1000, 1900, 600], .5), ([2000, 1200, 1500], 2), ([1333, 1777, 873], 1)):
    (ts, ls), (tr, lr) = arrival(s, p), arrival(g, p)
    w = (math.pi * 15 * (t - ts - tr)) ** 2
    d += a / (16 * math.pi ** 2 * ls * lr) * (1 - 2 * w) * np.exp(-w)
assert np.abs(d - trace).max() < 2e-6 * np.abs(d).max(), np.abs(d - trace).max()
with segyio.open(work + "/image.segy", iline=189, xline=193) as f:
    assert len(f.ilines) == 9 and len(f.xlines) == 9 and f.iline[5].shape == (9, 41)
    assert f.header[40][segyio.TraceField.CDP_X] == 150000
# The other way round: what segyio writes, in formats that both know.
for code, endian in ((1, "big"), (5, "big"), (5, "little"), (3, "big"), (2, "big"), (8, "big")):
    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount, spec.endian = code, np.arange(20) * 4.0, 3, endian
    name = "%s/foreign%d.segy" % (work, code)
    with segyio.create(name, spec) as f:
        f.bin.update({segyio.BinField.Interval: 4000})
        for i in range(3):
            f.header[i] = {segyio.TraceField.SourceX: 12345 * i, segyio.TraceField.SourceGroupScalar: -10,
                           segyio.TraceField.TRACE_SAMPLE_COUNT: 20, segyio.TraceField.TRACE_SAMPLE_INTERVAL: 4000}
            f.trace[i] = (np.arange(20) - 3).astype(f.dtype)
    rows = subprocess.run([tool, name, "--headers", "-"], capture_output=True, text=True).stdout.split()
    assert rows[-1].startswith("3,2469,"), (code, endian, rows[-1:])
PY
    check $? 'segyio reads our files and we read its'
fi
"$bin" --generate medium --events flat --out "$work/flat.su" && "$bin" "$work/flat.su" $tables --layout 1x1 \
    --grid 3x3x81:200x200x5@1300,1300,800 --weight amplitude --anti-alias 0 --quiet --raw "$work/flat" &&
    "$python" - "$work/flat" <<'PY'
import struct, sys
x = struct.unpack("<%df" % (9 * 81), open(sys.argv[1] + ".f32", "rb").read())[4 * 81:5 * 81]
top = max(range(81), key=lambda i: x[i])
assert abs(800 + 5 * top - 1000) <= 5 and 0.08 < x[top] < 0.12, (top, x[top])
PY
check $? 'SU: a level reflector at 1000 m of reflectivity 0.1'
[ "$("$bin" "$work/flat.su" --headers - | sed -n 4p)" = '2,1000,1000,-0,0,200,-0,701,0' ] ||
    "$bin" "$work/flat.su" --headers - | sed -n 4p | grep -q '^2,1000,1000,-\{0,1\}0,0,200,-\{0,1\}0,701,0$'
check $? 'headers as a table'

# Coordinates that stations miss by metres change little; sources that all stand at 0,0 are no survey.
"$python" - "$data" "$work" <<'PY'
import random, sys
data, work = sys.argv[1:]
moved = bytearray(open(data, "rb").read())
zero, high = bytearray(moved), bytearray(open(work + "/small.segy", "rb").read())
random.seed(18)
step = {}
for at in range(3600, len(moved), 240 + 4 * 701):
    zero[at + 72:at + 80] = bytes(8)
    for end in at + 72, at + 80:
        key = (end - at, bytes(moved[end:end + 8]))
        d = step.setdefault(key, [random.randint(-200, 200) for _ in "xy"])
        for i in 0, 4:
            x = int.from_bytes(moved[end + i:end + i + 4], "big", signed=True) + d[i // 4]
            moved[end + i:end + i + 4] = x.to_bytes(4, "big", signed=True)
for at in range(3600, len(high), 240 + 4 * 701):
    for word in 40, 44, 48:
        high[at + word:at + word + 4] = random.randint(0, 20000).to_bytes(4, "big")
open(work + "/moved.segy", "wb").write(moved)
open(work + "/zero.segy", "wb").write(zero)
zero[3600 + 80:3600 + 88] = bytes.fromhex("7fffffff7fffffff")
open(work + "/far.segy", "wb").write(zero)
open(work + "/high.segy", "wb").write(high)
PY
if [ -e "$work/moved.segy" ]; then
    true_image="$tables --grid 5x5x41:50x50x10@1400,1400,800 --weight amplitude --quiet --layout 1x1"
    "$bin" "$data" $true_image --json "$work/a.json" && "$bin" "$work/moved.segy" $true_image --json "$work/b.json" &&
        "$python" -c "
import json, sys
a, b = (json.load(open(f))['peak'] for f in sys.argv[1:])
assert abs(a / b - 1) < 0.05, (a, b)" "$work/a.json" "$work/b.json"
    check $? 'metres beside the stations'
    refused 1 'all sources stand at one place' "$bin" "$work/zero.segy" $usual
    refused 2 'are places amiss' "$bin" "$work/far.segy" $usual --node-spacing 1
    "$bin" "$work/zero.segy" $usual --trust-geometry --layout 1x1 --raw "$work/b" --json "$work/b.json"
    check $? 'which can be accepted'
    "$bin" "$data" --headers "$work/places.csv" && "$bin" "$work/zero.segy" $usual --geometry "$work/places.csv" \
        --layout 1x1 --deterministic --raw "$work/other" && cmp -s "$work/image.f32" "$work/other.f32"
    check $? 'or get its geometry from a table'
    sed 9d "$work/places.csv" >"$work/few.csv"
    refused 2 'has no row for trace 7' "$bin" "$work/zero.segy" $usual --geometry "$work/few.csv"
    "$bin" "$work/high.segy" $odd --layout 1x1 --raw "$work/a" &&
        "$bin" "$work/high.segy" $odd --layout 0x0+1 --devices host:0 --raw "$work/b" && cmp -s "$work/a.f32" "$work/b.f32"
    check $? 'elevations on a device'
    ! cmp -s "$work/a.f32" "$work/odd.f32" &&
        "$bin" "$work/high.segy" $odd --layout 1x1 --datum tables --raw "$work/a" && cmp -s "$work/a.f32" "$work/odd.f32"
    check $? 'elevations are used, or not'
    "$bin" "$work/high.segy" --tables "$work/tt" --grid 3x3x31:50x50x40@1300,1300,100 --weight diffractor --quiet --layout 1x1 \
        --raw "$work/a" --json "$work/b.json" && [ "$(number share "$work/b.json" | cut -c1-4)" = 0.00 ]
    check $? "elevations above tables, summed again: $(grep share "$work/b.json")"
fi

# A disk that is full in the end: the image stands elsewhere, and the run says so.
tool=$(realpath "$bin")
(mkdir "$work/elsewhere" && cd "$work/elsewhere" && "$tool" "$data" $usual --layout 1x1 --deterministic --out /dev/full) 2>"$work/err"
[ $? = 3 ] && cmp -s "$work/image.segy" "$work/elsewhere/full" && grep -q 'is in ./full' "$work/err"
check $? "a full disk does not lose the image: $(cat "$work/err")"
echo good >"$work/elsewhere/full"
(cd "$work/elsewhere" && TMPDIR=$work "$tool" "$data" $usual --layout 1x1 --deterministic --out /dev/full) 2>"$work/err"
[ $? = 3 ] && cmp -s "$work/image.segy" "$work/full" && [ "$(cat "$work/elsewhere/full")" = good ] && [ "$(grep -c 'cannot be written' "$work/err")" = 1 ]
check $? "nor what stands where it goes instead: $(cat "$work/err")"

# Refusals: one line, nothing written.
"${BIN:-bin}/kirchhoff-tt" --velocity const:v=2000 --grid 5x5x19:100@1300,1300,0 --sources 2x2:100@1300,1300 \
    --out "$work/small" --layout 1x1 --quiet
check $? 'tables for too few sources'
refused 2 'which traces' "$bin"
refused 2 'which travel times' "$bin" "$data" --grid 3x3x9:50
refused 2 'which image' "$bin" "$data" $tables
refused 2 'nowhere.segy' "$bin" "$work/nowhere.segy" $usual
mkfifo "$work/pipe.segy"
refused 2 'no regular file' timeout 20 "$bin" "$work/pipe.segy" $usual
refused 2 "did you mean 'diffractor'" "$bin" "$data" $tables --grid 3x3x9:50 --weight difractor
refused 2 "did you mean 's1'" "$bin" --generate s2 --out "$work/x.segy"
refused 2 'each part would compute' "$bin" "$data" --velocity lens:v0=2000,kz=0.5,dv=500,x=0,y=0,z=900,sigma=300 --grid 3x3x9:50 \
    --part 0/2 --partial "$work/x"
refused 2 'nocube' "$bin" "$data" --velocity cube:"$work/nocube.json" --grid 3x3x9:50
refused 2 'larger tables' "$bin" "$data" $tables --table-grid 3x3x9:50 --grid 9x9x41:50x50x10@1300,1300,800
refused 2 'outside the tables' "$bin" "$data" --tables "$work/small" --grid 3x3x9:50@1300,1300,800
refused 2 'no trace is left' "$bin" "$data" $usual --classes 2 --class-width 10 --class-first 9000
refused 2 '0 <= I < N' "$bin" "$data" $usual --part 4/4
refused 2 'is no image' "$bin" "$data" $usual --part 0/4
refused 2 'is no image' "$bin" "$data" $usual --part 0/4 --partial "$work/x" --out "$work/half.segy"
refused 2 'class-width' "$bin" "$data" $usual --classes 5
refused 2 'OFFSET:TIME' "$bin" "$data" $usual --mute 5
refused 2 'offset-max' "$bin" "$data" $usual --offset-taper 5
refused 2 'has one y' "$bin" "$data" $usual --dimension 2
cp "$data" "$work/mine.segy" && ln -s mine.segy "$work/link.segy"
refused 2 'input' "$bin" "$work/mine.segy" $usual --layout 1x1 --out "$work/link.segy"
refused 2 'input' "$bin" "$work/mine.segy" --headers "$work/mine.segy"
cmp -s "$data" "$work/mine.segy"
check $? 'the input is left alone'
refused 3 'cannot be written' "$bin" "$data" $usual --layout 1x1 --out /proc/none/image.segy
refused 3 'max-memory' "$bin" "$data" $usual --layout 1x1 --max-memory 1e-5 --out "$work/x.segy"
head -c 100000 "$data" >"$work/cut.segy"
refused 2 'cut.segy: trace 32 is cut off' "$bin" "$work/cut.segy" $usual
cp "$data" "$work/nan.segy"
printf '\177\300\000\000' | dd of="$work/nan.segy" bs=1 seek=$((3600 + 5 * 3044 + 240 + 400)) conv=notrunc 2>/dev/null
refused 2 'nan.segy: sample 101 of trace 6 is no finite number' "$bin" "$work/nan.segy" $usual --layout 1x1 --out "$work/x.segy"
[ ! -e "$work/x.segy" ] && [ -z "$(ls "$work" | grep part)" ]
check $? 'nothing half-written is left'
exit $failed
