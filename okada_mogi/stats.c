/* okada_mogi/stats.c – sums over the accepted trials, in their order, so that the bits do not
 * depend on who found them. Four passes: ranges; sums; sizes of clusters; descriptions of clusters.
 */
#include "okada_mogi/stats.h"

const double stats_percent[STATS_PERCENTS] = {5, 25, 50, 75, 95};

/* A record with its parameters and columns. */
struct row {
    const struct accepted_record *record;
    long place[JOB_AXES];        /* on the job's axes */
    double x[JOB_AXES];          /* all parameters, as job_parameters() */
    long varying[STATS_COLUMNS]; /* places in the columns */
    double value[STATS_COLUMNS];
    double weight[STATS_WEIGHTS];
};

struct reading {
    struct stats *stats;
    struct clusters *clusters;
    void (*take)(struct reading *r, const struct row *row);
    long low[JOB_AXES], high[JOB_AXES]; /* places, of all axes */
    double mw_low, mw_high;
    bool without_mw;              /* some trial has no magnitude */
    double centre[STATS_COLUMNS]; /* reference point of sums, against cancellation */
    size_t at;                    /* trials so far */
};

static void take_apart(const struct stats *s, const struct accepted_record *record, struct row *row)
{
    const struct job *job = s->job;
    row->record = record;
    trial_place(job->axis, job->naxes, record->trial, row->place);
    for (int a = 0; a < job->naxes; a++)
        row->x[job_at(job, a)] = trial_value(&job->axis[a], row->place[a]);
    for (int c = 0; c < s->ncolumns; c++) {
        const struct stats_column *column = &s->column[c];
        if (column->axis >= 0) {
            row->varying[c] = row->place[column->axis];
            row->value[c] = row->x[job_at(job, column->axis)];
        } else {
            const double scale = (column->max - column->min) / STATS_BINS;
            row->value[c] = job_magnitude(job, row->x);
            row->varying[c] = (long)fmin((row->value[c] - column->min) / scale, STATS_BINS - 1);
        }
    }
    row->weight[STATS_ALIKE] = 1;
    row->weight[STATS_LIKELIHOOD] = exp((s->least_chi2 - record->chi2) / 2);
}

static enum ek_status read_some(void *arg, const struct accepted_record *record, size_t n)
{
    struct reading *r = arg;
    struct row row;
    for (size_t i = 0; i < n; i++) {
        take_apart(r->stats, &record[i], &row);
        r->take(r, &row);
    }
    return EK_OK;
}

static enum ek_status read_all(struct reading *r, struct spool *spool,
                               void (*take)(struct reading *r, const struct row *row))
{
    r->take = take;
    return spool_each(spool, read_some, r);
}

/* ---- ranges -----------------------------------------------------------------------------------*/

static void survey(struct reading *r, const struct row *row)
{
    struct stats *s = r->stats;
    if (!s->trials++ || accepted_better(row->record, &s->best))
        s->best = *row->record;
    s->least_chi2 = fmin(s->least_chi2, row->record->chi2);
    for (int a = 0; a < s->job->naxes; a++) {
        r->low[a] = row->place[a] < r->low[a] ? row->place[a] : r->low[a];
        r->high[a] = row->place[a] > r->high[a] ? row->place[a] : r->high[a];
    }
    const double mw = job_magnitude(s->job, row->x);
    r->mw_low = fmin(r->mw_low, mw);
    r->mw_high = fmax(r->mw_high, mw);
    r->without_mw |= isnan(mw);
}

static enum ek_status add_column(struct stats *s, const char *name, int axis, long low, long high)
{
    const long width = high - low + 1;
    struct stats_column *c = &s->column[s->ncolumns++];
    *c = (struct stats_column){.name = name, .axis = axis, .low = low, .high = high};
    c->stride = (width - 1) / STATS_BINS + 1;
    c->nbins = (int)((width - 1) / c->stride + 1);
    c->pair_stride = (width - 1) / (axis < 0 ? STATS_PAIR_BINS / 2 : STATS_PAIR_BINS) + 1;
    c->npair = (int)((width - 1) / c->pair_stride + 1);
    for (int w = 0; w < STATS_WEIGHTS; w++)
        c->sum[w] = ARENA_NEW(&s->arena, c->nbins, double);
    c->least = ARENA_NEW(&s->arena, c->nbins, double);
    TRY(arena_check(&s->arena, "the statistics"));
    for (int b = 0; b < c->nbins; b++)
        c->least[b] = INFINITY;
    return EK_OK;
}

