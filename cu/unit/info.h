/* cu/unit/info.h – what cu-info shows: the machine, its devices, and who runs where under a
 * layout. */
#pragma once

#include "cu/unit/prepare.h"
#include <jansson.h>
#include <stdio.h>

struct info_request {
    struct cu_options cu;
    const char *places;    /* OMP_PLACES text; NULL or "": derive */
    const char *synthetic; /* hwloc synthetic machine instead of this one, or NULL */
};

struct info; /* machine, plan and unit names */

/* Decides layout and places as cu_prepare() would, without binding anything. Errors likewise; what
 * *request points to is borrowed. Caller owns *info. One thread. */
enum ek_status info_open(const struct info_request *request, struct info **info);
void info_close(struct info *info);

/* Text for people: machine, back ends (not for a synthetic machine), and a drawing in which each
 * cell is a core: the number of its CPU unit, a letter for a device, '.' for idle. */
enum ek_status info_print(const struct info *info, FILE *out);

/* {"host", "cpus", "topology", "places", "backends", "layout", "units"}; new reference, NULL when
 * out of memory. */
json_t *info_json(const struct info *info);
