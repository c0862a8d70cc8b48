/* okada_mogi/trial.h – trial solutions: the points of a regular grid and their numbers.
 *
 * A grid has axes, slowest first, each with n values from min to max. A trial's place (i_1 … i_D)
 * gives its number by Eq. (4) of Kyriakopoulos, Gallopoulos & Venetis (2023),
 * doi:10.1007/s11227-023-05306-z: the sum of i_d times the product of all later n, so the last axis
 * runs fastest. Grids of several sources exceed 64 bits; numbers have 128, of which grids use 127.
 */
#pragma once

#include "src/base.h"

typedef unsigned __int128 trial_number;

/* Trials first .. first + count - 1: the unit of work that units and nodes exchange. */
struct trial_range {
    trial_number first, count;
};

struct trial_axis {
    double min, max;
    long n; /* at least 1; 1: a fixed parameter, min = max */
};

/* Eq. (3): value i of an axis. */
double trial_value(const struct trial_axis *axis, long i);

/* Product of all n; false if it exceeds 2^127. */
bool trial_count(const struct trial_axis *axis, int naxes, trial_number *count);

/* Converts a number to a place [naxes], and back. */
void trial_place(const struct trial_axis *axis, int naxes, trial_number number, long *place);
trial_number trial_of(const struct trial_axis *axis, int naxes, const long *place);

/* The intersection of two ranges; count 0: empty. */
struct trial_range trial_overlap(struct trial_range a, struct trial_range b);

/* How many of `n` ranges, from the first on, follow one another without a gap; at least 1. */
size_t trial_together(const struct trial_range *range, size_t n);

/* A random trial of the range; state: src/random.h. */
trial_number trial_random(struct trial_range range, uint64_t *state);

enum { TRIAL_TEXT = 40 }; /* 39 digits and the NUL */
/* Writes decimal digits to text; returns text. */
char *trial_text(trial_number number, char text[TRIAL_TEXT]);
/* Parses all of `text` as a number below 2^127; false if it is not one. */
bool trial_parse(const char *text, trial_number *number);
