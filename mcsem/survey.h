/* mcsem/survey.h – the data: source-receiver pairs, what was measured with them at each frequency,
 * and the columns (common-midpoint cells) to which they belong.
 *
 * Time factor exp(+i w t). Frame as in earth.h; azimuth from +x towards +y, dip positive down. E is
 * in V/m per A m of source moment, H in A/m per A m; of loops per A m^2. */
#pragma once

#include "mcsem/earth.h"
#include "src/owned.h"
#include <complex.h>
#include <math.h>
#include <stdbool.h>

/* A source position as one channel of one receiver sees it. */
struct survey_pair {
    double source[3], azimuth, dip, length; /* centre m; rad; m, 0 = point dipole */
    double receiver[3];                     /* m */
    double direction[3];                    /* unit vector of the channel: Ex is (1, 0, 0) */
    double span;                            /* m, of a wire that measures E, level; 0 = a point */
    double floor[2];                        /* depth of the sea floor below both; 0: the column's */
    bool magnetic;                          /* H, else E */
    bool loop; /* the source is a magnetic dipole of 1 A m^2, of no length; else electric */
    bool null; /* no layered earth gives it a field (pair_is_null()) */
    int source_id, receiver_id; /* number of the position in this survey, from 0 */
    size_t line;                /* of its file, for messages; 0 = none */
};

/* What of a field was measured; of an amplitude alone re is it and im 0, of a phase alone both are
 * those of a number of size 1, and sigma is in radians. */
enum survey_part {
    SURVEY_BOTH,
    SURVEY_REAL,
    SURVEY_IMAGINARY,
    SURVEY_AMPLITUDE,
    SURVEY_PHASE,
};
extern const char *const survey_parts[]; /* names, then NULL */

/* What a pair measured at one frequency; standard error of its real and of its imaginary part. */
struct survey_datum {
    double re, im, sigma; /* sigma = INFINITY: no datum; NAN: not known before survey_weigh() */
    enum survey_part part;
};

struct survey {
    int nfreq;
    double *freq; /* [nfreq] Hz, ascending */
    size_t npairs, nsources, nreceivers;
    struct survey_pair *pair;   /* [npairs] once binned by cell and offset, else as in the file */
    struct survey_datum *datum; /* [npairs][nfreq] */
    int ncells;                 /* 0 before survey_bin() */
    size_t *first;              /* [ncells + 1] pairs of cell c are first[c] .. first[c+1]-1 */
    size_t ndropped;            /* pairs that survey_bin() left out */
    char floor[512];            /* how the sea floor was laid (seabed.h), "": flat, as given */
};

/* Zeroed, every sigma infinite. EK_UNAVAILABLE: memory. close accepts NULL. */
enum ek_status survey_open(size_t npairs, int nfreq, struct survey **survey);
void survey_close(struct survey *survey);
OWNED_POINTER(struct survey, survey_close)

/* Frequencies or lengths not positive, NaN, a source or receiver above the sea surface, directions
 * that are no unit vectors, standard errors not positive: EK_USAGE with `path` and the pair's
 * line. */
enum ek_status survey_check(const struct survey *survey, const char *path);
/* The same for a pair alone, for a frequency that stands in that line. */
enum ek_status survey_check_pair(const struct survey_pair *pair, const char *path);
enum ek_status survey_check_freq(double freq, const char *path, size_t line);

/* Sorts the pairs by the column under their midpoint, within a cell by offset. Pairs
 * farther than half a cell outside are dropped, or with `clip` go to the outermost cells. EK_USAGE:
 * nothing is left; EK_UNAVAILABLE: memory. */
enum ek_status survey_bin(struct survey *survey, const struct earth *earth, bool clip);

/* sigma = sqrt((relative |d|)^2 + floor^2) for all data whose sigma is not known, floor in the
 * field's own unit for E and for H. Data of less than reject * floor lose their weight. */
struct survey_noise {
    double relative; /* 0: was not said, and is SURVEY_NOISE */
    double floor_e, floor_h, reject;
};
#define SURVEY_NOISE 0.03
void survey_weigh(struct survey *survey, const struct survey_noise *noise);

/* Takes one part of all data that have both. */
void survey_use(struct survey *survey, enum survey_part part);

/* Raises standard errors to hypot(relative |d|, floor) where a table's rows say so, the last one
 * that fits a datum: columns relative, floor, and of freq_hz, component, rec_x, rec_y those that
 * tell data apart (empty: any). A phase's error has |d| = 1 and no floor. EK_USAGE: no such
 * table. */
enum ek_status survey_floor(struct survey *survey, const char *path);

/* How many numbers a datum has: 0 to 2. */
static inline int survey_numbers(const struct survey_datum *datum)
{
    return isfinite(datum->sigma) ? datum->part == SURVEY_BOTH ? 2 : 1 : 0;
}

/* (d - F) / sigma: of a phase or an imaginary part the imaginary number alone, of an amplitude or a
 * real part the real one; 0 where there is no datum. */
double complex survey_residual(const struct survey_datum *datum, double complex field);

/* RMS misfit of real and imaginary parts: of one frequency (-1: all) and one cell (-1: all). */
double survey_rms(const struct survey *survey, const double complex *response, int freq, int cell);
