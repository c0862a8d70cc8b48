/* okada_mogi/pieces.c – how large a task is. */
#include "okada_mogi/pieces.h"

/* PER_UNIT tasks for each unit at least; more, within the limits, while each costs at least `worth`
 * station evaluations: batches are as small as a hundredth of a node's share. */
enum { PER_UNIT = 32, MOST_PER_UNIT = 1024, MANY = 4096, MOST = 1 << 20 };
static const double worth = 1e5;

/* Trials of a task: a multiple of the grain. */
static trial_number task_size(const struct search *s, const struct trial_range *ranges,
                              size_t nranges, int units)
{
    const trial_number grain = search_grain(s);
    const double least = fmin(PER_UNIT * (double)units, MOST),
                 most = fmin(fmax(MANY, MOST_PER_UNIT * (double)units), MOST);
    trial_number count = 0;
    double cost = 0;
    for (size_t i = 0; i < nranges; i++) {
        count += ranges[i].count;
        cost += search_cost(s, ranges[i]);
    }
    const trial_number tasks = (trial_number)fmin(ceil(fmax(cost / worth, least)), most);
    const trial_number grains = (count + grain - 1) / grain;
    return grain * ((grains + tasks - 1) / tasks);
}

/* Tasks end at multiples of their size, wherever a range begins. */
static size_t pieces(struct trial_range r, trial_number size)
{
    return r.count ? (size_t)((r.first + r.count - 1) / size - r.first / size + 1) : 0;
}

static struct trial_range piece(struct trial_range r, trial_number size, size_t i)
{
    return trial_overlap((struct trial_range){(r.first / size + i) * size, size}, r);
}

static enum ek_status make_room(struct pieces *t, size_t n)
{
    if (n <= t->room)
        return EK_OK;
    struct trial_range *range = malloc(n * sizeof *range);
    double *cost = malloc(n * sizeof *cost);
    if (!range || !cost) {
        free(range);
        free(cost);
        FAIL(EK_UNAVAILABLE, "out of memory for %zu tasks", n);
    }
    pieces_free(t);
    *t = (struct pieces){.room = n, .range = range, .cost = cost};
    return EK_OK;
}

enum ek_status pieces_cut(struct pieces *t, const struct search *s,
                          const struct trial_range *ranges, size_t nranges, int units)
{
    size_t n = 0;
    const trial_number size = task_size(s, ranges, nranges, units);
    for (size_t i = 0; i < nranges; i++)
        n += pieces(ranges[i], size);
    TRY(make_room(t, n));
    t->n = 0;
    for (size_t i = 0; i < nranges; i++)
        for (size_t k = 0; k < pieces(ranges[i], size); k++, t->n++) {
            t->range[t->n] = piece(ranges[i], size, k);
            t->cost[t->n] = search_cost(s, t->range[t->n]);
        }
    return EK_OK;
}

void pieces_free(struct pieces *t)
{
    free(t->range);
    free(t->cost);
    *t = (struct pieces){0};
}
