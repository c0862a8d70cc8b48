/* kirchhoff/batch.h – the traces of one or several chunks, ready to be migrated: filtered samples,
 * ends, and the tables that the ends need. */
#pragma once

#include "kirchhoff/filter_bank.h"
#include "kirchhoff/nodes.h"
#include "kirchhoff/chunks.h"
#include "cu/unit/cu.h"
#include <stdatomic.h>

/* How ends are weighted; index 0: sources, 1: receivers. */
struct batch_weights {
    int weight[2]; /* WEIGHT_… */
    float scale[2];
    float spacing[2]; /* trace spacing for anti-alias levels, m; 0: none */
    bool emergence;   /* 1/v^2 at the ends is needed */
    bool flat;        /* put ends at the tables' surface, whatever the headers say */
};

struct migrate;

struct batch {
    const struct migrate *m; /* borrowed */
    int ntraces, nends, nnodes, room;
    struct batch_trace *trace; /* [ntraces] */
    struct nodes_end *end;     /* [nends] */
    double (*place)[4];        /* [nends] x, y, z; 0: source, 1: receiver */
    int *node;                 /* [nnodes] tables held */
    float *sample;             /* [ntraces][bank->size] */
    uint32_t *index;           /* [ntraces] numbers in the file's index */
    bool holds;
    int from, to, parts; /* traces being read, and by how many threads */
    atomic_long silent;  /* traces without signal among those read */
    _Atomic int status;
    struct arena arena;
};

/* Makes room for `chunks` chunks of the survey. EK_UNAVAILABLE: memory. close accepts NULL and
 * releases the tables. */
enum ek_status batch_open(const struct migrate *m, size_t chunks, struct batch **b);
void batch_close(struct batch *b);
/* Bytes for one chunk; traces of the longest one. */
size_t batch_bytes(const struct migrate *m);
size_t batch_longest(const struct chunks *s);

/* Finds ends and classes of the traces of chunks begin .. end-1 and holds their tables, shared out
 * among the unit's threads (NULL: the caller alone). EK_UNAVAILABLE, EK_USAGE: tables; call
 * batch_end() even then. */
enum ek_status batch_begin(struct batch *b, size_t begin, size_t end, const struct cu *cu);
/* Reads and filters its traces from .. to-1, shared out likewise; one without signal is moved
 * beyond every aperture. EK_UNAVAILABLE, EK_USAGE: traces. */
enum ek_status batch_fill(struct batch *b, int from, int to, const struct cu *cu);
/* Adjoint of reading trace t: levels [bank->size] to out [ns]. */
void batch_adjoint(const struct batch *b, int t, struct filter_bank_scratch *scratch,
                   const double *levels, float *out);
/* Releases the tables. */
void batch_end(struct batch *b);
