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
#include "kirchhoff/shot.h"
#include "kirchhoff/tfolder.h"

#include <stdatomic.h>

/* source_positions.c: positions of the sources that tables are computed for. */
struct source_positions {
    size_t n;
    double (*at)[3];                /* [n] m, owned */
    struct tfolder_surface surface; /* the sources' grid, if they lie on one */
};

/* text: "NXxNY:STEP[@X,Y[,Z]]", a grid, x slowest, whose first source is at X, Y, Z (default: the
 * first node of `grid`); "FILE.csv" with columns x, y and optionally z; or NULL for `shots` sources
 * spread evenly over the top of `grid`. EK_USAGE: malformed; EK_UNAVAILABLE: memory. close is fine
 * after a failed open. */
enum ek_status source_positions_open(const char *text, int shots, const struct grid *grid,
                                     struct source_positions *p);
void source_positions_close(struct source_positions *p);

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
    atomic_bool refused;        /* a table could not be written */
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

/* times.c: single travel times and rays; reads a CSV table of cases, writes a table of answers.
 *
 * Columns are found by name, others ignored: id, model (const, gradz, grad3, layer2, lens), v0, kx,
 * ky, kz, h, v2, lens_dv, lens_x, lens_y, lens_z, lens_sigma, sx, sy, sz. Columns that the row's
 * model does not use may be empty. Answers are in the order of the rows, with 17 digits. */

/* Times of the most energetic and the first arrival at px, py, pz: id,t_strong,t_first; both empty
 * if the model has no closed form. "-" is standard input or output. EK_USAGE with file and line: a
 * column or number is missing, or v is not positive at source or point; EK_UNAVAILABLE as
 * file_replace_text(). */
enum ek_status times_run(const char *path, const char *out);

/* Traces rays from the source in direction takeoff_polar_deg (from down), takeoff_azim_deg (from x
 * towards y) for t_strong s: id,x,y,z,qx,qy,qz,spread_L,zmax,kmah. Answers are empty for layer2,
 * whose velocity jumps. Errors as above. */
enum ek_status times_rays(const char *path, const char *out);
