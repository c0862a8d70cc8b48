/* cu/sched/profile_layout.h – the layout that was best for a problem on a machine, kept beside its
 * profiles: for a program, problem, CPU model, number of cores and the devices that were
 * offered. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/sched/checksummed.h"
#include <stdbool.h>
#include <stdio.h>

enum { PROFILE_LAYOUT_VERSION = 1 };

struct profile_layout {
    /* What it is for. */
    char program[64], problem[256], cpu[128];
    char offered[1024]; /* devices: "opencl:0 name, opencl:1 name" */
    int cores;
    /* What was found. */
    struct cu_layout layout;
    char devices[512]; /* "opencl:0", "" */
    double rate;       /* steps per second */
    int tried;         /* layouts */
};

/* Its file, path [CHECKSUMMED_PATH]. */
enum ek_status profile_layout_path(const struct profile_layout *l, char *path);

/* Writes it as a whole or not at all. EK_UNAVAILABLE: not writable. */
enum ek_status profile_layout_save(const struct profile_layout *l, const char *path);

/* Fills what was found for what *l is for. EK_UNAVAILABLE: no such file; EK_USAGE: it is damaged,
 * or for something else. */
enum ek_status profile_layout_load(const char *path, struct profile_layout *l);

/* Prints a line about the file, if it is such a one and intact. */
bool profile_layout_list(FILE *out, const char *path);
