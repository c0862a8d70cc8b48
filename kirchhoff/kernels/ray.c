/* kirchhoff/kernels/ray.c – advances a front's rays on a device, one per work-item. The state is
 * six rows x, y, z, px, py, pz of `pitch` rays. */
#include "kirchhoff/kernels/ray.h"

KERNEL(ray_advance, 64, 1, 1)
(GLOBAL double *state, int pitch, int count, GLOBAL const struct ray_medium *medium,
 GLOBAL const float *node, GLOBAL const struct ray_layer *layer, int layers)
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
        b = ray_advance_by(*medium, node, b, layer[l].h, layer[l].steps);
    s = b.of[0];
    state[i] = s.x;
    state[pitch + i] = s.y;
    state[2 * pitch + i] = s.z;
    state[3 * pitch + i] = s.px;
    state[4 * pitch + i] = s.py;
    state[5 * pitch + i] = s.pz;
}
