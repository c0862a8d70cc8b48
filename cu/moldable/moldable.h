/* cu/moldable/moldable.h – moldable tasks, parallel programs whose number of cores is chosen when
 * they are placed: problems (tasks and nodes), the methods that place the tasks, and their plans.
 *
 * The model is that of Dietze, Hofmann and Rünger, "Water-Level scheduling for parallel tasks in
 * compute-intensive application components", section 4.1: t_i(p) seconds on p cores of a reference
 * node, node j has p_j cores and is f_j times as fast; a single-node task takes cores of one node,
 * a cluster task whole nodes of one cluster (and goes at the pace of the slowest of them). */
#pragma once

#include "src/base.h"

/* t(p) = (1 + stretch) (a/p^b + c + d ln(p) + e p) seconds, or (1 + stretch) table[p-1]. */
struct moldable_law {
    double a, b, c, d, e;
    double stretch; /* how much longer tasks take than the law says: 0.1 = a tenth */
    double *table;  /* [ntable], NULL = the formula; no task uses more cores than it has entries */
    int ntable;
};

/* Tasks of one kind take the same time on the same cores. */
struct moldable_kind {
    char *name;
    struct moldable_law law;
    bool cluster; /* runs on whole nodes of a cluster (MPI) instead of cores of one node (OpenMP) */
    int least, most; /* fewest and most cores of one task, 0 = any number */
    /* On w cores of a node with c, of which b others are busy, it takes 1 + interference *
     * b / (c - 1) times as long. */
    double interference;
    int gpus;      /* that one task occupies on its node (each of its nodes) */
    double memory; /* that one task needs on its node (each of its nodes), in the nodes' unit */
    int nafter;
    int *after; /* [nafter] kinds whose tasks must all have ended before it starts */
};

struct moldable_node {
    char *name;
    int cores;     /* p_j */
    double factor; /* f_j: seconds on the reference node / seconds here */
    int cluster;   /* 0 … nclusters-1 */
    int gpus;
    double memory; /* 0 = unlimited */
    double *free;  /* [cores] when each becomes free, s; NULL: all at 0. Borrowed */
};

struct moldable_problem {
    int ntasks, nkinds, nnodes, nclusters;
    int *kind; /* [ntasks] */
    struct moldable_kind *kinds;
    struct moldable_node *node;
    char **cluster;     /* [nclusters] names */
    struct arena arena; /* of names, tables and lists */
};

/* One decision. A method returns a list of them in the order in which they are made: each task
 * starts as soon as its cores have finished the tasks placed there before. */
struct moldable_choice {
    int task;
    int where; /* node; of a cluster task the cluster */
    int width; /* cores; of a cluster task nodes: those that are free first */
    int slot; /* takes the cores slot-width+1 … slot of the node's cores in the order in which they
               * become free, so it starts when core `slot` is free; width-1 = the first ones, as
               * always for a cluster task */
};

struct timeline; /* cu/moldable/timeline.h */

/* A method: one const struct per file of cu/moldable/method/, one line in moldable_list.h. */
struct moldable_method {
    const char *name, *summary;
    /* Fills choice [ntasks] for the timeline's problem, every task once. The timeline comes with
     * all tasks unplaced; the method may change it and use its arena. EK_UNAVAILABLE: out of
     * memory. One thread; reentrant. */
    enum ek_status (*choose)(struct timeline *, struct moldable_choice *choice);
};

extern const struct moldable_method *const moldable_methods[]; /* ends with NULL */

/* The method of that name; NULL if there is none, with an error message that lists them. */
const struct moldable_method *moldable_find(const char *name);

/* ---- plans ------------------------------------------------------------------------------------*/
/* A task's share of one node. */
struct moldable_part {
    int node;
    int ncores;
    const int *core; /* [ncores] of that node, 0 … cores-1 */
};

struct moldable_placed {
    double start, finish; /* s */
    int cores;            /* of all parts */
    int nparts;           /* 1; of a cluster task the number of its nodes */
    const struct moldable_part *part;
    int nafter;
    const int *after; /* [nafter] the tasks before it on its cores, ascending */
};

struct moldable_plan {
    const char *method;
    int ntasks;
    struct moldable_placed *task; /* [ntasks], by number of the task */
    double makespan;              /* s: the last finish */
    double planning;              /* s: run time of the method */
    struct moldable_part *parts;  /* storage of the members above */
    int *cores, *afters;
    struct arena arena; /* of all arrays */
};

