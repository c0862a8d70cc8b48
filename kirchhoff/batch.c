/* kirchhoff/batch.c – makes batches from the file of traces and the tables. */
#include "cu/bench/memory.h"
#include "cu/team/thread_pool.h"
#include "kirchhoff/migrate.h"

size_t batch_longest(const struct chunks *s)
{
    size_t most = 0;
    for (size_t c = 0; c < s->nchunks; c++)
        most = s->first[c + 1] - s->first[c] > most ? s->first[c + 1] - s->first[c] : most;
    return most;
}

size_t batch_bytes(const struct migrate *m)
{
    return batch_longest(m->survey) *
           (m->bank->size * sizeof(float) + sizeof(struct batch_trace) +
            2 * (sizeof(struct nodes_end) + 4 * sizeof(double) + TRAVELTIME_CORNERS * sizeof(int)));
}

enum ek_status batch_open(const struct migrate *m, size_t chunks, struct batch **out)
{
    const size_t n = chunks * batch_longest(m->survey);
    NEW(struct batch, b, 1, "out of memory for a chunk of traces");
    b->m = m;
    b->room = (int)n;
    b->trace = ARENA_NEW(&b->arena, n, struct batch_trace);
    b->end = ARENA_NEW(&b->arena, 2 * n, struct nodes_end);
    b->place = arena_take(&b->arena, 2 * n, sizeof *b->place);
    b->node = ARENA_NEW(&b->arena, 2 * TRAVELTIME_CORNERS * n, int);
    b->sample = ARENA_NEW(&b->arena, n * m->bank->size, float);
    b->index = ARENA_NEW(&b->arena, n, uint32_t);
    TRY_OR(arena_check(&b->arena, "a chunk of %zu traces; make --chunk smaller", n),
           batch_close(b));
    memory_large_pages(b->sample, n * m->bank->size * sizeof *b->sample);
    *out = b;
    return EK_OK;
}

void batch_close(struct batch *b)
{
    if (!b)
        return;
    batch_end(b);
    arena_free(&b->arena);
    free(b);
}

/* ---- ends -------------------------------------------------------------------------------------*/

static int find_end(const struct batch *b, const double place[4])
{
    for (int e = b->nends; e-- > 0;)
        if (!memcmp(b->place[e], place, sizeof b->place[e]))
            return e;
    return -1;
}

static void need_node(struct batch *b, int node)
{
    for (int i = 0; i < b->nnodes; i++)
        if (b->node[i] == node)
            return;
    b->node[b->nnodes++] = node;
}

/* Velocities between the tables' surface and an end, for migrate_lower(). */
static enum ek_status find_datum(struct traveltime_cache *travel, const double place[4],
                                 struct nodes_end *end)
{
    const double depth = travel->surface.depth;
    float surface, midway;
    TRY(traveltime_cache_emergence(travel, place[0], place[1], depth, &surface));
    TRY(traveltime_cache_emergence(travel, place[0], place[1], 0.5 * (depth + place[2]), &midway));
    end->midway = sqrtf(midway);
    end->square = 1 / surface;
    end->turn = sqrtf(end->emergence / surface);
    return EK_OK;
}

/* Finds the end at this place, or adds one. */
static enum ek_status add_end(struct batch *b, double x, double y, double z, int which, int *number)
{
    const struct batch_weights *w = &b->m->weights;
    struct traveltime_cache *travel = b->m->travel;
    const double depth = travel->surface.depth;
    const double place[4] = {x + 0.0, y + 0.0, (w->flat ? depth : z) + 0.0, which}; /* no -0 */
    struct nodes_end *end = &b->end[b->nends];
    *number = find_end(b, place);
    if (*number >= 0)
        return EK_OK;
    *end = (struct nodes_end){.scale = w->scale[which],
                              .weight = w->weight[which],
                              .spacing = {w->spacing[which], w->spacing[which]},
                              .datum = (float)(place[2] - depth)};
    TRY(traveltime_cache_corners(travel, x, y, which ? "a receiver" : "a source", &end->corners));
    if (w->emergence || end->datum != 0)
        TRY(traveltime_cache_emergence(travel, x, y, place[2], &end->emergence));
    if (end->datum != 0)
        TRY(find_datum(travel, place, end));
    for (int i = 0; i < end->corners.n; i++)
        need_node(b, end->corners.node[i]);
    memcpy(b->place[b->nends], place, sizeof place);
    *number = b->nends++;
    return EK_OK;
}

