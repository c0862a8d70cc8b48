/* mcsem/invert.c – which trials are accepted, and where the next one lies. */
#include "mcsem/invert.h"
#include "src/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Levenberg-Marquardt: what gain ratio is worth a step, and what damping makes of it. */
#define LEAST_GAIN    1e-4
#define GOOD_GAIN     0.75
#define POOR_GAIN     0.25
#define MORE_DAMPING  5.0
#define LESS_DAMPING  (1 / 3.0)
#define LEAST_DAMPING 1e-3
#define MOST_DAMPING  1e8
#define ZERO_STEP     1e-7 /* of ln rho */

const char *const invert_stop_text[INVERT_STOPS] = {
    [INVERT_GOES_ON] = "goes on",
    [INVERT_MISFIT] = "misfit below the target",
    [INVERT_STALLED] = "misfit changes no more",
    [INVERT_ITERATIONS] = "iterations done",
    [INVERT_STUCK] = "no step lowers the objective",
};

static size_t unknowns(const struct invert *inv)
{
    return (size_t)earth_columns(inv->earth) * (size_t)inv->earth->nz;
}

static size_t all_sums(const struct invert *inv)
{
    return (size_t)earth_columns(inv->earth) * cell_sums(inv->earth->nz);
}

static double count_data(const struct survey *s)
{
    double n = 0;
    for (size_t i = 0; i < s->npairs * (size_t)s->nfreq; i++)
        n += isfinite(s->datum[i].sigma) ? 2 : 0;
    return n;
}

static enum ek_status allocate(struct invert *inv, bool solves)
{
    inv->trial = calloc(unknowns(inv), sizeof *inv->trial);
    inv->trial_sums = calloc(all_sums(inv), sizeof *inv->trial_sums);
    inv->room = 1 + 16 * (inv->options.iterations + 1);
    inv->record = calloc((size_t)inv->room, sizeof *inv->record);
    if (solves)
        inv->sums = calloc(all_sums(inv), sizeof *inv->sums);
    if (!inv->trial || !inv->trial_sums || !inv->record || (solves && !inv->sums))
        FAIL(EK_LACK, "out of memory for the inversion of %d columns of %d layers",
             earth_columns(inv->earth), inv->earth->nz);
    return solves ? normal_open(inv->earth, &inv->normal) : EK_OK;
}

enum ek_status invert_open(const struct survey *survey, const struct earth *start,
                           const struct invert_options *options, bool solves, struct invert **out)
{
    struct invert *inv = calloc(1, sizeof *inv);
    if (!inv)
        FAIL(EK_LACK, "out of memory for an inversion");
    inv->survey = survey;
    inv->options = *options;
    inv->data = count_data(survey);
    enum ek_status st = earth_copy(start, &inv->earth);
    if (!st)
        st = allocate(inv, solves);
    if (!st && inv->data == 0)
        st = status_fail(EK_USAGE, "no datum has a weight: nothing can be inverted");
    if (st) {
        invert_close(inv);
        return st;
    }
    invert_reset(inv, start);
    *out = inv;
    return EK_OK;
}

void invert_close(struct invert *inv)
{
    if (!inv)
        return;
    earth_close(inv->earth);
    normal_close(inv->normal);
    free(inv->trial);
    free(inv->sums);
    free(inv->trial_sums);
    free(inv->record);
    free(inv);
}

void invert_reset(struct invert *inv, const struct earth *start)
{
    memcpy(inv->earth->m, start->m, unknowns(inv) * sizeof *start->m);
    memcpy(inv->trial, start->m, unknowns(inv) * sizeof *start->m);
    inv->damping = inv->options.damping;
    inv->cooled = 1;
    inv->nrecords = inv->iteration = inv->stalls = 0;
    inv->phi = inv->rms = INFINITY;
    inv->predicted = 0;
    inv->resumed = false;
    inv->stop = INVERT_GOES_ON;
    inv->record[0] = (struct invert_record){.iteration = 0};
}

void invert_resume(struct invert *inv, const double *m)
{
    memcpy(inv->earth->m, m, unknowns(inv) * sizeof *m);
    memcpy(inv->trial, m, unknowns(inv) * sizeof *m);
    inv->resumed = true;
}

/* ---- judging --------------------------------------------------------------------------------- */

static double misfit(const struct invert *inv, const double *sums)
{
    double sum = 0;
    for (int c = 0; c < earth_columns(inv->earth); c++)
        sum += sums[(size_t)c * cell_sums(inv->earth->nz)];
    return sum;
}

double invert_rms(const struct invert *inv, const double *sums)
{
    return sqrt(misfit(inv, sums) / inv->data);
}

static struct normal_smoothness smoothness(const struct invert *inv)
{
    return (struct normal_smoothness){inv->options.smooth_v * inv->scale * inv->cooled,
                                      inv->options.smooth_h * inv->scale * inv->cooled};
}

static double roughness(const struct invert *inv, const double *m)
{
    const struct normal_smoothness mu = smoothness(inv);
    return mu.vertical * normal_roughness_v(inv->earth, m) +
           mu.lateral * normal_roughness_h(inv->earth, m);
}

/* Fills in what the trial's fields and model say. */
static void describe_trial(struct invert *inv, struct invert_record *r)
{
    r->phi_data = misfit(inv, inv->trial_sums);
    r->rms = sqrt(r->phi_data / inv->data);
    r->rough_v = normal_roughness_v(inv->earth, inv->trial);
    r->rough_h = normal_roughness_h(inv->earth, inv->trial);
    r->mu_v = smoothness(inv).vertical;
    r->mu_h = smoothness(inv).lateral;
    r->phi = r->phi_data + r->mu_v * r->rough_v + r->mu_h * r->rough_h;
    r->damping = inv->damping;
    r->rho_min = INFINITY;
    r->rho_max = 0;
    for (size_t i = 0; i < unknowns(inv); i++) {
        r->rho_min = fmin(r->rho_min, exp(inv->trial[i]));
        r->rho_max = fmax(r->rho_max, exp(inv->trial[i]));
    }
}

