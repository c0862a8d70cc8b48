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

/* ---- tables: one row for each datum, columns found by name (README.md) ----
 *
 * Rows of one pair follow one another. Lines in front that begin with # say more: the grid of
 * columns and what fills it at the start, resistivities of the sea, how many rows follow. */

/* Reads and checks a survey; adds to *list what lines with # say of its earth. Data without sigma
 * get that of `noise`. EK_USAGE with file and line: a column is missing, a cell is no number, the
 * file is cut short, what survey_check() refuses. Caller closes. */
enum ek_status read_csv(const char *path, const struct survey_noise *noise, struct survey **survey,
                        struct earth_list *list);

/* Writes a survey and its starting earth so that read_csv() gives the same (numbers to ten
 * digits). The earth's layers must be alike. EK_USAGE: a channel is along no axis;
 * EK_UNAVAILABLE: the file cannot be written. */
enum ek_status write_csv(const char *path, const struct survey *survey, const struct earth *earth);

/* ---- MARE2DEM's data files (emdata.h, README.md) ----
 *
 * A pair is a transmitter, a receiver and one of its channels; a datum joins the two numbers that
 * the file has of it. What is left out, or taken for something simpler, is said in warnings. */

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
