/* cu/sched/exchange.c – learns the cost of faces from timed exchanges. */
#include "cu/sched/exchange.h"
#include "cu/sched/estimate.h"

#include <math.h>
#include <string.h>

/* Differences below this share of an exchange are noise. */
static const double DOUBT = 0.2;

/* A prediction of an exchange that is off by less than this share is not mended. */
static const double CLOSE = 0.03;

/* Ratio from which the cost of faces counts as changed. */
static const double OTHERWISE = 1.2;

static bool is_free(const struct sched_link *link)
{
    return !(link->latency > 0) && !(link->per_byte > 0);
}

/* The busiest link is the same for any cost of faces of one size. */
static double business(const struct sched_link *link, struct exchange_load load)
{
    static const struct sched_link usual = SCHED_LINK_USUAL;
    return exchange_seconds(is_free(link) ? &usual : link, load);
}

struct exchange_load exchange_crossing(const struct sched_job *job, const int *home, int nmemories,
                                       const struct sched_link *link, struct exchange_load *load)
{
    struct exchange_load busiest = {0};
    memset(load, 0, (size_t)nmemories * sizeof *load);
    for (size_t t = 0; job->first && t < job->n; t++)
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
            const double bytes = job->face_bytes ? job->face_bytes[i] : 0;
            const int ends[] = {home[job->neighbour[i]], home[t]};
            for (int e = 0; ends[0] != ends[1] && e < 2; e++) {
                load[ends[e]].faces++;
                load[ends[e]].bytes += bytes;
            }
            if (ends[0] == ends[1])
                *(ends[0] == CU_HOST_MEMORY ? &load[ends[0]].host : &load[ends[0]].device) += bytes;
        }
    for (int p = 0; p < nmemories; p++)
        if (p != CU_HOST_MEMORY && load[p].faces > 0 &&
            (busiest.faces == 0 || business(link, load[p]) > business(link, busiest)))
            busiest = load[p];
    busiest.host = busiest.device = 0;
    for (int p = 0; p < nmemories; p++) {
        busiest.host += load[p].host;
        busiest.device = fmax(busiest.device, load[p].device);
    }
    return busiest;
}

void exchange_moved(struct exchange *x, struct exchange_load load)
{
    x->load = load;
    x->homes += x->count > 0;
    x->count = 0;
}

struct sched_link exchange_face(const struct exchange *x, const struct sched_link *link)
{
    if (is_free(link) && x->fitted)
        return x->more;
    if (x->seconds < 0)
        return *link;
    const double says = exchange_seconds(link, x->known), scale = x->seconds / says;
    return says > 0 ? (struct sched_link){scale * link->latency, scale * link->per_byte}
                    : (struct sched_link){x->seconds / x->known.faces, 0};
}

/* Usual seconds of an exchange: the median of three, or the shortest of fewer, as the first one
 * after tasks have moved takes longer, and all may be interrupted. */
static double usual_seconds(const struct exchange *x)
{
    double sorted[EXCHANGE_LATEST];
    memcpy(sorted, x->took, sizeof sorted);
    if (x->count < EXCHANGE_LATEST)
        return x->count < 2 ? sorted[0] : fmin(sorted[0], sorted[1]);
    return line_median(sorted, EXCHANGE_LATEST);
}

/* An exchange with faces that takes no longer than one without bounds the cost of faces from above:
 * the devices also relieve the host of work. A first exchange may have been interrupted: if it took
 * only a time slice more than expected, the next one decides. */
static void learn_faces(struct exchange *x, const struct sched_link *link, double seconds)
{
    if (x->load.faces == 0) {
        x->alone = fmin(x->alone, seconds);
        return;
    }
    const struct sched_link face = exchange_face(x, link);
    const double usual = usual_seconds(x), known = exchange_seconds(&face, x->load),
                 more = usual - x->alone - known;
    double cost = known;
    if (usual < x->alone)
        cost = fmin(known, usual);
    else if (fabs(more) > DOUBT * usual && (x->count > 1 || more < 0 || more > ESTIMATE_SLICE))
        cost = known + more;
    if (cost == known)
        return;
    x->known = x->load;
    x->seconds = cost;
}

/* ---- all parts --------------------------------------------------------------------------------*/
enum part { FIXED, HOST, DEVICE, CROSS, LINK, PARTS };

/* Parts are what explains the exchanges seen with the least deviation from these guesses, as
 * multiples of the mean seconds per byte: half of the time inside memory nodes is fixed, and a byte
 * that crosses takes ten times as long as one that stays. */
