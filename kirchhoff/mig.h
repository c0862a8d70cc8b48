/* kirchhoff/mig.h – the migration as a program of the shared main: tasks are chunks of traces, all
 * units add to one image. */
#pragma once

#include "cu/bench/bench_options.h"
#include "kirchhoff/lsm.h"
#include "src/arena.h"
#include <pthread.h>

/* What a partial image is read for: to see whether it fits, which chunks it has, or to be added. */
enum mig_part_use { MIG_PART_CHECK, MIG_PART_LIST, MIG_PART_ADD };

/* How an image is divided. */
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
    int divide;     /* enum mig_divide, -1: what the weight wants */
    int iterations; /* of least squares, 0: none */
    struct migrate *m;
    struct lsm *lsm;       /* or NULL */
    int steps, kept_steps; /* done, and by an interrupted run */
    int kept_slabs, shown; /* slabs done by one; 1 + that which was read again, 0: none */
    bool kept_part;        /* p->checkpoint is there, and is to be added */
    bool kept_ranks;       /* so are files of other ranks beside it */
    atomic_bool cut;       /* ranks left chunks out: the run is to end */
    int *opened;           /* [set->n] the slab that a unit's worker or device is for */
    struct cu_set *set;
    size_t span[2];                 /* chunks of the part, on all ranks: from, to before */
    size_t first, end;              /* those of this process */
    size_t n, *todo;                /* [n] of these, not in the image yet: tasks */
    bool *done;                     /* [survey->nchunks] in this process's image */
    uint64_t *sum;                  /* [survey->nchunks] of its samples; 0: not known */
    double traces, kept;            /* of the part, on all ranks; of an interrupted run */
    char checkpoint[4096];          /* where rank 0 keeps that; "": nowhere */
    double *cost;                   /* [n] traces */
    _Atomic int *times;             /* [n] how often each was worked on */
    struct migrate_worker **worker; /* [set->n] of CPU units */
    struct migrate_device **device; /* [set->n] of devices */
    struct resum_verdict again;     /* of points that were summed again */
    double mismatch;                /* lsm_mismatch() */
    bool whole;                     /* all chunks are in it, all points are numbers */
    double silent;                  /* traces without signal; NAN: not known */
    float *column;                  /* [nz] of the image, to measure it */
    double peak;                    /* largest absolute value of the image */
    json_t *picture;                /* what the page shows */
    struct arena arena;             /* of the arrays */
};

/* mig_verbs.c: what belongs to a run, from its problem on. */
enum ek_status mig_begin(void *st, struct cu_set *set, struct sched_job *job);
enum ek_status mig_prepare(void *st, const struct cu *cu);
enum ek_status mig_reset(void *st);
/* The image that all ranks have, and what is said of it; they agree on p->done. EK_UNAVAILABLE.
 * Collective. */
enum ek_status mig_gather(struct mig *p);
void mig_release(void *st, const struct cu *cu);
void mig_end(void *st);
extern const struct team_ops mig_verbs;

extern const struct bench_program mig_program;

/* mig_checkpoint.c: the image so far is saved now and then, and when a run is interrupted; the next
 * run goes on from it. Which chunks former runs have done, to p->done of all ranks. Collective. */
enum ek_status mig_checkpoint_list(struct mig *p);
/* Adds what they have to the image of rank 0. Collective. */
enum ek_status mig_checkpoint_add(struct mig *p);
/* A unit adds chunks to the image in between, and waits where the image is being saved; mig_add_end
 * saves it if it is time. Any thread. */
void mig_add_begin(struct mig *p);
void mig_add_end(struct mig *p);
/* Between two steps: saves the state of least squares if it is time. */
void mig_step_end(struct mig *p);
enum ek_status mig_interrupted(void *st);
/* Keeps what ranks have that have left chunks out: EK_STOPPED. Collective. */
enum ek_status mig_cut(struct mig *p);
/* Removes all that was kept of this run and of former ones. */
void mig_checkpoint_remove(void *st);

/* mig_slabs.c: with several slabs, p->checkpoint is the name of the file of the one at hand. */
void mig_slab_name(struct mig *p, int slab);
/* The first slab that no interrupted run has finished; p->done is what it has of it. */
enum ek_status mig_slabs_resume(struct mig *p);
/* Keeps the slab that is done, and begins the next one. */
enum ek_status mig_slab_end(struct mig *p, bool last);
/* EK_USAGE: a run with another --image-memory has kept slabs, or the image whole. */
enum ek_status mig_slabs_alone(const struct mig *p);
/* Brings a slab back; nothing happens where there is one only. */
enum ek_status mig_slab_take(struct mig *p, int slab);
void mig_slabs_remove(struct mig *p);

/* write_image.c: the image, divided as wanted, to --out, --raw and --partial, by rank 0.
 * EK_UNAVAILABLE. */
enum ek_status mig_write(struct mig *p);
/* Column of the image as it is written: out [nz]. */
void mig_column(const struct mig *p, int class, size_t column, float *out);

/* write_headers.c: a row for each live trace of o->data to `path` ("-": standard output): trace,
 * sx, sy, sz, gx, gy, gz, samples, delay. EK_USAGE, EK_UNAVAILABLE. */
enum ek_status write_headers(const struct migrate_options *o, const char *path);

/* Runs `write` there; where the disk is full, here or in the temporary folder, which a warning
 * says: what took hours is not thrown away. EK_UNAVAILABLE. */
enum ek_status mig_write_anywhere(struct mig *p, const char *path,
                                  enum ek_status (*write)(struct mig *, const char *));

/* write_part.c: the image of those chunks that are p->done, to be added to others, and what their
 * points summed again are. The file says of which migration it is, and of which samples.
 * EK_UNAVAILABLE. */
enum ek_status mig_part_write(struct mig *p, const char *path);
/* Reads it; to list is to say p->done, to add does so, too. EK_USAGE: it is another migration's,
 * damaged (to check: EK_UNVERIFIED), or has chunks that the image has; EK_UNAVAILABLE. */
enum ek_status mig_part_take(struct mig *p, const char *path, enum mig_part_use use);
/* Remembers the sum of a chunk's samples, if all of them were read. */
void mig_sum_chunk(struct mig *p, size_t chunk);

/* A migration from a command line, ready for parts: input is read and checked, nothing is migrated.
 * EK_USAGE, EK_UNAVAILABLE. Caller owns *p; close accepts NULL. */
enum ek_status mig_open(int argc, char **argv, struct mig **p);
void mig_close(struct mig *p);

/* Judges the image of all ranks; p->whole: there is one that can be written. Collective; the first
 * rank warns of what is wrong. */
bool mig_judge(struct mig *p);

/* What is said of a run, beside what all programs say. New reference, NULL: out of memory. */
json_t *mig_facts(const void *st);
/* Least squares' residual after each iteration; none without. The same. */
json_t *mig_residual(const struct mig *p);

/* mig_page.c: slices, fold and gathers for the page. New reference, NULL: out of memory. */
json_t *mig_page(struct mig *p);
