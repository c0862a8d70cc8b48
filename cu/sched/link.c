/* cu/sched/link.c – latency and bandwidth from measured moves. */
#include "cu/sched/link.h"
#include "cu/sched/line.h"
#include "src/arena.h"
#include "src/sort.h"
#include "src/owned.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FEWEST = 6 };

/* Moves count as of one size if their sizes differ by less than this factor. */
static const double ALIKE = 1.25;

void link_note(struct link *l, int links, double bytes, double seconds)
{
    if (links > 0)
        l->move[l->count++ % LINK_MOVES] = (struct link_move){bytes, seconds / links};
}

SORT_BY(by_bytes, struct link_move, SORT_DOWN(bytes))

static size_t gather(const struct link *first, int n, size_t stride, struct link_move *all)
{
    size_t m = 0;
    for (int i = 0; i < n; i++) {
        const struct link *l = (const struct link *)((const char *)first + (size_t)i * stride);
        for (unsigned k = 0; k < l->count && k < LINK_MOVES; k++)
            all[m++] = l->move[k];
    }
    qsort(all, m, sizeof *all, by_bytes);
    return m;
}

/* Moves of one size cannot tell latency from bandwidth: both are scaled by the same factor. */
static struct sched_link scaled(struct sched_link known, const struct link_move *all, double *room,
                                size_t m)
{
    for (size_t i = 0; i < m; i++)
        room[i] = all[i].seconds / (known.latency + all[i].bytes * known.per_byte);
    const double factor = line_median(room, m);
    return (struct sched_link){factor * known.latency, factor * known.per_byte};
}

enum ek_status link_learn(const struct link *first, int n, size_t stride, struct sched_link *known)
{
    const size_t room = (size_t)n * LINK_MOVES;
    OWNED(arena_free) struct arena arena = {0};
    struct link_move *all = ARENA_NEW(&arena, room, struct link_move);
    double *x = ARENA_NEW(&arena, room, double), *y = ARENA_NEW(&arena, room, double);
    double *scratch = ARENA_NEW(&arena, room, double);
    TRY(arena_check(&arena, "%zu moves", room));
    const size_t m = gather(first, n, stride, all);
    for (size_t i = 0; i < m; i++) {
        x[i] = all[i].bytes;
        y[i] = all[i].seconds;
    }
    const bool knows = known->latency > 0 || known->per_byte > 0;
    if (m >= FEWEST && knows && all[m / 6].bytes < ALIKE * all[m - 1 - m / 6].bytes) {
        *known = scaled(*known, all, scratch, m);
    } else if (m >= FEWEST) {
        const struct line l = line_fit(x, y, scratch, m);
        *known = (struct sched_link){l.a, l.b};
    }
    return EK_OK;
}
