/* npb_mz/field.h – memory of fields: zeroed, aligned for vectors, and taken from the system only
 * when it is touched, so zones of other ranks cost nothing. */
#pragma once

#include "src/base.h"

/* What field_free() needs to know. */
struct field {
    void *memory;
    size_t mapped; /* bytes of a mapping; 0: from the heap */
};

/* n doubles; element 1 begins a cache line, and whole vectors may be read and written beyond either
 * end. NULL: out of memory or address space. free accepts a zeroed struct. */
double *field_alloc(size_t n, struct field *field);
void field_free(struct field *field);

/* Gives the whole pages of a part of a field back to the system: they read as zeros from now on. */
void field_release(double *at, size_t n);
