/* cu/sim/plan_case_internal.h – what the parts of the reader of cases share. */
#pragma once

#include "cu/sim/plan_case.h"
#include "src/demand.h"

enum { PLAN_CASE_UNITS = 1 << 20, PLAN_CASE_STEPS = 1 << 24 };

/* Where we are: for messages and for what is to be freed. */
struct plan_case_reader {
    struct plan_case *c;
    const char *path;
};

/* A zeroed array that lives as long as the case; NULL = out of memory, which has been said. */
void *plan_case_own(struct plan_case_reader *r, size_t count, size_t size);

/* An array of n numbers (n = 0: of any length, which goes to *length). */
enum ek_status plan_case_numbers(struct plan_case_reader *r, const char *key, const json_t *array,
                                 size_t n, const struct demand *d, const double **out,
                                 size_t *length);

/* The case's units; after its tasks. */
enum ek_status plan_case_read_units(struct plan_case_reader *r, const json_t *root);
