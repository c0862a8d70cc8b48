/* okada_mogi/kernels/okada.h – displacement of the ground due to uniform slip on, or opening of, a
 * rectangular fault in an elastic half-space: Okada (1985), BSSA 75(4), 1135-1154, eqs. (24)-(29).
 *
 * Sums over the four corners (xi_i, eta_j), signs + - - +, are formed inside the functions: four
 * logarithms become one of a ratio, eight arc tangents two angles of products of complex numbers.
 * Terms that are equal at both ends of an edge cancel and are left out, which removes the
 * singularities of the paper's rules (R + eta = 0, R + xi = 0, xi = 0, q = 0, cos dip = 0):
 *
 *   1 / (R (R + xi))       = -xi / (R rho^2)       + a term without xi,     rho^2 = eta^2 + q^2
 *   1 / (R (R + eta))      = -eta / (R X^2)        + a term without eta,    X^2 = xi^2 + q^2
 *   I5 cos dip             = -atan(kappa xi / B)   + a term without eta,    kappa = cos / (1 +
 * sin), B = R + eta - kappa q
 *
 * B is positive for every point of the ground, so that the angle never jumps. okada_steep() avoids
 * the remaining cancellation by 1 / cos dip, in I1, I3 and I4. */
#ifndef OKADA_MOGI_KERNELS_OKADA_H
#define OKADA_MOGI_KERNELS_OKADA_H

#ifndef SELECT
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define ANY(test)          (test)
#define SQRT(x)            sqrt(x)
#define ABS(x)             fabs(x)
#define LOG(x)             log(x)
#define ATAN2(y, x)        atan2(y, x)
#endif

/* Values of a fault, in this order. */
#define OKADA_EC     0 /* centre of the fault, m */
#define OKADA_NC     1
#define OKADA_TOP    2 /* depth of the upper edge, m */
#define OKADA_SS     3 /* sine and cosine of the strike */
#define OKADA_CS     4
#define OKADA_S      5 /* of the dip */
#define OKADA_C      6
#define OKADA_KAPPA  7 /* cos / (1 + sin), at least 1e-30 */
#define OKADA_PER_C  8 /* 1 / cos, at most 1e30 */
#define OKADA_HALF   9 /* of the length */
#define OKADA_WIDTH  10
#define OKADA_MEDIUM 11 /* 2 mu / (lambda + mu) = 2 (1 - 2 nu): 1 for lambda = mu */
#define OKADA_VALUES 12

#define OKADA_STEEP 10.0  /* 1 / cos dip from which okada_steep() is used */
#define OKADA_TINY  1e-40 /* m^2: prevents 0 / 0, changes nothing else */

/* A station as seen from a fault: corner (i, j) is at (xi_i, eta_j, q), at the distance R_ij; j = 1
 * is the lower edge. y, d: horizontal and vertical distance from the edges. */
struct okada_view {
    real xi1, xi2, eta1, eta2, q, y1, y2, d1, d2;
    real xx1, xx2, rho1, rho2; /* xi^2, rho^2 */
    real r11, r12, r21, r22;
};

/* Results of okada_algebra(): arguments of the logarithms and angles, which okada_functions()
 * replaces by their values, and finished sums. */
struct okada_terms {
    real l1, l2;               /* sums of ln(R + eta), ln(R + d); first the arguments */
    real theta, theta_x, turn; /* sum of atan(xi eta / (q R)); first y, x and a sign */
    real alpha, alpha_x;       /* sum of atan(kappa xi / B); likewise */
    real a, b;                 /* half the sums of xi / (R + d), y / (R + d) */
    real u[7]; /* partial displacements in the fault's frame; sum of q^2 / (R (R + eta)) */
};

/* I1, I3, I4 of the paper's eqs. (28), (29) for lambda = mu, summed over the corners; c1, c3: I1
 * and I3 times cos dip, which dip slip needs. */
struct okada_integrals {
    real i1, i3, i4, c1, c3;
};

/* 1 / a and 1 / b with one division. */
FN void okada_reciprocals(real a, real b, real *per_a, real *per_b)
{
    const real ratio = 1.0 / (a * b);
    *per_a = ratio * b;
    *per_b = ratio * a;
}

