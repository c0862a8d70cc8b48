/* mcsem/pair.h – a pair as a sum over wavenumbers: its depths, wavenumbers and weights.
 *
 * A wire is a Gauss-Legendre sum of point dipoles. Every point has its own offset, and filter
 * weights on one common grid of wavenumbers (hankel.h); points at one depth share a view
 * (kernels/field.h). Nothing here depends on the frequency or on resistivities below the pair. */
#pragma once

#include "mcsem/hankel.h"
#include "mcsem/survey.h"
#include <complex.h>

enum {
    PAIR_POINTS = 512, /* largest number of points of a wire */
    PAIR_ELEMENTS =
        512, /* largest number of elements: points of the source times points of the receiver */
    PAIR_NEAR = 4,              /* elements that replace one that is almost vertical */
    PAIR_GROUP = 8,             /* wavenumbers come in groups; the last ones may have weight 0 */
    PAIR_WAVES = HANKEL_LADDER, /* largest number of wavenumbers */
    PAIR_PART = 5               /* doubles of a part: rho, 1/rho, rho_v/rho, thickness, layer */
};

/* Transmission-line functions, in the order of kernels/field.h's struct field_weights. For H of a
 * magnetic dipole V and V1 stand for TE's I' and V'. */
enum pair_function {
    PAIR_V,
    PAIR_I,
    PAIR_V1,
    PAIR_I1,
    PAIR_TE_V,
    PAIR_TE_I,
    PAIR_FUNCTIONS,
    PAIR_NONE = PAIR_FUNCTIONS,
    PAIR_TE_I1 = PAIR_V,
    PAIR_TE_V1 = PAIR_V1
};

/* The integrals that make up fields. E and H of horizontal electric dipoles: the horizontal
 * components by TM, by TE, and by J1's difference of both; the vertical component; the same for
 * vertical electric dipoles (VED). LOOP: H of horizontal and vertical magnetic dipoles (VMD). */
enum pair_integral_number {
    PAIR_E_TM,
    PAIR_E_TE,
    PAIR_E_BOTH,
    PAIR_E_Z,
    PAIR_E_VED,
    PAIR_E_VED_Z,
    PAIR_H_TM,
    PAIR_H_TE,
    PAIR_H_BOTH,
    PAIR_H_Z,
    PAIR_H_VED,
    PAIR_LOOP_TM,
    PAIR_LOOP_TE,
    PAIR_LOOP_BOTH,
    PAIR_LOOP_Z,
    PAIR_LOOP_VMD,
    PAIR_LOOP_VMD_Z,
    PAIR_INTEGRALS
};
enum { PAIR_TERMS = 7 }; /* room for the terms of one field */

/* int (function - less) J_nu(l r) l^power dl */
struct pair_integral {
    enum pair_function function, less; /* less: subtracted, or PAIR_NONE */
    int nu, power;
};
extern const struct pair_integral pair_integrals[PAIR_INTEGRALS];

/* A term of a field: factor times an integral. */
struct pair_term {
    enum pair_integral_number integral;
    double factor;
};

/* A point of the source and a point of the receiver with its channel. */
struct pair_element {
    double x, y, r;   /* horizontal vector from source to receiver */
    double odd_scale; /* factor of terms odd in r: 1, except almost straight above */
    double z;         /* depth of the source */
    double cos_azimuth, sin_azimuth, cos_dip, sin_dip; /* of the dipole */
    const double *direction;                           /* [3] of the channel */
    bool magnetic, loop;                               /* H; of a magnetic dipole */
    double source_rho, receiver_rho; /* rho_v of the layers of source and receiver */
};

/* The layers cut at two depths, the upper and the lower one of source and receiver. */
struct pair_view {
    int below, between, above; /* number of parts below both, between, above both */
    int lower, upper;          /* layers that contain the two depths */
    bool swapped;              /* the source is the lower one */
    double *part;              /* [pair_parts()][PAIR_PART] */
};

static inline int pair_parts(const struct pair_view *view)
{
    return view->below + view->between + view->above;
}

/* An addition of a point to the weights of a function: its filter weights of J0 or J1 times a power
 * of the wavenumber and a scale. */
struct pair_addition {
    int what; /* EXACT_WHAT(function, nu, power) of kernels/exact_plan.h */
    double scale;
};
enum { PAIR_ADDITIONS = PAIR_TERMS + 1 }; /* most of one point */

