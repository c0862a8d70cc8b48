/* cu/moldable/packing.c – a tournament tree of the nodes for every width. */
#include "cu/moldable/packing.h"

#include <stdlib.h>
#include <string.h>

struct packing {
    const struct timeline *timeline;
    double limit;
    int leaves, widest;
    int *node;             /* [nnodes] of leaf i, by ascending speed */
    const double *initial; /* [cores] timeline->free without any task */
    double *free;          /* [leaves][widest] when 1, 2, … cores of it are free, s */
    double *offer; /* [2 leaves][widest] of tree node i, whose children are 2 i and 2 i + 1 */
};

bool packing_applies(const struct moldable_problem *p)
{
    for (int k = 0; k < p->nkinds; k++)
        if (p->kinds[k].cluster || p->kinds[k].nafter || p->kinds[k].gpus ||
            p->kinds[k].memory > 0 || p->kinds[k].interference > 0)
            return false;
    return true;
}

static int slower(const void *a, const void *b, void *problem)
{
    const struct moldable_problem *p = problem;
    const int x = *(const int *)a, y = *(const int *)b;
    const double fx = p->node[x].factor, fy = p->node[y].factor;
    return fx != fy ? (fx < fy ? -1 : 1) : x - y;
}

struct packing *packing_open(struct timeline *timeline)
{
    const struct moldable_problem *p = timeline->problem;
    struct packing *f = ARENA_NEW(&timeline->arena, 1, struct packing);
    int *node = ARENA_NEW(&timeline->arena, p->nnodes, int), leaves = 1;
    while (leaves < p->nnodes)
        leaves *= 2;
    const size_t cells = (size_t)leaves * (size_t)timeline->widest;
    double *offer = ARENA_NEW(&timeline->arena, 2 * cells, double);
    double *free = ARENA_NEW(&timeline->arena, cells, double);
    if (timeline->arena.failed)
        return NULL;
    timeline_clear(timeline);
    const double *initial = arena_copy(&timeline->arena, timeline->free,
                                       (size_t)timeline->first[p->nnodes], sizeof *initial);
    if (!initial)
        return NULL;
    *f = (struct packing){timeline, 0, leaves, timeline->widest, node, initial, free, offer};
    for (int i = 0; i < p->nnodes; i++)
        node[i] = i;
    qsort_r(node, (size_t)p->nnodes, sizeof *node, slower, (void *)p);
    return f;
}

static double *offers(const struct packing *f, int i)
{
    return f->offer + (size_t)i * (size_t)f->widest;
}

static void set_leaf(struct packing *f, int leaf)
{
    const struct moldable_problem *p = f->timeline->problem;
    const struct moldable_node *n = leaf < p->nnodes ? &p->node[f->node[leaf]] : NULL;
    const double *free = f->free + (size_t)leaf * (size_t)f->widest;
    double *offer = offers(f, f->leaves + leaf);
    for (int w = 0; w < f->widest; w++)
        offer[w] = n && w < n->cores ? (f->limit - free[w]) * n->factor : -1;
}

static void set_parent(struct packing *f, int i)
{
    const double *restrict a = offers(f, 2 * i), *restrict b = offers(f, 2 * i + 1);
    double *restrict most = offers(f, i);
    for (int w = 0; w < f->widest; w++)
        most[w] = a[w] > b[w] ? a[w] : b[w];
}

void packing_begin(struct packing *f, double limit)
{
    const struct moldable_problem *p = f->timeline->problem;
    f->limit = limit;
    for (int leaf = 0; leaf < f->leaves; leaf++) {
        if (leaf < p->nnodes)
            memcpy(f->free + (size_t)leaf * (size_t)f->widest,
                   f->initial + f->timeline->first[f->node[leaf]],
                   (size_t)p->node[f->node[leaf]].cores * sizeof *f->free);
        set_leaf(f, leaf);
    }
    for (int i = f->leaves - 1; i > 0; i--)
        set_parent(f, i);
}

/* The leaf's first w cores are busy until `finish`. */
static void occupy(struct packing *f, int leaf, int w, double finish)
{
    timeline_take(f->free + (size_t)leaf * (size_t)f->widest,
                  f->timeline->problem->node[f->node[leaf]].cores, w, finish);
    set_leaf(f, leaf);
    for (int i = (f->leaves + leaf) / 2; i > 0; i /= 2)
        set_parent(f, i);
}

bool packing_place(struct packing *f, int task, int least, struct moldable_choice *choice)
{
    const struct moldable_problem *p = f->timeline->problem;
    const struct moldable_kind *k = &p->kinds[p->kind[task]];
    const double *seconds = f->timeline->seconds + (size_t)p->kind[task] * (size_t)f->widest;
    const double *root = offers(f, 1);
    int w = (least > k->least ? least : k->least) - 1, i = 1;
    const int most = k->most && k->most < f->widest ? k->most : f->widest;
    w = w < 0 ? 0 : w;
    while (w < most && seconds[w] > root[w])
        w++;
    if (w >= most)
        return false;
    while (i < f->leaves)
        i = 2 * i + (offers(f, 2 * i)[w] < seconds[w]);
    const int leaf = i - f->leaves, node = f->node[leaf];
    const double start = f->free[(size_t)leaf * (size_t)f->widest + (size_t)w];
    *choice = (struct moldable_choice){task, node, w + 1, w};
    occupy(f, leaf, w + 1, start + seconds[w] / p->node[node].factor);
    return true;
}
