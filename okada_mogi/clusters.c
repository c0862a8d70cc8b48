/* okada_mogi/clusters.c – connected components of a sorted list of cells.
 *
 * Cells that share the places of their first axes are adjacent in the list, so it is a tree. A
 * node's cells are joined by joining those of each child, and those of children whose places differ
 * by one, recursively. Dense clouds become one set after few steps, and nodes that are one set are
 * skipped. */
#include "okada_mogi/clusters.h"
#include "okada_mogi/job.h"
#include "src/sort.h"

/* Number of a cell: its places in mixed radix, the first axis slowest. */
typedef trial_number cell_number;

struct cluster {
    uint32_t root;
    size_t trials;
};

struct clusters {
    struct arena arena; /* of what follows */
    int naxes, level;   /* cells are 2^level values wide */
    long low[JOB_AXES], high[JOB_AXES];
    cell_number radix[JOB_AXES]; /* cells from one place of the axis to the next */
    size_t room, n;
    cell_number *cell;       /* [room]; ascending without duplicates after sort_cells() */
    uint32_t *parent;        /* [n] union-find forest */
    uint32_t *same;          /* [n] cells i .. same[i] - 1 are known to be one set */
    struct cluster *cluster; /* [nclusters], the largest first after clusters_rank() */
    uint32_t *number;        /* [n] index of a root's cluster */
    size_t nclusters;
};

static void set_level(struct clusters *s, int level)
{
    cell_number radix = 1;
    s->level = level;
    for (int a = s->naxes - 1; a >= 0; a--) {
        s->radix[a] = radix;
        radix *= (cell_number)(((s->high[a] - s->low[a]) >> level) + 1);
    }
}

enum ek_status clusters_open(int naxes, const long *low, const long *high, size_t cells,
                             struct clusters **s)
{
    NEW(struct clusters, made, 1, "out of memory for the clusters of accepted trials");
    made->naxes = naxes;
    made->room = cells;
    made->cell = ARENA_NEW(&made->arena, cells, cell_number);
    TRY_OR(arena_check(&made->arena, "the clusters of accepted trials"), clusters_close(made));
    memcpy(made->low, low, (size_t)naxes * sizeof *low);
    memcpy(made->high, high, (size_t)naxes * sizeof *high);
    set_level(made, 0);
    *s = made;
    return EK_OK;
}

ARENA_CLOSE(clusters_close, struct clusters)

/* ---- cells ------------------------------------------------------------------------------------*/

static cell_number cell_of(const struct clusters *s, const long *place)
{
    cell_number cell = 0;
    for (int a = 0; a < s->naxes; a++)
        cell += s->radix[a] * (cell_number)((place[a] - s->low[a]) >> s->level);
    return cell;
}

static int ascending(const void *a, const void *b)
{
    const cell_number x = *(const cell_number *)a, y = *(const cell_number *)b;
    return (x > y) - (x < y);
}

/* Sorts, and removes duplicates. At level 0 trials come in order, so there is nothing to sort. */
static void sort_cells(struct clusters *s)
{
    size_t kept = 0;
    for (size_t i = 1; i < s->n; i++)
        if (s->cell[i - 1] >= s->cell[i]) {
            qsort(s->cell, s->n, sizeof *s->cell, ascending);
            break;
        }
    for (size_t i = 0; i < s->n; i++)
        if (!kept || s->cell[kept - 1] != s->cell[i])
            s->cell[kept++] = s->cell[i];
    s->n = kept;
}

/* Doubles the width of cells. */
static void coarsen(struct clusters *s)
{
    const int level = s->level;
    cell_number fine[JOB_AXES];
    memcpy(fine, s->radix, (size_t)s->naxes * sizeof *fine);
    set_level(s, level + 1);
    for (size_t i = 0; i < s->n; i++) {
        cell_number rest = s->cell[i], cell = 0;
        for (int a = 0; a < s->naxes; a++) {
            cell += s->radix[a] * (rest / fine[a] >> 1);
            rest %= fine[a];
        }
        s->cell[i] = cell;
    }
    sort_cells(s);
}

void clusters_add(struct clusters *s, const long *place)
{
    if (s->n == s->room) {
        sort_cells(s);
        while (s->n > s->room / 2)
            coarsen(s);
    }
    s->cell[s->n++] = cell_of(s, place);
}

/* ---- sets -------------------------------------------------------------------------------------*/

static uint32_t root_of(const struct clusters *s, uint32_t i)
{
    while (s->parent[i] != i) {
        s->parent[i] = s->parent[s->parent[i]];
        i = s->parent[i];
    }
    return i;
}

/* The first cell of a set is its root. */
static void unite(struct clusters *s, uint32_t a, uint32_t b)
{
    const uint32_t x = root_of(s, a), y = root_of(s, b);
    if (x < y)
        s->parent[y] = x;
    else
        s->parent[x] = y;
}