static enum ek_status add_trace(struct batch *b, uint32_t index)
{
    const struct segy_trace *t = &b->m->segy->trace[index];
    struct batch_trace *to = &b->trace[b->ntraces];
    TRY(add_end(b, t->sx, t->sy, t->sz, 0, &to->source));
    TRY(add_end(b, t->gx, t->gy, t->gz, 1, &to->receiver));
    to->gather = chunks_class(&b->m->classes, t);
    to->start = (float)(FILTER_BANK_FIRST - t->delay * b->m->bank->rate);
    const double muted = mute_time(&b->m->mute, segy_offset(t)) - t->delay;
    to->first = (float)(FILTER_BANK_FIRST + fmax(muted, 0) * b->m->bank->rate);
    to->last = (float)filter_bank_last(b->m->bank, t->ns);
    to->mx = (float)(0.5 * (t->sx + t->gx) - b->m->whole.origin[0]);
    to->my = (float)(0.5 * (t->sy + t->gy) - b->m->whole.origin[1]);
    b->index[b->ntraces++] = index;
    return EK_OK;
}

/* Scales a trace by its receiver's area, fades it out at large offsets, mutes it. */
static void weigh(const struct migrate *m, uint32_t index, float *raw)
{
    const struct segy_trace *t = &m->segy->trace[index];
    const float *share = m->survey->geometry.share;
    const double offset = segy_offset(t), inside = (m->o.offset_most - offset) / m->o.offset_taper;
    float factor = share ? share[index] : 1;
    if (m->o.offset_taper > 0 && inside < 1)
        factor *= (float)(0.5 - 0.5 * cos(M_PI * fmax(inside, 0)));
    for (long i = 0; factor != 1 && i < m->segy->ns; i++)
        raw[i] *= factor;
    if (m->mute.n)
        mute_apply(&m->mute, offset, t->delay, m->segy->dt, m->segy->ns, raw);
}

/* Whether all samples are equal, or the only one is 0. */
static bool is_silent(const float *raw, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (raw[i] != raw[0])
            return false;
    return n > 1 || raw[0] == 0;
}

/* Reads what is to be migrated of a trace; *silent: the file has no signal there. */
static enum ek_status read_trace(const struct migrate *m, uint32_t index, float *raw, bool *silent)
{
    const struct segy *s = m->segy;
    const size_t at = (size_t)index * (size_t)s->ns;
    if (m->residual)
        memcpy(raw, m->residual + at, (size_t)s->ns * sizeof *raw);
    else
        TRY(segy_read(s, index, raw));
    *silent = is_silent(m->residual ? m->observed + at : raw, s->trace[index].ns);
    return EK_OK;
}

/* Moves a trace that is dead, but not marked as such, beyond every aperture, so that no fold counts
 * it. */
static void leave_out(struct batch *b, int t)
{
    b->trace[t].mx = b->trace[t].my = 1e30F;
    atomic_fetch_add(&b->silent, 1);
}

/* ---- a chunk ----------------------------------------------------------------------------------*/

static enum ek_status fill(struct batch *b, int part)
{
    OWNED(owned_filter_bank_scratch_close) struct filter_bank_scratch *scratch = NULL;
    OWNED_MEMORY NEW(float, raw, b->m->segy->ns, "out of memory for a trace");
    TRY(filter_bank_scratch_open(b->m->bank, &scratch));
    const long n = b->to - b->from;
    const int begin = b->from + (int)(n * part / b->parts);
    const int end = b->from + (int)(n * (part + 1) / b->parts);
    for (int t = begin; t < end; t++) {
        bool silent;
        TRY(read_trace(b->m, b->index[t], raw, &silent));
        if (silent)
            leave_out(b, t);
        weigh(b->m, b->index[t], raw);
        filter_bank_fill(b->m->bank, scratch, raw, b->m->segy->trace[b->index[t]].ns,
                         b->sample + (size_t)t * b->m->bank->size);
    }
    return EK_OK;
}

/* Each thread fills its own run of traces: threads that write to one page slow each other down. */
static void fill_part(void *arg, int thread)
{
    struct batch *b = arg;
    const enum ek_status st = fill(b, thread);
    if (st)
        b->status = (int)st;
}

enum ek_status batch_begin(struct batch *b, size_t begin, size_t end, const struct cu *cu)
{
    const struct chunks *s = b->m->survey;
    b->ntraces = b->nends = b->nnodes = 0;
    b->silent = 0;
    b->status = EK_OK;
    for (size_t i = s->first[begin]; i < s->first[end]; i++)
        TRY(add_trace(b, s->order[i]));
    TRY(traveltime_cache_hold(b->m->travel, b->node, b->nnodes, cu));
    b->holds = true;
    return EK_OK;
}

enum ek_status batch_fill(struct batch *b, int from, int to, const struct cu *cu)
{
    b->from = from;
    b->to = to;
    b->parts = thread_pool_width(cu);
    thread_pool_run_on(cu, fill_part, b);
    return (enum ek_status)b->status;
}

void batch_adjoint(const struct batch *b, int t, struct filter_bank_scratch *scratch,
                   const double *levels, float *out)
{
    filter_bank_adjoint(b->m->bank, scratch, levels, b->m->segy->trace[b->index[t]].ns, out);
    weigh(b->m, b->index[t], out);
}

void batch_end(struct batch *b)
{
    if (b->holds)
        traveltime_cache_release(b->m->travel, b->node, b->nnodes);
    b->holds = false;
}
