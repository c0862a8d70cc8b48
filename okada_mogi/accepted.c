/* okada_mogi/accepted.c – lists of records. */
#include "okada_mogi/accepted.h"
#include "src/sort.h"

/* ---- lists ------------------------------------------------------------------------------------*/

bool accepted_better(const struct accepted_record *a, const struct accepted_record *b)
{
    return a->misfit < b->misfit || (a->misfit == b->misfit && a->trial < b->trial);
}

enum ek_status accepted_add(struct accepted *a, const struct accepted_record *r)
{
    TRY(arena_grow(&a->record, &a->room, a->n, sizeof *r,
                   "accepted trials; accept fewer, or divide the job"));
    a->record[a->n++] = *r;
    return EK_OK;
}

void accepted_free(struct accepted *a)
{
    free(a->record);
    *a = (struct accepted){0};
}

SORT_BY(by_trial, struct accepted_record, SORT_UP(trial))

static int by_misfit(const void *a, const void *b)
{
    return accepted_better(b, a) - accepted_better(a, b);
}

/* Most lists are sorted already. */
static void sort(struct accepted *a, int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < a->n; i++)
        if (compare(&a->record[i - 1], &a->record[i]) > 0) {
            qsort(a->record, a->n, sizeof *a->record, compare);
            return;
        }
}

void accepted_sort(struct accepted *a)
{
    sort(a, by_trial);
}

void accepted_sort_best(struct accepted *a)
{
    sort(a, by_misfit);
}