/* R + eta of two corners; as X^2 / (R - eta) if eta < 0, for it may be close to -R. */
FN void okada_sums(real r1, real eta1, real r2, real eta2, real x2, real *p1, real *p2)
{
    const real a1 = r1 + ABS(eta1), a2 = r2 + ABS(eta2), ratio = x2 / (a1 * a2);
    *p1 = SELECT(eta1 < 0.0, ratio * a2, a1);
    *p2 = SELECT(eta2 < 0.0, ratio * a1, a2);
}

FN void okada_look(const real *value, real east, real north, struct okada_view *v)
{
    const real e = east - value[OKADA_EC], n = north - value[OKADA_NC];
    const real s = value[OKADA_S], c = value[OKADA_C], width = value[OKADA_WIDTH];
    const real along = e * value[OKADA_SS] + n * value[OKADA_CS];
    const real across = n * value[OKADA_SS] - e * value[OKADA_CS];
    v->xi1 = along + value[OKADA_HALF];
    v->xi2 = along - value[OKADA_HALF];
    v->y2 = across - 0.5 * c * width;
    v->y1 = v->y2 + c * width;
    v->d2 = value[OKADA_TOP];
    v->d1 = v->d2 + width * s;
    v->q = v->y2 * s - v->d2 * c;
    v->eta2 = v->y2 * c + v->d2 * s;
    v->eta1 = v->eta2 + width;
    v->xx1 = v->xi1 * v->xi1;
    v->xx2 = v->xi2 * v->xi2;
    v->rho1 = v->y1 * v->y1 + (v->d1 * v->d1 + OKADA_TINY);
    v->rho2 = v->y2 * v->y2 + (v->d2 * v->d2 + OKADA_TINY);
    v->r11 = SQRT(v->xx1 + v->rho1);
    v->r12 = SQRT(v->xx1 + v->rho2);
    v->r21 = SQRT(v->xx2 + v->rho1);
    v->r22 = SQRT(v->xx2 + v->rho2);
}

/* Everything that needs neither logarithm nor angle. Each pair of angles, at xi1 and at xi2, is the
 * angle of a product of two numbers with positive real part. */
FN void okada_algebra(const real *value, real east, real north, struct okada_terms *t)
{
    struct okada_view v;
    okada_look(value, east, north, &v);
    const real s = value[OKADA_S], c = value[OKADA_C], kappa = value[OKADA_KAPPA];
    const real q = v.q, qq = q * q, x1 = v.xx1 + (qq + OKADA_TINY), x2 = v.xx2 + (qq + OKADA_TINY);
    real p11, p12, p21, p22, e11, e12, e21, e22;
    okada_sums(v.r11, v.eta1, v.r12, v.eta2, x1, &p11, &p12);
    okada_sums(v.r21, v.eta1, v.r22, v.eta2, x2, &p21, &p22);
    okada_reciprocals(v.r11 + v.d1, v.r12 + v.d2, &e11, &e12);
    okada_reciprocals(v.r21 + v.d1, v.r22 + v.d2, &e21, &e22);
    t->l1 = p11 * p22 / (p12 * p21);
    t->l2 = e12 * e21 / (e11 * e22);
    t->a = 0.5 * (v.xi1 * (e11 - e12) - v.xi2 * (e21 - e22));
    t->b = 0.5 * (v.y1 * (e11 - e21) - v.y2 * (e12 - e22));

    const real kk = kappa * kappa, shift = kappa * q, b12 = p12 - shift, b22 = p22 - shift;
    const real im3 = v.xi1 * (p12 - p11), re3 = (p11 - shift) * b12 + kk * v.xx1;
    const real im4 = v.xi2 * (p22 - p21), re4 = (p21 - shift) * b22 + kk * v.xx2;
    t->alpha = kappa * (im3 * re4 - im4 * re3);
    t->alpha_x = re3 * re4 + kk * im3 * im4;

    const real m1 = v.r11 * v.r12, m2 = v.r21 * v.r22, ee = v.eta1 * v.eta2;
    const real g1 = q * (v.eta1 * v.r12 - v.eta2 * v.r11);
    const real g2 = q * (v.eta1 * v.r22 - v.eta2 * v.r21);
    const real im1 = v.xi1 * g1, re1 = qq * m1 + v.xx1 * ee;
    const real im2 = v.xi2 * g2, re2 = qq * m2 + v.xx2 * ee;
    t->theta = im1 * re2 - im2 * re1;
    t->theta_x = re1 * re2 + im1 * im2;
    t->turn = SELECT(im1 * im2 < 0.0, im1, REAL(0.0));

    real per_m1, per_m2, per_x1, per_x2, per_rho1, per_rho2;
    okada_reciprocals(m1, m2, &per_m1, &per_m2);
    okada_reciprocals(x1, x2, &per_x1, &per_x2);
    okada_reciprocals(v.rho1, v.rho2, &per_rho1, &per_rho2);
    const real u = (v.r12 - v.r11) * per_m1 - (v.r22 - v.r21) * per_m2;
    const real w1 = g1 * per_m1 * per_x1, w2 = g2 * per_m2 * per_x2, w = w1 - w2;
    const real z1 = q * v.xi1 * per_m1, z2 = q * v.xi2 * per_m2;
    const real o1 = (z1 * v.r12 - z2 * v.r22) * per_rho1;
    const real o2 = (z1 * v.r11 - z2 * v.r21) * per_rho2;
    t->u[0] = v.xi2 * w2 - v.xi1 * w1;
    t->u[1] = q * (c * u - s * w);
    t->u[2] = q * (s * u + c * w);
    t->u[3] = q * u;
    t->u[4] = v.y2 * o2 - v.y1 * o1;
    t->u[5] = v.d2 * o2 - v.d1 * o1;
    t->u[6] = -q * w;
}

