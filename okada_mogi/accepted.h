/* okada_mogi/accepted.h – accepted trials: records in memory, and the files they are written to.
 *
 * A file is a table: trial number, parameters in the job's order, misfit, chi2, rms_m, and Mw where
 * the model has a seismic moment:
 *   index,Es_m,Ns_m,d_m,dV_m3,misfit,chi2,rms_m
 * Rows are sorted by trial, whoever found them and whenever. */
#pragma once

#include "okada_mogi/job.h"

/* Plain bytes, which may be sent to another node of the same architecture. */
struct accepted_record {
    trial_number trial;
    double misfit; /* as the job measures it, see enum job_misfit */
    double most;   /* max |r|, r = (predicted - observed) / sigma; without scenes if only rms
                      misfits decide */
    double chi2;   /* sum r^2 */
    double rms;    /* of predicted - observed over all components, m */
};

/* Whether a has less misfit than b, or the same and a smaller number. */
bool accepted_better(const struct accepted_record *a, const struct accepted_record *b);

/* A growing list. Zeroed = empty. */
struct accepted {
    struct accepted_record *record;
    size_t n, room;
};

/* EK_UNAVAILABLE: out of memory. */
enum ek_status accepted_add(struct accepted *a, const struct accepted_record *r);
void accepted_free(struct accepted *a);
/* Sorts by trial / by misfit (equal misfits by trial), ascending. */
void accepted_sort(struct accepted *a);
void accepted_sort_best(struct accepted *a);

/* Files that accepted trials are written to. */
enum accepted_format {
    ACCEPTED_CSV,
    ACCEPTED_BINARY, /* little-endian, whatever the machine is:
                        0   8 bytes "EKTRIALS"
                        8   u32 version = 1, u32 bytes before the first row (a multiple of 8)
                        16  u64 rows, u32 columns, u32 bytes of a row = 16 + 8 columns
                        32  column names as in the CSV table without "index", NULs up to the rows
                        rows: u128 index, then a double for each column (NaN: no value) */
    ACCEPTED_FORMATS
};

/* Bytes of a row; approximate for text. */
double accepted_row_bytes(const struct job *job, enum accepted_format format);

/* A file being written, see file_create(); one thread. */
struct accepted_file;

/* Begins a file for `rows` trials of a job (borrowed). EK_UNAVAILABLE: it cannot be written. */
enum ek_status accepted_file_open(const char *path, enum accepted_format format,
                                  const struct job *job, size_t rows, struct accepted_file **f);
/* Appends rows, in the order of trials. */
enum ek_status accepted_file_put(struct accepted_file *f, const struct accepted_record *record,
                                 size_t n);
/* Puts the complete file in place if `st`, the status of writing its rows, is EK_OK; else discards
 * it. Returns the first failure; EK_UNAVAILABLE: the disk is full. */
enum ek_status accepted_file_end(struct accepted_file *f, enum ek_status st);