/* Does the inversion end with the trial that has just been accepted? */
static enum invert_stop stop_after(struct invert *inv, double rms_before)
{
    const struct invert_options *o = &inv->options;
    const double change = fabs(rms_before - inv->rms) / inv->rms;
    if (inv->iteration > 0)
        inv->stalls = change < o->stall ? inv->stalls + 1 : 0;
    if (inv->rms <= o->target && inv->iteration >= o->least_iterations)
        return INVERT_MISFIT;
    if (o->stall_times > 0 && inv->stalls >= o->stall_times)
        return INVERT_STALLED;
    return inv->iteration >= o->iterations ? INVERT_ITERATIONS : INVERT_GOES_ON;
}

static void accept(struct invert *inv, const struct invert_record *r)
{
    const double before = inv->rms;
    if (r->iteration == 0)
        inv->scale = normal_scale(inv->earth, inv->trial_sums);
    memcpy(inv->earth->m, inv->trial, unknowns(inv) * sizeof *inv->trial);
    memcpy(inv->sums, inv->trial_sums, all_sums(inv) * sizeof *inv->sums);
    inv->rms = r->rms;
    inv->iteration = r->iteration;
    if (r->gain > GOOD_GAIN)
        inv->damping = fmax(inv->damping * LESS_DAMPING, LEAST_DAMPING);
    if (r->gain < POOR_GAIN && r->iteration > 0)
        inv->damping *= MORE_DAMPING;
    inv->stop = stop_after(inv, before);
    if (r->iteration > 0)
        inv->cooled = fmax(inv->cooled * inv->options.cooling, inv->options.coolest);
    inv->phi = r->phi_data + roughness(inv, inv->earth->m);
}

/* The sums of the model with which a former run ended. */
static void take_up(struct invert *inv)
{
    inv->resumed = false;
    memcpy(inv->sums, inv->trial_sums, all_sums(inv) * sizeof *inv->sums);
    inv->rms = invert_rms(inv, inv->sums);
    inv->phi = misfit(inv, inv->sums) + roughness(inv, inv->earth->m);
    inv->stop = inv->iteration >= inv->options.iterations ? INVERT_ITERATIONS : INVERT_GOES_ON;
}

enum ek_status invert_judge(struct invert *inv, double seconds, double cpu_s)
{
    if (inv->resumed) {
        take_up(inv);
        return EK_OK;
    }
    struct invert_record *r = &inv->record[inv->nrecords++];
    describe_trial(inv, r);
    r->seconds = seconds;
    r->cpu_s = cpu_s;
    const bool first = !isfinite(inv->phi);
    if (first && !isfinite(r->phi))
        FAIL(EK_WRONG, "the fields of the starting model are not finite");
    r->gain = first ? 1 : (inv->phi - r->phi) / inv->predicted;
    r->accepted = first || (isfinite(r->phi) && inv->predicted > 0 && r->gain > LEAST_GAIN);
    if (r->accepted)
        accept(inv, r);
    else
        inv->damping *= MORE_DAMPING;
    if (!inv->stop && (inv->damping > MOST_DAMPING || inv->nrecords == inv->room))
        inv->stop = INVERT_STUCK;
    return EK_OK;
}

/* ---- stepping -------------------------------------------------------------------------------- */

/* The step within its limits; the largest change. */
static double limit(const struct invert *inv, double *dm)
{
    const double low = log(inv->options.rho_min), high = log(inv->options.rho_max);
    double largest = 0;
    for (size_t i = 0; i < unknowns(inv); i++) {
        const double m = inv->earth->m[i];
        const double step = fmax(-inv->options.step, fmin(inv->options.step, dm[i]));
        dm[i] = fmax(low, fmin(high, m + step)) - m;
        largest = fmax(largest, fabs(dm[i]));
    }
    return largest;
}

enum ek_status invert_step(struct invert *inv)
{
    const double start = clock_now(), start_cpu = clock_cpu();
    struct invert_record *r = &inv->record[inv->nrecords];
    double *dm = inv->trial; /* the step, until it is added to the model */
    enum ek_status st = EK_WRONG;
    for (; st == EK_WRONG && inv->damping <= MOST_DAMPING; inv->damping *= MORE_DAMPING) {
        st = normal_solve(inv->normal, inv->sums, inv->earth->m, smoothness(inv),
                          inv->damping * inv->scale, dm);
        if (st != EK_WRONG)
            break;
    }
    if (st == EK_WRONG)
        FAIL(EK_USAGE, "the normal equations cannot be solved: give more smoothness or data");
    TRY(st);
    *r = (struct invert_record){.iteration = inv->iteration + 1, .step = limit(inv, dm)};
    inv->predicted = normal_predict(inv->earth, inv->sums, dm) + roughness(inv, inv->earth->m);
    for (size_t i = 0; i < unknowns(inv); i++)
        dm[i] += inv->earth->m[i];
    inv->predicted -= roughness(inv, inv->trial);
    if (r->step < ZERO_STEP)
        inv->stop = INVERT_STUCK;
    r->solve_s = clock_now() - start;
    r->solve_cpu_s = clock_cpu() - start_cpu;
    return EK_OK;
}
