/* okada_mogi/search.c – shared by all methods: the choice among them, stations and their order,
 * workers, judging. */
#include "okada_mogi/search_method.h"
#include "okada_mogi/grid.h"
#include "src/random.h"

/* ---- stations ---------------------------------------------------------------------------------*/

static struct search_point point_of(const struct stations *s, int i, double weight)
{
    struct search_point p = {.number = i, .weight = weight};
    model_fill(p.east, s->east[i]);
    model_fill(p.north, s->north[i]);
    model_fill(p.height, s->height[i]);
    for (int c = 0; c < 3 && stations_scalar(s, i); c++)
        p.along[c] = s->along[3 * i + c];
    return p;
}

void search_set_contrast(struct search_station *to, const struct stations *s, int n,
                         const int *datum, const double *weight)
{
    *to = (struct search_station){.npoints = n, .scalar = true, .ncomponents = 1};
    for (int i = 0; i < n; i++) {
        const int k = datum[i];
        struct search_point *p = &to->point[i];
        *p = point_of(s, k / 3, weight[i]);
        p->component = k % 3;
        if (!stations_scalar(s, k / 3))
            p->along[k % 3] = 1;
        to->observed[0] += weight[i] * s->observed[k];
        to->sigma[0] += fabs(weight[i]) * s->sigma[k];
        to->rounding += fabs(weight[i]);
    }
}

static void set_station(struct search_station *to, const struct stations *s, int i)
{
    *to = (struct search_station){.npoints = 1, .scalar = stations_scalar(s, i), .rounding = 1};
    to->point[0] = point_of(s, i, 1);
    if (stations_difference(s, i)) {
        to->difference = true;
        to->npoints = 2;
        to->rounding = 2;
        to->point[1] = to->point[0];
        to->point[0].weight = -1;
        model_fill(to->point[1].east, s->second[2 * i]);
        model_fill(to->point[1].north, s->second[2 * i + 1]);
    }
    for (int c = 0; c < 3; c++) {
        const double observed = s->observed[3 * i + c];
        if (isnan(observed))
            continue;
        to->component[to->ncomponents] = c;
        to->observed[to->ncomponents] = observed;
        to->sigma[to->ncomponents++] = s->sigma[3 * i + c];
    }
}

/* Weights with which the scene's unknowns cancel at its points point [unknowns + 1]: 1, -1 for an
 * offset; cofactors of the shapes for a ramp. False: the points are nearly collinear. */
static bool cancel(const struct scene *c, const int *point, double *weight)
{
    double most = 0;
    weight[0] = 1;
    weight[1] = -1;
    for (int i = 0; i <= c->unknowns && c->unknowns > 1; i++) {
        const double *row[3]; /* of the other points */
        for (int k = 0; k < 3; k++)
            row[k] = c->shape + point[k + (k >= i)] * c->unknowns;
        weight[i] = (row[1][1] - row[0][1]) * (row[2][2] - row[0][2]) -
                    (row[2][1] - row[0][1]) * (row[1][2] - row[0][2]);
        weight[i] *= i % 2 ? -1 : 1;
        most = fmax(most, fabs(weight[i]));
    }
    for (int i = 0; i <= c->unknowns && most > 0; i++)
        weight[i] /= most;
    return c->unknowns == 1 || most > 1e-3;
}

/* A random contrast of a scene; false: the points drawn make none. */
static bool set_contrast(struct search_station *to, const struct stations *s, const struct scene *c,
                         uint64_t *seed)
{
    int point[SEARCH_POINTS];
    double weight[SEARCH_POINTS];
    for (int i = 0; i <= c->unknowns; i++)
        point[i] = (int)(random_bits(seed) % (uint64_t)c->n);
    if ((c->unknowns == 1 && point[0] == point[1]) || !cancel(c, point, weight))
        return false;
    for (int i = 0; i <= c->unknowns; i++)
        point[i] = c->datum[point[i]];
    search_set_contrast(to, s, c->unknowns + 1, point, weight);
    return true;
}

enum { CONTRASTS = 64, TRIES = 256 }; /* per scene */

static void list_stations(struct search *s)
{
    const struct job *job = s->job;
    uint64_t seed = 5;
    for (int i = 0; i < job->stations.n; i++)
        if (!scenes_adrift(&job->scenes, i))
            set_station(&s->station[s->nstations++], &job->stations, i);
    for (int k = 0; k < job->scenes.n; k++)
        for (int i = 0, n = 0; job->scenes.scene[k].unknowns && i < TRIES && n < CONTRASTS; i++)
            if (set_contrast(&s->station[s->nstations], &job->stations, &job->scenes.scene[k],
                             &seed)) {
                s->nstations++;
                n++;
            }
}

