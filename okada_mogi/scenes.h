/* okada_mogi/scenes.h – data with common unknowns or correlated errors. A scene of a radar
 * interferogram is known up to an offset, and often up to a plane (ramp); a network of
 * three-component stations may be known up to a translation, each component of which makes a scene,
 * too. These unknowns are fitted anew for every trial. Errors of a scene may be correlated: their
 * covariance is sill * exp(-distance / range), plus each datum's own variance. */
#pragma once

#include "okada_mogi/stations.h"

enum { SCENES_UNKNOWNS = 3, SCENES_MOST = 32, SCENES_COVARIANT = 4096 /* most points */ };

struct scene {
    const char *name;   /* borrowed from the stations */
    int n, *datum;      /* [n] 3 * station + component */
    int unknowns;       /* 0: none; 1: offset; 3: offset, slopes to the east and north */
    double sill, range; /* m^2, m; 0: errors are independent */
    double *shape;      /* [n][unknowns] displacement per unit of each unknown */
    double *root; /* Cholesky factor of the covariance, rows 0 .. n - 1 packed; NULL: diagonal */
    double *seen; /* [n] the data after scene_project(), whitened */
    /* whitened shape = frame (orthonormal) times triangle */
    double *frame; /* [unknowns][n] */
    double triangle[SCENES_UNKNOWNS][SCENES_UNKNOWNS];
    struct arena arena; /* of the arrays */
};

struct scenes {
    int n;
    struct scene scene[SCENES_MOST];
    int *of; /* [stations] a scene that has data of this station; -1: none */
    bool translation;
};

/* Adds the scene of this name, with the unknowns, sill and range of `as`. The sill is added to its
 * stations' variances. EK_USAGE: no station is in it, or too few are. The stations are borrowed;
 * close accepts a zeroed one. */
enum ek_status scenes_add(const char *path, struct stations *s, const char *name,
                          const struct scene *as, struct scenes *all);
/* Adds a scene with an offset for each component that stations have. EK_USAGE: there are none, or
 * errors of east and north are correlated. */
enum ek_status scenes_translate(const char *path, struct stations *s, struct scenes *all);
void scenes_close(struct scenes *all);
/* Adds everything about the scenes but their data to a checksum. */
void scenes_sum(const struct scenes *all, struct checksum *sum);
/* Makes a scene of some data, in this order, of scene c; its chi2 is at most that of all. False:
 * they do not determine the unknowns, or out of memory. */
bool scene_part(const struct scene *c, const struct stations *s, int n, const int *datum,
                struct scene *some);
void scene_close(struct scene *c);
/* Whether a station has data in some scene. */
static inline bool scenes_hold(const struct scenes *all, int station)
{
    return all->n && all->of[station] >= 0;
}
/* Whether a station's data are known only up to unknowns of its scene or scenes. */
bool scenes_adrift(const struct scenes *all, int station);
/* The sill of its scene, m^2, included in its deviation; 0: none. */
double scenes_sill(const struct scenes *all, int station);

/* d [n]: predicted - observed, m. Subtracts the unknowns that minimize chi2; z [n]: the result,
 * whitened, so that chi2 is the sum of its squares. */
void scene_project(const struct scene *c, const struct stations *s, double *d, double *z);
/* The sum of the squares of d [n]. */
double scene_squares(const double *d, int n);
/* Turns independent standard normal numbers into errors of the scene, m, in place. */
void scene_correlate(const struct scene *c, double *d);
/* ln of the determinant of the covariance's root. */
double scene_log_root(const struct scene *c, const struct stations *s);
/* The least max |d| / sigma for any values of the unknowns, up to rounding; if it exceeds `reach`,
 * perhaps only a lower bound of it that does, too. work [scene_room()]: scratch. */
double scene_least(const struct scene *c, const struct stations *s, const double *d, double reach,
                   double *work);
size_t scene_room(const struct scene *c);
