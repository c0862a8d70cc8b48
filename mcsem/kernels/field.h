/* mcsem/kernels/field.h – the contribution of one wavenumber to a field and its derivatives.
 *
 * Source and receiver lie at two depths, the upper and the lower one. Layers are cut there, so the
 * stack consists of the *base* (whole layers below both) and of the parts of layers below the lower
 * depth, between the two, and above the upper one. With z the impedance seen downwards at the upper
 * (zd) and the lower (zl) depth, zu the one seen upwards, and T the ratio of the voltages at the
 * lower and upper depth, the four functions of TM for a source at the upper depth are
 *   V = T zu zd / (zu + zd),  I = V / zl   (horizontal dipole)
 *   V' = T zd / (zu + zd),    I' = V' / zl (vertical dipole)
 * and of TE, by admittances, V = zhat T / (zu + zd), I = T zl / (zu + zd). Where the source is the
 * lower one, reciprocity gives V, I' unchanged, V' = -I, I = -V' (Michalski & Mosig 1997). A field
 * is F = sum of these with given weights. Its derivatives are found by going back through the
 * stack: dF/dz at the upper end of a layer gives dF/dz at its lower end and the layer's own
 * contribution. */
#ifndef MCSEM_KERNELS_FIELD_H
#define MCSEM_KERNELS_FIELD_H
#include "mcsem/kernels/line.h"

/* The depths of source and receiver. Parts are stored in this order: those below, from the base up;
 * those between, upwards; those above, from the air down. */
struct field_view {
    GLOBAL const double *part; /* [below + between + above][5] line_layer and the layer's number */
    int below, between, above;
    int swapped;               /* the source is the lower one */
    int lower, upper;          /* layers of the two depths */
    double in_lower, in_upper; /* 1: the field has the factor rho_v of that layer, else 0 */
    int loop;                  /* H of a magnetic dipole: v and v1 of the weights belong to TE */
};

/* Weights of V, I, V', I' of TM, and of V, I of TE, for a source at the upper depth. */
struct field_weights {
    real v, i, v1, i1, te_v, te_i;
};

/* Which derivatives are wanted. */
#define FIELD_NONE 0
#define FIELD_BASE 1 /* of the layers of the base */
#define FIELD_ALL  2

/* Memory of a case: sums [1 + layers] of the field and its derivatives, and values kept for the way
 * back; complex numbers, `stride` apart. */
struct field_room {
    GLOBAL double *sum;
    GLOBAL double *kept; /* [layers][4] */
    GLOBAL double *part; /* [parts][4] */
    long stride;
    int derive;
};

/* Value of a field and its derivative with respect to the base's impedance (TE: admittance). */
struct field_share {
    struct cx value, seed;
};

FN struct line_layer field_part(struct field_view v, int k)
{
    return line_layer(v.part + 5 * k, 0);
}

/* Adds a part's contribution to its layer's derivative. */
FN void field_gather(struct field_room r, struct field_view v, int k, struct cx share)
{
    line_gather(r.sum, 1 + (long)v.part[5 * k + 4], r.stride, share);
}

/* Carries z up over the parts first .. first+n-1; keeps what the way back needs. */
FN struct cx field_climb(struct line_field f, struct field_view v, int first, int n, struct cx z,
                         int te, struct field_room r)
{
    for (int k = first; k < first + n; k++) {
        const struct line_layer l = field_part(v, k);
        const struct line_step s = line_step(z, line_wave(f, l, te), l.d);
        line_put(r.part, 4L * k, r.stride, s.by_below);
        line_put(r.part, 4L * k + 1, r.stride, s.by_layer);
        z = s.z;
    }
    return z;
}

/* The same between the two depths; also computes T. */
FN struct line_pass field_cross(struct line_field f, struct field_view v, struct cx z, int te,
                                struct field_room r)
{
    struct line_pass through;
    through.ratio = cx_of(REAL(1.0), REAL(0.0));
    for (int k = v.below; k < v.below + v.between; k++) {
        const struct line_layer l = field_part(v, k);
        const struct line_wave w = line_wave(f, l, te);
        const struct line_step s = line_step(z, w, l.d);
        const struct line_pass p = line_pass(z, w, l.d, te);
        through.ratio = cx_mul(through.ratio, p.ratio);
        line_put(r.part, 4L * k, r.stride, s.by_below);
        line_put(r.part, 4L * k + 1, r.stride, s.by_layer);
        line_put(r.part, 4L * k + 2, r.stride, p.by_below);
        line_put(r.part, 4L * k + 3, r.stride, p.by_layer);
        z = s.z;
    }
    through.by_below = z; /* the impedance at the upper depth */
    return through;
}

/* Upper half-space: the characteristic value of layer 0. */
FN struct line_wave field_air(struct line_field f, GLOBAL const double *layers, int te)
{
    struct line_layer air = line_layer(layers, 0);
    air.d = 0.0;
    return line_wave(f, air, te);
}

/* Value of a field and its derivatives with respect to the impedances at the two depths. */
struct field_ends {
    struct cx value, by_lower, by_upper, by_above;
    struct cx at_lower, at_upper; /* terms of the value with the factor rho_v of these layers */
};

