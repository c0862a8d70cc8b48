/* cu/moldable/cpus.c – cpus by the process's affinity, and by Slurm's record of an allocation. */
#include "cu/moldable/cpus.h"
#include "cu/unit/topology.h"

/* ---- Slurm ------------------------------------------------------------------------------------*/
/* Is `node` in a list such as n[1-3],n7? */
static bool names_node(const char *list, const char *node)
{
    char command[1200], name[256];
    bool found = false;
    if (strpbrk(list, "'\\") || strlen(list) > 1000)
        return false;
    snprintf(command, sizeof command, "scontrol show hostnames '%s'", list);
    FILE *f = popen(command, "re");
    while (f && !found && fscanf(f, "%255s", name) == 1)
        found = !strcmp(name, node);
    if (f)
        pclose(f);
    return found;
}

/* Adds cpus such as "0-3,6" in Slurm's numbers, which like hwloc's logical ones count the threads
 * of the cores of the sockets in order. */
static void add_cpus(hwloc_topology_t topology, const char *ids, hwloc_bitmap_t set)
{
    hwloc_bitmap_t logical = hwloc_bitmap_alloc();
    int i;
    hwloc_bitmap_list_sscanf(logical, ids);
    hwloc_bitmap_foreach_begin(i, logical)
    {
        hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)i);
        if (pu)
            hwloc_bitmap_set(set, pu->os_index);
    }
    hwloc_bitmap_foreach_end();
    hwloc_bitmap_free(logical);
}

/* Restricts `cpus` to the allocation's on this node, for clusters whose task plugin does not bind
 * job steps. */
static void keep_allocated(hwloc_topology_t topology, hwloc_bitmap_t cpus)
{
    const char *job = getenv("SLURM_JOB_ID"), *node = getenv("SLURMD_NODENAME");
    char command[96], line[2048], nodes[1024], ids[512];
    if (!job || !node || strspn(job, "0123456789") != strlen(job))
        return;
    hwloc_bitmap_t allocated = hwloc_bitmap_alloc();
    snprintf(command, sizeof command, "scontrol --details show job %.32s 2>/dev/null", job);
    FILE *f = popen(command, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, " Nodes=%1023s CPU_IDs=%511s", nodes, ids) == 2 && names_node(nodes, node))
            add_cpus(topology, ids, allocated);
    if (f)
        pclose(f);
    hwloc_bitmap_and(allocated, allocated, cpus);
    if (!hwloc_bitmap_iszero(allocated))
        hwloc_bitmap_copy(cpus, allocated);
    hwloc_bitmap_free(allocated);
}

/* ---- all --------------------------------------------------------------------------------------*/
/* Takes one cpus of each core that has any left; returns how many. */
static int take_round(hwloc_topology_t topology, hwloc_bitmap_t left, int *cpu)
{
    hwloc_obj_t core = NULL;
    int n = 0;
    while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core))) {
        hwloc_bitmap_t of = hwloc_bitmap_alloc();
        hwloc_bitmap_and(of, core->cpuset, left);
        const int first = hwloc_bitmap_first(of);
        if (first >= 0) {
            cpu[n++] = first;
            hwloc_bitmap_clr(left, (unsigned)first);
        }
        hwloc_bitmap_free(of);
    }
    return n;
}

enum ek_status cpus_own(struct arena *arena, int **cpu, int *n)
{
    OWNED(owned_topology_close) hwloc_topology_t topology = NULL;
    TRY(topology_open(NULL, &topology));
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t left = hwloc_bitmap_alloc();
    TRY(topology_process_cpus(left));
    keep_allocated(topology, left);
    *cpu = ARENA_NEW(arena, hwloc_bitmap_weight(left), int);
    TRY(arena_check(arena, "cpus"));
    *n = 0;
    for (int more = 1; more; *n += more)
        more = take_round(topology, left, *cpu + *n);
    return EK_OK;
}
