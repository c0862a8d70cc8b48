/* cu/team/samples.h – the latest few measurements of one thing; their median is robust to
 * outliers. */
#pragma once

enum { SAMPLES = 8 };

struct samples {
    float seconds[SAMPLES];
    unsigned count; /* number ever added */
    double least;   /* smallest ever added */
};

/* Replaces the oldest when full. One thread at a time, like everything here. */
void samples_add(struct samples *s, double seconds);

/* NAN if there are none. */
double samples_median(const struct samples *s);
