/* cu/rank/cluster_launch.c – what the launcher of ranks has left in the environment; without MPI.
 */
#include "cu/rank/cluster.h"

#include <limits.h>

/* The number that a variable begins with: Slurm writes "4(x2)". Nonsense counts as not given. */
static int number(const char *name, int least, int otherwise)
{
    const long most = 1 << 20; /* ranks */
    const char *text = getenv(name);
    const long n = text ? strtol(text, NULL, 10) : 0;
    return text && n >= least && n <= most ? (int)n : otherwise;
}

struct cluster_launch cluster_launch(void)
{
    /* of Open MPI, MPICH and Slurm */
    static const struct {
        const char *rank, *size, *local_rank, *local_size;
    } launcher[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
         "OMPI_COMM_WORLD_LOCAL_SIZE"},
        {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
    };
    for (size_t i = 0; i < sizeof launcher / sizeof *launcher; i++)
        if (getenv(launcher[i].size))
            return (struct cluster_launch){.rank = number(launcher[i].rank, 0, 0),
                                           .size = number(launcher[i].size, 1, 1),
                                           .local_rank = number(launcher[i].local_rank, 0, 0),
                                           .local_size = number(launcher[i].local_size, 1, 1)};
    return (struct cluster_launch){0, 1, 0, 1};
}

void cluster_share_cpus(hwloc_topology_t topology, hwloc_bitmap_t cpus)
{
    const int ranks = cluster_launch().local_size, here = cluster_launch().local_rank;
    if (ranks < 2 || here >= ranks ||
        !hwloc_bitmap_isequal(cpus, hwloc_topology_get_allowed_cpuset(topology)))
        return; /* the only rank here, or bound by the launcher */
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    OWNED_MEMORY hwloc_bitmap_t *share = calloc((size_t)ranks, sizeof *share);
    if (share && !hwloc_distrib(topology, &root, 1, share, (unsigned)ranks, INT_MAX, 0))
        hwloc_bitmap_copy(cpus, share[here]);
    for (int i = 0; share && i < ranks; i++)
        hwloc_bitmap_free(share[i]);
}