/* The difference of two angles within +-pi may exceed pi: `turn` then has the sign of the first, as
 * it is nonzero only if both have opposite signs. */
FN void okada_functions(struct okada_terms *t)
{
    const double turn = 0x1.921fb54442d18p+2;
    const real theta = ATAN2(t->theta, t->theta_x);
    t->l1 = LOG(t->l1);
    t->l2 = LOG(t->l2);
    t->alpha = ATAN2(t->alpha, t->alpha_x);
    const real full = SELECT(theta < 0.0, REAL(turn), REAL(-turn));
    t->theta = theta + SELECT(theta * t->turn < 0.0, full, REAL(0.0));
}

FN struct okada_integrals okada_usual(const real *value, const struct okada_terms *t, real i5)
{
    struct okada_integrals n;
    const real s = value[OKADA_S], per_c = value[OKADA_PER_C];
    n.i4 = 0.5 * per_c * (t->l2 - s * t->l1);
    n.c1 = -t->a - s * i5;
    n.c3 = t->b - 0.5 * value[OKADA_C] * t->l1 + s * n.i4;
    n.i1 = n.c1 * per_c;
    n.i3 = n.c3 * per_c;
    return n;
}

/* One corner's share of I1, I3, I4 (without l1), accurate for every dip near the vertical. With
 * z = cos t / (R + d), t = kappa eta + q, and r = kappa xi / B
 *   ln(R + d) - ln(R + eta) = -log(1 + z),   log(1 + z) = z - z^2 h(z),   atan r = r - r^3 g(r^2)
 * every division by the cosine cancels algebraically. |z| < 0.11 and r^2 < 0.005, so short series
 * suffice for g and h. */
FN void okada_steep_corner(const real *value, real xi, real eta, real q, real r, real d,
                           double sign, struct okada_integrals *n)
{
    const real s = value[OKADA_S], kappa = value[OKADA_KAPPA], per_s1 = 1.0 / (1.0 + s);
    const real e = 1.0 / (r + d), u = (kappa * eta + q) * e, z = value[OKADA_C] * u;
    const real k = 1.0 / (2.0 + z), f = z * k, ff = f * f;
    real p = ff * (1.0 / 13) + 1.0 / 11;
    p = p * ff + 1.0 / 9;
    p = p * ff + 1.0 / 7;
    p = p * ff + 1.0 / 5;
    p = p * ff + 1.0 / 3;
    const real h = k - 2.0 * f * k * k * p;
    const real w = xi / (r + eta - kappa * q), rr = kappa * w * kappa * w;
    real g = rr * (1.0 / 13) - 1.0 / 11;
    g = g * rr + 1.0 / 9;
    g = g * rr - 1.0 / 7;
    g = g * rr + 1.0 / 5;
    g = 1.0 / 3 - g * rr;
    const real first = (kappa * (r + (2.0 * s + 1.0) * eta) + (2.0 * s - 1.0) * q) * e;
    const real second = 2.0 * s * kappa * per_s1 * w * w * g;
    n->i1 -= 0.5 * sign * w * per_s1 * (first + second);
    n->i3 += 0.5 * sign * (eta * e * per_s1 + s * u * u * h);
    n->i4 -= 0.5 * sign * u * (1.0 - z * h);
}

