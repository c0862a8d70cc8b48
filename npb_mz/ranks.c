/* npb_mz/ranks.c – divides zones among ranks. */
#include "npb_mz/ranks.h"
#include "cu/rank/cluster.h"
#include "cu/sched/assignment.h"
#include "cu/team/samples.h"

enum { FIRST_CHECK = 4, MAX_INTERVAL = 64 }; /* steps between two checks of the partition */

static const double
    NOMINAL = 2e4,    /* Mop/s of a core before it is measured; only its ratio to links matters */
    TOLERANCE = 0.03, /* gains below this share of a step may be noise */
    MARGIN = 2,       /* the gain must be this many times the cost of moving */
    PACE = 1e-9,      /* seconds per byte of a moving zone, before that is measured */
    OVERHEAD = 1e-3;  /* seconds that any move of zones takes */

/* The cost of a face's message that computation does not hide: packing, unpacking, calls. */
static const struct sched_link unhidden = {2e-6, 1 / 4e9};

struct ranks {
    struct arena arena;
    const struct mz *mz;
    const char *schedule;
    int n;
    struct tasks tasks;      /* all zones; costs in Mop */
    struct sched_job job;    /* the same tasks on ranks as units; costs as measured */
    struct sched_unit *unit; /* [n] the ranks, speed in Mop/s */
    double *nominal;         /* [n] speed before it was measured */
    int *of, *next;          /* [nzones] */
    double *cost;            /* [nzones] measured seconds times the rank's speed, Mop */
    double *seconds;         /* [nzones] of a step on the zone's rank */
    double *sums;            /* [2 n] scratch */
    struct samples *zone;    /* [nzones] seconds per step on this rank */
    struct samples span;     /* seconds per step of this rank's busiest unit */
    int steps, wait;         /* steps since the last check; interval to the next one */
    /* in this run: */
    double total;           /* seconds of the busiest unit */
    int times, zones_moved; /* repartitions; zones moved in them */
    double moved_s, moved_bytes;
};

/* ---- opening --------------------------------------------------------------------------------- */

static enum ek_status allocate(struct ranks *r)
{
    const int zones = r->mz->nzones;
    r->unit = ARENA_NEW(&r->arena, r->n, struct sched_unit);
    r->nominal = ARENA_NEW(&r->arena, r->n, double);
    r->sums = ARENA_NEW(&r->arena, 2 * r->n, double);
    r->of = ARENA_NEW(&r->arena, zones, int);
    r->next = ARENA_NEW(&r->arena, zones, int);
    r->cost = ARENA_NEW(&r->arena, zones, double);
    r->seconds = ARENA_NEW(&r->arena, zones, double);
    r->zone = ARENA_NEW(&r->arena, zones, struct samples);
    TRY(arena_check(&r->arena, "%s, %d ranks", r->mz->ops->name, r->n));
    return tasks_open(r->mz, &r->tasks);
}

/* Exchanges how many threads and devices each rank has. */
static void introduce(struct ranks *r, const struct cu_layout *layout)
{
    double *threads = r->sums, *devices = r->sums + r->n;
    threads[cluster_rank()] = cu_layout_workers(layout);
    devices[cluster_rank()] = layout->ndev;
    cluster_sum(r->sums, 2 * (size_t)r->n);
    for (int i = 0; i < r->n; i++) {
        r->nominal[i] = NOMINAL * threads[i];
        r->unit[i] = (struct sched_unit){.kind = devices[i] > 0 ? CU_DEVICE : CU_CPU,
                                         .width = (int)threads[i],
                                         .memory = i,
                                         .speed = r->nominal[i]};
    }
}

/* A driver interleaves the work of processes by time: each waits for the others many times a step,
 * and no rank sees how fast the device is. A device is known by its node and address, and a part of
 * a GPU by its UUID. */
