/* kirchhoff/batch.h – the traces of one chunk or several, ready to be migrated: filtered samples,
 * their ends, and the tables that these need. */
#pragma once

#include "kirchhoff/filter_bank.h"
#include "kirchhoff/nodes.h"
#include "kirchhoff/chunks.h"
#include "kirchhoff/mute.h"
#include "cu/unit/cu.h"
#include "src/arena.h"
#include <stdatomic.h>

struct batch_trace {
    int source, receiver; /* ends */
    int class;
    float start;  /* what is added to a time, in samples, for the place in a level */
    float first;  /* first sample that counts: the trace's own, or where its mute ends */
    float mx, my; /* midpoint, m; far away where the trace has no signal */
};

/* How ends are weighed; index 0 sources, 1 receivers. */
struct batch_weights {
    int weight[2]; /* WEIGHT_… */
    float scale[2];
    float spacing[2]; /* distance from trace to trace that the anti-alias levels see, m; 0: none */
    bool emergence;   /* ends' 1/v^2 is wanted */
    bool flat;        /* ends lie at the tables' surface, whatever the headers say */
};

/* Sources of all batches; borrowed. */
struct batch_input {
    const struct segy *segy;
    const struct chunks *survey;
    struct traveltime_cache *travel;
    const struct filter_bank *bank;
    struct chunks_classes classes;
    struct batch_weights weights;
    const struct mute *mute;
    double offset_most, offset_taper; /* m: contributions fade out over the last of these; 0: not */
    atomic_long *silent;              /* traces without signal, of batches that are in the image */
    /* [segy->n][ns] in place of the file's samples, and what the file has; or NULL. */
    const float *residual, *observed;
};

struct batch {
    const struct batch_input *in;
    int ntraces, nends, nnodes, room;
    struct batch_trace *trace; /* [ntraces] */
    struct nodes_end *end;     /* [nends] */
    double (*place)[4];        /* [nends] x, y, z and which: 0 source, 1 receiver */
    int *node;                 /* [nnodes] tables that are held */
    float *sample;             /* [ntraces][filter_bank_size()] */
    uint32_t *index;           /* [ntraces] in the file's index */
    bool holds;
    int from, to, parts; /* traces that are read, and threads that do */
    atomic_long silent;  /* traces without signal among those that were read */
    _Atomic int status;
    struct arena arena;
};

/* Room for `chunks` of the survey. EK_UNAVAILABLE. close accepts NULL and releases. */
enum ek_status batch_open(const struct batch_input *in, size_t chunks, struct batch **b);
void batch_close(struct batch *b);
/* Bytes for one chunk, and the most traces that one has. */
size_t batch_bytes(const struct batch_input *in);
size_t batch_longest(const struct chunks *s);

/* Ends and tables of chunks begin .. end-1, and where their traces belong; threads of the unit,
 * NULL: the caller alone, divide tables. EK_UNAVAILABLE, EK_USAGE: tables; batch_end() all the
 * same. */
enum ek_status batch_begin(struct batch *b, size_t begin, size_t end, const struct cu *cu);
/* Reads and filters traces from .. to-1 of it, divided likewise; one without signal then lies
 * beyond every aperture. EK_UNAVAILABLE, EK_USAGE: traces. */
enum ek_status batch_fill(struct batch *b, int from, int to, const struct cu *cu);
/* The adjoint of reading trace t: levels [filter_bank_size()] to out [ns]. */
void batch_adjoint(const struct batch *b, int t, struct filter_bank_scratch *scratch,
                   const double *levels, float *out);
/* Releases the tables. */
void batch_end(struct batch *b);