FN struct field_ends field_tm(struct field_weights w, struct cx lower, struct cx upper,
                              struct cx above, struct cx pass)
{
    struct field_ends e;
    const struct cx s = cx_inverse(cx_add(above, upper)), y = cx_inverse(lower);
    const struct cx ts = cx_mul(pass, s), tsz = cx_mul(ts, upper);
    const struct cx a = cx_of(MAD(w.i, y.re, w.v), w.i * y.im);    /* of horizontal dipoles */
    const struct cx b = cx_of(MAD(w.i1, y.re, w.v1), w.i1 * y.im); /* of vertical ones */
    const struct cx sum = cx_mad(above, a, b), tss = cx_mul(ts, s);
    const struct cx currents =
        cx_mul(cx_mul(tsz, y), cx_add(cx_scale(above, w.i), cx_of(w.i1, REAL(0.0))));
    e.value = cx_mul(tsz, sum);
    e.by_lower = cx_scale(cx_mul(currents, y), REAL(-1.0));
    e.by_upper = cx_mul(cx_mul(tss, above), sum);
    e.by_above = cx_mul(cx_mul(tss, upper), cx_sub(cx_mul(upper, a), b));
    e.at_lower = currents;
    e.at_upper = cx_mul(tsz, b);
    return e;
}

/* TE has no vertical electric field. zhat = i w mu0, or 1 where the weight of V has that factor. */
FN struct field_ends field_te(struct field_weights w, int swapped, struct cx zhat, struct cx lower,
                              struct cx upper, struct cx above, struct cx pass)
{
    struct field_ends e;
    const struct cx s = cx_inverse(cx_add(above, upper)), ts = cx_mul(pass, s);
    const struct cx zero = cx_of(REAL(0.0), REAL(0.0)), current = cx_scale(ts, w.te_i);
    const struct cx through = cx_mul(current, swapped ? cx_scale(above, REAL(-1.0)) : lower);
    e.value = cx_add(cx_mul(ts, cx_scale(zhat, w.te_v)), through);
    e.by_upper = cx_scale(cx_mul(e.value, s), REAL(-1.0));
    e.by_above = swapped ? cx_sub(e.by_upper, current) : e.by_upper;
    e.by_lower = swapped ? zero : current;
    e.at_lower = zero;
    e.at_upper = zero;
    return e;
}

/* TE of a magnetic dipole, where series voltages replace the shunt currents of an electric one: w.v
 * is the weight of I' = T zu zl / (zu + zd), w.v1 of V' = T zu / (zu + zd) or, where the source is
 * the lower one, -T zl / (zu + zd) by reciprocity; all times `factor`. */
FN struct field_ends field_te_loop(struct field_weights w, int swapped, struct cx factor,
                                   struct cx lower, struct cx upper, struct cx above,
                                   struct cx pass)
{
    struct field_ends e;
    const struct cx s = cx_inverse(cx_add(above, upper));
    const struct cx ts = cx_mul(cx_mul(pass, s), factor), zero = cx_of(REAL(0.0), REAL(0.0));
    const real a = swapped ? -w.v1 : w.te_i, b = swapped ? -w.te_i : w.v1;
    const struct cx by_lower = cx_of(MAD(w.v, above.re, a), w.v * above.im);
    const struct cx by_above = cx_of(MAD(w.v, lower.re, b), w.v * lower.im);
    const struct cx rest = cx_of(MAD(b, above.re, w.te_v), b * above.im);
    e.value = cx_mul(ts, cx_mad(by_lower, lower, rest));
    e.by_lower = cx_mul(ts, by_lower);
    e.by_upper = cx_scale(cx_mul(e.value, s), REAL(-1.0));
    e.by_above = cx_mad(ts, by_above, e.by_upper);
    e.at_lower = zero;
    e.at_upper = zero;
    return e;
}

/* The field of one mode at the two depths. */
FN struct field_ends field_of_mode(struct field_view v, struct field_weights w, int te,
                                   struct cx zhat, struct cx lower, struct cx upper,
                                   struct cx above, struct cx pass)
{
    if (te)
        return v.loop ? field_te_loop(w, v.swapped, zhat, lower, upper, above, pass)
                      : field_te(w, v.swapped, zhat, lower, upper, above, pass);
    if (v.loop) {
        w.v = REAL(0.0);
        w.v1 = REAL(0.0);
    }
    return field_tm(w, lower, upper, above, pass);
}

/* Goes back through the parts first+n-1 .. first. `value`: the field, if `passing` (its ratio T
 * depends on these parts). */
FN struct cx field_back(struct field_view v, int first, int n, struct cx by, struct cx value,
                        int passing, struct field_room r)
{
    for (int k = first + n - 1; k >= first; k--) {
        struct cx share = cx_mul(by, line_get(r.part, 4L * k + 1, r.stride));
        by = cx_mul(by, line_get(r.part, 4L * k, r.stride));
        if (passing) {
            share = cx_mad(value, line_get(r.part, 4L * k + 3, r.stride), share);
            by = cx_mad(value, line_get(r.part, 4L * k + 2, r.stride), by);
        }
        if (r.derive == FIELD_ALL)
            field_gather(r, v, k, share);
    }
    return by;
}

