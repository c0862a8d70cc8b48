/* kirchhoff/resum.h – some points of an image summed again in double, trace by trace: times and
 * weights at the point itself, without rows, nodes, blocks and vectors, from formulas where v has
 * them. What differs from the image says how wrong that is. Where v has none, times between tables
 * follow the tables' own rule, and rays judge some of them: shot back from the point through v
 * itself, they come out at the source or receiver when the time is over. */
#pragma once

#include "kirchhoff/batch.h"

struct migrate;

/* Of one point: the sum, that of its terms' absolute values, and how many there are; rays, those of
 * them that pass by too far to tell, and those that say that a time is wrong by more than two
 * samples, and the squares of what they say. */
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
    bool formula; /* the velocity has one */
    double rays;  /* share of the traces, at each point, whose times rays judge */
    struct resum_point point[RESUM_MOST]; /* [n] */
    struct resum_sum total[RESUM_MOST];   /* [n] of the traces so far */
    pthread_mutex_t lock;
};

/* The deepest depths are among the points. EK_UNAVAILABLE. close accepts NULL. */
enum ek_status resum_open(const struct migrate *m, struct resum **r);
void resum_close(struct resum *r);
void resum_clear(struct resum *r);

/* Adds what the traces of a batch, read and filtered, send to point q. Any thread. */
void resum_add(const struct resum *r, const struct batch *b, int q, struct resum_sum *sum);

/* Adds sum [n] to the totals and clears it. Any thread. */
void resum_take(struct resum *r, struct resum_sum *sum);

struct resum_verdict {
    int points, failing; /* off by more than a tenth of their terms' size */
    double share;        /* of all differences in all sizes, beyond what rounding makes of terms;
                          * NAN: no memory to judge by */
    double rays, missed, wrong, rms; /* of resum_sum; s */
    bool timed;                      /* at least half of the rays do not miss: they count */
    bool good;
};

/* Collective: the image and the totals of all ranks are those of all traces afterwards. */
struct resum_verdict resum_judge(struct resum *r);
