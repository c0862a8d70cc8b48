/* kirchhoff/microjobs.c – runs a job. Nodes have slots for compute processes, each with its share
 * of the cpus and devices; the master keeps track of microjobs (done, running, failed), and makes
 * the image in the end. */
#include "cu/rank/family.h"
#include "cu/rank/stop.h"
#include "kirchhoff/disk.h"
#include "kirchhoff/mig.h"
#include "src/clock.h"
#include "src/file.h"
#include "src/version.h"
#include "src/json.h"
#include "cu/bench/report.h"
#include "cu/farm/farm.h"
#include "kirchhoff/microjobs.h"
#include "cu/rank/cluster.h"
#include "cu/unit/topology.h"
#include "src/process.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Result of a batch: how the compute process of a microjob ended. */
struct microjobs_word {
    int code; /* exit code, or minus the signal */
    double seconds;
};

struct master {
    const struct microjobs *job;
    const struct bench_settings *run;
    double start;    /* s */
    struct mig *mig; /* has the image that parts are added to */
    struct farm *farm;
    pthread_mutex_t lock; /* guards the members below, as the farm's thread reports parts, too */
    bool *have;           /* [microjobs] its part is in the work folder */
    int *task;            /* [tasks] a task's microjob */
    int tasks, finished;
    struct arena arena;
    enum ek_status hopeless; /* EK_USAGE: the input is bad; EK_UNAVAILABLE: the disk is full */
};

/* ---- a node's slots for compute processes -----------------------------------------------------*/
enum { EXTRA_WORDS = 16 };

static const double ENDING = 10; /* s that compute processes have to save and to end */
static const struct timespec NAP = {0, 5000000};

/* A slot holds one compute process. */
struct slot {
    pid_t pid; /* 0: empty */
    struct farm_batch batch;
    double start;
    cpu_set_t cpus;
    int width;          /* cores of the process's CPU unit */
    char devices[1024]; /* comma-separated; "": none */
    int ndevices;
};

struct node {
    const struct microjobs *job;
    struct farm *farm;
    int nslots;
    struct slot *slot;
    char **env;
    bool over; /* the master has no more microjobs */
};

/* Number of compute processes that a node keeps running. */
static int microjobs_slots(const struct microjobs *j)
{
    const int m = j->ndevices     ? (j->ndevices + j->per_microjob - 1) / j->per_microjob
                  : j->concurrent ? j->concurrent
                                  : 1;
    return j->concurrent && j->concurrent < m ? j->concurrent : m;
}

static void give_devices(const struct microjobs *j, int number, struct slot *s)
{
    const int first = number * j->per_microjob, end = first + j->per_microjob;
    for (int d = first; d < end && d < j->ndevices; d++, s->ndevices++) {
        const size_t used = strlen(s->devices);
        snprintf(s->devices + used, sizeof s->devices - used, "%s%s", used ? "," : "",
                 j->device[d]);
    }
}

/* Gives the slot its consecutive share of the cpus; all of them if there are fewer cpus than
 * slots. */
static void give_cpus(hwloc_const_bitmap_t cpus, int number, int nslots, struct slot *s)
{
    const int all = hwloc_bitmap_weight(cpus);
    int cpu, i = 0;
    CPU_ZERO(&s->cpus);
    hwloc_bitmap_foreach_begin(cpu, cpus) if (all < nslots || (i >= number * all / nslots &&
                                                               i < (number + 1) * all / nslots))
        CPU_SET((size_t)cpu, &s->cpus);
    i++;
    hwloc_bitmap_foreach_end();
    const int cores = CPU_COUNT(&s->cpus) - s->ndevices;
    s->width = cores > 1 ? cores : 1;
}

static enum ek_status open_slots(struct node *n)
{
    OWNED(owned_topology_close) hwloc_topology_t topology = NULL;
    OWNED(owned_hwloc_bitmap_free) hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    n->nslots = microjobs_slots(n->job);
    n->slot = calloc((size_t)n->nslots, sizeof *n->slot);
    if (!cpus || !n->slot)
        FAIL(EK_UNAVAILABLE, "out of memory");
    TRY(topology_process_cpus(cpus));
    TRY(topology_open(NULL, &topology));
    cluster_share_cpus(topology, cpus);
    for (int i = 0; i < n->nslots; i++) {
        give_devices(n->job, i, &n->slot[i]);
        give_cpus(cpus, i, n->nslots, &n->slot[i]);
    }
    return EK_OK;
}

