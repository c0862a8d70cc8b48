/* okada_mogi/kernels/interval.h – the amplitudes that a component allows: its displacement is
 * amplitude * g, so low <= amplitude * g <= high bounds the amplitude. Shared by host and devices.
 */
#ifndef OKADA_MOGI_KERNELS_INTERVAL_H
#define OKADA_MOGI_KERNELS_INTERVAL_H

#ifndef SELECT
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define ABS(x)             fabs(x)
#endif

/* Narrows [least, most]; empty if least > most. Divides by |g|, so that +0 and -0 act alike: bounds
 * become infinite, or NaN where low or high is 0. A NaN narrows nothing (the judge decides), nor
 * does a g so small that its reciprocal overflows. */
FN void interval_narrow(real g, real low, real high, real *least, real *most)
{
    const real size = ABS(g), per = 1.0 / size, x = low * per, y = high * per;
    const real from = SELECT(g < 0.0, -y, x), to = SELECT(g < 0.0, -x, y);
    *least = SELECT((from > *least) & ((size > 1e-290) | (size == 0.0)), from, *least);
    *most = SELECT((to < *most) & ((size > 1e-290) | (size == 0.0)), to, *most);
}

#endif
