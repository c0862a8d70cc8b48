/* npb_mz/zones.h – how the zones of a mesh lie in memory. */
#ifndef NPB_MZ_ZONES_H
#define NPB_MZ_ZONES_H

#include "npb_mz/mz.h"

enum { ZONES_ALIGN = 8 };  /* doubles: rows are whole vectors at every instruction level */
enum { ZONES_MOST = 128 }; /* zones along one axis in the largest class */

/* What all zones take together. */
struct zones_size {
    long points;  /* padding included */
    long forced;  /* of them those that have a forcing of their own */
    long carried; /* doubles carried beside u */
};

/* Fills zone[] (x fastest; may be NULL). */
struct zones_size zones_layout(const struct mz_ops *ops, const struct mz_mesh *mesh,
                               struct mz_zone *zone);

#endif
