/* kirchhoff/chunks.c – which traces take part, and how they are divided into chunks. */
#include "kirchhoff/chunks.h"
#include "src/sort.h"

enum { MOST_BITS = 16 }; /* of a cell's number along an axis */

struct keyed {
    uint64_t key;
    uint32_t trace;
};

int chunks_class(const struct chunks_classes *c, const struct segy_trace *t)
{
    const double offset = segy_offset(t);
    if (c->most > 0 && offset > c->most)
        return -1;
    if (c->width <= 0)
        return 0;
    const double at = (offset - c->first) / c->width;
    return at >= 0 && at < c->n ? (int)at : -1;
}

static double outside(double x, const double box[2])
{
    return x < box[0] ? box[0] - x : x > box[1] ? x - box[1] : 0;
}

static enum chunks_reason judge(const struct chunks_options *o, const struct segy_trace *t)
{
    const double dx = outside(0.5 * (t->sx + t->gx), o->box[0]);
    const double dy = outside(0.5 * (t->sy + t->gy), o->box[1]);
    if (chunks_class(&o->classes, t) < 0)
        return CHUNKS_OFFSET;
    return hypot(dx, dy) > o->reach ? CHUNKS_FAR : CHUNKS_USED;
}

/* ---- order ------------------------------------------------------------------------------------*/

static uint32_t cell(const struct tfolder_surface *s, int axis, double x)
{
    const double at = s->n[axis] > 1 ? (x - s->origin[axis]) / s->step[axis] : 0;
    const double last = s->n[axis] > 2 ? s->n[axis] - 2 : 0;
    return (uint32_t)fmin(fmax(at, 0), last);
}

static uint64_t morton(const struct traveltime_cache *travel, const struct segy_trace *t)
{
    const struct tfolder_surface *s = &travel->surface;
    return geometry_spread(cell(s, 0, t->sx), 4) << 3 | geometry_spread(cell(s, 1, t->sy), 4) << 2 |
           geometry_spread(cell(s, 0, t->gx), 4) << 1 | geometry_spread(cell(s, 1, t->gy), 4);
}

SORT_BY(by_key, struct keyed, SORT_UP(key) ?: SORT_UP(trace))

/* Whether trace i, of traces in order, is the first of its block of 2^bits cells. */
static bool begins_block(const struct keyed *k, size_t i, int bits)
{
    return i == 0 || (bits < MOST_BITS && k[i].key >> 4 * bits != k[i - 1].key >> 4 * bits);
}

static size_t count_blocks(const struct keyed *k, size_t n, int bits)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += begins_block(k, i, bits);
    return count;
}

/* Enough chunks to share out even with few traces. Depends on the traces alone, so that any layout
 * has the same chunks. */
static long usual_chunk(size_t n)
{
    enum { LEAST = 32, MOST = 1024, PARTS = 32 };
    const size_t part = n / PARTS;
    return part < LEAST ? LEAST : part > MOST ? MOST : (long)part;
}

/* Keys of larger blocks are the leading bits of keys of smaller ones, so one order serves all.
 * Blocks of more than twice the wanted number of traces are cut. */
static enum ek_status cut(struct chunks *s, const struct keyed *k, long wanted)
{
    int bits = 0;
    while (bits < MOST_BITS && s->n / count_blocks(k, s->n, bits) < (size_t)wanted)
        bits++;
    s->cells = 1 << bits;
    s->first = calloc(count_blocks(k, s->n, bits) + s->n / (size_t)wanted + 2, sizeof *s->first);
    if (!s->first)
        FAIL(EK_UNAVAILABLE, "out of memory for the chunks of %zu traces", s->n);
    for (size_t i = 1; i <= s->n; i++) {
        const size_t length = i - s->first[s->nchunks];
        const bool another = i == s->n || begins_block(k, i, bits);
        if (another || length >= 2 * (size_t)wanted)
            s->first[++s->nchunks] = i;
    }
    return EK_OK;
}

static enum ek_status check_ends(const struct segy *segy, const struct traveltime_cache *travel,
                                 const struct segy_trace *t)
{
    char what[128];
    struct traveltime_corners corners;
    snprintf(what, sizeof what, "%.80s: source of trace %ld", segy->path, t->number);
    TRY(traveltime_cache_corners(travel, t->sx, t->sy, what, &corners));
    snprintf(what, sizeof what, "%.80s: receiver of trace %ld", segy->path, t->number);
    return traveltime_cache_corners(travel, t->gx, t->gy, what, &corners);
}

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status choose(struct chunks *s, const struct traveltime_cache *travel,
                             const struct chunks_options *o, struct keyed *k)
{
    for (size_t i = 0; i < s->segy->n; i++) {
        const struct segy_trace *t = &s->segy->trace[i];
        const enum chunks_reason reason = judge(o, t);
        s->count[reason]++;
        if (reason != CHUNKS_USED)
            continue;
        TRY(check_ends(s->segy, travel, t));
        k[s->n++] = (struct keyed){morton(travel, t), (uint32_t)i};
    }
    if (!s->n)
        FAIL(EK_USAGE,
             "%s: no trace is left: of %zu, %zu have offsets outside the classes, %zu lie farther "
             "from the image than the aperture",
             s->segy->path, s->segy->n, s->count[CHUNKS_OFFSET], s->count[CHUNKS_FAR]);
    qsort(k, s->n, sizeof *k, by_key);
    for (size_t i = 0; i < s->n; i++)
        s->order[i] = k[i].trace;
    return EK_OK;
}

enum ek_status chunks_open(const struct segy *segy, const struct traveltime_cache *travel,
                           const struct chunks_options *o, struct chunks **out)
{
    if (segy->n > UINT32_MAX)
        FAIL(EK_USAGE, "%s: more than 2^32 traces; divide the file", segy->path);
    struct chunks *s = calloc(1, sizeof *s);
    OWNED_MEMORY struct keyed *k = malloc(segy->n * sizeof *k);
    if (s) {
        s->segy = segy;
        s->order = malloc(segy->n * sizeof *s->order);
    }
    enum ek_status st =
        s && s->order && k
            ? choose(s, travel, o, k)
            : status_fail(EK_UNAVAILABLE, "%s: out of memory for %zu traces", segy->path, segy->n);
    THEN(st, cut(s, k, o->chunk ? o->chunk : usual_chunk(s->n)));
    THEN(st, geometry_find(segy, s->order, s->n, o->share, &s->geometry));
    return HAND_OUT(st, s, out, chunks_close);
}

void chunks_close(struct chunks *s)
{
    if (!s)
        return;
    free(s->order);
    free(s->first);
    geometry_close(&s->geometry);
    free(s);
}
