/* mcsem/results.h – the end of a run, for bench_program's members of these names
 * (cu/bench/bench.h).
 *
 * A result is verified if it explains the data, that is, if the RMS misfit reaches the target as
 * far as noise allows with at most one datum in ten an outlier, and if the fields of pairs spread
 * over the survey agree with those computed again in exact mode with the finest filters. */
#pragma once

#include "cu/bench/bench.h"
#include "src/base.h"

/* Also writes the requested files. EK_UNAVAILABLE: not writable, out of memory. */
enum ek_status results_judge(void *inversion, enum bench_verdict *verified, json_t **detail);
/* The run is complete: deletes the checkpoint, so that the next run starts afresh. */
void results_written(void *inversion);
/* Writes what an interrupted run has reached. */
enum ek_status results_interrupted(void *inversion);
json_t *results_facts(const void *inversion);
void results_remark(FILE *out, const void *st, const json_t *facts);
