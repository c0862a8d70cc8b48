#!/usr/bin/env bash
# tests/e2e/library.sh – the installed files suffice for programs outside of the tree: the examples
# build from C and C++ with only the flags of pkg-config, and headers of their own may have any name
# of ours.
set -u
[ -n "${SAN:-}" ] && { echo 'sanitized builds are not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
here=$PWD cc=${CC:-cc}
make -s --no-print-directory install BUILD="${BUILD:-build}" PREFIX="$work/a place" >"$work/log" 2>&1 ||
    fail "make install: $(tail -1 "$work/log")"
place=$work/a\ place
export PKG_CONFIG_PATH=$place/lib/pkgconfig LD_LIBRARY_PATH=$place/lib
eval "use=($(pkg-config --cflags --libs evenkeel))"
for p in "$place"/bin/*; do
    m=$place/share/man/man1/${p##*/}.1
    command -v help2man >/dev/null || break
    for s in 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES; do grep -q "^.SH.*$s" "$m" || fail "${p##*/}.1 has no section $s"; done
done
command -v help2man >/dev/null && for c in plan run calibrate; do grep -qF 'Usage: cu\-run '$c "$place/share/man/man1/cu-run.1" || fail "cu-run.1 does not tell of $c"; done
command -v zsh >/dev/null && [ "$(zsh -fc 'fpath=("$1/share/zsh/site-functions" $fpath); autoload -U compinit; compinit -u -D; print $_comps[cu-run]' - "$place")" != _evenkeel ] && fail 'zsh does not find the completion'
bash -c '. "$1/share/bash-completion/completions/bt-mz" && complete -p bt-mz' - "$place" | grep -q -- --layout || fail 'no completion'
cd "$work" || exit 1

# A header of one's own with a name from the tree wins; names from inside are free.
mkdir src && echo '#define MINE 1' >src/status.h
for e in hello montecarlo heat; do
    cp "$here/cu/examples/$e.c" . && $cc -Wall -Wextra -I. "$e.c" "${use[@]}" -lm -o "$e" 2>log || fail "$e: $(head -3 log)"
    [ -s log ] && fail "$e: warnings: $(head -3 log)"
    objdump -p "$e" | grep NEEDED | grep -qE 'mpi|glpk|zmq' && fail "$e links what it does not use"
    ./$e --layout 1x1+1 --devices host:0 --compare static,dynamic,evenkeel --json run.json >log 2>&1 || fail "$e: $(cat log)"
    [ "$(grep -c '"verified": true' run.json)" = 3 ] || fail "$e is not verified"
done
$cc -Wall -Wextra "$here/mcsem/examples/fields.c" "${use[@]}" -lm -o fields 2>log && [ ! -s log ] || fail "fields: $(head -3 log)"
./fields | awk 'NR > 1 && $4 > 0 { n++; far = $4 } END { exit !(n == 8 && far > 3) }' || fail 'fields: no reservoir is seen'
[ "$(wc -l <hello.c)" -le 60 ] || fail 'hello.c has more than 60 lines'
./montecarlo --layout 1x1 | grep -q '^pi is 3\.14' || fail 'montecarlo: main() does not go on'
CU_LAYOUT=1x1 CU_SCHEDULE=gss ./hello | grep -q '^gss' || fail 'CU_SCHEDULE is not heeded'
[ "$(./hello --layout 1x1+1 --devices host:0 --report r.html >/dev/null && wc -c <r.html)" -gt 10000 ] || fail 'no report'
# What is written to a device's buffer is what is read from it.
sed 's|^    return ek_read\(.*\);|    EK_TRY(ek_read\1);\n    for (size_t i = r.begin; i < r.end; i++) integral[i] = -integral[i];\n    EK_TRY(ek_write\1);\n    for (size_t i = r.begin; i < r.end; i++) integral[i] = 0;\n    EK_TRY(ek_read\1);\n    for (size_t i = r.begin; i < r.end; i++) integral[i] = -integral[i];\n    return EK_OK;|' hello.c >written.c
grep -q ek_write written.c && $cc written.c "${use[@]}" -lm -o written 2>log && ./written --layout 0x0+1 --devices host:0 --check >log 2>&1 ||
    fail "ek_write(): $(head -3 log)"
CU_FAULT=unit:1@step:5 ./heat --layout 1x1+1 --devices host:0 --json run.json >log 2>&1 || fail "heat, a device lost: $(cat log)"
grep -q '"units_lost": 1' run.json && grep -q '"verified": true' run.json || fail 'heat does not survive a lost device'
if command -v mpirun >/dev/null; then
    mpirun --allow-run-as-root --oversubscribe -n 2 ./hello --layout 1x1 >log 2>&1 && fail 'two ranks of a program of one process are not refused'
    grep -q 'runs as one process' log || fail "two ranks: $(cat log)"
fi

