/* npb_mz/places.c – divides a device's memory among resident zones, staged zones and scratch. */
#include "npb_mz/places.h"

#include <limits.h>

/* ---- how much of what ------------------------------------------------------------------------ */

/* Bytes of buffers and lists of an exchange in which all faces come from and go to elsewhere. */
static double faces_bytes(const struct mz *mz)
{
    double sum = 0;
    for (int zone = 0; zone < mz->nzones; zone++)
        for (int side = 0; side < MZ_SIDES; side++)
            sum += 2 * sizeof(double) * (double)mz_face_size(mz, zone, (enum mz_side)side) +
                   3 * 3 * sizeof(long);
    return sum;
}

/* Bytes per point of a resident zone; per point of a batch. */
static double resident_bytes(const struct mz *mz)
{
    return sizeof(double) * (mz_shares_forcing(mz) ? 1 : 2) * MZ_VARS +
           (sizeof(double) * (double)mz->size_carried + faces_bytes(mz)) / (double)mz->points;
}

static double batch_bytes(const struct mz *mz)
{
    return sizeof(double) * (MZ_VARS + ZONE_PRIMS + mz->ops->device_scratch);
}

/* Doubles per point in the largest buffer of a batch. */
static long batch_numbers(const struct mz *mz)
{
    return mz_max(ZONE_PRIMS, mz->ops->device_scratch);
}

static long least(double a, double b)
{
    return (long)(a < b ? a : b);
}

static long most(double a, double b)
{
    return (long)(a > b ? a : b);
}

/* Points of whole zones of the largest size. Where zones carry something all have that size, so
 * that kernels find what a zone carries by its number. */
static long whole(const struct mz *mz, double points)
{
    return points > 0 ? (long)(points / (double)mz->max_volume) * mz->max_volume : 0;
}

/* A sixteenth is left to the driver. If possible all zones are resident; then batches may take an
 * eighth, or less if the zones leave less. Otherwise each half of the stage takes a sixteenth. */
static void divide(struct places *p, double memory, double single, bool one_by_one)
{
    const struct mz *mz = p->mz;
    const double all = (double)mz->points, largest = (double)mz->max_volume;
    const double resident = resident_bytes(mz), batch = batch_bytes(mz);
    const double bytes = memory - memory / 16 - sizeof(double) * MZ_VARS * largest -
                         (double)(mz->nzones + 1) * sizeof *p->row;
    const double buffer = single / (sizeof(double) * MZ_VARS); /* points of u in one */
    const double buffered = single / (sizeof(double) * (double)batch_numbers(mz)); /* of a batch */
    const long worth = least(buffered, one_by_one ? largest : most(largest, bytes / 8 / batch));
    p->resident_points = mz->points;
    p->scratch = least(all, least(worth, (bytes - all * resident) / batch));
    if ((double)p->scratch >= largest && all <= buffer)
        return;
    p->stage = one_by_one ? mz->max_volume
                          : whole(mz, most(largest, least(bytes / 16 / resident, buffer / 2)));
    p->scratch = least(worth, p->stage);
    const double left = least((bytes - batch * (double)p->scratch) / resident, buffer);
    p->resident_points = whole(mz, left - 2.0 * (double)p->stage);
    if (left < 2 * (double)p->stage || (double)p->scratch < largest)
        p->resident_points = -1;
}

static enum ek_status refuse(const struct mz *mz, const char *label, double memory, double single)
{
    const double largest = (double)mz->max_volume;
    const double least_need = largest * (2 * resident_bytes(mz) + batch_bytes(mz)) * 16 / 15;
    const double in_one = sizeof(double) * largest * most(2 * MZ_VARS, (double)batch_numbers(mz));
    FAIL(
        EK_UNAVAILABLE,
        "%s class %c needs %.1f MB on device %s for its largest zone alone, %.1f MB of it in one "
        "buffer, but the device has %.1f MB and allows %.1f MB; choose a smaller class or a layout "
        "without this device",
        mz->ops->name, mz->class->letter, 1e-6 * least_need, label, 1e-6 * in_one, 1e-6 * memory,
        1e-6 * single);
}

/* Kernels count the numbers of a zone in int. */
static enum ek_status check_offsets(const struct mz *mz, const char *label)
{
    if (mz->max_volume > INT_MAX / batch_numbers(mz))
        FAIL(
            EK_UNAVAILABLE,
            "%s class %c: a zone of %ld points is too large for the kernels of device %s; choose a "
            "layout without devices",
            mz->ops->name, mz->class->letter, mz->max_volume, label);
    return EK_OK;
}

enum ek_status places_open(const struct mz *mz, const char *label, size_t memory, size_t single,
                           bool one_by_one, struct places *out)
{
    struct places p = {.mz = mz, .changed = true};
    TRY(check_offsets(mz, label));
    divide(&p, (double)memory, (double)single, one_by_one);
    if (p.resident_points < 0)
        return refuse(mz, label, (double)memory, (double)single);
    p.row = ARENA_NEW(&p.arena, mz->nzones + 1, struct zone_row);
    p.resident = ARENA_NEW(&p.arena, mz->nzones, bool);
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
    const size_t points = (size_t)(p->resident_points + 2 * p->stage), batch = (size_t)p->scratch;
    const size_t forced = mz_shares_forcing(mz) ? (size_t)mz->zone[0].volume : points;
    const size_t carries = mz_carried(mz->ops, mz->zone);
    return (struct places_size){
        .u = MZ_VARS * points * sizeof(double),
        .forcing = MZ_VARS * forced * sizeof(double),
        .carried = carries ? points / (size_t)mz->max_volume * carries * sizeof(double) : 0,
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
    if (p->resident[zone])
        return true;
    for (; p->stage && at < p->n && p->row[p->order[at]].place - place < volume; at++)
        place = p->row[p->order[at]].place + p->mz->zone[p->order[at]].volume;
    place = p->stage ? place : p->row[zone].before; /* every zone has a place of its own */
    if (place + volume > p->resident_points)
        return false;
    memmove(p->order + at + 1, p->order + at, (size_t)(p->n++ - at) * sizeof *p->order);
    p->order[at] = zone;
    p->resident[zone] = true;
    put(p, zone, place);
    return true;
}

void places_keep(struct places *p, const int *home, int memory)
{
    int kept = 0;
    for (int i = 0; i < p->n; i++) {
        const int zone = p->order[i];
        p->resident[zone] = home[zone] == memory;
        if (p->resident[zone])
            p->order[kept++] = zone;
    }
    p->n = kept;
}

void places_stage(struct places *p, int first, int n, int half)
{
    const long base = p->resident_points + half * p->stage - p->row[first].before;
    for (int zone = first; zone < first + n; zone++)
        put(p, zone, base + p->row[zone].before);
}
