/* kirchhoff/tt_facts.c – a run's results: numbers for JSON, and pictures for the report. */
#include "kirchhoff/certify.h"
#include "kirchhoff/tt.h"

enum { SHOTS = 64, POINTS = 200, PIXELS = 80 }; /* limits of a picture's size */

/* ---- numbers ----------------------------------------------------------------------------------*/

static json_t *describe_spans(const struct tt *t, const struct tt_record *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->nspans; i++) {
        const struct tt_span *s = &r->span[i];
        const char *name = t->set->cu[t->set->layout.ncpu + s->device].name;
        json_array_append_new(
            list, json_pack("{s:s s:f s:f}", "device", name, "begin_s", s->begin, "end_s", s->end));
    }
    return list;
}

static json_t *describe_shot(const struct tt *t, size_t source)
{
    const struct tt_record *r = &t->record[source];
    const struct shot_numbers *n = &r->numbers;
    if (r->kept)
        return json_pack("{s:I s:b s:I}", "source", (json_int_t)source, "kept", 1, "unfilled",
                         (json_int_t)t->folder->source[source].unfilled);
    return json_pack(
        "{s:I s:s s:f s:f s:I s:I s:I s:I s:f s:i s:f s:I s:o s:o s:f s:f s:f s:o s:I s:I s:b}",
        "source", (json_int_t)source, "unit", t->set->cu[r->unit].name, "begin_s", r->begin,
        "end_s", r->end, "steps", (json_int_t)n->steps, "device_steps", (json_int_t)n->device_steps,
        "rays", (json_int_t)n->rays, "longest_front", (json_int_t)n->longest, "point_steps",
        n->point_steps, "raised", n->raised, "edge_m", n->edge, "unfilled",
        (json_int_t)t->folder->source[source].unfilled, "rms_s", json_number_or_null(r->rms),
        "error_most_s", json_number_or_null(r->most), "integrate_s", n->integrate_s, "fill_s",
        n->fill_s, "shape_s", n->shape_s, "devices", describe_spans(t, r), "eikonal",
        (json_int_t)r->eikonal, "torn", (json_int_t)n->torn, "given_up", n->given_up);
}

static json_t *describe_donation(const struct tt *t)
{
    const struct donate_counts c = donate_counts(t->donate);
    return json_pack("{s:s s:i s:f s:I s:I}", "mode", donate_modes[t->donation], "share", t->share,
                     "tolerance_percent", t->tolerance, "claims", (json_int_t)c.claims, "donations",
                     (json_int_t)c.donations);
}

/* ---- pictures ---------------------------------------------------------------------------------*/

static json_t *bar(const char *row, double begin, double end, const char *text)
{
    return json_pack("{s:s s:f s:f s:s}", "row", row, "begin", begin, "end", end, "text", text);
}

/* When each unit ran which shot, and when it had a device. */
static json_t *schedule_picture(const struct tt *t)
{
    json_t *shots = json_array(), *devices = json_array();
    char text[64];
    for (size_t i = 0; i < t->sources.n; i++) {
        const struct tt_record *r = &t->record[i];
        if (!r->finished || r->kept)
            continue;
        const char *unit = t->set->cu[r->unit].name;
        snprintf(text, sizeof text, "shot %zu", i);
        json_array_append_new(shots, bar(unit, r->begin, r->end, text));
        for (size_t s = 0; s < r->nspans; s++) {
            const int device = t->set->layout.ncpu + r->span[s].device;
            snprintf(text, sizeof text, "shot %zu on %s", i, t->set->cu[device].name);
            json_array_append_new(devices, bar(unit, r->span[s].begin, r->span[s].end, text));
        }
    }
    return json_pack("{s:s s:s s:s s:[{s:s s:o} {s:s s:o}]}", "kind", "bars", "title",
                     "Shots over time, and who had a device", "x", "seconds", "series", "name",
                     "without a device", "bars", shots, "name", "with a device", "bars", devices);
}

static json_t *length_series(const struct tt_record *r, size_t source)
{
    const size_t n = r->numbers.steps, stride = n / POINTS + 1;
    json_t *points = json_array();
    char name[32];
    for (size_t i = 0; i < n; i += stride)
        json_array_append_new(points, json_pack("[i,i]", (int)i, r->length[i]));
    snprintf(name, sizeof name, "shot %zu", source);
    return json_pack("{s:s s:o}", "name", name, "points", points);
}