/* ---- compute processes ------------------------------------------------------------------------*/

/* The environment without variables that would make a compute process a rank or bind it to
 * cores. */
static enum ek_status open_environment(struct node *n)
{
    static const char *const out[] = {"OMPI_",      "PMIX_",      "PMI_",         "SLURM_",
                                      "MPI_LOCAL",  "CU_GUARD",   "CU_FAMILY",    "CU_LAYOUT",
                                      "CU_DEVICES", "OMP_PLACES", "OMP_PROC_BIND"};
    n->env = process_environment(out, sizeof out / sizeof *out);
    return n->env ? EK_OK : status_fail(EK_UNAVAILABLE, "out of memory");
}

/* Runs in the forked child, so it only makes system calls. The process is killed if its parent
 * dies. */
static void execute(const struct node *n, const struct slot *s, char **argv, pid_t parent)
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

static enum ek_status launch(const struct node *n, struct slot *s, const struct farm_batch *batch)
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
        execute(n, s, argv, parent);
    free(argv);
    if (pid < 0)
        FAIL(EK_UNAVAILABLE, "no compute process can be made: %s", strerror(errno));
    s->pid = pid;
    s->batch = *batch;
    s->start = clock_now();
    return EK_OK;
}

/* Whether the slot's process has ended; *word: how. */
static bool reap(struct slot *s, struct microjobs_word *word)
{
    int status;
    if (!s->pid || waitpid(s->pid, &status, WNOHANG) != s->pid)
        return false;
    word->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    word->seconds = clock_now() - s->start;
    s->pid = 0;
    return true;
}

static bool busy(const struct node *n)
{
    for (int i = 0; i < n->nslots; i++)
        if (n->slot[i].pid)
            return true;
    return false;
}

/* Ends all compute processes: they save what they have. Frozen ones are killed at once, others that
 * do not end after ENDING seconds. */
static void end_all(struct node *n)
{
    struct microjobs_word word;
    const double until = clock_now() + ENDING;
    for (int i = 0; i < n->nslots; i++)
        if (n->slot[i].pid)
            kill(n->slot[i].pid, SIGTERM);
    while (busy(n)) {
        for (int i = 0; i < n->nslots; i++)
            if (!reap(&n->slot[i], &word) && n->slot[i].pid &&
                (clock_now() > until || process_is_frozen(n->slot[i].pid)))
                kill(n->slot[i].pid, SIGKILL);
        nanosleep(&NAP, NULL);
    }
    n->over = true;
}

/* ---- the node ---------------------------------------------------------------------------------*/

static enum ek_status serve(struct node *n, struct slot *s)
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

/* Runs until the farm has no more microjobs and all of this node's are done. A batch is one
 * microjob, whose number is the first int of the brief. After stop_request() it ends the compute
 * processes and starts no more. EK_UNAVAILABLE: no process can be started. */
static enum ek_status microjobs_node(const struct microjobs *job, struct farm *farm)
{
    struct node n = {.job = job, .farm = farm};
    enum ek_status st = open_slots(&n);
    THEN(st, open_environment(&n));
    while (!st && (!n.over || busy(&n))) {
        if (stop_requested())
            end_all(&n);
        for (int i = 0; i < n.nslots && !st; i++)
            st = serve(&n, &n.slot[i]);
        nanosleep(&NAP, NULL);
    }
    if (n.slot)
        end_all(&n);
    free(n.slot);
    free(n.env);
    return st;
}

/* ---- who does what ----------------------------------------------------------------------------*/

static void say_microjob(void *arg, struct farm_batch *batch)
{
    const struct master *s = arg;
    memcpy(batch->brief, &s->task[batch->tasks.begin], sizeof *s->task);
}

static enum ek_status check_room(const struct master *s, int parts)
{
    char path[MICROJOBS_PATH];
    microjobs_part(s->job, 0, path);
    return disk_check(path, (size_t)parts, image_bytes(&s->mig->m->grid, &s->mig->m->classes));
}

static void note_failure(struct master *s, size_t task, int code, int rank)
{
    bool aside;
    coordinator_failures(farm_coordinator(s->farm), task, &aside);
    char how[64];
    snprintf(how, sizeof how, code < 0 ? "died of signal %d" : "ended with code %d", abs(code));
    if (code == EK_USAGE || (code == EK_UNAVAILABLE && MUTED(check_room(s, 1))))
        s->hopeless = (enum ek_status)code;
    if (s->hopeless)
        coordinator_give_up(farm_coordinator(s->farm));
    if (s->hopeless == EK_UNAVAILABLE)
        return; /* the process has said so */
    status_warn("microjob %d on rank %d %s; %s", s->task[task], rank, how,
                s->hopeless ? "its input is bad, the job ends"
                : aside     ? "that was the third time: it is set aside"
                            : "it is tried again");
}

