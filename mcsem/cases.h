/* mcsem/cases.h – single fields to be computed: one row of a table, one earth, one pair, one
 * frequency.
 *
 * Columns, found by name, others are ignored: id; freq_hz; src_kind (point or bipole; optional),
 * src_len_m, src_x, src_y, src_z, src_azimuth_deg, src_dip_deg; rec_x, rec_y, rec_z; component (Ex
 * Ey Ez Hx Hy Hz); interfaces_z_m and rho_h_ohmm, rho_v_ohmm (optional), lists with ";" of the
 * depths between layers and of the layers' resistivities from the air down. */
#ifndef MCSEM_CASES_H
#define MCSEM_CASES_H

#include "mcsem/forward.h"
#include "src/table.h"

struct cases {
    struct table *table;
    int id, freq, kind, length, component, interfaces, rho_h, rho_v; /* columns, -1: none */
    int source[3], azimuth, dip, receiver[3];
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
 * that do not ascend, lists that do not fit, source or receiver above the sea surface. */
enum ek_status cases_read(const struct cases *cases, size_t row, struct cases_row *c);

/* Fields of all rows to `out`: id,re,im with 17 digits, in the rows' order; "-" is standard output.
 * On all threads. EK_USAGE as cases_read(); EK_LACK as json_write_text(). */
enum ek_status cases_run(const char *path, const char *out, const struct forward_control *control);

#endif
