/* mcsem/kernels/exact_plan.h – the format in which the host passes pairs to kernels/exact.c. */
#ifndef MCSEM_KERNELS_EXACT_PLAN_H
#define MCSEM_KERNELS_EXACT_PLAN_H

/* Sums over wavenumbers are split into strands: wavenumber k belongs to strand k mod EXACT_STRANDS,
 * which is summed in ascending order; the strands are then added, upper half to lower half. Thus
 * vectors of any width, and devices, give the same bits. */
#define EXACT_STRANDS 8

/* Terms of a filter's series (HANKEL_SHIFTS). */
#define EXACT_SHIFTS 14

/* An addition to a level's weights in one number: the function, the order of J0 or J1, the power of
 * the wavenumber. */
#define EXACT_WHAT(function, nu, power) ((function) << 3 | (nu) << 2 | (power))
#define EXACT_FUNCTION(what)            ((what) >> 3)
#define EXACT_NU(what)                  ((what) >> 2 & 1)
#define EXACT_POWER(what)               ((what)&3)
#define EXACT_FUNCTIONS                 6

/* Integers of a point: index of its first wavenumber, number of additions, offset of its doubles
 * (place of the shift, a scale per addition); the additions follow. */
#define EXACT_PLACES    0
#define EXACT_ADDITIONS 1
#define EXACT_SCALES    2
#define EXACT_POINT     3

/* Integers of a view: the members of a field_view, and the offset of its parts. */
#define EXACT_BELOW   0
#define EXACT_BETWEEN 1
#define EXACT_ABOVE   2
#define EXACT_SWAPPED 3
#define EXACT_LOWER   4
#define EXACT_UPPER   5
#define EXACT_PARTS   6
#define EXACT_VIEW    7

/* Integers of a level, the points of a wire at one depth: its view, the view's other members, the
 * offset of its weights; on devices also the number of its points and where they begin. */
#define EXACT_IN_LOWER 7
#define EXACT_IN_UPPER 8
#define EXACT_WEIGHTS  9
#define EXACT_POINTS   10
#define EXACT_FIRST    11
#define EXACT_LEVEL    12

/* Integers of a pair: numbers of wavenumbers and levels; members of exact_plan; offsets of its
 * wavenumbers, its levels, its deepest layers (one per frequency and group of EXACT_STRANDS
 * wavenumbers) and its earth's layers; the derivatives wanted (field.h); offset and number of
 * points of its filter; offset of the longest offset. */
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

/* Values of EXACT_MAGNETIC: E; H, where the weight of TE's V has the factor 1 / zhat; H of a
 * magnetic dipole over zhat, where all of TE has it (field_te_loop()). */
#define EXACT_E    0
#define EXACT_H    1
#define EXACT_LOOP 2

/* The weight of a case (a pair at a frequency): the factor of its derivatives, whether it has a
 * real and an imaginary part, its residual, and the imaginary loop factor of its sums (0: none). */
#define EXACT_RE          0
#define EXACT_IM          1
#define EXACT_HAS_RE      2
#define EXACT_HAS_IM      3
#define EXACT_RESIDUAL_RE 4
#define EXACT_RESIDUAL_IM 5
#define EXACT_LOOP_FACTOR 6
#define EXACT_WEIGHT      7

/* Rows and columns of J'W^2 J per work-item. */
#define EXACT_TILE 4

/* This many neighbouring work-items interleave their doubles. */
#define EXACT_BESIDE 32

/* Doubles of a work-item: its sums [1 + layers], then scratch for layers and parts. */
FN int exact_numbers(int layers)
{
    return 2 * (1 + layers) + 8 * layers + 8 * (layers + 2);
}

#endif