cat >outside.c <<'EOF2'
#include "src/status.h"
#include <evenkeel.h>
#include <evenkeel/cu/bench/bench.h>
#if !MINE
#error another header than one's own
#endif
/* Names that the library has inside, too. */
double line_median(double x) { return x; }
int plan_open(void) { return 1; }
int arena_take(void) { return 2; }
/* A policy of one's own: everything to whoever asks first. */
struct all { size_t n; int given; };
static enum ek_status begin(void *st, const struct sched_job *job)
{
    *(struct all *)st = (struct all){job->n, 0};
    return EK_OK;
}
static struct ek_range next(void *st, int cu)
{
    struct all *a = st;
    (void)cu;
    return __sync_fetch_and_add(&a->given, 1) ? (struct ek_range){0, 0} : (struct ek_range){0, a->n};
}
static void step(void *st) { ((struct all *)st)->given = 0; }
static const struct sched_ops greedy_one = {.name = "one", .summary = "all to the first", .state_size = sizeof(struct all),
                                            .begin = begin, .next = next, .step = step};
/* Tasks that live where they were computed, and are never saved. */
static enum ek_status describe(void *st, struct cu_set *set, struct sched_job *job)
{
    *job = (struct sched_job){.n = 4, .grain = 1};
    return (void)st, (void)set, EK_OK;
}
static enum ek_status compute(void *st, const struct cu *cu, struct ek_range r, double *seconds)
{
    for (size_t i = r.begin; i < r.end; i++)
        seconds[i - r.begin] += 1e-6;
    return (void)st, (void)cu, EK_OK;
}
static enum ek_status move(void *st, size_t task, int from, int to, size_t *bytes)
{
    return (void)st, (void)task, (void)from, (void)to, *bytes += 1, EK_OK;
}
int main(int argc, char **argv)
{
    const struct team_ops verbs = {.compute = compute, .move = move};
    if (sched_add(&greedy_one) || !sched_add(&greedy_one))
        return 9;
    struct bench_program program = {.identity = {"outside", "a program of somebody else", "tasks/s", 8},
                                    .problem = {.open = describe}, .run = {.verbs = &verbs}};
    return sched_count() > 0 && backend_count() > 0 && plan_open() + arena_take() == (int)line_median(3)
               ? bench_main(&program, argc, argv) : 1;
}
EOF2
$cc -std=c11 -I. outside.c "${use[@]}" $(pkg-config --cflags jansson) -o outside 2>log && ./outside --help 2>/dev/null | grep -q 'a program of somebody else' &&
    ./outside --list-schedules 2>/dev/null | grep -q '^one  *all to the first' ||
    fail "an outside program: $(grep -m3 -iE 'error|undefined|multiple' log)"
./outside --layout 0x0+1 --devices host:0 --quiet 2>log && grep -q 'if a device is lost, the run ends' log ||
    fail "a program that cannot lose a device does not say so: $(cat log)"
./outside --layout 1x1 --quiet 2>log && ! grep -q 'is lost' log || fail "an outside program on cores: $(cat log)"
# The static library alone, too.
eval "all=($(pkg-config --static --cflags --libs evenkeel))"
$cc hello.c "${all[@]/#-levenkeel/-l:libevenkeel.a}" -o static 2>log && ./static --layout 1x1 --check >/dev/null ||
    fail "the static library: $(grep -m3 -iE 'error|undefined|multiple' log)"
if command -v g++ >/dev/null; then
    printf '%s\n' '#include <cmath>' '#include <evenkeel.h>' '#include <evenkeel/mcsem/fields.h>' 'int main() { return sched_count() > 0 ? 0 : 1; }' >plus.cc
    g++ -Wall -Wextra -Werror plus.cc "${use[@]}" -o plus 2>log && ./plus || fail "C++: $(head -3 log)"
    for f in heat ${EK_LONG:+hello montecarlo}; do
        g++ -std=c++20 -Wall -Werror -x c++ $f.c -x none "${use[@]}" -o plus 2>log && ./plus --layout 0x0+1 --devices host:0 --check >log 2>&1 ||
            fail "$f as C++: $(head -3 log)"
    done
fi
stray=$(nm -D --defined-only "$place/lib/libevenkeel.so" | awk '$2 ~ /[TDBRW]/ {print $3}' |
    grep -vE '^(ek|cu|sched|backend|team|bench|status|embed|kernel|opt|json|file|events)_|^mcsem_forward(@|$)')
[ -z "$stray" ] || fail "exported without a prefix: $(head -3 <<<"$stray")"
make -s --no-print-directory -C "$here" uninstall BUILD="${BUILD:-build}" PREFIX="$place" >log 2>&1 || fail "make uninstall: $(tail -1 log)"
[ -z "$(find "$place" -type f -o -type l)" ] || fail "left behind: $(find "$place" -type f -o -type l | head -3)"
exit 0