static void note_part(struct master *s, size_t task, double seconds, int rank)
{
    s->have[s->task[task]] = true;
    printf("microjob %d on rank %d: %.2f s, %d of %d finished\n", s->task[task], rank, seconds,
           ++s->finished, s->job->microjobs);
    fflush(stdout);
}

static enum ek_status take(void *arg, int rank, const struct farm_batch *batch, int failed,
                           const void *result, size_t bytes)
{
    struct master *s = arg;
    struct microjobs_word w = {.code = failed};
    if (bytes == sizeof w)
        memcpy(&w, result, bytes);
    LOCKED(&s->lock);
    if (!failed)
        note_part(s, batch->tasks.begin, w.seconds, rank);
    else if (!stop_requested()) /* else it failed because it was ended */
        note_failure(s, batch->tasks.begin, w.code, rank);
    return EK_OK;
}

/* ---- parts ------------------------------------------------------------------------------------*/

/* Removes files that a compute process was writing when it was killed. */
static void clear_half_parts(const struct microjobs *job)
{
    char start[MICROJOBS_PATH];
    snprintf(start, sizeof start, "%.4000s/part-", job->work);
    file_clean(start);
}

/* Finds the parts that previous runs of this job have finished; deletes damaged ones. */
static enum ek_status find_parts(struct master *s)
{
    char path[MICROJOBS_PATH];
    for (int i = 0; i < s->job->microjobs; i++) {
        microjobs_part(s->job, i, path);
        if (access(path, F_OK))
            continue;
        const enum ek_status st = mig_part_take(s->mig, path, MIG_PART_CHECK);
        if (st == EK_UNVERIFIED) {
            unlink(path);
            continue;
        }
        TRY(st);
        s->have[i] = true;
        s->finished++;
    }
    for (int i = 0; i < s->job->microjobs; i++)
        if (!s->have[i])
            s->task[s->tasks++] = i;
    if (s->finished)
        printf("%d of %d microjobs were finished before\n", s->finished, s->job->microjobs);
    return EK_OK;
}

/* Writes --json and --report, as for a run of one process. */
static enum ek_status report(const struct master *s, bool verified)
{
    const double seconds = clock_now() - s->start;
    const double work = 1e-6 * migrate_updates(s->mig->m);
    json_auto_t *facts = mig_facts(s->mig);
    json_auto_t *view = s->run->report ? mig_page(s->mig) : NULL;
    json_auto_t *o = json_pack(
        "{s:s s:s s:s s:s s:s s:s s:f s:f s:s s:b s:i s:i s:n s:f s:n s:[]}", "program",
        "kirchhoff-mig", "version", EK_VERSION, "problem", s->job->path, "layout", s->job->layout,
        "devices", "", "schedule", s->job->schedule, "seconds", seconds, "rate", work / seconds,
        "unit", "Mupdate/s", "verified", verified, "steps", 1, "microjobs", s->job->microjobs,
        "communication_s", "computation_s", seconds, "lower_bound_s", "units");
    if (!o || !facts || json_object_update(o, facts))
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the results", s->job->path);
    if (s->run->json)
        TRY(json_write(s->run->json, o));
    return s->run->report
               ? report_write(s->run->report, "kirchhoff-mig", o, NULL, "kirchhoff/mig.html", view)
               : EK_OK;
}

static enum ek_status add_parts(struct master *s)
{
    char path[MICROJOBS_PATH];
    for (int i = 0; i < s->job->microjobs; i++) {
        microjobs_part(s->job, i, path);
        TRY(mig_part_take(s->mig, path, MIG_PART_ADD));
    }
    const bool verified = mig_judge(s->mig);
    if (s->mig->whole)
        TRY(mig_write(s->mig));
    TRY(report(s, verified));
    if (!verified)
        FAIL(EK_UNVERIFIED, "%s: the image failed its verification; its parts are kept in %s",
             s->job->path, s->job->work);
    for (int i = 0; i < s->job->microjobs; i++) {
        microjobs_part(s->job, i, path);
        unlink(path);
    }
    clear_half_parts(s->job);
    rmdir(s->job->work);
    printf("image of %d microjobs: %s\n", s->job->microjobs,
           *s->job->out ? s->job->out : s->job->raw);
    return EK_OK;
}

