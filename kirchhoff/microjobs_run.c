/* kirchhoff/microjobs_run.c – the master: which microjob is done, running, failed, and what becomes
 * of it; in the end, the image. */
#include "cu/rank/family.h"
#include "cu/rank/stop.h"
#include "kirchhoff/microjobs_internal.h"
#include "kirchhoff/mig.h"
#include "src/clock.h"
#include "src/version.h"
#include "src/json.h"
#include "cu/bench/report.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct master {
    const struct microjobs *job;
    const struct bench_settings *run;
    double start;    /* s */
    struct mig *mig; /* with the image that parts are added to */
    struct farm *farm;
    pthread_mutex_t lock; /* of what follows: parts come in on the farm's thread, too */
    bool *have;           /* [microjobs] its part lies in the work folder */
    int *task;            /* [tasks] microjob of a task */
    int tasks, finished;
    struct arena arena;
    bool bad_input; /* a compute process says so: no other one would find better */
};

/* ---- who does what ----------------------------------------------------------------------------*/

static void say_microjob(void *arg, struct farm_batch *batch)
{
    const struct master *s = arg;
    memcpy(batch->brief, &s->task[batch->tasks.begin], sizeof *s->task);
}

static void note_failure(struct master *s, size_t task, int code, int rank)
{
    bool aside;
    coordinator_failures(farm_coordinator(s->farm), task, &aside);
    char how[64];
    snprintf(how, sizeof how, code < 0 ? "died of signal %d" : "ended with code %d", abs(code));
    s->bad_input = s->bad_input || code == EK_USAGE;
    if (s->bad_input)
        coordinator_give_up(farm_coordinator(s->farm));
    status_warn("microjob %d on rank %d %s; %s", s->task[task], rank, how,
                s->bad_input ? "its input is bad, the job ends"
                : aside      ? "that was the third time: it is set aside"
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
    pthread_mutex_lock(&s->lock);
    if (!failed)
        note_part(s, batch->tasks.begin, w.seconds, rank);
    else if (!stop_requested()) /* else it was ended */
        note_failure(s, batch->tasks.begin, w.code, rank);
    pthread_mutex_unlock(&s->lock);
    return EK_OK;
}

/* ---- parts ------------------------------------------------------------------------------------*/

/* Files that a compute process was writing when it was killed. */
static void clear_half_parts(const struct microjobs *job)
{
    char path[2 * MICROJOBS_PATH];
    DIR *folder = opendir(job->work);
    for (const struct dirent *e; folder && (e = readdir(folder));)
        if (!strncmp(e->d_name, "part-", 5) && strstr(e->d_name, ".image.part-")) {
            snprintf(path, sizeof path, "%s/%s", job->work, e->d_name);
            unlink(path);
        }
    if (folder)
        closedir(folder);
}

/* What a run before this one has left, if it is of this job and whole. */
static enum ek_status look_for_parts(struct master *s)
{
    char path[MICROJOBS_PATH];
    for (int i = 0; i < s->job->microjobs; i++) {
        microjobs_part(s->job, i, path);
        if (access(path, F_OK))
            continue;
        const enum ek_status st = mig_part_take(s->mig, path, MIG_PART_CHECK);
        if (st == EK_UNVERIFIED) {
            status_warn("that part is computed again");
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

/* --json and --report, as of a run of one process. */
static enum ek_status report(const struct master *s, bool verified)
{
    const double seconds = clock_now() - s->start;
    const double work = 1e-6 * migrate_updates(s->mig->m);
    json_t *facts = mig_facts(s->mig), *view = s->run->report ? mig_page(s->mig) : NULL;
    json_t *o = json_pack(
        "{s:s s:s s:s s:s s:s s:s s:f s:f s:s s:b s:i s:i s:n s:f s:n s:[]}", "program",
        "kirchhoff-mig", "version", EK_VERSION, "problem", s->job->path, "layout", s->job->layout,
        "devices", "", "schedule", s->job->schedule, "seconds", seconds, "rate", work / seconds,
        "unit", "Mupdate/s", "verified", verified, "steps", 1, "microjobs", s->job->microjobs,
        "communication_s", "computation_s", seconds, "lower_bound_s", "units");
    enum ek_status st = EK_OK;
    if (!o || !facts || json_object_update(o, facts))
        st = status_fail(EK_UNAVAILABLE, "%s: out of memory for the results", s->job->path);
    if (!st && s->run->json)
        st = json_write(s->run->json, o);
    if (!st && s->run->report)
        st = report_write(s->run->report, "kirchhoff-mig", o, NULL, "kirchhoff/mig.html", view);
    json_decref(o);
    json_decref(facts);
    json_decref(view);
    return st;
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
    if (s->bad_input)
        FAIL(EK_USAGE, "%s: no image, the input is bad; %d of %d microjobs are kept in %s",
             s->job->path, s->finished, s->job->microjobs, s->job->work);
    for (int i = 0; i < s->job->microjobs; i++)
        if (!s->have[i])
            snprintf(which + strlen(which), sizeof which - strlen(which), "%s%d",
                     *which ? ", " : "", i);
    FAIL(EK_UNAVAILABLE,
         "%s: no image: microjobs set aside after %d failures: %s; the others are kept in "
         "%s, run it again to go on",
         s->job->path, MICROJOBS_FAILURES, which, s->job->work);
}

/* ---- the job ----------------------------------------------------------------------------------*/

static enum ek_status open_farm(struct master *s)
{
    const bool deals_only = family_here()->size > 1 && family_here()->rank == 0;
    const struct farm_settings settings = {
        .ops = {.brief = say_microjob, .take = take, .arg = s},
        .job = (uint64_t)s->job->microjobs,
        .units = microjobs_seats(s->job),
        .appetite = {.slots = deals_only ? 0 : microjobs_seats(s->job)},
    };
    return farm_open(&settings, &s->farm);
}

/* Until the others have done it. */
static enum ek_status wait_for_all(struct farm *farm)
{
    struct farm_batch none;
    bool over = false;
    while (!over)
        TRY(farm_next(farm, 1, &none, &over));
    return EK_OK;
}

static enum ek_status hand_out(struct master *s)
{
    const struct farm_job job = {
        .schedule = "chunk:size=1", .n = (size_t)s->tasks, .failures = MICROJOBS_FAILURES};
    TRY(farm_begin(s->farm, &job));
    return farm_size(s->farm) > 1 ? wait_for_all(s->farm) : microjobs_node(s->job, s->farm);
}

/* The farm is closed before the parts are added: the others are free to go. */
static enum ek_status run_master(struct master *s)
{
    const size_t n = (size_t)s->job->microjobs;
    if (mkdir(s->job->work, 0777) && errno != EEXIST)
        FAIL(EK_UNAVAILABLE, "%s: cannot be made: %s", s->job->work, strerror(errno));
    s->have = ARENA_NEW(&s->arena, n, bool);
    s->task = ARENA_NEW(&s->arena, n, int);
    TRY(arena_check(&s->arena, "%zu microjobs", n));
    clear_half_parts(s->job);
    TRY(look_for_parts(s));
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

/* Rank 0 checks all input before anybody works. */
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
    struct microjobs job;
    if (run->compare || run->trace || run->repeat > 1)
        FAIL(EK_USAGE, "%s: a job has no --compare, --trace or --repeat", path);
    TRY(family_open());
    stop_catch();
    TRY(microjobs_open(path, run, &job));
    const enum ek_status st = run_opened(&job, run);
    microjobs_close(&job);
    return st;
}
