/* okada_mogi/verbs.h – a search as steps of the team, one for each batch. For program.c only. */
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
    int *was;                 /* [nwas] previous homes of tasks, for the team: -1, all are new */
    size_t nwas;
    double reported;             /* evaluations of this run already reported to the node */
    struct sched_job *described; /* the shared main's job, set from the batch */
    double start, seconds;
    struct results_check checked; /* at the end */
    int round;                    /* of refinement; 0: the job itself */
    json_t *refined;              /* the job of this round */
    json_t *others;               /* results given by --against; NULL: none */
    struct refine to_refine;
};

extern const struct team_ops search_verbs;

/* Cuts the batch into tasks for the shared main. EK_UNAVAILABLE: out of memory. */
enum ek_status search_describe(struct program *p);
/* Hooks of the shared main: see struct bench_program. */
int search_steps(const void *st);
void search_schedule(void *st, const char *spec);
enum ek_status search_reset(void *st);
