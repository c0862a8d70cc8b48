/* cu/moldable/packing.c – tournament trees of the nodes for every width. */
#include "cu/moldable/packing.h"

/* Kinds that need the same GPUs and memory share a tree. */
enum { MOST_NEEDS = 16 };

struct packing {
    const struct timeline *timeline;
    double limit;
    int leaves, widest;
    int *node;                     /* [nnodes] of leaf i, by ascending speed */
    const double *initial;         /* [cores] timeline->free without any task */
    double *free;                  /* [leaves][widest] when 1, 2, … cores of it are free, s */
    double *lane;                  /* as timeline->lane */
    int nneeds, first[MOST_NEEDS]; /* a kind with each need */
    int *need;                     /* [nkinds] */
    double *offer[MOST_NEEDS];     /* [2 leaves][widest] of tree node i, whose children are 2 i and
                                    * 2 i + 1 */
    double *most;                  /* [widest] scratch */
};

/* first [MOST_NEEDS] and need [nkinds], which may be NULL, as above. Returns the number of needs;
 * MOST_NEEDS + 1: too many. */
static int find_needs(const struct moldable_problem *p, int *first, int *need)
{
    int needs = 0;
    for (int k = 0; k < p->nkinds; k++) {
        int i = 0;
        while (i < needs && (p->kinds[first[i]].gpus != p->kinds[k].gpus ||
                             p->kinds[first[i]].memory != p->kinds[k].memory))
            i++;
        if (i == MOST_NEEDS)
            return MOST_NEEDS + 1;
        if (i == needs)
            first[needs++] = k;
        if (need)
            need[k] = i;
    }
    return needs;
}

bool packing_applies(const struct moldable_problem *p)
{
    int first[MOST_NEEDS];
    for (int k = 0; k < p->nkinds; k++)
        if (p->kinds[k].cluster || p->kinds[k].nafter)
            return false;
    return find_needs(p, first, NULL) <= MOST_NEEDS;
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
    struct arena *arena = &timeline->arena;
    struct packing *f = ARENA_NEW(arena, 1, struct packing);
    int leaves = 1;
    while (leaves < p->nnodes)
        leaves *= 2;
    const size_t cells = (size_t)leaves * (size_t)timeline->widest;
    if (!f)
        return NULL;
    timeline_clear(timeline);
    *f = (struct packing){.timeline = timeline, .leaves = leaves, .widest = timeline->widest};
    f->node = ARENA_NEW(arena, p->nnodes, int);
    f->need = ARENA_NEW(arena, p->nkinds, int);
    f->free = ARENA_NEW(arena, cells, double);
    f->most = ARENA_NEW(arena, timeline->widest, double);
    f->lane = ARENA_NEW(arena, timeline->lanes[p->nnodes], double);
    f->initial =
        arena_copy(arena, timeline->free, (size_t)timeline->first[p->nnodes], sizeof *f->initial);
    if (arena->failed)
        return NULL;
    f->nneeds = find_needs(p, f->first, f->need);
    for (int i = 0; i < f->nneeds; i++)
        f->offer[i] = ARENA_NEW(arena, 2 * cells, double);
    for (int i = 0; i < p->nnodes; i++)
        f->node[i] = i;
    qsort_r(f->node, (size_t)p->nnodes, sizeof *f->node, slower, (void *)p);
    return arena->failed ? NULL : f;
}

static double *free_of(const struct packing *f, int leaf)
{
    return f->free + (size_t)leaf * (size_t)f->widest;
}

static double *lanes_of(const struct packing *f, int node)
{
    return f->lane + f->timeline->lanes[node];
}

static double *offers(const struct packing *f, int need, int i)
{
    return f->offer[need] + (size_t)i * (size_t)f->widest;
}

static double resources_free(const struct packing *f, int need, int node)
{
    const struct moldable_problem *p = f->timeline->problem;
    return timeline_resources_free(&p->kinds[f->first[need]], &p->node[node], lanes_of(f, node));
}

