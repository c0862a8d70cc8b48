/* mcsem/shared_table.h – what the parts of shared mode know of one another: the table of a cell and
 * what it is made of. Numbers of a table's row: [nfreq][2][columns], real parts first. */
#pragma once

#include "mcsem/shared.h"

enum { SHARED_DEPTHS = 8, SHARED_VIEWS = SHARED_DEPTHS * SHARED_DEPTHS };
#define SHARED_WIRE_TOLERANCE 1e-7 /* of the sum over a wire */

/* An array that grows. */
struct shared_room {
    double *at;
    size_t n;
};

/* Nodes in depth, Chebyshev's between first and last. */
struct shared_depths {
    int n;
    double first, last;
    double z[SHARED_DEPTHS];
};

/* A thread's own. */
struct shared_scratch {
    struct shared_room slot;   /* [slots][waves][2 columns] functions of the wavenumber */
    struct shared_room kept;   /* [layers][4][2][lanes] */
    struct shared_room parts;  /* [layers + 2][4][2][lanes] */
    struct shared_room weight; /* [SHARED_ROWS][table rows] */
};

struct shared {
    int width, layers;
    /* the question */
    const struct earth_layers *earth;
    const struct survey_pair *pair;
    int nfreq, nz, columns;
    const double *freq;
    /* the table's layout */
    const struct hankel *filter;
    double spacing, bend;    /* nodes stand evenly in ln r + r / bend */
    int nodes, waves;        /* waves: a multiple of PAIR_GROUP */
    struct shared_room node; /* [nodes] offsets, ascending */
    struct shared_depths source, receiver;
    int nused, place[PAIR_INTEGRALS]; /* of an integral in the table, -1: not used */
    int nviews;                       /* source.n receiver.n, the receiver's first */
    struct pair_view view[SHARED_VIEWS];
    int *deepest;              /* [nfreq][waves / PAIR_GROUP] last layer that matters */
    size_t ndeepest;           /* room of that */
    struct shared_room part;   /* [views][layers + 2][PAIR_PART] */
    struct shared_room wave;   /* [waves] */
    struct shared_room layer;  /* [layers][4] */
    struct shared_room weight; /* [nused][nodes][waves] */
    /* its making and its content */
    struct shared_room reach; /* [nfreq][waves / lanes][nz][2][2][lanes] derivatives of the base */
    struct shared_room base;  /* [nfreq][waves / lanes][2][2][lanes] what is seen of it */
    struct shared_room table; /* [nused][views][nodes] rows */
    struct shared_scratch *scratch; /* [width] */
};

/* At least n numbers. EK_UNAVAILABLE. */
enum ek_status shared_reserve(struct shared_room *room, size_t n);

/* Decides about nodes, wavenumbers and views for the question, and fills what depends on geometry
 * alone. As shared_make(). */
enum ek_status shared_lay_out(struct shared *shared, size_t npairs, int density, bool *fits);

/* Filter steps, up to whole ones, between the last node's grid of wavenumbers and node j's. */
int shared_places(const struct shared *shared, int j);

/* Where offset r stands among the nodes, numbered from 0. */
double shared_position(const struct shared *shared, double r);

/* Doubles of a row, and where row `node` of an integral's and a view's part of the table begins. */
static inline size_t shared_row(const struct shared *s)
{
    return (size_t)s->nfreq * 2 * (size_t)s->columns;
}
static inline double *shared_part(const struct shared *s, int place, int view, int node)
{
    const size_t part = (size_t)place * (size_t)s->nviews + (size_t)view;
    return s->table.at + (part * (size_t)s->nodes + (size_t)node) * shared_row(s);
}
