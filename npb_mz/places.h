/* npb_mz/places.h – where the zones of one device lie in its memory.
 *
 * Zones that live on the device are resident. If not all fit, the others live on the host and are
 * staged for a step: the stage lies behind the resident zones and has two halves; a batch arrives
 * in one half while the batch in the other is computed or leaves. */
#pragma once

#include "npb_mz/mz.h"

struct places {
    const struct mz *mz;
    long resident_points; /* room for resident zones */
    long stage;           /* points of each half of the stage; 0: all zones may be resident */
    long scratch;         /* points of a batch */
    struct arena arena;
    struct zone_row *row; /* [nzones + 1] table of zones, as kernels take it */
    bool changed;         /* the device has not got the newest table */
    bool *resident;       /* [nzones] */
    int *order, n;        /* [nzones] the n resident zones, by their place */
};

/* Bytes of each buffer. */
struct places_size {
    size_t u, forcing, carried, w, prim, scratch, rows;
};

/* Divides `memory` bytes; a single buffer may have at most `single`. one_by_one: a batch is one
 * zone. EK_UNAVAILABLE: not even the largest zone fits, or kernels cannot address it. close accepts
 * a zeroed struct. */
enum ek_status places_open(const struct mz *mz, const char *label, size_t memory, size_t single,
                           bool one_by_one, struct places *places);
void places_close(struct places *places);
struct places_size places_size(const struct places *places);

/* Makes a zone resident; false: there is no room. */
bool places_take(struct places *places, int zone);
/* Frees the places of zones with home[zone] != memory. */
void places_keep(struct places *places, const int *home, int memory);
/* Puts the zones first .. first+n-1 on half 0 or 1 of the stage. */
void places_stage(struct places *places, int first, int n, int half);
