/* tests/bench/dgemm.c – one task of the DGEMM benchmark: C = A B of order N by OpenBLAS on
 * OPENBLAS_NUM_THREADS threads. Prints "dgemm N: x s". */
#include "src/clock.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4000;
    if (n < 1 || n > 20000)
        return fprintf(stderr, "usage: dgemm N\n"), 2;
    size_t size = (size_t)n * (size_t)n;
    double *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b),
           *c = malloc(size * sizeof *c);
    if (!a || !b || !c)
        return fprintf(stderr, "dgemm: out of memory for matrices of order %d\n", n), 3;
    for (size_t i = 0; i < size; i++) {
        a[i] = (double)(i % 7) - 3;
        b[i] = (double)(i % 5) - 2;
    }
    double begin = clock_now();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
    printf("dgemm %d: %.6f s, c[0] = %g\n", n, clock_now() - begin, c[0]);
    free(a);
    free(b);
    free(c);
    return 0;
}
