/* cu/sched/profile.h – profiles: measured seconds of every task on every kind of unit, kept from
 * one run to the next.
 *
 * A file is one JSON object for one program, problem and machine (CPU model, width of a CPU unit,
 * device names, threads that feed a device). Its name has the program and a hash of all of these,
 * so that machines sharing a home directory do not overwrite one another's. A file that is damaged
 * or was made for something else is refused. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/sched/checksummed.h"
#include "src/arena.h"

#include <stddef.h>
#include <stdio.h>

enum { PROFILE_VERSION = 1, PROFILE_KINDS = 16, PROFILE_PATH = CHECKSUMMED_PATH };

/* Task times on one kind of unit. */
struct profile_kind {
    enum cu_kind kind;
    int width;       /* cores of a CPU unit; threads that feed a device */
    char name[192];  /* CPU model; back end, name and size of a device */
    double *seconds; /* [n] median seconds of each task, from the profile's arena; NULL = not known
                        yet */
};

struct profile {
    char program[64], problem[256], cpu[128]; /* cpu: the machine's model, even without CPU units */
    size_t n;
    int nkinds;
    struct profile_kind kind[PROFILE_KINDS]; /* the CPU kind first */
    struct arena arena;
};

/* Describes the profile for this program, problem of n tasks and units; no seconds yet.
 * EK_UNAVAILABLE: more kinds of units than PROFILE_KINDS, or the machine cannot be read. Caller
 * closes. */
enum ek_status profile_open(const char *program, const char *problem, size_t n,
                            const struct cu_set *set, struct profile *p);
void profile_close(struct profile *p);

/* The entry for a unit of the set; NULL: there is none. */
const struct profile_kind *profile_find(const struct profile *p, const struct cu *cu);

/* Performance conversion factor: mean seconds on a CPU unit / on a device (Gonzalez & Morancho
 * 2024, section 4.3), averaged over several kinds of devices. NAN without one of the two. */
double profile_factor(const struct profile *p);

/* File name of this profile, in the folder of cu/sched/checksummed.h; path [PROFILE_PATH]. */
enum ek_status profile_path(const struct profile *p, char *path);

/* Writes all seconds atomically; makes missing folders. EK_UNAVAILABLE: not writable. */
enum ek_status profile_save(const struct profile *p, const char *path);

/* Reads a profile of any machine. EK_USAGE: no such file, or not an intact profile of this version
 * (the message says why). Caller closes *p. */
enum ek_status profile_read(const char *path, struct profile *p);

/* Fills the seconds of *p, as left by profile_open(), from a file with the same key. EK_USAGE also
 * for another key: the message names the first difference. */
enum ek_status profile_load(const char *path, struct profile *p);

/* The machine's CPU model. */
enum ek_status profile_cpu(char *name, size_t room);

/* Prints a line for each stored profile, layout or refused file. */
enum ek_status profile_list(FILE *out);
