/* kirchhoff/microjobs.h – a migration as a job of microjobs, on one node or many.
 *
 * {"data": "data.segy", "out": "image.segy", "microjobs": 8, "work": "image.work",
 *  "options": {"velocity": "gradient:v0=2000,k=0.5", "grid": "61x61x151:25", "weight":
 * "diffractor"}, "devices": "opencl:0", "devices_per_microjob": 1, "concurrent": 2, "layout":
 * "1x4+1"}
 *
 * A microjob is one part of the chunks. Rank 0, the master, hands microjobs out; every other rank
 * (or rank 0 itself, where it is alone) is the management process of its node: it keeps M = ceil(G
 * / P) compute processes running, G devices of the node, P of them for a microjob. A compute
 * process is this program with --part; its partial image lands in the work folder as a whole or not
 * at all. One that crashes is tried elsewhere; a microjob that fails three times is set aside. What
 * is in the work folder is not computed again, whatever ended the run before. Partial images are
 * added in order of their numbers. */
#pragma once

#include "src/status.h"
#include <jansson.h>

struct bench_settings;

enum { MICROJOBS_PATH = 4096, MICROJOBS_DEVICES = 64, MICROJOBS_FAILURES = 3 };

struct microjobs {
    const char *path; /* of the file; borrowed */
    char data[MICROJOBS_PATH], out[MICROJOBS_PATH], raw[MICROJOBS_PATH],
        work[MICROJOBS_PATH];                /* "": not given */
    int microjobs, concurrent, per_microjob; /* concurrent: 0 = as many as M says */
    int ndevices;
    char device[MICROJOBS_DEVICES][24]; /* of each node */
    char layout[32];      /* of a compute process; "": what its cores and devices make */
    const char *schedule; /* policy of compute processes; borrowed */
    int nwords;
    char **word; /* [nwords + 1] the program's command line, without --part; NULL ends it */
    json_t *root;
};

/* Reads and checks; paths are relative to the job file's folder, what `run` says of layout and
 * devices counts before what the file says. EK_USAGE with file and line. Free with
 * microjobs_close(). */
enum ek_status microjobs_open(const char *path, const struct bench_settings *run,
                              struct microjobs *job);
void microjobs_close(struct microjobs *job);

/* The partial image of a microjob, into path [MICROJOBS_PATH]. */
void microjobs_part(const struct microjobs *job, int microjob, char *path);

/* Does all of it: collective over the ranks that a launcher started. Of the common options it heeds
 * --schedule, --layout and --devices, for the compute processes, --json and --report. EK_USAGE: bad
 * job or bad input; EK_UNAVAILABLE: microjobs were set aside (they are named), no image then;
 * EK_STOPPED. */
enum ek_status microjobs_run(const char *path, const struct bench_settings *run);
