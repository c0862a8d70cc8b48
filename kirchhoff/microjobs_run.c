/* kirchhoff/microjobs_run.c – the master: which microjob is done, running, failed, and what becomes
 * of it; in the end, the image. */
#include "cu/rank/cluster.h"
#include "cu/rank/guard.h"
#include "cu/rank/stop.h"
#include "kirchhoff/microjobs_node.h"
#include "kirchhoff/mig.h"
#include "src/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TAG_UP = 71, TAG_DOWN = 72 };
enum state { TO_DO, RUNNING, FINISHED, SET_ASIDE };

struct microjob {
    enum state state;
    int failures, last_rank, last_code;
};

struct master {
    const struct microjobs *job;
    struct mig *mig; /* with the image that parts are added to */
    struct microjob *microjob;
    int finished, aside;
    bool bad_input; /* a compute process says so: no other one would find better */
};

/* ---- who does what ----------------------------------------------------------------------------*/

/* Where one failed, another one tries, if there are others. */
static bool suits(const struct microjob *m, int rank)
{
    return m->state == TO_DO && (!m->failures || m->last_rank != rank || cluster_size() <= 2);
}

static struct microjobs_word next_for(struct master *s, int rank)
{
    if (s->bad_input || stop_requested() || s->finished + s->aside == s->job->microjobs)
        return (struct microjobs_word){.what = MICROJOBS_END};
    for (int i = 0; i < s->job->microjobs; i++)
        if (suits(&s->microjob[i], rank)) {
            s->microjob[i].state = RUNNING;
            s->microjob[i].last_rank = rank;
            return (struct microjobs_word){.what = MICROJOBS_WORK, .microjob = i};
        }
    return (struct microjobs_word){.what = MICROJOBS_WAIT};
}

static void note_failure(struct master *s, struct microjob *m, const struct microjobs_word *w,
                         int rank)
{
    char how[64];
    snprintf(how, sizeof how, w->code < 0 ? "died of signal %d" : "ended with code %d",
             abs(w->code));
    m->last_code = w->code;
    m->state = ++m->failures < MICROJOBS_FAILURES ? TO_DO : SET_ASIDE;
    s->bad_input = s->bad_input || w->code == EK_USAGE;
    s->aside += m->state == SET_ASIDE;
    status_warn("warning: microjob %d on rank %d %s; %s", w->microjob, rank, how,
                s->bad_input        ? "its input is bad, the job ends"
                : m->state == TO_DO ? "it is tried again"
                                    : "that was the third time: it is set aside");
}

static struct microjobs_word answer(struct master *s, struct microjobs_word w, int rank)
{
    if (w.what == MICROJOBS_ASK)
        return next_for(s, rank);
    struct microjob *m = &s->microjob[w.microjob];
    if (stop_requested()) /* it was ended, or came just in time */
        m->state = w.what == MICROJOBS_DONE ? FINISHED : TO_DO;
    else if (w.what == MICROJOBS_FAILED)
        note_failure(s, m, &w, rank);
    else
        m->state = FINISHED;
    s->finished += w.what == MICROJOBS_DONE;
    if (w.what == MICROJOBS_DONE)
        printf("microjob %d on rank %d: %.2f s, %d of %d finished\n", w.microjob, rank, w.seconds,
               s->finished, s->job->microjobs);
    fflush(stdout);
    return (struct microjobs_word){.what = MICROJOBS_WAIT};
}

/* ---- between ranks ----------------------------------------------------------------------------*/

static struct microjobs_word ask_here(void *arg, struct microjobs_word w)
{
    return answer(arg, w, 0);
}

static struct microjobs_word ask_there(void *arg, struct microjobs_word w)
{
    int peer;
    (void)arg;
    cluster_post(0, TAG_UP, &w, sizeof w);
    if (w.what == MICROJOBS_ASK)
        cluster_receive(TAG_DOWN, &peer, &w, sizeof w, true);
    return w;
}