static void respond_at(const struct model *m, const double *const *value,
                       const struct search_point *at, double *out)
{
    if (at->height[0] > 0)
        model_respond(m, value, at->east, at->north, at->height, out);
    else
        m->respond(m, value, at->east, at->north, out);
}

void search_respond(const struct model *m, const double *const *value,
                    const struct search_station *station, double *out)
{
    _Alignas(MODEL_ALIGN) double one[MODEL_BASES * 3 * MODEL_LANES];
    respond_at(m, value, &station->point[0], station->scalar ? one : out);
    for (int p = 0; station->scalar && p < station->npoints; p++) {
        const struct search_point *at = &station->point[p];
        if (p)
            respond_at(m, value, at, one);
        for (int k = 0; k < m->nbasis; k++)
            for (int l = 0; l < MODEL_LANES; l++) {
                const double *u = one + 3 * k * MODEL_LANES + l;
                const double seen = at->along[0] * u[0] + at->along[1] * u[MODEL_LANES] +
                                    at->along[2] * u[2 * MODEL_LANES];
                double *sum = out + 3 * k * MODEL_LANES + l;
                *sum = (p ? *sum : 0) + at->weight * seen;
            }
    }
}

const double *search_seen(const struct search_station *station, int nbasis, const double *all,
                          double *own)
{
    if (station->npoints == 1 || station->difference)
        return all + 3 * nbasis * station->point[0].number;
    for (int k = 0; k < nbasis; k++) {
        own[3 * k] = 0;
        for (int p = 0; p < station->npoints; p++) {
            const struct search_point *at = &station->point[p];
            own[3 * k] += at->weight * all[3 * nbasis * at->number + 3 * k + at->component];
        }
    }
    return own;
}

/* The place, from `first` on, of the item that the fewest of the samples `left` survive; ties are
 * decided by all samples. */
static int most_rejecting(const bool *keeps, const bool *left, int nsamples, const int *item, int n,
                          int first)
{
    int best = first;
    long fewest = -1;
    for (int i = first; i < n; i++) {
        long among_left = 0, among_all = 0;
        for (int k = 0; k < nsamples; k++) {
            const bool kept = keeps[(size_t)k * (size_t)n + (size_t)item[i]];
            among_left += kept && left[k];
            among_all += kept;
        }
        const long count = among_left * (nsamples + 1) + among_all;
        if (fewest < 0 || count < fewest) {
            fewest = count;
            best = i;
        }
    }
    return best;
}

int search_order(const bool *keeps, int nsamples, int n, int swap[SEARCH_ORDERED])
{
    OWNED_MEMORY bool *left = malloc((size_t)nsamples + 1);
    OWNED_MEMORY int *item = malloc((size_t)n * sizeof *item);
    int survivors = nsamples, i = 0;
    for (int k = 0; k < nsamples && left; k++)
        left[k] = true;
    for (int k = 0; k < n && item; k++)
        item[k] = k;
    /* out of memory: any order is correct, only slower */
    for (; left && item && i < n && i < SEARCH_ORDERED && survivors; i++) {
        swap[i] = most_rejecting(keeps, left, nsamples, item, n, i);
        const int chosen = item[swap[i]];
        item[swap[i]] = item[i];
        survivors = 0;
        for (int k = 0; k < nsamples; k++) {
            left[k] = left[k] && keeps[(size_t)k * (size_t)n + (size_t)chosen];
            survivors += left[k];
        }
    }
    return i;
}

enum ek_status search_order_by_trials(const struct search *s, int n,
                                      void (*set_keeps)(const void *arg, const double *u,
                                                        bool *keeps),
                                      const void *arg, int swap[SEARCH_ORDERED], int *nswaps)
{
    enum { SAMPLES = 2048 };
    const struct trial_range all = {0, s->job->trials};
    struct accepted_record record;
    struct judge *judge;
    const double *u;
    uint64_t seed = 1;
    int samples = 0;
    OWNED_MEMORY NEW(bool, keeps, (size_t)SAMPLES *(size_t)n + 1, "%s: out of memory for samples",
                     s->job->path);
    *nswaps = 0;
    TRY(judge_open(s->job, &judge));
    for (int i = 0; i < SAMPLES; i++)
        if (judge_trial(judge, trial_random(all, &seed), &record, &u))
            set_keeps(arg, u, keeps + (size_t)samples++ * (size_t)n);
    *nswaps = samples ? search_order(keeps, samples, n, swap) : 0;
    judge_close(judge);
    return EK_OK;
}

