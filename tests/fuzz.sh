#!/usr/bin/env bash
# tests/fuzz.sh – `make fuzz`: damaged files for every reader, under AddressSanitizer and UBSan: first
# damaged at random (ROUNDS=2000 for each), then for EACH=20 seconds by libFuzzer, which searches for
# bytes that reach new branches. READER=word selects readers whose name contains it.
# Seeds are the repository's examples and files that the programs write; those that libFuzzer adds are
# stored in CORPUS=folder. At last checkpoints and journals are damaged (e2e/damage.sh), KEPT=60 times each.
# Environment: BIN, FUZZ: folder with both programs. Last line: "N readers, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=$(cd "${BIN:-bin}" && pwd) || exit 2
export BIN
. tests/check.sh
export SEEDS=$work/seeds CU_PROFILE_DIR=$work/profiles
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:use_sigaltstack=0 UBSAN_OPTIONS=halt_on_error=1
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
readers=$("$FUZZ/fuzz" seeds)
for reader in $readers; do mkdir -p "$SEEDS/$reader"; done # those without seeds of the tree, too

# Files written by the programs.
cd "$SEEDS" || exit 1
{
"$BIN/mcsem" --generate small --out all.csv
awk '!/^# rows/ && (NR <= 5 || NR % 300 == 0)' all.csv >survey/a.csv
"$BIN/mcsem" survey/a.csv --forward-survey --out emdata/a.emdata
"$BIN/mcsem" survey/a.csv --iterations 0 --quiet --model-out model/a.csv
"$BIN/bt-mz" --class S --layout 2x1 --profile=make --quiet --json result/a.json --trace trace.json
"$BIN/bt-mz" --class S --layout 2x1 --steps 2 --compare static,dynamic --quiet --json result/b.json --trace result/c.json
cp result/*.json case/
cp "$CU_PROFILE_DIR"/*.json profile/
head -30 "$OLDPWD/tests/data/mcsem/fields.csv" >fields/a.csv
"$BIN/kirchhoff-tt" --velocity const:v=1500 --grid 5x5x5:20m --shots 1 --out tt && cp tt/*.tt* ttable/
"$BIN/kirchhoff-mig" --generate small --out data.segy
} >/dev/null 2>&1
head -c 500 /dev/zero | tr '\0' '\105' >velocity.f32 # 5x5x5 of the same float
cat >velocity/a.json <<'END'
{"n": [5, 5, 5], "step": [20, 20, 20], "origin": [0, 0, 0], "data": "velocity.f32", "order": "zyx", "smooth": 20, "scale": 1}
END
cat >microjobs/a.json <<'END'
{"data": "data.segy", "out": "done.segy", "raw": "done", "work": "parts", "microjobs": 5, "concurrent": 2, "layout": "1x1+1",
 "devices": "host:0", "devices_per_microjob": 1,
 "options": {"velocity": "gradient:v0=2000,k=0.5", "grid": "9x9x41:50x50x10@1300,1300,800", "deterministic": true, "chunk": 200}}
END
cat >swf/a.swf <<'END'
; MaxProcs: 64
1 0 5 100 8 -1 -1 8 120 -1 1 1 1 1 1 -1 -1 -1
2 10 -1 50.5 16 -1 -1 16 60 -1 1 2 1 1 1 -1 -1 -1
END
cat >poly/a.poly <<'END'
# nodes
6 2 0 0
1 -9000 0
2 9000 0
3 9000 1000
4 100 1500
5 -9000 1200
6 -9000 5000
6 1
1 1 2 1
2 2 3 1
3 3 4 1
4 4 5 1
5 5 1 1
6 5 6 1
0
1
1 0 500 1 0
END
n=0
for text in 7x2+2 auto '{0:4}:3:4,{12}:4:1' 'threads(4)' '!{1},{2,3}:2' '10 x 71.07/p^0.42+4.47, dgemm = 5 x 13.09/p^1.09+2.3, 2 x cluster 40/p' \
    '3 x [10,6,4.5]' 'cs1:8:1.0,5 x ws:12:1.4:left' 'nx=41,ny=11,dx=500,dy=750,nz=89,dz=47.2,seabed=1500,start=1' '0:0.25;200:0.3125' \
    gradient:v0=1500,kx=0.1,ky=0,kz=0.6 lens:v0=2000,kz=0.5,dv=500,x=0,y=0,z=900,sigma=300 layers:0:1500,800:2500,smooth=100; do
    n=$((n + 1)); printf %s "$text" >words/$n
done
for reader in $readers; do [ -n "$(ls "$reader")" ] || say "no seeds for $reader"; done
cd "$OLDPWD" || exit 1

count=0 broken=0
for reader in $readers; do
    [[ $reader == *${READER:-}* ]] || continue
    count=$((count + 1))
    "$FUZZ/fuzz" "${ROUNDS:-2000}" "$reader" >"$work/out" 2>&1 || { say "$reader: $(tail -60 "$work/out")"; broken=$((broken + 1)); }
    tail -1 "$work/out"
    corpus=${CORPUS:-$work/corpus}/$reader
    mkdir -p "$corpus"
    [ "${EACH:-20}" = 0 ] && continue
    READER=$reader "$FUZZ/fuzz-guided" -max_total_time="${EACH:-20}" -timeout=20 -rss_limit_mb=4096 -max_len=65536 \
        -artifact_prefix="${CORPUS:-/tmp}/$reader-" "$corpus" "$SEEDS/$reader" >"$work/out" 2>&1 ||
        { say "$reader, guided: $(tail -60 "$work/out")"; broken=$((broken + 1)); }
    printf '%-10s %s\n' '' "$(grep -E '^#[0-9]+.*DONE' "$work/out" | tail -1)"
done
# Any damaged byte in the programs' own files must be detected.
[ -n "${READER:-}" ] || { ROUNDS=${KEPT:-60} bash tests/e2e/damage.sh || failed=1; }
echo "$count readers, $broken failed"
exit $failed
