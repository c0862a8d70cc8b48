/* mcsem/kernels/exact.h – exact mode: the contribution of one wavenumber to the field of one pair
 * (all depths of its wire) and to the derivatives. */
#ifndef MCSEM_KERNELS_EXACT_H
#define MCSEM_KERNELS_EXACT_H
#include "mcsem/kernels/exact_plan.h"
#include "mcsem/kernels/field.h"

/* The plan of a pair (pair.h). */
struct exact_plan {
    GLOBAL const double *number; /* the levels' parts */
    GLOBAL const double *weight; /* the levels' weights */
    GLOBAL const int *level;     /* [nlevels][EXACT_LEVEL] */
    int nlevels;
    int stride;   /* distance between the weights of two functions */
    int base;     /* first layer below all depths */
    int magnetic; /* EXACT_E, … */
};

/* A view; its field has no factor rho_v, and is none of a magnetic dipole. */
FN struct field_view exact_view(GLOBAL const int *view, GLOBAL const double *number)
{
    struct field_view v;
    v.part = number + view[EXACT_PARTS];
    v.below = view[EXACT_BELOW];
    v.between = view[EXACT_BETWEEN];
    v.above = view[EXACT_ABOVE];
    v.swapped = view[EXACT_SWAPPED];
    v.lower = view[EXACT_LOWER];
    v.upper = view[EXACT_UPPER];
    v.in_lower = 0.0;
    v.in_upper = 0.0;
    v.loop = 0;
    return v;
}

FN struct field_view exact_level(struct exact_plan p, int n, double alone)
{
    GLOBAL const int *level = p.level + EXACT_LEVEL * n;
    struct field_view v = exact_view(level, p.number);
    v.in_lower = alone != 0.0 ? 0.0 : level[EXACT_IN_LOWER];
    v.in_upper = alone != 0.0 ? 0.0 : level[EXACT_IN_UPPER];
    v.loop = p.magnetic == EXACT_LOOP;
    return v;
}

/* A filter's weight at tap i, for a shift at `place`. */
FN double exact_tap(GLOBAL const double *series, int taps, int i, double place)
{
    double t[EXACT_SHIFTS], sum = 0.0;
    t[0] = 1.0;
    t[1] = place;
    UNROLL
    for (int p = 2; p < EXACT_SHIFTS; p++)
        t[p] = 2.0 * place * t[p - 1] - t[p - 2];
    UNROLL
    for (int p = EXACT_SHIFTS - 1; p >= 0; p--)
        sum += t[p] * series[p * taps + i];
    return sum;
}

/* How far down layers from the base on have been looked at: before layer `seen`, and what is lost
 * on the way there and back by a lower bound, in nepers, over the wavenumber and at least. */
#define EXACT_DEEP 46.0
struct exact_descent {
    double by_wave, by_loss;
    int seen;
};

FN struct exact_descent exact_surface(int base)
{
    struct exact_descent d;
    d.by_wave = 0.0;
    d.by_loss = 0.0;
    d.seen = base;
    return d;
}

/* Goes on to the last layer that matters to wavenumbers from `least` on: layers behind it
 * contribute less than 1e-20 (EXACT_DEEP nepers), as re g >= l min(1, sqrt(a)) and re g >=
 * sqrt(w mu0 / 2 rho). */
FN struct exact_descent exact_descend(struct exact_descent d, int nlayers,
                                      GLOBAL const double *layers, double least, double w)
{
    while (d.seen < nlayers - 1 && least * d.by_wave < EXACT_DEEP && d.by_loss < EXACT_DEEP) {
        const struct line_layer l = line_layer(layers, d.seen++);
        d.by_wave += 2.0 * l.d * fmin(1.0, sqrt(l.ratio));
        d.by_loss += 2.0 * l.d * sqrt(0.5 * w * l.sigma);
    }
    return d;
}

/* That layer for each group of the nwaves wavenumbers ladder[] / longest, which ascend. */
FN void exact_deepest(int nlayers, int base, GLOBAL const double *layers, int nwaves,
                      GLOBAL const double *ladder, double longest, double w, GLOBAL int *deepest)
{
    struct exact_descent d = exact_surface(base);
    for (int g = nwaves / EXACT_STRANDS - 1; g >= 0; g--) {
        d = exact_descend(d, nlayers, layers, ladder[g * EXACT_STRANDS] / longest, w);
        deepest[g] = d.seen;
    }
}

/* In the order of pair.h's functions. */
FN struct field_weights exact_weights(struct exact_plan p, int n, int k)
{
    const int first = p.level[EXACT_LEVEL * n + EXACT_WEIGHTS] + k;
    struct field_weights w;
    w.v = LOAD(p.weight, first);
    w.i = LOAD(p.weight, first + p.stride);
    w.v1 = LOAD(p.weight, first + 2 * p.stride);
    w.i1 = LOAD(p.weight, first + 3 * p.stride);
    w.te_v = LOAD(p.weight, first + 4 * p.stride);
    w.te_i = LOAD(p.weight, first + 5 * p.stride);
    return w;
}

/* Adds wavenumber k to the sums in `room`. */
FN void exact_wave(struct line_field at, GLOBAL const double *layers, struct exact_plan p, int k,
                   int deepest, struct field_room room)
{
    const struct cx zero = cx_of(REAL(0.0), REAL(0.0));
    const struct cx zhat = p.magnetic == EXACT_LOOP ? cx_of(REAL(0.0), REAL(-1.0 / at.w))
                           : p.magnetic             ? cx_of(REAL(1.0), REAL(0.0))
                                                    : cx_of(REAL(0.0), REAL(at.w));
    const struct field_base base = field_rise(at, layers, p.base, deepest, room);
    struct cx value = line_get(room.sum, 0, room.stride);
    struct field_base seed;
    seed.tm = zero;
    seed.te = zero;
    for (int n = 0; n < p.nlevels; n++) {
        const struct field_view v = exact_level(p, n, at.alone);
        const struct field_weights w = exact_weights(p, n, k);
        const struct field_share tm = field_mode(at, v, w, zhat, layers, base.tm, LINE_TM, room);
        const struct field_share te = field_mode(at, v, w, zhat, layers, base.te, LINE_TE, room);
        value = cx_add(value, cx_add(tm.value, te.value));
        seed.tm = cx_add(seed.tm, tm.seed);
        seed.te = cx_add(seed.te, te.seed);
    }
    line_put(room.sum, 0, room.stride, value);
    if (room.derive != FIELD_NONE)
        field_sink(seed, p.base, deepest, room);
}

#endif
