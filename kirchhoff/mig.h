/* kirchhoff/mig.h – the migration as a program of the shared main. Tasks are chunks of traces; all
 * units add to one image. */
#pragma once

#include "cu/bench/bench_options.h"
#include "kirchhoff/lsm.h"
#include <pthread.h>

/* Why a partial image is read: to check it, to list its chunks, or to add it. */
enum mig_part_use { MIG_PART_CHECK, MIG_PART_LIST, MIG_PART_ADD };

/* What the image is divided by. */
enum mig_divide { MIG_FOLD, MIG_SHOTS, MIG_NOTHING };

/* When the image so far is saved, while no unit adds to it. */
struct mig_saving {
    double every;        /* s between saves; 0: none, -1: as often as is cheap */
    _Atomic double next; /* clock_now() of the next one */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int adding; /* units that are adding */
    bool now, failed;
};

struct mig {
    struct migrate_options o;
    struct mig_saving saving;
    const struct bench_settings *run; /* for jobs */
    const char *generate, *events, *out, *raw, *partial, *part, *headers;
    int divide;     /* enum mig_divide, -1: the weight's default */
    int iterations; /* of least squares, 0: none */
    struct migrate *m;
    struct lsm *lsm;            /* or NULL */
    int steps, kept_steps;      /* done; done by an interrupted run */
    int kept_slabs, shown;      /* slabs done by that run; 1 + the slab read back, 0: none */
    bool kept_part;             /* p->checkpoint exists and is to be added */
    int kept_ranks, *kept_rank; /* [kept_ranks] ranks whose files are to be added, too */
    atomic_bool left_out;       /* ranks left chunks out because the run is to end */
    int *opened; /* [set->n] the slab that a unit's worker or device was opened for */
    struct cu_set *set;
    size_t span[2];                 /* chunks of --part, on all ranks: first, end */
    size_t first, end;              /* chunks of this process */
    size_t n, *todo;                /* [n] those not in the image yet: the tasks */
    bool *done;                     /* [survey->nchunks] in this process's image */
    uint64_t *sum;                  /* [survey->nchunks] checksum of its samples; 0: unknown */
    double traces, kept;            /* traces of --part on all ranks; of an interrupted run */
    char checkpoint[4096];          /* where rank 0 keeps that; "": nowhere */
    double *cost;                   /* [n] traces of a task */
    _Atomic int *times;             /* [n] how often a task was done */
    struct migrate_worker **worker; /* [set->n] of CPU units */
    struct migrate_device **device; /* [set->n] of devices */
    struct resum_verdict again;     /* the check by points that are summed again */
    double mismatch;                /* lsm_mismatch() */
    bool whole;                     /* the image has all chunks, and all its points are numbers */
    double silent;                  /* traces without signal; NAN: unknown */
    float *column;                  /* [nz] scratch for a column of the image */
    double peak;                    /* largest absolute value of the image */
    struct arena arena;             /* owns the arrays */
};

/* mig_setup.c: the options, ended by an empty one, and functions that bench.h describes. */
extern const struct opt mig_options[];
void mig_defaults(void *st, const struct bench_program *self);
enum ek_status mig_plan(void *st, char *problem, size_t room, size_t *bytes);
int mig_steps(const void *st);
double mig_work(const void *st);
/* A migration from a command line, ready for parts: input is read and checked, nothing is migrated.
 * EK_USAGE, EK_UNAVAILABLE. Caller owns *p; close accepts NULL. */
enum ek_status mig_open(int argc, char **argv, struct mig **p);
void mig_close(struct mig *p);

/* mig_verbs.c: opens, runs and closes a migration. */
enum ek_status mig_begin(void *st, struct cu_set *set, struct sched_job *job);
enum ek_status mig_prepare(void *st, const struct cu *cu);
enum ek_status mig_reset(void *st);
void mig_release(void *st, const struct cu *cu);
void mig_end(void *st);
extern const struct team_ops mig_verbs;

extern const struct bench_program mig_program;

