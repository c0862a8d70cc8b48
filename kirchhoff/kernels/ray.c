/* kirchhoff/kernels/ray.c – advances a front's rays on a device, one per work-item. The state is
 * six rows x, y, z, px, py, pz of `pitch` rays; a layer is a time step, s, and how many. */
#include "kirchhoff/kernels/ray.h"

KERNEL(ray_advance, 64, 1, 1)
(GLOBAL double *state, int pitch, int count, GLOBAL const double *medium, GLOBAL const float *node,
 GLOBAL const double *layer, int layers)
{
    const int i = GID(0);
    struct ray_bundle b;
    struct ray_state s;
    if (i >= count)
        return;
    s.x = state[i];
    s.y = state[pitch + i];
    s.z = state[2 * pitch + i];
    s.px = state[3 * pitch + i];
    s.py = state[4 * pitch + i];
    s.pz = state[5 * pitch + i];
    b.of[0] = s;
    for (int l = 0; l < layers; l++)
        b = ray_advance_by(ray_medium_load(medium), node, b, layer[2 * l], (int)layer[2 * l + 1]);
    s = b.of[0];
    state[i] = s.x;
    state[pitch + i] = s.y;
    state[2 * pitch + i] = s.z;
    state[3 * pitch + i] = s.px;
    state[4 * pitch + i] = s.py;
    state[5 * pitch + i] = s.pz;
}