static void warn_of_sharing(const struct cu_set *set)
{
    char mine[4096] = "";
    size_t used = 0;
    for (int i = set->layout.ncpu; i < set->n && used < sizeof mine; i++) {
        const struct backend *b = set->cu[i].device;
        used += (size_t)snprintf(mine + used, sizeof mine - used, "%s%s %d %s %s", used ? "," : "",
                                 b->label, cluster_node(cluster_rank()),
                                 b->info.pci[0] ? b->info.pci : b->label, b->info.uuid);
    }
    OWNED_MEMORY char *all = cluster_gather_text(mine);
    char *rest = all;
    for (char *one; (one = strsep(&rest, ","));) {
        const char *identity = strchr(one, ' ');
        int sharing = 1;
        for (const char *at = rest; at && identity && (at = strstr(at, identity)); at++)
            sharing++;
        if (sharing == 1)
            continue;
        status_warn("%d ranks share %.*s, which makes it slower for all together: start one for "
                    "each device, which other threads can feed (--layout 0x0+1x8)",
                    sharing, (int)(identity - one), one);
        return;
    }
}

static size_t partition_bytes(const struct ranks *r)
{
    return (size_t)r->mz->nzones * sizeof *r->next;
}

enum ek_status ranks_open(const struct mz *mz, const struct cu_set *set, const char *schedule,
                          struct ranks **out)
{
    NEW(struct ranks, r, 1, "%s: out of memory", mz->ops->name);
    r->mz = mz;
    r->schedule = schedule;
    r->n = cluster_size();
    enum ek_status st = allocate(r);
    if (!st) {
        introduce(r, &set->layout);
        warn_of_sharing(set);
        tasks_number(&r->tasks, mz, NULL, &r->job);
        r->job.ncu = r->n;
        r->job.unit = r->unit;
        r->job.link = &unhidden;
        if (cluster_rank() == 0) /* it decides for all: others might round differently */
            st = assignment_find(schedule, &r->job, r->next);
    }
    TRY_OR(st, ranks_close(r));
    r->job.cost = r->cost;
    cluster_share(r->next, partition_bytes(r));
    memcpy(r->of, r->next, partition_bytes(r));
    *out = r;
    return EK_OK;
}

void ranks_close(struct ranks *r)
{
    if (!r)
        return;
    tasks_close(&r->tasks);
    arena_free(&r->arena);
    free(r);
}

const int *ranks_of(const struct ranks *r)
{
    return r->of;
}

