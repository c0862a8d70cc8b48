/* cu/place_derive.c – places from a machine and a layout. */
#include "cu/place.h"
#include "cu/topology.h"

#include <limits.h>
#include <stdlib.h>

/* One cpu that may be used. Tier 0 is what a unit wants first: the first cpu of a core of the
 * fastest kind; then come slower kinds of cores, then second hardware threads. */
struct seat {
    int cpu, tier, load; /* load: threads that live here so far */
};

struct seats {
    int n, tiers;
    struct seat *seat; /* [n] in the topology's order: neighbours share caches */
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

/* How many allowed cpus of the same core come before this one. */
static int thread_rank(hwloc_topology_t t, hwloc_obj_t pu, hwloc_const_bitmap_t allowed)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu);
    hwloc_obj_t sibling = NULL;
    int rank = 0;
    while (core &&
           (sibling =
                hwloc_get_next_obj_inside_cpuset_by_type(t, core->cpuset, HWLOC_OBJ_PU, sibling)) &&
           sibling != pu)
        rank += hwloc_bitmap_isset(allowed, sibling->os_index);
    return rank;
}

static enum ek_status find_seats(hwloc_topology_t t, hwloc_const_bitmap_t allowed, struct seats *s)
{
    int kinds = hwloc_cpukinds_get_nr(t, 0);
    hwloc_obj_t pu = NULL;
    *s = (struct seats){
        .seat = calloc((size_t)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) + 1, sizeof *s->seat)};
    if (!s->seat)
        FAIL(EK_LACK, "out of memory for the list of cpus");
    while ((pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu))) {
        if (!hwloc_bitmap_isset(allowed, pu->os_index))
            continue;
        int tier = thread_rank(t, pu, allowed) * (kinds > 0 ? kinds : 1) + kind_rank(t, pu->cpuset);
        s->seat[s->n++] = (struct seat){(int)pu->os_index, tier, 0};
        if (tier >= s->tiers)
            s->tiers = tier + 1;
    }
    if (!s->n)
        FAIL(EK_LACK, "none of this machine's cpus is allowed to this process");
    return EK_OK;
}

static struct seat *seat_of(const struct seats *s, int cpu)
{
    for (int i = 0; i < s->n; i++)
        if (s->seat[i].cpu == cpu)
            return &s->seat[i];
    return NULL;
}

/* The cpus from which units are cut: all of tier 0 if that is enough, so that there is slack to
 * keep units together; otherwise whole tiers and, of the last one, no more than is missing, so that
 * no core idles while another carries two threads. `reserved` cpus stay out of tier 0. */
static void choose_pool(const struct seats *s, int need, hwloc_const_bitmap_t reserved,
                        hwloc_bitmap_t pool)
{
    int got = 0;
    hwloc_bitmap_zero(pool);
    for (int tier = 0; tier < s->tiers && got < need; tier++)
        for (int i = 0; i < s->n && (tier == 0 || got < need); i++)
            if (s->seat[i].tier == tier &&
                !hwloc_bitmap_isset(reserved, (unsigned)s->seat[i].cpu)) {
                hwloc_bitmap_set(pool, (unsigned)s->seat[i].cpu);
                got++;
            }
}

/* The smallest piece of hardware with `width` free cpus, the first of its size. */
static hwloc_obj_t smallest_home(hwloc_topology_t t, hwloc_const_bitmap_t free_cpus, int width,
                                 hwloc_bitmap_t scratch)
{
    for (int depth = hwloc_topology_get_depth(t) - 1; depth > 0; depth--) {
        hwloc_obj_t object = NULL;
        while ((object = hwloc_get_next_obj_by_depth(t, depth, object))) {
            hwloc_bitmap_and(scratch, object->cpuset, free_cpus);
            if (hwloc_bitmap_weight(scratch) >= width)
                return object;
        }
    }
    return hwloc_get_root_obj(t);
}

/* Moves the first `width` free cpus inside `home`, in the topology's order, to `unit`. */
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

/* Cuts the CPU units out of `pool` and appends them; *cost = how far up the hardware tree their
 * homes lie, summed: the less, the closer together. Starts over on the same cpus when they run out.
 */
