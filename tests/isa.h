/* tests/isa.h – what tests of code over lanes share: all instruction levels that run here, one
 * after another. Those of one lane and of eight are among them on every machine. */
#pragma once

#include "src/isa.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ISA_MOST = 16 };

/* The next level after number i (-1 at first) that runs here is in force; its number, -1 at the
 * end, with the highest in force again. */
static inline int isa_next(int i)
{
    const struct isa *isa;
    while ((isa = isa_at(++i)))
        if (isa->built && isa->runs) {
            assert_int_equal(isa_change(isa->name), EK_OK);
            return i;
        }
    assert_int_equal(isa_change(NULL), EK_OK);
    return -1;
}

/* Whether a level has fused multiply-adds, so that contracted sums have other bits than without:
 * compilers contract one lane otherwise than four, and the levels of the tests not at all. */
static inline bool isa_fuses(int i)
{
    const char *name = isa_at(i)->name;
#ifdef __FP_FAST_FMA
    if (!strcmp(name, "plain") || !strcmp(name, "neon"))
        return true;
#endif
    return !strcmp(name, "v3") || !strcmp(name, "v4");
}

/* n results of every level are the same to the last bit; where `contracted`, of all levels with
 * fused operations and of all without, and these agree to `tolerance` of the largest. */
static inline void isa_compare(const char *what, int n, bool contracted, double tolerance,
                               void (*compute)(void *arg, double *to), void *arg)
{
    double *first[2] = {NULL, NULL}, *now = calloc((size_t)n, sizeof *now), scale = 0;
    int levels = 0;
    assert_non_null(now);
    for (int i = isa_next(-1); i >= 0; i = isa_next(i), levels++) {
        double **like = &first[contracted && isa_fuses(i)];
        for (int k = 0; k < n; k++)
            now[k] = NAN;
        compute(arg, now);
        if (!*like) {
            *like = now;
            now = calloc((size_t)n, sizeof *now);
            assert_non_null(now);
            continue;
        }
        for (int k = 0; k < n; k++)
            if (memcmp(&now[k], &(*like)[k], sizeof *now))
                fail_msg("%s: number %d is %.17g on level %s, %.17g before", what, k, now[k],
                         isa_at(i)->name, (*like)[k]);
    }
    assert_true(levels >= 3);
    for (int k = 0; k < n; k++)
        scale = fmax(scale, fabs(first[0][k]));
    for (int k = 0; k < n && first[1]; k++)
        if (!(fabs(first[0][k] - first[1][k]) <= tolerance * scale))
            fail_msg("%s: number %d is %.17g without and %.17g with fused operations", what, k,
                     first[0][k], first[1][k]);
    free(first[0]);
    free(first[1]);
    free(now);
}
