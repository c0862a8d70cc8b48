/* tests/okada_mogi.h – jobs for tests: written to files from a few words, and searched. */
#pragma once

#include "okada_mogi/certify.h"
#include "okada_mogi/judge.h"
#include "okada_mogi/search.h"
#include "src/demand.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* A third model, whole: a small horizontal crack that opens by a volume dV,
 * u = 3 dV / (2 pi) d^2 (E - Es, N - Ns, d) / R^5. */
static void sill_respond(const struct model *m, const double *const *value, const double *east,
                         const double *north, double *out)
{
    (void)m;
    for (int l = 0; l < MODEL_LANES; l++) {
        const double e = east[l] - value[0][l], n = north[l] - value[1][l], d = value[2][l];
        const double r2 = e * e + n * n + d * d, scale = 1.5 / M_PI * d * d / (r2 * r2 * sqrt(r2));
        out[0 * MODEL_LANES + l] = scale * e;
        out[1 * MODEL_LANES + l] = scale * n;
        out[2 * MODEL_LANES + l] = scale * d;
    }
}

static bool sill_below(const struct model_case *c)
{
    return c->x[2] > c->number[0];
}

static const struct model_parameter sill_parameters[] = {
    {"Es_m", MODEL_GEOMETRY, -1e9, 1e9, 1, .derive = NULL},
    {"Ns_m", MODEL_GEOMETRY, -1e9, 1e9, 1, .derive = NULL},
    {"d_m", MODEL_GEOMETRY, 1, 1e6, 1, .derive = NULL},
    {"dV_m3", MODEL_AMPLITUDE, -1e12, 1e12, 0, .derive = NULL},
};
static const struct model_constraint sill_constraints[] = {
    {"below", "m", 1, false, 1u << 2, sill_below}, {.name = NULL}};
static const struct model model_sill = {
    .name = "sill",
    .nparameters = 4,
    .parameter = sill_parameters,
    .constraint = sill_constraints,
    .nbasis = 1,
    .respond = sill_respond,
};

/* A sphere, a fault, two spheres, each on a small grid: members of a job. */
static const char *const job_sources[] = {
    "\"sources\": 1, \"model\": \"mogi\", \"parameters\": [{\"name\": \"Es_m\", \"min\": -2000, "
    "\"max\": 2000, \"n\": 9}, {\"name\": \"Ns_m\", \"min\": -2000, \"max\": 2000, \"n\": 5}, "
    "{\"name\": \"d_m\", \"min\": 1000, \"max\": 4000, \"n\": 4}, {\"name\": \"dV_m3\", \"min\": "
    "-2e6, \"max\": 4e6, \"n\": 13}]",
    "\"sources\": 1, \"model\": \"okada\", \"parameters\": [{\"name\": \"Ec_m\", \"min\": -2000, "
    "\"max\": 2000, \"n\": 5}, {\"name\": \"Nc_m\", \"value\": 0}, {\"name\": \"d_m\", \"value\": "
    "1500}, {\"name\": \"strike_deg\", \"min\": 0, \"max\": 90, \"n\": 3}, {\"name\": \"dip_deg\", "
    "\"min\": 0, \"max\": 90, \"n\": 3}, {\"name\": \"L_m\", \"value\": 3000}, {\"name\": \"W_m\", "
    "\"value\": 2000}, {\"name\": \"rake_deg\", \"min\": -90, \"max\": 90, \"n\": 5}, {\"name\": "
    "\"slip_m\", \"min\": -0.5, \"max\": 1, \"n\": 7}]",
    "\"sources\": 2, \"model\": \"mogi\", \"parameters\": [{\"name\": \"Es_m.1\", \"min\": -2000, "
    "\"max\": 2000, \"n\": 3}, {\"name\": \"Ns_m.1\", \"value\": 0}, {\"name\": \"d_m.1\", "
    "\"value\": 2000}, {\"name\": \"dV_m3.1\", \"min\": -1e6, \"max\": 4e6, \"n\": 6}, {\"name\": "
    "\"Es_m.2\", \"min\": -3000, \"max\": 1000, \"n\": 4}, {\"name\": \"Ns_m.2\", \"value\": 900}, "
    "{\"name\": \"d_m.2\", \"value\": 1500}, {\"name\": \"dV_m3.2\", \"min\": -1e6, \"max\": 2e6, "
    "\"n\": 7}]"};

/* Parameters that every job names. */
static inline int job_required(const struct model *m)
{
    int n = 0;
    for (int p = 0; p < m->nparameters; p++)
        n += !m->parameter[p].optional;
    return n;
}

static uint64_t job_seed = 1;

static inline double job_random(double min, double max)
{
    job_seed = job_seed * 6364136223846793005u + 1442695040888963407u;
    return min + (max - min) * (double)(job_seed >> 11) * 0x1p-53;
}

static char job_folder[] = "/tmp/okada-mogi-XXXXXX";

static const char *job_file(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", job_folder, name);
    return path[turn];
}