/* Parameters of more than one value have a column, even if only one of them is accepted. */
static enum ek_status add_columns(struct reading *r)
{
    struct stats *s = r->stats;
    for (int a = 0; a < s->job->naxes; a++) {
        const struct trial_axis *axis = &s->job->axis[a];
        if (axis->n == 1)
            continue;
        TRY(add_column(s, s->job->name[a], a, r->low[a], r->high[a]));
        s->column[s->ncolumns - 1].min = trial_value(axis, r->low[a]);
        s->column[s->ncolumns - 1].max = trial_value(axis, r->high[a]);
    }
    if (!r->without_mw && r->mw_high > r->mw_low) {
        TRY(add_column(s, "Mw", -1, 0, STATS_BINS - 1));
        s->column[s->ncolumns - 1].min = r->mw_low;
        s->column[s->ncolumns - 1].max = r->mw_high;
    }
    s->npaired = s->ncolumns < STATS_PAIRED ? s->ncolumns : STATS_PAIRED;
    return EK_OK;
}

static enum ek_status make_room(struct reading *r)
{
    struct stats *s = r->stats;
    const size_t n = (size_t)s->ncolumns, paired = (size_t)s->npaired;
    for (int w = 0; w < STATS_WEIGHTS; w++)
        s->covariance[w] = ARENA_NEW(&s->arena, n * n, double);
    s->pair = ARENA_NEW(&s->arena, paired * paired * STATS_PAIR_BINS * STATS_PAIR_BINS / 2,
                        struct stats_pair);
    s->level = ARENA_NEW(&s->arena, s->job->accept.nk, struct stats_level);
    TRY(arena_check(&s->arena, "the statistics"));
    for (int c = 0; c < s->ncolumns; c++)
        r->centre[c] = (s->column[c].min + s->column[c].max) / 2;
    return clusters_open(s->job->naxes, r->low, r->high, CLUSTERS_CELLS, &r->clusters);
}

/* ---- sums -------------------------------------------------------------------------------------*/

struct stats_pair *stats_pair(const struct stats *s, int a, int b)
{
    const int number = a * (2 * s->npaired - a - 1) / 2 + b - a - 1;
    return s->pair + (size_t)number * STATS_PAIR_BINS * STATS_PAIR_BINS;
}

static void count_marginals(struct stats *s, const struct row *row)
{
    for (int c = 0; c < s->ncolumns; c++) {
        struct stats_column *column = &s->column[c];
        const long bin = (row->varying[c] - column->low) / column->stride;
        for (int w = 0; w < STATS_WEIGHTS; w++)
            column->sum[w][bin] += row->weight[w];
        column->least[bin] = fmin(column->least[bin], row->record->misfit);
        if (column->axis >= 0) {
            column->at_first += row->varying[c] == 0;
            column->at_last += row->varying[c] == s->job->axis[column->axis].n - 1;
        }
    }
}

static void count_pairs(struct stats *s, const struct row *row)
{
    long bin[STATS_PAIRED];
    for (int c = 0; c < s->npaired; c++)
        bin[c] = (row->varying[c] - s->column[c].low) / s->column[c].pair_stride;
    for (int a = 0; a < s->npaired; a++)
        for (int b = a + 1; b < s->npaired; b++) {
            struct stats_pair *cell = &stats_pair(s, a, b)[bin[a] * STATS_PAIR_BINS + bin[b]];
            cell->trials++;
            cell->weight += row->weight[STATS_LIKELIHOOD];
        }
}

/* Until finish_levels(), mean is the sum of d, the difference from the centre, and sd that of d^2.
 */
static void add_to_levels(struct stats *s, const struct accepted_record *record, const double *d)
{
    const struct job_accept *a = &s->job->accept;
    for (int k = 0; k < a->nk; k++) {
        struct stats_level *l = &s->level[k];
        if (!job_within(a, k, record->most))
            continue;
        l->trials++;
        for (int c = 0; c < s->ncolumns; c++) {
            l->mean[c] += d[c];
            l->sd[c] += d[c] * d[c];
        }
    }
}

static void add_up(struct reading *r, const struct row *row)
{
    struct stats *s = r->stats;
    const int n = s->ncolumns;
    double d[STATS_COLUMNS];
    for (int c = 0; c < n; c++)
        d[c] = row->value[c] - r->centre[c];
    for (int w = 0; w < STATS_WEIGHTS; w++) {
        const double weight = row->weight[w];
        for (int a = 0; a < n; a++) {
            s->column[a].mean[w] += weight * d[a];
            for (int b = 0; b <= a; b++)
                s->covariance[w][a * n + b] += weight * d[a] * d[b];
        }
    }
    s->weight += row->weight[STATS_LIKELIHOOD];
    s->squares += row->weight[STATS_LIKELIHOOD] * row->weight[STATS_LIKELIHOOD];
    add_to_levels(s, row->record, d);
    count_marginals(s, row);
    count_pairs(s, row);
    if (r->at++ % (1 + (s->trials - 1) / STATS_SAMPLE) == 0)
        s->sample[s->nsample++] = row->record->trial;
    clusters_add(r->clusters, row->place);
}

static double total(const struct stats *s, int w)
{
    return w == STATS_ALIKE ? (double)s->trials : s->weight;
}