/* mig_checkpoint.c: saves the image so far now and then and when a run is interrupted; the next run
 * goes on from there. Lists the chunks that former runs have done in p->done of all ranks.
 * Collective. */
enum ek_status mig_checkpoint_list(struct mig *p);
/* Adds those chunks to the image of rank 0. Collective. */
enum ek_status mig_checkpoint_add(struct mig *p);
/* Units add to the image only between these two; mig_add_begin() waits while the image is being
 * saved, mig_add_end() saves it if it is time. Any thread. */
void mig_add_begin(struct mig *p);
void mig_add_end(struct mig *p);
/* Between two steps: saves the state of least squares if it is time. */
void mig_step_end(struct mig *p);
enum ek_status mig_interrupted(void *st);
/* Sums the images of all ranks into each of them, and makes p->done that of all. EK_UNAVAILABLE.
 * Collective. */
enum ek_status mig_gather(struct mig *p);
/* Saves what all ranks have when some left chunks out: EK_STOPPED. Collective. */
enum ek_status mig_save_all(struct mig *p);
/* Removes the checkpoints of this run and of former ones. */
void mig_checkpoint_remove(void *st);

/* mig_slabs.c: with several slabs, p->checkpoint becomes the file of this slab. */
void mig_slab_name(struct mig *p, int slab);
/* Goes to the first slab that no interrupted run has finished; p->done lists its finished chunks.
 */
enum ek_status mig_slabs_resume(struct mig *p);
/* Saves the finished slab and begins the next one. */
enum ek_status mig_slab_end(struct mig *p, bool last);
/* EK_USAGE: there are files of a run with another number of slabs. */
enum ek_status mig_slabs_alone(const struct mig *p);
/* Reads a slab back into memory; does nothing if there is only one. */
enum ek_status mig_slab_take(struct mig *p, int slab);
void mig_slabs_remove(struct mig *p);

/* write_image.c: rank 0 writes the image, divided as p->divide says, to --out, --raw and
 * --partial. EK_UNAVAILABLE. */
enum ek_status mig_write(struct mig *p);
/* Column of the image as it is written: out [nz]. */
void mig_column(const struct mig *p, int class, size_t column, float *out);

/* write_headers.c: a row for each live trace of o->data to `path` ("-": standard output): trace,
 * sx, sy, sz, gx, gy, gz, samples, delay. EK_USAGE, EK_UNAVAILABLE. */
enum ek_status write_headers(const struct migrate_options *o, const char *path);

/* Calls `write` with the path; if that fails, with the current or the temporary folder, and warns
 * where the file is: hours of work are not thrown away. EK_UNAVAILABLE. */
enum ek_status mig_write_anywhere(struct mig *p, const char *path,
                                  enum ek_status (*write)(struct mig *, const char *));

/* write_part.c: writes the undivided image of the chunks in p->done with its points summed again,
 * to be added to other parts. The file is bound to this migration and its samples. EK_UNAVAILABLE.
 */
enum ek_status mig_part_write(struct mig *p, const char *path);
/* Reads such a file; listing and adding extend p->done. EK_USAGE: it belongs to another migration,
 * is damaged (when checking: EK_UNVERIFIED) or shares chunks with the image; EK_UNAVAILABLE. */
enum ek_status mig_part_take(struct mig *p, const char *path, enum mig_part_use use);
/* Stores the checksum of a chunk's samples if all of them have been read. */
void mig_sum_chunk(struct mig *p, size_t chunk);

/* mig_judge.c: checks the image of all ranks; p->whole: it can be written. Collective; rank 0 warns
 * of what is wrong. */
bool mig_judge(struct mig *p);

/* The program's own results for JSON. New reference, NULL: out of memory. */
json_t *mig_facts(const void *st);
/* The residual of least squares after each iteration, else an empty array. Likewise. */
json_t *mig_residual(const struct mig *p);

/* mig_page.c: slices, fold and gathers for the HTML page. New reference, NULL: out of memory. */
json_t *mig_page(struct mig *p);
