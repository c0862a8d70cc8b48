/* cu/sched/proven.c – remembers what was fastest. */
#include "cu/sched/proven.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After a division that failed, the next one must promise so many times as much. */
static const double MORE = 10;

/* The proven division itself takes longer or shorter by this share: the machine has changed, and
 * what failed before may do now. */
static const double CHANGED = 0.2;

enum ek_status proven_open(struct proven *p, size_t n, int ncu)
{
    *p = (struct proven){.n = n, .ncu = ncu, .seconds = INFINITY, .caution = 1};
    p->owner = calloc(n ? n : 1, sizeof *p->owner);
    p->off = calloc((size_t)ncu, sizeof *p->off);
    if (!p->owner || !p->off)
        FAIL(EK_UNAVAILABLE, "schedule: out of memory for %zu tasks", n);
    return EK_OK;
}

void proven_close(struct proven *p)
{
    free(p->owner);
    free(p->off);
    *p = (struct proven){0};
}

bool proven_judge(struct proven *p, double seconds, double doubt, int *owner, bool *off)
{
    if (!p->present && seconds > p->seconds * (1 + doubt)) {
        memcpy(owner, p->owner, p->n * sizeof *owner);
        memcpy(off, p->off, (size_t)p->ncu * sizeof *off);
        p->present = true;
        p->caution *= MORE;
        return true;
    }
    if (!p->present) {
        p->caution = 1;
        memcpy(p->owner, owner, p->n * sizeof *owner);
        memcpy(p->off, off, (size_t)p->ncu * sizeof *off);
    } else if (fabs(seconds / p->seconds - 1) > CHANGED + doubt) {
        p->caution = 1;
    }
    p->present = true;
    p->seconds = seconds;
    return false;
}
