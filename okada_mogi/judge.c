/* okada_mogi/judge.c – predictions in the canonical order of operations, compared with the
 * observations. */
#include "okada_mogi/judge.h"

double judge_slack(const struct job *job)
{
    double scale = 0;
    for (int i = 0; i < 3 * job->stations.n; i++) /* NaN: not observed */
        scale = fmax(scale, fmax(fabs(job->stations.observed[i]), job->stations.sigma[i]));
    return 1e-9 * scale;
}

int judge_basis_size(const struct job *job)
{
    return job->stations.n * job->model->nbasis * 3;
}

static void look_along(const double *along, int nbasis, double *basis)
{
    for (int b = 0; b < nbasis; b++, basis += 3) {
        basis[0] = along[0] * basis[0] + along[1] * basis[1] + along[2] * basis[2];
        basis[1] = basis[2] = 0;
    }
}

/* Responses at the stations from `first` on, one per lane; or at the second points of differences.
 */
static void respond_from(const struct job *job, const double *const *value, int first, bool second,
                         double *out)
{
    const struct stations *s = &job->stations;
    _Alignas(MODEL_ALIGN) double east[MODEL_LANES], north[MODEL_LANES], height[MODEL_LANES];
    for (int l = 0; l < MODEL_LANES; l++) {
        const int i = first + l < s->n ? first + l : first;
        const bool other = second && stations_difference(s, i);
        east[l] = other ? s->second[2 * i] : s->east[i];
        north[l] = other ? s->second[2 * i + 1] : s->north[i];
        height[l] = s->height[i];
    }
    model_respond(job->model, value, east, north, height, out);
}

static bool any_difference(const struct stations *s, int first, int n)
{
    for (int l = 0; l < n; l++)
        if (stations_difference(s, first + l))
            return true;
    return false;
}

/* Whether the responses at a station are undefined, or at either point of a difference. */
static bool undefined_at(const struct job *job, const double *value, int i)
{
    const struct stations *s = &job->stations;
    return model_undefined(job->model, value, s->east[i], s->north[i], s->height[i]) ||
           (stations_difference(s, i) && model_undefined(job->model, value, s->second[2 * i],
                                                         s->second[2 * i + 1], s->height[i]));
}

void judge_basis(const struct job *job, const double *value, double *basis)
{
    const struct model *m = job->model;
    const struct stations *s = &job->stations;
    _Alignas(MODEL_ALIGN) double lane[MODEL_VALUES][MODEL_LANES];
    _Alignas(MODEL_ALIGN) double out[2][MODEL_BASES * 3 * MODEL_LANES];
    const double *lanes[MODEL_VALUES];
    const int nvalues = model_values(m), width = 3 * m->nbasis;
    for (int v = 0; v < nvalues; v++) {
        lanes[v] = lane[v];
        model_fill(lane[v], value[v]);
    }
    for (int first = 0; first < s->n; first += MODEL_LANES) {
        const int n = s->n - first < MODEL_LANES ? s->n - first : MODEL_LANES;
        respond_from(job, lanes, first, false, out[0]);
        if (any_difference(s, first, n))
            respond_from(job, lanes, first, true, out[1]);
        for (int l = 0; l < n; l++) {
            double *to = basis + (first + l) * width;
            const bool difference = stations_difference(s, first + l);
            for (int k = 0; k < width; k++)
                to[k] = difference ? out[1][k * MODEL_LANES + l] - out[0][k * MODEL_LANES + l]
                                   : out[0][k * MODEL_LANES + l];
            if (stations_scalar(s, first + l))
                look_along(s->along + 3 * (first + l), m->nbasis, to);
            if (undefined_at(job, value, first + l))
                for (int k = 0; k < width; k++)
                    to[k] = NAN;
        }
    }
}

/* Adds a source's displacements; data along a vector have one component. */
static inline void add_source(const struct stations *s, const struct judge_source *source,
                              int nbasis, double *u)
{
    const double *basis = source->basis;
    for (int i = 0; i < s->n; i++, u += 3, basis += 3 * nbasis)
        for (int c = 0, n = stations_scalar(s, i) ? 1 : 3; c < n; c++) {
            double sum = 0;
            for (int b = 0; b < nbasis; b++)
                sum += source->weight[b] * basis[3 * b + c];
            u[c] += source->amplitude * sum;
        }
}

