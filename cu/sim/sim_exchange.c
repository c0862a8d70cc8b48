/* cu/sim/sim_exchange.c – what an exchange takes in the simulator, and how neighbours slow a
 * unit. */
#include "cu/sim/sim.h"

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

const char *const sim_exchange_names[SIM_PARTS] = {
    [SIM_FIXED] = "fixed_s", [SIM_HOST] = "host_s_per_byte", [SIM_DEVICE] = "device_s_per_byte",
    [SIM_CROSS] = "cross_s", [SIM_LINK] = "link_s_per_byte",
};

double sim_exchange_parts(const struct sched_job *job, const int *home, int nmemories, double *room,
                          double part[SIM_PARTS])
{
    double *inside = room, *across = room + nmemories, bytes = 0;
    memset(room, 0, 2 * (size_t)nmemories * sizeof *room);
    for (size_t t = 0; job->first && t < job->n; t++)
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
            const int from = home[job->neighbour[i]], to = home[t];
            const double face = job->face_bytes ? job->face_bytes[i] : 0;
            if (from == to) {
                inside[from] += face;
                continue;
            }
            across[from] += face;
            across[to] += face;
            bytes += face;
        }
    part[SIM_FIXED] = 1;
    part[SIM_HOST] = inside[CU_HOST_MEMORY];
    part[SIM_CROSS] = bytes > 0;
    part[SIM_DEVICE] = part[SIM_LINK] = 0;
    for (int p = 1; p < nmemories; p++) {
        part[SIM_DEVICE] = fmax(part[SIM_DEVICE], inside[p]);
        part[SIM_LINK] = fmax(part[SIM_LINK], across[p]);
    }
    return bytes;
}

/* Every face by itself takes the links of both memory nodes; the host has none. */
static double face_by_face(const struct sim_case *c, const int *home, int nmemories, double *link,
                           double *bytes)
{
    const struct sched_job *job = &c->job;
    double longest = 0;
    memset(link, 0, (size_t)nmemories * sizeof *link);
    *bytes = 0;
    for (size_t t = 0; job->first && t < job->n; t++)
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
            const int from = home[job->neighbour[i]], to = home[t];
            if (from == to)
                continue;
            const double face = job->face_bytes ? job->face_bytes[i] : 0;
            const double sec = job->link ? job->link->latency + face * job->link->per_byte : 0;
            link[from] += sec;
            link[to] += sec;
            *bytes += face;
        }
    for (int p = 1; p < nmemories; p++)
        longest = fmax(longest, link[p]);
    return longest;
}

double sim_exchange_seconds(const struct sim_case *c, const int *home, int nmemories, double *room,
                            double *bytes)
{
    if (!c->exchange)
        return face_by_face(c, home, nmemories, room, bytes);
    double part[SIM_PARTS], sum = 0;
    *bytes = sim_exchange_parts(&c->job, home, nmemories, room, part);
    for (int i = 0; i < SIM_PARTS; i++)
        sum += part[i] * c->exchange->seconds[i];
    return sum;
}
