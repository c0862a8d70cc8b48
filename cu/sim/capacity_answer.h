/* cu/sim/capacity_answer.h – what a capacity plan says: the best scenario, the cheapest good one,
 * and what one more node of each type buys. */
#pragma once

#include "cu/sim/capacity.h"

/* What one more node of a type buys, as shares of the makespan before. */
struct capacity_gain {
    double mean; /* over all pairs of scenarios that differ by this node; NAN: no pair */
    double best; /* of them */
    double edge; /* hypothetical: the first one, beside all that there is; else the last one of
                    those that there are. NAN: not among the scenarios, or there is none */
    size_t pairs;
};

struct capacity_answer {
    double *makespan;  /* [nscenarios] under the best policy */
    int *schedule;     /* [nscenarios] this policy */
    size_t *ranked;    /* [nscenarios] scenarios, fastest first */
    size_t cheapest;   /* of those within `tolerance` of the fastest: lowest price, else fewest
                          cores and devices */
    size_t *of_policy; /* [nschedules] the policy's fastest scenario */
    double tolerance;
    struct capacity_gain gain[CAPACITY_TYPES];
    struct arena arena;
};

/* After a finished capacity_run(). EK_UNAVAILABLE: memory; capacity_answer_close() frees, also
 * then. */
enum ek_status capacity_answer_open(struct capacity_answer *a, const struct capacity *c,
                                    double tolerance);
void capacity_answer_close(struct capacity_answer *a);

void capacity_answer_print(const struct capacity_answer *a, const struct capacity *c, FILE *out);
/* New reference; NULL: out of memory. */
json_t *capacity_answer_json(const struct capacity_answer *a, const struct capacity *c);
