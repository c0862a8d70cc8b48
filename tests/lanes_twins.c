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

/* Of numbers as quotients are taken of. */
static bool divided(lanes a, lanes b)
{
    for (int l = 0; l < LANES; l++) {
        a[l] = fabs(a[l]) > 1e-60 && fabs(a[l]) < 1e60 ? a[l] : 3;
        b[l] = fabs(b[l]) > 1e-60 && fabs(b[l]) < 1e60 ? b[l] : 7;
    }
    return same(lanes_quotient(a, b), a / b) && same(lanes_quotient(REAL(1.0), b), 1.0 / b);
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
    return wrong;
}