/* Displacements u [stations][3]. */
static void predict(const struct job *job, const struct judge_source *source, double *u)
{
    const struct stations *s = &job->stations;
    memset(u, 0, 3 * (size_t)s->n * sizeof *u);
    for (int i = 0; i < job->nsources; i++)
        switch (job->model->nbasis) { /* constants, so that the compiler unrolls loops */
        case 1:
            add_source(s, &source[i], 1, u);
            break;
        case 2:
            add_source(s, &source[i], 2, u);
            break;
        default:
            add_source(s, &source[i], job->model->nbasis, u);
        }
}

bool judge_accepts(const struct job *job, const struct accepted_record *record, double bound)
{
    const struct job_accept *a = &job->accept;
    if (isnan(record->most) || isnan(record->chi2))
        return false;
    if (a->all)
        return true;
    return (!a->nk || job_within(a, a->nk - 1, record->most)) && record->misfit <= bound &&
           (record->misfit < a->below || isinf(a->below));
}

double judge_reach(const struct job *job, double bound)
{
    const struct job_accept *a = &job->accept;
    if (a->all)
        return INFINITY;
    const double misfit = fmin(a->below, bound);
    const double most =
        a->misfit == JOB_MISFIT_MAX ? misfit : misfit * sqrt(job->stations.ncomponents);
    return fmin(most, a->nk ? a->k[a->nk - 1] : INFINITY);
}

double judge_chi2(const struct job *job, double bound)
{
    const double misfit = job->accept.all ? INFINITY : fmin(job->accept.below, bound);
    return job->accept.misfit == JOB_MISFIT_RMS ? misfit * misfit * job->stations.ncomponents
                                                : INFINITY;
}

/* ---- whole trials -----------------------------------------------------------------------------*/

struct judge {
    struct arena arena; /* of what follows */
    const struct job *job;
    double *left, *white, *work; /* residuals of all scenes, and whitened; scratch */
    bool known[JOB_SOURCES];     /* value and basis are set */
    double value[JOB_SOURCES][MODEL_VALUES];
    double weight[JOB_SOURCES][MODEL_BASES];
    double *basis; /* [sources][judge_basis_size()] */
    double *u, *r; /* [stations][3] displacements; residuals in standard deviations */
};

enum ek_status judge_open(const struct job *job, struct judge **j)
{
    NEW(struct judge, made, 1, "%s: out of memory for predictions", job->path);
    size_t room = 1;
    for (int i = 0; i < job->scenes.n; i++)
        room = scene_room(&job->scenes.scene[i]) > room ? scene_room(&job->scenes.scene[i]) : room;
    made->job = job;
    made->basis = ARENA_NEW(&made->arena, job->nsources * judge_basis_size(job), double);
    made->u = ARENA_NEW(&made->arena, 3 * job->stations.n, double);
    made->r = ARENA_NEW(&made->arena, 3 * job->stations.n, double);
    made->left = ARENA_NEW(&made->arena, job->stations.ncomponents, double);
    made->white = ARENA_NEW(&made->arena, job->stations.ncomponents, double);
    made->work = ARENA_NEW(&made->arena, room, double);
    const enum ek_status st = arena_check(&made->arena, "the predictions of %s", job->path);
    return HAND_OUT(st, made, j, judge_close);
}

ARENA_CLOSE(judge_close, struct judge)

/* The basis responses of source s with parameters x; recomputed only if its values have changed. */
static const double *basis_of(struct judge *j, int s, const double *x)
{
    const struct model *m = j->job->model;
    const size_t size = (size_t)model_values(m) * sizeof(double);
    double value[MODEL_VALUES];
    double *basis = j->basis + s * judge_basis_size(j->job);
    model_derive_all(m, x, value);
    if (!j->known[s] || memcmp(j->value[s], value, size)) {
        judge_basis(j->job, value, basis);
        memcpy(j->value[s], value, size);
        j->known[s] = true;
    }
    return basis;
}

/* Sums over all components; most: the largest |r|. */
struct comparison {
    double most, chi2, squares;
};

/* Compares stations that are in no scene. Correlated components share a chi2, which is at least the
 * square of either residual, so that a bound on chi2 bounds both. Quotients are computed first,
 * several at a time, and sums kept in registers: this dominates the cost of an accepted trial. */
