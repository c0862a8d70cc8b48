/* mcsem/survey_csv.h – surveys as text files: one row for each datum, columns found by name.
 *
 * Columns: src_x, src_y, src_z, src_azimuth_deg, src_dip_deg, src_len_m, rec_x, rec_y, rec_z,
 * component (Ex Ey Ez Hx Hy Hz), freq_hz, re, im; sigma (optional) is the standard error of the
 * real and of the imaginary part. Rows of one pair follow one another. A datum whose numbers are
 * empty is missing. Lines in front that begin with # may say more:
 *
 *   # earth nx=41,ny=11,dx=500,dy=750,nz=89,dz=47.2,seabed=1500,start=1
 *   # sea 0:0.25;200:0.3125
 *   # rows 1061046
 *
 * the grid of columns and what fills it at the start, resistivities of the sea from the top down,
 * and how many rows follow. */
#ifndef MCSEM_SURVEY_CSV_H
#define MCSEM_SURVEY_CSV_H

#include "mcsem/earth_list.h"
#include "mcsem/survey.h"

/* Reads and checks a survey; adds to *list what lines with # say of its earth. Data without sigma
 * get that of `noise`. EK_USAGE with file and line: a column is missing, a cell is no number, the
 * file is cut short, what survey_check() refuses. Caller closes. */
enum ek_status survey_csv_read(const char *path, const struct survey_noise *noise,
                               struct survey **survey, struct earth_list *list);

/* Writes a survey and its starting earth so that survey_csv_read() gives the same (numbers to ten
 * digits). The earth must be flat, its layers alike. EK_UNAVAILABLE: the file cannot be written. */
enum ek_status survey_csv_write(const char *path, const struct survey *survey,
                                const struct earth *earth);

#endif
