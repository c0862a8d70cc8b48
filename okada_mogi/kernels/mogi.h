/* okada_mogi/kernels/mogi.h – displacement of the ground due to the volume change of a small sphere
 * in an elastic half-space: Mogi (1958), Bull. Earthq. Res. Inst. 36, 99-134:
 * u = (1 - nu) dV / pi (E - Es, N - Ns, d) / R^3. */
#ifndef OKADA_MOGI_KERNELS_MOGI_H
#define OKADA_MOGI_KERNELS_MOGI_H

#define MOGI_VALUES 4

#ifndef SQRT
#define SQRT(x) sqrt(x)
#endif
#ifndef DIVIDE
#define DIVIDE(a, b) ((a) / (b))
#endif

/* value: easting, northing and depth of the centre, m; (1 - nu) / pi. out: displacements (east,
 * north, up) per unit of dV. */
FN void mogi_respond(const real *value, real east, real north, real *out)
{
    const real e = east - value[0], n = north - value[1], d = value[2];
    const real r2 = e * e + n * n + d * d;
    const real scale = DIVIDE(value[3], r2 * SQRT(r2));
    out[0] = scale * e;
    out[1] = scale * n;
    out[2] = scale * d;
}

#endif