void search_swap_stations(struct search *s, const int *swap, int nswaps)
{
    for (int i = 0; i < nswaps; i++) {
        const struct search_station chosen = s->station[swap[i]];
        s->station[swap[i]] = s->station[i];
        s->station[i] = chosen;
    }
}

/* ---- opening ----------------------------------------------------------------------------------*/

/* Whether some datum is in no scene with unknowns, so that a join has columns. */
static bool sees_points(const struct job *job)
{
    for (int i = 0; i < job->stations.n; i++)
        if (!scenes_adrift(&job->scenes, i))
            return true;
    return false;
}

static const struct search_method_ops *ops_of(const struct job *job, enum search_method method)
{
    const bool blind = job->nsources > 1 && job->scenes.n && !sees_points(job);
    if (method == SEARCH_BRUTE || !grid_fits(job) || blind)
        return search_method_at(METHOD_BRUTE);
    return search_method_at(job->nsources == 1 ? METHOD_SINGLE : METHOD_JOIN);
}

size_t search_bytes(const struct job *job, enum search_method method)
{
    return ops_of(job, method)->bytes(job);
}

static enum ek_status fill(struct search *s)
{
    const struct stations *stations = &s->job->stations;
    const int most = stations->n + CONTRASTS * s->job->scenes.n + 1;
    s->station = aligned_alloc(64, (size_t)most * sizeof *s->station);
    if (!s->station)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %d stations", s->job->path, stations->n);
    list_stations(s);
    if (s->job->accept.best)
        TRY(search_best_open(s->job, &s->best));
    return s->ops->open(s, &s->shared);
}

enum ek_status search_open(const struct job *job, enum search_method method, struct search **s)
{
    NEW(struct search, made, 1, "%s: out of memory for the search", job->path);
    made->job = job;
    made->slack = judge_slack(job);
    for (int i = 0; i < 3 * job->stations.n; i++) /* NaN: not observed */
        made->deviations = fmax(made->deviations, made->slack / job->stations.sigma[i]);
    made->ops = ops_of(job, method);
    if (method == SEARCH_EXACT && made->ops == search_method_at(METHOD_BRUTE))
        status_warn(
            "%s: rake, slip and volume change do not stand last, sources are mixed, or all data "
            "are known up to unknown offsets: no short cut, trials are computed one after another",
            job->path);
    enum ek_status st = fill(made);
    return HAND_OUT(st, made, s, search_close);
}

void search_close(struct search *s)
{
    if (!s)
        return;
    if (s->shared)
        s->ops->close(s->shared);
    search_best_close(s->best);
    free(s->station);
    free(s);
}

const struct job *search_job(const struct search *s)
{
    return s->job;
}

trial_number search_grain(const struct search *s)
{
    return s->grain;
}

double search_cost(const struct search *s, struct trial_range range)
{
    return s->ops->cost(s, range);
}

double search_prepared(const struct search *s)
{
    return s->prepared;
}

/* ---- workers ----------------------------------------------------------------------------------*/

enum ek_status search_worker_open(const struct search *s, struct search_worker **w)
{
    NEW(struct search_worker, made, 1, "%s: out of memory for a worker", s->job->path);
    made->search = s;
    made->window = calloc((size_t)s->nstations + 1, sizeof *made->window);
    enum ek_status st =
        made->window ? EK_OK
                     : status_fail(EK_UNAVAILABLE, "%s: out of memory for a worker", s->job->path);
    THEN(st, judge_open(s->job, &made->judge));
    THEN(st, s->ops->worker_open(s, &made->own));
    return HAND_OUT(st, made, w, search_worker_close);
}

void search_worker_close(struct search_worker *w)
{
    if (!w)
        return;
    if (w->own)
        w->search->ops->worker_close(w->own);
    judge_close(w->judge);
    accepted_free(&w->found);
    free(w->window);
    free(w);
}

struct search_window search_window(const struct search *s, int station, double reach)
{
    const struct search_station *st = &s->station[station];
    struct search_window w = {{0}, {0}};
    for (int c = 0; c < st->ncomponents; c++) {
        const double width = reach * st->sigma[c] + st->rounding * s->slack;
        w.low[c] = st->observed[c] - width;
        w.high[c] = st->observed[c] + width;
    }
    return w;
}

/* Computes a part on the host. */
static enum ek_status run(void *arg)
{
    struct search_worker *w = arg;
    return w->search->ops->run(w, w->range);
}

