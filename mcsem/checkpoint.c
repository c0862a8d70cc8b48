/* mcsem/checkpoint.c – checkpoints of an inversion: a JSON file, whose 17 digits restore numbers to
 * the last bit. */
#include "cu/sched/checksummed.h"
#include "mcsem/inversion.h"
#include "src/checksum.h"
#include "src/json.h"

enum { VERSION = 7 };
static const char format[] = "checkpoint of mcsem";

/* A checksum of everything that determines a run's numbers, except the number of iterations. Member
 * by member, as the padding of structs is undefined. */
static uint64_t fingerprint(const struct inversion *s)
{
    const struct survey *v = s->survey;
    const struct earth *e = s->start;
    const size_t unknowns = earth_size(e);
    const struct invert_options *o = &s->invert_options;
    const double option[] = {o->least_iterations, o->stall_times, o->target,  o->stall, o->robust,
                             o->damping,          o->cooling,     o->coolest, o->step};
    struct checksum c;
    checksum_begin(&c, "mcsem checkpoint");
    checksum_add(&c, v->freq, (size_t)v->nfreq * sizeof *v->freq);
    for (size_t i = 0; i < v->npairs; i++) {
        checksum_add(&c, v->pair[i].source, offsetof(struct survey_pair, magnetic));
        checksum_add(&c, &v->pair[i].magnetic, sizeof v->pair[i].magnetic);
        checksum_add(&c, &v->pair[i].loop, sizeof v->pair[i].loop);
    }
    for (size_t i = 0; i < v->npairs * (size_t)v->nfreq; i++) {
        const struct survey_datum *d = &v->datum[i];
        checksum_add(&c, (const double[]){d->re, d->im, d->sigma, d->part}, 4 * sizeof(double));
    }
    checksum_add(&c, v->first, ((size_t)v->ncells + 1) * sizeof *v->first);
    checksum_add(&c, e->top, (size_t)e->nz * sizeof *e->top);
    checksum_add(&c, e->anisotropy, (size_t)e->nz * sizeof *e->anisotropy);
    checksum_add(&c, e->seabed, (size_t)earth_columns(e) * sizeof *e->seabed);
    checksum_add(&c, e->water, (size_t)e->nwater * sizeof *e->water);
    checksum_add(&c, e->water_top, (size_t)e->nwater * sizeof *e->water_top);
    checksum_add(&c, e->m, unknowns * sizeof *e->m);
    checksum_add(&c, &s->cell_options.misfit.residual, sizeof s->cell_options.misfit.residual);
    checksum_add(&c, &s->cell_options.mode, sizeof s->cell_options.mode);
    checksum_add(&c, option, sizeof option);
    checksum_add(&c, &e->air, sizeof e->air);
    checksum_add(&c, &s->cell_options.tolerance, sizeof s->cell_options.tolerance);
    checksum_add(&c, &o->smooth, sizeof o->smooth);
    for (size_t i = 0; i < s->prior->nrows; i++) {
        const struct prior_row *r = &s->prior->row[i];
        checksum_add(&c, r, offsetof(struct prior_row, at) + sizeof r->at);
        checksum_add(&c, r->factor, sizeof r->factor);
        checksum_add(&c, &r->median_factor, sizeof r->median_factor);
    }
    checksum_add(&c, s->prior->reference, unknowns * sizeof *s->prior->reference);
    checksum_add(&c, s->prior->low, unknowns * sizeof *s->prior->low);
    checksum_add(&c, s->prior->high, unknowns * sizeof *s->prior->high);
    checksum_add(&c, s->prior->fixed, unknowns * sizeof *s->prior->fixed);
    checksum_add(&c, &s->prior->transform, sizeof s->prior->transform);
    return checksum_end(&c);
}

static double exact_value(const json_t *x)
{
    return json_is_real(x) ? json_real_value(x) : NAN;
}

/* A record is a list of its numbers. */
static json_t *pack_record(struct invert_record r)
{
    json_t *list = json_pack("[i, b]", r.iteration, r.accepted);
    for (size_t i = 0; i < INVERT_NUMBERS; i++)
        json_array_append_new(list, json_number_or_null(invert_numbers_of(&r)[i]));
    return list;
}

