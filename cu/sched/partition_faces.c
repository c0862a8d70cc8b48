/* cu/sched/partition_faces.c – what an exchange takes, and how to divide tasks among memory nodes
 * where that matters: a few stretches of consecutive tasks on some of the nodes, then annealing by
 * threshold acceptance (Dueck & Scheuer, J. Comput. Phys. 90, 1990). A node's units are taken to
 * share its tasks evenly. */
#include "cu/sched/partition.h"
#include "src/random.h"

#include <math.h>
#include <string.h>

/* Moves that one annealing of the usual effort tries for each task at most. */
enum { PER_TASK = 15 };

/* Moves that add less than this share of a step are accepted, at first and at last. */
static const double HOT = 0.03, COLD = 1e-4;

/* One of so many moves goes anywhere, not to a neighbour's memory node. */
enum { ANYWHERE = 16 };

/* ---- an exchange ------------------------------------------------------------------------------*/
static int node_of(const struct partition *d, const int *owner, size_t task)
{
    return owner ? d->memory[owner[task]] : d->home[task];
}

bool partition_crosses(const struct partition *d, const int *owner)
{
    const struct sched_job *job = d->job;
    for (size_t t = 0; t < job->n; t++)
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++)
            if (node_of(d, owner, job->neighbour[i]) != node_of(d, owner, t))
                return true;
    return false;
}

/* Adds up what crosses each memory node's link, and the bytes of faces inside each, by the memory
 * node of each task. Returns how many faces cross: few, so only these are looked at closely. */
static long sum_faces(struct partition *d, const int *memory)
{
    const size_t *first = d->job->first, *neighbour = d->job->neighbour;
    const double *bytes = d->job->face_bytes;
    double *link = d->link_s, *inside = d->inside;
    long crossing = 0;
    memset(link, 0, (size_t)d->nmemories * sizeof *link);
    memset(inside, 0, (size_t)d->nmemories * sizeof *inside);
    for (size_t t = 0; t < d->job->n; t++) {
        const int to = memory[t];
        inside[to] += d->task_bytes[t];
        for (size_t i = first[t], end = first[t + 1]; i < end; i++) {
            const int from = memory[neighbour[i]];
            if (from == to)
                continue;
            const double sec = partition_face(d, i);
            link[from] += sec;
            link[to] += sec;
            inside[to] -= bytes ? bytes[i] : 0;
            crossing++;
        }
    }
    return crossing;
}

/* Traffic is counted on the devices' links; the host has none. What was computed last is not
 * computed again: many partitions differ only within memory nodes. */
double partition_exchange(struct partition *d, const int *owner)
{
    bool anew = d->exchange < 0;
    if (!d->job->first || d->nmemories == 1)
        return 0;
    for (size_t t = 0; t < d->job->n; t++) {
        const int memory = d->memory[owner[t]];
        anew |= d->node_of[t] != memory;
        d->node_of[t] = memory;
    }
    if (anew)
        d->exchange = partition_exchange_of(d, sum_faces(d, d->node_of) > 0);
    return d->exchange;
}

double partition_exchange_of(const struct partition *d, bool crosses)
{
    const struct sched_exchange x = d->faces.rest;
    double slowest = 0, most = 0, host = 0;
    for (int p = 0; p < d->nmemories; p++)
        if (d->links[p]) {
            slowest = partition_more(slowest, d->link_s[p]);
            most = partition_more(most, d->inside[p]);
        } else
            host = d->inside[p];
    return slowest + x.host * host + x.device * most + (crosses ? x.cross : 0);
}

/* ---- annealing --------------------------------------------------------------------------------*/
static double seconds_on(const struct partition *d, int memory, size_t t)
{
    double sec;
    if (memory < d->nodes)
        return d->node[(size_t)memory * d->job->n + t];
    partition_seconds(d, memory, t, t + 1, &sec);
    return sec;
}

void partition_tabulate(struct partition *d)
{
    const size_t n = d->job->n;
    for (int p = 0; p < d->nmemories; p++) {
        double *node = p < d->nodes ? d->node + (size_t)p * n : d->scratch;
        partition_seconds(d, p, 0, n, node);
        d->whole[p] = line_sum(node, n);
    }
}

static double computation(const struct partition *d)
{
    double most = 0;
    for (int p = 0; p < d->nmemories; p++)
        most = partition_more(most, d->load[p] / d->use[p]);
    return most;
}

