/* kirchhoff/microjobs_node.c – compute processes of one node: each has its share of the cpus and
 * devices. */
#include "kirchhoff/microjobs_internal.h"
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "cu/unit/topology.h"
#include "src/arena.h"
#include "src/clock.h"
#include "src/process.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXTRA_WORDS = 16 };

/* Room for one compute process. */
struct seat {
    pid_t pid; /* 0: empty */
    struct farm_batch batch;
    double start;
    cpu_set_t cpus;
    int width;          /* cores of its CPU unit */
    char devices[1024]; /* "" none */
    int ndevices;
};

struct node {
    const struct microjobs *job;
    struct farm *farm;
    int nseats;
    struct seat *seat;
    char **env;
    bool over; /* the master has no more */
};

/* ---- seats ------------------------------------------------------------------------------------*/

int microjobs_seats(const struct microjobs *j)
{
    const int m = j->ndevices     ? (j->ndevices + j->per_microjob - 1) / j->per_microjob
                  : j->concurrent ? j->concurrent
                                  : 1;
    return j->concurrent && j->concurrent < m ? j->concurrent : m;
}

static void give_devices(const struct microjobs *j, int number, struct seat *s)
{
    const int first = number * j->per_microjob, end = first + j->per_microjob;
    for (int d = first; d < end && d < j->ndevices; d++, s->ndevices++) {
        const size_t used = strlen(s->devices);
        snprintf(s->devices + used, sizeof s->devices - used, "%s%s", used ? "," : "",
                 j->device[d]);
    }
}

/* Every nseats-th run of cpus; all of them, where there are fewer than seats. */
static void give_cpus(hwloc_const_bitmap_t cpus, int number, int nseats, struct seat *s)
{
    const int all = hwloc_bitmap_weight(cpus);
    int cpu, i = 0;
    CPU_ZERO(&s->cpus);
    hwloc_bitmap_foreach_begin(cpu, cpus) if (all < nseats || (i >= number * all / nseats &&
                                                               i < (number + 1) * all / nseats))
        CPU_SET((size_t)cpu, &s->cpus);
    i++;
    hwloc_bitmap_foreach_end();
    const int cores = CPU_COUNT(&s->cpus) - s->ndevices;
    s->width = cores > 1 ? cores : 1;
}

static enum ek_status open_seats(struct node *n)
{
    hwloc_topology_t topology = NULL;
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    n->nseats = microjobs_seats(n->job);
    n->seat = calloc((size_t)n->nseats, sizeof *n->seat);
    enum ek_status st = cpus && n->seat ? topology_process_cpus(cpus)
                                        : status_fail(EK_UNAVAILABLE, "out of memory");
    THEN(st, topology_open(NULL, &topology));
    if (!st)
        cluster_share_cpus(topology, cpus);
    for (int i = 0; i < n->nseats && !st; i++) {
        give_devices(n->job, i, &n->seat[i]);
        give_cpus(cpus, i, n->nseats, &n->seat[i]);
    }
    topology_close(topology);
    hwloc_bitmap_free(cpus);
    return st;
}

/* ---- compute processes ------------------------------------------------------------------------*/

/* The environment without what would make a compute process a rank, or place it. */
static enum ek_status open_environment(struct node *n)
{
    static const char *const out[] = {"OMPI_",      "PMIX_",      "PMI_",         "SLURM_",
                                      "MPI_LOCAL",  "CU_GUARD",   "CU_FAMILY",    "CU_LAYOUT",
                                      "CU_DEVICES", "OMP_PLACES", "OMP_PROC_BIND"};
    n->env = process_environment(out, sizeof out / sizeof *out);
    return n->env ? EK_OK : status_fail(EK_UNAVAILABLE, "out of memory");
}

/* In the child: nothing but system calls. It dies with this process. */
static void become(const struct node *n, const struct seat *s, char **argv, pid_t parent)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(status_exit_code(EK_UNAVAILABLE));
    sched_setaffinity(0, sizeof s->cpus, &s->cpus);
    execve("/proc/self/exe", argv, n->env);
    _exit(status_exit_code(EK_UNAVAILABLE));
}

static enum ek_status launch(const struct node *n, struct seat *s, const struct farm_batch *batch)
{
    const struct microjobs *j = n->job;
    char part[48], partial[MICROJOBS_PATH], layout[48];
    char *extra[EXTRA_WORDS] = {"--quiet",   "--part",     part,
                                "--partial", partial,      "--layout",
                                layout,      "--schedule", (char *)n->job->schedule};
    int words = j->nwords, added = 9, microjob;
    memcpy(&microjob, batch->brief, sizeof microjob);
    snprintf(part, sizeof part, "%d/%d", microjob, j->microjobs);
    microjobs_part(j, microjob, partial);
    snprintf(layout, sizeof layout, "1x%d+%d", s->width, s->ndevices);
    if (*j->layout)
        snprintf(layout, sizeof layout, "%s", j->layout);
    if (s->ndevices) {
        extra[added++] = "--devices";
        extra[added++] = s->devices;
    }
    NEW(char *, argv, (size_t)(words + added + 1), "out of memory");
    memcpy(argv, j->word, (size_t)words * sizeof *argv);
    memcpy(argv + words, extra, (size_t)added * sizeof *argv);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(n, s, argv, parent);
    free(argv);
    if (pid < 0)
        FAIL(EK_UNAVAILABLE, "no compute process can be made: %s", strerror(errno));
    s->pid = pid;
    s->batch = *batch;
    s->start = clock_now();
    return EK_OK;
}

/* Says how a process ended, if it did. */
static bool reap(struct seat *s, struct microjobs_word *word)
{
    int status;
    if (!s->pid || waitpid(s->pid, &status, WNOHANG) != s->pid)
        return false;
    word->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    word->seconds = clock_now() - s->start;
    s->pid = 0;
    return true;
}

static void end_all(struct node *n)
{
    for (int i = 0; i < n->nseats; i++)
        if (n->seat[i].pid) {
            kill(n->seat[i].pid, SIGTERM);
            waitpid(n->seat[i].pid, NULL, 0);
            n->seat[i].pid = 0;
        }
    n->over = true;
}

/* ---- the node ---------------------------------------------------------------------------------*/

static bool busy(const struct node *n)
{
    for (int i = 0; i < n->nseats; i++)
        if (n->seat[i].pid)
            return true;
    return false;
}

static enum ek_status look_after(struct node *n, struct seat *s)
{
    struct microjobs_word word;
    struct farm_batch batch;
    if (reap(s, &word))
        TRY(farm_report(n->farm, &s->batch, word.code, 0, &word, sizeof word));
    if (s->pid || n->over)
        return EK_OK;
    TRY(farm_next(n->farm, 0, &batch, &n->over));
    return batch.tasks.end > batch.tasks.begin ? launch(n, s, &batch) : EK_OK;
}

enum ek_status microjobs_node(const struct microjobs *job, struct farm *farm)
{
    static const struct timespec nap = {0, 5000000};
    struct node n = {.job = job, .farm = farm};
    enum ek_status st = open_seats(&n);
    THEN(st, open_environment(&n));
    while (!st && (!n.over || busy(&n))) {
        if (stop_requested())
            end_all(&n);
        for (int i = 0; i < n.nseats && !st; i++)
            st = look_after(&n, &n.seat[i]);
        nanosleep(&nap, NULL);
    }
    if (n.seat)
        end_all(&n);
    free(n.seat);
    free(n.env);
    return st;
}