static enum ek_status pack(hwloc_topology_t t, const struct seats *s, hwloc_const_bitmap_t pool,
                           const struct cu_layout *layout, struct place_list *list, int *cost)
{
    int room = hwloc_bitmap_weight(pool), width = layout->width < room ? layout->width : room;
    hwloc_bitmap_t left = hwloc_bitmap_dup(pool), scratch = hwloc_bitmap_alloc();
    enum ek_status st = left && scratch ? EK_OK : EK_LACK;
    *cost = 0;
    for (int u = 0; u < layout->ncpu && !st; u++) {
        if (hwloc_bitmap_weight(left) < width)
            hwloc_bitmap_copy(left, pool);
        hwloc_obj_t home = smallest_home(t, left, width, scratch);
        hwloc_bitmap_t unit = hwloc_bitmap_alloc();
        if (unit)
            cut(s, home, width, left, unit);
        st = place_append(list, unit);
        *cost += hwloc_topology_get_depth(t) - home->depth;
    }
    hwloc_bitmap_free(left);
    hwloc_bitmap_free(scratch);
    return st;
}

/* Sets one tier-0 cpu aside for each device that has a home, from its end: units fill from the
 * start. */
static void reserve_near(const struct seats *s, const hwloc_const_bitmap_t *near, int ndev,
                         hwloc_bitmap_t reserved)
{
    for (int d = 0; near && d < ndev; d++)
        for (int i = s->n - 1; near[d] && i >= 0; i--) {
            unsigned cpu = (unsigned)s->seat[i].cpu;
            if (s->seat[i].tier == 0 && hwloc_bitmap_isset(near[d], cpu) &&
                !hwloc_bitmap_isset(reserved, cpu)) {
                hwloc_bitmap_set(reserved, cpu);
                break;
            }
        }
}

static int tier_zero(const struct seats *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->seat[i].tier == 0;
    return n;
}

/* Packs the units with cpus reserved near the devices if that costs them nothing, else without. */
static enum ek_status pack_units(hwloc_topology_t t, const struct seats *s,
                                 const struct cu_layout *layout, const hwloc_const_bitmap_t *near,
                                 struct place_list *list)
{
    int need = layout->ncpu * layout->width, cost, cost_reserved = INT_MAX;
    struct place_list apart = {0};
    hwloc_bitmap_t pool = hwloc_bitmap_alloc(), reserved = hwloc_bitmap_alloc();
    enum ek_status st = EK_LACK;
    if (!pool || !reserved)
        goto done;
    choose_pool(s, need, reserved, pool);
    st = pack(t, s, pool, layout, list, &cost);
    reserve_near(s, near, layout->ndev, reserved);
    if (!st && tier_zero(s) - hwloc_bitmap_weight(reserved) >= need) {
        choose_pool(s, need, reserved, pool);
        st = pack(t, s, pool, layout, &apart, &cost_reserved);
    }
    if (!st && cost_reserved <= cost) {
        struct place_list together = *list;
        *list = apart;
        apart = together;
    }
done:
    place_free(&apart);
    hwloc_bitmap_free(pool);
    hwloc_bitmap_free(reserved);
    return st;
}

/* Counts the units' threads on each cpu; a unit with more threads than cpus loads them evenly. */
static void count_load(const struct seats *s, const struct place_list *list, int width)
{
    for (int u = 0; u < list->n; u++) {
        int cpus = hwloc_bitmap_weight(list->cpus[u]);
        for (int c = hwloc_bitmap_first(list->cpus[u]); c >= 0;
             c = hwloc_bitmap_next(list->cpus[u], c))
            seat_of(s, c)->load += (width + cpus - 1) / cpus;
    }
}

/* Whether seat a suits a device's thread better than b: the less loaded, then the better tier, then
 * the nearer. Among equals a free seat is taken from the front, a shared one from the back, since
 * cpu 0 also serves the initial thread and most interrupts. */
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
    return a->load > 0; /* b comes before a in the topology */
}

static enum ek_status append_device(const struct seats *s, hwloc_const_bitmap_t near,
                                    struct place_list *list)
{
    struct seat *best = &s->seat[0];
    for (int i = 1; i < s->n; i++)
        if (suits(&s->seat[i], best, near))
            best = &s->seat[i];
    best->load++;
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (cpus)
        hwloc_bitmap_set(cpus, (unsigned)best->cpu);
    return place_append(list, cpus);
}

enum ek_status place_derive(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
                            const struct cu_layout *layout, const hwloc_const_bitmap_t *near,
                            struct place_list *list)
{
    struct seats seats;
    struct place_list found = {0};
    enum ek_status st = find_seats(topology, allowed, &seats);
    if (!st)
        st = pack_units(topology, &seats, layout, near, &found);
    if (!st)
        count_load(&seats, &found, layout->width);
    for (int d = 0; d < layout->ndev && !st; d++)
        st = append_device(&seats, near ? near[d] : NULL, &found);
    free(seats.seat);
    if (st)
        place_free(&found);
    else
        *list = found;
    return st;
}
