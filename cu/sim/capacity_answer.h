/* cu/sim/capacity_answer.h – the conclusions of a capacity plan: the best scenario, the cheapest
 * good one, and what one more node of each type buys. */
#pragma once

#include "cu/sim/capacity.h"

/* What one more node of a type saves, as shares of the makespan before. */
struct capacity_gain {
    double mean; /* mean over all pairs of scenarios that differ by this node; NAN: no pair */
    double best; /* largest of them */
    double edge; /* at the edge: the last existing node; of a hypothetical type, the first one
                    beside all existing nodes. NAN: not among the scenarios, or there is none */
    size_t pairs;
};

struct capacity_answer {
    double *makespan;  /* [nscenarios] with the best policy */
    int *schedule;     /* [nscenarios] that policy */
    size_t *ranked;    /* [nscenarios] scenarios, fastest first */
    size_t cheapest;   /* among those within `tolerance` of the fastest: lowest price, else fewest
                          cores and devices */
    size_t *of_policy; /* [nschedules] the policy's fastest scenario */
    double tolerance;
    struct capacity_gain gain[CAPACITY_TYPES];
    struct arena arena;
};

/* After capacity_run() has finished. EK_UNAVAILABLE: memory; capacity_answer_close() frees even
 * then. */
enum ek_status capacity_answer_open(struct capacity_answer *a, const struct capacity *c,
                                    double tolerance);
void capacity_answer_close(struct capacity_answer *a);

void capacity_answer_print(const struct capacity_answer *a, const struct capacity *c, FILE *out);
/* New reference; NULL: out of memory. */
json_t *capacity_answer_json(const struct capacity_answer *a, const struct capacity *c);
