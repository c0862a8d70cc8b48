/* cu/moldable/run.h – the subcommands of cu-run, one file each. */
#pragma once

#include "src/opt.h"
#include "src/base.h"

/* Each parses its own arguments (argv[0] is the subcommand) and does the work. One thread. */
enum ek_status run_plan(int argc, char **argv);
enum ek_status run_run(int argc, char **argv);
enum ek_status run_calibrate(int argc, char **argv);
enum ek_status run_agent(int argc, char **argv); /* started on nodes by run and calibrate */

/* Reads a subcommand's options into `values`, and the path of its job file into *job (NULL: none).
 * *help, a member of the values, is set by --help; then `text` and the options have been printed.
 * EK_USAGE. */
enum ek_status run_words(int argc, char **argv, const struct opt *table, void *values,
                         const char *const *help, const char *text, const char **job);
