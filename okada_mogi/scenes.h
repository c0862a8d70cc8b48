/* okada_mogi/scenes.h – data that have something in common. The zero of a scene of radar
 * interferograms is known up to an offset, and often up to a plane (ramp); that of a network of
 * three-component stations up to a translation, whose every component makes a scene, too. They are
 * eliminated for every trial anew, of all values that they may have those count that bring
 * predictions nearest to the data. And its errors are alike where points are near: their covariance
 * is sill * exp(-distance / range), to which each datum adds its own variance. */
#pragma once

#include "okada_mogi/stations.h"
#include "src/arena.h"
#include <stddef.h>

enum { SCENES_UNKNOWNS = 3, SCENES_MOST = 32, SCENES_COVARIANT = 4096 /* points */ };

struct scene {
    const char *name;   /* the stations' */
    int n, *datum;      /* [n] 3 * station + component */
    int unknowns;       /* 0: none; 1: offset; 3: and slopes to the east and north */
    double sill, range; /* m^2, m; 0: each error is its own */
    double *shape;      /* [n][unknowns] displacement by a unit of each */
    double *root; /* Cholesky's of the covariance, rows 0 .. n - 1 one after another; NULL: none */
    double *seen; /* [n] what is left of the data, see scene_project() */
    /* whitened shape = frame, which is orthonormal, times a triangle */
    double *frame; /* [unknowns][n] */
    double triangle[SCENES_UNKNOWNS][SCENES_UNKNOWNS];
    struct arena arena; /* of the arrays */
};

struct scenes {
    int n;
    struct scene scene[SCENES_MOST];
    int *of; /* [stations] number of the scene of its data, or of one of them; -1: none of these */
    bool translation;
};

/* Adds the scene of this name: `as` says its unknowns, sill and range. A sill becomes part of its
 * stations' deviations. EK_USAGE: no station has it, or too few do. The stations are borrowed;
 * close accepts zeroed ones. */
enum ek_status scenes_add(const char *path, struct stations *s, const char *name,
                          const struct scene *as, struct scenes *all);
/* Adds a scene for each component that stations have, with an offset. EK_USAGE: there are none, or
 * errors of east and north are correlated. */
enum ek_status scenes_translate(const char *path, struct stations *s, struct scenes *all);
void scenes_close(struct scenes *all);
/* Some data of a scene that was added, in this order, by themselves; chi2 of those is no more than
 * that of all. False: they do not tell the unknowns, or memory is out. */
bool scene_part(const struct scene *c, const struct stations *s, int n, const int *datum,
                struct scene *some);
void scene_close(struct scene *c);
/* A station has data in some scene. */
static inline bool scenes_hold(const struct scenes *all, int station)
{
    return all->n && all->of[station] >= 0;
}
/* What a station says is known up to unknowns of its scene, or scenes, only. */
bool scenes_adrift(const struct scenes *all, int station);
/* The sill of its scene, m^2, which its deviation includes; 0: none. */
double scenes_sill(const struct scenes *all, int station);

/* d [n] are predicted - observed, m. Subtracts the unknowns that make chi2 least; z [n]: what is
 * left, whitened: chi2 is the sum of its squares. */
void scene_project(const struct scene *c, const struct stations *s, double *d, double *z);
/* The sum of the squares of d [n]. */
double scene_squares(const double *d, int n);
/* From independent normal numbers to errors of the scene, m, in place. */
void scene_correlate(const struct scene *c, double *d);
/* ln of the determinant of the covariance's root. */
double scene_log_root(const struct scene *c, const struct stations *s);
/* The least that max |d| / sigma can be with any unknowns, to rounding; where it is above `reach`,
 * something above that which is no more. work: room for scene_room() doubles. */
double scene_least(const struct scene *c, const struct stations *s, const double *d, double reach,
                   double *work);
size_t scene_room(const struct scene *c);
