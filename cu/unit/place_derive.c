/* cu/unit/place_derive.c – derives places from a machine and a layout. */
#include "cu/unit/place.h"
#include "cu/unit/topology.h"

/* One allowed cpu. Units prefer low tiers: tier 0 is the first cpu of each core of the fastest
 * kind; then come the slower kinds of cores, then second hardware threads. */
struct seat {
    int cpu, tier, load; /* load: threads placed here so far */
};

struct seats {
    int n, tiers;
    struct seat *seat; /* [n] in topology order: neighbours share caches */
};

/* How many kinds of cores are faster than this cpu's. */
static int kind_rank(hwloc_topology_t t, hwloc_const_bitmap_t cpu)
{
    int efficiency = -1, kind = hwloc_cpukinds_get_by_cpuset(t, cpu, 0);
    if (kind < 0 || hwloc_cpukinds_get_info(t, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0) ||
        efficiency < 0)
        return 0;
    return hwloc_cpukinds_get_nr(t, 0) - 1 - kind;
}

/* Number of allowed cpus before this one in the same core. */
static int thread_rank(hwloc_topology_t t, hwloc_obj_t pu, hwloc_const_bitmap_t allowed)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu);
    int rank = 0;
    for (hwloc_obj_t o = core ? pu->prev_cousin : NULL;
         o && hwloc_bitmap_isset(core->cpuset, o->os_index); o = o->prev_cousin)
        rank += hwloc_bitmap_isset(allowed, o->os_index);
    return rank;
}

static enum ek_status find_seats(hwloc_topology_t t, hwloc_const_bitmap_t allowed, struct seats *s)
{
    int kinds = hwloc_cpukinds_get_nr(t, 0);
    hwloc_obj_t pu = NULL;
    *s = (struct seats){
        .seat = calloc((size_t)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) + 1, sizeof *s->seat)};
    if (!s->seat)
        FAIL(EK_UNAVAILABLE, "out of memory for the list of cpus");
    while ((pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu))) {
        if (!hwloc_bitmap_isset(allowed, pu->os_index))
            continue;
        int tier = thread_rank(t, pu, allowed) * (kinds > 0 ? kinds : 1) + kind_rank(t, pu->cpuset);
        s->seat[s->n++] = (struct seat){(int)pu->os_index, tier, 0};
        if (tier >= s->tiers)
            s->tiers = tier + 1;
    }
    if (!s->n)
        FAIL(EK_UNAVAILABLE, "none of this machine's cpus is allowed to this process");
    return EK_OK;
}

static struct seat *seat_of(const struct seats *s, int cpu)
{
    for (int i = 0; i < s->n; i++)
        if (s->seat[i].cpu == cpu)
            return &s->seat[i];
    return NULL;
}

/* One way to place all units and devices; the best of a few is kept. */
struct attempt {
    bool reserve; /* keep tier-0 cpus near the devices free of units */
    bool spread;  /* take cpus of the last tier evenly over the machine, not from its start */
    struct place_list list;
    int cost; /* sum over units of how far up the hardware tree their homes lie */
    int far;  /* device threads that are not near their device */
};

static int count_tier(const struct seats *s, int tier, hwloc_const_bitmap_t reserved)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->seat[i].tier == tier && !hwloc_bitmap_isset(reserved, (unsigned)s->seat[i].cpu);
    return n;
}

/* Adds `want` of a tier's `have` seats to the pool: the first ones, or evenly spread ones. */
static void take_tier(const struct seats *s, int tier, int want, int have, bool spread,
                      hwloc_const_bitmap_t reserved, hwloc_bitmap_t pool)
{
    for (int i = 0, k = 0; i < s->n; i++) {
        unsigned cpu = (unsigned)s->seat[i].cpu;
        if (s->seat[i].tier != tier || hwloc_bitmap_isset(reserved, cpu))
            continue;
        long before = (long)k * want / have, after = (long)(k + 1) * want / have;
        if (spread ? after > before : k < want)
            hwloc_bitmap_set(pool, cpu);
        k++;
    }
}

/* Chooses the cpus that units are cut from: all of tier 0 if that is enough, because slack helps to
 * keep units together; otherwise whole tiers and only the missing number of the last one, so that
 * no core idles while another carries two threads. */
