/* okada_mogi/dry_run.c – a few tasks of a search, and what that says of all. */
#include "okada_mogi/dry_run.h"
#include "okada_mogi/pieces.h"
#include "okada_mogi/spool.h"
#include "src/clock.h"

#include <math.h>
#include <stdio.h>

static const double enough = 0.5, mebi = 1 << 20; /* s; bytes */

/* What was searched, and what it took. */
struct sampled {
    double trials, accepted, seconds;
};

static trial_number count_geometries(const struct job *job)
{
    trial_number all = 0;
    for (int s = 0; s < job->nsources; s++) {
        trial_number places = 1;
        for (int a = 0; a < job->naxes; a++)
            if (job->source[a] == s && job_role(job, a) == MODEL_GEOMETRY)
                places *= (trial_number)job->axis[a].n;
        all += places;
    }
    return all;
}

static enum ek_status count(void *arg, struct trial_range range, struct accepted *found)
{
    struct sampled *s = arg;
    (void)range;
    s->accepted += (double)found->n;
    return EK_OK;
}

/* Tasks from here and there, for cost is uneven: of each as much as takes a twentieth of the time.
 * At first that is a trial; smaller parts than the last ones do not count. */
static enum ek_status time_tasks(const struct search *s, const struct pieces *tasks,
                                 struct sampled *sampled)
{
    struct search_worker *w;
    const struct search_sink sink = {count, sampled};
    const double end = clock_now() + enough;
    trial_number most = 1;
    TRY(search_worker_open(s, &w));
    enum ek_status st = EK_OK;
    for (size_t i = 0; i < 2 * tasks->n && clock_now() < end && !st; i++) {
        struct trial_range part = tasks->range[i * 2654435761u % tasks->n];
        const double start = clock_now();
        if (sampled->seconds < enough / 20 && part.count > most) {
            most *= 2;
            *sampled = (struct sampled){0};
        }
        part.count = part.count < most ? part.count : most;
        st = search_run(w, part, &sink);
        sampled->trials += (double)part.count;
        sampled->seconds += clock_now() - start;
    }
    search_worker_close(w);
    return st;
}

static void print(const struct job *job, enum search_method method, struct trial_range range,
                  size_t tasks, double opened, const struct sampled *s)
{
    char trials[TRIAL_TEXT], geometries[TRIAL_TEXT];
    const double all = (double)range.count / fmax(s->trials, 1);
    const double seconds = opened + all * s->seconds, most = (double)job->accept.best;
    const double accepted = most > 0 ? fmin(most, (double)range.count) : all * s->accepted;
    printf("%s: %s trials, %s geometries, %zu tasks, %.3g MiB, about %.3g s on one core (%.3g "
           "trials/s); about %.3g accepted: %.3g MiB in TMPDIR, %.3g MiB as --out, %.3g as "
           "--binary\n",
           job->path, trial_text(range.count, trials),
           trial_text(count_geometries(job), geometries), tasks,
           (double)search_bytes(job, method) / mebi, seconds, (double)range.count / seconds,
           accepted, fmax(accepted - SPOOL_MEMORY, 0) * sizeof(struct accepted_record) / mebi,
           accepted * accepted_row_bytes(job, ACCEPTED_CSV) / mebi,
           accepted * accepted_row_bytes(job, ACCEPTED_BINARY) / mebi);
}

enum ek_status dry_run(const struct job *job, enum search_method method, struct trial_range range)
{
    struct search *s;
    struct pieces tasks = {0};
    struct sampled sampled = {0};
    const double start = clock_now();
    TRY(search_open(job, method, &s));
    const double opened = clock_now() - start;
    enum ek_status st = pieces_cut(&tasks, s, &range, 1, 1);
    THEN(st, time_tasks(s, &tasks, &sampled));
    if (!st)
        print(job, method, range, tasks.n, opened, &sampled);
    pieces_free(&tasks);
    search_close(s);
    return st;
}
