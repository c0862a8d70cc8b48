/* cu/sim/sim_exchange.c – duration of exchanges in the simulator, and slowdown by neighbours. */
#include "cu/sim/sim.h"

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

void sim_exchange_parts(const struct sched_job *job, const int *home, int nmemories, double *room,
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
}

/* Without parts, each face takes the link by itself; the host has none. */
double sim_exchange_seconds(const struct sim_case *c, const int *home, int nmemories, double *room,
                            const struct exchange_load *busiest)
{
    const struct sched_link *link = c->job.link;
    double part[SIM_PARTS], sum = 0;
    if (!c->exchange)
        return link ? exchange_seconds(link, *busiest) : 0;
    sim_exchange_parts(&c->job, home, nmemories, room, part);
    for (int i = 0; i < SIM_PARTS; i++)
        sum += part[i] * c->exchange->seconds[i];
    return sum;
}
