/* mcsem/invert.c – which trials are accepted, and which trial comes next. */
#include "mcsem/invert.h"
#include "src/clock.h"

/* Levenberg-Marquardt: bounds of the gain ratio, and how they change the damping. */
#define LEAST_GAIN    1e-4
#define GOOD_GAIN     0.75
#define POOR_GAIN     0.25
#define MORE_DAMPING  5.0
#define LESS_DAMPING  (1 / 3.0)
#define LEAST_DAMPING 1e-3
#define MOST_DAMPING  1e8
#define ZERO_STEP     1e-7 /* change of ln rho */
#define LEAST_SHARE   0.1  /* least share of a rejected step */

/* Shifts of the start in ln rho, and the least-squares uniform step that makes one worthwhile. */
#define SHIFT       1.2
#define WORTH_SHIFT 0.4
#define BAD_RMS     10.0

/* The smoothness level: factor of a step, its maximum, steps up in one iteration, gain that
 * justifies a step down; the share of the misfit that a step should leave, at first and at least;
 * an aim slightly below the target, so that it is reached. */
#define LEVEL_STEP          3.0
#define TOP_LEVEL           1e4
#define MOST_UP             4
#define WORTH_LEVEL         1.15
#define LEAST_TARGET_SHARE  0.3
#define MODEST_TARGET_SHARE 0.8 /* where even this fails, damping grows */
#define AIM                 0.99

/* Spread of the residuals of an unknown start, and the factor by which it may shrink in an
 * iteration. Data that only a body explains look like outliers to a model that explains the others;
 * a slow decrease lets them influence the model before they lose their weight. */
#define FIRST_SPREAD 16.0
#define LESS_SPREAD  1.4142135623730951

const char *const invert_stop_text[INVERT_STOPS] = {
    [INVERT_GOES_ON] = "goes on",
    [INVERT_MISFIT] = "misfit below the target",
    [INVERT_STALLED] = "misfit changes no more",
    [INVERT_ITERATIONS] = "iterations done",
    [INVERT_STUCK] = "no step lowers the objective",
};

const char *const invert_numbers[] = {"rms",         "phi",     "phi_data", "rough_v", "rough_h",
                                      "mu_v",        "mu_h",    "damping",  "gain",    "step",
                                      "rho_min",     "rho_max", "seconds",  "cpu_s",   "solve_s",
                                      "solve_cpu_s", "outliers"};
_Static_assert(sizeof(struct invert_record) ==
                   offsetof(struct invert_record, rms) + INVERT_NUMBERS * sizeof(double),
               "a record ends with its numbers");

static size_t all_sums(const struct invert *inv)
{
    return (size_t)earth_columns(inv->earth) * cell_sums(earth_unknowns(inv->earth));
}

static double count_data(const struct survey *s)
{
    double n = 0;
    for (size_t i = 0; i < s->npairs * (size_t)s->nfreq; i++)
        n += survey_numbers(&s->datum[i]);
    return n;
}

static enum ek_status allocate(struct invert *inv, bool solves)
{
    inv->trial = ARENA_NEW(&inv->arena, earth_size(inv->earth), double);
    inv->spare = ARENA_NEW(&inv->arena, earth_size(inv->earth), double);
    inv->trial_sums = ARENA_NEW(&inv->arena, all_sums(inv), double);
    inv->room = 1 + 16 * (inv->options.iterations + 1);
    inv->record = ARENA_NEW(&inv->arena, inv->room, struct invert_record);
    if (solves)
        inv->sums = ARENA_NEW(&inv->arena, all_sums(inv), double);
    TRY(arena_check(&inv->arena, "the inversion of %d columns of %d layers",
                    earth_columns(inv->earth), earth_unknowns(inv->earth)));
    return solves ? normal_open(inv->earth, inv->prior, &inv->normal) : EK_OK;
}

