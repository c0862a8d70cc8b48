/* kirchhoff/tt.h – a run of travel times: all shots over all units, devices donated among them.
 *
 * A task is a shot. Every unit, also a device's managing thread, runs one shot at a time on its
 * cores; which of them have a device for their rays, cu/sched/donate.h decides every few steps.
 * Each unit opens a handle of its own on a device when it first gets it: a switch is no more than
 * where the next step's rays are moved. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/sched/donate.h"
#include "kirchhoff/source_positions.h"
#include "kirchhoff/shot.h"
#include "src/arena.h"

#include <stdatomic.h>

struct tt_span { /* a device that a shot had, in seconds of the run */
    int device;
    double begin, end;
};

/* What is known of a finished shot. */
struct tt_record {
    bool finished, kept; /* kept: by a former run */
    int unit;
    double begin, end; /* s of the run */
    struct shot_numbers numbers;
    size_t eikonal;   /* nodes; the others' numbers are t->folder's */
    double rms, most; /* s, of sampled nodes against the closed form; NAN: there is none */
    int *length;      /* [numbers.steps] front */
    size_t nspans;
    struct tt_span *span; /* [nspans] */
};

struct tt {
    /* Options. */
    const char *velocity_text, *grid_text, *sources_text, *out, *times, *rays;
    int arrival, donation, shots, share, poll;
    bool resume;
    double tolerance, unfilled_most, failing_most; /* % */
    struct shot_options shot;
    /* The problem. */
    struct velocity *velocity;
    struct grid grid;
    struct source_positions sources;
    struct tfolder *folder;
    struct shot_job job;
    /* The run. */
    const struct cu_set *set;
    size_t ntodo, *todo; /* sources that are still to do here, by task */
    struct donate *donate;
    struct ray_device **handle; /* [units][devices], opened by each unit */
    struct tt_record *record;   /* [sources] */
    double start;               /* clock_now() of the run */
    int runs;                   /* so far, this one included */
    atomic_size_t finished;     /* shots */
    atomic_flag showing;        /* somebody draws the progress line */
    size_t mutual;              /* sources whose times to one another are kept … */
    double *between;            /* … [mutual][mutual] s, 0: not known (certify.h) */
    float *slice, *residual;    /* [n[0]][n[2]] of the first source's times, in its plane */
    struct arena arena;         /* of the arrays */
};

enum ek_status tt_open(void *st, struct cu_set *set, struct sched_job *job);
enum ek_status tt_reset(void *st);
void tt_close(void *st);

extern const struct team_ops tt_verbs;

/* The run's numbers, shot by shot, and what the report draws. New reference, NULL: no memory. */
json_t *tt_facts(const void *st);
void tt_remark(FILE *out, const void *st, const json_t *facts);

extern const struct bench_program tt_program;
