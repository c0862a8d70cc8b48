/* src/isa.c – the list of levels and the choice among them. */
#include "src/isa.h"

#include <stdatomic.h>

extern const char isa_built[]; /* names, each between blanks */

#if defined __x86_64__
#include <cpuid.h>
#define ISA_X86(test) (test)

static bool has_v2(void)
{
    return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
           __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

/* Features that __builtin_cpu_supports() does not know: movbe, f16c, lzcnt. */
static bool has_rest_of_v3(void)
{
    unsigned a, b, c = 0, d, extended = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && __get_cpuid(0x80000001, &a, &b, &extended, &d) &&
           (c & bit_MOVBE) && (c & bit_F16C) && (extended & 1u << 5);
}

static bool has_v3(void)
{
    return has_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_rest_of_v3();
}

static bool has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
#define ISA_X86(test) false
#endif

enum {
#define ISA_LEVEL(name, ...) LEVEL_##name,
#include "src/isa_list.h"
#undef ISA_LEVEL
    LEVELS
};

/* Levels below this one exist for tests and are used only on request. */
enum { LEAST = LEVEL_plain };

static bool is_built(const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = isa_built; (at = strstr(at, name)); at += n)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

static struct isa level[LEVELS];
static int in_force;        /* written before threads begin */
static _Atomic bool called; /* some level's function has been called */

const struct isa *isa_at(int i)
{
    return i >= 0 && i < LEVELS ? &level[i] : NULL;
}

static int highest(void)
{
    int best = LEAST;
    for (int i = LEAST; i < LEVELS; i++)
        if (level[i].built && level[i].runs)
            best = i;
    return best;
}

static enum ek_status find(const char *name, int *number)
{
    for (int i = 0; i < LEVELS; i++) {
        const struct isa *isa = &level[i];
        if (strcmp(isa->name, name) || !isa->built)
            continue;
        if (!isa->runs)
            FAIL(EK_UNAVAILABLE, "isa %s: this processor has no %s; %s is the highest level for it",
                 name, isa->summary, level[highest()].name);
        *number = i;
        return EK_OK;
    }
    FAIL(EK_USAGE, "isa '%s': this binary has the levels%.*s", name, (int)strlen(isa_built) - 1,
         isa_built);
}

/* NULL or "" means the highest. */
static enum ek_status number_of(const char *name, int *number)
{
    *number = highest();
    return name && *name ? find(name, number) : EK_OK;
}

enum ek_status isa_change(const char *name)
{
    int chosen;
    TRY(number_of(name, &chosen));
    in_force = chosen;
    return EK_OK;
}

enum ek_status isa_choose(const char *name)
{
    int chosen;
    TRY(number_of(name, &chosen));
    if (chosen != in_force && atomic_load_explicit(&called, memory_order_relaxed))
        FAIL(EK_UNAVAILABLE, "isa %s: too late, functions of level %s are in use already",
             level[chosen].name, level[in_force].name);
    in_force = chosen;
    return EK_OK;
}

int isa_now(void)
{
    /* Written only once, so that threads do not contend for the cache line. */
    if (!atomic_load_explicit(&called, memory_order_relaxed))
        atomic_store_explicit(&called, true, memory_order_relaxed);
    return in_force;
}

const char *isa_name(void)
{
    return level[in_force].name;
}

/* Runs before main(), so that no caller has to initialize it. */
__attribute__((constructor)) static void look(void)
{
#if defined __x86_64__
    __builtin_cpu_init();
#endif
    const struct isa all[LEVELS] = {
#define ISA_LEVEL(name, summary, runs) {#name, summary, is_built(#name), runs},
#include "src/isa_list.h"
#undef ISA_LEVEL
    };
    memcpy(level, all, sizeof level);
    if (MUTED(isa_change(getenv("CU_ISA")))) /* isa_choose() will report the error */
        in_force = highest();
}