/* Runs the method and turns its choices into a plan core by core. EK_UNAVAILABLE: out of memory. */
enum ek_status moldable_plan_open(struct moldable_plan *, const struct moldable_problem *,
                                  const struct moldable_method *);
void moldable_plan_close(struct moldable_plan *);

/* A lower bound of all makespans (s): the least T for which every task ends within T on some number
 * of cores, and the tasks' work, each at its least over those numbers and the sizes of nodes at the
 * best prices of these, fits the area T sum(p_j f_j); likewise their least use of GPUs and memory.
 * It is at least the longest chain of kinds that depend on one another, each with all nodes to
 * itself. Interference above 1 counts as 1. NaN: out of memory, already reported. */
double moldable_bound(const struct moldable_problem *);

/* ---- tasks and nodes --------------------------------------------------------------------------*/
/* Has the node the GPUs and the memory for a task of the kind? */
bool moldable_can_host(const struct moldable_kind *, const struct moldable_node *);
/* Do tasks of the kind need GPUs or memory? */
static inline bool moldable_needs_resources(const struct moldable_kind *k)
{
    return k->gpus || k->memory > 0;
}

/* The fewest cores that a task of the kind can use, and the most of these. */
static inline int moldable_fewest(const struct moldable_kind *k)
{
    return k->least > 1 ? k->least : 1;
}
static inline int moldable_most(const struct moldable_kind *k, int cores)
{
    return k->most && k->most < cores ? k->most : cores;
}

/* Can a task of the kind use so many cores? */
static inline bool moldable_allows(const struct moldable_kind *k, int cores)
{
    return cores >= moldable_fewest(k) && moldable_most(k, cores) == cores;
}

/* Does no task depend on another? */
bool moldable_independent(const struct moldable_problem *);

/* Cores of the largest node, at least 1. */
int moldable_widest(const struct moldable_problem *);

/* t(p), p >= 1; infinite where the table has no entry. */
double moldable_seconds(const struct moldable_law *, int p);

/* The law of "71.07/p^0.42+4.47", "9.5/p + 0.5*log(p) + 0.5*p" or "[10,6,4.5]": a sum of constants,
 * x/p, x/p^y, x*log(p), x*p (one y), or a table for 1, 2, … cores. EK_USAGE: says where it
 * stops. */
enum ek_status moldable_law_parse(struct moldable_law *, const char *text);

/* Adds the jobs of a trace in the Standard Workload Format, each as a kind of its own: with exactly
 * the processors that it had if a node of `cores` has them, else with the first nodes of a cluster
 * that have as many. Times are multiplied by `scale`. Jobs that never ran or whose processors are
 * unknown are left out, with a warning that counts them. EK_USAGE: with file and line. */
enum ek_status moldable_read_swf(struct moldable_problem *, const char *path, int cores,
                                 double scale);

/* Adds the tasks of "10 x 71.07/p^0.42+4.47, dgemm = 5 x 13.09/p^1.09+2.3, 2 x cluster 40/p": a
 * count, a name, "cluster" are optional. EK_USAGE: names the entry. */
enum ek_status moldable_tasks_parse(struct moldable_problem *, const char *text);

/* Adds the nodes of "cs1:8:1.0,5 x ws:12:1.4:left": name, cores, factor (1), cluster ("all"); those
 * with a count get numbers behind their name. EK_USAGE: names the entry. */
enum ek_status moldable_nodes_parse(struct moldable_problem *, const char *text);

/* One more kind with `count` tasks / one more node. Names, the law's table and the list of those
 * before it are copied. EK_USAGE: numbers that make no sense. */
enum ek_status moldable_add_tasks(struct moldable_problem *, const struct moldable_kind *,
                                  int count);
enum ek_status moldable_add_node(struct moldable_problem *, const char *name, int cores,
                                 double factor, const char *cluster);

/* EK_USAGE unless there are tasks and nodes and each task's time is positive and finite on some
 * number of cores that a node (a cluster) has. */
enum ek_status moldable_check(const struct moldable_problem *);
/* The same of one kind of tasks. */
enum ek_status moldable_check_kind(const struct moldable_problem *, const struct moldable_kind *);
void moldable_problem_close(struct moldable_problem *);
