/* kirchhoff/lsm.h – least-squares migration: the image x whose demigration comes closest to the
 * traces d, by conjugate gradients on the normal equations (CGLS; Hestenes & Stiefel 1952).
 *
 * With M the migration (what is summed, undivided) and M^T its exact adjoint, x minimizes
 * |d - M^T x|. Steps of all units alternate: odd ones migrate the residual, even ones demigrate the
 * search direction; lsm_step() does what lies in between. Both operators use the same rows, nodes
 * and filters, a trace is demigrated by one thread in the order of the tiles: the same bits on
 * every unit. The norm of the residual falls with every iteration. */
#pragma once

#include "kirchhoff/migrate.h"

/* How far it is. */
struct lsm_state {
    double square; /* of the last gradient */
    int done,
        steps; /* iterations; steps, and what the first image is when summed again, of the run */
    struct resum_verdict again;
};

enum { LSM_PIECES = 6 };

struct lsm {
    struct migrate *m;
    int iterations;
    struct lsm_state at;
    size_t n;                              /* numbers of an image */
    size_t first, end;                     /* this process's traces, in survey->order */
    float *observed, *residual, *forecast; /* [segy->n][ns]; forecast: of the direction */
    double *x, *direction, *gradient;      /* [n]; gradient: M d */
    double energy;                         /* of the traces */
    double *norm; /* [iterations + 1] of the residual, relative to that of the traces */
    struct arena arena;
};

/* Bytes of such a thing. */
size_t lsm_bytes(const struct migrate *m);

/* Reads the traces of chunks begin .. end - 1; from now on m migrates the residual. EK_UNAVAILABLE,
 * EK_USAGE: traces. Caller owns *l; close accepts NULL. */
enum ek_status lsm_open(struct migrate *m, int iterations, size_t begin, size_t end,
                        struct lsm **l);
void lsm_close(struct lsm *l);

/* From the beginning. */
void lsm_reset(struct lsm *l);

/* Where all that a stopped run goes on from stands between two steps, and its bytes; none where l
 * is NULL. */
void lsm_pieces(struct lsm *l, void *piece[LSM_PIECES], uint64_t bytes[LSM_PIECES]);

/* Step `number`, from 1, migrates; else it demigrates. */
static inline bool lsm_migrates(int number)
{
    return number % 2 == 1;
}

/* After step `number` of 2 * iterations: the image of all ranks becomes a direction, or a forecast
 * a new residual and image; after the last the image is x. Collective. *last: nothing is left to
 * explain. */
void lsm_step(struct lsm *l, int number, bool *last);

/* |<d - r, d> - <x, M d>| / (|d - r| |d|): zero, were M^T the adjoint and arithmetic exact.
 * Collective. */
double lsm_mismatch(const struct lsm *l);