static enum ek_status conclude(struct master *s)
{
    char which[256] = "";
    if (s->finished == s->job->microjobs)
        return add_parts(s);
    if (stop_requested())
        FAIL(EK_STOPPED, "%s: interrupted with %d of %d microjobs finished; run it again to go on",
             s->job->path, s->finished, s->job->microjobs);
    if (s->hopeless)
        FAIL(s->hopeless, "%s: no image, the %s; %d of %d microjobs are kept in %s", s->job->path,
             s->hopeless == EK_USAGE ? "input is bad" : "disk is full", s->finished,
             s->job->microjobs, s->job->work);
    for (int i = 0; i < s->job->microjobs; i++)
        if (!s->have[i])
            snprintf(which + strlen(which), sizeof which - strlen(which), "%s%d",
                     *which ? ", " : "", i);
    FAIL(EK_UNAVAILABLE,
         "%s: no image: microjobs set aside after %d failures: %s; the others are kept in %s, run "
         "it again to go on",
         s->job->path, MICROJOBS_FAILURES, which, s->job->work);
}

/* ---- the job ----------------------------------------------------------------------------------*/

static enum ek_status open_farm(struct master *s)
{
    const struct farm_settings settings = {
        .ops = {.brief = say_microjob, .take = take, .arg = s},
        .job = (uint64_t)s->job->microjobs,
        .units = microjobs_slots(s->job),
        .capacity = {.slots = microjobs_slots(s->job)},
        .deals = true,
    };
    return farm_open(&settings, &s->farm);
}

static enum ek_status hand_out(struct master *s)
{
    const struct farm_job job = {
        .schedule = "chunk:size=1", .n = (size_t)s->tasks, .failures = MICROJOBS_FAILURES};
    TRY(farm_begin(s->farm, &job));
    return microjobs_node(s->job, s->farm);
}

/* Closes the farm before the parts are added, so that other ranks can exit. */
static enum ek_status run_master(struct master *s)
{
    const size_t n = (size_t)s->job->microjobs;
    if (mkdir(s->job->work, 0777) && errno != EEXIST)
        FAIL(EK_UNAVAILABLE, "%s: cannot be made: %s", s->job->work, strerror(errno));
    s->have = ARENA_NEW(&s->arena, n, bool);
    s->task = ARENA_NEW(&s->arena, n, int);
    TRY(arena_check(&s->arena, "%zu microjobs", n));
    clear_half_parts(s->job);
    TRY(find_parts(s));
    TRY(check_room(s, s->tasks));
    const enum ek_status st = hand_out(s);
    farm_close(s->farm);
    s->farm = NULL;
    TRY(st);
    return conclude(s);
}

static enum ek_status run_manager(struct master *s)
{
    TRY(farm_begin(s->farm, NULL));
    return microjobs_node(s->job, s->farm);
}

/* On rank 0, checks all input before any rank starts to compute. */
static enum ek_status check_input(struct master *s)
{
    const struct microjobs *job = s->job;
    TRY(mig_open(job->nwords, job->word, &s->mig));
    s->mig->out = *job->out ? job->out : NULL;
    s->mig->raw = *job->raw ? job->raw : NULL;
    return EK_OK;
}

static enum ek_status run_opened(const struct microjobs *job, const struct bench_settings *run)
{
    struct master s = {
        .job = job, .run = run, .start = clock_now(), .lock = PTHREAD_MUTEX_INITIALIZER};
    const bool master = family_here()->rank == 0;
    enum ek_status st = master ? check_input(&s) : EK_OK;
    THEN(st, open_farm(&s));
    THEN(st, master ? run_master(&s) : run_manager(&s));
    farm_close(s.farm);
    arena_free(&s.arena);
    mig_close(s.mig);
    return st;
}

enum ek_status microjobs_run(const char *path, const struct bench_settings *run)
{
    OWNED(microjobs_close) struct microjobs job = {0};
    if (run->compare || run->trace || run->repeat > 1)
        FAIL(EK_USAGE, "%s: a job has no --compare, --trace or --repeat", path);
    TRY(family_open());
    stop_catch();
    TRY(microjobs_open(path, run, &job));
    return run_opened(&job, run);
}