enum ek_status invert_open(const struct survey *survey, const struct earth *start,
                           struct prior *prior, const struct invert_options *options, bool solves,
                           struct invert **out)
{
    NEW(struct invert, inv, 1, "out of memory for an inversion");
    inv->survey = survey;
    inv->prior = prior;
    inv->options = *options;
    inv->data = count_data(survey);
    enum ek_status st = earth_copy(start, &inv->earth);
    THEN(st, allocate(inv, solves));
    if (!st && inv->data == 0)
        st = status_fail(EK_USAGE, "no datum has a weight: nothing can be inverted");
    TRY_OR(st, invert_close(inv));
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
    arena_free(&inv->arena);
    free(inv);
}

void invert_reset(struct invert *inv, const struct earth *start)
{
    for (size_t i = 0; i < earth_size(inv->earth); i++)
        inv->trial[i] = inv->earth->m[i] =
            start->m[i] + prior_change(inv->prior, i, start->m[i], 0);
    prior_update_median(inv->prior, inv->earth->m);
    inv->damping = inv->options.damping;
    inv->level = 1;
    inv->target_share = LEAST_TARGET_SHARE;
    inv->trial_spread = inv->sums_spread = FIRST_SPREAD;
    inv->nrecords = inv->iteration = inv->stalls = 0;
    inv->phi = inv->rms = INFINITY;
    inv->predicted = 0;
    inv->resumed = false;
    inv->stop = INVERT_GOES_ON;
    inv->record[0] = (struct invert_record){.iteration = 0};
}

