/* cu/moldable/run.h – cu-run: parallel programs placed on nodes as moldable tasks. One file per
 * subcommand. */
#pragma once

#include "src/opt.h"
#include "src/status.h"

/* Each parses its own arguments (argv[0] is the subcommand) and does the work. One thread. */
enum ek_status run_plan(int argc, char **argv);
enum ek_status run_run(int argc, char **argv);
enum ek_status run_calibrate(int argc, char **argv);
/* Reads a subcommand's options, and *job, the one job file beside them, NULL: none. *help, a member
 * of the values, stands for --help, which has been answered with `text` and the options then.
 * EK_USAGE. */
enum ek_status run_words(int argc, char **argv, const struct opt *table, void *values,
                         const char *const *help, const char *text, const char **job);
enum ek_status run_agent(int argc, char **argv); /* what run and calibrate start on a node */
