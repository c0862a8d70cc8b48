/* mcsem/shared_table.h – internals of shared mode: the table of a cell and how it is made. A row of
 * the table is [nfreq][2][columns], real parts first. */
#pragma once

#include "mcsem/shared.h"

enum { SHARED_DEPTHS = 8, SHARED_VIEWS = SHARED_DEPTHS * SHARED_DEPTHS };
#define SHARED_WIRE_TOLERANCE 1e-7 /* relative error of the sum over a wire */

/* An array that grows. */
struct shared_room {
    double *at;
    size_t n;
};

/* Chebyshev nodes in depth, between first and last. */
struct shared_depths {
    int n;
    double first, last;
    double z[SHARED_DEPTHS];
};

/* Ranges of offset and depth, and integrals, that pairs need. */
struct shared_needs {
    double r_first, r_last;
    struct shared_depths source, receiver;
    bool used[PAIR_INTEGRALS];
};
extern const struct shared_needs shared_nothing;

/* Working memory of one thread. */
struct shared_scratch {
    struct shared_room slot;   /* [slots][waves][2 columns] functions of the wavenumber */
    struct shared_room kept;   /* [layers][4][2][lanes] */
    struct shared_room parts;  /* [layers + 2][4][2][lanes] */
    struct shared_room weight; /* [SHARED_ROWS][table rows] 0 between calls */
};

struct shared {
    int width, layers;
    /* the arguments of shared_make() */
    const struct earth_layers *earth;
    const struct survey_pair *pair;
    int nfreq, nz, columns;
    const double *freq;
    /* the table's layout */
    const struct hankel *filter;
    int which;               /* number of the filter */
    double spacing, bend;    /* nodes are evenly spaced in ln r + r / bend */
    int nodes, waves;        /* waves: a multiple of PAIR_GROUP */
    struct shared_room node; /* [nodes] offsets, ascending */
    struct shared_depths source, receiver;
    int nused, place[PAIR_INTEGRALS]; /* index of an integral in the table, -1: not used */
    int nviews;                       /* source.n * receiver.n; the receiver's index runs fastest */
    struct pair_view view[SHARED_VIEWS];
    int *deepest;              /* [nfreq][waves / PAIR_GROUP] last layer that matters */
    size_t ndeepest;           /* its capacity */
    struct shared_room part;   /* [views][layers + 2][PAIR_PART] */
    struct shared_room wave;   /* [waves] */
    struct shared_room layer;  /* [layers][4] */
    struct shared_room weight; /* [nused][nodes][waves] */
    /* intermediate results and the table */
    struct shared_room reach; /* [nfreq][waves / lanes][nz][2][2][lanes] derivatives of the base */
    struct shared_room base;  /* [nfreq][waves / lanes][2][2][lanes] impedance of the base */
    struct shared_room table; /* [nused][views][nodes] rows */
    struct shared_scratch *scratch; /* [width] */
};

/* Ensures room for n numbers; the contents are lost. EK_UNAVAILABLE. */
enum ek_status shared_reserve(struct shared_room *room, size_t n);

/* Adds a pair to the needs; returns the number of its elements, which are stored with their shares
 * (room for PAIR_ELEMENTS), or 0: a table cannot serve it. shared_join adds the needs of others.
 * Any thread. */
int shared_look(const struct earth_layers *earth, const struct survey_pair *pair,
                struct shared_needs *needs, struct pair_element *element, double *share);
void shared_join(struct shared_needs *needs, const struct shared_needs *others);

/* The points, and their shares, of which shared_parts() adds up a pair: the middle and the ends of
 * its wire. They refer to the pair. Returns their number. */
enum { SHARED_POINTS = 3 };
int shared_points(const struct earth_layers *earth, const struct survey_pair *pair,
                  struct pair_element element[SHARED_POINTS], double share[SHARED_POINTS]);

/* Chooses nodes, wavenumbers and depths for the needs of pairs over shared->earth at shared->freq.
 * As shared_make(). */
enum ek_status shared_lay_out(struct shared *shared, const struct shared_needs *needs, int density,
                              bool *fits);
/* Cuts the layers for each view. shared_weigh: also fills in the weights of the nodes.
 * EK_UNAVAILABLE. */
enum ek_status shared_cut(struct shared *shared);
enum ek_status shared_weigh(struct shared *shared);

/* Filter steps, rounded up, from the wavenumber grid of the last node to that of node j. */
int shared_places(const struct shared *shared, int j);
/* The shift of node j's filter. */
double shared_shift(const struct shared *shared, int j);

/* What is evenly spaced, ln r + r / bend. */
double shared_stretch(const struct shared *shared, double r);
/* The position of offset r among the nodes, which are numbered from 0. */
double shared_position(const struct shared *shared, double r);

/* Doubles in a row; the beginning of row `node` of an integral in a view. */
static inline size_t shared_row(const struct shared *s)
{
    return (size_t)s->nfreq * 2 * (size_t)s->columns;
}
static inline double *shared_part(const struct shared *s, int place, int view, int node)
{
    const size_t part = (size_t)place * (size_t)s->nviews + (size_t)view;
    return s->table.at + (part * (size_t)s->nodes + (size_t)node) * shared_row(s);
}