FN struct okada_integrals okada_steep(const real *value, real east, real north, real l1)
{
    struct okada_integrals n;
    struct okada_view v;
    okada_look(value, east, north, &v);
    n.i1 = 0.0 * l1;
    n.i3 = -0.5 * l1 / (1.0 + value[OKADA_S]);
    n.i4 = 0.5 * value[OKADA_KAPPA] * l1;
    okada_steep_corner(value, v.xi1, v.eta1, v.q, v.r11, v.d1, 1.0, &n);
    okada_steep_corner(value, v.xi1, v.eta2, v.q, v.r12, v.d2, -1.0, &n);
    okada_steep_corner(value, v.xi2, v.eta1, v.q, v.r21, v.d1, -1.0, &n);
    okada_steep_corner(value, v.xi2, v.eta2, v.q, v.r22, v.d2, 1.0, &n);
    n.c1 = n.i1 * value[OKADA_C];
    n.c3 = n.i3 * value[OKADA_C];
    return n;
}

/* Each lane uses the formulas for its own dip. */
FN struct okada_integrals okada_integrate(const real *value, real east, real north,
                                          const struct okada_terms *t, real i5)
{
    struct okada_integrals n = okada_usual(value, t, i5);
    if (ANY(value[OKADA_PER_C] >= OKADA_STEEP)) {
        const struct okada_integrals m = okada_steep(value, east, north, t->l1);
        n.i1 = SELECT(value[OKADA_PER_C] >= OKADA_STEEP, m.i1, n.i1);
        n.i3 = SELECT(value[OKADA_PER_C] >= OKADA_STEEP, m.i3, n.i3);
        n.i4 = SELECT(value[OKADA_PER_C] >= OKADA_STEEP, m.i4, n.i4);
        n.c1 = SELECT(value[OKADA_PER_C] >= OKADA_STEEP, m.c1, n.c1);
        n.c3 = SELECT(value[OKADA_PER_C] >= OKADA_STEEP, m.c3, n.c3);
    }
    return n;
}

/* From the fault's frame to east, north, up. */
FN void okada_turn(const real *value, real x, real y, real up, real *out)
{
    out[0] = value[OKADA_SS] * x - value[OKADA_CS] * y;
    out[1] = value[OKADA_CS] * x + value[OKADA_SS] * y;
    out[2] = up;
}

/* out: displacements (east, north, up) due to unit strike slip and unit dip slip, both times -2 pi;
 * then, with three bases, those due to unit opening times 2 pi. */
FN void okada_displace(const real *value, real east, real north, const struct okada_terms *t,
                       int bases, real *out)
{
    const real s = value[OKADA_S], c = value[OKADA_C], m = value[OKADA_MEDIUM] * s;
    const real i5 = -value[OKADA_PER_C] * t->alpha;
    const struct okada_integrals n = okada_integrate(value, east, north, t, i5);
    okada_turn(value, t->u[0] + t->theta + m * n.i1, t->u[1] - m * (0.5 * t->l1 + n.i3),
               t->u[2] + m * n.i4, out);
    okada_turn(value, t->u[3] - m * n.c3, t->u[4] + c * t->theta - m * n.c1,
               t->u[5] + s * t->theta + m * t->alpha, out + 3);
    if (bases > 2) {
        const real turned = t->u[0] - t->theta, ms = m * s;
        okada_turn(value, t->u[6] - ms * n.i3, -t->u[5] - s * turned - ms * n.i1,
                   t->u[4] + c * turned - ms * i5, out + 6);
    }
}

#ifdef BASES /* on devices */

/* Whether the station is where the fault reaches the ground: the displacement jumps there, and
 * rounding decides to which side. */
FN int okada_jumps(const real *value, real east, real north)
{
    struct okada_view v;
    okada_look(value, east, north, &v);
    const real near = 1e-9 * (value[OKADA_HALF] + value[OKADA_WIDTH]);
    return ABS(v.q) < near && v.xi1 > -near && v.xi2 < near && v.eta1 > -near && v.eta2 < near;
}

/* NaN where the displacement jumps, so that the host decides. */
FN void okada_respond(const real *value, real east, real north, real *out)
{
    struct okada_terms t;
    okada_algebra(value, east, north, &t);
    okada_functions(&t);
    okada_displace(value, east, north, &t, BASES, out);
    if (okada_jumps(value, east, north))
        for (int k = 0; k < 3 * BASES; k++)
            out[k] = 0.0 / 0.0;
}

#endif

#endif
