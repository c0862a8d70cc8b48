/* mcsem/survey_file.h – surveys as files of whatever format: tables (survey_csv.h) and MARE2DEM's
 * data files (survey_emdata.h), told apart by what stands in them, and when written by their name.
 */
#ifndef MCSEM_SURVEY_FILE_H
#define MCSEM_SURVEY_FILE_H

#include "mcsem/survey.h"

/* Lists that describe an earth, NULL: nothing. See earth_list.h. */
struct survey_file_earth {
    const char *keys;  /* "nx=41,ny=11" */
    const char *sea;   /* "0.3125" or "0:0.25;200:0.3125" */
    const char *floor; /* how it lies (seabed.h) */
};

/* Reads and checks a survey; its earth from the file, but what `words` says beats it. Data without
 * standard errors get those of `noise`. EK_USAGE with file and line, EK_UNAVAILABLE. The caller
 * owns both.
 */
enum ek_status survey_file_read(const char *path, const struct survey_file_earth *words,
                                const struct survey_noise *noise, struct survey **survey,
                                struct earth **earth);

/* Writes a survey and its starting earth, flat and with layers alike, so that survey_file_read()
 * gives the same (numbers to ten digits): EMData where the name ends in .emdata, else a table.
 * EK_UNAVAILABLE: the file cannot be written. */
enum ek_status survey_file_write(const char *path, const struct survey *survey,
                                 const struct earth *earth);

#endif