static void choose_pool(const struct seats *s, int need, bool spread, hwloc_const_bitmap_t reserved,
                        hwloc_bitmap_t pool)
{
    hwloc_bitmap_zero(pool);
    for (int tier = 0, got = 0; tier < s->tiers && got < need; tier++) {
        int have = count_tier(s, tier, reserved), missing = need - got;
        int want = tier == 0 || have < missing ? have : missing;
        take_tier(s, tier, want, have, spread, reserved, pool);
        got += want;
    }
}

/* The smallest hardware object with `width` free cpus, the first of its depth. full [depth] counts
 * the objects of each depth that are known to have fewer: it is 0 at first, and they stay so while
 * free cpus only become fewer. */
static hwloc_obj_t smallest_home(hwloc_topology_t t, hwloc_const_bitmap_t free_cpus, int width,
                                 unsigned *full, hwloc_bitmap_t scratch)
{
    for (int depth = hwloc_topology_get_depth(t) - 1; depth > 0; depth--)
        for (hwloc_obj_t o; (o = hwloc_get_obj_by_depth(t, depth, full[depth])); full[depth]++) {
            hwloc_bitmap_and(scratch, o->cpuset, free_cpus);
            if (hwloc_bitmap_weight(scratch) >= width)
                return o;
        }
    return hwloc_get_root_obj(t);
}

/* Moves the first `width` free cpus inside `home`, in topology order, to `unit`. */
static void cut(const struct seats *s, hwloc_obj_t home, int width, hwloc_bitmap_t free_cpus,
                hwloc_bitmap_t unit)
{
    for (int i = 0, got = 0; i < s->n && got < width; i++) {
        unsigned cpu = (unsigned)s->seat[i].cpu;
        if (!hwloc_bitmap_isset(free_cpus, cpu) || !hwloc_bitmap_isset(home->cpuset, cpu))
            continue;
        hwloc_bitmap_clr(free_cpus, cpu);
        hwloc_bitmap_set(unit, cpu);
        got++;
    }
}

/* Cuts the CPU units out of `pool`; when its cpus run out, units share them from the start. */
static enum ek_status pack(hwloc_topology_t t, const struct seats *s, hwloc_const_bitmap_t pool,
                           const struct cu_layout *layout, struct attempt *a)
{
    int room = hwloc_bitmap_weight(pool), width = layout->width < room ? layout->width : room;
    const size_t depths = (size_t)hwloc_topology_get_depth(t);
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t left = hwloc_bitmap_dup(pool);
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t scratch = hwloc_bitmap_alloc();
    OWNED_MEMORY unsigned *full = calloc(depths, sizeof *full);
    if (!left || !scratch || !full)
        return EK_UNAVAILABLE;
    for (int u = 0; u < layout->ncpu; u++) {
        if (room < width) {
            hwloc_bitmap_copy(left, pool);
            room = hwloc_bitmap_weight(pool);
            memset(full, 0, depths * sizeof *full);
        }
        room -= width;
        hwloc_obj_t home = smallest_home(t, left, width, full, scratch);
        hwloc_bitmap_t unit = hwloc_bitmap_alloc();
        if (unit)
            cut(s, home, width, left, unit);
        TRY(place_append(&a->list, unit));
        a->cost += hwloc_topology_get_depth(t) - home->depth;
    }
    return EK_OK;
}

/* Reserves a tier-0 cpu for each thread of a device whose neighbourhood is known, from the end of
 * it: units fill from the start. */
static void reserve_near(const struct seats *s, const hwloc_const_bitmap_t *near,
                         const struct cu_layout *layout, hwloc_bitmap_t reserved)
{
    for (int d = 0; near && d < layout->ndev; d++)
        for (int i = s->n - 1, got = 0; near[d] && i >= 0 && got < layout->feeders; i--) {
            unsigned cpu = (unsigned)s->seat[i].cpu;
            if (s->seat[i].tier == 0 && hwloc_bitmap_isset(near[d], cpu) &&
                !hwloc_bitmap_isset(reserved, cpu)) {
                hwloc_bitmap_set(reserved, cpu);
                got++;
            }
        }
}

/* Places the CPU units. a->list stays empty if reserving would leave too few cores. */
static enum ek_status place_units(hwloc_topology_t t, const struct seats *s,
                                  const struct cu_layout *layout, const hwloc_const_bitmap_t *near,
                                  struct attempt *a)
{
    int need = layout->ncpu * layout->width;
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t pool = hwloc_bitmap_alloc();
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t reserved = hwloc_bitmap_alloc();
    if (!pool || !reserved)
        return EK_UNAVAILABLE;
    if (a->reserve)
        reserve_near(s, near, layout, reserved);
    if (a->reserve && count_tier(s, 0, reserved) < need)
        return EK_OK;
    choose_pool(s, need, a->spread, reserved, pool);
    return pack(t, s, pool, layout, a);
}

