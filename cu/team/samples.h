/* cu/team/samples.h – the latest few measurements of one thing; their median is hard to poison. */
#pragma once

enum { SAMPLES = 8 };

struct samples {
    float seconds[SAMPLES];
    unsigned count; /* of all that were ever added */
    double least;   /* of all these */
};

/* Forgets the oldest when full. One thread at a time, like everything here. */
void samples_add(struct samples *s, double seconds);

/* NAN when there is none. */
double samples_median(const struct samples *s);
