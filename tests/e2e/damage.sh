# tests/e2e/damage.sh – damaged files of earlier runs: flipped bits, truncated, extended, a block of
# zeros, empty. The next run refuses such a file (exit 2, one line, the file stays) or gives the
# usual result; caches are never refused. ROUNDS=2 per file (EK_LONG: 14; make fuzz:
# more), SEED=1.
. tests/check.sh
export BIN=$(cd "$BIN" && pwd) HERE=$PWD XDG_CACHE_HOME=$work/cache CU_PROFILE_DIR=.
cd "$work" || exit 1
files='bt sp lu mogi mcsem mig slab part table tables tt index journal profile layout'
mkdir $files
"$BIN/mcsem" --generate small --out all.csv >out && awk '!/^# rows/ && (NR <= 5 || NR % 300 == 0)' all.csv >survey.csv
"$BIN/kirchhoff-mig" --generate small --out data.segy >out
for f in mcsem/survey.csv {mig,slab,part,table,tables}/data.segy; do ln "${f#*/}" $f; done
cat >part/job.json <<'END'
{"data": "data.segy", "out": "result.segy", "work": "parts", "microjobs": 3, "layout": "1x1",
 "options": {"velocity": "gradient:v0=2000,k=0.5", "grid": "5x5x21:100x100x20@1300,1300,800",
             "chunk": 200, "deterministic": true, "node-spacing": 400}}
END
cat >journal/job.json <<'END'
{"nodes": [{"name": "a", "cores": 1}], "tasks": [{"name": "t", "count": 4, "command": "[ {id} != 2 -o -e ../on ] && echo {id} >done.{id}", "time": "0.1/p"}]}
END
mz() { echo "\$BIN/$1-mz --class S --layout 1x1 --checkpoint state --every 5 --profile=off --quiet --json result"; }
mig="\$BIN/kirchhoff-mig data.segy --velocity gradient:v0=2000,k=0.5 --node-spacing 400 --grid 5x5x21:100x100x20@1300,1300,800"
mig+=" --layout 1x1 --chunk 200 --deterministic --quiet"
tables="\$BIN/kirchhoff-tt --velocity gradient:v0=2000,k=0.5 --grid 9x9x11:200m@500,500,0 --sources 2x2:2000@500,500 --layout 1x1 --out tt --quiet"
on_tables="\$BIN/kirchhoff-mig data.segy --tables tt --grid 3x3x11:100x100x40@1300,1300,800 --layout 1x1 --quiet --out result.segy"
profiled='--class S --layout 2x1 --quiet --json result'
tt='$BIN/kirchhoff-tt --velocity gradient:v0=1500,k=0.6 --grid 9x9x9:100m --shots 2 --layout 1x1 --out . --quiet --resume'
mogi='$BIN/mogi $HERE/okada_mogi/examples/campi.json --trials 70800000:81500000 --layout 1x1 --checkpoint state --quiet'
# folder | file in it | result | command that leaves the file | command that reads it
cat >subjects <<END
bt|state|result|CU_FAULT=unit:0@step:8 $(mz bt)|$(mz bt)
sp|state|result|CU_FAULT=unit:0@step:8 $(mz sp)|$(mz sp)
lu|state|result|CU_FAULT=unit:0@step:8 $(mz lu)|$(mz lu)
mogi|state|result|$mogi --out /dev/full|$mogi --out result
mcsem|state|result|CU_FAULT=unit:0@step:3 \$BIN/mcsem survey.csv --iterations 3 --target 9 --layout 1x1 --checkpoint state --quiet|\$BIN/mcsem survey.csv --iterations 3 --target 9 --layout 1x1 --checkpoint state --quiet --model-out result
mig|result.segy.checkpoint|result.segy|$mig --part 0/2 --partial result.segy.checkpoint|$mig --out result.segy
slab|result.segy.slab1of2|result.segy|CU_FAULT=unit:0@step:2 $mig --image-memory 0.000005 --out result.segy|$mig --image-memory 0.000005 --out result.segy
part|parts/part-0000-of-0003.image|result.segy|mkdir parts; $mig --part 0/3 --partial parts/part-0000-of-0003.image|\$BIN/kirchhoff-mig job.json
table|tt/source-000000.tt|result.segy|$tables|$on_tables
tables|tt/index.json|result.segy|$tables|$on_tables
tt|source-000000.tt|source-*.tt|$tt|$tt
index|index.json|source-*.tt|$tt|$tt
journal|run/journal|done.*|\$BIN/cu-run run job.json --results run --quiet; touch ../on|\$BIN/cu-run run job.json --results run --resume --quiet
profile|*.json|result|\$BIN/bt-mz $profiled --profile=make; rm result|\$BIN/bt-mz $profiled
layout|bt-mz-layout-*.json|result|\$BIN/bt-mz --class S --layout auto --tune 4 --quiet|\$BIN/bt-mz --class S --layout auto --tune 4 --quiet --json result
END
python3 - "${ROUNDS:-$([ -n "${EK_LONG:-}" ] && echo 14 || echo 2)}" "${SEED:-1}" <<'END' || failed=1
import glob, os, random, re, shutil, subprocess, sys
rounds, draw = int(sys.argv[1]), random.Random(int(sys.argv[2]))
bad = 0

def run(command, folder):
    return subprocess.run(command, shell=True, cwd=folder, timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

def results(folder, pattern):
    found = {p[len(folder):]: open(p, 'rb').read() for p in glob.glob(folder + '/' + pattern)}
    return {p: re.findall(rb'"residual": \[[^]]*', b) if b[:1] == b'{' else b for p, b in found.items()}

def damage(b, kind):
    at = draw.randrange(len(b)) if draw.random() < 0.7 else draw.randrange(min(len(b), 128))
    return [b[:at] + bytes([b[at] ^ 1 << draw.randrange(8)]) + b[at + 1:], b[:at], b + b[:1 + at % 99], b[:at] + bytes(512) + b[at + 512:], b''][kind]

for turn, line in enumerate(open('subjects')):
    name, file, pattern, make, read = line.rstrip('\n').split('|')
    run(make, name)
    path = (glob.glob(name + '/' + file) or sys.exit('FAILED: %s leaves no %s' % (make, file)))[0]
    kept = name + '.kept'
    shutil.copytree(name, kept)
    bytes_ = open(path, 'rb').read()
    done = run(read, name)
    wanted = results(name, pattern)
    if done.returncode or not wanted:
        sys.exit('FAILED: %s: %s' % (read, done.stderr.decode()))
    refused = 0
    for i in range(rounds):
        shutil.rmtree(name)
        shutil.copytree(kept, name)
        broken = damage(bytes_, [0, 1, 0, 3, 4, 0, 2][(i + turn) % 7])
        open(path, 'wb').write(broken)
        try:
            done = run(read, name)
            code, said = done.returncode, done.stderr.decode(errors='replace')
        except subprocess.TimeoutExpired:
            code, said = 'none', 'hangs'
        if code == 2 and said.count("\n") - said.count(" warning: ") == 1 and open(path, 'rb').read() == broken and name not in ('profile', 'layout'):
            refused += 1
        elif code or results(name, pattern) != wanted:
            bad += 1
            os.makedirs('/tmp/damage', exist_ok=True)
            open('/tmp/damage/%s.%d' % (name, i), 'wb').write(broken)
            print('FAILED: %s: damaged file %d (kept in /tmp/damage): exit %s%s: %s' % (name, i, code, '' if code else ', another result', said))
    print('%-8s %7d bytes: %d damaged files, %d refused' % (name, len(bytes_), rounds, refused))
sys.exit(bad > 0)
END
exit $failed
