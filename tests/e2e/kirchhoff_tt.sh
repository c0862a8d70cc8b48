#!/usr/bin/env bash
# tests/e2e/kirchhoff_tt.sh – bin/kirchhoff-tt from the command line: single times and rays, tables
# that do not depend on layout, policy, donation or ranks; resuming, interruption, faults; refused
# input.
set -u
bin=${BIN:-bin}/kirchhoff-tt
. tests/check.sh
ends() { # description, exit code, pattern of the message, options…
    local what=$1 code=$2 pattern=$3
    shift 3
    "$bin" "$@" >"$work/out" 2>"$work/err"
    local got=$?
    [ $got = "$code" ] && grep -q -- "$pattern" "$work/err"
    check $? "$what: exit $got, $(cat "$work/err")"
}
python=$(command -v python3 || echo true)
reference=tests/data/kirchhoff/tt_public.csv

# Single times and rays.
"$bin" --times $reference --out "$work/t.csv" && "$bin" --rays $reference --out "$work/r.csv"
check $? 'times and rays'
"$python" - $reference "$work/t.csv" "$work/r.csv" <<'PY'
import csv, sys
cases, times, rays = (list(csv.DictReader(open(f))) for f in sys.argv[1:])
assert len(cases) == len(times) == len(rays) == 202
assert list(times[0]) == ["id", "t_strong", "t_first"]
for c, t, r in zip(cases, times, rays):
    assert c["id"] == t["id"] == r["id"]
    if c["model"] == "lens":
        assert t["t_strong"] == t["t_first"] == ""
    else:
        for name in "t_strong", "t_first":
            assert abs(float(t[name]) - float(c[name])) <= 1e-9 * float(c[name]), (c["id"], name)
    if c["model"] == "layer2":
        assert r["x"] == ""
        continue
    off = max(abs(float(r[a]) - float(c["p" + a])) for a in "xyz")
    assert off <= 0.1 and r["kmah"] == c["kmah"], (c["id"], off)
PY
check $? 'they are right'

