/* cu/unit/topology.c – the machine as hwloc sees it. */
#include "cu/unit/topology.h"
#include "cu/rank/cluster.h"
#include "src/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <omp.h>
#include <sched.h>

/* hwloc's device plug-ins would open every driver on the thread that loads the topology, which
 * takes a second and binds the drivers' threads to that thread's cpus. PCI devices are found
 * through sysfs instead of libpciaccess, which leaks. */
static const char *const unwanted[] = {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl", "pci"};
/* The files of these, and of libxml, are not even opened: with X11 and ICU, on which they depend,
 * they are a third of the time that a program takes to start. */
static const char unopened[] = "hwloc_opencl hwloc_cuda hwloc_nvml hwloc_rsmi hwloc_levelzero "
                               "hwloc_gl hwloc_pci hwloc_xml_libxml";

/* The number of pus that hwloc would build: the product of the levels' numbers, which begin a word
 * or follow a colon. What is in brackets or parentheses are attributes and attached memory. */
static double synthetic_pus(const char *text)
{
    double n = 1;
    bool level = true;
    for (int depth = 0; *text; text++) {
        depth += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
        if (!depth && level && isdigit((unsigned char)*text))
            n *= strtod(text, NULL);
        level = isspace((unsigned char)*text) || *text == ':';
    }
    return n;
}

/* What a topology of this machine holds beyond cpus, caches and the memory that may be used. */
enum extent { PLAIN, WITH_PCI, WITH_DISALLOWED };

static enum ek_status load(hwloc_topology_t t, const char *synthetic, enum extent extent)
{
    if (synthetic && hwloc_topology_set_synthetic(t, synthetic))
        FAIL(EK_USAGE,
             "'%s' is not an hwloc synthetic machine, from the outside in and down to pu, as "
             "\"pack:2 core:64 pu:2\"",
             synthetic);
    const int most = 1 << 14; /* beyond, hwloc takes minutes */
    if (synthetic && synthetic_pus(synthetic) > most)
        FAIL(EK_USAGE, "'%s' has %.0f pus; at most %d can be shown", synthetic,
             synthetic_pus(synthetic), most);
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unwanted[i]);
    if (extent == WITH_PCI)
        hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (extent == WITH_DISALLOWED)
        hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(t))
        FAIL(EK_UNAVAILABLE, "hwloc cannot read this machine's topology: %s", strerror(errno));
    return EK_OK;
}

static enum ek_status open(const char *synthetic, enum extent extent, hwloc_topology_t *topology)
{
    static const char blacklist[] = "HWLOC_PLUGINS_BLACKLIST";
    hwloc_topology_t t;
    setenv("HWLOC_HIDE_ERRORS", "2", 0); /* hwloc recovers from them by itself */
    const bool ours = !getenv(blacklist) && !setenv(blacklist, unopened, 1);
    const int failed = hwloc_topology_init(&t);
    if (ours)
        unsetenv(blacklist); /* programs that we start have their own wishes */
    if (failed)
        FAIL(EK_UNAVAILABLE, "out of memory for the machine's topology");
    enum ek_status st = load(t, synthetic, extent);
    return HAND_OUT(st, t, topology, hwloc_topology_destroy);
}

enum ek_status topology_open(const char *synthetic, hwloc_topology_t *topology)
{
    return open(synthetic, PLAIN, topology);
}

enum ek_status topology_open_pci(hwloc_topology_t *topology)
{
    return open(NULL, WITH_PCI, topology);
}

enum ek_status topology_open_disallowed(hwloc_topology_t *topology)
{
    return open(NULL, WITH_DISALLOWED, topology);
}

void topology_close(hwloc_topology_t topology)
{
    if (topology)
        hwloc_topology_destroy(topology);
}

enum ek_status topology_thread_cpus(hwloc_bitmap_t cpus)
{
    /* The kernel refuses masks shorter than its own, and does not tell its length. */
    for (int room = CPU_SETSIZE; room <= 1 << 20; room *= 2) {
        size_t size = CPU_ALLOC_SIZE(room);
        cpu_set_t *set = CPU_ALLOC(room);
        if (!set)
            FAIL(EK_UNAVAILABLE, "out of memory for a set of %d cpus", room);
        int err = sched_getaffinity(0, size, set) ? errno : 0;
        if (!err)
            hwloc_bitmap_zero(cpus);
        for (int cpu = 0; !err && cpu < room; cpu++)
            if (CPU_ISSET_S((size_t)cpu, size, set))
                hwloc_bitmap_set(cpus, (unsigned)cpu);
        CPU_FREE(set);
        if (!err)
            return EK_OK;
        if (err != EINVAL)
            FAIL(EK_UNAVAILABLE, "sched_getaffinity: %s", strerror(err));
    }
    FAIL(EK_UNAVAILABLE, "sched_getaffinity: this kernel counts more than %d cpus", 1 << 20);
}

