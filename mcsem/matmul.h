/* mcsem/matmul.h – products of small matrices with the same bits on every processor: each element
 * is a chain of fused multiply-adds in the order of k. (A BLAS would be as fast, but does not fix
 * its order.) */
#pragma once

enum { MATMUL_PAD = 8 }; /* numbers of columns are multiples of this */

/* A matrix with arbitrary strides of rows and columns, in doubles. */
struct matmul_view {
    const double *at;
    long row, column;
};

/* C [m][n] += A B for A [m][k], B [k][n]. B and C are stored row by row; n is a multiple of
 * MATMUL_PAD. No alignment is required. */
void matmul_add(int m, int n, int k, struct matmul_view a, const double *b, long b_row, double *c,
                long c_row);

/* C [n][n] += A^T A for A [k][n]: the lower triangle, and up to MATMUL_PAD - 1 columns beyond it.
 * Only rows first .. last-1, so that threads can share the work. */
void matmul_square(int n, int k, const double *a, long a_row, double *c, long c_row, int first,
                   int last);