static json_t *length_picture(const struct tt *t)
{
    json_t *series = json_array();
    const size_t stride = t->sources.n / SHOTS + 1;
    for (size_t i = 0; i < t->sources.n; i += stride)
        if (t->record[i].finished && t->record[i].length)
            json_array_append_new(series, length_series(&t->record[i], i));
    return json_pack("{s:s s:s s:s s:s s:o}", "kind", "lines", "title", "Length of the fronts", "x",
                     "step", "y", "rays", "series", series);
}

static json_t *slice_picture(const struct tt *t, const float *slice, const char *title,
                             const char *unit)
{
    const struct grid *g = &t->grid;
    const int wide = g->n[0] / PIXELS + 1, high = g->n[2] / PIXELS + 1;
    json_t *rows = json_array();
    for (int k = 0; k < g->n[2]; k += high) {
        json_t *row = json_array();
        for (int i = 0; i < g->n[0]; i += wide)
            json_array_append_new(
                row, json_number_or_null((double)slice[(size_t)i * (size_t)g->n[2] + (size_t)k]));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:s s:s s:s s:s s:s s:[f,f] s:[f,f] s:o}", "kind", "map", "title", title,
                     "x", "x, m", "y", "z, m", "unit", unit, "left_right", g->origin[0],
                     grid_end(g, 0), "top_bottom", g->origin[2], grid_end(g, 2), "rows", rows);
}

/* Has the same members as a migration's certificate. */
static json_t *describe_certificate(const struct tt *t)
{
    const struct certify_pairs p = certify_reciprocity(t->mutual, t->between);
    const struct tfolder_total all = tfolder_total(t->folder);
    json_t *residual =
        json_pack("{s:I s:f s:I s:f s:f}", "judged", (json_int_t)all.judged, "judged_share",
                  all.judged / all.nodes, "failing", (json_int_t)all.failing, "failing_share",
                  all.failing / fmax(all.judged, 1), "tolerance", CERTIFY_RESIDUAL);
    json_t *pairs = p.pairs
                        ? json_pack("{s:I s:I s:f s:f}", "pairs", (json_int_t)p.pairs, "failing",
                                    (json_int_t)p.failing, "rms_s", p.rms, "most_s", p.most)
                        : json_null();
    return json_pack("{s:o s:o s:n s:n}", "residual", residual, "reciprocity", pairs, "resummed",
                     "geometry");
}

json_t *tt_facts(const void *st)
{
    const struct tt *t = st;
    json_t *shots = json_array();
    double point_steps = 0, integrate = 0;
    size_t kept = 0;
    for (size_t i = 0; i < t->sources.n; i++) {
        const struct tt_record *r = &t->record[i];
        if (r->finished)
            json_array_append_new(shots, describe_shot(t, i));
        kept += r->kept;
        point_steps += r->numbers.point_steps;
        integrate += r->numbers.integrate_s;
    }
    return json_pack(
        "{s:s s:o s:I s:f s:f s:o s:o s:[o,o,o,o]}", "tables", t->folder->path, "certificate",
        describe_certificate(t), "kept", (json_int_t)kept, "point_steps", point_steps,
        "point_steps_per_s", integrate > 0 ? point_steps / integrate : 0.0, "donation",
        describe_donation(t), "shots", shots, "pictures", schedule_picture(t), length_picture(t),
        slice_picture(t, t->slice, "Travel times of the first source, in its plane", "s"),
        slice_picture(t, t->residual, "Residual of the eikonal equation there", "share"));
}

void tt_remark(FILE *out, const void *st, const json_t *facts)
{
    (void)st;
    const json_t *d = json_object_get(facts, "donation");
    if (json_number_of(facts, "kept") > 0)
        fprintf(out, "%.0f tables kept from a former run\n", json_number_of(facts, "kept"));
    fprintf(out,
            "%.3g point-steps, %.3g M a second while integrating; %.0f devices claimed, %.0f "
            "donated; tables in %s\n",
            json_number_of(facts, "point_steps"), 1e-6 * json_number_of(facts, "point_steps_per_s"),
            json_number_of(d, "claims"), json_number_of(d, "donations"),
            json_string_value(json_object_get(facts, "tables")));
}
