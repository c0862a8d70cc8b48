/* mcsem/survey_file.h – surveys as files of whatever format: tables and MARE2DEM's data files, told
 * apart by what stands in them, and when written by their name. */
#pragma once

#include "mcsem/earth_list.h"
#include "mcsem/survey.h"

/* Lists that describe an earth, NULL: nothing. See earth_list.h. */
struct survey_file_earth {
    const char *keys;  /* "nx=41,ny=11", or a model's file (read_model.h) */
    const char *sea;   /* "0.3125" or "0:0.25;200:0.3125" */
    const char *floor; /* how it lies (seabed.h) */
};

/* Reads and checks a survey; its earth from the file, but what `words` says beats it. Data without
 * standard errors get those of `noise`. EK_USAGE with file and line, EK_UNAVAILABLE. The caller
 * owns both. */
enum ek_status survey_file_read(const char *path, const struct survey_file_earth *words,
                                const struct survey_noise *noise, struct survey **survey,
                                struct earth **earth);

/* Writes a survey and its starting earth, with layers alike, so that survey_file_read() gives the
 * same (numbers to ten digits; a floor's file is named, not copied): EMData where the name ends in
 * .emdata, else a table. EK_UNAVAILABLE: the file cannot be written. */
enum ek_status survey_file_write(const char *path, const struct survey *survey,
                                 const struct earth *earth);

/* ---- tables: one row for each datum, columns found by name ----
 *
 * Columns: src_x, src_y, src_z, src_azimuth_deg, src_dip_deg, src_len_m, rec_x, rec_y, rec_z,
 * component (Ex Ey Ez Hx Hy Hz), freq_hz, re, im; sigma (optional) is the standard error of the
 * real and of the imaginary part. Rows of one pair follow one another. A datum whose numbers are
 * empty is missing; with one of them it is a real or an imaginary part. Lines in front that begin
 * with # may say more:
 *
 *   # earth nx=41,ny=11,dx=500,dy=750,nz=89,dz=47.2,seabed=1500,start=1
 *   # sea 0:0.25;200:0.3125
 *   # rows 1061046
 *
 * the grid of columns and what fills it at the start, resistivities of the sea from the top down,
 * and how many rows follow. */

/* Reads and checks a survey; adds to *list what lines with # say of its earth. Data without sigma
 * get that of `noise`. EK_USAGE with file and line: a column is missing, a cell is no number, the
 * file is cut short, what survey_check() refuses. Caller closes. */
enum ek_status read_csv(const char *path, const struct survey_noise *noise, struct survey **survey,
                        struct earth_list *list);

/* Writes a survey and its starting earth so that read_csv() gives the same (numbers to ten
 * digits). The earth's layers must be alike. EK_USAGE: a channel is along no axis;
 * EK_UNAVAILABLE: the file cannot be written. */
enum ek_status write_csv(const char *path, const struct survey *survey, const struct earth *earth);

/* ---- MARE2DEM's data files (emdata.h) ----
 *
 * A pair is a transmitter, a receiver and one of its channels; a datum joins the two numbers that
 * the file has of it: real and imaginary part, or amplitude (or its decimal logarithm) and phase.
 * Its sigma is the root mean square of the standard errors of both, those of amplitude A and phase
 * p being (dA, A dp) or (A ln 10 dlogA, A dp). B becomes H = B / mu0. A number without its
 * partner is a datum of one part; axes of polarisation ellipses and other methods' data are left
 * out and counted in a warning. Channels of E are wires of their receiver's length where they are
 * level, else points; that is said. Errors of 0 stand for those of `noise`, where its relative part
 * is given. */

/* Reads and checks a survey. Adds to *list what comments "! earth …" and "! sea …" say; where there
 * is no such comment, a grid of columns 500 m apart below all midpoints. EK_USAGE with file and
 * line; EK_UNAVAILABLE. Caller closes. */
enum ek_status read_emdata(const char *path, const struct survey_noise *noise,
                           struct survey **survey, struct earth_list *list);

/* Writes a survey as EMData_2.2 (real and imaginary parts, phases lead), its starting earth, with
 * layers alike, as comments. EK_UNAVAILABLE: the file cannot be written. */
enum ek_status write_emdata(const char *path, const struct survey *survey,
                            const struct earth *earth);

/* The same as EMResp_2.2, with `response` and residuals behind the data; NULL: without. */
enum ek_status write_emresp(const char *path, const struct survey *survey,
                            const struct earth *earth, const double complex *response);
