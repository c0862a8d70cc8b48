/* okada_mogi/model.h – a model of ground deformation: one const struct in one file, and one line in
 * model_list.h.
 *
 * A model predicts the displacement (east, north, up; metres) that one source causes at stations on
 * the ground; the predictions of several sources add. A source has parameters
 * x[0 .. nparameters-1] in natural units. A search distinguishes three roles:
 *
 *   geometry    the response must be recomputed when it changes
 *   direction   only changes the weights of the `nbasis` basis responses (Okada: rake)
 *   amplitude   the displacement is proportional to it (Okada: slip; Mogi: dV); at most one
 *
 *   displacement = sum_b slip component_b * basis_b(geometry),
 *   slip component_b = amplitude * weight_b(direction)
 *
 * A model without direction and amplitude has one basis response, the displacement itself; it works
 * too, but without the short cuts.
 *
 * Functions are pure and may run on any thread. */
#pragma once

#include "src/base.h"

enum {
    MODEL_LANES = 8,  /* sources in one call: a multiple of every machine's vector length */
    MODEL_ALIGN = 64, /* bytes; alignment at which lanes are loaded and stored fastest */
    /* upper limits of a model: */
    MODEL_PARAMETERS = 16,
    MODEL_VALUES = 24,
    MODEL_BASES = 4,
    MODEL_NUMBERS = 4, /* of a constraint */
    MODEL_CORNERS = 4, /* of an outline on a map */
};

enum model_role { MODEL_GEOMETRY, MODEL_DIRECTION, MODEL_AMPLITUDE };

struct model_parameter {
    const char *name; /* with its unit: "strike_deg" */
    enum model_role role;
    double min, max; /* valid range, inclusive */
    /* Geometry: computes the numbers that respond() needs of this parameter, e.g. sine and cosine,
     * once for each value on the grid. NULL: respond() takes the parameter itself. */
    int nvalues;
    void (*derive)(double x, double *value);
    bool optional; /* defaults to `usual` */
    double usual;
};

struct model;

/* What a constraint is asked about: a source x, or two. */
struct model_case {
    const struct model *model;
    const double *number; /* the job's, then the rock's rigidity, Pa */
    const double *x, *other;
};

/* A condition on each source (or each pair of sources) that a job may impose. */
struct model_constraint {
    const char *name;  /* its key in the job file; NULL ends a table */
    const char *takes; /* its value, described for users: "[min, max]"; NULL: always in force and
                          not a key of job files */
    int nnumbers;      /* numbers that it takes; more than 1: a list */
    bool pair;         /* about two sources, else about one */
    unsigned looks_at; /* bit i: depends on parameter i of the source (of both sources) */
    bool (*holds)(const struct model_case *c);
};

struct model_range {
    double min, max;
};

struct model {
    const char *name;
    int nparameters;
    const struct model_parameter *parameter;   /* [nparameters] */
    const struct model_constraint *constraint; /* ends with name NULL; NULL: none */
    int nbasis;
    /* Basis responses of MODEL_LANES sources, each at its own point.
     * value [nvalues] pointers to [MODEL_LANES]: the values of all geometry parameters, in order
     * east, north [MODEL_LANES] the points, m
     * out [nbasis][3][MODEL_LANES] basis displacements, m per unit of amplitude */
    void (*respond)(const struct model *m, const double *const *value, const double *east,
                    const double *north, double *out);
    int depth; /* index of the value that is a depth; 0: none, so stations may have no heights */
    /* Weights of the basis responses, w[nbasis], of a source x. NULL: nbasis = 1, weight 1. */
    void (*weigh)(const struct model *m, const double *x, double *w);
    /* Seismic moment of a source x, N m, in rock of this rigidity, Pa. NULL: sources have none. */
    double (*moment)(const struct model *m, const double *x, double rigidity);
    /* Outline of a source x seen from above: corners {east, north}, m, the first two at its upper
     * edge; or one point. Returns the number of points. NULL: not shown on maps. */
    int (*outline)(const struct model *m, const double *x, double corner[MODEL_CORNERS][2]);
    /* Bounds on the basis responses (vectors; [nbasis]) at a point over all sources x [nparameters]
     * within these ranges: size, their largest magnitude; rest, their largest difference from the
     * linearization (in the parameters) about the middle. INFINITY: unknown. Directions and
     * amplitudes are ignored. NULL: no bounds are known. */
    void (*remainder)(const struct model *m, const struct model_range *x, double east, double north,
                      double *size, double *rest);
    /* Displacement u[3] of a point at this height due to a source x, by other formulas or code than
     * respond()'s, which check it. Returns a bound on its rounding errors, m. NULL: there is none.
     */
    double (*textbook)(const struct model *m, const double *x, double east, double north,
                       double height, double *u);
    /* Whether a point's displacement is undefined, as a source with value [model_values()] reaches
     * the ground there. NULL: no source does. */
    bool (*undefined)(const struct model *m, const double *value, double east, double north,
                      double height);
    /* For devices: the kernel file, with the kernels <name>_brute and <name>_probe, see
     * kernels/search.h. NULL: this model runs on CPU units only. */
    const char *text;
    /* The same physics with more or other parameters, and more work: shared ones have the same
     * index, optional ones follow. NULL: none. */
    const struct model *wider;
    int form; /* distinguishes such variants in functions that they share */
};

const struct model *model_at(int i);              /* NULL past the end */
const struct model *model_find(const char *name); /* NULL: there is none */

/* Number of values that respond() takes: in all; of parameter p (0 unless it is geometry); of the
 * parameters before p. */
int model_values(const struct model *m);
int model_parameter_values(const struct model *m, int p);
int model_values_before(const struct model *m, int p);
/* Index of the parameter called `name` (`size` characters of it); -1: none. */
int model_parameter_find(const struct model *m, const char *name, int size);
/* The model itself or the first wider one that has a parameter of this name; m if none has. */
const struct model *model_with(const struct model *m, const char *name, int size);
/* Index of the amplitude parameter; -1: none. */
int model_amplitude(const struct model *m);

/* Computes the values of parameter p (geometry) / of all parameters, value[model_values()]. */
void model_derive(const struct model *m, int p, double x, double *value);
void model_derive_all(const struct model *m, const double *x, double *value);
/* respond() for points at height [MODEL_LANES], m, above the datum of depths: each source is taken
 * to be deeper by that much, Williams & Wadge (1998), Geophys. Res. Lett. 25, 1549-1552. */
void model_respond(const struct model *m, const double *const *value, const double *east,
                   const double *north, const double *height, double *out);
/* Whether the displacement of a point at this height is undefined. */
bool model_undefined(const struct model *m, const double *value, double east, double north,
                     double height);
/* The weights w[nbasis]; 1 if the model has no weigh(). */
void model_weigh(const struct model *m, const double *x, double *w);

/* Moment magnitude, Hanks & Kanamori (1979); NAN where there is no moment. */
double model_magnitude(double moment);

/* Sets all lanes to x. */
static inline void model_fill(double lane[MODEL_LANES], double x)
{
    for (int l = 0; l < MODEL_LANES; l++)
        lane[l] = x;
}

/* Zeroed memory aligned to MODEL_ALIGN, for lanes; free() it. NULL: out of memory. */
void *model_alloc(size_t bytes);

/* Displacement u[3] of a point due to one source, directly from its parameters; NAN where it is
 * undefined. */
void model_forward(const struct model *m, const double *x, double east, double north, double *u);
