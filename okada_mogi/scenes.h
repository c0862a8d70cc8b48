/* okada_mogi/scenes.h – data whose zero nobody knows: a scene of radar interferograms is known up
 * to an offset, and often up to a plane (ramp). Both are eliminated for every trial anew: of all
 * values that they may have those count that bring predictions nearest to the data. */
#ifndef OKADA_MOGI_SCENES_H
#define OKADA_MOGI_SCENES_H

#include "okada_mogi/stations.h"
#include <stddef.h>

enum { SCENES_UNKNOWNS = 3, SCENES_MOST = 32 };

/* One with unknowns. */
struct scene {
    const char *name; /* the stations' */
    int n, *station;  /* [n] */
    int unknowns;     /* 1: offset; 3: and slopes to the east and north */
    double *shape;    /* [n][unknowns] displacement by a unit of each */
    double inverse[SCENES_UNKNOWNS][SCENES_UNKNOWNS]; /* of the normal equations */
};

struct scenes {
    int n;
    struct scene scene[SCENES_MOST];
    int *of; /* [stations] number of the station's scene, -1: it has no unknowns */
};

/* Names a scene whose offset (and ramp) are unknown. EK_USAGE: no station has it, or too few do.
 * The stations are borrowed; close accepts zeroed ones. */
enum ek_status scenes_add(const char *path, const struct stations *s, const char *name, bool ramp,
                          struct scenes *all);
void scenes_close(struct scenes *all);

/* d [n] are predicted - observed, m. Subtracts the unknowns that make sum (d / sigma)^2 least. */
void scene_project(const struct scene *c, const struct stations *s, double *d);
/* The least that max |d| / sigma can be with any unknowns, to rounding. work: room for
 * scene_room() doubles. */
double scene_least(const struct scene *c, const struct stations *s, const double *d, double *work);
size_t scene_room(const struct scene *c);

#endif
