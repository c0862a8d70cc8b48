/* okada_mogi/kernels/interval.h – which amplitudes a component allows: the displacement is
 * amplitude * g, so low <= amplitude * g <= high bounds the amplitude. The one rule of host and
 * devices. */
#ifndef OKADA_MOGI_KERNELS_INTERVAL_H
#define OKADA_MOGI_KERNELS_INTERVAL_H

#ifndef SELECT
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define ABS(x)             fabs(x)
#endif

/* Narrows [least, most]; nothing is left where least > most. By |g|, so that both zeros are one:
 * then a bound is infinite, or no number where it is 0 itself. What is no number narrows nothing:
 * the judge will see. Nor does what is almost 0, whose reciprocal overflows. */
FN void interval_narrow(real g, real low, real high, real *least, real *most)
{
    const real size = ABS(g), per = 1.0 / size, x = low * per, y = high * per;
    const real from = SELECT(g < 0.0, -y, x), to = SELECT(g < 0.0, -x, y);
    *least = SELECT((from > *least) & ((size > 1e-290) | (size == 0.0)), from, *least);
    *most = SELECT((to < *most) & ((size > 1e-290) | (size == 0.0)), to, *most);
}

#endif
