/* mcsem/survey_columns.h – the columns of a table that describe a pair: src_x, src_y, src_z,
 * src_azimuth_deg, src_dip_deg, src_len_m, src_kind (point, bipole or loop; optional), rec_x,
 * rec_y, rec_z, rec_len_m (of a wire; optional), component (Ex Ey Ez Hx Hy Hz), freq_hz. */
#pragma once

#include "mcsem/survey.h"
#include "src/table.h"

struct survey_columns {
    int source[3], azimuth, dip, length, kind, receiver[3], span, component, freq;
};

/* EK_USAGE: a column is missing. */
enum ek_status survey_columns_find(const struct table *table, struct survey_columns *columns);

/* The pair of a row, with its line, and the frequency. EK_USAGE with file and line: not a number,
 * an unknown component or kind, a frequency that is not positive. */
enum ek_status survey_columns_pair(const struct table *table, const struct survey_columns *columns,
                                   size_t row, struct survey_pair *pair);
enum ek_status survey_columns_freq(const struct table *table, const struct survey_columns *columns,
                                   size_t row, double *freq);

/* EK_USAGE, with the line, unless a frequency can be true. */
enum ek_status survey_check_freq(double freq, const char *path, size_t line);

/* The name of a channel along an axis; otherwise E or H. */
const char *survey_columns_component(const struct survey_pair *pair);
