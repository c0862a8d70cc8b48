# tests/e2e/memory.sh – the n-th allocation of a program fails: it exits 3 with one line, or does
# without and gives the usual result; it never crashes, hangs or fails verification. n is drawn from
# SEED (1), ROUNDS=5 per program (all: every n, as with EK_LONG and for programs with few
# allocations). Needs BIN; run through tests/run.sh.
. tests/check.sh
skip_under_sanitizers 'and allocations are their own'
export OMP_WAIT_POLICY=passive BIN=$(cd "$BIN" && pwd)
cat >"$work/fail.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Counts calls from the program itself, not from libraries, and only after its re-execution. */
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static unsigned long low, high;
static atomic_long calls;
static long fails = -1;
static int find(struct dl_phdr_info *i, size_t size, void *nothing)
{
    for (int k = 0; k < i->dlpi_phnum; k++)
        if (i->dlpi_phdr[k].p_type == PT_LOAD && i->dlpi_phdr[k].p_flags & PF_X) {
            low = i->dlpi_addr + i->dlpi_phdr[k].p_vaddr;
            high = low + i->dlpi_phdr[k].p_memsz;
        }
    return (void)size, (void)nothing, 1;
}
__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(find, NULL);
    if (getenv("FAIL_AT") && (getenv("CU_PLACED") || !getenv("FAIL_BOUND")))
        fails = atol(getenv("FAIL_AT"));
}
__attribute__((destructor)) static void end(void)
{
    FILE *f = getenv("FAIL_COUNT") ? fopen(getenv("FAIL_COUNT"), "w") : NULL;
    if (f && fprintf(f, "%ld\n", (long)calls) > 0)
        fclose(f);
}
static int fail(const void *from)
{
    const unsigned long at = (unsigned long)from;
    return at >= low && at < high && ++calls == fails ? errno = ENOMEM : 0;
}
#define FROM __builtin_return_address(0)
void *malloc(size_t n) { return fail(FROM) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fail(FROM) ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fail(FROM) ? NULL : __libc_realloc(p, n); }
char *strndup(const char *s, size_t n)
{
    n = strnlen(s, n);
    char *copy = fail(FROM) ? NULL : __libc_malloc(n + 1);
    return copy ? copy[n] = 0, memcpy(copy, s, n) : NULL;
}
char *strdup(const char *s)
{
    char *copy = fail(FROM) ? NULL : __libc_malloc(strlen(s) + 1);
    return copy ? strcpy(copy, s) : NULL;
}
END
${CC:-cc} -shared -fPIC -fno-builtin "$work/fail.c" -o "$work/fail.so" 2>"$work/err" || { echo "no stand-in for malloc: $(head -1 "$work/err")"; exit 77; }
"$BIN/kirchhoff-mig" --generate small --out "$work/data.segy" >/dev/null
"$BIN/mcsem" --generate small --out "$work/all.csv" >/dev/null
awk '!/^# rows/ && (NR <= 5 || NR % 300 == 0)' "$work/all.csv" >"$work/survey.csv"
cat >"$work/job.json" <<'END'
{"nodes": [{"name": "a", "cores": 2}], "tasks": [{"name": "t", "count": 3, "command": "true", "time": "0.1/p"}]}
END
# Process in which allocations fail | result, in the working folder | command
cat >"$work/subjects" <<END
bound|norms|bt-mz --class S --layout 1x1 --profile=off --quiet --json o
bound|o|mogi $PWD/okada_mogi/examples/campi.json --trials 70800000:81500000 --layout 1x1 --quiet --out o
bound|o|mcsem ../survey.csv --iterations 2 --target 9 --layout 1x1 --quiet --model-out o
bound|tt/source-000000.tt|kirchhoff-tt --velocity gradient:v0=1500,k=0.6 --grid 9x9x9:100m --layout 1x1 --quiet --out tt
bound|o|kirchhoff-mig ../data.segy --velocity gradient:v0=2000,k=0.5 --node-spacing 400 --grid 3x3x5:100x100x80@1300,1300,800 --layout 1x1 --deterministic --quiet --out o
|o|mcsem --generate tiny --out o
||cu-plan --simulate $PWD/tests/data/cu/pcf-40.json --schedules static,evenkeel --json o
||cu-run plan --tasks 10x7/p --nodes n:2:1,m:4:1 --json o --report p
||cu-run run ../job.json --results run --json o
END
python3 - "$work" "${ROUNDS:-${EK_LONG:+all}}" "${SEED:-1}" <<'END' || failed=1
import os, random, re, shutil, subprocess, sys
work, rounds, draw = sys.argv[1], sys.argv[2] or '5', random.Random(int(sys.argv[3]))
folder, bad = work + '/here', 0

def run(command, **more):
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    words = [w.replace('10x7/p', '10 x 7/p') for w in command.split(' ')]
    words[0] = os.environ['BIN'] + '/' + words[0]
    try:
        return subprocess.run(words, cwd=folder, env=dict(os.environ, LD_PRELOAD=work + '/fail.so', **more), timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 'none: it hangs', b'', b'')

def result(name):
    try:
        text = open(folder + '/' + ('o' if name in ('', 'norms') else name), 'rb').read()
    except OSError:
        return None
    return re.findall(rb'"residual": \[[^]]*', text) if name == 'norms' else text if name else bool(text)

for line in open(work + '/subjects'):
    bound, name, command = line.rstrip('\n').split('|')
    more = {'FAIL_BOUND': '1'} if bound else {}
    done = run(command, FAIL_COUNT=work + '/count')
    wanted, n = result(name), int(open(work + '/count').read())
    if done.returncode or not wanted:
        sys.exit('FAILED: %s: %s' % (command, done.stderr.decode()))
    for at in range(1, n + 1) if rounds == 'all' or n <= 30 else sorted(draw.sample(range(1, n + 1), min(n, int(rounds)))):
        done = run(command, FAIL_AT=str(at), **more)
        said = [l for l in done.stderr.decode(errors='replace').splitlines() if ' warning: ' not in l]
        if not (done.returncode == 3 and len(said) == 1 or done.returncode == 0 and result(name) == wanted):
            bad += 1
            print('FAILED: %s, allocation %d of %d: exit %s: %s' % (command[:40], at, n, done.returncode, said))
    print('%-14s %5d allocations' % (command.split(' ')[0], n))
sys.exit(bad > 0)
END
exit $failed
