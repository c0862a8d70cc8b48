/* kirchhoff/mig_judge.c – whether an image is right, and the numbers that say so. */
#include "cu/rank/cluster.h"
#include "kirchhoff/mig.h"

/* Sets p->peak; false: not all points are finite. */
static bool measure(struct mig *p)
{
    bool good = true;
    const struct image *image = p->m->image;
    for (int class = 0; class < image->classes.n; class ++)
        for (size_t c = 0; c < image->columns; c++) {
            mig_column(p, class, c, p->column);
            for (int k = 0; k < p->m->grid.n[2]; k++) {
                good = good && isfinite(p->column[k]);
                p->peak = fmax(p->peak, fabs((double)p->column[k]));
            }
        }
    return good;
}

/* Whether each chunk was done once in each step, and all points are finite. */
static bool is_whole(struct mig *p)
{
    bool good = measure(p);
    for (size_t t = 0; t < p->n; t++)
        good = good && p->times[t] == p->steps - p->kept_steps;
    for (size_t c = p->first; c < p->end; c++)
        good = good && p->done[c];
    return good;
}

static bool is_adjoint(const struct mig *p)
{
    return p->mismatch <= 1e-5; /* dot test; 0 without least squares */
}

static void warn(const struct mig *p)
{
    if (!p->whole)
        status_warn("points of the image are no numbers, or chunks were left out: nothing is "
                    "written; are samples of some traces huge?");
    else if (p->peak == 0 && p->traces > 0)
        status_warn("the image is empty: no trace has %s",
                    p->silent < p->traces ? "samples at the times that its points want"
                                          : "any signal");
    if (p->whole && !is_adjoint(p))
        status_warn("demigration is not the adjoint of migration: dot test %.3g", p->mismatch);
    if (p->whole && p->again.timed && 10 * p->again.wrong > p->again.rays - p->again.missed)
        status_warn("times between the tables differ from %.0f of %.0f rays by more than two "
                    "samples, %.3g ms rms: denser sources and finer tables may help",
                    p->again.wrong, p->again.rays - p->again.missed, 1e3 * p->again.rms);
    else if (p->whole && !p->again.good)
        status_warn("%d of %d points differ from what they are when summed again, by %.3g %% of "
                    "all contributions; finer tables may help",
                    p->again.failing, p->again.points, 100 * p->again.share);
}

/* Adds the verdict on another slab to that on the image; share and rms are those of the worst
 * slab. */
static void add_verdict(struct resum_verdict *all, const struct resum_verdict *v)
{
    all->points += v->points;
    all->failing += v->failing;
    all->share = isnan(all->share + v->share) ? NAN : fmax(all->share, v->share);
    all->rms = fmax(all->rms, v->rms);
    all->rays += v->rays;
    all->missed += v->missed;
    all->timed = all->timed || v->timed;
    all->wrong += v->wrong;
    all->good = all->good && v->good;
}

bool mig_judge(struct mig *p)
{
    struct resum_verdict all = {.rms = NAN, .good = true};
    p->whole = true;
    p->peak = p->silent = 0;
    for (int slab = 0; slab < p->m->slabs; slab++) {
        const bool good = !mig_slab_take(p, slab) && is_whole(p);
        p->whole = !cluster_any(!good) && p->whole;
        if (!p->lsm) {
            const struct resum_verdict v = resum_judge(p->m->resum);
            add_verdict(&all, &v);
        }
        p->silent = fmax(p->silent, (double)atomic_load(&p->m->image->silent));
    }
    if (p->lsm)
        p->mismatch = lsm_mismatch(p->lsm);
    else
        p->again = all;
    cluster_sum(&p->silent, 1);
    if (cluster_rank() == 0)
        warn(p);
    return p->whole && p->again.good && is_adjoint(p);
}

/* Has the same members as certificates of tables. */
static json_t *certificate(const struct mig *p)
{
    const struct tfolder *f = p->m->travel->folder;
    const struct geometry *g = &p->m->survey->geometry;
    const struct segy *s = p->m->segy;
    const struct tfolder_total t = f ? tfolder_total(f) : (struct tfolder_total){0};
    json_t *residual = f ? json_pack("{s:f s:f s:f}", "judged", t.judged, "failing", t.failing,
                                     "failing_share", t.failing / fmax(t.judged, 1))
                         : json_null();
    const struct resum_verdict *v = &p->again;
    json_t *times = v->timed ? json_pack("{s:f s:f s:f s:o}", "rays", v->rays, "missed", v->missed,
                                         "wrong", v->wrong, "rms_s", json_number_or_null(v->rms))
                             : json_null();
    json_t *again =
        json_pack("{s:b s:i s:i s:o s:o}", "verified", v->good, "points", v->points, "failing",
                  v->failing, "share", json_number_or_null(v->share), "times", times);
    json_t *places =
        json_pack("{s:b s:I s:I s:I s:I s:I s:o s:o}", "trusted", p->m->o.trust_geometry, "sources",
                  (json_int_t)g->shots, "repeated", (json_int_t)g->repeated, "offsets",
                  (json_int_t)s->offsets, "odd_offsets", (json_int_t)s->odd_offset, "dead",
                  (json_int_t)s->dead, "spacing_source_m", json_number_or_null(g->spacing[0]),
                  "spacing_receiver_m", json_number_or_null(g->spacing[1]));
    return json_pack("{s:o s:n s:o s:o}", "residual", residual, "reciprocity", "resummed", again,
                     "geometry", places);
}

json_t *mig_residual(const struct mig *p)
{
    return p->lsm ? json_numbers(p->lsm->norm, (size_t)p->lsm->at.done + 1) : json_array();
}

static json_t *least_squares(const struct mig *p)
{
    return p->lsm ? json_pack("{s:i s:o s:o}", "iterations", p->lsm->at.done, "residual",
                              mig_residual(p), "dot_test", json_number_or_null(p->mismatch))
                  : json_null();
}

json_t *mig_facts(const void *st)
{
    const struct mig *p = st;
    const struct migrate *m = p->m;
    char grid[128], cells[32];
    grid_text(&m->whole, grid, sizeof grid);
    snprintf(cells, sizeof cells, "%d x %d", m->survey->cells, m->survey->cells);
    return json_pack(
        "{s:o s:o s:s s:s s:o s:o s:I s:f s:I s:I s:I s:I s:I s:s s:s s:s s:b s:o s:i s:f s:I s:i}",
        "certificate", certificate(p), "lsm", least_squares(p), "dimension",
        migrate_dimensions[m->o.dimension], "filter", migrate_filters[m->filter], "silent_traces",
        json_number_or_null(p->silent), "line_beside_m",
        m->o.line ? json_real(m->line.beside) : json_null(), "traces", (json_int_t)m->survey->n,
        "kept_traces", p->kept, "dead_traces", (json_int_t)m->segy->dead, "outside_classes",
        (json_int_t)m->survey->count[CHUNKS_OFFSET], "outside_aperture",
        (json_int_t)m->survey->count[CHUNKS_FAR], "odd_offsets", (json_int_t)m->segy->odd_offset,
        "chunks", (json_int_t)m->survey->nchunks, "block_cells", cells, "grid", grid, "weight",
        migrate_weights[m->o.weight], "derivative", m->filter == FILTER_DERIVATIVE, "peak",
        json_number_or_null(p->peak), "levels", m->sum.levels, "updates", migrate_updates(m),
        "table_loads", (json_int_t)m->travel->loads, "slabs", m->slabs);
}
