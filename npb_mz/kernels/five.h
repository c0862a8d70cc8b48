/* npb_mz/kernels/five.h – five numbers at a point: density, momentum and energy, or their
 * right-hand sides or corrections; or the derived variables 1/rho, velocity and internal energy per
 * mass; or SP's characteristic variables. */
#ifndef NPB_MZ_KERNELS_FIVE_H
#define NPB_MZ_KERNELS_FIVE_H

struct five {
    real r, x, y, z, e;
};

/* Component m is at[m * field]. */
FN struct five five_load(GLOBAL const double *at, int field)
{
    struct five v;
    v.r = LOAD(at, 0);
    v.x = LOAD(at, field);
    v.y = LOAD(at, 2 * field);
    v.z = LOAD(at, 3 * field);
    v.e = LOAD(at, 4 * field);
    return v;
}

FN void five_store(GLOBAL double *at, int field, struct five v)
{
    STORE(at, 0, v.r);
    STORE(at, field, v.x);
    STORE(at, 2 * field, v.y);
    STORE(at, 3 * field, v.z);
    STORE(at, 4 * field, v.e);
}

/* a + weight * b */
FN struct five five_add(struct five a, double weight, struct five b)
{
    a.r += weight * b.r;
    a.x += weight * b.x;
    a.y += weight * b.y;
    a.z += weight * b.z;
    a.e += weight * b.e;
    return a;
}

/* Momentum, or velocity, along axis d. */
FN real five_along(struct five a, int d)
{
    return d == 0 ? a.x : d == 1 ? a.y : a.z;
}

/* Adds to the momentum along axis d. */
FN struct five five_push(struct five a, int d, real push)
{
    if (d == 0)
        a.x += push;
    else if (d == 1)
        a.y += push;
    else
        a.z += push;
    return a;
}

FN struct five five_sum(struct five a, struct five b)
{
    a.r += b.r;
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
    a.e += b.e;
    return a;
}

#endif
