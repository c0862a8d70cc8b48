/* cu/moldable/moldable_bound.c – the lower bound of a moldable problem. */
#include "cu/moldable/timeline.h"
#include "cu/sim/bound.h"

/* Rounds in which the prices are improved. */
enum { ROUNDS = 4 };

/* Nodes with the same number of cores. */
struct size {
    int cores;
    double power; /* sum of cores f */
    double price; /* of a reference core second; the sum of power * price is 1 */
};

/* The machine as the bound sees it. A task's work in reference core seconds depends on its width
 * and, with interference, on the size of its node, but not on the node's speed, so only the fastest
 * node of each size matters. Any prices of the sizes yield a bound. */
struct machine {
    const struct moldable_problem *problem;
    int nsizes;
    struct size *size;
    double gpus, memory; /* sums of f times these; memory is infinite if that of some node is */
    double fastest;      /* of all nodes */
    int widest, largest; /* cores of the largest node, of the largest cluster */
    double *factor;      /* [nkinds][nsizes] of the fastest node that can host the kind's tasks */
    double *law;         /* [nkinds][widest] t(p), infinite for widths that tasks cannot have */
    int *count;          /* [nkinds] tasks */
    int *cores;          /* [nclusters] */
};

static struct size *size_of(const struct machine *m, int cores)
{
    struct size *s = m->size;
    while (s->cores && s->cores != cores)
        s++;
    return s;
}

static void survey(struct machine *m)
{
    const struct moldable_problem *p = m->problem;
    double power = 0;
    for (int j = 0; j < p->nnodes; j++) {
        const struct moldable_node *n = &p->node[j];
        struct size *s = size_of(m, n->cores);
        m->nsizes += !s->cores;
        s->cores = n->cores;
        s->power += n->cores * n->factor;
        power += n->cores * n->factor;
        m->gpus += n->gpus * n->factor;
        m->memory += n->memory > 0 ? n->memory * n->factor : INFINITY;
        m->fastest = fmax(m->fastest, n->factor);
        int *sum = &m->cores[n->cluster];
        *sum += n->cores;
        m->largest = *sum > m->largest ? *sum : m->largest;
    }
    for (int s = 0; s < m->nsizes; s++)
        m->size[s].price = 1 / power;
    for (int i = 0; i < p->ntasks; i++)
        m->count[p->kind[i]]++;
}

static void find_fastest(const struct machine *m, const struct moldable_kind *k, double *factor)
{
    const struct moldable_problem *p = m->problem;
    for (int j = 0; j < p->nnodes; j++)
        if (moldable_can_host(k, &p->node[j])) {
            double *f = &factor[size_of(m, p->node[j].cores) - m->size];
            *f = fmax(*f, p->node[j].factor);
        }
}

static void tabulate(struct machine *m)
{
    const size_t widest = (size_t)m->widest, sizes = (size_t)m->nsizes;
    for (int i = 0; i < m->problem->nkinds; i++) {
        const struct moldable_kind *k = &m->problem->kinds[i];
        double *factor = m->factor + (size_t)i * sizes, *law = m->law + (size_t)i * widest;
        if (i && k->gpus == k[-1].gpus && k->memory == k[-1].memory)
            memcpy(factor, factor - sizes, sizes * sizeof *factor);
        else
            find_fastest(m, k, factor);
        for (int w = 1; w <= m->widest; w++)
            law[w - 1] = moldable_allows(k, w) ? moldable_seconds(&k->law, w) : INFINITY;
    }
}

/* What a task takes at least if it ends within T: work, and t(p); infinite if it cannot. */
struct least {
    double work, law;
};

static void consider(struct least *l, double work, double law)
{
    l->work = fmin(l->work, work);
    l->law = fmin(l->law, law);
}

/* On a node, T times its speed being `within`. Work counts as on a full node. A task without
 * neighbours takes less time, so T is compared with that; but as interference is taken to be at
 * most 1, a node that is not full then does no more work in a second than a full one. */
static struct least least_on_node(const struct machine *m, int kind, int cores, double within)
{
    const struct moldable_kind *k = &m->problem->kinds[kind];
    const double *law = m->law + (size_t)kind * (size_t)m->widest;
    const double slower = cores > 1 ? fmin(k->interference, 1) / (cores - 1) : 0;
    struct least l = {INFINITY, INFINITY};
    for (int w = 1; w <= cores; w++)
        if (law[w - 1] <= within)
            consider(&l, w * law[w - 1] * (1 + slower * (cores - w)), law[w - 1]);
    return l;
}

/* On nodes of one size. */
static struct least least_on(const struct machine *m, int kind, int size, double T)
{
    const struct moldable_kind *k = &m->problem->kinds[kind];
    struct least l = {INFINITY, INFINITY};
    if (!k->cluster)
        return least_on_node(m, kind, m->size[size].cores,
                             T * m->factor[(size_t)kind * (size_t)m->nsizes + (size_t)size]);
    for (int w = 1; w <= m->largest; w++) {
        const double t = moldable_allows(k, w) ? moldable_seconds(&k->law, w) : INFINITY;
        if (t <= T * m->fastest)
            consider(&l, w * t, t);
    }
    return l;
}

/* At the sizes' prices. */
static struct least least_of(const struct machine *m, int kind, double T)
{
    struct least l = {INFINITY, INFINITY};
    for (int s = 0; s < m->nsizes; s++) {
        const struct least on = least_on(m, kind, s, T);
        consider(&l, on.work * m->size[s].price, on.law);
    }
    return l;
}

