/* kirchhoff/segy_words.c – decodes the sample formats of SEG-Y. */
#include "kirchhoff/segy_internal.h"

/* IBM floats have a sign, seven bits of exponent (base 16, excess 64) and 24 bits of fraction.
 * Numbers beyond a float's range become infinite, and the reader refuses them. */
static float float_of_ibm(uint32_t bits)
{
    const double x = ldexp((double)(bits & 0xffffff), 4 * ((int)(bits >> 24 & 0x7f) - 64) - 24);
    return (float)(bits >> 31 ? -x : x);
}

/* The least power of 16 above |x| keeps the most bits; the fraction is rounded, which may carry. */
uint32_t segy_to_ibm(float x)
{
    int binary;
    const double fraction = frexp(fabs((double)x), &binary);
    if (fraction == 0)
        return 0;
    int power =
        (binary + 3 + 4 * 64) / 4; /* of 16, excess 64, so that nothing negative is divided */
    uint32_t bits = (uint32_t)lrint(ldexp(fraction, binary - 4 * (power - 64) + 24));
    if (bits >> 24) {
        bits >>= 4;
        power++;
    }
    return (uint32_t)(x < 0) << 31 | (uint32_t)power << 24 | bits;
}

static void from_ibm(const unsigned char *from, size_t n, bool little, float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = float_of_ibm((uint32_t)segy_unsigned(from + 4 * i, 4, little));
}

static void from_f32(const unsigned char *from, size_t n, bool little, float *to)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)segy_unsigned(from + 4 * i, 4, little);
        memcpy(&to[i], &bits, sizeof bits);
    }
}

static void from_f64(const unsigned char *from, size_t n, bool little, float *to)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = segy_unsigned(from + 8 * i, 8, little);
        double x;
        memcpy(&x, &bits, sizeof x);
        to[i] = (float)x;
    }
}

#define INTEGERS(bytes)                                                                            \
    static void from_i##bytes(const unsigned char *from, size_t n, bool little, float *to)         \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (float)segy_signed(from + (bytes)*i, bytes, little);                           \
    }                                                                                              \
    static void from_u##bytes(const unsigned char *from, size_t n, bool little, float *to)         \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (float)segy_unsigned(from + (bytes)*i, bytes, little);                         \
    }
INTEGERS(1)
INTEGERS(2)
INTEGERS(3)
INTEGERS(4)
INTEGERS(8)

static const struct segy_format formats[] = {
    [1] = {"IBM float", 4, from_ibm},       [2] = {"32-bit integer", 4, from_i4},
    [3] = {"16-bit integer", 2, from_i2},   [5] = {"IEEE float", 4, from_f32},
    [6] = {"IEEE double", 8, from_f64},     [7] = {"24-bit integer", 3, from_i3},
    [8] = {"8-bit integer", 1, from_i1},    [9] = {"64-bit integer", 8, from_i8},
    [10] = {"unsigned 32-bit", 4, from_u4}, [11] = {"unsigned 16-bit", 2, from_u2},
    [12] = {"unsigned 64-bit", 8, from_u8}, [15] = {"unsigned 24-bit", 3, from_u3},
    [16] = {"unsigned 8-bit", 1, from_u1},
};

const struct segy_format *segy_format_find(int code)
{
    const int n = sizeof formats / sizeof *formats;
    return code > 0 && code < n && formats[code].name ? &formats[code] : NULL;
}
