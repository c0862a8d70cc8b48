/* mcsem/inversion.h – the state of an inversion on the units of this process, shared by
 *
 *   program.c       options and modes
 *   inversion.c     opening and closing; starting, or resuming from a checkpoint
 *   verbs.c         the verbs of a step
 *   checkpoint.c    checkpoints
 *   results.c       verification and reporting
 *   write_*.c       output tables
 *   figures.c       figures of the report
 *
 * A step computes the fields of one trial model; its tasks are this rank's cells, which have no
 * data to move. Rank 0 receives the cells' sums as they are computed, judges the trial, and before
 * the next step finds the next trial and broadcasts it. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/rank/cluster.h"
#include "mcsem/cell.h"
#include "mcsem/uncertainty.h"
#include "mcsem/drift.h"
#include "mcsem/survey_file.h"

/* What rank 0 decides after a step and broadcasts. */
struct inversion_decision {
    int stop;           /* enum invert_stop */
    int accepted;       /* the computed trial is accepted */
    int corrects_drift; /* and the receivers' drift is estimated from it */
};

struct inversion {
    /* options */
    const char *path, *generate, *forward, *out, *truth; /* files, and alternatives to a run */
    int seed;
    double scale; /* of --generate: multiplies the number of shots */
    const char *ranks_schedule;
    double start_rho; /* 0: as in the file */
    const char *model_out, *model_in, *models, *responses, *history, *cells, *checkpoint;
    struct survey_file_earth earth_options;
    struct survey_noise noise;
    int use;            /* enum survey_part */
    const char *errors; /* a table, or NULL */
    struct cell_options cell_options;
    struct invert_options invert_options;
    double tolerance;   /* relative, of --forward */
    double drift_sigma; /* standard deviation of receivers' gains and phases, 0: no errors */
    struct prior_options prior_options;
    bool drop_outside; /* leave out pairs outside the grid */
    bool forward_survey, want_uncertainty;

    /* the data, the model */
    struct survey *survey;
    struct earth *start, *true_earth; /* true_earth: NULL if unknown */
    struct prior *prior;
    struct invert *inv;
    struct drift *drift;             /* NULL without --drift */
    struct uncertainty *uncertainty; /* NULL without --uncertainty */
    double complex *response,
        *trial_response;        /* [pairs][nfreq] of the accepted model, of the trial */
    json_t *verdict;            /* of the last run, NULL before the first */
    struct cell_report *report; /* [cells] of this rank's last computation */
    double pairs_done;          /* in this run, by all ranks */
    double *first_model,
        psnr;                /* of the first run of a comparison; this run's distance from it, dB */
    double cpu_s;            /* of this rank's cells in the last step */
    double worst_difference; /* largest difference of shared from exact mode in this run */

    /* units and ranks */
    struct cu_set *set;
    struct cell_work **work; /* [units] */
    int *rank_of;            /* [cells] */
    int *cell;               /* [ntasks] cell of each task */
    double *cost;            /* [ntasks] */
    size_t ntasks;
    struct cluster_mail *mail; /* sums in transit to rank 0; NULL with one rank */
    int *message;              /* [cells] number of the cell's message, -1: none */
    int nmessages;
    struct arena arena;
};

/* As bench_program's open, reset and close. */
enum ek_status inversion_open(void *st, struct cu_set *set, struct sched_job *job);
enum ek_status inversion_prepare(void *st, const struct cu *cu);
void inversion_release(void *st, const struct cu *cu);
enum ek_status inversion_reset(void *st);
void inversion_close(void *st);

/* Reads the survey and its earth. */
enum ek_status inversion_read(struct inversion *inversion);

/* Saves the state after a judged step as one JSON file, replaced atomically, and restores it so
 * that the run continues as if uninterrupted. EK_UNAVAILABLE: not writable; EK_USAGE: damaged, or
 * of another survey or other options. Rank 0 only. */
enum ek_status checkpoint_save(void *st, int step);
enum ek_status checkpoint_load(struct inversion *inversion);

/* Counts the cells without data and lists them in `cell` (may be NULL). */
int inversion_cells_without_data(const struct inversion *inversion, int *cell);
