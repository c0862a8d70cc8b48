/* cu/bench/explain.h – why a run took as long as it did, in plain words. */
#pragma once

#include "src/status.h"
#include <stdio.h>

/* Of what a program has written with --json or --trace ("-": standard input): its fastest run, what
 * that lost to which cause, the largest first, and what to try. EK_USAGE: it is none of these. One
 * thread. */
enum ek_status explain_run(FILE *out, const char *path);
