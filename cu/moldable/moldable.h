/* cu/moldable/moldable.h – moldable tasks: parallel programs whose number of cores is chosen when
 * they are placed. A problem (tasks and nodes), the methods that place the tasks, and what comes of
 * it.
 *
 * The model is that of Dietze, Hofmann and Rünger, "Water-Level scheduling for parallel tasks in
 * compute-intensive application components", section 4.1: t_i(p) seconds on p cores of a reference
 * node, node j has p_j cores and is f_j times as fast; a single-node task takes cores of one node,
 * a cluster task whole nodes of one cluster (and goes at the pace of the slowest of them). */
#pragma once

#include "src/arena.h"
#include "src/status.h"
#include <stdbool.h>

/* t(p) = (1 + stretch) (a/p^b + c + d ln(p) + e p) seconds, or (1 + stretch) table[p-1]. */
struct moldable_law {
    double a, b, c, d, e;
    double stretch; /* what measurements have added, as a share */
    double *table; /* [ntable], NULL = the formula; more cores than it has entries cannot be used */
    int ntable;
};

/* Tasks of one kind take the same time on the same cores. */
struct moldable_kind {
    char *name;
    struct moldable_law law;
    bool cluster; /* runs on whole nodes of a cluster (MPI) instead of cores of one node (OpenMP) */
    int least, most; /* cores that one task needs and can use, 0 = any number */
    /* Among busy neighbours it takes 1 + interference * (busy other cores / all other cores) times
     * as long. */
    double interference;
    int gpus;      /* of the node that it has to itself; of each node of a cluster task */
    double memory; /* of the node, in the unit of the nodes' */
    int nafter;
    int *after; /* [nafter] kinds all of whose tasks must have ended before it starts */
};

struct moldable_node {
    char *name;
    int cores;     /* p_j */
    double factor; /* f_j: seconds on the reference node / seconds here */
    int cluster;   /* 0 … nclusters-1 */
    int gpus;
    double memory; /* 0 = nobody counts */
    double *free;  /* [cores] s from which on each can be used; NULL: from 0 on. Borrowed */
};

struct moldable_problem {
    int ntasks, nkinds, nnodes, nclusters;
    int *kind; /* [ntasks] */
    struct moldable_kind *kinds;
    struct moldable_node *node;
    char **cluster;     /* [nclusters] names */
    struct arena arena; /* of names, tables and lists */
};

/* One decision. A method's answer is a list of them in the order in which they are made: each task
 * starts once the cores that it takes have finished what was placed there before. */
struct moldable_choice {
    int task;
    int where; /* node; of a cluster task the cluster */
    int width; /* cores; of a cluster task nodes: those that are free first */
    int slot; /* the cores slot-width+1 … slot of the node, in the order in which they become free,
               * so that the start is when core `slot` is free; width-1 = the first ones. Of a
               * cluster task always width-1 */
};

struct timeline; /* cu/moldable/timeline.h */

/* A method: one const struct per file of cu/moldable/method/, one line in moldable_list.h. */
struct moldable_method {
    const char *name, *summary;
    /* Fills choice [ntasks] of the timeline's problem; every task once. All cores of the timeline
     * are free; what becomes of it is nobody's affair, and its arena is the method's, too.
     * EK_UNAVAILABLE: out of memory. One thread; reentrant. */
    enum ek_status (*choose)(struct timeline *, struct moldable_choice *choice);
};

extern const struct moldable_method *const moldable_methods[]; /* ends with NULL */

/* The method of that name; NULL and a line that lists them if there is none. */
const struct moldable_method *moldable_find(const char *name);

/* ---- what comes of it -------------------------------------------------------------------------*/
struct moldable_part {
    int node;
    int ncores;
    const int *core; /* [ncores] of that node, 0 … cores-1 */
};

struct moldable_placed {
    double start, finish; /* s */
    int cores;            /* of all parts */
    int nparts;           /* 1; a cluster task has one for each node */
    const struct moldable_part *part;
    int nafter;
    const int *after; /* [nafter] the tasks that had these cores just before, ascending */
};

struct moldable_plan {
    const char *method;
    int ntasks;
    struct moldable_placed *task; /* [ntasks], by number of the task */
    double makespan;              /* s: the last finish */
    double planning;              /* s: what the method took */
    struct moldable_part *parts;  /* storage of the members above */
    int *cores, *afters;
    struct arena arena; /* of all of it */
};

/* Runs the method and follows its choices core by core. EK_UNAVAILABLE: out of memory. */
enum ek_status moldable_plan_open(struct moldable_plan *, const struct moldable_problem *,
                                  const struct moldable_method *);
void moldable_plan_close(struct moldable_plan *);

/* No schedule is shorter (s): the least T in which every task has a number of cores with which it
 * ends in time, and all tasks together, each with the least work p t(p) of those numbers, fit the
 * area T sum(p_j f_j). At least the longest task where it is fastest, and the plain area bound.
 * NaN: out of memory, which has been said. */
double moldable_bound(const struct moldable_problem *);

/* ---- tasks and nodes --------------------------------------------------------------------------*/
/* Cores of the largest node, at least 1. */
int moldable_widest(const struct moldable_problem *);

/* t(p), p >= 1; infinite where the table has no entry. */
double moldable_seconds(const struct moldable_law *, int p);

/* The law of "71.07/p^0.42+4.47", "9.5/p + 0.5*log(p) + 0.5*p" or "[10,6,4.5]": a sum of constants,
 * x/p, x/p^y, x*log(p), x*p (one y), or a table for 1, 2, … cores. EK_USAGE: says where it
 * stops. */
enum ek_status moldable_law_parse(struct moldable_law *, const char *text);

/* Adds the jobs of a trace in the Standard Workload Format, each as a kind of its own with just the
 * processors that it had: on one node of `cores`, or on so many nodes of a cluster as they fill.
 * Times are multiplied by `scale`. EK_USAGE: with file and line. */
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
void moldable_problem_close(struct moldable_problem *);
