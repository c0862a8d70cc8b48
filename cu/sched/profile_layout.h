/* cu/sched/profile_layout.h – the best layout found for a problem on a machine, stored beside its
 * profiles: keyed by program, problem, CPU model, number of cores and offered devices. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/sched/checksummed.h"
#include <stdbool.h>
#include <stdio.h>

enum { PROFILE_LAYOUT_VERSION = 1 };

struct profile_layout {
    /* The key. */
    char program[64], problem[256], cpu[128];
    char offered[1024]; /* devices: "opencl:0 name, opencl:1 name" */
    int cores;
    /* The result. */
    struct cu_layout layout;
    char devices[512]; /* "opencl:0", "" */
    double rate;       /* steps per second */
    int tried;         /* layouts tried */
};

/* Name of its file, path [CHECKSUMMED_PATH]. */
enum ek_status profile_layout_path(const struct profile_layout *l, char *path);

/* Writes the file atomically. EK_UNAVAILABLE: not writable. */
enum ek_status profile_layout_save(const struct profile_layout *l, const char *path);

/* Fills the result for the key in *l. EK_USAGE: no such file, damaged, or of another key. */
enum ek_status profile_layout_load(const char *path, struct profile_layout *l);

/* Prints a line about the file; false: it is not an intact layout file. */
bool profile_layout_list(FILE *out, const char *path);