/* The position of a point's filter on the plan's wavenumbers, and its additions. */
struct pair_point {
    int places;   /* index of its first wavenumber */
    double shift; /* shift of the filter */
    int additions;
    struct pair_addition addition[PAIR_ADDITIONS];
};

/* The points of a wire at one depth, and their weights. */
struct pair_level {
    int points; /* number of points, consecutive */
    struct pair_view view;
    double in_lower, in_upper; /* 1: the field has the factor rho_v of that layer, else 0 */
    double *weight;            /* [PAIR_FUNCTIONS][PAIR_WAVES] */
};

struct pair_plan {
    int layers, base; /* base: first layer below all depths */
    const struct hankel *filter;
    double lead;    /* wavenumbers begin this many steps of the filter lower than they need to; 0 */
    double longest; /* longest offset, with the lead; wavenumbers are the filter's ladder
                       over this */
    int nwaves;     /* a multiple of PAIR_GROUP */
    double wave[PAIR_WAVES]; /* ascending, 1/m */
    int magnetic;            /* EXACT_E, … (kernels/exact_plan.h) */
    int nlevels;
    struct pair_level level[PAIR_POINTS];
    struct pair_point point[PAIR_ELEMENTS]; /* level by level */
    double *room;
};

/* Cuts the layers at the two depths; the base begins at or above layer `base`. view->part must have
 * room for layers->n + 2 parts. */
void pair_cut(const struct earth_layers *layers, int base, double source, double receiver,
              struct pair_view *view);

/* Allocates plans for up to `layers` layers. EK_UNAVAILABLE: memory. close may be called after a
 * failed open. */
enum ek_status pair_open(int layers, struct pair_plan *plan);
void pair_close(struct pair_plan *plan);

/* E of a magnetic dipole equals, by reciprocity and up to a factor, H of an electric dipole in the
 * receiver's place: returns that pair. Other pairs are returned unchanged. */
struct survey_pair pair_reciprocal(const struct survey_pair *pair);
/* The imaginary part of that imaginary factor (0: none), at w mu0 = `line`. pair_scale_loop
 * multiplies the n sums z of pair_reciprocal() by it. */
double pair_loop_factor(const struct survey_pair *pair, double line);
void pair_scale_loop(const struct survey_pair *pair, double line, size_t n, double complex *z);

/* Fills *plan for a pair from pair_reciprocal(); `tolerance` is that of the sum over the wire.
 * pair_outline() omits wavenumbers and weights, which follow from the rest. EK_USAGE: the source
 * passes so close to the receiver that PAIR_ELEMENTS or PAIR_WAVES do not suffice. */
enum ek_status pair_outline(const struct earth_layers *layers, const struct survey_pair *pair,
                            const struct hankel *filter, double tolerance, struct pair_plan *plan);
enum ek_status pair_make(const struct earth_layers *layers, const struct survey_pair *pair,
                         const struct hankel *filter, double tolerance, struct pair_plan *plan);

/* Fills in the terms of a field, at most PAIR_TERMS - 1; returns their number. */
int pair_terms(const struct pair_element *element, struct pair_term *term);

/* By reciprocity: the function that replaces `function`, and its sign, where the source is the
 * lower one (TE's I only changes its form). */
enum pair_function pair_function_below(enum pair_function function, double *sign);

/* Fills in the elements for a relative error of `tolerance` and their shares, which add up to 1;
 * returns their number, PAIR_ELEMENTS + 1 if more would be needed. */
int pair_elements(const struct survey_pair *pair, const struct earth_layers *layers,
                  double tolerance, struct pair_element *element, double *share);

/* Cosine and sine of an angle in radians, exactly 0 where they are 0 up to the rounding of the
 * angle; the unit vector of a direction, exact along an axis. */
double pair_cosine(double angle);
double pair_sine(double angle);
void pair_axis(double azimuth, double dip, double u[3]);

/* Whether symmetry makes the field zero over any layered earth. */
bool pair_is_null(const struct survey_pair *pair);

/* EK_USAGE with `path` and the pair's line: the source touches the receiver, so the sum over the
 * wire cannot reach that tolerance. */
enum ek_status pair_check(const struct survey_pair *pair, double tolerance, const char *path);