# Tables: the same bits whatever computes them, but for a device's last digits.
model="--velocity gradient:v0=1500,k=0.6 --grid 41x41x41:30m --quiet"
"$bin" $model --shots 4 --out "$work/tt" --layout 1x1 --json "$work/run.json" --report "$work/page.html"
check $? 'four shots'
"$python" - "$work/run.json" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
v = run["verification"]
assert run["verified"] and v["unfilled_most"] == 0 and v["rms_s"] < 2e-4 and v["error_most_s"] < 1e-3, v
c = run["certificate"]
assert c["residual"]["judged"] > 1000 and 0.05 < c["residual"]["judged_share"] < 0.07 and c["residual"]["failing"] == 0 and c["reciprocity"]["pairs"] == 6, c
assert c["reciprocity"]["failing"] == 0 and c["resummed"] is None and c["geometry"] is None, c
assert len(run["shots"]) == 4 and all(s["steps"] > 5 and s["longest_front"] > 500 for s in run["shots"])
PY
check $? 'JSON says so'
"$python" kirchhoff/examples/tables.py "$work/tt/source-000002.tt" "$work/time.rsf" && "$python" - "$work" <<'PY'
import math, re, struct, sys
sys.path.insert(0, "kirchhoff/examples")
sys.dont_write_bytecode = True
import tables
t = tables.header(sys.argv[1] + "/tt/source-000002.tt")
head, data = open(sys.argv[1] + "/time.rsf", "rb").read().split(b"\f\f\4", 1)
assert [int(i) for i in re.findall(rb"\bn\d=(\d+)", head)] == [41, 41, 41] and b"d1=30.0" in head
assert t.velocity == "gradient:v0=1500,k=0.6"
time = struct.unpack("<%df" % 41 ** 3, data)
for node in range(7, len(time), 997):
    x = [t.origin[a] + t.step[a] * (node // 41 ** (2 - a) % 41) for a in range(3)]
    square = sum((x[a] - t.source[a]) ** 2 for a in range(3))
    exact = math.acosh(1 + 0.36 * square / (2 * (1500 + 0.6 * x[2]) * (1500 + 0.6 * t.source[2]))) / 0.6
    assert abs(time[node] - exact) < 1e-3, (x, time[node], exact)
try:
    import numpy
except ImportError:
    try:
        sys.exit(tables.read(sys.argv[1] + "/tt/source-000002.tt") and "read without NumPy")
    except SystemExit as end:
        sys.exit("wants NumPy" not in str(end))
a = tables.read(sys.argv[1] + "/tt/source-000002.tt")
assert numpy.allclose(a.time.ravel(), numpy.frombuffer(data, "<f4"), rtol=3e-7, atol=1e-9) and (a.kmah == 0).all() and a.p.shape == (3, 41, 41, 41)
spread = numpy.array(tables.numbers(sys.argv[1] + "/tt/source-000002.tt", t, "spread"))
assert numpy.allclose(a.spread.ravel(), spread, rtol=3e-7) and abs(numpy.linalg.norm(a.p[:, 9, 9, 40]) * (1500 + 0.6 * 1200) - 1) < 2e-3
import os
assert os.path.getsize(sys.argv[1] + "/tt/source-000002.tt") < 11.2 * 41 ** 3
PY
check $? 'tables for NumPy and RSF'
grep -q 'Length of the fronts' "$work/page.html"
check $? 'the report has its pictures'
same() { # folder
    for file in "$work/tt"/*.tt; do cmp -s "$file" "$1/$(basename "$file")" || return 1; done
}
device=$(has_opencl && echo auto || echo host:0)
for how in '--layout 2x1 --schedule dynamic' '--layout 1x2' "--layout 2x1+1 --devices $device --donation off"; do
    "$bin" $model --shots 4 --out "$work/other" $how && same "$work/other"
    check $? "the same tables with $how"
    rm -rf "$work/other"
done
if command -v mpirun >/dev/null; then
    (with_mpi; mpirun --oversubscribe -n 3 "$bin" $model --shots 4 --out "$work/other" --layout 1x1) && same "$work/other" && cmp -s "$work/tt/index.json" "$work/other/index.json"
    check $? 'the same tables on three ranks'
    rm -rf "$work/other"
    # The two tables that the first of three ranks had are left: one each for two ranks, none for the third.
    cp -r "$work/tt" "$work/other"
    rm "$work/other/source-000000.tt" "$work/other/source-000003.tt"
    (with_mpi; mpirun --oversubscribe -n 3 "$bin" $model --shots 4 --out "$work/other" --layout 1x1 --resume --json "$work/ranks.json") &&
        same "$work/other" && [ "$(grep -c '"source": [0-9]' "$work/ranks.json")" = 1 ]
    check $? 'what is left is divided among the ranks'
    rm -rf "$work/other"
    # One rank is told to stop: the other does, too, and what they have not done is no success.
    (with_mpi; exec mpirun --oversubscribe -n 2 "$bin" $model --shots 400 --out "$work/other" --layout 1x1 --quiet --json "$work/ranks.json") &
    launcher=$!
    for _ in $(seq 100); do
        [ -e "$work/other/source-000002.tt" ] && break
        sleep 0.1
    done
    kill -TERM $(pgrep -P $launcher | head -1)
    wait $launcher
    rc=$?
    [ $rc = 4 ] && grep -q '"interrupted": true' "$work/ranks.json" && [ "$(ls "$work/other" | wc -l)" -lt 150 ]
    check $? "stopped ranks end with 4, not $rc"
    rm -rf "$work/other"
fi
for mode in static on; do
    "$bin" $model --shots 6 --out "$work/device" --layout 1x1+1 --donation $mode --poll 2 \
        --json "$work/device.json" 2>"$work/err"
    code=$?
    [ $code = 3 ] && break # there is no device here
    check $code "devices, --donation $mode: $(cat "$work/err")"
    "$python" - "$work/device.json" $mode <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["verified"] and sum(s["device_steps"] for s in run["shots"]) > 0
assert (run["donation"]["claims"] > 0) == (sys.argv[2] == "on"), run["donation"]
assert all(s["begin_s"] <= d["begin_s"] <= d["end_s"] <= s["end_s"] for s in run["shots"] for d in s["devices"])
PY
    check $? "JSON of --donation $mode"
done

# A former run's tables are kept, unless they are broken or missing.
cp -r "$work/tt" "$work/kept"
rm "$work/kept/source-000001.tt"
truncate -s 5000 "$work/kept/source-000002.tt"
touch -d '2001-01-01' "$work/kept/source-000000.tt" "$work/kept/source-000003.tt"
"$bin" $model --shots 4 --out "$work/kept" --resume --json "$work/run.json" 2>"$work/err" && same "$work/kept" &&
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'source-000002.tt: has 5000 bytes.*makes it anew' "$work/err"
check $? "resumed: $(cat "$work/err")"
[ "$(find "$work/kept" -name '*.tt' ! -newermt 2002-01-01 | wc -l)" = 2 ] &&
    grep -q '"kept": 2' "$work/run.json"
check $? 'what was whole is kept'
"$bin" $model --shots 4 --out "$work/kept" --resume
check $? 'resuming what is complete does nothing'
"$bin" $model --shots 3 --out "$work/kept" --resume 2>"$work/err"
[ $? = 2 ] && grep -q 'another grid, source or velocity, with which --resume' "$work/err" && same "$work/kept"
check $? "tables of another problem are no beginning: $(cat "$work/err")"

# Ctrl-C: exit 4, whole tables stay, the rest comes when it is resumed.
"$bin" $model --shots 400 --out "$work/cut" --layout 1x1 &
pid=$!
while [ ! -e "$work/cut/source-000002.tt" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -INT $pid
wait $pid
[ $? = 4 ]
check $? 'interrupted: exit 4'
[ "$(find "$work/cut" -name '*.tt' | wc -l)" -lt 400 ] && ! ls "$work/cut" | grep -q part
check $? 'no half tables'

# Faults.
CU_FAULT=unit:1@step:1 "$bin" $model --shots 4 --out "$work/other" --layout 2x1 2>/dev/null && same "$work/other"
check $? 'a unit dies'
(ulimit -f 500; ends 'a full disk' 3 'ulimit -f allows' $model --out "$work/full"; exit $failed)
check $? 'a full disk leaves a line'
[ ! -e "$work/full" ]
check $? 'and no half table'
mkdir "$work/disk"
if mount -t tmpfs -o size=10m none "$work/disk" 2>/dev/null; then # another process fills it
    "$bin" $model --shots 12 --out "$work/disk/tt" --layout 4x1 2>"$work/err" &
    while [ ! -e "$work/disk/tt/source-000000.tt" ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
    head -c 10m /dev/zero >"$work/disk/other" 2>/dev/null
    wait $!
    [ $? = 3 ] && [ "$(grep -c "No space left" "$work/err")" = 1 ] && ! ls "$work/disk/tt" | grep -q part
    check $? "a disk that fills: $(cat "$work/err")"
    rm "$work/disk/other"
    "$bin" $model --shots 12 --out "$work/disk/tt" --resume --json "$work/run.json" &&
        [ "$(number kept "$work/run.json")" -gt 0 ] && grep -q '"verified": true' "$work/run.json"
    check $? "and goes on once there is room: $(grep kept "$work/run.json")"
    umount "$work/disk"
fi
ends 'tables that no disk holds' 3 'the disk has room for' --velocity const:v=1500 --grid 101x101x101:20 --sources 2000x1000:2 \
    --out "$work/none/huge"
[ ! -e "$work/none" ]
check $? 'nothing is made of them'
ends 'too many unfilled nodes fail' 1 'have no travel time' $model --last 0.2 --out "$work/holes"
ends 'a cap that is reached is reported' 0 'edges were raised' $model --edge 30 --front-max 1500 --out "$work/capped"

# What is sharp: fronts fail, the eikonal's times fill in, each node says so; or first arrivals alone.
sharp="--velocity layers:0:1500,600:2500,smooth=0 --grid 31x31x31:40 --sources 3x3:600@0,0 --quiet"
"$bin" $sharp --out "$work/sharp" --json "$work/sharp.json" && "$bin" $sharp --arrival first --layout 1x1 --out "$work/first"
check $? 'sharp layers'
"$python" - "$work/sharp.json" "$work/sharp/source-000000.tt" "$work/first/source-000000.tt" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
nodes = 31 ** 3
assert run["verified"] and run["certificate"]["residual"]["failing_share"] < 0.1
assert all(nodes // 3 < s["eikonal"] < nodes for s in run["shots"]), [s["eikonal"] for s in run["shots"]]
marks = open(sys.argv[2], "rb").read()[-nodes:]
assert marks.count(254) == run["shots"][0]["eikonal"] and 255 not in marks
assert open(sys.argv[3], "rb").read()[-nodes:] == bytes([254]) * nodes
PY
check $? 'each node says whose time it has'
for how in '--layout 1x3' '--layout 2x1 --schedule dynamic' '--layout 1x1+1'; do
    "$bin" $sharp --arrival first --out "$work/other" $how 2>/dev/null
    code=$?
    [ $code = 3 ] && continue # there is no device here
    [ $code = 0 ] && cmp -s "$work/first/source-000004.tt" "$work/other/source-000004.tt"
    check $? "the same first arrivals with $how"
    rm -rf "$work/other"
done
ends 'more than may fail' 1 'disagree with the eikonal equation' $sharp --out "$work/sharp" --residual-max 0.01
"$bin" $sharp --arrival first --last 0.6 --out "$work/holes" 2>/dev/null
"${bin%-tt}-mig" --generate small --out "$work/small.segy"
for no in 'sharp --residual-max 0.01' holes; do
    "${bin%-tt}-mig" "$work/small.segy" --tables $work/$no --grid 3x3x9:100@300,300,800 >/dev/null 2>"$work/err"
    [ $? = 1 ] && grep -q 'residual-max\|unfilled-max' "$work/err"
    check $? "tables that are not migrated, $no: $(cat "$work/err")"
done

# Refusals.
ends 'no model' 2 '--velocity and --grid' --grid 9x9x9:10
ends 'unknown model' 2 'did you mean' --velocity gradiant:v0=1 --grid 9x9x9:10
ends 'negative velocities' 2 'need it positive' --velocity gradient:v0=100,k=-1 --grid 9x9x99:10 --out "$work/x"
ends 'bad grid' 2 'is no grid' --velocity const:v=1500 --grid 9x9 --out "$work/x"
ends 'a source too far away' 2 'source 0 is at 1e+300 m along y' $model --sources 1x1:20@0,1e300 --out "$work/x"
ends 'bad sources' 2 'neither' $model --sources 3by3 --out "$work/x"
ends 'bad donation' 2 'not one of off, static, on' $model --donation maybe --out "$work/x"
ends 'bad arrival' 2 'not one of first, strongest' $model --arrival last --out "$work/x"
ends 'two questions' 2 'one at a time' --times $reference --rays $reference
printf 'id,model,v0,sx,sy,sz,px,py,pz\n1,const,x,0,0,0,1,1,1\n' >"$work/bad.csv"
ends 'no number' 2 'bad.csv:2' --times "$work/bad.csv"
printf 'id,model,v0,sx,sy,sz,px,py,pz\n1,water,1,0,0,0,1,1,1\n' >"$work/bad.csv"
ends 'no such model' 2 'bad.csv:2' --times "$work/bad.csv"
ends 'no folder' 3 'cannot be written' $model --out /proc/none
printf 'x,y\n100,200\n600,300\n' >"$work/places.csv"
"$bin" $model --sources "$work/places.csv" --out "$work/places" && [ -e "$work/places/source-000001.tt" ]
check $? 'sources from a table'
exit $failed