/* The contribution of one mode to a field. */
FN struct field_share field_mode(struct line_field f, struct field_view v, struct field_weights w,
                                 struct cx zhat, GLOBAL const double *layers, struct cx base,
                                 int te, struct field_room r)
{
    struct field_share out;
    const int over = v.below + v.between;
    const struct line_wave air = field_air(f, layers, te);
    const struct cx lower = field_climb(f, v, 0, v.below, base, te, r);
    const struct line_pass pass = field_cross(f, v, lower, te, r);
    const struct cx upper = pass.by_below;
    const struct cx above = field_climb(f, v, over, v.above, air.zc, te, r);
    const struct field_ends e = field_of_mode(v, w, te, zhat, lower, upper, above, pass.ratio);
    out.value = e.value;
    out.seed = cx_of(REAL(0.0), REAL(0.0));
    if (r.derive == FIELD_NONE)
        return out;
    out.seed = cx_add(field_back(v, v.below, v.between, e.by_upper, e.value, 1, r), e.by_lower);
    out.seed = field_back(v, 0, v.below, out.seed, e.value, 0, r);
    if (r.derive == FIELD_ALL) {
        const struct cx top = field_back(v, over, v.above, e.by_above, e.value, 0, r);
        line_gather(r.sum, 1, r.stride, cx_mul(top, air.dzc));
        line_gather(r.sum, 1 + v.lower, r.stride, cx_scale(e.at_lower, REAL(v.in_lower)));
        line_gather(r.sum, 1 + v.upper, r.stride, cx_scale(e.at_upper, REAL(v.in_upper)));
    }
    return out;
}

/* The base, seen from its top: impedance of TM, admittance of TE. */
struct field_base {
    struct cx tm, te;
};

/* Carries the base up over layers deepest .. top; the deepest one is taken as a half-space. */
FN struct field_base field_rise(struct line_field f, GLOBAL const double *layers, int top,
                                int deepest, struct field_room r)
{
    struct field_base b;
    struct line_layer l = line_layer(layers, deepest);
    l.d = 0.0;
    struct line_wave te = line_wave(f, l, LINE_TE), tm = line_tm_wave(f, l, te);
    b.tm = tm.zc;
    b.te = te.zc;
    line_put(r.kept, 4L * deepest + 1, r.stride, tm.dzc);
    line_put(r.kept, 4L * deepest + 3, r.stride, te.dzc);
    for (int k = deepest - 1; k >= top; k--) {
        l = line_layer(layers, k);
        te = line_wave(f, l, LINE_TE);
        tm = line_tm_wave(f, l, te);
        if (r.derive == FIELD_NONE) {
            b.tm = line_up(b.tm, tm);
            b.te = line_up(b.te, te);
            continue;
        }
        const struct line_step stm = line_step(b.tm, tm, l.d), ste = line_step(b.te, te, l.d);
        line_put(r.kept, 4L * k, r.stride, stm.by_below);
        line_put(r.kept, 4L * k + 1, r.stride, stm.by_layer);
        line_put(r.kept, 4L * k + 2, r.stride, ste.by_below);
        line_put(r.kept, 4L * k + 3, r.stride, ste.by_layer);
        b.tm = stm.z;
        b.te = ste.z;
    }
    return b;
}

/* Derivatives of the base's impedance and admittance with respect to its layers top .. deepest:
 * reach [layers][2]. Call after field_rise() with derivatives. */
FN void field_reach(int top, int deepest, struct field_room r, GLOBAL double *reach)
{
    const struct cx one = cx_of(REAL(1.0), REAL(0.0));
    struct field_base way;
    way.tm = one;
    way.te = one;
    for (int k = top;; k++) {
        line_put(reach, 2L * (k - top), r.stride,
                 cx_mul(way.tm, line_get(r.kept, 4L * k + 1, r.stride)));
        line_put(reach, 2L * (k - top) + 1, r.stride,
                 cx_mul(way.te, line_get(r.kept, 4L * k + 3, r.stride)));
        if (k == deepest)
            break;
        way.tm = cx_mul(way.tm, line_get(r.kept, 4L * k, r.stride));
        way.te = cx_mul(way.te, line_get(r.kept, 4L * k + 2, r.stride));
    }
}

/* Distributes the derivatives `seed` with respect to the base over its layers. */
FN void field_sink(struct field_base seed, int top, int deepest, struct field_room r)
{
    for (int k = top;; k++) {
        const struct cx tm = line_get(r.kept, 4L * k + 1, r.stride);
        const struct cx te = line_get(r.kept, 4L * k + 3, r.stride);
        const struct cx sum = line_get(r.sum, 1 + k, r.stride);
        line_put(r.sum, 1 + k, r.stride, cx_mad(seed.te, te, cx_mad(seed.tm, tm, sum)));
        if (k == deepest)
            break;
        seed.tm = cx_mul(seed.tm, line_get(r.kept, 4L * k, r.stride));
        seed.te = cx_mul(seed.te, line_get(r.kept, 4L * k + 2, r.stride));
    }
}

#endif