static void set_leaf(struct packing *f, int need, int leaf)
{
    const struct moldable_problem *p = f->timeline->problem;
    const struct moldable_node *n = leaf < p->nnodes ? &p->node[f->node[leaf]] : NULL;
    const double *free = free_of(f, leaf);
    const double from = n ? resources_free(f, need, f->node[leaf]) : 0;
    double *offer = offers(f, need, f->leaves + leaf);
    for (int w = 0; w < f->widest; w++)
        offer[w] =
            n && w < n->cores ? (f->limit - (free[w] > from ? free[w] : from)) * n->factor : -1;
}

/* Has it changed? */
static bool set_parent(struct packing *f, int need, int i)
{
    const double *restrict a = offers(f, need, 2 * i), *restrict b = offers(f, need, 2 * i + 1);
    double *restrict most = f->most;
    for (int w = 0; w < f->widest; w++)
        most[w] = a[w] > b[w] ? a[w] : b[w];
    const size_t size = (size_t)f->widest * sizeof *most;
    const bool changed = memcmp(offers(f, need, i), most, size);
    if (changed)
        memcpy(offers(f, need, i), most, size);
    return changed;
}

void packing_begin(struct packing *f, double limit)
{
    const struct moldable_problem *p = f->timeline->problem;
    f->limit = limit;
    memset(f->lane, 0, (size_t)f->timeline->lanes[p->nnodes] * sizeof *f->lane);
    for (int leaf = 0; leaf < p->nnodes; leaf++)
        memcpy(free_of(f, leaf), f->initial + f->timeline->first[f->node[leaf]],
               (size_t)p->node[f->node[leaf]].cores * sizeof *f->free);
    for (int need = 0; need < f->nneeds; need++) {
        for (int leaf = 0; leaf < f->leaves; leaf++)
            set_leaf(f, need, leaf);
        for (int i = f->leaves - 1; i > 0; i--)
            set_parent(f, need, i);
    }
}

/* The leaf's first w cores, and what else the kind needs, are busy until `finish`. */
static void occupy(struct packing *f, int leaf, const struct moldable_kind *k, int w, double finish)
{
    const struct moldable_problem *p = f->timeline->problem;
    const struct moldable_node *n = &p->node[f->node[leaf]];
    timeline_take(free_of(f, leaf), n->cores, w, finish);
    timeline_take_resources(k, n, lanes_of(f, f->node[leaf]), finish);
    for (int need = 0; need < f->nneeds; need++) {
        if (!moldable_can_host(&p->kinds[f->first[need]], n))
            continue;
        set_leaf(f, need, leaf);
        for (int i = (f->leaves + leaf) / 2; i > 0 && set_parent(f, need, i); i /= 2)
            continue;
    }
}

bool packing_place(struct packing *f, int task, int least, struct moldable_choice *choice)
{
    const struct moldable_problem *p = f->timeline->problem;
    const struct moldable_kind *k = &p->kinds[p->kind[task]];
    const int kind = p->kind[task], need = f->need[kind], most = moldable_most(k, f->widest);
    const double *root = offers(f, need, 1);
    int w = (least > k->least ? least : moldable_fewest(k)) - 1, i = 1;
    while (w < most && timeline_seconds(f->timeline, kind, f->widest, w + 1) > root[w])
        w++;
    if (w >= most)
        return false;
    const double wanted = timeline_seconds(f->timeline, kind, f->widest, w + 1);
    while (i < f->leaves)
        i = 2 * i + (offers(f, need, 2 * i)[w] < wanted);
    const int leaf = i - f->leaves, node = f->node[leaf];
    const double start = fmax(free_of(f, leaf)[w], resources_free(f, need, node));
    const double seconds = timeline_seconds(f->timeline, kind, p->node[node].cores, w + 1);
    *choice = (struct moldable_choice){task, node, w + 1, w};
    occupy(f, leaf, k, w + 1, start + seconds / p->node[node].factor);
    return true;
}
