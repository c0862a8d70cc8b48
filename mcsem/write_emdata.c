/* mcsem/write_emdata.c – writes a survey as the tables of a MARE2DEM file. */
#include "mcsem/earth_list.h"
#include "mcsem/emdata.h"
#include "mcsem/survey_file.h"
#include "src/file.h"

/* A row of the transmitters or receivers and the pair that it came from; equal rows share a
 * number. */
struct listed {
    double key[7];
    size_t pair;
    int number;
};

static int compare_keys(const void *a, const void *b)
{
    return memcmp(((const struct listed *)a)->key, ((const struct listed *)b)->key,
                  sizeof((const struct listed *)a)->key);
}

/* Transmitters: position, azimuth, dip, length, magnetic or not; receivers: position, theta, alpha,
 * length. */
static void fill_keys(const struct survey *s, bool receivers, struct listed *list)
{
    for (size_t i = 0; i < s->npairs; i++) {
        const struct survey_pair *p = &s->pair[i];
        const double *u = p->direction;
        const bool axis = fmax(fabs(u[0]), fmax(fabs(u[1]), fabs(u[2]))) > 1 - 1e-12;
        double theta = 0, alpha = 0;
        if (!axis || u[0] + u[1] + u[2] < 0) {
            theta = atan2(u[1], u[0]) / EMDATA_DEGREE;
            alpha = asin(fmax(-1, fmin(1, u[2]))) / EMDATA_DEGREE;
        }
        list[i] = receivers ? (struct listed){{p->receiver[0], p->receiver[1], p->receiver[2],
                                               theta, alpha, p->span},
                                              i,
                                              0}
                            : (struct listed){{p->source[0], p->source[1], p->source[2],
                                               p->azimuth / EMDATA_DEGREE, p->dip / EMDATA_DEGREE,
                                               p->length, p->loop},
                                              i,
                                              0};
    }
}

/* Writes the table and stores each pair's row in number [pairs]. */
static void write_table(FILE *f, const struct survey *s, bool receivers, struct listed *list,
                        int *number)
{
    int rows = 0;
    fill_keys(s, receivers, list);
    qsort(list, s->npairs, sizeof *list, compare_keys);
    for (size_t i = 0; i < s->npairs; i++) {
        rows += !i || compare_keys(&list[i - 1], &list[i]);
        number[list[i].pair] = rows;
    }
    fprintf(f,
            receivers ? "# CSEM Receivers: %d\n! x y z theta alpha beta length name\n"
                      : "# Transmitters: %d\n! x y z azimuth dip length type name\n",
            rows);
    for (size_t i = 0, row = 0; i < s->npairs; i++) {
        const double *k = list[i].key;
        if (i && !compare_keys(&list[i - 1], &list[i]))
            continue;
        fprintf(f, "%.10g %.10g %.10g %.10g %.10g ", k[0], k[1], k[2], k[3], k[4]);
        row++;
        if (receivers)
            fprintf(f, "0 %.10g R%zu\n", k[5], row);
        else
            fprintf(f, "%.10g %s T%zu\n", k[5], k[6] != 0 ? "bdipole" : "edipole", row);
    }
}

/* The data type of the real part of a pair's channel. */
static int type_of(const struct survey_pair *p)
{
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (p->direction[d] > 1 - 1e-12)
            axis = d;
    return (p->magnetic ? 11 : 1) + 2 * axis;
}

/* Writes a number, with its response and residual if there is one. */
static void write_number(FILE *f, const char *row, int type, double unit, double value,
                         double sigma, const double *response, double residual)
{
    fprintf(f, "%d %s %.10g %.10g", type, row, value * unit, sigma * unit);
    if (response)
        fprintf(f, " %.10g %.6g", *response * unit, residual);
    fprintf(f, "\n");
}

static void write_datum(FILE *f, const char *row, const struct survey_pair *p,
                        const struct survey_datum *d, const double complex *response)
{
    const double unit = p->magnetic ? EMDATA_MU0 : 1;
    const bool polar = d->part >= SURVEY_AMPLITUDE, phase = d->part == SURVEY_PHASE;
    const int type = type_of(p) + (polar ? 20 : 0);
    const double complex left = response ? survey_residual(d, *response) : 0;
    const double re = !response ? 0 : polar ? cabs(*response) : creal(*response);
    const double im = !response ? 0 : polar ? carg(*response) : cimag(*response);
    if (d->part == SURVEY_BOTH || d->part == SURVEY_REAL || d->part == SURVEY_AMPLITUDE)
        write_number(f, row, type, unit, d->re, d->sigma, response ? &re : NULL, creal(left));
    if (d->part == SURVEY_BOTH || d->part == SURVEY_IMAGINARY || phase)
        write_number(f, row, type + 1, phase ? 1 / EMDATA_DEGREE : unit,
                     phase ? atan2(d->im, d->re) : d->im, d->sigma, response ? &im : NULL,
                     cimag(left));
}

static void write_data(FILE *f, const struct survey *s, const double complex *response,
                       const int *source, const int *receiver)
{
    const size_t nfreq = (size_t)s->nfreq;
    size_t rows = 0;
    for (size_t i = 0; i < s->npairs * nfreq; i++)
        rows += (size_t)survey_numbers(&s->datum[i]);
    fprintf(f, "# Data: %zu\n! type freq tx rx data stderr%s\n", rows,
            response ? " response residual" : "");
    for (size_t i = 0; i < s->npairs * nfreq; i++) {
        char row[64];
        const size_t pair = i / nfreq;
        snprintf(row, sizeof row, "%zu %d %d", 1 + i % nfreq, source[pair], receiver[pair]);
        if (survey_numbers(&s->datum[i]))
            write_datum(f, row, &s->pair[pair], &s->datum[i], response ? &response[i] : NULL);
    }
}

static void write_all(FILE *f, const struct survey *s, const struct earth *e,
                      const double complex *response, struct listed *list, int *source,
                      int *receiver)
{
    fprintf(f, "Format: %s_2.2\n! earth ", response ? "EMResp" : "EMData");
    earth_list_write(f, e);
    fprintf(f, "\n! sea ");
    earth_list_write_sea(f, e);
    fprintf(f, *s->floor ? "\n! seabed %s" : "%s", s->floor);
    fprintf(f, "\nPhase Convention: lead\nReciprocity Used: no\n# CSEM Frequencies: %d\n",
            s->nfreq);
    for (int q = 0; q < s->nfreq; q++)
        fprintf(f, "%.10g\n", s->freq[q]);
    write_table(f, s, false, list, source);
    write_table(f, s, true, list, receiver);
    write_data(f, s, response, source, receiver);
}

enum ek_status write_emresp(const char *path, const struct survey *s, const struct earth *e,
                            const double complex *response)
{
    struct file *f;
    OWNED_MEMORY struct listed *list = calloc(s->npairs + 1, sizeof *list);
    OWNED_MEMORY int *number = calloc(2 * s->npairs + 1, sizeof *number);
    if (!list || !number)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    TRY(file_create(path, &f));
    write_all(file_stream(f), s, e, response, list, number, number + s->npairs);
    return file_finish(f);
}

enum ek_status write_emdata(const char *path, const struct survey *s, const struct earth *e)
{
    return write_emresp(path, s, e, NULL);
}
