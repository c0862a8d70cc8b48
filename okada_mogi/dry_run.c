/* okada_mogi/dry_run.c – a few tasks of a search, and what that says of all. */
#include "okada_mogi/dry_run.h"
#include "okada_mogi/pieces.h"
#include "src/clock.h"

#include <stdio.h>

static const double enough = 0.5; /* s */

static trial_number count_geometries(const struct job *job)
{
    trial_number all = 0;
    for (int s = 0; s < job->nsources; s++) {
        trial_number places = 1;
        for (int a = 0; a < job->naxes; a++)
            if (job->source[a] == s &&
                job->model->parameter[job->parameter[a]].role == MODEL_GEOMETRY)
                places *= (trial_number)job->axis[a].n;
        all += places;
    }
    return all;
}

/* Tasks from here and there: cost is uneven. */
static enum ek_status time_tasks(const struct search *s, const struct pieces *tasks,
                                 double *seconds)
{
    struct search_worker *w;
    struct accepted found = {0};
    size_t done = 0;
    TRY(search_worker_open(s, &w));
    enum ek_status st = EK_OK;
    const double start = clock_now();
    for (; done < tasks->n && clock_now() - start < enough && !st; done++) {
        const size_t task = done * 2654435761u % tasks->n;
        st = search_run(w, tasks->range[task], &found);
        found.n = 0;
    }
    *seconds = (clock_now() - start) / (double)done * (double)tasks->n;
    accepted_free(&found);
    search_worker_close(w);
    return st;
}

static void print(const struct job *job, enum search_method method, struct trial_range range,
                  size_t tasks, double seconds)
{
    char trials[TRIAL_TEXT], geometries[TRIAL_TEXT];
    printf("%s: %s trials, %s geometries, %zu tasks, %.3g MiB, about %.3g s on one core (%.3g "
           "trials/s)\n",
           job->path, trial_text(range.count, trials),
           trial_text(count_geometries(job), geometries), tasks,
           (double)search_bytes(job, method) / (1 << 20), seconds, (double)range.count / seconds);
}

enum ek_status dry_run(const struct job *job, enum search_method method, struct trial_range range)
{
    struct search *s;
    struct pieces tasks = {0};
    double seconds;
    const double start = clock_now();
    TRY(search_open(job, method, &s));
    const double opened = clock_now() - start;
    enum ek_status st = pieces_cut(&tasks, s, &range, 1, 1);
    if (!st)
        st = time_tasks(s, &tasks, &seconds);
    if (!st)
        print(job, method, range, tasks.n, opened + seconds);
    pieces_free(&tasks);
    search_close(s);
    return st;
}
