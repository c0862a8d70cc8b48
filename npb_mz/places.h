/* npb_mz/places.h – where the zones of one device lie in its memory.
 *
 * A device holds the zones that live on it. Where they are more than fit, the rest stay on the host
 * and come for a step: a batch of them into one half of the stage, which lies behind the zones that
 * live here, while the batch in the other half is computed or leaves. */
#pragma once

#include "npb_mz/mz.h"

struct places {
    const struct mz *mz;
    long living;  /* points of the zones that may live here */
    long stage;   /* points of each half behind them, 0: all zones of the mesh may live here */
    long scratch; /* points of a batch */
    struct arena arena;
    struct zone_row *row; /* [nzones + 1], as kernels take them */
    bool changed;         /* since the device got them */
    bool *lives;          /* [nzones] */
    int *order, n;        /* [nzones] zones that live here, by their place */
};

/* Bytes that each buffer takes. */
struct places_size {
    size_t u, forcing, carried, w, prim, scratch, rows;
};

/* Divides `memory` bytes, of which a buffer may have `single`; one_by_one: no batches.
 * EK_UNAVAILABLE: not even the largest zone fits, both numbers. close accepts zeroed ones. */
enum ek_status places_open(const struct mz *mz, const char *label, size_t memory, size_t single,
                           bool one_by_one, struct places *places);
void places_close(struct places *places);
struct places_size places_size(const struct places *places);

/* Gives a zone a place to live at; false: there is none left. */
bool places_take(struct places *places, int zone);
/* Zones that do not live on memory node `memory`, by home[zone], give theirs back. */
void places_keep(struct places *places, const int *home, int memory);
/* The zones first .. first+n-1 stand on half 0 or 1 of the stage for now. */
void places_stage(struct places *places, int first, int n, int half);
