/* mcsem/inversion.h – an inversion opened on the units of this process, as the files behind it
 * share it:
 *
 *   program.c       what is asked for
 *   inversion.c     opening and closing; the beginning, or where a saved inversion stands
 *   verbs.c         the verbs of a step
 *   checkpoint.c    checkpoints
 *   results.c       what a run is worth, and what is said of it
 *   write_*.c       tables that a run leaves
 *   figures.c       figures of the report
 *
 * A step computes the fields of one trial model: tasks are this rank's cells, which have no data to
 * move. Rank 0 gathers the cells' sums while they are computed, judges the trial, finds the next
 * one before the next step and shares it with the others. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/rank/cluster.h"
#include "mcsem/cell.h"
#include "mcsem/certainty.h"
#include "mcsem/drift.h"
#include "mcsem/survey_file.h"

/* What rank 0 tells the others after each step and before the next. */
struct inversion_word {
    int stop;     /* enum invert_stop */
    int accepted; /* the trial that was computed */
    int drifts;   /* it tells of receivers, too */
};

struct inversion {
    /* what is asked for */
    const char *path, *generate, *forward, *out, *truth; /* files and what to do instead of a run */
    int seed;
    double scale; /* of --generate: shots, times the design's */
    const char *ranks_schedule;
    double start_rho; /* 0: the file's */
    const char *model_out, *model_in, *models, *responses, *history, *cells, *checkpoint;
    struct survey_file_earth earth_words;
    struct survey_noise noise;
    int use;            /* enum survey_part */
    const char *errors; /* a table, NULL: none */
    struct cell_options cell_options;
    struct invert_options invert_options;
    double tolerance; /* of --forward */
    double drifting;  /* standard deviation of receivers' gains and phases, 0: they are right */
    struct prior_options prior_options;
    bool drop; /* pairs outside the grid */
    bool forward_survey, uncertainty, vertical;

    /* the data, the model */
    struct survey *survey;
    struct earth *start, *true_earth; /* true_earth: NULL where it is not known */
    struct prior *prior;
    struct invert *inv;
    struct drift *drift;                       /* NULL where receivers are right */
    struct certainty *sure;                    /* NULL where it was not asked for */
    double complex *response, *trial_response; /* [pairs][nfreq] of the accepted model, the trial */
    json_t *verdict;                           /* of the last run, NULL before */
    struct cell_report *report;                /* [cells] of the last computation here */
    double pairs_done;                         /* in this run, by all ranks */
    double *first_model,
        psnr;                /* of the first run of a comparison; this run's distance from it, dB */
    double cpu_s;            /* of this rank's cells in the last step */
    double worst_difference; /* of shared mode from exact mode, in this run */

    /* units and ranks */
    struct cu_set *set;
    struct cell_work **work; /* [units] */
    int *rank_of;            /* [cells] */
    int *cell;               /* [ntasks] of a task */
    double *cost;            /* [ntasks] */
    size_t ntasks;
    struct cluster_mail *mail; /* sums on their way to rank 0; NULL where there is one rank */
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

/* The survey and its earth, as inversion_open() begins with it. */
enum ek_status inversion_read(struct inversion *inversion);

/* The state after a judged step, in one JSON file, written beside and renamed; and back from it, as
 * if the run had never ended. EK_UNAVAILABLE: not writable; EK_USAGE: damaged, or of another survey
 * or other options. Rank 0's affair. */
enum ek_status checkpoint_save(void *st, int step);
enum ek_status checkpoint_load(struct inversion *inversion);

/* Cells without any datum. */
int inversion_empty(const struct inversion *inversion, int *cell);
