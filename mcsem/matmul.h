/* mcsem/matmul.h – products of small matrices, with the same bits on every processor: each element
 * is a chain of fused multiply-adds in the order of k. (A BLAS would be as fast, but its order is
 * its own affair.) */
#pragma once

enum { MATMUL_PAD = 8 }; /* columns come in multiples of this */

/* A matrix by the distance of its rows and of its columns, in doubles. */
struct matmul_view {
    const double *at;
    long row, column;
};

/* C [m][n] = C + A B for A [m][k], B [k][n]; B's and C's columns lie side by side, n is a multiple
 * of MATMUL_PAD. No alignment is asked for. */
void matmul_add(int m, int n, int k, struct matmul_view a, const double *b, long b_row, double *c,
                long c_row);

/* C [n][n] = C + A^T A for A [k][n]: its lower triangle, and above it up to MATMUL_PAD - 1 columns
 * more. Rows first .. last-1 only, for threads that share the work. */
void matmul_square(int n, int k, const double *a, long a_row, double *c, long c_row, int first,
                   int last);