static struct comparison compare_stations(const struct judge *j)
{
    const struct stations *s = &j->job->stations;
    const double *u = j->u, *observed = s->observed;
    double most = 0, chi2 = 0, squares = 0, *r = j->r;
    for (int i = 0; i < 3 * s->n; i++)
        r[i] = (u[i] - observed[i]) / s->sigma[i];
    for (int i = 0; i < s->n; i++) {
        const double before = chi2, c = s->correlation[i];
        if (scenes_hold(&j->job->scenes, i))
            continue;
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            const double d = u[k] - observed[k], size = fabs(r[k]);
            if (isnan(observed[k]))
                continue;
            most = size > most ? size : most;
            chi2 += size * size;
            squares += d * d;
            if (k == 3 * i + 1 && stations_correlated(s, i)) {
                const double e = r[k - 1], n = r[k];
                chi2 = before + ((e - c * n) * (e - c * n) / (1 - c * c) + n * n);
            }
        }
    }
    return (struct comparison){isnan(chi2) ? chi2 : most, chi2, squares};
}

/* Adds a scene; its residuals after removing the unknowns, m, into `left`, whitened into `white`.
 */
static void add_scene(const struct judge *j, const struct scene *c, double *left, double *white,
                      struct comparison *sum)
{
    const struct stations *s = &j->job->stations;
    for (int i = 0; i < c->n; i++)
        left[i] = j->u[c->datum[i]] - s->observed[c->datum[i]];
    scene_project(c, s, left, white);
    sum->chi2 += scene_squares(white, c->n);
    sum->squares += scene_squares(left, c->n);
}

/* Includes the least possible maximum of a scene's residuals. If errors are independent it is at
 * least their rms; where that, or another datum, is out of reach already, the rms is used instead.
 */
static void compare_scene(const struct judge *j, const struct scene *c, const double *left,
                          const double *white, struct comparison *sum)
{
    const double mean = c->root ? 0 : sqrt(scene_squares(white, c->n) / c->n) * (1 - 1e-9);
    const double reach = judge_reach(j->job, INFINITY);
    const double least = fmax(mean, sum->most) > reach
                             ? mean
                             : scene_least(c, &j->job->stations, left, reach, j->work);
    sum->most = least > sum->most || isnan(least) ? least : sum->most;
}

/* Compares u with the observations: sets all of *record but the trial's number. The maxima of
 * scenes, a linear programme each, are computed only if they may decide. */
static void compare(struct judge *j, struct accepted_record *record)
{
    const struct job *job = j->job;
    const struct stations *s = &job->stations;
    struct comparison sum = compare_stations(j);
    for (int i = 0, at = 0; i < job->scenes.n; at += job->scenes.scene[i++].n)
        add_scene(j, &job->scenes.scene[i], j->left + at, j->white + at, &sum);
    const double mean = sqrt(sum.chi2 / s->ncomponents);
    const bool out = isnan(mean) || (job->accept.misfit == JOB_MISFIT_RMS &&
                                     (!job->accept.nk || mean > job->accept.below));
    sum.most = isnan(mean) ? NAN : sum.most;
    for (int i = 0, at = 0; i < job->scenes.n && !out; at += job->scenes.scene[i++].n)
        compare_scene(j, &job->scenes.scene[i], j->left + at, j->white + at, &sum);
    record->most = sum.most;
    record->chi2 = sum.chi2;
    record->rms = sqrt(sum.squares / s->ncomponents);
    record->misfit = job->accept.misfit == JOB_MISFIT_MAX ? sum.most : mean;
}

void judge_sources(struct judge *j, const struct judge_source *source,
                   struct accepted_record *record)
{
    predict(j->job, source, j->u);
    compare(j, record);
}

/* The sources of a trial with parameters x. */
static void place(struct judge *j, const double *x, struct judge_source *source)
{
    const struct job *job = j->job;
    const int n = job->model->nparameters, amplitude = model_amplitude(job->model);
    for (int s = 0; s < job->nsources; s++) {
        model_weigh(job->model, x + s * n, j->weight[s]);
        source[s] = (struct judge_source){basis_of(j, s, x + s * n), j->weight[s],
                                          amplitude < 0 ? 1 : x[s * n + amplitude]};
    }
}

void judge_place(struct judge *j, trial_number trial, struct judge_source *source)
{
    double x[JOB_AXES];
    job_parameters(j->job, trial, x);
    place(j, x, source);
}

bool judge_trial(struct judge *j, trial_number trial, struct accepted_record *record,
                 const double **u)
{
    double x[JOB_AXES];
    struct judge_source source[JOB_SOURCES];
    job_parameters(j->job, trial, x);
    if (!job_allows(j->job, x))
        return false;
    place(j, x, source);
    judge_sources(j, source, record);
    record->trial = trial;
    if (u)
        *u = j->u;
    return true;
}
