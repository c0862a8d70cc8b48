/* mcsem/tables.h – shared mode on a device: the tables of several cells and the pairs to be read
 * from them, as kernels/table.c reads them. The host lays the tables out (shared_table.h); nothing
 * is computed here. */
#pragma once

#include "mcsem/shared_table.h"
#include <stdatomic.h>

/* Limits of one call: cells, pairs, elements of pairs; doubles in the device's room. */
struct tables_limits {
    size_t cells, pairs, elements, room;
};

struct tables {
    struct tables_limits most;
    size_t cells, pairs, room; /* so far; pairs: those of a cell, rounded up to whole groups */
    atomic_size_t elements;
    size_t plans, numbers;              /* used */
    int *plan;                          /* [tables_plans()] */
    double *number;                     /* [tables_numbers()] */
    double *pair;                       /* [pairs][TABLE_PAIR] */
    double *element;                    /* [elements][TABLE_ELEMENT] */
    size_t base, views, weights, nodes; /* most work-items of a cell in each kernel */
    size_t entries;                     /* most integrals times views */
};

/* Room for these in an arena; the caller checks it. */
struct arena;
void tables_open(struct tables *tables, const struct tables_limits *most, struct arena *arena);
size_t tables_plans(const struct tables_limits *most);   /* integers */
size_t tables_numbers(const struct tables_limits *most); /* doubles */
void tables_empty(struct tables *tables);

/* Number of pairs that n of a cell take. */
size_t tables_padded(size_t n);

/* Stores pair number i (0: the cell's first) of the cell to be added next, given its elements. Any
 * thread. false: no room. */
bool tables_put(struct tables *tables, size_t i, const struct earth_layers *earth,
                const struct survey_pair *pair, const struct pair_element *element,
                const double *share, int elements);

/* Adds the cell laid out, with the n pairs stored, and then the samples [nsamples], which are
 * numbers of these pairs, once more. `layers`: offset of the earth's layers. *fits = false: no
 * room. tables_drop() forgets the pairs stored since the last cell. EK_UNAVAILABLE: memory. */
enum ek_status tables_add(struct tables *tables, struct shared *layout, size_t n,
                          const size_t *sample, size_t nsamples, int layers, bool *fits);
void tables_drop(struct tables *tables, size_t elements);
