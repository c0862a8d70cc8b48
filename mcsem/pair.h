/* mcsem/pair.h – a pair as a sum over wavenumbers: which depths, which wavenumbers, which weights.
 *
 * A wire is a Gauss-Legendre sum of point dipoles; every point has its own offset and weights on
 * one common grid of wavenumbers (hankel.h), and points at one depth share a view
 * (kernels/field.h). Nothing here depends on the frequency or on resistivities below the pair. */
#pragma once

#include "mcsem/hankel.h"
#include "mcsem/survey.h"
#include <complex.h>

enum {
    PAIR_POINTS = 512,          /* most points of a wire */
    PAIR_SIGHTS = 512,          /* most of the source's, each with the receiver's wire */
    PAIR_NEAR = 4,              /* of a point almost straight above the receiver */
    PAIR_GROUP = 8,             /* wavenumbers come in groups; the last one may weigh nothing */
    PAIR_WAVES = HANKEL_LADDER, /* most wavenumbers */
    PAIR_PART = 5               /* numbers of a part: rho, 1/rho, rho_v/rho, thickness, layer */
};

/* Functions of a field, in the order of kernels/field.h's struct field_weights; of a magnetic
 * dipole's H the places of V and V' are those of TE's I' and V'. */
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

/* The integrals of which fields are made: of horizontal dipoles, seen horizontally through TM, TE,
 * and J1's difference of both, and vertically; of vertical dipoles ("rods"), likewise; H of
 * magnetic dipoles. */
enum pair_integral_number {
    PAIR_E_TM,
    PAIR_E_TE,
    PAIR_E_BOTH,
    PAIR_E_UP,
    PAIR_E_ROD,
    PAIR_E_ROD_UP,
    PAIR_H_TM,
    PAIR_H_TE,
    PAIR_H_BOTH,
    PAIR_H_UP,
    PAIR_H_ROD,
    PAIR_LOOP_TM,
    PAIR_LOOP_TE,
    PAIR_LOOP_BOTH,
    PAIR_LOOP_UP,
    PAIR_LOOP_ROD,
    PAIR_LOOP_ROD_UP,
    PAIR_INTEGRALS
};
enum { PAIR_TERMS = 7 }; /* room for those of one field */

/* int (function - less) J_nu(l r) l^power dl */
struct pair_integral {
    enum pair_function function, less; /* less: PAIR_NONE or another one */
    int nu, power;
};
extern const struct pair_integral pair_integrals[PAIR_INTEGRALS];

/* A share of a field: factor times an integral. */
struct pair_term {
    enum pair_integral_number integral;
    double factor;
};

/* A point dipole and a channel. */
struct pair_sight {
    double x, y, r; /* from the point to the receiver, horizontally */
    double lift;    /* what is odd in r is by this smaller: 1, but straight above */
    double z;       /* depth of the point */
    double cosine, sine, flat, steep; /* of the dipole's azimuth, of its dip */
    const double *direction;          /* [3] of the channel */
    bool magnetic, loop;              /* H; of a magnetic dipole */
    double source_rho, receiver_rho;  /* rho_v of their layers */
};

/* Two depths and the parts of the layers there. */
struct pair_view {
    int below, between, above; /* parts */
    int lower, upper;          /* layers of the two depths */
    bool swapped;              /* the source is the lower one */
    double *part;              /* [below + between + above][PAIR_PART] */
};

/* What a point adds to the weights of a function: its filter's weights of J0 or J1, times a power
 * of the wavenumber. */
struct pair_addition {
    int what; /* EXACT_WHAT(function, nu, power) of kernels/exact_plan.h */
    double scale;
};
enum { PAIR_ADDITIONS = PAIR_TERMS + 1 }; /* most of a point */

/* Where a point's filter stands on the plan's wavenumbers, and what it adds. */
struct pair_point {
    int places;   /* wavenumbers below its first one */
    double shift; /* of its points */
    int additions;
    struct pair_addition addition[PAIR_ADDITIONS];
};

/* The points of a wire that lie at one depth, and their weights. */
struct pair_level {
    int points; /* so many, beside one another */
    struct pair_view view;
    double in_lower, in_upper; /* 1: the field has the factor rho_v of that layer */
    double *weight;            /* [PAIR_FUNCTIONS][PAIR_WAVES] */
};

struct pair_plan {
    int layers, base; /* base: first layer below all depths */
    const struct hankel *filter;
    double longest;          /* of the points' offsets: wavenumbers are its ladder's over this */
    int nwaves;              /* a multiple of PAIR_GROUP */
    double wave[PAIR_WAVES]; /* ascending, 1/m */
    int magnetic;            /* EXACT_E, … (kernels/exact_plan.h) */
    int nlevels;
    struct pair_level level[PAIR_POINTS];
    struct pair_point point[PAIR_SIGHTS]; /* level by level */
    double *room;
};

/* Cuts the layers at the two depths; the base begins at or above layer `base`. view->part has room
 * for layers->n + 2 parts. */
void pair_cut(const struct earth_layers *layers, int base, double source, double receiver,
              struct pair_view *view);

/* Room for plans of up to `layers` layers. EK_UNAVAILABLE: memory. close is fine after a failed
 * open. */
enum ek_status pair_open(int layers, struct pair_plan *plan);
void pair_close(struct pair_plan *plan);

/* A magnetic dipole's field follows from that of the pair that this is: its E, but for a factor, by
 * reciprocity from H of an electric dipole in the receiver's place. Others stay as they are. */
struct survey_pair pair_seen(const struct survey_pair *pair);
/* The factor, an imaginary number (0: none); multiplies what the sums of pair_seen() are by it, n
 * numbers at a frequency. */
double pair_turn(const struct survey_pair *pair, double line);
void pair_factor(const struct survey_pair *pair, double line, size_t n, double complex *z);

/* Fills *plan for a pair as pair_seen() gives it; `tolerance` of the sum over the wire. EK_USAGE:
 * the wire or dipole passes so close by the receiver that PAIR_SIGHTS or PAIR_WAVES do not suffice.
 * outline: but for wavenumbers and weights, which follow from the rest. */
enum ek_status pair_outline(const struct earth_layers *layers, const struct survey_pair *pair,
                            const struct hankel *filter, double tolerance, struct pair_plan *plan);
enum ek_status pair_make(const struct earth_layers *layers, const struct survey_pair *pair,
                         const struct hankel *filter, double tolerance, struct pair_plan *plan);

/* The terms of a field, at most PAIR_TERMS - 1; returns how many. */
int pair_terms(const struct pair_sight *sight, struct pair_term *term);

/* Reciprocity: what stands for a function, and with which sign, where the source is the lower one
 * (TE's I changes its form only). */
enum pair_function pair_function_below(enum pair_function function, double *sign);

/* The wire's points for a relative error of `tolerance`, and their shares, which sum up to 1;
 * returns how many, PAIR_SIGHTS + 1 if more would be needed. */
int pair_sights(const struct survey_pair *pair, const struct earth_layers *layers, double tolerance,
                struct pair_sight *sight, double *share);

/* Cosine and sine of an angle in radians, 0 where they are as near to it as angles are rounded; the
 * unit vector of a direction, exact along an axis. */
double pair_cosine(double angle);
double pair_sine(double angle);
void pair_axis(double azimuth, double dip, double u[3]);

/* Whether symmetry makes the field zero over any layered earth. */
bool pair_is_null(const struct survey_pair *pair);

/* EK_USAGE with `path` and the pair's line: the source touches the receiver, so that the sum over
 * the wire cannot have that tolerance. */
enum ek_status pair_check(const struct survey_pair *pair, double tolerance, const char *path);
