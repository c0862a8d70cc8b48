/* npb_mz/kernels/rhs.h – the spatial operator R(u) common to BT, SP and LU.
 *
 * Five conserved variables u = (rho, rho v, E) and seven derived ones,
 *   prim = 1/rho, v_x, v_y, v_z, e, P, phi     e internal energy per mass, P = 0.4 rho e,
 *                                              phi = v.v/2 + 1.96 e,
 * each field as [m][k][j][i]. In these variables the energy's viscous term along d is the second
 * difference of phi + v_d^2/6. All constants are multiplied by the time step. */
#ifndef NPB_MZ_KERNELS_RHS_H
#define NPB_MZ_KERNELS_RHS_H

/* Weights of f(s-2) .. f(s+2) along one axis: `spread` times the second difference minus `damping`
 * times the fourth difference, which never reads the boundary points 0 and n-1. */
struct rhs_weights {
    double m2, m1, c, p1, p2;
};

FN struct rhs_weights rhs_weights(double spread, double damping, int s, int n)
{
    struct rhs_weights w;
    w.m2 = s > 2 ? -damping : 0.0;
    w.m1 = spread + (s > 1 ? 4.0 * damping : 0.0);
    w.c = -2.0 * spread - (s == 1 || s == n - 2 ? 5.0 : 6.0) * damping;
    w.p1 = spread + (s < n - 2 ? 4.0 * damping : 0.0);
    w.p2 = s < n - 3 ? -damping : 0.0;
    return w;
}

struct rhs_prim {
    real ri, vx, vy, vz, e, p, phi;
};

FN struct rhs_prim rhs_prim_of(real rho, real mx, real my, real mz, real energy)
{
    struct rhs_prim r;
    r.ri = 1.0 / rho;
    r.vx = mx * r.ri;
    r.vy = my * r.ri;
    r.vz = mz * r.ri;
    real q = 0.5 * (r.vx * r.vx + r.vy * r.vy + r.vz * r.vz);
    r.e = energy * r.ri - q;
    r.p = 0.4 * rho * r.e;
    r.phi = q + 1.96 * r.e;
    return r;
}

#endif
