/* mcsem/kernels/exact_plan.h – how the host hands pairs to kernels/exact.c. */
#ifndef MCSEM_KERNELS_EXACT_PLAN_H
#define MCSEM_KERNELS_EXACT_PLAN_H

/* Sums over wavenumbers go by strands: wavenumber k belongs to strand k mod EXACT_STRANDS, whose
 * sum is taken in ascending order; strands are added in the end, halves on halves. So vectors of
 * any width, and devices, give the same bits. */
#define EXACT_STRANDS 8

/* Terms of a filter's series (hankel.h). */
#define EXACT_SHIFTS 14

/* What a point adds to its level's weights, in one number: to which function's, weights of J0 or
 * J1, times which power of the wavenumber. */
#define EXACT_WHAT(function, nu, power) ((function) << 3 | (nu) << 2 | (power))
#define EXACT_FUNCTION(what)            ((what) >> 3)
#define EXACT_NU(what)                  ((what) >> 2 & 1)
#define EXACT_POWER(what)               ((what)&3)
#define EXACT_FUNCTIONS                 6

/* Numbers of a point: where its filter stands on the pair's wavenumbers, how much it adds, where
 * its doubles begin (the shift's place, a scale for each addition); then what it adds. */
#define EXACT_PLACES    0
#define EXACT_ADDITIONS 1
#define EXACT_SCALES    2
#define EXACT_POINT     3

/* Numbers of a level, that is of the points of a wire at one depth: the members of a field_view,
 * where its parts and its weights begin; on devices its points, and where they begin. */
#define EXACT_BELOW    0
#define EXACT_BETWEEN  1
#define EXACT_ABOVE    2
#define EXACT_SWAPPED  3
#define EXACT_LOWER    4
#define EXACT_UPPER    5
#define EXACT_IN_LOWER 6
#define EXACT_IN_UPPER 7
#define EXACT_PARTS    8
#define EXACT_WEIGHTS  9
#define EXACT_POINTS   10
#define EXACT_FIRST    11
#define EXACT_LEVEL    12

/* Numbers of a pair: how many wavenumbers and levels, what it shares with an exact_plan, where its
 * wavenumbers and levels begin, and where the deepest layers do, one for each frequency and group
 * of EXACT_STRANDS wavenumbers; where its earth's layers begin; what derivatives are wanted
 * (field.h); its filter: where it begins, and points; where the longest offset is. */
#define EXACT_NWAVES   0
#define EXACT_NLEVELS  1
#define EXACT_BASE     2
#define EXACT_MAGNETIC 3
#define EXACT_WAVES    4
#define EXACT_LEVELS   5
#define EXACT_DEEPEST  6
#define EXACT_LAYERS   7
#define EXACT_DERIVE   8
#define EXACT_FILTER   9
#define EXACT_TAPS     10
#define EXACT_LONGEST  11
#define EXACT_PAIR     12

/* What EXACT_MAGNETIC says: E; H, where the weight of TE's V has the factor 1 / zhat; H of a
 * magnetic dipole over zhat, where all of TE has (field_te_loop()). */
#define EXACT_E    0
#define EXACT_H    1
#define EXACT_LOOP 2

/* How a case is weighed, a pair at a frequency: the factor of its derivatives, whether it has a
 * real and an imaginary part, its residual, the imaginary number (0: none) by which its sums come
 * to be those of a loop. */
#define EXACT_RE      0
#define EXACT_IM      1
#define EXACT_HAS_RE  2
#define EXACT_HAS_IM  3
#define EXACT_MISS_RE 4
#define EXACT_MISS_IM 5
#define EXACT_TURN    6
#define EXACT_WEIGHT  7

/* Rows and columns of J'W^2 J that a work-item makes. */
#define EXACT_TILE 4

/* Work-items beside one another have their numbers beside one another, so many at a time. */
#define EXACT_BESIDE 32

/* A work-item's numbers: its sums [1 + layers], then room for what it keeps of layers and parts. */
FN int exact_numbers(int layers)
{
    return 2 * (1 + layers) + 8 * layers + 8 * (layers + 2);
}

#endif
