/* npb_mz/places.c – divides a device's memory among the zones that live there and those that come
 * for a step. */
#include "npb_mz/places.h"

#include <string.h>

/* ---- how much of what ------------------------------------------------------------------------ */

/* Bytes that the exchange takes, if all faces come and leave: numbers and the lists' rows. */
static double faces_bytes(const struct mz *mz)
{
    double sum = 0;
    for (int zone = 0; zone < mz->nzones; zone++)
        for (int side = 0; side < MZ_SIDES; side++)
            sum += 2 * sizeof(double) * (double)mz_face_size(mz, zone, (enum mz_side)side) +
                   3 * 3 * sizeof(long);
    return sum;
}

/* Bytes of a point that lives here, and of one in a batch. */
static double living_bytes(const struct mz *mz)
{
    return sizeof(double) * (mz_shares_forcing(mz) ? 1 : 2) * MZ_VARS +
           (sizeof(double) * (double)mz->size_carried + faces_bytes(mz)) / (double)mz->points;
}

static double batch_bytes(const struct mz *mz)
{
    return sizeof(double) * (MZ_VARS + ZONE_PRIMS + mz->ops->device_scratch);
}

static long least(double a, double b)
{
    return (long)(a < b ? a : b);
}

static long most(double a, double b)
{
    return (long)(a > b ? a : b);
}

/* Whole zones of the largest size: where zones carry something, all are of it, and what one carries
 * is found by its number. */
static long whole(const struct mz *mz, double points)
{
    return points > 0 ? (long)(points / (double)mz->most_volume) * mz->most_volume : 0;
}

/* A sixteenth is left to the driver. A batch may take an eighth where that lets all
 * zones live here, and takes less rather than sending zones away. */
static void divide(struct places *p, double memory, double single, bool one_by_one)
{
    const struct mz *mz = p->mz;
    const double all = (double)mz->points, largest = (double)mz->most_volume;
    const double living = living_bytes(mz), batch = batch_bytes(mz);
    const double bytes = memory - memory / 16 - sizeof(double) * MZ_VARS * largest -
                         (double)(mz->nzones + 1) * sizeof *p->row;
    const double buffer = single / (sizeof(double) * MZ_VARS); /* points of u in one */
    const double worth = one_by_one ? largest : (double)most(largest, bytes / 8 / batch);
    p->living = mz->points;
    p->scratch = least(all, least(worth, (bytes - all * living) / batch));
    if ((double)p->scratch >= largest && all <= buffer)
        return;
    p->stage = one_by_one ? mz->most_volume : whole(mz, most(largest, bytes / 16 / living));
    p->scratch = least(worth, (double)p->stage);
    const double left = (bytes - batch * (double)p->scratch) / living;
    p->living = whole(mz, (double)least(left, buffer) - 2.0 * (double)p->stage);
    if (left < 2 * (double)p->stage)
        p->living = -1;
}

static enum ek_status refuse(const struct mz *mz, const char *label, double memory)
{
    const double least_need =
        (double)mz->most_volume * (2 * living_bytes(mz) + batch_bytes(mz)) * 16 / 15;
    FAIL(EK_UNAVAILABLE,
         "%s class %c needs %.1f MB on device %s for its largest zone alone, which has %.1f MB to "
         "give; choose a smaller class or a layout without this device",
         mz->ops->name, mz->class->letter, 1e-6 * least_need, label, 1e-6 * memory);
}

enum ek_status places_open(const struct mz *mz, const char *label, size_t memory, size_t single,
                           bool one_by_one, struct places *out)
{
    struct places p = {.mz = mz, .changed = true};
    divide(&p, (double)memory, (double)single, one_by_one);
    if (p.living < 0)
        return refuse(mz, label, (double)memory);
    p.row = ARENA_NEW(&p.arena, mz->nzones + 1, struct zone_row);
    p.lives = ARENA_NEW(&p.arena, mz->nzones, bool);
    p.order = ARENA_NEW(&p.arena, mz->nzones, int);
    TRY_OR(arena_check(&p.arena, "the table of %d zones", mz->nzones), places_close(&p));
    mz_zone_rows(mz, p.row);
    *out = p;
    return EK_OK;
}

void places_close(struct places *p)
{
    arena_free(&p->arena);
    *p = (struct places){0};
}

struct places_size places_size(const struct places *p)
{
    const struct mz *mz = p->mz;
    const size_t points = (size_t)(p->living + 2 * p->stage), batch = (size_t)p->scratch;
    const size_t forced = mz_shares_forcing(mz) ? (size_t)mz->zone[0].volume : points;
    const size_t carries = mz_carried(mz->ops, mz->zone);
    return (struct places_size){
        .u = MZ_VARS * points * sizeof(double),
        .forcing = MZ_VARS * forced * sizeof(double),
        .carried = carries ? points / (size_t)mz->most_volume * carries * sizeof(double) : 0,
        .w = MZ_VARS * batch * sizeof(double),
        .prim = ZONE_PRIMS * batch * sizeof(double),
        .scratch = batch * (size_t)mz->ops->device_scratch * sizeof(double),
        .rows = (size_t)(mz->nzones + 1) * sizeof *p->row,
    };
}

/* ---- who is where ---------------------------------------------------------------------------- */

static void put(struct places *p, int zone, long place)
{
    struct zone_row *row = &p->row[zone];
    p->changed |= row->place != place;
    row->place = place;
    row->forced = mz_shares_forcing(p->mz) ? 0 : place;
}

bool places_take(struct places *p, int zone)
{
    const long volume = p->mz->zone[zone].volume;
    long place = 0;
    int at = 0;
    if (p->lives[zone])
        return true;
    for (; p->stage && at < p->n && p->row[p->order[at]].place - place < volume; at++)
        place = p->row[p->order[at]].place + p->mz->zone[p->order[at]].volume;
    place = p->stage ? place : p->row[zone].before; /* one for each */
    if (place + volume > p->living)
        return false;
    memmove(p->order + at + 1, p->order + at, (size_t)(p->n++ - at) * sizeof *p->order);
    p->order[at] = zone;
    p->lives[zone] = true;
    put(p, zone, place);
    return true;
}

void places_keep(struct places *p, const int *home, int memory)
{
    int kept = 0;
    for (int i = 0; i < p->n; i++) {
        const int zone = p->order[i];
        p->lives[zone] = home[zone] == memory;
        if (p->lives[zone])
            p->order[kept++] = zone;
    }
    p->n = kept;
}

void places_stage(struct places *p, int first, int n, int half)
{
    const long base = p->living + half * p->stage - p->row[first].before;
    for (int zone = first; zone < first + n; zone++)
        put(p, zone, base + p->row[zone].before);
}