/* Cells of one node of the tree: begin .. end - 1, which agree in all axes before `depth`. */
struct node {
    uint32_t begin, end;
    cell_number first; /* lowest number that a cell of it can have */
};

/* Whether all cells of a node are one set. same[] stays valid, since sets only grow. */
static bool is_one(struct clusters *s, const struct node *n)
{
    const uint32_t root = root_of(s, n->begin);
    uint32_t i = n->begin;
    while (i < n->end && root_of(s, i) == root)
        i = s->same[i] > i ? s->same[i] : i + 1;
    if (i > s->same[n->begin])
        s->same[n->begin] = i;
    return i >= n->end;
}

static bool are_one(struct clusters *s, const struct node *a, const struct node *b)
{
    return root_of(s, a->begin) == root_of(s, b->begin) && is_one(s, a) && is_one(s, b);
}

/* The child of a node that begins at cell `begin`; *place: its place along axis `depth`. */
static struct node child_at(const struct clusters *s, const struct node *n, int depth,
                            uint32_t begin, cell_number *place)
{
    const cell_number radix = s->radix[depth];
    *place = (s->cell[begin] - n->first) / radix;
    const cell_number first = n->first + *place * radix;
    uint32_t next = begin + 1, high = next, step = 1;
    while (high < n->end && s->cell[high] - first < radix) {
        next = high + 1;
        high = n->end - high > step ? high + step : n->end;
        step *= 2;
    }
    SORT_BISECT(next, high, s->cell[middle] - first < radix)
    return (struct node){begin, next, first};
}

/* Joins neighbouring cells of two nodes, which are neighbours in all axes before `depth`. */
static void join_pair(struct clusters *s, const struct node *a, const struct node *b, int depth)
{
    if (are_one(s, a, b))
        return;
    if (depth == s->naxes) {
        unite(s, a->begin, b->begin);
        return;
    }
    uint32_t from = b->begin; /* earlier children of b are too far away */
    struct node x, y;
    for (uint32_t i = a->begin; i < a->end; i = x.end) {
        cell_number at, there;
        x = child_at(s, a, depth, i, &at);
        for (uint32_t j = from; j < b->end; j = y.end) {
            y = child_at(s, b, depth, j, &there);
            if (there + 1 < at)
                from = y.end;
            else if (there <= at + 1)
                join_pair(s, &x, &y, depth + 1);
            else
                break;
        }
        if (are_one(s, a, b))
            return;
    }
}

/* Joins neighbouring cells of one node. */
static void join_node(struct clusters *s, const struct node *n, int depth)
{
    struct node before = {0}, now;
    cell_number at, last = 0;
    if (depth == s->naxes || n->end - n->begin == 1)
        return;
    for (uint32_t i = n->begin; i < n->end; i = now.end) {
        now = child_at(s, n, depth, i, &at);
        join_node(s, &now, depth + 1);
        if (i > n->begin && at == last + 1)
            join_pair(s, &before, &now, depth + 1);
        before = now;
        last = at;
    }
}

enum ek_status clusters_join(struct clusters *s)
{
    sort_cells(s);
    const struct node all = {0, (uint32_t)s->n, 0};
    s->parent = ARENA_NEW(&s->arena, s->n, uint32_t);
    s->same = ARENA_NEW(&s->arena, s->n, uint32_t);
    s->number = ARENA_NEW(&s->arena, s->n, uint32_t);
    TRY(arena_check(&s->arena, "the clusters of accepted trials"));
    for (uint32_t i = 0; i < s->n; i++)
        s->parent[i] = i;
    join_node(s, &all, 0);
    for (uint32_t i = 0; i < s->n; i++)
        s->nclusters += root_of(s, i) == i;
    s->cluster = ARENA_NEW(&s->arena, s->nclusters, struct cluster);
    TRY(arena_check(&s->arena, "%zu clusters of accepted trials", s->nclusters));
    for (uint32_t i = 0, k = 0; i < s->n; i++)
        if (root_of(s, i) == i) {
            s->cluster[k].root = i;
            s->number[i] = k++;
        }
    return EK_OK;
}

/* ---- clusters ---------------------------------------------------------------------------------*/

size_t clusters_of(const struct clusters *s, const long *place)
{
    const cell_number cell = cell_of(s, place);
    uint32_t behind = 0, end = (uint32_t)s->n;
    SORT_BISECT(behind, end, s->cell[middle] <= cell)
    return s->number[root_of(s, behind - 1)];
}

void clusters_count(struct clusters *s, const long *place)
{
    s->cluster[clusters_of(s, place)].trials++;
}

SORT_BY(by_size, struct cluster, SORT_DOWN(trials) ?: SORT_UP(root))

size_t clusters_rank(struct clusters *s)
{
    qsort(s->cluster, s->nclusters, sizeof *s->cluster, by_size);
    for (uint32_t k = 0; k < s->nclusters; k++)
        s->number[s->cluster[k].root] = k;
    return s->nclusters;
}

long clusters_coarseness(const struct clusters *s)
{
    return 1L << s->level;
}
