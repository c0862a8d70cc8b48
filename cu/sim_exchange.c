/* cu/sim_exchange.c – what an exchange takes in the simulator, and how neighbours slow a unit. */
#include "cu/sim.h"

#include <math.h>
#include <string.h>

double sim_curve_at(const struct sim_curve *curve, double busy)
{
    double from[2] = {0, 0}, slope = 0;
    for (int i = 0; i < curve->n; i++) {
        const double *to = curve->point[i];
        slope = (to[1] - from[1]) / (to[0] - from[0]);
        if (busy <= to[0])
            break;
        memcpy(from, to, sizeof from);
    }
    return fmax(from[1] + slope * (busy - from[0]), 0);
}

/* A face by itself is on the links of both spaces; the host has none. */
static void carry_face(const struct sim_case *c, int from, int to, double bytes, double *link)
{
    const struct sched_link *l = c->job.link;
    const double sec = l ? l->latency + bytes * l->per_byte : 0;
    if (from)
        link[from] += sec;
    if (to)
        link[to] += sec;
}

/* Faces of a space together: those between two of its tasks, and those that cross. */
static void gather_face(int from, int to, double bytes, double *inside, double *across)
{
    if (from == to) {
        inside[from] += bytes;
        return;
    }
    across[from] += bytes;
    across[to] += bytes;
}

/* Kinds of the units that live in a space: a device's space has one unit. */
static enum cu_kind kind_of_space(int space)
{
    return space ? CU_DEVICE : CU_CPU;
}

static double longest(const struct sim_case *c, int nspaces, const double *inside,
                      const double *across)
{
    const struct sim_exchange *x = c->exchange;
    double most = 0;
    for (int p = 0; p < nspaces; p++) {
        double sec = inside[p];
        if (x)
            sec = x->local[kind_of_space(p)] * inside[p] +
                  (across[p] > 0 ? x->latency + x->per_byte * across[p] : 0);
        most = fmax(most, sec);
    }
    return most + (x ? x->fixed : 0);
}

double sim_exchange_seconds(const struct sim_case *c, const int *home, int nspaces, double *room,
                            double *bytes)
{
    const struct sched_job *job = &c->job;
    double *inside = room, *across = room + nspaces;
    memset(room, 0, 2 * (size_t)nspaces * sizeof *room);
    *bytes = 0;
    for (size_t t = 0; job->first && t < job->n; t++)
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
            const int from = home[job->neighbour[i]], to = home[t];
            const double face = job->face_bytes ? job->face_bytes[i] : 0;
            *bytes += from == to ? 0 : face;
            if (c->exchange)
                gather_face(from, to, face, inside, across);
            else if (from != to)
                carry_face(c, from, to, face, inside);
        }
    return longest(c, nspaces, inside, across);
}
