/* cu/moldable/pattern.c – equal tasks on the cores of one node, by dynamic programming. */
#include "cu/moldable/pattern.h"

#include <math.h>
#include <stddef.h>

static size_t cell(int width, int g)
{
    return (size_t)width * (PATTERN_CELLS + 1) + (size_t)g;
}

/* N(w, g) from those of narrower widths and shorter times. */
static void solve(struct pattern *p, int w, int g)
{
    uint32_t best = 0;
    int part = w;
    if (p->cost[w] <= g) {
        best = 1 + p->most[cell(w, g - p->cost[w])];
        part = 0;
    }
    for (int a = 1; a <= w / 2; a++) {
        uint32_t n = p->most[cell(a, g)] + p->most[cell(w - a, g)];
        if (n > best) {
            best = n;
            part = a;
        }
    }
    p->most[cell(w, g)] = best;
    p->part[cell(w, g)] = (uint16_t)part;
}

enum ek_status pattern_open(struct pattern *p, int cores, const double *seconds, double time)
{
    size_t cells = cell(cores + 1, 0);
    p->cores = cores;
    p->most = ARENA_NEW(&p->arena, cells, uint32_t);
    p->part = ARENA_NEW(&p->arena, cells, uint16_t);
    TRY(arena_check(&p->arena, "the patterns of %d cores", cores));
    for (int w = 1; w <= cores; w++) {
        double cost = ceil(seconds[w - 1] / time * PATTERN_CELLS * (1 - 1e-12));
        p->cost[w] = cost <= PATTERN_CELLS ? (int)fmax(cost, 1) : PATTERN_CELLS + 1;
        for (int g = 0; g <= PATTERN_CELLS; g++)
            solve(p, w, g);
    }
    return EK_OK;
}

void pattern_close(struct pattern *p)
{
    arena_free(&p->arena);
    *p = (struct pattern){0};
}

/* ---- unrolling --------------------------------------------------------------------------------*/
struct unroll {
    const struct pattern *pattern;
    bool (*run)(void *context, int width, double start, double *finish);
    void *context;
};

static bool unroll(const struct unroll *u, int width, int g, double start)
{
    for (;;) {
        int part = u->pattern->part[cell(width, g)];
        if (part == width) /* idle */
            return true;
        if (part)
            return unroll(u, part, g, start) && unroll(u, width - part, g, start);
        if (!u->run(u->context, width, start, &start))
            return false;
        g -= u->pattern->cost[width];
    }
}

void pattern_unroll(const struct pattern *p,
                    bool (*run)(void *context, int width, double start, double *finish),
                    void *context)
{
    const struct unroll u = {p, run, context};
    unroll(&u, p->cores, PATTERN_CELLS, 0);
}