const int *ranks_next(const struct ranks *r)
{
    return r->next;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void forget(struct ranks *r)
{
    memset(r->zone, 0, (size_t)r->mz->nzones * sizeof *r->zone);
    r->span = (struct samples){.count = 0};
    r->steps = 0;
}

void ranks_begin(struct ranks *r)
{
    forget(r);
    r->wait = FIRST_CHECK;
    r->times = r->zones_moved = 0;
    r->total = r->moved_s = r->moved_bytes = 0;
}

static void note_step(struct ranks *r, const struct tasks *tasks, const struct team_step *step)
{
    for (int t = 0; t < tasks->n; t++)
        samples_add(&r->zone[tasks->zone[t]], step->seconds[t]);
    samples_add(&r->span, step->longest);
    r->total += step->longest;
    r->steps++;
}

/* Seconds that each zone adds to its rank's step: its share of the busiest unit's time. All ranks
 * get all of them. */
static void gather_seconds(struct ranks *r)
{
    const int me = cluster_rank();
    double sum = 0;
    memset(r->seconds, 0, (size_t)r->mz->nzones * sizeof *r->seconds);
    for (int z = 0; z < r->mz->nzones; z++)
        if (r->of[z] == me)
            sum += r->seconds[z] = samples_median(&r->zone[z]);
    const double share = sum > 0 ? samples_median(&r->span) / sum : 0;
    for (int z = 0; z < r->mz->nzones; z++)
        r->seconds[z] *= share;
    cluster_sum(r->seconds, (size_t)r->mz->nzones);
}

/* Mop/s of ranks that have zones, as measured; of the others in proportion to their cores. */
static void estimate_speeds(struct ranks *r)
{
    double *mop = r->sums, *seconds = r->sums + r->n, measured = 0, nominal = 0;
    memset(r->sums, 0, 2 * (size_t)r->n * sizeof *r->sums);
    for (int z = 0; z < r->mz->nzones; z++) {
        mop[r->of[z]] += r->tasks.cost[z];
        seconds[r->of[z]] += r->seconds[z];
    }
    for (int i = 0; i < r->n; i++)
        if (seconds[i] > 0) {
            measured += r->unit[i].speed = mop[i] / seconds[i];
            nominal += r->nominal[i];
        }
    for (int i = 0; i < r->n; i++)
        if (!(seconds[i] > 0) && nominal > 0)
            r->unit[i].speed = r->nominal[i] * measured / nominal;
    for (int z = 0; z < r->mz->nzones; z++)
        r->cost[z] = r->seconds[z] * r->unit[r->of[z]].speed;
}

/* ---- repartitioning -------------------------------------------------------------------------- */

/* Bytes sent and received by the rank that has the most of them. */
static double most_moved(struct ranks *r)
{
    double *bytes = r->sums, most = 0;
    memset(bytes, 0, (size_t)r->n * sizeof *bytes);
    for (int z = 0; z < r->mz->nzones; z++)
        if (r->next[z] != r->of[z]) {
            most = fmax(most, bytes[r->of[z]] += r->tasks.bytes[z]);
            most = fmax(most, bytes[r->next[z]] += r->tasks.bytes[z]);
        }
    return most;
}

static bool worth_it(struct ranks *r, int left)
{
    const double now = assignment_span(&r->job, r->of, r->sums);
    const double gain = now - assignment_span(&r->job, r->next, r->sums);
    const double pace = r->moved_bytes > 0 ? r->moved_s / r->moved_bytes : PACE;
    return gain > TOLERANCE * now && gain * left > MARGIN * (OVERHEAD + pace * most_moved(r));
}

enum ek_status ranks_consider(struct ranks *r, const struct tasks *tasks,
                              const struct team_step *step, int left, bool *move)
{
    note_step(r, tasks, step);
    *move = false;
    if (r->steps < r->wait || left < 1)
        return EK_OK;
    gather_seconds(r);
    if (cluster_rank() == 0) {
        estimate_speeds(r);
        TRY(assignment_find(r->schedule, &r->job, r->next));
        if (!worth_it(r, left))
            memcpy(r->next, r->of, partition_bytes(r));
    }
    cluster_share(r->next, partition_bytes(r));
    *move = memcmp(r->next, r->of, partition_bytes(r));
    r->wait = r->wait < MAX_INTERVAL ? 2 * r->wait : MAX_INTERVAL;
    forget(r);
    return EK_OK;
}

void ranks_moved(struct ranks *r, double seconds)
{
    r->moved_bytes += most_moved(r);
    r->moved_s += seconds;
    r->times++;
    for (int z = 0; z < r->mz->nzones; z++)
        r->zones_moved += r->next[z] != r->of[z];
    memcpy(r->of, r->next, partition_bytes(r));
}

/* ---- the report ------------------------------------------------------------------------------ */

json_t *ranks_json(struct ranks *r)
{
    double *busy = r->sums, sum = 0, longest = 0;
    json_t *zones = json_array();
    memset(busy, 0, (size_t)r->n * sizeof *busy);
    busy[cluster_rank()] = r->total;
    cluster_sum(busy, (size_t)r->n);
    for (int i = 0; i < r->n; i++) {
        int n = 0;
        for (int z = 0; z < r->mz->nzones; z++)
            n += r->of[z] == i;
        json_array_append_new(zones, json_integer(n));
        sum += busy[i];
        longest = fmax(longest, busy[i]);
    }
    return json_pack("{s:s s:o s:o s:f s:i s:i s:f}", "schedule", r->schedule, "zones", zones,
                     "busy_s", json_numbers(busy, (size_t)r->n), "imbalance",
                     sum > 0 ? longest * r->n / sum - 1 : 0.0, "times_divided_anew", r->times,
                     "zones_moved", r->zones_moved, "moving_s", r->moved_s);
}
