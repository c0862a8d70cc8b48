/* okada_mogi/posterior.c – evidence, credible regions, Bayes factors. */
#include "okada_mogi/posterior.h"
#include "src/checksum.h"
#include "src/demand.h"

#include <inttypes.h>

enum { BINS = 1 << 16, PER_UNIT = 256 }; /* bins of chi2 above the least; per unit of chi2 */

static const double shares[POSTERIOR_REGIONS] = {0.6827, 0.9, 0.95};

/* ---- the data ---------------------------------------------------------------------------------*/

/* ln of the density of the data if predictions equal the observations. */
static double log_peak(const struct job *job)
{
    const struct stations *s = &job->stations;
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        sum -= log1p(-s->correlation[i] * s->correlation[i]) / 2;
    for (int i = 0; i < 3 * s->n; i++)
        if (!isnan(s->observed[i]))
            sum -= log(s->sigma[i]) + 0x1.d67f1c864beb4p-1; /* ln(2 pi) / 2 */
    for (int k = 0; k < job->scenes.n; k++) {
        const struct scene *c = &job->scenes.scene[k];
        for (int i = 0; i < c->n; i++)
            sum += log(s->sigma[c->datum[i]]);
        sum -= scene_log_root(c, s);
    }
    return sum;
}

enum { DATA = 17 };

static char *data_of(const struct job *job, char text[DATA])
{
    struct checksum sum;
    checksum_begin(&sum, "okada_mogi data 1");
    stations_sum(&job->stations, &sum);
    scenes_sum(&job->scenes, &sum);
    snprintf(text, DATA, "%016" PRIx64, checksum_end(&sum));
    return text;
}

/* ---- sums -------------------------------------------------------------------------------------*/

struct reading {
    const struct stats *stats;
    struct posterior *p;
    double weight[BINS];
    int bin[POSTERIOR_REGIONS]; /* last bin of each region */
    double worst;               /* largest misfit accepted */
};

static int bin_of(const struct stats *s, const struct accepted_record *record)
{
    return (int)fmin((record->chi2 - s->least_chi2) * PER_UNIT, BINS - 1);
}

static enum ek_status add_weights(void *arg, const struct accepted_record *record, size_t n)
{
    struct reading *r = arg;
    for (size_t i = 0; i < n; i++) {
        r->weight[bin_of(r->stats, &record[i])] += exp((r->stats->least_chi2 - record[i].chi2) / 2);
        r->worst = fmax(r->worst, record[i].misfit);
    }
    return EK_OK;
}

static enum ek_status add_trials(void *arg, const struct accepted_record *record, size_t n)
{
    struct reading *r = arg;
    const struct stats *s = r->stats;
    long place[JOB_AXES];
    for (size_t i = 0; i < n; i++) {
        const int bin = bin_of(s, &record[i]);
        trial_place(s->job->axis, s->job->naxes, record[i].trial, place);
        for (int k = 0; k < POSTERIOR_REGIONS; k++) {
            struct posterior_region *region = &r->p->region[k];
            if (bin > r->bin[k])
                continue;
            for (int c = 0; c < s->ncolumns; c++) {
                const long at = s->column[c].axis < 0 ? 0 : place[s->column[c].axis];
                region->low[c] = region->trials && region->low[c] < at ? region->low[c] : at;
                region->high[c] = region->trials && region->high[c] > at ? region->high[c] : at;
            }
            region->trials++;
        }
    }
    return EK_OK;
}

static void find_bins(struct reading *r)
{
    double sum = 0;
    for (int b = 0, k = 0; b < BINS && k < POSTERIOR_REGIONS; b++) {
        sum += r->weight[b];
        for (; k < POSTERIOR_REGIONS && sum >= shares[k] * r->stats->weight * (1 - 1e-12); k++) {
            r->bin[k] = b;
            r->p->region[k] =
                (struct posterior_region){.share = sum / r->stats->weight,
                                          .chi2 = r->stats->least_chi2 + (b + 1.0) / PER_UNIT};
        }
    }
}

/* Lower bound on chi2 of trials that the constraints allow but that are not accepted: the largest
 * residual is at most the root of chi2. `worst`: the largest misfit accepted. */
static double least_outside(const struct job *job, double accepted, double worst)
{
    const struct job_accept *a = &job->accept;
    const double misfit =
        fmin(a->below, a->best > 0 && accepted >= (double)a->best ? worst : INFINITY);
    const double by_misfit =
        misfit * misfit * (a->misfit == JOB_MISFIT_RMS ? job->stations.ncomponents : 1);
    const double by_k = a->nk ? a->k[a->nk - 1] * a->k[a->nk - 1] : INFINITY;
    return a->all ? INFINITY : fmin(by_misfit, by_k) * (1 - 1e-9);
}