void invert_resume(struct invert *inv, const double *m, const double *trial)
{
    memcpy(inv->earth->m, m, earth_size(inv->earth) * sizeof *m);
    memcpy(inv->trial, m, earth_size(inv->earth) * sizeof *m);
    memcpy(inv->spare, trial, earth_size(inv->earth) * sizeof *m);
    inv->resumed = true;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* The sum of losses with the spread of `sums` or, if robust and `compared`, with that of the
 * accepted model's. */
static double loss(const struct invert *inv, const double *sums, bool compared)
{
    const size_t own = cell_sums(earth_unknowns(inv->earth));
    double sum = 0;
    for (size_t c = 0; c < (size_t)earth_columns(inv->earth); c++)
        sum += sums[c * own + (compared && inv->options.robust ? own - 1 : 0)];
    return sum;
}

struct misfit_summary invert_misfit(const struct invert *inv, const double *sums)
{
    const struct misfit_options options = {.robust = inv->options.robust,
                                           .spread = inv->sums_spread};
    struct misfit_bin all[MISFIT_BINS] = {{0, 0}};
    for (int c = 0; c < earth_columns(inv->earth); c++) {
        const double *bins =
            sums + (size_t)(c + 1) * cell_sums(earth_unknowns(inv->earth)) - CELL_STATISTICS;
        for (int b = 0; b < MISFIT_BINS; b++) {
            all[b].data += bins[2 * b];
            all[b].square += bins[2 * b + 1];
        }
    }
    struct misfit_summary s = misfit_summary(&options, all);
    if (!inv->options.robust) {
        s.kept = loss(inv, sums, false);
        s.rms = sqrt(s.kept / inv->data);
    }
    return s;
}

struct prior_weights invert_smoothness(const struct invert *inv)
{
    const double unit = inv->scale > 0 ? inv->scale : normal_scale(inv->earth, inv->sums);
    struct prior_weights mu = inv->options.smooth;
    for (int k = 0; k < PRIOR_KINDS; k++)
        mu.of[k] *= unit * inv->level;
    return mu;
}

static double roughness(const struct invert *inv, const double *m)
{
    const struct prior_weights mu = invert_smoothness(inv);
    double sum = 0;
    for (int k = 0; k < PRIOR_KINDS; k++)
        sum += mu.of[k] > 0 ? mu.of[k] * prior_square(inv->prior, (enum prior_kind)k, m) : 0;
    return sum;
}

/* Fills in the trial's misfit, roughness and range. */
static void describe_trial(struct invert *inv, struct invert_record *r)
{
    const struct misfit_summary s = invert_misfit(inv, inv->trial_sums);
    r->phi_data = loss(inv, inv->trial_sums, true);
    r->rms = isfinite(r->phi_data) ? s.rms : NAN;
    r->outliers = s.outliers;
    r->rough_v = prior_square(inv->prior, PRIOR_VERTICAL, inv->trial);
    r->rough_h = prior_square(inv->prior, PRIOR_LATERAL, inv->trial);
    r->mu_v = invert_smoothness(inv).of[PRIOR_VERTICAL];
    r->mu_h = invert_smoothness(inv).of[PRIOR_LATERAL];
    r->phi = r->phi_data + roughness(inv, inv->trial);
    r->damping = inv->damping;
    r->rho_min = INFINITY;
    r->rho_max = 0;
    for (size_t i = 0; i < earth_size(inv->earth); i++) {
        r->rho_min = fmin(r->rho_min, exp(inv->trial[i]));
        r->rho_max = fmax(r->rho_max, exp(inv->trial[i]));
    }
}

/* Whether the inversion ends with the accepted model. */
static enum invert_stop stop_by_rule(const struct invert *inv)
{
    const struct invert_options *o = &inv->options;
    if (inv->rms == 0 || (inv->rms <= o->target && inv->iteration >= o->least_iterations))
        return INVERT_MISFIT;
    if (o->stall_times > 0 && inv->stalls >= o->stall_times)
        return INVERT_STALLED;
    return inv->iteration >= o->iterations ? INVERT_ITERATIONS : INVERT_GOES_ON;
}

static void accept(struct invert *inv, const struct invert_record *r)
{
    const double change = fabs(inv->rms - r->rms) / r->rms;
    memcpy(inv->earth->m, inv->trial, earth_size(inv->earth) * sizeof *inv->trial);
    memcpy(inv->sums, inv->trial_sums, all_sums(inv) * sizeof *inv->sums);
    inv->rms = r->rms;
    inv->phi = r->phi;
    inv->sums_spread = inv->trial_spread;
    inv->iteration = r->iteration;
    if (inv->iteration > 0)
        inv->stalls = change < inv->options.stall ? inv->stalls + 1 : 0;
    inv->stop = stop_by_rule(inv);
}

/* Adapts damping and requested share to the gain of a step (not of a shift of the start). */
static void adapt(struct invert *inv, const struct invert_record *r)
{
    const bool shortened = r->iteration == r[-1].iteration;
    if (!r->accepted || r->gain < POOR_GAIN) {
        if (inv->target_share > MODEST_TARGET_SHARE)
            inv->damping *= MORE_DAMPING;
        inv->target_share = sqrt(inv->target_share);
    } else if (r->gain > GOOD_GAIN && !shortened) {
        inv->damping = fmax(inv->damping * LESS_DAMPING, LEAST_DAMPING);
        inv->target_share = fmax(pow(inv->target_share, 1.5), LEAST_TARGET_SHARE);
    }
}

static void swap_trials(struct invert *inv)
{
    double *kept = inv->spare;
    inv->spare = inv->trial;
    inv->trial = kept;
}

/* The trial was the accepted model of a checkpoint: takes its sums, and restores the last trial,
 * which may have to be shortened. The model may have been the last one, if the run was interrupted
 * while it wrote its results. */
static void resume_with_sums(struct invert *inv)
{
    inv->resumed = false;
    swap_trials(inv);
    memcpy(inv->sums, inv->trial_sums, all_sums(inv) * sizeof *inv->sums);
    inv->sums_spread = inv->trial_spread;
    inv->rms = invert_misfit(inv, inv->sums).rms;
    inv->stop = stop_by_rule(inv);
    if (!inv->stop && inv->damping > MOST_DAMPING)
        inv->stop = INVERT_STUCK;
}

enum ek_status invert_judge(struct invert *inv, double seconds, double cpu_s)
{
    if (inv->resumed) {
        resume_with_sums(inv);
        return EK_OK;
    }
    struct invert_record *r = &inv->record[inv->nrecords++];
    describe_trial(inv, r);
    r->seconds = seconds;
    r->cpu_s = cpu_s;
    const bool first = inv->nrecords == 1;
    if (first && !isfinite(r->phi))
        FAIL(EK_UNVERIFIED,
             "the fields of the starting model, or their residuals, are not finite: give other "
             "resistivities to start from (--start), or errors that are not that small");
    r->gain = r->iteration ? (inv->phi - r->phi) / inv->predicted : 1;
    r->accepted =
        first || (isfinite(r->phi) &&
                  (r->iteration ? inv->predicted > 0 && r->gain > LEAST_GAIN : r->rms < inv->rms));
    if (r->iteration)
        adapt(inv, r);
    if (r->accepted)
        accept(inv, r);
    if (!inv->stop && (inv->damping > MOST_DAMPING || inv->nrecords == inv->room))
        inv->stop = INVERT_STUCK;
    return EK_OK;
}

/* ---- shifting the start ---------------------------------------------------------------------- */

/* The uniform step of least squares. */
static double uniform_step(const struct invert *inv)
{
    const int nz = earth_unknowns(inv->earth);
    double slope = 0, curvature = 0;
    for (int c = 0; c < earth_columns(inv->earth); c++) {
        const double *sums = inv->sums + (size_t)c * cell_sums(nz);
        for (int i = 1; i <= nz; i++) {
            slope += sums[cell_sum_at(i, 0)];
            for (int j = 1; j <= i; j++)
                curvature += (j < i ? 2 : 1) * sums[cell_sum_at(i, j)];
        }
    }
    return curvature > 0 ? slope / curvature : 0;
}

/* Mean ln rho of the start before any shift. */
static double mean_start(const struct invert *inv)
{
    double sum = 0;
    for (size_t i = 0; i < earth_size(inv->earth); i++)
        sum += inv->earth->m[i];
    for (int i = inv->nrecords - 1; i >= 0; i--)
        if (inv->record[i].accepted)
            return sum / (double)earth_size(inv->earth) - inv->record[i].step;
    return 0;
}

/* The next shift: to a mean of 1 ohm m, typical of marine sediments, then to both sides of the best
 * one. Phases of a bad start may be off by whole turns, so its gradient is no guide. */
static bool next_shift(const struct invert *inv, double *shift)
{
    const struct invert_record *r = inv->record, *best = r;
    int n = 0;
    for (; n < inv->nrecords && r[n].iteration == 0; n++)
        best = r[n].rms < best->rms ? &r[n] : best;
    if (n < inv->nrecords || (n == 1 && r->rms < BAD_RMS && fabs(uniform_step(inv)) < WORTH_SHIFT))
        return false;
    const double wanted[] = {-mean_start(inv), best->step + SHIFT, best->step - SHIFT};
    for (int k = 0; k < 3; k++) {
        bool tried = false;
        for (int i = 0; i < n; i++)
            tried = tried || fabs(r[i].step - wanted[k]) < 0.5 * SHIFT;
        *shift = wanted[k];
        if (!tried)
            return true;
    }
    return false;
}

static void shift_start(struct invert *inv, double shift)
{
    double here = 0;
    for (int i = 0; i < inv->nrecords; i++)
        here = inv->record[i].accepted ? inv->record[i].step : here;
    for (size_t i = 0; i < earth_size(inv->earth); i++)
        inv->trial[i] =
            inv->earth->m[i] + prior_change(inv->prior, i, inv->earth->m[i], shift - here);
    prior_update_median(inv->prior, inv->trial);
    inv->record[inv->nrecords] = (struct invert_record){.step = shift};
}

/* ---- stepping -------------------------------------------------------------------------------- */

/* Limits the step. */
static void limit(const struct invert *inv, double *dm)
{
    for (size_t i = 0; i < earth_size(inv->earth); i++) {
        const double step = fmax(-inv->options.step, fmin(inv->options.step, dm[i]));
        dm[i] = prior_change(inv->prior, i, inv->earth->m[i], step);
    }
}

/* Computes the step at a level and the expected decrease of the loss. Damping grows until the
 * equations can be solved. */
static enum ek_status solve(struct invert *inv, double level, double *dm, double *decrease)
{
    enum ek_status st = EK_UNVERIFIED;
    inv->level = level;
    for (; inv->damping <= MOST_DAMPING; inv->damping *= MORE_DAMPING) {
        st = normal_solve(inv->normal, inv->sums, inv->earth->m, invert_smoothness(inv),
                          inv->damping, true, dm);
        if (st != EK_UNVERIFIED)
            break;
    }
    if (st == EK_UNVERIFIED)
        FAIL(EK_USAGE, "the normal equations cannot be solved: give more smoothness or data");
    TRY(st);
    limit(inv, dm);
    *decrease = normal_predict(inv->earth, inv->sums, dm);
    return EK_OK;
}

/* Finds the step at the highest level that should reduce the loss by `want`, or else at the lowest
 * level that is worth it. */
static enum ek_status choose_level(struct invert *inv, double want)
{
    const double least = fmax(inv->options.coolest, inv->level * inv->options.cooling);
    double decrease;
    TRY(solve(inv, inv->level, inv->trial, &decrease));
    const bool down = decrease < want;
    for (int n = 0; down ? decrease < want && inv->level > least
                         : n < MOST_UP && inv->level > 0 && inv->level < TOP_LEVEL;
         n++) {
        const double level = inv->level, enough = down ? WORTH_LEVEL * decrease : want;
        TRY(solve(inv, down ? fmax(least, level / LEVEL_STEP) : level * LEVEL_STEP, inv->spare,
                  &decrease));
        if (decrease < enough) {
            inv->level = level;
            break;
        }
        swap_trials(inv);
    }
    return EK_OK;
}

/* Phi rose at the trial: shortens the step to the minimum of the parabola through both values with
 * the expected slope. */
static void shorten(const struct invert *inv, double gain)
{
    const double share = isfinite(gain) ? fmax(LEAST_SHARE, 1 / (2 - gain)) : LEAST_SHARE;
    for (size_t i = 0; i < earth_size(inv->earth); i++)
        inv->trial[i] = share * (inv->trial[i] - inv->earth->m[i]);
}

static bool rejected(const struct invert *inv)
{
    return inv->nrecords > 0 && !inv->record[inv->nrecords - 1].accepted &&
           inv->record[inv->nrecords - 1].iteration > 0;
}

/* Adds the model to the step; sets the predicted decrease of Phi and the largest change. */
static void add_model(struct invert *inv, struct invert_record *r)
{
    double *dm = inv->trial;
    *r = (struct invert_record){.iteration = inv->iteration + 1};
    inv->predicted = normal_predict(inv->earth, inv->sums, dm) + roughness(inv, inv->earth->m);
    for (size_t i = 0; i < earth_size(inv->earth); i++) {
        r->step = fmax(r->step, fabs(dm[i]));
        dm[i] += inv->earth->m[i];
    }
    inv->predicted -= roughness(inv, inv->trial);
}

/* A step that is cut at bounds may lead up; with more damping it does not. */
static enum ek_status take_step(struct invert *inv, struct invert_record *r)
{
    const struct misfit_summary s = invert_misfit(inv, inv->sums);
    const double aim = AIM * pow(inv->options.target / s.rms, 2);
    inv->scale = normal_scale(inv->earth, inv->sums);
    prior_update_median(inv->prior, inv->earth->m);
    if (rejected(inv))
        shorten(inv, r[-1].gain);
    else
        TRY(choose_level(inv, s.kept * (1 - fmax(aim, inv->target_share))));
    add_model(inv, r);
    while (inv->predicted <= 0 && r->step >= ZERO_STEP &&
           inv->damping < MOST_DAMPING / MORE_DAMPING) {
        double decrease;
        inv->damping *= MORE_DAMPING;
        TRY(solve(inv, inv->level, inv->trial, &decrease));
        add_model(inv, r);
    }
    inv->phi = roughness(inv, inv->earth->m) + loss(inv, inv->sums, false);
    if (r->step < ZERO_STEP)
        inv->stop = INVERT_STUCK;
    return EK_OK;
}

enum ek_status invert_step(struct invert *inv)
{
    const double start = clock_now(), start_cpu = clock_cpu();
    struct invert_record *r = &inv->record[inv->nrecords];
    double shift;
    const bool shifts = next_shift(inv, &shift);
    inv->trial_spread =
        shifts ? FIRST_SPREAD
               : fmax(invert_misfit(inv, inv->sums).spread, inv->sums_spread / LESS_SPREAD);
    if (shifts)
        shift_start(inv, shift);
    else
        TRY(take_step(inv, r));
    r->solve_s = clock_now() - start;
    r->solve_cpu_s = clock_cpu() - start_cpu;
    return EK_OK;
}
