/* mcsem/kernels/complex.h – complex numbers and exponentials with the same bits on every processor:
 * only + - * / sqrt and the fused MAD(a, b, c) = a b + c are used, which IEEE 754 defines exactly.
 * Build with -DKERNEL_NO_FMA, on the host with -ffp-contract=off, so that nothing else is fused. */
#ifndef MCSEM_KERNELS_COMPLEX_H
#define MCSEM_KERNELS_COMPLEX_H
#ifndef MAD
#define MAD(a, b, c) fma(a, b, c)
#define ROOT(a)      sqrt(a)
#define LESSER(a, b) ((a) < (b) ? (a) : (b))
/* 2^n for an integer n, -1000 .. 1000: n + 2^52 + 1023 has the exponent in its lowest bits, which a
 * shift moves into place. */
FN double complex_power_of_2(double n)
{
    union {
        double value;
        unsigned long bits;
    } x;
    x.value = n + 4503599627371519.0;
    x.bits <<= 52;
    return x.value;
}
#define POWER_OF_2(n) complex_power_of_2(n)
#endif

struct cx {
    real re, im;
};

FN struct cx cx_of(real re, real im)
{
    struct cx r;
    r.re = re;
    r.im = im;
    return r;
}

FN struct cx cx_add(struct cx a, struct cx b)
{
    return cx_of(a.re + b.re, a.im + b.im);
}

FN struct cx cx_sub(struct cx a, struct cx b)
{
    return cx_of(a.re - b.re, a.im - b.im);
}

FN struct cx cx_scale(struct cx a, real s)
{
    return cx_of(a.re * s, a.im * s);
}

FN struct cx cx_mul(struct cx a, struct cx b)
{
    return cx_of(MAD(a.re, b.re, -(a.im * b.im)), MAD(a.re, b.im, a.im * b.re));
}

/* a b + c */
FN struct cx cx_mad(struct cx a, struct cx b, struct cx c)
{
    return cx_of(MAD(a.re, b.re, MAD(-a.im, b.im, c.re)), MAD(a.re, b.im, MAD(a.im, b.re, c.im)));
}

/* c - a b */
FN struct cx cx_less(struct cx c, struct cx a, struct cx b)
{
    return cx_of(MAD(-a.re, b.re, MAD(a.im, b.im, c.re)), MAD(-a.re, b.im, MAD(-a.im, b.re, c.im)));
}

FN struct cx cx_inverse(struct cx a)
{
    const real s = 1.0 / MAD(a.re, a.re, a.im * a.im);
    return cx_of(a.re * s, -(a.im * s));
}

/* The integer nearest to x, |x| < 2^51. */
FN real cx_nearest(real x)
{
    return (x + 6755399441055744.0) - 6755399441055744.0;
}

#define CX_DEEP 600.0 /* exp(-600) = 3e-261 replaces everything smaller */

/* exp(-x), 0 <= x <= CX_DEEP: 2^-n exp(r), Taylor series in |r| <= ln(2) / 2. */
FN real cx_decay(real x)
{
    const real n = cx_nearest(x * 1.4426950408889634);
    const real r = MAD(n, REAL(2.3190468138462996e-17), MAD(n, REAL(0.69314718055994529), -x));
    real p = MAD(r, REAL(1.6059043836821613e-10), REAL(2.08767569878681e-09));
    p = MAD(p, r, REAL(2.505210838544172e-08));
    p = MAD(p, r, REAL(2.755731922398589e-07));
    p = MAD(p, r, REAL(2.7557319223985893e-06));
    p = MAD(p, r, REAL(2.48015873015873e-05));
    p = MAD(p, r, REAL(0.0001984126984126984));
    p = MAD(p, r, REAL(0.001388888888888889));
    p = MAD(p, r, REAL(0.008333333333333333));
    p = MAD(p, r, REAL(0.041666666666666664));
    p = MAD(p, r, REAL(0.16666666666666666));
    p = MAD(p, r, REAL(0.5));
    p = MAD(p, r, REAL(1.0));
    p = MAD(p, r, REAL(1.0));
    return p * POWER_OF_2(-n);
}

/* sin(r) / r and cos(r) for r^2 = s, |r| <= pi / 2: Taylor series. */
FN real cx_sine_of(real s)
{
    real p = MAD(s, REAL(1.9572941063391263e-20), REAL(-8.22063524662433e-18));
    p = MAD(p, s, REAL(2.8114572543455206e-15));
    p = MAD(p, s, REAL(-7.647163731819816e-13));
    p = MAD(p, s, REAL(1.6059043836821613e-10));
    p = MAD(p, s, REAL(-2.505210838544172e-08));
    p = MAD(p, s, REAL(2.7557319223985893e-06));
    p = MAD(p, s, REAL(-0.0001984126984126984));
    p = MAD(p, s, REAL(0.008333333333333333));
    p = MAD(p, s, REAL(-0.16666666666666666));
    return MAD(p, s, REAL(1.0));
}

FN real cx_cosine_of(real s)
{
    real p = MAD(s, REAL(4.110317623312165e-19), REAL(-1.5619206968586225e-16));
    p = MAD(p, s, REAL(4.779477332387385e-14));
    p = MAD(p, s, REAL(-1.1470745597729725e-11));
    p = MAD(p, s, REAL(2.08767569878681e-09));
    p = MAD(p, s, REAL(-2.7557319223985888e-07));
    p = MAD(p, s, REAL(2.48015873015873e-05));
    p = MAD(p, s, REAL(-0.001388888888888889));
    p = MAD(p, s, REAL(0.041666666666666664));
    p = MAD(p, s, REAL(-0.5));
    return MAD(p, s, REAL(1.0));
}

/* exp(-z d) for 0 <= im z <= re z, d >= 0. The angle is reduced by multiples of pi; odd ones change
 * the sign. */
FN struct cx cx_exp_minus(struct cx z, double d)
{
    const real x = LESSER(z.re * d, REAL(CX_DEEP)), y = LESSER(z.im * d, REAL(CX_DEEP));
    const real j = cx_nearest(y * 0.31830988618379069);
    const real r = MAD(-j, REAL(1.2246467991473532e-16), MAD(-j, REAL(3.1415926535897931), y));
    const real s = r * r, odd = MAD(REAL(-2.0), cx_nearest(MAD(j, REAL(0.5), REAL(-0.25))), j);
    const real size = cx_decay(x) * MAD(REAL(-2.0), odd, REAL(1.0));
    return cx_of(size * cx_cosine_of(s), -(size * (r * cx_sine_of(s))));
}

/* Square root of a + i b, a >= 0, b > 0, and its inverse. */
struct cx_root {
    struct cx root, inverse;
};

FN struct cx_root cx_root(real a, real b)
{
    struct cx_root r;
    const real size = ROOT(MAD(a, a, b * b));
    const real re = ROOT(0.5 * (size + a));
    const real both = 1.0 / (re * size); /* one division for two inverses */
    r.root = cx_of(re, 0.5 * b * (both * size));
    r.inverse = cx_of(re * (both * re), -(r.root.im * (both * re)));
    return r;
}

#endif