double stats_value(const struct stats *s, int column, double place)
{
    const struct stats_column *c = &s->column[column];
    if (c->axis < 0)
        return c->min + place / STATS_BINS * (c->max - c->min);
    const struct trial_axis *axis = &s->job->axis[c->axis];
    return place == floor(place)
               ? trial_value(axis, (long)place)
               : axis->min + place * (axis->max - axis->min) / (double)(axis->n - 1);
}

/* The share is compared with a tolerance, as sums of weights are rounded. */
static void find_percentiles(struct stats *s, int column, int w)
{
    struct stats_column *c = &s->column[column];
    double sum = 0;
    for (int b = 0, p = 0; b < c->nbins && p < STATS_PERCENTS; b++) {
        sum += c->sum[w][b];
        for (; p < STATS_PERCENTS && sum >= stats_percent[p] / 100 * total(s, w) * (1 - 1e-12); p++)
            c->percentile[w][p] = stats_value(s, column, (double)(c->low + b * c->stride));
    }
}

static void finish_levels(struct reading *r)
{
    struct stats *s = r->stats;
    for (int k = 0; k < s->job->accept.nk; k++) {
        struct stats_level *l = &s->level[k];
        for (int c = 0; c < s->ncolumns && l->trials; c++) {
            const double mean = l->mean[c] / (double)l->trials;
            l->sd[c] = sqrt(fmax(l->sd[c] / (double)l->trials - mean * mean, 0));
            l->mean[c] = r->centre[c] + mean;
        }
    }
}

static void finish_sums(struct reading *r)
{
    struct stats *s = r->stats;
    const int n = s->ncolumns;
    for (int w = 0; w < STATS_WEIGHTS; w++) {
        double *cov = s->covariance[w];
        for (int a = 0; a < n; a++)
            s->column[a].mean[w] /= total(s, w);
        for (int a = 0; a < n; a++)
            for (int b = 0; b <= a; b++)
                cov[b * n + a] = cov[a * n + b] =
                    cov[a * n + b] / total(s, w) - s->column[a].mean[w] * s->column[b].mean[w];
        for (int a = 0; a < n; a++) {
            s->column[a].mean[w] += r->centre[a];
            s->column[a].sd[w] = sqrt(fmax(cov[a * n + a], 0));
            find_percentiles(s, a, w);
        }
    }
}

/* ---- clusters ---------------------------------------------------------------------------------*/

static void count_cluster(struct reading *r, const struct row *row)
{
    clusters_count(r->clusters, row->place);
}

static void describe_cluster(struct reading *r, const struct row *row)
{
    struct stats *s = r->stats;
    const size_t number = clusters_of(r->clusters, row->place);
    if (number >= STATS_CLUSTERS)
        return;
    struct stats_cluster *i = &s->cluster[number];
    const bool first = !i->trials++;
    if (first || accepted_better(row->record, &i->best))
        i->best = *row->record;
    for (int c = 0; c < s->ncolumns; c++) {
        i->mean[c] += row->value[c] - r->centre[c];
        i->min[c] = first ? row->value[c] : fmin(i->min[c], row->value[c]);
        i->max[c] = first ? row->value[c] : fmax(i->max[c], row->value[c]);
    }
}

static enum ek_status find_clusters(struct reading *r, struct spool *spool)
{
    struct stats *s = r->stats;
    TRY(clusters_join(r->clusters));
    TRY(read_all(r, spool, count_cluster));
    s->nclusters = clusters_rank(r->clusters);
    s->coarseness = clusters_coarseness(r->clusters);
    TRY(read_all(r, spool, describe_cluster));
    for (size_t k = 0; k < s->nclusters && k < STATS_CLUSTERS; k++)
        for (int c = 0; c < s->ncolumns; c++)
            s->cluster[k].mean[c] =
                r->centre[c] + s->cluster[k].mean[c] / (double)s->cluster[k].trials;
    return EK_OK;
}

/* ---- all --------------------------------------------------------------------------------------*/

static enum ek_status read_through(struct reading *r, struct spool *spool)
{
    TRY(read_all(r, spool, survey));
    TRY(add_columns(r));
    TRY(make_room(r));
    TRY(read_all(r, spool, add_up));
    finish_sums(r);
    finish_levels(r);
    return find_clusters(r, spool);
}

enum ek_status stats_open(const struct job *job, struct spool *spool, struct stats **s)
{
    OWNED_MEMORY NEW(struct reading, r, 1, "%s: out of memory for the statistics", job->path);
    NEW(struct stats, made, 1, "%s: out of memory for the statistics", job->path);
    made->job = job;
    made->least_chi2 = INFINITY;
    *r = (struct reading){.stats = made, .mw_low = INFINITY, .mw_high = -INFINITY};
    for (int a = 0; a < job->naxes; a++)
        r->low[a] = job->axis[a].n;
    const enum ek_status st = read_through(r, spool);
    clusters_close(r->clusters);
    return HAND_OUT(st, made, s, stats_close);
}

ARENA_CLOSE(stats_close, struct stats)
