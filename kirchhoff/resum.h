/* kirchhoff/resum.h – checks an image by summing some of its points again, in double and trace by
 * trace.
 *
 * Times and weights are computed at the point itself, without rows, nodes, blocks or vectors, from
 * closed forms where the velocity has them; the difference from the image is the image's error.
 * Without a closed form, times are interpolated between tables by the image's own rule, so rays
 * check some of them: traced back from the point through v for that time, a ray must end at the
 * source or receiver. */
#pragma once

#include "kirchhoff/batch.h"

struct migrate;

/* Totals of one point: the sum of its terms, of their absolute values, and their number; rays
 * traced, rays that ended too far away to tell, rays that found a time wrong by more than two
 * samples, and the sum of the squared errors, s^2. */
struct resum_sum {
    double sum, size, terms, rays, missed, wrong, square;
};
enum { RESUM_SUMS = sizeof(struct resum_sum) / sizeof(double) };

enum { RESUM_MOST = 100 };

struct resum_point {
    int class, at[3]; /* column and depth */
};

struct resum {
    const struct migrate *m;
    int n;
    bool formula; /* the velocity has closed forms */
    double rays;  /* share of each point's traces whose times are checked by rays */
    struct resum_point point[RESUM_MOST]; /* [n] */
    struct resum_sum total[RESUM_MOST];   /* [n] over the traces so far */
    pthread_mutex_t lock;
};

/* Draws the points, some of them at the shallowest and deepest depths. EK_UNAVAILABLE: memory.
 * close accepts NULL. */
enum ek_status resum_open(const struct migrate *m, struct resum **r);
void resum_close(struct resum *r);
void resum_clear(struct resum *r);

/* Adds to *sum what the traces of a batch, read and filtered, contribute to point q. Any thread. */
void resum_add(const struct resum *r, const struct batch *b, int q, struct resum_sum *sum);

/* Adds sum [n] to the totals and clears it. Any thread. */
void resum_take(struct resum *r, struct resum_sum *sum);

struct resum_verdict {
    int points, failing; /* failing: off by more than a tenth of their terms' absolute sum */
    double share;        /* differences beyond rounding over absolute sums, of all points together;
                          * NAN: no memory for the check */
    double rays, missed, wrong, rms; /* as in resum_sum; rms in s */
    bool timed;                      /* at least half of the rays do not miss, so they count */
    bool good;
};

/* Sums the totals of all ranks and compares them with the image, which must have been summed over
 * the ranks before. Collective. */
struct resum_verdict resum_judge(struct resum *r);
