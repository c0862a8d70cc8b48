/* tests/mcsem_linear.h – linear data of a small earth: their sums, and the dense normal equations.
 */
#pragma once

#include "mcsem/invert.h"
#include "src/random.h"
#include "tests/mcsem.h"

enum { NX = 3, NY = 2, NZ = 4, COLUMNS = NX * NY, UNKNOWNS = COLUMNS * NZ, ROWS = 6 };

static struct earth *earth;
static struct survey *survey;
static struct prior *prior; /* first differences within wide bounds */
static double matrix[COLUMNS][ROWS][NZ], data[COLUMNS][ROWS], truth[UNKNOWNS];
static double *sums;

/* A pseudo-random number in -1 .. 1 that depends on its arguments only. */
static double noise(int a, int b, int c)
{
    uint32_t x = (uint32_t)(a * 7919 + b * 104729 + c * 1299709 + 12345);
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return (double)(x % 20001) / 1e4 - 1;
}

/* The sums of linear data at m: of [r J] with r = d - G m and J = G. */
static void fill_sums(const double *m, double *to)
{
    for (int c = 0; c < COLUMNS; c++, to += cell_sums(NZ)) {
        double row[ROWS][1 + NZ];
        for (int i = 0; i < ROWS; i++) {
            row[i][0] = data[c][i];
            for (int k = 0; k < NZ; k++) {
                row[i][0] -= matrix[c][i][k] * m[c * NZ + k];
                row[i][1 + k] = matrix[c][i][k];
            }
        }
        for (int a = 0; a <= NZ; a++)
            for (int b = 0; b <= a; b++) {
                to[cell_sum_at(a, b)] = 0;
                for (int i = 0; i < ROWS; i++)
                    to[cell_sum_at(a, b)] += row[i][a] * row[i][b];
            }
    }
}

/* ---- dense equations ------------------------------------------------------------------------- */

static double dense[UNKNOWNS][UNKNOWNS + 1];

/* Adds mu (m_a - m_b)^2 / 2 to the quadratic form and its gradient at m. */
static void couple(int a, int b, double mu, const double *m)
{
    dense[a][a] += mu;
    dense[b][b] += mu;
    dense[a][b] -= mu;
    dense[b][a] -= mu;
    dense[a][UNKNOWNS] -= mu * (m[a] - m[b]);
    dense[b][UNKNOWNS] += mu * (m[a] - m[b]);
}

static void fill_dense(const double *m, struct prior_weights mu, double damping)
{
    memset(dense, 0, sizeof dense);
    for (int c = 0; c < COLUMNS; c++)
        for (int i = 0; i < ROWS; i++) {
            double residual = data[c][i];
            for (int k = 0; k < NZ; k++)
                residual -= matrix[c][i][k] * m[c * NZ + k];
            for (int k = 0; k < NZ; k++) {
                dense[c * NZ + k][UNKNOWNS] += matrix[c][i][k] * residual;
                for (int l = 0; l < NZ; l++)
                    dense[c * NZ + k][c * NZ + l] += matrix[c][i][k] * matrix[c][i][l];
            }
        }
    double mean = 0;
    for (int i = 0; i < UNKNOWNS; i++)
        mean += dense[i][i] / UNKNOWNS;
    for (int i = 0; i < UNKNOWNS; i++) {
        dense[i][i] += damping * (dense[i][i] + 1e-6 * mean) + mu.of[PRIOR_PULL];
        dense[i][UNKNOWNS] -= mu.of[PRIOR_PULL] * m[i];
    }
    for (int i = 0; i < UNKNOWNS; i++) {
        const int k = i % NZ, c = i / NZ;
        if (k + 1 < NZ)
            couple(i, i + 1, mu.of[PRIOR_VERTICAL], m);
        if (c % NX + 1 < NX)
            couple(i, i + NZ, mu.of[PRIOR_LATERAL], m);
        if (c + NX < COLUMNS)
            couple(i, i + NX * NZ, mu.of[PRIOR_LATERAL], m);
    }
}

/* Gauss-Jordan elimination; the matrix is positive definite. */
static void solve_dense(double *x)
{
    for (int p = 0; p < UNKNOWNS; p++)
        for (int i = 0; i < UNKNOWNS; i++) {
            const double f = i == p ? 0 : dense[i][p] / dense[p][p];
            for (int j = p; f != 0 && j <= UNKNOWNS; j++)
                dense[i][j] -= f * dense[p][j];
        }
    for (int i = 0; i < UNKNOWNS; i++)
        x[i] = dense[i][UNKNOWNS] / dense[i][i];
}

static uint64_t dice = 7;
static double normal_number(void)
{
    return sqrt(-2 * log(random_uniform(&dice))) * cos(2 * acos(-1) * random_uniform(&dice));
}

/* ---- setup ----------------------------------------------------------------------------------- */

static const struct prior_options wide_bounds = {.differences = 1, .rho_min = 1e-9, .rho_max = 1e9};

static int set_up(void **state)
{
    sums = calloc(COLUMNS * cell_sums(NZ), sizeof *sums);
    if (!sums || earth_open(NX, NY, NZ, 100, 1000, 1, &earth) ||
        survey_open(COLUMNS * ROWS / 2, 1, &survey) || prior_open(earth, &wide_bounds, &prior))
        return 1;
    for (size_t i = 0; i < survey->npairs; i++)
        survey->datum[i].sigma = 1; /* a pair has two numbers */
    for (int i = 0; i < UNKNOWNS; i++)
        truth[i] = 1.5 * noise(i, 0, 9);
    for (int c = 0; c < COLUMNS; c++)
        for (int i = 0; i < ROWS; i++) {
            data[c][i] = 0;
            for (int k = 0; k < NZ; k++) {
                matrix[c][i][k] = noise(c, i, k) + (i == k ? 2 : 0);
                data[c][i] += matrix[c][i][k] * truth[c * NZ + k];
            }
        }
    return 0;
}

static int tear_down(void **state)
{
    earth_close(earth);
    prior_close(prior);
    survey_close(survey);
    free(sums);
    return 0;
}
