/* kirchhoff/microjobs.h – a migration as a job of microjobs, on one node or many.
 *
 *    {"data": "data.segy", "out": "image.segy", "microjobs": 8, "work": "image.work",
 *     "options": {"velocity": "gradient:v0=2000,k=0.5", "grid": "61x61x151:25",
 *                 "weight": "diffractor"},
 *     "devices": "opencl:0", "devices_per_microjob": 1, "concurrent": 2, "layout": "1x4+1"}
 *
 * A microjob is one part of the chunks. Rank 0, the master, hands out microjobs. Every other rank
 * (or rank 0 itself if it is alone) manages its node: with G devices on the node and P of them per
 * microjob, it keeps M = ceil(G / P) compute processes running. A compute process is this program
 * with --part; its partial image appears in the work folder whole or not at all. A microjob whose
 * process crashes is tried elsewhere; one that fails three times is set aside. Parts that are in
 * the work folder are not computed again, however the previous run ended. Partial images are added
 * in the order of their numbers. */
#pragma once

#include "src/base.h"
#include <jansson.h>

struct bench_settings;

enum { MICROJOBS_PATH = 4096, MICROJOBS_DEVICES = 64, MICROJOBS_FAILURES = 3 };

struct microjobs {
    const char *path; /* of the job file; borrowed */
    char data[MICROJOBS_PATH], out[MICROJOBS_PATH], raw[MICROJOBS_PATH],
        work[MICROJOBS_PATH];                /* "": not given */
    int microjobs, concurrent, per_microjob; /* concurrent: most processes on a node, 0: M */
    int ndevices;
    char device[MICROJOBS_DEVICES][24]; /* of each node */
    char layout[32];      /* of a compute process; "": one unit of its cores, and its devices */
    const char *schedule; /* policy of compute processes; borrowed */
    int nwords;
    char **word; /* [nwords + 1] the program's command line without --part, ended by NULL */
    json_t *root;
};

/* Reads and checks a job file. Paths in it are relative to its folder; layout and devices in `run`
 * take precedence over the file's. EK_USAGE with file and line. Free with microjobs_close(). */
enum ek_status microjobs_open(const char *path, const struct bench_settings *run,
                              struct microjobs *job);
void microjobs_close(struct microjobs *job);

/* Writes the path of a microjob's partial image to path [MICROJOBS_PATH]. */
void microjobs_part(const struct microjobs *job, int microjob, char *path);

/* Runs the whole job. Collective over the ranks that a launcher started. Common options that count:
 * --schedule, --layout and --devices (passed to compute processes), --json and --report. EK_USAGE:
 * bad job or bad input; EK_UNAVAILABLE: microjobs were set aside (the message names them), there is
 * no image; EK_STOPPED. */
enum ek_status microjobs_run(const char *path, const struct bench_settings *run);
