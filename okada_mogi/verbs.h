/* okada_mogi/verbs.h – a search in steps of the team: each batch is one. For program.c only. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/bench/bench_options.h"
#include "okada_mogi/node.h"
#include "okada_mogi/refine.h"
#include "okada_mogi/units.h"

struct program {
    const char *name, *path, *trials, *out, *binary, *save_to, *forward, *residuals, *refine_by,
        *refine_out, *certify, *geojson, *psvelo, *generate, *against;
    const struct bench_settings *settings;
    int refine; /* rounds that follow the first */
    int seed;
    int method; /* enum search_method */
    bool dry_run;
    const struct model *model;
    struct job *job;
    struct search *search;
    struct trial_range range;
    struct results *results;
    struct search_state *checkpoint;
    struct node *node;
    struct cu_set *set;
    struct units *units;
    const char *schedule;     /* of this run */
    struct pieces tasks;      /* of the batch */
    struct trial_range batch; /* count 0: none */
    int *was;                 /* [nwas] -1: each task is new to the team */
    size_t nwas;
    double reported;             /* evaluations of this run that the node knows of */
    struct sched_job *described; /* by the batch; the shared main's */
    double start, seconds;
    long checked;
    int round;       /* of refinement; 0: the job itself */
    json_t *refined; /* the job of this round */
    json_t *others;  /* what --against says; NULL: nothing */
    struct refine to_refine;
};

extern const struct team_ops search_verbs;

/* The batch as tasks of the shared main. EK_UNAVAILABLE: out of memory. */
enum ek_status search_describe(struct program *p);
/* The shared main's: see struct bench_program. */
int search_steps(const void *st);
void search_schedule(void *st, const char *spec);
enum ek_status search_reset(void *st);