/* Computes a part; w->full: it has more accepted trials than a worker may hold. */
static enum ek_status run_part(struct search_worker *w, struct trial_range part,
                               enum ek_status (*by)(void *arg), void *arg)
{
    w->bound = search_best_bound(w->search->best);
    for (int i = 0; i < w->search->nstations; i++)
        w->window[i] = search_window(w->search, i, search_reach(w));
    w->range = part;
    w->found.n = 0;
    w->full = false;
    const enum ek_status st = by(arg);
    return w->full ? EK_OK : st;
}

/* The first trials of a range, at most `count`, ending with a whole grain if possible. */
static struct trial_range part_of(const struct search *s, struct trial_range range,
                                  trial_number count)
{
    if (count >= range.count)
        return range;
    const trial_number end = range.first + count, whole = end - end % s->grain;
    return (struct trial_range){range.first, (whole > range.first ? whole : end) - range.first};
}

/* When the worker is full: the number of trials, from the part's first on, that have been searched
 * completely. */
static trial_number settled(const struct search_worker *w)
{
    const trial_number order = w->search->order, first = w->range.first;
    trial_number last = first;
    for (size_t i = 0; i < w->found.n && order; i++)
        if (w->found.record[i].trial > last)
            last = w->found.record[i].trial;
    return order && last - last % order > first ? last - last % order - first : 0;
}

/* Shortens the part, and its records, to what is settled. */
static void cut_part(struct search_worker *w, struct trial_range *part)
{
    part->count = settled(w);
    accepted_sort(&w->found);
    while (w->found.n && w->found.record[w->found.n - 1].trial - part->first >= part->count)
        w->found.n--;
}

enum ek_status search_run_by(struct search_worker *w, struct trial_range range,
                             const struct search_sink *sink, enum ek_status (*by)(void *arg),
                             void *arg)
{
    const struct search *s = w->search;
    const struct trial_range all = {0, s->job->trials};
    struct trial_range left = trial_overlap(range, all);
    trial_number most = left.count;
    while (left.count) {
        struct trial_range part = part_of(s, left, most);
        TRY(run_part(w, part, by, arg));
        if (w->full) {
            most = part.count / 2;
            cut_part(w, &part);
            if (!part.count)
                continue;
            most = part.count;
        } else if (w->found.n < SEARCH_HELD / 4) {
            most *= most < left.count ? 2 : 1;
        }
        accepted_sort(&w->found);
        TRY(search_best_note(s->best, w->found.record, w->found.n));
        TRY(sink->put(sink->arg, part, &w->found));
        left.first += part.count;
        left.count -= part.count;
    }
    return EK_OK;
}

enum ek_status search_run(struct search_worker *w, struct trial_range range,
                          const struct search_sink *sink)
{
    return search_run_by(w, range, sink, run, w);
}

double search_reach(const struct search_worker *w)
{
    return judge_reach(w->search->job, w->bound) * (1 + JUDGE_SLACK);
}

double search_chi2(const struct search_worker *w)
{
    const struct job *job = w->search->job;
    const double root =
        sqrt(judge_chi2(job, w->bound)) + w->search->deviations * sqrt(job->stations.ncomponents);
    return root * root;
}

double search_evaluations(const struct search_worker *w)
{
    return w->evaluations;
}

/* ---- judging ----------------------------------------------------------------------------------*/

/* EK_STOPPED ends the part; w->full tells run_part() why. */
static enum ek_status keep(struct search_worker *w, const struct accepted_record *record)
{
    w->full = w->found.n == SEARCH_HELD;
    return w->full ? EK_STOPPED : accepted_add(&w->found, record);
}

enum ek_status search_judge_trial(struct search_worker *w, trial_number trial)
{
    struct accepted_record record;
    if (trial - w->range.first >= w->range.count || !judge_trial(w->judge, trial, &record, NULL) ||
        !judge_accepts(w->search->job, &record, w->bound))
        return EK_OK;
    return keep(w, &record);
}

enum ek_status search_judge_sources(struct search_worker *w, trial_number trial,
                                    const struct judge_source *source)
{
    const struct job *job = w->search->job;
    struct accepted_record record = {.trial = trial};
    double x[JOB_AXES];
    if (trial - w->range.first >= w->range.count)
        return EK_OK;
    judge_sources(w->judge, source, &record);
    if (!judge_accepts(job, &record, w->bound))
        return EK_OK;
    if (w->search->decided)
        return keep(w, &record);
    job_parameters(job, trial, x);
    return job_allows(job, x) ? keep(w, &record) : EK_OK;
}
