/* mcsem/cases.h – single fields to compute, one per row of a table: an earth, a pair, a frequency.
 *
 * Columns are found by name and others ignored: id; those of survey_columns.h; interfaces_z_m,
 * rho_h_ohmm and optionally rho_v_ohmm or aniso_lambda = sqrt(rho_v / rho_h): lists separated by
 * ";" of interface depths and of the layers' resistivities, from the air down; n_layers (optional)
 * must match. */
#pragma once

#include "mcsem/forward.h"
#include "mcsem/survey_columns.h"

struct cases {
    struct table *table;
    struct survey_columns pair;
    int id, interfaces, rho_h, rho_v, anisotropy, count; /* columns, -1: none */
};

struct cases_row {
    double freq;
    struct survey_pair pair;
    struct earth_layers layers;
};

/* EK_USAGE: a column is missing. close may be called after a failed open. */
enum ek_status cases_open(const char *path, struct cases *cases);
void cases_close(struct cases *cases);

/* EK_USAGE with file and line: not a number, a frequency or resistivity that is not positive,
 * depths not ascending, lists of different lengths, an instrument above the sea surface, a source
 * that touches the receiver. */
enum ek_status cases_read(const struct cases *cases, size_t row, struct cases_row *c);

/* Writes the fields of all rows to `out` as id,re,im with 17 digits, in the order of the rows; "-"
 * is standard output. Uses all threads. EK_UNVERIFIED, after writing: some fields may miss the
 * tolerance. EK_USAGE as cases_read(); EK_UNAVAILABLE as file_replace_text(). */
enum ek_status cases_run(const char *path, const char *out, const struct forward_control *control);
