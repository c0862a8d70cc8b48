/* cu/unit/prepare.h – what cu_prepare() decides before anything runs; also for tools that only show
 * it. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/unit/place.h"

enum { PREPARE_DEVICES = 1024 }; /* devices of a node, at most */

/* The machine to decide for; everything borrowed. */
struct prepare_machine {
    hwloc_topology_t topology;
    hwloc_const_bitmap_t allowed; /* cpus that may be used */
    const char *omp_places;       /* NULL: not given, derive */
    bool imagined;                /* synthetic: devices are counted, not looked for */
};

struct prepare_plan {
    struct cu_layout layout;
    struct place_list places;
    bool derived; /* the places come from the layout, not from the user */
    bool asked;   /* device drivers were opened, and their threads inherited this one's cpus */
};

/* Layout and places for what the user asked. EK_USAGE, EK_UNAVAILABLE as cu_prepare();
 * oversubscription is not looked at. Caller frees plan->places. One thread. */
enum ek_status prepare_plan(const struct cu_options *options, const struct prepare_machine *machine,
                            struct prepare_plan *plan);

/* More threads than cpus: a warning, or with `strict` EK_UNAVAILABLE. Both name both numbers. */
enum ek_status prepare_check_room(const struct prepare_plan *plan, bool strict);

/* Where stacks are too small for the program, limits are raised as far as they may be, and it
 * executes itself again; EK_UNAVAILABLE: not far enough. One thread, before all else. */
enum ek_status prepare_stack(char **argv);

/* The layout of a set that nobody binds: the one asked for, else guessed; raises the OpenMP limits
 * that inner teams need. */
enum ek_status prepare_floating(const struct cu_options *options, struct cu_layout *layout);

/* What cu_prepare() left in force; NULL before it was called. */
const struct prepare_plan *prepare_in_force(void);

/* What is not given is what CU_LAYOUT and CU_DEVICES say. */
struct cu_options prepare_options(const struct cu_options *given);
