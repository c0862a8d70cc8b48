/* mcsem/survey_file.h – survey files in any format: tables and MARE2DEM's data files, recognised by
 * their contents and, when written, by their name. */
#pragma once

#include "mcsem/earth_list.h"
#include "mcsem/survey.h"

/* Descriptions of an earth; NULL: not given. See earth_list.h. */
struct survey_file_earth {
    const char *keys;  /* "nx=41,ny=11", or a model's file (read_model.h) */
    const char *sea;   /* "0.3125" or "0:0.25;200:0.3125" */
    const char *floor; /* where the floor lies (seabed.h) */
    bool vertical;     /* vertical resistivities are unknown, too */
};

/* Reads and checks a survey and its earth; `options` override the file. Data without standard
 * errors get those of `noise`. EK_USAGE with file and line, EK_UNAVAILABLE. The caller owns
 * both. */
enum ek_status survey_file_read(const char *path, const struct survey_file_earth *options,
                                const struct survey_noise *noise, struct survey **survey,
                                struct earth **earth);

/* Writes a survey and its starting earth, whose layers must be alike, so that survey_file_read()
 * reads the same (numbers to ten digits; the file of a floor is named, not copied): EMData if the
 * name ends in .emdata, else a table. EK_UNAVAILABLE: the file cannot be written. */
enum ek_status survey_file_write(const char *path, const struct survey *survey,
                                 const struct earth *earth);

/* ---- tables: one row per datum, columns found by name (README.md) ----
 *
 * Lines that begin with # at the top may give the grid of columns and its starting resistivity, the
 * resistivities of the sea, and the number of rows. */

/* Reads and checks a survey; merges what # lines say of its earth into *list. Data without sigma
 * get that of `noise`. EK_USAGE with file and line: a missing column, a cell that is not a number,
 * a truncated file, anything survey_check() refuses. The caller closes the survey. */
enum ek_status read_csv(const char *path, const struct survey_noise *noise, struct survey **survey,
                        struct earth_list *list);

/* Writes a survey and its starting earth so that read_csv() reads the same (numbers to ten digits).
 * The earth's layers must be alike. EK_USAGE: a channel not along an axis; EK_UNAVAILABLE: the file
 * cannot be written. */
enum ek_status write_csv(const char *path, const struct survey *survey, const struct earth *earth);

/* ---- MARE2DEM's data files (emdata.h, README.md) ----
 *
 * A pair is a transmitter, a receiver and one of its channels; the two numbers that the file has
 * for it become one datum. Warnings say what is left out or simplified. */

/* Reads and checks a survey. Merges the comments "! earth …" and "! sea …" into *list; without
 * them, the grid has columns 500 m apart below all midpoints. EK_USAGE with file and line;
 * EK_UNAVAILABLE. The caller closes the survey. */
enum ek_status read_emdata(const char *path, const struct survey_noise *noise,
                           struct survey **survey, struct earth_list *list);

/* Writes a survey as EMData_2.2 (real and imaginary parts, phase lead), with its starting earth,
 * whose layers must be alike, as comments. EK_UNAVAILABLE: the file cannot be written. */
enum ek_status write_emdata(const char *path, const struct survey *survey,
                            const struct earth *earth);

/* The same as EMResp_2.2, with `response` and residuals after the data; NULL: without. */
enum ek_status write_emresp(const char *path, const struct survey *survey,
                            const struct earth *earth, const double complex *response);