/* Until every manager has been told that there is no more. */
static void serve(struct master *s)
{
    struct microjobs_word w;
    int peer, told = 0;
    static const struct timespec nap = {0, 1000000};
    while (told < cluster_size() - 1) {
        if (!cluster_receive(TAG_UP, &peer, &w, sizeof w, false)) {
            nanosleep(&nap, NULL);
            continue;
        }
        const bool asks = w.what == MICROJOBS_ASK;
        w = answer(s, w, peer);
        if (asks)
            cluster_post(peer, TAG_DOWN, &w, sizeof w);
        told += asks && w.what == MICROJOBS_END;
    }
    cluster_barrier(); /* what they were still at has ended; its words may be on the way */
    while (cluster_receive(TAG_UP, &peer, &w, sizeof w, false))
        answer(s, w, peer);
}

/* ---- parts ------------------------------------------------------------------------------------*/

/* What a run before this one has left, if it is of this job and whole. */
static void look_for_parts(struct master *s)
{
    char path[MICROJOBS_PATH];
    for (int i = 0; i < s->job->microjobs; i++) {
        microjobs_part(s->job, i, path);
        if (access(path, F_OK))
            continue;
        if (mig_part_check(s->mig, path)) {
            status_warn("warning: that part is computed again");
            unlink(path);
        } else {
            s->microjob[i].state = FINISHED;
            s->finished++;
        }
    }
    if (s->finished)
        printf("%d of %d microjobs were finished before\n", s->finished, s->job->microjobs);
}

static enum ek_status add_parts(struct master *s)
{
    char path[MICROJOBS_PATH];
    for (int i = 0; i < s->job->microjobs; i++) {
        microjobs_part(s->job, i, path);
        TRY(mig_part_add(s->mig, path));
    }
    TRY(mig_write(s->mig));
    for (int i = 0; i < s->job->microjobs; i++) {
        microjobs_part(s->job, i, path);
        unlink(path);
    }
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
        if (s->microjob[i].state == SET_ASIDE)
            snprintf(which + strlen(which), sizeof which - strlen(which), "%s%d",
                     *which ? ", " : "", i);
    FAIL(EK_LACK,
         "%s: no image: microjobs set aside after %d failures: %s; the others are kept in "
         "%s, run it again to go on",
         s->job->path, MICROJOBS_FAILURES, which, s->job->work);
}

/* ---- the job ----------------------------------------------------------------------------------*/

static enum ek_status run_master(struct master *s)
{
    if (mkdir(s->job->work, 0777) && errno != EEXIST)
        FAIL(EK_LACK, "%s: cannot be made: %s", s->job->work, strerror(errno));
    s->microjob = calloc((size_t)s->job->microjobs, sizeof *s->microjob);
    if (!s->microjob)
        FAIL(EK_LACK, "out of memory for %d microjobs", s->job->microjobs);
    look_for_parts(s);
    if (cluster_size() > 1)
        serve(s);
    else
        TRY(microjobs_node(s->job, ask_here, s));
    return conclude(s);
}

static enum ek_status run_manager(const struct microjobs *job)
{
    const enum ek_status st = microjobs_node(job, ask_there, NULL);
    if (!st)
        cluster_barrier();
    return st;
}

/* The master checks all input before anybody works. */
static enum ek_status run_opened(const struct microjobs *job)
{
    struct master s = {.job = job};
    if (cluster_rank() > 0)
        return run_manager(job);
    enum ek_status st = mig_open(job->nwords, job->word, &s.mig);
    if (!st) {
        s.mig->out = *job->out ? job->out : NULL;
        s.mig->raw = *job->raw ? job->raw : NULL;
        st = run_master(&s);
    }
    free(s.microjob);
    mig_close(s.mig);
    return st;
}

enum ek_status microjobs_run(const char *path)
{
    struct microjobs job;
    TRY(guard_rank());
    TRY(cluster_open());
    stop_catch();
    TRY(microjobs_open(path, &job));
    const enum ek_status st = run_opened(&job);
    microjobs_close(&job);
    return st;
}
