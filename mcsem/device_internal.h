/* mcsem/device_internal.h – shared by device.c and device_tables.c. */
#pragma once

#include "mcsem/device.h"

enum { FILTERS, WEIGHTS, DEEPEST, SCRATCH, SPANS, CASE_WEIGHTS, TRIANGLES, BUFFERS };
/* Groups of batches in progress. Events, numbered one after another: a group's batches are
 * computed, or sent; the sums of a slot are ready; weights are sent; squares are ready; what tables
 * are made from is sent. */
enum { GROUPS = 2, EVENT_COMPUTED = 0, EVENT_SENT = GROUPS, EVENT_SUMS = EVENT_SENT + GROUPS };
enum { EVENT_WEIGHTS = EVENT_SUMS + DEVICE_SLOTS, EVENT_SQUARES, EVENT_TABLES };

/* What a call's tables are made from, one buffer per member of struct tables; the sizes of the
 * parts of its pairs. */
enum { OF_PLAN, OF_NUMBERS, OF_PAIRS, OF_ELEMENTS, OF_PARTS, OF_BUFFERS };

/* A call: its arguments and its results on the device. */
struct device_slot {
    const struct device_share *share;
    int shares, nfreq;
    size_t pairs, tabled; /* those that tables serve come last */
    enum forward_derivatives derivatives;
    double *table, *line; /* [DEVICE_SHARES][4 * layers], [nfreq] */
    struct backend_mem *tables, *lines, *sums, *fields;
    struct backend_mem *of_tables[OF_BUFFERS];
};

/* Sizes of the parts of a batch's plans: the host sends numbers and rows, the device computes
 * weights and deepest layers. */
struct counts {
    size_t numbers, rows, weights, deepest;
};

struct device {
    struct backend *backend;
    struct backend_program *program, *table_program; /* table_program: NULL without tables */
    struct backend_mem *buffer[BUFFERS], *room;      /* room: for what table.c makes */
    int layers, nfreq;
    size_t most_pairs, next; /* largest number of pairs of a batch, number in the next one: small
                                while the device is idle */
    struct counts most;      /* of a batch */
    int width;               /* batches of a group, one per thread */
    struct thread_pool *pool;
    struct batch *batches; /* [GROUPS][width] */
    long turn;             /* number of groups so far */
    struct arena arena;
    struct device_slot slot[DEVICE_SLOTS];
    int span[4 * DEVICE_SQUARES];
    int squares;      /* shares being squared */
    size_t triangles; /* numbers of their triangles */
};

/* Largest number of pairs of a call with batches of n. */
static inline size_t device_call_pairs(size_t n)
{
    return 2 * n + 64;
}

/* Waits for an event and reads a buffer while later work is computed. */
enum ek_status device_fetch(struct device *device, int event, struct backend_mem *from, void *to,
                            size_t bytes);
