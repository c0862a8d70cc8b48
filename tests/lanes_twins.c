/* tests/lanes_twins.c – at each instruction level: what src/lanes.h makes one instruction, against
 * its portable form and against each lane's own arithmetic. */
#include "tests/lanes_twins.h"
#include "src/lanes_math.h"

#include <stdbool.h>
#include <string.h>

static bool same(lanes a, lanes b)
{
    return !memcmp(&a, &b, sizeof a);
}

static bool moved(lanes a, lanes b)
{
    const lanes back = lanes_back1(a, b), ahead = lanes_ahead1(a, b);
    bool good = back[0] == a[LANES - 1] && ahead[LANES - 1] == b[0];
    for (int l = 1; l < LANES; l++)
        good = good && back[l] == b[l - 1] && ahead[l - 1] == a[l];
    return good;
}

static bool transposed(const double *x)
{
    lanes row[LANES];
    bool good = true;
    for (int r = 0; r < LANES; r++)
        row[r] = LOAD(x, r * LANES);
    lanes_transpose(row);
    for (int r = 0; r < LANES; r++)
        for (int c = 0; c < LANES; c++)
            good = good && row[r][c] == x[c * LANES + r];
    return good;
}

static bool stored_some(lanes a)
{
    bool good = true;
    for (int count = 0; count <= LANES + 1; count++) {
        double to[LANES + 1];
        memset(to, 0, sizeof to);
        lanes_store_some(to, a, count);
        for (int l = 0; l < LANES; l++)
            good = good && (l < count ? !memcmp(&to[l], (char *)&a + 8 * l, 8) : to[l] == 0);
    }
    return good;
}

/* 1 / b with 14 bits, as a processor's guess. */
static lanes guessed(lanes b)
{
    for (int l = 0; l < LANES; l++) {
        uint64_t bits;
        const double y = 1 / b[l] * (1 + ldexp((double)(l - 3), -16));
        memcpy(&bits, &y, sizeof bits);
        bits &= ~(uint64_t)0 << 38;
        memcpy((char *)&b + 8 * l, &bits, sizeof bits);
    }
    return b;
}

static bool quotient(lanes a, lanes b)
{
    return same(lanes_quotient(a, b), a / b) && same(lanes_quotient_from(guessed(b), a, b), a / b);
}

/* Of numbers as quotients are taken of. */
static bool divided(lanes a, lanes b)
{
    for (int l = 0; l < LANES; l++) {
        a[l] = fabs(a[l]) > 1e-60 && fabs(a[l]) < 1e60 ? a[l] : 3;
        b[l] = fabs(b[l]) > 1e-60 && fabs(b[l]) < 1e60 ? b[l] : 7;
    }
    return quotient(a, b) && quotient(REAL(1.0), b);
}

/* A numerator whose quotient by b, an odd integer of 53 bits, lies next to the middle between two
 * numbers: a 2^54 = c (mod b), so that a 2^54 / b is an integer and c / b. */
static double beside_a_tie(uint64_t b, int c)
{
    unsigned __int128 inverse = 1; /* of 2^54 */
    for (int k = 0; k < 54; k++)
        inverse = (inverse & 1 ? inverse + b : inverse) >> 1;
    __int128 a = (__int128)inverse * c % (__int128)b;
    return (double)(uint64_t)(a < 0 ? a + (__int128)b : a);
}

/* Quotients that are hard to round, by divisors of all sizes, of which some have all bits set. */
static int divided_hard(void)
{
    int wrong = 0;
    uint64_t seed = 88172645463325252;
    for (int i = 0; i < 4000; i++) {
        lanes a, b;
        for (int l = 0; l < LANES; l++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            uint64_t n = (uint64_t)1 << 52 | seed >> 12 | 1;
            if (i % 3 == 1)
                n = ((uint64_t)1 << 53) - 1 - 2 * (seed >> 60);
            else if (i % 3 == 2)
                n = ((uint64_t)1 << 52) + 1 + 2 * (seed >> 60);
            b[l] = (double)n;
            a[l] = beside_a_tie(n, (int)(seed % 9) - 4);
        }
        wrong += !divided(a, b);
    }
    return wrong;
}

int lanes_twins(const double *x, int n)
{
    int wrong = 0;
    for (int i = 0; i + 3 * 8 <= n; i++) {
        const lanes a = LOAD(x, i), b = LOAD(x, i + 8), c = LOAD(x, i + 16);
        const lanes_mask test = a < b;
        lanes chosen;
        unsigned bits = 0;
        for (int l = 0; l < LANES; l++) {
            chosen[l] = test[l] ? a[l] : b[l];
            bits |= a[l] < b[l] ? 1u << l : 0;
        }
        wrong += !same(lanes_sqrt(lanes_abs(a)), lanes_sqrt_each(lanes_abs(a)));
        wrong += !same(lanes_fma(a, b, c), lanes_fma_each(a, b, c));
        wrong += !same(lanes_min(a, b), lanes_min_each(a, b));
        wrong += !same(lanes_select(test, a, b), chosen);
        wrong += lanes_bits_of(test) != bits || lanes_bits_of_each(test) != bits;
        wrong += lanes_any(test) != (bits != 0);
        wrong += !stored_some(a) + !divided(a, b);
    }
    for (int i = 0; i < 64; i++) {
        double y[64];
        for (int k = 0; k < 64; k++)
            y[k] = 64 * i + k;
        wrong += !moved(LOAD(y, 0), LOAD(y, 8)) + !transposed(y);
    }
    return wrong + divided_hard();
}