void topology_bind_thread(hwloc_const_bitmap_t cpus)
{
    const int room = hwloc_bitmap_last(cpus) + 1;
    cpu_set_t *set = CPU_ALLOC(room);
    if (!set)
        return;
    CPU_ZERO_S(CPU_ALLOC_SIZE(room), set);
    for (int cpu = 0; cpu < room; cpu++)
        if (hwloc_bitmap_isset(cpus, (unsigned)cpu))
            CPU_SET_S((size_t)cpu, CPU_ALLOC_SIZE(room), set);
    sched_setaffinity(0, CPU_ALLOC_SIZE(room), set);
    CPU_FREE(set);
}

enum ek_status topology_add_place(int place, hwloc_bitmap_t cpus)
{
    int n = omp_get_place_num_procs(place);
    OWNED_MEMORY int *id = calloc((size_t)n + 1, sizeof *id);
    if (!id || !cpus)
        FAIL(EK_UNAVAILABLE, "out of memory for place %d of %d cpus", place, n);
    omp_get_place_proc_ids(place, id);
    for (int i = 0; i < n; i++)
        hwloc_bitmap_set(cpus, (unsigned)id[i]);
    return EK_OK;
}

enum ek_status topology_process_cpus(hwloc_bitmap_t cpus)
{
    int places = omp_get_proc_bind() == omp_proc_bind_false ? 0 : omp_get_num_places();
    if (!places)
        return topology_thread_cpus(cpus);
    hwloc_bitmap_zero(cpus);
    for (int p = 0; p < places; p++)
        TRY(topology_add_place(p, cpus));
    return EK_OK;
}

enum ek_status topology_here(hwloc_topology_t *topology, hwloc_bitmap_t *cpus)
{
    hwloc_bitmap_t found = hwloc_bitmap_alloc();
    if (!found)
        FAIL(EK_UNAVAILABLE, "out of memory for a set of cpus");
    enum ek_status st = topology_process_cpus(found);
    THEN(st, topology_open(NULL, topology));
    return HAND_OUT(st, found, cpus, hwloc_bitmap_free);
}

int topology_cores(hwloc_topology_t topology, hwloc_const_bitmap_t allowed)
{
    hwloc_obj_t core = NULL;
    int n = 0;
    while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)))
        n += hwloc_bitmap_intersects(core->cpuset, allowed);
    return n ? n : hwloc_bitmap_weight(allowed); /* some virtual machines hide their cores */
}

int topology_within_quota(int cores)
{
    const int ranks = cluster_launch().local_size;
    const double quota = cgroup_cpus() / (ranks > 1 ? ranks : 1);
    return !quota || quota >= cores ? cores : quota < 1 ? 1 : (int)quota;
}

int topology_lent_cores(void)
{
    OWNED(owned_topology_close) hwloc_topology_t topology = NULL;
    if (MUTED(topology_open(NULL, &topology)))
        return 0;
    return topology_cores(topology, hwloc_topology_get_allowed_cpuset(topology));
}

bool topology_near(hwloc_topology_t topology, const char *pci, hwloc_bitmap_t cpus)
{
    hwloc_obj_t device = *pci ? hwloc_get_pcidev_by_busidstring(topology, pci) : NULL;
    hwloc_obj_t home = device ? hwloc_get_non_io_ancestor_obj(topology, device) : NULL;
    if (!home || !home->cpuset ||
        hwloc_bitmap_isequal(home->cpuset, hwloc_get_root_obj(topology)->cpuset))
        return false;
    hwloc_bitmap_copy(cpus, home->cpuset);
    return true;
}

const char *topology_model(hwloc_topology_t topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (!model)
        model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "CPUModel");
    return model ? model : "unknown";
}

int topology_last_cache(hwloc_topology_t topology)
{
    static const hwloc_obj_type_t outermost_first[] = {
        HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
        HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_PACKAGE,
    };
    for (size_t i = 0; i < sizeof outermost_first / sizeof *outermost_first; i++) {
        int depth = hwloc_get_type_depth(topology, outermost_first[i]);
        if (depth >= 0)
            return depth;
    }
    return 0;
}

const char *topology_list(hwloc_const_bitmap_t cpus, char *buf, size_t room)
{
    hwloc_bitmap_list_snprintf(buf, room, cpus);
    return buf;
}
