/* npb_mz/field.h – memory of fields: zeroed, aligned for vectors, and taken from the system where
 * it is touched first. Zones of other ranks, which nobody touches, cost nothing. */
#pragma once

#include <stddef.h>

/* What a field lies in; zeroed: nothing. */
struct field {
    void *memory;
    size_t mapped; /* bytes, 0 = it is the heap's */
};

/* n doubles, of which number 1 begins a cache line, with room for whole vectors at either end;
 * NULL: no address space or memory. free accepts a zeroed struct. */
double *field_alloc(size_t n, struct field *field);
void field_free(struct field *field);

/* Gives whole pages of a part back to the system: they read as zeros from now on. */
void field_release(double *at, size_t n);
