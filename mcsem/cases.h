/* mcsem/cases.h – single fields to be computed: one row of a table, one earth, one pair, one
 * frequency.
 *
 * Columns, found by name, others are ignored: id; those of survey_columns.h; interfaces_z_m and
 * rho_h_ohmm, rho_v_ohmm (optional; else aniso_lambda, sqrt(rho_v / rho_h), if that is there),
 * lists with ";" of the depths between layers and of the layers' resistivities from the air down;
 * n_layers (optional) must agree with them. */
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

/* EK_USAGE: a column is missing. close is fine after a failed open. */
enum ek_status cases_open(const char *path, struct cases *cases);
void cases_close(struct cases *cases);

/* EK_USAGE with file and line: no number, a frequency or resistivity that is not positive, depths
 * that do not ascend, lists that do not fit, source or receiver above the sea surface, a source
 * that touches the receiver. */
enum ek_status cases_read(const struct cases *cases, size_t row, struct cases_row *c);

/* Fields of all rows to `out`: id,re,im with 17 digits, in the rows' order; "-" is standard output.
 * On all threads. EK_UNVERIFIED, after writing: fields may not have the tolerance. EK_USAGE as
 * cases_read(); EK_UNAVAILABLE as file_replace_text(). */
enum ek_status cases_run(const char *path, const char *out, const struct forward_control *control);
