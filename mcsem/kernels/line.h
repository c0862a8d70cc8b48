/* mcsem/kernels/line.h – a layered earth as two transmission lines, one per mode.
 *
 * For one horizontal wavenumber l and zhat = i w mu0, per layer of resistivity rho (horizontal) and
 * anisotropy a = rho_v / rho:
 *   TM: g^2 = a l^2 + zhat / rho, impedance  Zc = g rho
 *   TE: g^2 =   l^2 + zhat / rho, admittance Yc = g / zhat, stored without the factor 1 / zhat
 *
 * Seen from the top of a layer of thickness d that rests on an impedance (TE: admittance) zb, with
 * e = exp(-2 g d), s = zb + zc, t = zb - zc:
 *   z = zc (s + e t) / (s - e t)
 * and its derivatives, with u = zc / (s - e t) and de = -2 d e dg:
 *   dz/dzb = 4 e u^2
 *   dz = [((s + e t) - 4 e u zb) dzc - 4 d u s e t dg] / (s - e t)
 * All derivatives are with respect to ln rho with a fixed, or, for `alone` = 1, with rho_v
 * fixed. */
#ifndef MCSEM_KERNELS_LINE_H
#define MCSEM_KERNELS_LINE_H

#include "mcsem/kernels/complex.h"

/* A layer: rho, 1 / rho, rho_v / rho, thickness (unused for half-spaces). */
struct line_layer {
    double rho, sigma, ratio, d;
};

#define LINE_TM 0
#define LINE_TE 1

/* Independent of the layer: l^2, w mu0, and which derivative. */
struct line_field {
    real l2;
    double w, alone;
};

/* A mode in a layer: g, dg, exp(-2 g d), zc, dzc. */
struct line_wave {
    struct cx g, dg, e, zc, dzc;
};

FN struct line_layer line_layer(GLOBAL const double *layers, int at)
{
    struct line_layer l;
    l.rho = layers[4 * at];
    l.sigma = layers[4 * at + 1];
    l.ratio = layers[4 * at + 2];
    l.d = layers[4 * at + 3];
    return l;
}

/* The characteristic values of the mode, once g and dg are known. */
FN struct line_wave line_character(struct line_wave w, struct line_layer l, int te)
{
    w.zc = w.g;
    w.dzc = w.dg;
    if (!te) {
        w.zc = cx_scale(w.g, REAL(l.rho));
        w.dzc = cx_scale(cx_add(w.g, w.dg), REAL(l.rho));
    }
    return w;
}

FN struct line_wave line_wave(struct line_field f, struct line_layer l, int te)
{
    struct line_wave w;
    const double b = f.w * l.sigma;
    const real al2 = te ? f.l2 : f.l2 * l.ratio;
    const struct cx_root g = cx_root(al2, REAL(b));
    const struct cx change = te ? cx_of(REAL(0.0), REAL(b)) : cx_of(al2 * f.alone, REAL(b));
    w.g = g.root;
    w.dg = cx_scale(cx_mul(change, g.inverse), REAL(-0.5));
    w.e = cx_exp_minus(w.g, 2.0 * l.d);
    return line_character(w, l, te);
}

/* Whether TM has the same g as TE. */
FN int line_alike(struct line_field f, struct line_layer l)
{
    return l.ratio == 1.0 && f.alone == 0.0;
}

FN struct line_wave line_tm_wave(struct line_field f, struct line_layer l, struct line_wave te)
{
    return line_alike(f, l) ? line_character(te, l, LINE_TM) : line_wave(f, l, LINE_TM);
}

/* A step up over one layer: z at its top, its derivatives with respect to zb and to the layer. */
struct line_step {
    struct cx z, by_below, by_layer;
};

FN struct line_step line_step(struct cx zb, struct line_wave w, double d)
{
    struct line_step r;
    const struct cx s = cx_add(zb, w.zc), t = cx_sub(zb, w.zc), et = cx_mul(w.e, t);
    const struct cx top = cx_add(s, et), inverse = cx_inverse(cx_sub(s, et));
    const struct cx u = cx_mul(w.zc, inverse), eu4 = cx_scale(cx_mul(w.e, u), REAL(4.0));
    const struct cx by_character = cx_mul(cx_less(top, eu4, zb), w.dzc);
    const struct cx by_wave = cx_mul(cx_mul(cx_scale(u, REAL(4.0 * d)), w.dg), cx_mul(s, et));
    r.z = cx_mul(top, u);
    r.by_below = cx_mul(eu4, u);
    r.by_layer = cx_mul(cx_sub(by_character, by_wave), inverse);
    return r;
}

/* The value alone. */
FN struct cx line_up(struct cx zb, struct line_wave w)
{
    const struct cx s = cx_add(zb, w.zc), et = cx_mul(w.e, cx_sub(zb, w.zc));
    return cx_mul(cx_mul(w.zc, cx_add(s, et)), cx_inverse(cx_sub(s, et)));
}

/* Transmission through a layer: voltage at its bottom / voltage at its top, and the derivatives of
 * the logarithm of this ratio with respect to zb and to the layer.
 *   TM: 2 e1 zb / (s + e t),  TE: 2 e1 zc / (s - e t),  e1 = exp(-g d) */
struct line_pass {
    struct cx ratio, by_below, by_layer;
};

FN struct line_pass line_pass(struct cx zb, struct line_wave w, double d, int te)
{
    struct line_pass r;
    const struct cx s = cx_add(zb, w.zc), et = cx_mul(w.e, cx_sub(zb, w.zc));
    const struct cx inverse = cx_inverse(te ? cx_sub(s, et) : cx_add(s, et));
    const struct cx one = cx_of(REAL(1.0), REAL(0.0));
    const struct cx plus = cx_add(one, w.e), minus = cx_sub(one, w.e);
    const struct cx turn = cx_mul(cx_scale(et, REAL(2.0 * d)), w.dg); /* t de = -turn */
    const struct cx ddg = cx_scale(w.dg, REAL(d));
    struct cx own;
    r.ratio = cx_scale(cx_mul(cx_exp_minus(w.g, d), cx_mul(te ? w.zc : zb, inverse)), REAL(2.0));
    if (te) {
        own = cx_mul(cx_add(cx_mul(plus, w.dzc), turn), inverse);
        r.by_below = cx_scale(cx_mul(minus, inverse), REAL(-1.0));
        r.by_layer = cx_sub(cx_sub(cx_mul(w.dzc, cx_inverse(w.zc)), own), ddg);
    } else {
        own = cx_mul(cx_sub(turn, cx_mul(minus, w.dzc)), inverse);
        r.by_below = cx_mul(cx_mul(minus, w.zc), cx_mul(inverse, cx_inverse(zb)));
        r.by_layer = cx_sub(own, ddg);
    }
    return r;
}

/* Complex number `at` in memory: parts and numbers `stride` apart, real part first. */
FN struct cx line_get(GLOBAL const double *p, long at, long stride)
{
    return cx_of(LOAD(p, 2 * at * stride), LOAD(p, (2 * at + 1) * stride));
}

FN void line_put(GLOBAL double *p, long at, long stride, struct cx z)
{
    STORE(p, 2 * at * stride, z.re);
    STORE(p, (2 * at + 1) * stride, z.im);
}

FN void line_gather(GLOBAL double *p, long at, long stride, struct cx z)
{
    line_put(p, at, stride, cx_add(line_get(p, at, stride), z));
}

#endif