/* Counts the CPU units' threads on each cpu, each unit's spread evenly over its cpus. */
static void count_load(const struct seats *s, const struct place_list *list, int width)
{
    for (int i = 0; i < s->n; i++)
        s->seat[i].load = 0;
    for (int u = 0; u < list->n; u++) {
        int cpus = hwloc_bitmap_weight(list->cpus[u]);
        for (int c = hwloc_bitmap_first(list->cpus[u]); c >= 0;
             c = hwloc_bitmap_next(list->cpus[u], c))
            seat_of(s, c)->load += (width + cpus - 1) / cpus;
    }
}

/* Whether seat a suits a device's thread better than b, which precedes it: less loaded, then better
 * tier, then nearer. Among equals, free seats are taken from the front and shared ones from the
 * back, because cpu 0 also serves the initial thread and most interrupts. */
static bool suits(const struct seat *a, const struct seat *b, hwloc_const_bitmap_t near)
{
    if (a->load != b->load)
        return a->load < b->load;
    if (a->load == 0 && a->tier != b->tier)
        return a->tier < b->tier;
    bool near_a = near && hwloc_bitmap_isset(near, (unsigned)a->cpu);
    bool near_b = near && hwloc_bitmap_isset(near, (unsigned)b->cpu);
    if (near_a != near_b)
        return near_a;
    return a->load > 0;
}

/* The cpus of this cpu's NUMA node; NULL: it has none. */
static hwloc_const_bitmap_t node_of(hwloc_topology_t t, int cpu)
{
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node)))
        if (hwloc_bitmap_isset(node->cpuset, (unsigned)cpu))
            return node->cpuset;
    return NULL;
}

/* Places a device's threads, on different cpus while there are any, within one NUMA node if it is
 * unknown what is near the device. */
static enum ek_status append_device(hwloc_topology_t t, const struct seats *s, int threads,
                                    hwloc_const_bitmap_t near, struct attempt *a)
{
    const int n = threads < s->n ? threads : s->n;
    hwloc_const_bitmap_t wanted = near;
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    for (int k = 0; cpus && k < n; k++) {
        struct seat *best = NULL;
        for (int i = 0; i < s->n; i++)
            if (!hwloc_bitmap_isset(cpus, (unsigned)s->seat[i].cpu) &&
                (!best || suits(&s->seat[i], best, wanted)))
                best = &s->seat[i];
        best->load += (threads + n - 1) / n;
        a->far += near && !hwloc_bitmap_isset(near, (unsigned)best->cpu);
        hwloc_bitmap_set(cpus, (unsigned)best->cpu);
        wanted = wanted ? wanted : node_of(t, best->cpu);
    }
    return place_append(&a->list, cpus);
}

/* Makes the attempt that *a describes, and replaces *best if it is possible and better. */
static enum ek_status try_attempt(hwloc_topology_t t, const struct seats *s,
                                  const struct cu_layout *layout, const hwloc_const_bitmap_t *near,
                                  struct attempt *a, struct attempt *best)
{
    enum ek_status st = place_units(t, s, layout, near, a);
    if (!st && a->list.n < layout->ncpu)
        return EK_OK;
    count_load(s, &a->list, layout->width);
    for (int d = 0; d < layout->ndev && !st; d++)
        st = append_device(t, s, layout->feeders, near ? near[d] : NULL, a);
    bool better =
        !best->list.n || a->cost < best->cost || (a->cost == best->cost && a->far < best->far);
    if (!st && better) {
        struct attempt worse = *best;
        *best = *a;
        *a = worse;
    }
    place_free(&a->list);
    return st;
}

enum ek_status place_derive(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
                            const struct cu_layout *layout, const hwloc_const_bitmap_t *near,
                            struct place_list *list)
{
    struct seats seats;
    struct attempt best = {0};
    enum ek_status st = find_seats(topology, allowed, &seats);
    for (int way = 0; way < 4 && !st; way++) {
        struct attempt a = {.reserve = !(way & 2), .spread = way & 1};
        st = try_attempt(topology, &seats, layout, near, &a, &best);
    }
    free(seats.seat);
    if (st)
        place_free(&best.list);
    else
        *list = best.list;
    return st;
}
