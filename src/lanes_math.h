/* src/lanes_math.h – mathematical functions for kernel texts on host vectors. They have no
 * branches, so a lane's bits do not depend on its neighbours. Include it after lanes.h and before
 * the kernel text, which defines these macros differently for devices. */
#pragma once

#include "src/lanes.h"

typedef uint64_t lanes_bits __attribute__((vector_size(8 * LANES)));

#define SELECT(test, a, b) lanes_select(test, a, b)
#define ANY(test)          lanes_any(test)
#define SQRT(x)            lanes_sqrt(x)
#define ABS(x)             lanes_abs(x)
#define LOG(x)             lanes_log(x)
#define ATAN2(y, x)        lanes_atan2(y, x)

FN int lanes_any(lanes_mask test)
{
    return lanes_bits_of(test) != 0;
}

FN lanes lanes_abs(lanes x)
{
    return (lanes)((lanes_mask)x & INT64_MAX);
}

/* Natural logarithm of normal positive numbers, 1 ulp: x = 2^k m with m in [sqrt(1/2), sqrt(2));
 * log m = 2 artanh((m - 1) / (m + 1)) by our own minimax polynomial. */
FN lanes lanes_log(lanes x)
{
    const uint64_t one = (uint64_t)1 << 52, root_half = 0x3fe6a09e667f3bcd;
    const lanes_bits bits = (lanes_bits)x, biased = bits - root_half + 1024 * one;
    const lanes_bits power = biased & ~(one - 1);
    const lanes k = (lanes)((biased >> 52) | 0x4330000000000000) - (0x1p52 + 1024);
    const lanes m = (lanes)(bits - power + 1024 * one);
    const lanes f = (m - 1.0) / (m + 1.0), z = f * f;
    const lanes zz = z * z;
    const lanes p01 = 0.1999999999987049693 * z + 0.3333333333333340416;
    const lanes p23 = 0.1111110254199047164 * z + 0.1428571433743455403;
    const lanes p45 = 0.07660930987947253873 * z + 0.0909162194293451577;
    const lanes p = (0.07360556155223972078 * zz + p45) * (zz * zz) + (p23 * zz + p01);
    const double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b3ap-40;
    const lanes g = f + f;
    return k * ln2_high + (g + (g * z * p + k * ln2_low));
}

/* The angle of the point (x, y), 2 ulp; 0 at the origin. t = min / max of |x|, |y|, or (t - 1) / (t
 * + 1) of that, whichever is below tan(pi / 8); atan t = t - t^3 times our own minimax polynomial.
 */
FN lanes lanes_atan2(lanes y, lanes x)
{
    const double pi = 0x1.921fb54442d18p+1, tan_eighth = 0x1.a827999fcef32p-2;
    const lanes a = lanes_abs(y), b = lanes_abs(x);
    const lanes_mask steep = a > b;
    const lanes low = lanes_select(steep, b, a), high = lanes_select(steep, a, b);
    const lanes_mask large = low > tan_eighth * high;
    const lanes top = lanes_select(large, low - high, low);
    const lanes bottom = lanes_select(large, low + high, high);
    const lanes t = top / (bottom + 0x1p-1000), z = t * t;
    const lanes zz = z * z, z4 = zz * zz;
    const lanes p01 = 0.3333333333333193301 - 0.1999999999943665359 * z;
    const lanes p23 = 0.1428571421995628549 - 0.111111075414624529 * z;
    const lanes p45 = 0.09090800845144645522 - 0.07690302694021019612 * z;
    const lanes p67 = 0.06642976050594270356 - 0.05701450248863456863 * z;
    const lanes p89 = 0.04382888912928598653 - 0.02153071465205201567 * z;
    const lanes p = ((p89 * z4) + (p67 * zz + p45)) * z4 + (p23 * zz + p01);
    lanes r = t - t * z * p;
    r = lanes_select(large, r + pi / 4, r);
    r = lanes_select(steep, pi / 2 - r, r);
    r = lanes_select(x < 0.0, pi - r, r);
    return (lanes)((lanes_mask)r | ((lanes_mask)y & INT64_MIN));
}