enum ek_status posterior_find(const struct stats *s, struct spool *spool, struct trial_range range,
                              struct posterior *p)
{
    const double trials = (double)range.count, accepted = (double)s->trials;
    OWNED_MEMORY NEW(struct reading, r, 1, "%s: out of memory for the posterior", s->job->path);
    *r = (struct reading){.stats = s, .p = p};
    TRY(spool_each(spool, add_weights, r));
    find_bins(r);
    TRY(spool_each(spool, add_trials, r));
    const double outside =
        trials > accepted ? log(trials - accepted) - least_outside(s->job, accepted, r->worst) / 2
                          : -INFINITY;
    const double inside = log(s->weight) - s->least_chi2 / 2, ratio = exp(outside - inside);
    p->log_evidence = inside - log(trials) + log_peak(s->job);
    p->most = p->log_evidence + (isfinite(ratio) ? log1p(ratio) : outside - inside);
    p->share = 1 / (1 + ratio);
    p->below =
        sqrt((s->least_chi2 - 2 * log(0.01 * s->weight / trials)) / s->job->stations.ncomponents);
    return EK_OK;
}

/* ---- output -----------------------------------------------------------------------------------*/

static json_t *ends(const struct stats *s, const long *place)
{
    json_t *o = json_object();
    for (int c = 0; c < s->ncolumns; c++)
        if (s->column[c].axis >= 0)
            json_object_set_new(o, s->column[c].name,
                                json_real(stats_value(s, c, (double)place[c])));
    return o;
}

json_t *posterior_json(const struct stats *s, const struct posterior *p)
{
    char data[DATA];
    json_t *regions = json_array();
    for (int k = 0; k < POSTERIOR_REGIONS; k++) {
        const struct posterior_region *r = &p->region[k];
        json_array_append_new(regions,
                              json_pack("{s:f s:f s:I s:o s:o}", "share", r->share, "chi2_at_most",
                                        r->chi2, "trials", (json_int_t)r->trials, "min",
                                        ends(s, r->low), "max", ends(s, r->high)));
    }
    return json_pack("{s:f s:f s:f s:f s:s s:o}", "log_evidence", p->log_evidence,
                     "log_evidence_at_most", p->most, "share_at_least", p->share,
                     "rms_misfit_for_99", p->below, "data", data_of(s->job, data), "regions",
                     regions);
}

void posterior_print(FILE *out, const json_t *posterior)
{
    const json_t *regions = json_object_get(posterior, "regions"),
                 *first = json_array_get(regions, 0);
    const char *name;
    json_t *value, *region;
    size_t i;
    const double share = json_number_of(posterior, "share_at_least");
    fprintf(out, "ln evidence %.8g, at most %.8g: at least %.6g %% of the posterior are accepted",
            json_number_of(posterior, "log_evidence"),
            json_number_of(posterior, "log_evidence_at_most"), 100 * share);
    if (share < 0.99)
        fprintf(out, "; 99 %% where \"misfit\" is \"rms\" and \"misfit_below\" %.4g",
                json_number_of(posterior, "rms_misfit_for_99"));
    fputc('\n', out);
    fprintf(out, "%-14s", "most likely");
    json_array_foreach(regions, i, region)
        fprintf(out, " %24.4g %%", 100 * json_number_of(region, "share"));
    fputc('\n', out);
    json_object_foreach(json_object_get(first, "min"), name, value)
    {
        fprintf(out, "%-14s", name);
        json_array_foreach(regions, i, region)
            fprintf(out, " %12.7g .. %-10.7g", json_number_of(json_object_get(region, "min"), name),
                    json_number_of(json_object_get(region, "max"), name));
        fputc('\n', out);
    }
}

/* ---- Bayes factors ----------------------------------------------------------------------------*/

static enum ek_status read_one(const struct job *job, const char *path, json_t *others)
{
    char data[DATA];
    json_auto_t *root = NULL;
    TRY(demand_open(path, &root));
    const json_t *run = json_array_get(json_object_get(root, "runs"), 0);
    json_t *p = json_object_get(run ? run : root, "posterior");
    const char *theirs = json_string_value(json_object_get(p, "data"));
    if (!theirs || !json_is_number(json_object_get(p, "log_evidence")) ||
        !json_is_number(json_object_get(p, "log_evidence_at_most")))
        FAIL(EK_USAGE, "--against %s: it has no evidence; write it with --json", path);
    if (strcmp(theirs, data_of(job, data)))
        FAIL(EK_USAGE, "--against %s: its data differ from those of %s", path, job->path);
    json_array_append_new(others, json_pack("{s:s s:O}", "against", path, "posterior", p));
    return EK_OK;
}

enum ek_status posterior_read(const struct job *job, const char *list, json_t **others)
{
    json_t *made = json_array();
    OWNED_MEMORY char *words = strdup(list);
    char *rest = words;
    enum ek_status st = words ? EK_OK : status_fail(EK_UNAVAILABLE, "--against: out of memory");
    for (char *word; !st && (word = strsep(&rest, ","));)
        st = read_one(job, word, made);
    return HAND_OUT(st, made, others, json_decref);
}

json_t *posterior_factors(const json_t *posterior, const json_t *others)
{
    const double own = json_number_of(posterior, "log_evidence"),
                 most = json_number_of(posterior, "log_evidence_at_most");
    json_t *list = json_array(), *other;
    size_t i;
    json_array_foreach(others, i, other)
    {
        const json_t *p = json_object_get(other, "posterior");
        const double theirs = json_number_of(p, "log_evidence");
        json_array_append_new(list, json_pack("{s:O s:f s:f s:f}", "against",
                                              json_object_get(other, "against"), "log_bayes_factor",
                                              own - theirs, "at_least",
                                              own - json_number_of(p, "log_evidence_at_most"),
                                              "at_most", most - theirs));
    }
    return list;
}
