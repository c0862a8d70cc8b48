/* kirchhoff/tt.h – a run of kirchhoff-tt: shots are shared among all units, which donate devices to
 * one another.
 *
 * A task is a shot. Every unit, including a device's managing thread, runs one shot at a time on
 * its cores; every few steps cu/sched/donate.h decides which units use a device to move their rays.
 * A unit opens its own handle on a device when it first gets it, so that switching only changes
 * where the next step's rays are moved. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/sched/donate.h"
#include "kirchhoff/source_positions.h"
#include "kirchhoff/shot.h"

#include <stdatomic.h>

struct tt_span { /* when a shot had a device, s since the run began */
    int device;
    double begin, end;
};

/* Results of a finished shot. */
struct tt_record {
    bool finished, kept; /* kept: the table is from an earlier run */
    int unit;
    double begin, end; /* s since the run began */
    struct shot_numbers numbers;
    size_t eikonal;   /* nodes with eikonal times; other counts are in t->folder */
    double rms, most; /* s, errors of sampled nodes against the closed form; NAN: there is none */
    int *length;      /* [numbers.steps] rays of the front after each step */
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
    size_t ntodo, *todo; /* [ntodo] this rank's sources to do: the tasks */
    bool runs_a_step;    /* some rank has any to do: the same on all, as steps are collective */
    struct donate *donate;
    struct ray_device **handle; /* [units][devices], opened by each unit */
    struct tt_record *record;   /* [sources] */
    double start;               /* clock_now() at the run's begin */
    int runs;                   /* repetitions so far, including this one */
    atomic_size_t finished;     /* shots */
    atomic_flag showing;        /* a thread is drawing the progress line */
    size_t mutual;              /* sources sampled for reciprocity, and the times … */
    double *between;            /* … between them, [mutual][mutual] s, 0: unknown (certify.h) */
    float *slice, *residual;    /* [n[0]][n[2]] first source's times, residuals in its plane */
    struct arena arena;         /* owns the arrays */
};

enum ek_status tt_open(void *st, struct cu_set *set, struct sched_job *job);
enum ek_status tt_reset(void *st);
void tt_close(void *st);

extern const struct team_ops tt_verbs;

/* Results for JSON, shot by shot, and the report's pictures. New reference, NULL: out of memory. */
json_t *tt_facts(const void *st);
void tt_remark(FILE *out, const void *st, const json_t *facts);

extern const struct bench_program tt_program;
