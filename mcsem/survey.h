/* mcsem/survey.h – the data: source-receiver pairs, the measurements at each frequency, and the
 * columns (common-midpoint cells) to which pairs belong.
 *
 * Time factor exp(+i w t). Frame as in earth.h; azimuth from +x towards +y, dip positive down. E is
 * in V/m per A m of source moment, H in A/m per A m; for loops per A m^2. */
#pragma once

#include "mcsem/earth.h"
#include <complex.h>

/* A source position and one channel of one receiver. */
struct survey_pair {
    double source[3], azimuth, dip, length; /* centre m; rad; m, 0 = point dipole */
    double receiver[3];                     /* m */
    double direction[3];                    /* unit vector of the channel: Ex is (1, 0, 0) */
    double span;     /* length of a level wire that measures E, m; 0 = a point */
    double floor[2]; /* depth of the sea floor below source and receiver; 0: the column's */
    bool magnetic;   /* H, else E */
    bool loop;       /* the source is a magnetic dipole of 1 A m^2, of length 0 */
    bool null;       /* the field is zero over any layered earth (pair_is_null()) */
    int source_id, receiver_id; /* index of the position in this survey, from 0 */
    size_t line;                /* in its file, for messages; 0 = none */
};

/* Which part of a field was measured. An amplitude alone is stored in re, with im = 0; a phase
 * alone as a number of size 1, with sigma in radians. */
enum survey_part {
    SURVEY_BOTH,
    SURVEY_REAL,
    SURVEY_IMAGINARY,
    SURVEY_AMPLITUDE,
    SURVEY_PHASE,
};
extern const char *const survey_parts[]; /* names, then NULL */

/* A measurement of a pair at one frequency; sigma is the standard error of the real and of the
 * imaginary part. */
struct survey_datum {
    double re, im, sigma; /* sigma = INFINITY: no datum; NAN: to be set by survey_set_errors() */
    enum survey_part part;
};

struct survey {
    int nfreq;
    double *freq; /* [nfreq] Hz, ascending */
    size_t npairs, nsources, nreceivers;
    struct survey_pair
        *pair; /* [npairs] as in the file; sorted by cell and offset after survey_bin() */
    struct survey_datum *datum; /* [npairs][nfreq] */
    int ncells;                 /* 0 before survey_bin() */
    size_t *first;              /* [ncells + 1] pairs of cell c are first[c] .. first[c+1]-1 */
    size_t ndropped;            /* pairs that survey_bin() left out */
    char floor[512];            /* how the sea floor was set (seabed.h), "": flat, as given */
};

/* All zero, with infinite sigmas. EK_UNAVAILABLE: memory. close accepts NULL. */
enum ek_status survey_open(size_t npairs, int nfreq, struct survey **survey);
void survey_close(struct survey *survey);
OWNED_POINTER(struct survey, survey_close)

/* EK_USAGE with `path` and the pair's line: frequencies or lengths not positive, NaN, an instrument
 * above the sea surface, directions that are not unit vectors, standard errors not positive. */
enum ek_status survey_check(const struct survey *survey, const char *path);
/* The same for a single pair. */
enum ek_status survey_check_pair(const struct survey_pair *pair, const char *path);

/* Sorts the pairs by the column below their midpoint, within a cell by offset. Pairs more than half
 * a cell outside the grid are dropped or, with `clip`, go to the outermost cells. EK_USAGE: no pair
 * is left; EK_UNAVAILABLE: memory. */
enum ek_status survey_bin(struct survey *survey, const struct earth *earth, bool clip);

/* Sets sigma = sqrt((relative |d|)^2 + floor^2) for all data whose sigma is NAN, with the floor of
 * E or of H. Data below reject * floor are dropped. */
struct survey_noise {
    double relative; /* 0: not given, use SURVEY_NOISE */
    double floor_e, floor_h, reject;
};
#define SURVEY_NOISE 0.03
/* The standard error of a field of this size: hypot(relative size, floor). */
double survey_error(const struct survey_noise *noise, bool magnetic, double size);
void survey_set_errors(struct survey *survey, const struct survey_noise *noise);

/* Keeps only one part of all data that have both. */
void survey_select_part(struct survey *survey, enum survey_part part);

/* Raises standard errors to hypot(relative |d|, floor) as the rows of a table say; the last
 * matching row counts. Columns: relative, floor, and optionally freq_hz, component, rec_x, rec_y,
 * which select data (empty: any). For a phase |d| = 1 and the floor is ignored. EK_USAGE: an
 * invalid table. */
enum ek_status survey_raise_errors(struct survey *survey, const char *path);

/* The datum of a pair at frequency q. */
static inline struct survey_datum *survey_at(const struct survey *s, size_t pair, int q)
{
    return &s->datum[pair * (size_t)s->nfreq + (size_t)q];
}

static inline double survey_offset(const struct survey_pair *p)
{
    return hypot(p->receiver[0] - p->source[0], p->receiver[1] - p->source[1]);
}

/* Number of real numbers in a datum, 0 to 2. */
static inline int survey_numbers(const struct survey_datum *datum)
{
    return isfinite(datum->sigma) ? datum->part == SURVEY_BOTH ? 2 : 1 : 0;
}

/* (d - F) / sigma; only the imaginary part for a phase or an imaginary part, only the real part for
 * an amplitude or a real part; 0 without a datum. */
double complex survey_residual(const struct survey_datum *datum, double complex field);

/* RMS misfit of real and imaginary parts, of one frequency (-1: all) and one cell (-1: all). */
double survey_rms(const struct survey *survey, const double complex *response, int freq, int cell);
