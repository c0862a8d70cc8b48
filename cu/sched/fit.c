/* cu/sched/fit.c – least absolute deviations by iteratively reweighted least squares. */
#include "cu/sched/fit.h"
#include "src/sort.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60 };

/* A pivot below this share of its diagonal is linearly dependent on earlier columns. */
static const double NOTHING = 1e-9;

struct normal {
    double a[FIT_MOST][FIT_MOST], b[FIT_MOST];
};

/* Weights of 1 / deviation turn squares into absolute deviations, whose weighted sum is returned.
 */
static inline double add_up(const struct fit_row *row, size_t n, int p, const double *beta,
                            double least, struct normal *to)
{
    struct normal m = {0};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fit_row *r = &row[i];
        double off = -r->y;
        for (int j = 0; beta && j < p; j++)
            off += r->x[j] * beta[j];
        off = beta ? fabs(off) : 1;
        off = off > least ? off : least;
        const double w = r->weight / off;
        sum += r->weight * off;
        for (int j = 0; j < p; j++) {
            m.b[j] += w * r->x[j] * r->y;
            for (int k = 0; k <= j; k++)
                m.a[j][k] += w * r->x[j] * r->x[k];
        }
    }
    for (int j = 0; j < p; j++) /* symmetric */
        for (int k = 0; k < j; k++)
            m.a[k][j] = m.a[j][k];
    *to = m;
    return sum;
}

/* The same; with few parameters, their number is known to the compiler. */
static double add_few(const struct fit_row *row, size_t n, int p, const double *beta, double least,
                      struct normal *m)
{
    switch (p) {
    case 2:
        return add_up(row, n, 2, beta, least, m);
    case 3:
        return add_up(row, n, 3, beta, least, m);
    default:
        return add_up(row, n, p, beta, least, m);
    }
}

/* Gauss-Jordan without pivoting: the matrix is symmetric and positive semidefinite. Parameters that
 * are `out` or undetermined get 0. */
static void solve(struct normal m, int p, const bool *out, double *beta)
{
    double diagonal[FIT_MOST];
    bool used[FIT_MOST] = {false};
    for (int j = 0; j < p; j++)
        diagonal[j] = m.a[j][j];
    for (int j = 0; j < p; j++) {
        if (out[j] || !(m.a[j][j] > NOTHING * diagonal[j]))
            continue;
        used[j] = true;
        for (int i = 0; i < p; i++) {
            double f = i == j ? 0 : m.a[i][j] / m.a[j][j];
            for (int k = 0; f != 0 && k < p; k++)
                m.a[i][k] -= f * m.a[j][k];
            m.b[i] -= f * m.b[j];
        }
    }
    for (int j = 0; j < p; j++)
        beta[j] = used[j] ? m.b[j] / m.a[j][j] : 0;
}

static double typical(const struct fit_row *row, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(row[i].y);
    return n ? sum / (double)n : 0;
}

/* Parameters whose best value is negative are set to 0, one after another. */
void fit_rows(const struct fit_row *row, size_t n, int p, double settled, double *beta)
{
    const double least = fmax(1e-9 * typical(row, n), 1e-300);
    bool out[FIT_MOST] = {false};
    struct normal m;
    for (int again = 1; again;) {
        again = 0;
        double off = INFINITY, before = INFINITY;
        for (int round = 0; round < ROUNDS && (round < 3 || before - off > settled * off);
             round++) {
            before = off;
            off = add_few(row, n, p, round ? beta : NULL, least, &m);
            solve(m, p, out, beta);
        }
        int worst = -1;
        for (int j = 0; j < p; j++)
            if (beta[j] < 0 && (worst < 0 || beta[j] < beta[worst]))
                worst = j;
        if (worst >= 0)
            again = out[worst] = true;
    }
}

SORT_BY(by_y, struct fit_row, SORT_UP(y))

double fit_median(struct fit_row *row, size_t n)
{
    double total = 0, sum = 0;
    qsort(row, n, sizeof *row, by_y);
    for (size_t i = 0; i < n; i++)
        total += row[i].weight;
    for (size_t i = 0; i < n; i++) {
        sum += row[i].weight;
        if (sum > total / 2)
            return row[i].y;
        if (sum == total / 2 && i + 1 < n)
            return (row[i].y + row[i + 1].y) / 2;
    }
    return NAN;
}
