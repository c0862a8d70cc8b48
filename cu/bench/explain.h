/* cu/bench/explain.h – explains in plain words why a run took as long as it did. */
#pragma once

#include "src/base.h"

/* Reads a file that a program wrote with --json or --trace ("-": standard input) and prints, for
 * its fastest run, the causes of lost time, the largest first, and what to try. EK_USAGE: no such
 * file. One thread. */
enum ek_status explain_run(FILE *out, const char *path);
