/* cu/unit/prepare.h – the decisions of cu_prepare(), also for tools that only show them. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/unit/place.h"

enum { PREPARE_DEVICES = 1024 }; /* most devices of a node */

/* The machine to decide for; pointers are borrowed. */
struct prepare_machine {
    hwloc_topology_t topology;
    hwloc_const_bitmap_t allowed; /* cpus that may be used */
    const char *omp_places;       /* NULL: not given, places are derived */
    bool imagined;                /* a synthetic machine: devices are counted, not looked up */
};

struct prepare_plan {
    struct cu_layout layout;
    struct place_list places;
    bool derived; /* places come from the layout, not from the user */
    bool all;     /* the devices are this process's share of all, not a number of them */
    bool asked;   /* device drivers were opened; their threads inherited this thread's cpus */
};

/* Decides on layout and places. Errors as for cu_prepare(), but oversubscription is not checked.
 * Caller frees plan->places. One thread. */
enum ek_status prepare_plan(const struct cu_options *options, const struct prepare_machine *machine,
                            struct prepare_plan *plan);

/* Warns of more threads than cpus, or returns EK_UNAVAILABLE if `strict`. */
enum ek_status prepare_check_room(const struct prepare_plan *plan, bool strict);

/* If stacks are too small for the program, raises the limits and re-executes it. EK_UNAVAILABLE:
 * the hard limit is too low. One thread, before all else. */
enum ek_status prepare_stack(char **argv);

/* The layout of an unbound set, as asked for or guessed; enables nested OpenMP teams. */
enum ek_status prepare_floating(const struct cu_options *options, struct cu_layout *layout);

/* The plan that cu_prepare() has put in force; NULL before it was called. */
const struct prepare_plan *prepare_in_force(void);

/* *given, completed from CU_LAYOUT and CU_DEVICES. */
struct cu_options prepare_options(const struct cu_options *given);