static inline void job_write(const char *name, const char *text)
{
    FILE *f = fopen(job_file(name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* The job that a text describes, which must be right; its model NULL: found by name. */
static inline struct job *job_read(const char *text, const struct model *model)
{
    struct job *job;
    job_write("job.json", text);
    assert_int_equal(job_open(job_file("job.json"), model, &job), EK_OK);
    return job;
}

/* Before and after all tests of a program. */
static inline int job_set_up(void **state)
{
    (void)state;
    return mkdtemp(job_folder) ? 0 : -1;
}

static inline int job_tear_down(void **state)
{
    (void)state;
    unlink(job_file("stations.csv"));
    unlink(job_file("job.json"));
    return rmdir(job_folder);
}

/* A sink that appends what is put to a list. */
static inline enum ek_status job_append(void *list, struct trial_range range,
                                        struct accepted *found)
{
    assert_true(found->n <= SEARCH_HELD && (trial_number)found->n <= range.count);
    for (size_t i = 0; i < found->n; i++)
        assert_int_equal(accepted_add(list, &found->record[i]), EK_OK);
    return EK_OK;
}

/* All records of the trials that a job wants, in `batches` batches of uneven size. */
static inline struct accepted job_search(const struct job *job, enum search_method method,
                                         int batches)
{
    struct accepted found = {0};
    struct search *s;
    struct search_worker *w;
    const struct search_sink sink = {job_append, &found};
    assert_int_equal(search_open(job, method, &s), EK_OK);
    assert_int_equal(search_worker_open(s, &w), EK_OK);
    trial_number first = job->wanted.first;
    for (int b = 1; b <= batches; b++) {
        const trial_number end = job->wanted.first + job->wanted.count * (trial_number)(b * b) /
                                                         (trial_number)(batches * batches);
        assert_int_equal(search_run(w, (struct trial_range){first, end - first}, &sink), EK_OK);
        first = end;
    }
    search_worker_close(w);
    search_close(s);
    return found;
}

/* The judge's verdict on every trial that a job wants. */
static inline struct accepted job_judge_all(const struct job *job)
{
    struct accepted all = {0};
    struct accepted_record r;
    struct judge *judge;
    assert_int_equal(judge_open(job, &judge), EK_OK);
    for (trial_number t = job->wanted.first; t - job->wanted.first < job->wanted.count; t++)
        if (judge_trial(judge, t, &r, NULL) && judge_accepts(job, &r, INFINITY))
            assert_int_equal(accepted_add(&all, &r), EK_OK);
    judge_close(judge);
    return all;
}

/* Keeps as many of the best as the job asks for: which others were seen depends on the method. Of
 * equals, the first trials are the better ones. */
static inline void job_keep_best(const struct job *job, struct accepted *a)
{
    const size_t most = (size_t)job->accept.best;
    if (!most)
        return;
    accepted_sort_best(a);
    for (size_t i = 1; i < a->n; i++) {
        const struct accepted_record *r = &a->record[i - 1];
        assert_true(r[0].misfit < r[1].misfit ||
                    (r[0].misfit == r[1].misfit && r[0].trial < r[1].trial));
    }
    a->n = a->n < most ? a->n : most;
    accepted_sort(a);
}

static inline void assert_same(const struct accepted *a, const struct accepted *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_true(a->record[i].trial == b->record[i].trial);
        assert_true(a->record[i].misfit == b->record[i].misfit);
        assert_true(a->record[i].chi2 == b->record[i].chi2);
        assert_true(!i || a->record[i - 1].trial < a->record[i].trial);
    }
}

/* A job's certificate, and its proof as it was written. */
static inline json_t *job_certify(const struct job *job, struct certificate *c)
{
    json_t *root;
    assert_int_equal(certify(job, job_file("out"), c), EK_OK);
    assert_int_equal(demand_open(job_file("out"), &root), EK_OK);
    unlink(job_file("out"));
    return root;
}

/* Some records against the forward model, if all data are displacements at stations. */
static inline void assert_records(const struct job *job, const struct accepted *found)
{
    const struct stations *s = &job->stations;
    const double n = s->ncomponents;
    for (size_t k = 0; k < found->n; k += 1 + found->n / 5) {
        const struct accepted_record *r = &found->record[k];
        double x[JOB_AXES], chi2 = 0, most = 0, squares = 0;
        job_parameters(job, r->trial, x);
        for (int i = 0; i < s->n; i++) {
            double left[3], u[3];
            if (stations_scalar(s, i) || stations_difference(s, i) || stations_high(s, i) ||
                stations_correlated(s, i))
                return;
            for (int c = 0; c < 3; c++)
                left[c] = -s->observed[3 * i + c];
            for (int source = 0; source < job->nsources; source++) {
                model_forward(job->model, x + source * job->model->nparameters, s->east[i],
                              s->north[i], u);
                for (int c = 0; c < 3; c++)
                    left[c] += u[c];
            }
            for (int c = 0; c < 3; c++)
                if (!isnan(left[c])) {
                    const double size = fabs(left[c] / s->sigma[3 * i + c]);
                    most = fmax(most, size);
                    chi2 += size * size;
                    squares += left[c] * left[c];
                }
        }
        const double misfit = job->accept.misfit == JOB_MISFIT_MAX ? most : sqrt(chi2 / n);
        assert_true(fabs(r->most - most) <= 1e-9 * (1 + most));
        assert_true(fabs(r->chi2 - chi2) <= 1e-9 * (1 + chi2));
        assert_true(fabs(r->rms - sqrt(squares / n)) <= 1e-9 * sqrt(squares / n) + 1e-12);
        assert_true(fabs(r->misfit - misfit) <= 1e-9 * (1 + misfit));
    }
}