/* May the tasks of kinds `from` … `to` - 1 be done within T? */
static bool may_fit(const struct machine *m, int from, int to, double T)
{
    double work = 0, gpus = 0, memory = 0;
    for (int i = from; i < to && work <= T; i++) {
        const struct moldable_kind *k = &m->problem->kinds[i];
        const struct least l = least_of(m, i, T);
        work += m->count[i] * l.work;
        gpus += k->gpus ? m->count[i] * l.law * k->gpus : 0;
        memory += k->memory > 0 ? m->count[i] * l.law * k->memory : 0;
    }
    return work <= T && gpus <= m->gpus * T * (1 + 1e-9) && memory <= m->memory * T * (1 + 1e-9);
}

/* Have all nodes together room for the tasks of one kind within T? A node has room for whole tasks
 * only. */
static bool have_room(const struct machine *m, int from, int to, double T)
{
    const struct moldable_problem *p = m->problem;
    const struct moldable_kind *k = &p->kinds[from];
    double left = to > from ? m->count[from] : 0;
    for (int j = 0; j < p->nnodes && left > 0; j++) {
        const struct moldable_node *n = &p->node[j];
        const double within = T * n->factor * (1 + 1e-9);
        if (moldable_can_host(k, n))
            left -= floor(n->cores * within / least_on_node(m, from, n->cores, within).work);
    }
    return left <= 0;
}

/* The least T, from `lo` on, within which the tasks fit. */
static double bisect(const struct machine *m, int from, int to, double lo,
                     bool (*fit)(const struct machine *, int from, int to, double T))
{
    enum { STEPS = 40 };
    double hi = fmax(lo, 1e-3);
    while (!fit(m, from, to, hi) && hi < 1e300)
        lo = hi, hi *= 4;
    for (int i = 0; i < STEPS && lo < hi; i++) {
        double mid = (lo + hi) / 2;
        if (fit(m, from, to, mid))
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}

/* The least T for tasks of one kind alone. */
static double alone(const struct machine *m, int kind)
{
    const double area = bisect(m, kind, kind + 1, 0, may_fit);
    return m->problem->kinds[kind].cluster ? area : bisect(m, kind, kind + 1, area, have_room);
}

/* The best prices for what tasks take at least if they end within T. */
static enum ek_status find_prices(struct machine *m, double T)
{
    OWNED(arena_free) struct arena arena = {0};
    const int n = m->problem->nkinds;
    const double never = 1e6 * T; /* GLPK wants finite numbers */
    int *units = ARENA_NEW(&arena, m->nsizes, int);
    double *price = ARENA_NEW(&arena, m->nsizes, double);
    const double **row = ARENA_NEW(&arena, m->nsizes, const double *);
    double *share = ARENA_NEW(&arena, (size_t)m->nsizes * (size_t)n, double);
    TRY(arena_check(&arena, "the bound"));
    for (int s = 0; s < m->nsizes; s++) {
        units[s] = 1;
        row[s] = share;
        for (int i = 0; i < n; i++, share++)
            *share = m->count[i]
                         ? fmin(m->count[i] * least_on(m, i, s, T).work / m->size[s].power, never)
                         : 0;
    }
    const bool known = !isnan(bound_prices((size_t)n, m->nsizes, units, row, price));
    for (int s = 0; known && s < m->nsizes; s++)
        m->size[s].price = price[s] / m->size[s].power;
    return EK_OK;
}

static bool interferes(const struct moldable_problem *p)
{
    for (int i = 0; i < p->nkinds; i++)
        if (p->kinds[i].interference > 0)
            return true;
    return false;
}

/* The longest chain of kinds that depend on one another, each with the machine to itself; end
 * [nkinds] is overwritten. */
static double longest_chain(const struct machine *m, double *end)
{
    double longest = 0;
    for (int i = 0; i < m->problem->nkinds; i++) {
        const struct moldable_kind *k = &m->problem->kinds[i];
        double from = 0;
        for (int a = 0; a < k->nafter; a++)
            from = fmax(from, end[k->after[a]]);
        end[i] = from + (m->count[i] ? alone(m, i) : 0);
        longest = fmax(longest, end[i]);
    }
    return longest;
}

double moldable_bound(const struct moldable_problem *p)
{
    OWNED(arena_free) struct arena arena = {0};
    struct machine m = {.problem = p, .widest = moldable_widest(p)};
    m.size = ARENA_NEW(&arena, m.widest + 1, struct size);
    m.factor = ARENA_NEW(&arena, (size_t)p->nkinds * (size_t)m.widest, double);
    m.law = ARENA_NEW(&arena, (size_t)p->nkinds * (size_t)m.widest, double);
    m.count = ARENA_NEW(&arena, p->nkinds, int);
    m.cores = ARENA_NEW(&arena, p->nclusters, int);
    double *end = ARENA_NEW(&arena, p->nkinds, double);
    if (arena_check(&arena, "the bound"))
        return NAN;
    survey(&m);
    tabulate(&m);
    double all = bisect(&m, 0, p->nkinds, 0, may_fit); /* no less than any one kind needs */
    for (int round = 0; round < ROUNDS && m.nsizes > 1 && interferes(p); round++) {
        if (find_prices(&m, all))
            return NAN;
        all = fmax(all, bisect(&m, 0, p->nkinds, 0, may_fit));
    }
    return moldable_independent(p) ? all : fmax(all, longest_chain(&m, end) * (1 - 1e-12));
}
