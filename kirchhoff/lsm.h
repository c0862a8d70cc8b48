/* kirchhoff/lsm.h – least-squares migration: finds the image x whose demigration is closest to the
 * traces d, by conjugate gradients on the normal equations (CGLS; Hestenes & Stiefel 1952).
 *
 * With M the migration (the undivided sum) and M^T its exact adjoint, x minimizes |d - M^T x|. All
 * units alternate between steps: odd ones migrate the residual, even ones demigrate the search
 * direction; lsm_step() does the vector operations in between. Both operators use the same rows,
 * nodes and filters, and one thread demigrates a trace in the order of the tiles, so every unit
 * computes the same bits. The norm of the residual falls with every iteration. */
#pragma once

#include "kirchhoff/migrate.h"

/* Progress. */
struct lsm_state {
    double square;              /* squared norm of the last gradient */
    int done, steps;            /* iterations and steps of the whole run so far */
    struct resum_verdict again; /* check of the first image */
};

enum { LSM_PIECES = 6 };

struct lsm {
    struct migrate *m;
    int iterations;
    struct lsm_state at;
    size_t n;                              /* points of an image */
    size_t first, end;                     /* this process's traces, in survey->order */
    float *observed, *residual, *modelled; /* [segy->n][ns]; modelled: demigrated direction */
    double *x, *direction, *gradient;      /* [n]; gradient: M d */
    double energy;                         /* squared norm of the traces */
    double *norm; /* [iterations + 1] norm of the residual, relative to that of the traces */
    struct arena arena;
};

/* Bytes that lsm_open() allocates. */
size_t lsm_bytes(const struct migrate *m);

/* Reads the traces of chunks begin .. end - 1; from then on m migrates the residual.
 * EK_UNAVAILABLE, EK_USAGE: traces. Caller owns *l; close accepts NULL. */
enum ek_status lsm_open(struct migrate *m, int iterations, size_t begin, size_t end,
                        struct lsm **l);
void lsm_close(struct lsm *l);

/* Restarts from x = 0. */
void lsm_reset(struct lsm *l);

/* The memory blocks, and their sizes in bytes, from which a stopped run can resume between two
 * steps; all of size 0 if l is NULL. */
void lsm_pieces(struct lsm *l, void *piece[LSM_PIECES], uint64_t bytes[LSM_PIECES]);

/* Whether step `number` (from 1) migrates; the others demigrate. */
static inline bool lsm_migrates(int number)
{
    return number % 2 == 1;
}

/* Call after step `number` of 2 * iterations: turns the image of all ranks into a direction, or
 * modelled traces into a new residual and image; after the last step the image is x. Collective.
 * *last: all iterations are done, or the gradient is 0. */
void lsm_step(struct lsm *l, int number, bool *last);

/* Dot test, |<M^T p, d> - <p, M d>| / (|M^T p| |d|) with the last direction p: zero if M^T were the
 * exact adjoint in exact arithmetic. Collective. */
double lsm_mismatch(const struct lsm *l);
