# tests/e2e/long/adding.sh – adds a policy, a back end, a program, a model, a moldable method and a
# benchmark to a copy of the tree, as the README says: one file and one line, or a folder. What was built already serves the copy.
# Environment: BUILD.
. tests/check.sh
unset MAKEFLAGS MFLAGS BIN EK_LONG
built=${BUILD:-build}
[ -z "${SAN:-}" ] && [ "$built" = build ] || { echo 'skipped: for a build in build/'; exit 77; }
{
    git ls-files -z
    find config.mk build -type f \( -name config.mk -o -name '*.[adho]' -o -name '*.c' -o -name flags -o -name texts \
        -o -name 'lib*.so*' \) -print0 2>/dev/null
} | xargs -0 cp -p --parents -t "$work" 2>/dev/null
cd "$work" || exit 1

# A policy: the last tasks to the first unit.
sed 's|policy/static.c|policy/last_first.c|; s/sched_static/sched_last_first/; s/"static"/"last-first"/
    s/, never changed"/, the last ones first"/' cu/sched/policy/static.c >cu/sched/policy/last_first.c
sed -i 's/^SCHED(static)$/&\nSCHED(last_first)/' cu/sched/sched_list.h

# A back end: the host's compiler under another name.
sed 's|backends/host.c|backends/mirror.c|; s/backend_host/backend_mirror/; s/"host"/"mirror"/; s/"host:%d/"mirror:%d/' \
    backends/host.c >backends/mirror.c
echo 'BACKEND(mirror)' >>backends/backend_list.h

# A model of displacements: Mogi's by another name, with a program.
sed 's|okada_mogi/mogi.c|okada_mogi/sphere.c|; s/model_mogi/model_sphere/; s/"mogi"/"sphere"/' okada_mogi/mogi.c >okada_mogi/sphere.c
sed 's/mogi\.c/sphere.c/; s|bin/mogi|bin/sphere|; s/"mogi"/"sphere"/' okada_mogi/main_mogi.c >okada_mogi/main_sphere.c
echo 'MODEL(sphere)' >>okada_mogi/model_list.h

# A moldable method: one core for each task by another name.
sed 's|method/taskp.c|method/narrow.c|; s/moldable_taskp/moldable_narrow/; s/"taskp"/"narrow"/' \
    cu/moldable/method/taskp.c >cu/moldable/method/narrow.c
sed -i 's/^MOLDABLE(taskp)$/&\nMOLDABLE(narrow)/' cu/moldable/moldable_list.h

# A program: squares of the tasks' numbers.
mkdir adder
cat >adder/adder.h <<'END'
/* adder/adder.h – squares of numbers. */
#ifndef ADDER_ADDER_H
#define ADDER_ADDER_H

long adder_square(long x);

#endif
END
cat >adder/adder.c <<'END'
/* adder/adder.c – squares of numbers. */
#include "adder/adder.h"

long adder_square(long x)
{
    return x * x;
}
END
cat >adder/main_adder.c <<'END'
/* adder/main_adder.c – bin/adder. */
#include "adder/adder.h"
#include "cu/bench/bench.h"

enum { TASKS = 97 };

struct adder {
    long square[TASKS];
};

static enum ek_status open_tasks(void *st, struct cu_set *set, struct sched_job *job)
{
    (void)st, (void)set;
    *job = (struct sched_job){.n = TASKS, .grain = 1};
    return EK_OK;
}

static enum ek_status compute(void *st, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct adder *a = st;
    (void)cu;
    for (size_t i = r.begin; i < r.end; i++) {
        a->square[i] = adder_square((long)i);
        seconds[i - r.begin] += 1e-6;
    }
    return EK_OK;
}

static enum ek_status check(void *st, enum bench_verdict *verdict, json_t **detail)
{
    const struct adder *a = st;
    long sum = 0;
    (void)detail;
    for (int i = 0; i < TASKS; i++)
        sum += a->square[i];
    *verdict = sum == (TASKS - 1) * TASKS * (2 * TASKS - 1) / 6 ? BENCH_VERIFIED : BENCH_WRONG;
    return EK_OK;
}

int main(int argc, char **argv)
{
    static const struct team_ops verbs = {.compute = compute};
    const struct bench_program program = {
        .identity = {"adder", "squares of numbers", "tasks/s", sizeof(struct adder)},
        .problem = {.open = open_tasks},
        .run = {.verbs = &verbs},
        .output = {.check = check}};
    return bench_main(&program, argc, argv);
}
END

# A benchmark.
cat >tests/bench/adder.c <<'END'
/* tests/bench/adder.c – what a square costs beside a sum. */
#include "adder/adder.h"
#include <stdio.h>

int main(void)
{
    printf("square %ld\n", adder_square(12));
    return 0;
}
END

nice make -s bin/adder bin/bt-mz bin/sphere bin/cu-run bin/cu-info build/tests/test_cu_sched_laws build/tests/test_cu_moldable build/bench/adder >out 2>&1 ||
    say "make: $(grep -m3 -iE 'error|No rule' out)"
grep -q 'warning:' out && say "warnings: $(grep -m3 warning: out)"
bin/adder --list-schedules | grep -q '^last-first ' || say 'the policy is not listed'
bin/adder --list-devices | grep -q '^mirror:3 ' || say 'the back end is not listed'
build/tests/test_cu_sched_laws >out 2>&1 || say "the policy breaks a law: $(grep -m3 'LINE' out)"
bin/adder --layout 2x1 --compare --repeat 2 --json all.json >out 2>&1 || say "the program: $(tail -2 out)"
[ "$(grep -c '"verified": true' all.json)" = "$(bin/adder --list-schedules | grep -c '^[a-z]')" ] ||
    say "the program does not verify under every policy: $(grep -c '"verified": true' all.json)"
grep -q 'NO$' out && say 'the program: a wrong result'
bin/adder --help | grep -q -- '--compare' || say 'the program has no common options'
bin/bt-mz --class S --layout 0x0+1 --devices mirror:1 --steps 2 --schedule last-first --quiet >out 2>&1 ||
    say "the back end: $(cat out)"
sed 's/"model": *"mogi"/"model": "sphere"/' okada_mogi/examples/campi.json >okada_mogi/examples/sphere.json
for level in $(bin/cu-info --json | python3 -c 'import json, sys
print(*[l["name"] for l in json.load(sys.stdin)["isa_levels"] if l["runs"]])'); do
    bin/sphere okada_mogi/examples/sphere.json --isa "$level" --layout 1x1 --quiet --json sphere.json >out 2>&1 && grep -q '"accepted": 1859,' sphere.json ||
        say "the model, level $level: $(cat out; grep '"accepted"' sphere.json)"
done
nm -C build/okada_mogi/sphere.o 2>/dev/null | grep -q respond && say 'the model is compiled for one level of instructions only'
bin/cu-run plan --tasks '9 x 7/p^0.5, 3 x 20/p' --nodes 'a:2:1,b:3:1.5' >out 2>&1
[ "$(awk '$1 == "narrow" { print $2 }' out)" = "$(awk '$1 == "taskp" { print $2 }' out)" ] && grep -q '^narrow ' out ||
    say "the method: $(cat out)"
build/tests/test_cu_moldable >out 2>&1 || say "the method breaks a law: $(grep -m3 LINE out)"
BENCH=adder bash tests/bench/run.sh 2>&1 | grep -qx 'square 144' || say 'make bench does not find the benchmark'
exit $failed
