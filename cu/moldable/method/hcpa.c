/* cu/moldable/method/hcpa.c – HCPA: allocation on virtual reference cores as CPA does it, with
 * Amdahl's law fitted to the task, then translation to each node's speed and list scheduling (T.
 * N'Takpe and F. Suter, "Critical path and area based scheduling of parallel task graphs on
 * heterogeneous platforms", 2006; CPA: Radulescu and van Gemund, 2001). The allocation treats tasks
 * as independent, so the critical path is the longest task. */
#include "cu/moldable/timeline.h"

/* t(p) = serial + parallel/p. */
struct amdahl {
    double serial, parallel;
};

/* Fits a straight line in x = 1/p by least squares over p = 1 … n. */
static struct amdahl fit(const struct moldable_law *law, int n)
{
    double sx = 0, sxx = 0, sy = 0, sxy = 0, m = 0;
    for (int p = 1; p <= n; p++) {
        double x = 1. / p, y = moldable_seconds(law, p);
        if (!isfinite(y))
            continue;
        m++, sx += x, sxx += x * x, sy += y, sxy += x * y;
    }
    double spread = m * sxx - sx * sx;
    double slope = spread > 0 ? (m * sxy - sx * sy) / spread : 0;
    slope = fmax(slope, 0);
    return (struct amdahl){fmax((sy - slope * sx) / m, 0), slope};
}

static double seconds(struct amdahl a, int p)
{
    return a.serial + a.parallel / p;
}

/* ---- CPA's allocation -------------------------------------------------------------------------*/
struct allocation {
    const struct moldable_problem *problem;
    const struct timeline *timeline;
    struct amdahl *law; /* [nkinds] */
    int *cores;         /* [ntasks] reference cores */
    int *heap;          /* [ntasks] tasks, the longest at the top */
    int most;           /* upper limit of `cores` */
};

static double length_of(const struct allocation *a, int task)
{
    return seconds(a->law[a->problem->kind[task]], a->cores[task]);
}

static void sift(struct allocation *a, int at)
{
    int n = a->problem->ntasks;
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && length_of(a, a->heap[child + 1]) > length_of(a, a->heap[child]))
            child++;
        if (length_of(a, a->heap[at]) >= length_of(a, a->heap[child]))
            return;
        int t = a->heap[at];
        a->heap[at] = a->heap[child];
        a->heap[child] = t;
    }
}

/* Gives the longest task one core more as long as it is longer than the total area per core. */
static void allocate(struct allocation *a)
{
    const struct moldable_problem *p = a->problem;
    double area = 0, cores = fmax(floor(a->timeline->power), 1);
    for (int i = 0; i < p->ntasks; i++) {
        a->cores[i] = 1;
        a->heap[i] = i;
        area += length_of(a, i);
    }
    for (int i = p->ntasks / 2 - 1; i >= 0; i--)
        sift(a, i);
    for (;;) {
        int i = a->heap[0];
        double before = length_of(a, i);
        if (before <= area / cores || a->cores[i] >= a->most)
            return;
        area -= a->cores[i] * before;
        a->cores[i]++;
        area += a->cores[i] * length_of(a, i);
        sift(a, 0);
    }
}

/* ---- list scheduling --------------------------------------------------------------------------*/
/* How many cores of a node with factor f make the task as fast as `cores` reference ones. */
static int translate(struct amdahl a, int cores, double f)
{
    double parallel = f * seconds(a, cores) - a.serial;
    double p = parallel > 0 ? ceil(a.parallel / parallel - 1e-9) : INFINITY;
    return p > 1 ? (p < 1e6 ? (int)p : 1000000) : 1;
}

static struct moldable_choice earliest(struct allocation *a, struct timeline *timeline, int task)
{
    struct moldable_choice best = {task, -1, 0, 0};
    struct timeline_view v;
    double finish = INFINITY;
    for (int i = 0, views = timeline_views(timeline, task, 0); i < views; i++) {
        if (timeline_too_late(timeline, task, i, finish))
            continue;
        timeline_view(timeline, task, i, &v);
        int cores = translate(a->law[a->problem->kind[task]], a->cores[task], v.factor), w = 1;
        while (w < v.n && (timeline_power(&v, w) < cores * v.factor || !isfinite(v.finish[w - 1])))
            w++;
        double e = v.n ? v.finish[w - 1] : INFINITY;
        timeline_prefer(&v, w, e, &finish, &best);
    }
    return best.where < 0 ? timeline_earliest(timeline, task, 0) : best;
}

static int longer(const void *x, const void *y, void *allocation)
{
    int a = *(const int *)x, b = *(const int *)y;
    double ta = length_of(allocation, a), tb = length_of(allocation, b);
    return ta != tb ? (ta > tb ? -1 : 1) : (a > b) - (a < b);
}

static void schedule(struct allocation *a, struct timeline *timeline,
                     struct moldable_choice *choice)
{
    int n = a->problem->ntasks, *order = a->heap; /* which is no longer needed */
    for (int i = 0; i < n; i++)
        order[i] = timeline->order[i];
    /* Else timeline->order keeps tasks behind their predecessors. */
    if (moldable_independent(a->problem))
        qsort_r(order, (size_t)n, sizeof *order, longer, a);
    for (int i = 0; i < n; i++) {
        choice[i] = earliest(a, timeline, order[i]);
        timeline_place(timeline, &choice[i]);
    }
}

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    const struct moldable_problem *p = timeline->problem;
    struct allocation a = {.problem = p, .timeline = timeline, .most = timeline->widest};
    a.law = ARENA_NEW(&timeline->arena, p->nkinds, struct amdahl);
    a.cores = ARENA_NEW(&timeline->arena, p->ntasks, int);
    a.heap = ARENA_NEW(&timeline->arena, p->ntasks, int);
    TRY(arena_check(&timeline->arena, "%d tasks", p->ntasks));
    for (int k = 0; k < p->nkinds; k++)
        a.law[k] = fit(&p->kinds[k].law, timeline->widest);
    allocate(&a);
    schedule(&a, timeline, choice);
    return EK_OK;
}

const struct moldable_method moldable_hcpa = {
    .name = "hcpa",
    .summary = "CPA allocation on virtual reference cores by Amdahl's law, then a list schedule",
    .choose = choose,
};
