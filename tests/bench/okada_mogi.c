/* tests/bench/okada_mogi.c – one core: responses, brute and exact searches. JOBS="a.json b.json"
 * replaces the example jobs. Times are the minimum of many short runs, because disturbances only
 * ever add. */
#include "okada_mogi/search.h"
#include "src/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCES = 1024, RUNS = 10000 };

static double uniform(double min, double max)
{
    return min + (max - min) * drand48();
}

/* A typical source. */
static void draw(const struct model *m, double *x)
{
    for (int p = 0; p < m->nparameters; p++) {
        const char *name = m->parameter[p].name;
        x[p] = m->parameter[p].optional  ? m->parameter[p].usual
               : strstr(name, "dip")     ? uniform(2, 84)
               : strstr(name, "deg")     ? uniform(0, 360)
               : strstr(name, "dV")      ? 1e6
               : !strcmp(name, "d_m")    ? uniform(1e3, 1e4)
               : strpbrk(name, "LW")     ? uniform(5e3, 3e4)
               : !strcmp(name, "slip_m") ? 1
                                         : uniform(0, 1e5);
    }
}

static void bench_responses(const struct model *m)
{
    /* Rows 4 KiB apart would fall into the same cache sets, hence the padding. */
    static _Alignas(MODEL_ALIGN) double value[MODEL_VALUES][SOURCES + MODEL_LANES];
    static _Alignas(MODEL_ALIGN) double out[MODEL_BASES * 3 * MODEL_LANES];
    double x[MODEL_PARAMETERS], v[MODEL_VALUES], east[MODEL_LANES], north[MODEL_LANES];
    double least = INFINITY, sum = 0;
    const int nvalues = model_values(m);
    for (int i = 0; i < SOURCES; i++) {
        draw(m, x);
        model_derive_all(m, x, v);
        for (int k = 0; k < nvalues; k++)
            value[k][i] = v[k];
    }
    for (int l = 0; l < MODEL_LANES; l++) {
        east[l] = 4e4;
        north[l] = 5e4;
    }
    for (int run = 0; run < RUNS; run++) {
        const double start = clock_now();
        for (int i = 0; i < SOURCES; i += MODEL_LANES) {
            const double *lanes[MODEL_VALUES];
            for (int k = 0; k < nvalues; k++)
                lanes[k] = value[k] + i;
            m->respond(m, lanes, east, north, out);
            sum += out[0];
        }
        least = fmin(least, clock_now() - start);
    }
    printf("%-8s %8.1f M responses (source x station) a second%s\n", m->name,
           1e-6 * SOURCES / least, isnan(sum) ? " NaN" : "");
}

static enum ek_status count(void *n, struct trial_range range, struct accepted *found)
{
    (void)range;
    *(size_t *)n += found->n;
    return EK_OK;
}

static double search_seconds(const struct job *job, enum search_method method,
                             struct trial_range range, double *open, size_t *found)
{
    struct search *s;
    struct search_worker *w;
    const struct search_sink sink = {count, found};
    const double start = clock_now();
    *found = 0;
    if (search_open(job, method, &s) || search_worker_open(s, &w))
        exit(3);
    const double opened = clock_now();
    if (search_run(w, range, &sink))
        exit(3);
    const double seconds = clock_now() - opened;
    *open = opened - start;
    search_worker_close(w);
    search_close(s);
    return seconds;
}

static void bench_job(const char *path)
{
    struct job *job;
    double exact = INFINITY, brute = INFINITY, open = 0;
    size_t found = 0, some;
    if (job_open(path, NULL, &job))
        exit(2);
    const struct trial_range all = {0, job->trials};
    const double begin = clock_now();
    for (int run = 0; run < 9 && clock_now() - begin < 20; run++)
        exact = fmin(exact, search_seconds(job, SEARCH_EXACT, all, &open, &found));
    const struct trial_range part = {job->trials / 2, 1000000};
    for (int run = 0; run < 9; run++) {
        double unused;
        brute = fmin(brute,
                     search_seconds(job, SEARCH_BRUTE, trial_overlap(all, part), &unused, &some));
    }
    printf("%-40s %.3g trials, %zu accepted: exact %.3f s (%.3f to open), %.3g trials/s; brute "
           "%.3g trials/s\n",
           path, (double)job->trials, found, exact, open, (double)job->trials / exact,
           (double)trial_overlap(all, part).count / brute);
    job_close(job);
}

int main(void)
{
    const char *jobs = getenv("JOBS");
    char list[4096], *rest = list;
    for (int i = 0; model_at(i); i++)
        bench_responses(model_at(i));
    snprintf(list, sizeof list, "%s",
             jobs ? jobs
                  : "okada_mogi/examples/campi.json okada_mogi/examples/unimak.json "
                    "okada_mogi/examples/parkfield.json okada_mogi/examples/gorkha.json");
    for (char *path; (path = strsep(&rest, " "));)
        if (*path)
            bench_job(path);
    return 0;
}