static struct invert_record unpack_record(const json_t *list)
{
    struct invert_record r = {.iteration = (int)json_integer_value(json_array_get(list, 0)),
                              .accepted = json_is_true(json_array_get(list, 1))};
    for (size_t i = 0; i < INVERT_NUMBERS; i++)
        invert_numbers_of(&r)[i] = json_number_value(json_array_get(list, 2 + i));
    return r;
}

enum ek_status checkpoint_save(void *st, int step)
{
    const struct inversion *s = st;
    const struct invert *inv = s->inv;
    const size_t unknowns = earth_size(inv->earth);
    char print[20];
    (void)step;
    if (cluster_rank() > 0)
        return EK_OK;
    snprintf(print, sizeof print, "%016llx", (unsigned long long)fingerprint(s));
    json_t *records = json_array();
    for (int i = 0; i < inv->nrecords; i++)
        json_array_append_new(records, pack_record(inv->record[i]));
    json_auto_t *state = json_pack(
        "{s:s s:i s:s s:i s:i s:o s:o s:o s:o s:o s:o s:o}", "format", format, "version", VERSION,
        "of", print, "iteration", inv->iteration, "stalls", inv->stalls, "damping",
        json_number_or_null(inv->damping), "level", json_number_or_null(inv->level), "ask",
        json_number_or_null(inv->target_share), "spread", json_number_or_null(inv->sums_spread),
        "records", records, "m", json_numbers(inv->earth->m, unknowns), "trial",
        json_numbers(inv->trial, unknowns));
    if (!state)
        FAIL(EK_UNAVAILABLE, "checkpoint %s: out of memory", s->checkpoint);
    return checksummed_write(s->checkpoint, state);
}

static enum ek_status take(struct inversion *s, const json_t *state)
{
    struct invert *inv = s->inv;
    const size_t unknowns = earth_size(inv->earth);
    const json_t *records = json_object_get(state, "records");
    int records_n = (int)json_array_size(records);
    double sum = 0;
    OWNED_MEMORY NEW(double, model, 2 * unknowns, "checkpoint %s: out of memory", s->checkpoint);
    for (size_t i = 0; i < 2 * unknowns; i++) {
        const json_t *list = json_object_get(state, i < unknowns ? "m" : "trial");
        model[i] = exact_value(json_array_get(list, i % unknowns));
        sum += model[i];
    }
    records_n = records_n < inv->room / 2 ? records_n : inv->room / 2;
    for (int i = 0; i < records_n; i++)
        inv->record[i] = unpack_record(json_array_get(records, (size_t)i));
    inv->nrecords = records_n;
    inv->iteration = (int)json_integer_value(json_object_get(state, "iteration"));
    inv->stalls = (int)json_integer_value(json_object_get(state, "stalls"));
    inv->damping = exact_value(json_object_get(state, "damping"));
    inv->level = exact_value(json_object_get(state, "level"));
    inv->target_share = exact_value(json_object_get(state, "ask"));
    inv->trial_spread = exact_value(json_object_get(state, "spread"));
    invert_resume(inv, model, model + unknowns);
    if (!isfinite(sum + inv->damping + inv->level + inv->target_share + inv->trial_spread) ||
        inv->iteration < 0)
        FAIL(EK_USAGE, "checkpoint %s: a number is missing; delete it to start afresh",
             s->checkpoint);
    return EK_OK;
}

enum ek_status checkpoint_load(struct inversion *s)
{
    json_auto_t *state = NULL;
    char print[20];
    TRY(checksummed_read(s->checkpoint, format, VERSION, &state));
    snprintf(print, sizeof print, "%016llx", (unsigned long long)fingerprint(s));
    const char *of = json_string_value(json_object_get(state, "of"));
    if (!of || strcmp(of, print))
        FAIL(EK_USAGE,
             "checkpoint %s: it is of another survey or of other options; delete it or name "
             "another file",
             s->checkpoint);
    return take(s, state);
}