static const double GUESS[PARTS] = {[HOST] = 0.5, [DEVICE] = 0.5, [LINK] = 5};

/* By how much a part may be off its guess; and how much closer devices are to the host. */
static const double DOUBTFUL[PARTS] = {[HOST] = 1, [DEVICE] = 1, [LINK] = 20}, ALIKE = 3;

/* Deviation of an exchange from the model, as a share of that of a part from its guess. */
static const double EXACT = 1e-4;

/* Exchanges that cross which it takes to tell CROSS from LINK. */
enum { ENOUGH_CROSS = 3 };

struct parts {
    double a[PARTS][PARTS + 1]; /* normal equations, right-hand side last */
    double scale[PARTS];
};

static void amounts_of(struct exchange_load load, double *amount)
{
    amount[FIXED] = 1;
    amount[HOST] = load.host;
    amount[DEVICE] = load.device;
    amount[CROSS] = load.faces > 0;
    amount[LINK] = load.bytes > 0 ? load.bytes : load.faces;
}

/* Gaussian elimination, for the parts in the set `in`; the others keep 0. */
static void solve(const struct parts *m, unsigned in, double *x)
{
    double a[PARTS][PARTS + 1];
    memcpy(a, m->a, sizeof a);
    for (int i = 0; i < PARTS; i++) {
        x[i] = 0;
        for (int j = i + 1; in >> i & 1 && j < PARTS; j++) {
            const double f = in >> j & 1 ? a[j][i] / a[i][i] : 0;
            for (int k = i; f != 0 && k <= PARTS; k++)
                a[j][k] -= f * a[i][k];
        }
    }
    for (int i = PARTS; i-- > 0;) {
        double sum = a[i][PARTS];
        for (int j = i + 1; j < PARTS; j++)
            sum -= a[i][j] * x[j];
        x[i] = in >> i & 1 ? sum / a[i][i] : 0;
    }
}

static double row_of(const struct parts *m, int i, const double *x)
{
    double sum = 0;
    for (int j = 0; j < PARTS; j++)
        sum += m->a[i][j] * x[j];
    return sum;
}

/* Value of the quadratic form whose least value is sought. */
static double value_of(const struct parts *m, const double *x)
{
    double sum = 0;
    for (int i = 0; i < PARTS; i++)
        sum += x[i] * (row_of(m, i, x) - 2 * m->a[i][PARTS]);
    return sum;
}

/* The set of those that are negative. */
static unsigned negative(const double *x)
{
    unsigned set = 0;
    for (int i = 0; i < PARTS; i++)
        set |= (unsigned)!(x[i] >= 0) << i;
    return set;
}

/* None of the parts in `out`, which are 0, would lessen the value (Kuhn & Tucker). */
static bool is_best(const struct parts *m, unsigned out, const double *x)
{
    bool best = true;
    for (int i = 0; i < PARTS; i++)
        best &= !(out >> i & 1) || row_of(m, i, x) >= m->a[i][PARTS];
    return best;
}

/* The best parts >= 0: leaves negative ones out; if that is not best, tries all subsets, which are
 * few. x is in units of m->scale. */
static void solve_positive(const struct parts *m, unsigned all, double *best)
{
    double least = INFINITY, x[PARTS], value;
    for (unsigned in = all, worse = all; worse; in &= ~worse) {
        solve(m, in, best);
        worse = negative(best);
        if (!worse && is_best(m, all & ~in, best))
            return;
    }
    memset(best, 0, sizeof x);
    for (unsigned in = 0; in <= all; in++) {
        if (in & ~all)
            continue;
        solve(m, in, x);
        if (!negative(x) && (value = value_of(m, x)) < least) {
            least = value;
            memcpy(best, x, sizeof x);
        }
    }
}

static double face_cost(const struct exchange *x, const struct sched_link *link,
                        struct exchange_load load)
{
    const struct sched_link face = exchange_face(x, link);
    return exchange_seconds(&face, load);
}

static double predict(const struct exchange *x, const struct sched_link *link)
{
    return x->fixed + x->rest.host * x->load.host + x->rest.device * x->load.device +
           (x->load.faces > 0 ? x->rest.cross : 0) + face_cost(x, link, x->load);
}

