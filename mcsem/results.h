/* mcsem/results.h – the end of a run, for bench_program's members of these names
 * (cu/bench/bench.h).
 *
 * A result verifies if it explains the data, RMS misfit at the target as far as noise allows it,
 * with outliers in one datum of ten at most, and if fields of pairs spread over the survey,
 * computed once more in exact mode with the finest filters, agree with those of the run. */
#pragma once

#include "cu/bench/bench.h"
#include <stdio.h>

/* Writes the files that are asked for, too. EK_UNAVAILABLE: not writable, out of memory. */
enum ek_status results_judge(void *inversion, enum bench_verdict *verified, json_t **detail);
/* The run is complete: the next one begins anew. */
void results_written(void *inversion);
/* Files of a run that was interrupted: what it has reached. */
enum ek_status results_interrupted(void *inversion);
json_t *results_facts(const void *inversion);
void results_remark(FILE *out, const void *st, const json_t *facts);
