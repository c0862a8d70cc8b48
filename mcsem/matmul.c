/* mcsem/matmul.c – blocks of C are kept in registers: ROWS x VECTORS vectors (AVX2 has sixteen
 * registers, AVX-512 thirty-two). */
#include "mcsem/matmul.h"
#include "mcsem/simd.h"

enum { FEW = 4, ROWS = LANES == 8 ? 8 : FEW, VECTORS = 3 };

/* One block of m <= ROWS rows and v <= VECTORS vectors; both are constants at the call. */
FN void block(int m, int v, int k, struct matmul_view a, const double *b, long b_row, double *c,
              long c_row)
{
    lanes sum[ROWS][VECTORS];
#pragma GCC unroll 8
    for (int i = 0; i < m; i++)
#pragma GCC unroll 8
        for (int j = 0; j < v; j++)
            sum[i][j] = LOAD(c + i * c_row, j * LANES);
    for (int l = 0; l < k; l++) {
        lanes row[VECTORS];
#pragma GCC unroll 8
        for (int j = 0; j < v; j++)
            row[j] = LOAD(b + l * b_row, j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < m; i++) {
            const lanes x = REAL(a.at[i * a.row + l * a.column]);
#pragma GCC unroll 8
            for (int j = 0; j < v; j++)
                sum[i][j] = MAD(x, row[j], sum[i][j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < m; i++)
#pragma GCC unroll 8
        for (int j = 0; j < v; j++)
            STORE(c + i * c_row, j * LANES, sum[i][j]);
}

FN void rows_of_blocks(int m, int n, int k, struct matmul_view a, const double *b, long b_row,
                       double *c, long c_row)
{
    int j = 0;
    for (; j + VECTORS * LANES <= n; j += VECTORS * LANES)
        block(m, VECTORS, k, a, b + j, b_row, c + j, c_row);
    for (; j + 2 * LANES <= n; j += 2 * LANES)
        block(m, 2, k, a, b + j, b_row, c + j, c_row);
    for (; j < n; j += LANES)
        block(m, 1, k, a, b + j, b_row, c + j, c_row);
}

void matmul_add(int m, int n, int k, struct matmul_view a, const double *b, long b_row, double *c,
                long c_row)
{
    int i = 0;
    for (; i + ROWS <= m; i += ROWS, a.at += ROWS * a.row, c += ROWS * c_row)
        rows_of_blocks(ROWS, n, k, a, b, b_row, c, c_row);
    for (; i + FEW <= m; i += FEW, a.at += FEW * a.row, c += FEW * c_row)
        rows_of_blocks(FEW, n, k, a, b, b_row, c, c_row);
    for (; i < m; i++, a.at += a.row, c += c_row)
        rows_of_blocks(1, n, k, a, b, b_row, c, c_row);
}

void matmul_square(int n, int k, const double *a, long a_row, double *c, long c_row, int first,
                   int last)
{
    for (int i = first; i < last; i += ROWS) {
        const int m = last - i < ROWS ? last - i : ROWS;
        const int columns = (i + m + MATMUL_PAD - 1) / MATMUL_PAD * MATMUL_PAD;
        const struct matmul_view transposed = {a + i, 1, a_row};
        matmul_add(m, columns < n ? columns : n, k, transposed, a, a_row, c + i * c_row, c_row);
    }
}
