/* cu/sim/capacity.h – capacity planning: which nodes of a cluster, and how many, a problem is
 * worth; policies are simulated on every combination (Dagostini's thesis, chapter 7).
 *
 * A machine is a JSON file of node types:
 *
 *    {"name": "text",
 *     "nodes": [{"name": "draco", "count": 7, "cores": 16, "speed": 1.0, "price": 1,
 *                "devices": {"count": 1, "speed": 20, "fixed_s": 1e-5}, "profile": "file"},
 *               {"name": "new", "like": "draco", "times": 2, "cores": 64, "count": 4,
 *                "hypothetical": true}],
 *     "link": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}}
 *
 * count: how many nodes there are, or could be. speed: of a core, in cost per second; a factor
 * where costs are measured seconds. "like" copies missing members from a type further up, "times"
 * multiplies its speeds. A profile made on such a node replaces the speeds. Without a link, all
 * memory counts as one node and transfers are free; with it, every node and device is a memory
 * node. */
#pragma once

#include "cu/sim/sim.h"
#include "src/json.h"

enum { CAPACITY_TYPES = 16 };

/* The tasks. */
struct capacity_work {
    char name[320];
    size_t n;
    int width;      /* cores of the CPU units that `cost` refers to */
    double *cost;   /* [n] seconds (or cost) on a CPU unit of speed 1 */
    double *device; /* [n] seconds on a device of speed 1; NULL: cost / speed */
    double *bytes;  /* [n] or NULL */
    struct arena arena;
};

/* A type of node. */
struct capacity_node {
    char name[48];
    int count, cores, devices;
    double speed, device_speed, device_fixed, price;
    bool hypothetical;
    double *seconds, *device_seconds; /* [n] times on this type; NULL: by speed */
};

struct capacity_machine {
    char name[128];
    int ntypes;
    struct capacity_node node[CAPACITY_TYPES];
    bool priced; /* every type has a price */
    bool linked;
    struct sched_link link;
    struct arena arena; /* of the nodes' arrays */
};

/* The tasks of a profile, of a program's --json, or {"tasks": {"cost": […], "bytes": […],
 * "seconds_per_cost": x}}. EK_USAGE names file and key. capacity_work_close() frees. */
enum ek_status capacity_work_open(struct capacity_work *w, const char *path);
void capacity_work_close(struct capacity_work *w);

/* Reads a machine. EK_USAGE names file and key of a number that is missing, negative, not finite,
 * absurd or unknown. */
enum ek_status capacity_machine_open(struct capacity_machine *m, const char *path,
                                     const struct capacity_work *w);
void capacity_machine_close(struct capacity_machine *m);

/* Result of one scenario under one policy. */
struct capacity_cell {
    double makespan, bound; /* of the last step, s; makespan 0: not simulated yet */
};

struct capacity {
    const struct capacity_work *work;
    const struct capacity_machine *machine;
    const char *const *schedule; /* [nschedules] */
    int nschedules, steps;
    uint64_t possible; /* combinations of node counts, without the empty one */
    size_t nscenarios;
    uint64_t *scenario;         /* [nscenarios] ascending; see capacity_counts() */
    struct capacity_cell *cell; /* [nscenarios][nschedules] */
    size_t known;               /* cells found by an earlier run */
    uint64_t inputs;            /* checksum of work, machine and steps */
    struct arena arena;
};

/* Opens a plan over all combinations, or `sample` > 0 of them drawn with the seed. Everything is
 * borrowed. EK_USAGE: too many without a sample; EK_UNAVAILABLE: memory. capacity_close() frees,
 * also after a failure. */
enum ek_status capacity_open(struct capacity *c, const struct capacity_work *w,
                             const struct capacity_machine *m, const char *const *schedule,
                             int nschedules, int steps, size_t sample, unsigned seed);
void capacity_close(struct capacity *c);

/* Simulates missing cells on `jobs` threads. With a csv path, finished cells are appended to
 * `<csv>.part` at once and the whole table is written to csv at the end; cells that either file
 * holds for the same inputs are not simulated again. EK_STOPPED after a stop_request(), once
 * running scenarios are done. */
enum ek_status capacity_run(struct capacity *c, int jobs, const char *csv);

/* Nodes of each type in a scenario, counts [ntypes]: the scenario's number in mixed radix, the
 * first type's digit the lowest. */
void capacity_counts(const struct capacity_machine *m, uint64_t scenario, int *counts);
uint64_t capacity_number(const struct capacity_machine *m, const int *counts);
/* Index of a scenario in the list; nscenarios if it is not there. */
size_t capacity_find(const struct capacity *c, uint64_t scenario);

struct capacity_size {
    int nodes, cores, devices;
    double price; /* of all nodes */
};
struct capacity_size capacity_size(const struct capacity_machine *m, uint64_t scenario);

/* A unit of a scenario: node type, node of that type, core or device of that node. */
struct capacity_unit {
    int type, node, index;
    bool device;
};

/* Simulates one scenario; on_task may be NULL. capacity_units() returns the number of units and,
 * unless NULL, fills unit with what they are. */
enum ek_status capacity_simulate(const struct capacity *c, uint64_t scenario, const char *schedule,
                                 void (*on_task)(void *, const struct sim_event *), void *arg,
                                 struct capacity_cell *cell);
int capacity_units(const struct capacity *c, uint64_t scenario, struct capacity_unit *unit);

/* The table on disk. capacity_csv_load() fills the cells that `path` holds for the same inputs and
 * counts them in c->known; truncated lines and other inputs are skipped, a missing file is an empty
 * one. */
enum ek_status capacity_csv_load(struct capacity *c, const char *path);
/* Writes one line for a cell. */
void capacity_csv_line(const struct capacity *c, FILE *out, size_t scenario, int schedule);
/* Writes all cells atomically. */
enum ek_status capacity_csv_save(const struct capacity *c, const char *path);
