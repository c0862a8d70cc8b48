/* tests/kernels/barrier.c – a kernel with a barrier, which the host compiler does not compile. */

/* out[group] = sum over the group's 64 values, in a fixed order. */
KERNEL(barrier_sum, 64, 1, 1)(GLOBAL const double *in, GLOBAL double *out, int n)
{
    LOCAL double part[64];
    int i = GID(0), l = LID(0);
    part[l] = i < n ? in[i] : 0.0;
    BARRIER;
    for (int half_way = 32; half_way > 0; half_way /= 2) {
        if (l < half_way)
            part[l] = part[l] + part[l + half_way];
        BARRIER;
    }
    if (l == 0)
        out[GROUP(0)] = part[0];
}
