/* okada_mogi/model.h – a model of ground deformation: one const struct in one file, and one line in
 * model_list.h.
 *
 * A model predicts the displacement (east, north, up; metres) of stations on the ground by one
 * source; the predictions of several sources add. A source has parameters x[0 .. nparameters-1] in
 * natural units. Three kinds of them matter to a search:
 *
 *   geometry    anything: the response has to be computed anew
 *   direction   of slip: how the slip components, and with them the `nbasis` basis responses, share
 *               it, and nothing else (Okada: rake)
 *   amplitude   of slip: the displacement is proportional to it (Okada: slip; Mogi: dV);
 *               at most one
 *
 *   displacement = sum_b slip component_b * basis_b(geometry),
 *   slip component_b = amplitude * weight_b(direction)
 *
 * A model without direction and amplitude has one basis response, the displacement itself, and
 * works as well, only without the short cuts.
 *
 * Functions are pure and may run on any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    MODEL_LANES = 8,       /* sources in one call: a multiple of the vector of any machine */
    MODEL_ALIGN = 64,      /* bytes; lanes that lie so are read and written fastest */
    MODEL_PARAMETERS = 16, /* most of a model, */
    MODEL_VALUES = 24,     /* most values, */
    MODEL_BASES = 4,       /* most basis responses, */
    MODEL_NUMBERS = 4,     /* most numbers of a constraint */
    MODEL_CORNERS = 4,     /* most corners on a map */
};

enum model_role { MODEL_GEOMETRY, MODEL_DIRECTION, MODEL_AMPLITUDE };

struct model_parameter {
    const char *name; /* with its unit: "strike_deg" */
    enum model_role role;
    double min, max; /* where the model makes sense, inclusive */
    /* Geometry: the numbers that respond() takes of this parameter, e.g. sine and cosine; they are
     * computed once for each value on the grid. NULL: one, the parameter itself. */
    int nvalues;
    void (*derive)(double x, double *value);
    bool optional; /* it is `usual` where nobody says anything else */
    double usual;
};

/* A condition on a source (or on each pair of sources) that a job may ask for. */
struct model_constraint {
    const char *name;  /* its key in the job file; NULL ends a table */
    const char *takes; /* what stands there, for people: "[min, max]"; NULL: every job has it,
                          nobody may ask for it */
    int nnumbers;      /* how many numbers that is; 1: a number, more: a list */
    bool pair;         /* about two sources, else about one */
    unsigned looks_at; /* bit i: parameter i of the source (of both) decides */
    /* number [nnumbers], then the rock's rigidity, Pa */
    bool (*holds)(const double *number, const double *x, const double *other);
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
    /* Basis responses of MODEL_LANES sources, each at a point of its own.
     * value [nvalues] pointers to [MODEL_LANES]: the values of all geometry parameters in order
     * east, north [MODEL_LANES] the points, m
     * out [nbasis][3][MODEL_LANES] basis displacements, m per unit of amplitude */
    void (*respond)(const struct model *m, const double *const *value, const double *east,
                    const double *north, double *out);
    int depth; /* number of the value that is a depth; 0: none, stations have no heights then */
    /* Weights of the basis responses, w[nbasis], of a source x. NULL: nbasis = 1, weight 1. */
    void (*weigh)(const struct model *m, const double *x, double *w);
    /* Seismic moment of a source x, N m, in a rock of this rigidity, Pa. NULL: it has none. */
    double (*moment)(const struct model *m, const double *x, double rigidity);
    /* A source x seen from above: its corners {east, north}, m, the first two at its upper edge; or
     * one point. Returns how many. NULL: it has no place on a map. */
    int (*outline)(const struct model *m, const double *x, double corner[MODEL_CORNERS][2]);
    /* Of the basis responses (vectors; [nbasis]) of all sources x [nparameters] within these ranges
     * at a point: the most that they can be, and the most that they differ by from the linear
     * function of the parameters that touches them in the middle; INFINITY where that is not known.
     * Directions and amplitudes are not looked at. NULL: nobody has found out. */
    void (*remainder)(const struct model *m, const struct model_range *x, double east, double north,
                      double *size, double *rest);
    /* For devices: kernels/<text>.c with the kernels <text>_brute and <text>_probe, see search.h.
     * NULL: this model runs on CPU units only. */
    const char *text;
    /* The same with other parameters: optional ones behind this one's, or another one in the place
     * of one of them; more work. Those that both have stand at the same place. NULL: none. */
    const struct model *wider;
    int form; /* which one it is, for its own functions */
};

const struct model *model_at(int i);              /* NULL past the end */
const struct model *model_find(const char *name); /* NULL: there is none */

/* Numbers that respond() takes in all, of parameter p (0 unless it is geometry), and of those
 * before it. */
int model_values(const struct model *m);
int model_parameter_values(const struct model *m, int p);
int model_values_before(const struct model *m, int p);
/* Number of the parameter called `name` (`size` characters of it); -1: none. */
int model_parameter_find(const struct model *m, const char *name, int size);
/* The model, or a wider one, where only that has a parameter of this name. */
const struct model *model_with(const struct model *m, const char *name, int size);
/* Its number of the given role; -1: none. */
int model_amplitude(const struct model *m);

/* The numbers of parameter p (geometry) / of all of them, value[model_values()], for respond(). */
void model_derive(const struct model *m, int p, double x, double *value);
void model_derive_all(const struct model *m, const double *x, double *value);
/* respond(), where the points lie so high above the datum of depths: sources are so much deeper,
 * Williams & Wadge (1998), Geophys. Res. Lett. 25, 1549-1552. height [MODEL_LANES] m */
void model_respond(const struct model *m, const double *const *value, const double *east,
                   const double *north, const double *height, double *out);
/* The weights w[nbasis], 1 where the model has none. */
void model_weigh(const struct model *m, const double *x, double *w);

/* Moment magnitude, Hanks & Kanamori (1979); NAN where there is no moment. */
double model_magnitude(double moment);

/* Zeroed memory at a multiple of MODEL_ALIGN, for lanes; free() it. NULL: out of memory. */
void *model_alloc(size_t bytes);

/* Displacement u[3] of the point by one source, straight from its parameters. */
void model_forward(const struct model *m, const double *x, double east, double north, double *u);
