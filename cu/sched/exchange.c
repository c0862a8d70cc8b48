/* cu/sched/exchange.c – learns the cost of faces from timed exchanges. */
#include "cu/sched/exchange.h"
#include "cu/sched/estimate.h"

#include <math.h>
#include <string.h>

/* Differences below this share of an exchange are noise. */
static const double DOUBT = 0.2;

/* Ratio from which the cost of faces counts as changed. */
static const double OTHERWISE = 1.2;

struct exchange_load exchange_crossing(const struct sched_job *job, const int *home, int nmemories,
                                       const struct sched_link *link, struct exchange_load *load)
{
    struct exchange_load busiest = {0, 0};
    memset(load, 0, (size_t)nmemories * sizeof *load);
    for (size_t t = 0; job->first && t < job->n; t++)
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
            const int ends[] = {home[job->neighbour[i]], home[t]};
            for (int e = 0; ends[0] != ends[1] && e < 2; e++) {
                load[ends[e]].faces++;
                load[ends[e]].bytes += job->face_bytes ? job->face_bytes[i] : 0;
            }
        }
    for (int p = 0; p < nmemories; p++)
        if (p != CU_HOST_MEMORY && load[p].faces > 0 &&
            (busiest.faces == 0 ||
             exchange_seconds(link, load[p]) > exchange_seconds(link, busiest)))
            busiest = load[p];
    return busiest;
}

void exchange_moved(struct exchange *x, struct exchange_load load)
{
    x->load = load;
    x->count = 0;
}

struct sched_link exchange_face(const struct exchange *x, const struct sched_link *link)
{
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
void exchange_note(struct exchange *x, const struct sched_link *link, double seconds)
{
    x->took[x->count++ % EXCHANGE_LATEST] = seconds;
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

static bool differ(double a, double b)
{
    return fmax(a, b) > OTHERWISE * fmin(a, b);
}

bool exchange_differs(const struct sched_job *job, struct sched_link now, struct sched_link then)
{
    return job->first && (differ(now.latency, then.latency) || differ(now.per_byte, then.per_byte));
}