static double value_of(const struct partition *d)
{
    return computation(d) + partition_exchanges(d) * partition_exchange_of(d, d->crossing > 0);
}

/* Adds (sign 1) or takes away (-1) the faces between task t in a memory node and its neighbours. */
static void count_faces(struct partition *d, size_t t, int memory, int sign)
{
    const struct sched_job *job = d->job;
    for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
        const int there = d->pick[job->neighbour[i]];
        if (there == memory) { /* one with itself is listed once */
            const int ways = job->neighbour[i] == t ? 1 : 2;
            d->inside[memory] += sign * (job->face_bytes ? ways * job->face_bytes[i] : 0);
            continue;
        }
        const double sec = 2 * sign * partition_face(d, i); /* both ways */
        d->link_s[memory] += sec;
        d->link_s[there] += sec;
        d->crossing += sign;
    }
}

static void move(struct partition *d, size_t t, int to)
{
    const int from = d->pick[t];
    count_faces(d, t, from, -1);
    d->load[from] -= seconds_on(d, from, t);
    d->load[to] += seconds_on(d, to, t);
    d->pick[t] = to;
    count_faces(d, t, to, 1);
}

double partition_value(struct partition *d, double enough)
{
    memset(d->load, 0, (size_t)d->nmemories * sizeof *d->load);
    for (size_t t = 0; t < d->job->n; t++)
        d->load[d->pick[t]] += seconds_on(d, d->pick[t], t);
    if (computation(d) >= enough)
        return INFINITY;
    d->crossing = sum_faces(d, d->pick) / 2; /* each was counted from both ends */
    return value_of(d);
}

void partition_anneal(struct partition *d, long most)
{
    const struct sched_job *job = d->job;
    const long enough = (long)(d->effort * PER_TASK * (double)job->n),
               moves = enough < most ? enough : most;
    double now = partition_value(d, INFINITY), limit = HOT * now;
    const double cooling = pow(COLD / HOT, 1. / (double)partition_more(1, (double)moves));
    for (long left = moves, tries = 32 * moves; left > 0 && tries > 0; tries--) {
        const size_t t = random_below(&d->random, job->n), first = job->first[t],
                     faces = job->first[t + 1] - first;
        const bool anywhere = !faces || !d->crossing || random_below(&d->random, ANYWHERE) == 0;
        const int from = d->pick[t],
                  to = anywhere ? (int)random_below(&d->random, (uint64_t)d->nmemories)
                                : d->pick[job->neighbour[first + random_below(&d->random, faces)]];
        if (to == from)
            continue;
        left--;
        limit *= cooling;
        move(d, t, to);
        const double then = value_of(d);
        if (then < now + limit)
            now = then;
        else
            move(d, t, from);
    }
    d->moves -= moves;
}

/* The open memory node where the task takes least. */
static int quickest(const struct partition *d, size_t t)
{
    int best = -1;
    for (int m = 0; m < d->nmemories; m++)
        if (!d->shut[m] && (best < 0 || seconds_on(d, m, t) < seconds_on(d, best, t)))
            best = m;
    return best;
}

/* Seconds of the stretches, all ending together. */
static double span_of(struct partition *d)
{
    double rate = 0;
    int open = 0;
    for (int m = 0; m < d->nmemories; m++) {
        rate += d->shut[m] ? 0 : 1 / partition_more(d->whole[m], 1e-300);
        open += !d->shut[m];
    }
    /* The bound knows of tasks that fit on some nodes only. */
    return open < d->nmemories ? 1 / rate : partition_less(1 / rate, d->least);
}

static int next_open(const struct partition *d, int p)
{
    do
        p++;
    while (p < d->nmemories && d->shut[p]);
    return p;
}

void partition_deal(struct partition *d, bool back)
{
    const double span = span_of(d);
    double left = span, *given = d->inside; /* tasks that fit nowhere else */
    int p = next_open(d, -1), next;
    memset(given, 0, (size_t)d->nmemories * sizeof *given);
    for (size_t i = 0; i < d->job->n; i++) {
        const size_t t = back ? d->job->n - 1 - i : i;
        double sec = seconds_on(d, p, t);
        if (sec > span) {
            d->pick[t] = quickest(d, t);
            given[d->pick[t]] += seconds_on(d, d->pick[t], t);
            continue;
        }
        while (left < sec / 2 && (next = next_open(d, p)) < d->nmemories) {
            p = next;
            left = span - given[p];
            sec = seconds_on(d, p, t);
        }
        left -= sec;
        d->pick[t] = p;
    }
}