/* Mean seconds, and mean seconds per byte (or face), of the exchanges seen. */
static void size_up(const struct exchange *x, size_t n, double *seconds, double *each)
{
    *seconds = *each = 0;
    for (size_t i = 0; i < n; i++) {
        double amount[PARTS];
        amounts_of(x->seen[i].load, amount);
        *seconds += x->seen[i].seconds / (double)n;
        *each +=
            x->seen[i].seconds / fmax(amount[HOST] + amount[DEVICE] + amount[LINK], 1) / (double)n;
    }
}

static void learn_parts(struct exchange *x, const struct sched_link *link)
{
    const size_t n = x->homes < EXCHANGE_SEEN ? x->homes + 1 : EXCHANGE_SEEN;
    const bool free = is_free(link);
    struct parts m = {0};
    double seconds, each, part[PARTS] = {0};
    int crossing = 0;
    bool bytes = false;
    size_up(x, n, &seconds, &each);
    if (!(seconds > 0))
        return;
    for (int i = 0; i < PARTS; i++) {
        m.scale[i] = i == FIXED || i == CROSS ? seconds : DOUBTFUL[i] * each;
        m.a[i][i] = 1;
        m.a[i][PARTS] = GUESS[i] * each / fmax(m.scale[i], 1e-300);
    }
    m.a[HOST][HOST] += ALIKE;
    m.a[DEVICE][DEVICE] += ALIKE;
    m.a[HOST][DEVICE] = m.a[DEVICE][HOST] = -ALIKE;
    for (size_t i = 0; i < n; i++) {
        double amount[PARTS];
        const struct exchange_seen *s = &x->seen[i];
        amounts_of(s->load, amount);
        crossing += s->load.faces > 0;
        bytes |= s->load.bytes > 0;
        const double y = s->seconds - (free ? 0 : face_cost(x, link, s->load)),
                     weight = 1 / (EXACT * fmax(s->seconds, seconds / 10));
        for (int j = 0; j < PARTS; j++)
            for (int k = 0; k <= PARTS; k++)
                m.a[j][k] += weight * weight * amount[j] * m.scale[j] *
                             (k == PARTS ? y : amount[k] * m.scale[k]);
    }
    const unsigned all = 1 << FIXED | 1 << HOST | 1 << DEVICE | (unsigned)free << LINK |
                         (unsigned)(crossing >= ENOUGH_CROSS) << CROSS;
    solve_positive(&m, all, part);
    for (int i = 0; i < PARTS; i++)
        part[i] *= m.scale[i];
    x->fixed = part[FIXED];
    x->rest.host = part[HOST];
    x->rest.device = part[DEVICE];
    x->rest.cross = part[CROSS];
    x->fitted = free;
    x->more = bytes || !crossing ? (struct sched_link){.per_byte = part[LINK]}
                                 : (struct sched_link){.latency = part[LINK]};
}

/* Whether an exchange that took so much more than predicted was not just interrupted. Where nothing
 * is known about the first faces that cross, the prediction was a mere guess. */
static bool is_confirmed(const struct exchange *x, const struct sched_link *link, double more)
{
    const bool guessed = is_free(link) && !x->rest.crossed;
    return x->homes == 0 || x->count > 1 || more < 0 || more > ESTIMATE_SLICE || guessed;
}

/* With the same homes for long, small deviations are noise, unless they stay: they count at the
 * first, second, fourth, eighth … exchange. */
static double close_to(const struct exchange *x)
{
    return x->count & (x->count - 1) ? DOUBT : CLOSE;
}

void exchange_note(struct exchange *x, const struct sched_link *link, double seconds)
{
    x->took[x->count++ % EXCHANGE_LATEST] = seconds;
    x->rest.seconds = seconds;
    learn_faces(x, link, seconds);
    const double usual = usual_seconds(x), more = usual - predict(x, link);
    x->seen[x->homes % EXCHANGE_SEEN] = (struct exchange_seen){x->load, usual};
    if (fabs(more) > close_to(x) * usual && is_confirmed(x, link, more))
        learn_parts(x, link);
    x->rest.crossed |= x->load.faces > 0;
}

static bool differ(double a, double b)
{
    return fmax(a, b) > OTHERWISE * fmin(a, b);
}

bool exchange_differs(const struct sched_job *job, const struct exchange_cost *now,
                      const struct exchange_cost *then)
{
    return job->first &&
           (differ(now->face.latency, then->face.latency) ||
            differ(now->face.per_byte, then->face.per_byte) ||
            differ(now->rest.host, then->rest.host) || differ(now->rest.device, then->rest.device));
}
