/* cu/sched/incumbent.c – remembers what was fastest. */
#include "cu/sched/incumbent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After a division that failed, the next one must promise so many times as much. */
static const double MORE = 10;

/* The incumbent itself takes longer or shorter by this share: the machine has changed, and what
 * failed before may do now. */
static const double CHANGED = 0.2;

enum ek_status incumbent_open(struct incumbent *p, size_t n)
{
    *p = (struct incumbent){.n = n, .seconds = INFINITY, .caution = 1};
    p->owner = calloc(n ? n : 1, sizeof *p->owner);
    if (!p->owner)
        FAIL(EK_UNAVAILABLE, "schedule: out of memory for %zu tasks", n);
    return EK_OK;
}

void incumbent_close(struct incumbent *p)
{
    free(p->owner);
    *p = (struct incumbent){0};
}

void incumbent_renew(struct incumbent *p, double planned)
{
    if (isfinite(p->seconds) && p->planned > 0 && planned > 0)
        p->seconds *= planned / p->planned;
    p->planned = planned;
}

bool incumbent_judge(struct incumbent *p, double seconds, double planned, double doubt,
                     const int *owner)
{
    const bool same = memcmp(owner, p->owner, p->n * sizeof *owner) == 0;
    if (!same && seconds > p->seconds * (1 + doubt)) {
        p->caution *= MORE;
        return true;
    }
    if (!same || fabs(seconds / p->seconds - 1) > CHANGED + doubt)
        p->caution = 1;
    memcpy(p->owner, owner, p->n * sizeof *owner);
    p->seconds = seconds;
    p->planned = planned;
    return false;
}
