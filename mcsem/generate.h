/* mcsem/generate.h – synthetic surveys over a sea floor with resistive bodies.
 *
 * "published" has the counts of the survey in Dagostini's thesis (UFRGS 2022): 451 cells, 189
 * receivers, 353,682 pairs, three frequencies, 1,061,046 data; what the thesis does not say
 * (frequencies, resistivities, edges of the bodies, shots) is chosen here. Receivers work in duos,
 * and each shot is recorded by one duo. Shots lie on a regular grid, thinned to the published count
 * by a hash of their number. The data are the fields of the column below each pair's midpoint, as
 * the inversion assumes, plus noise: they test the inversion, not that assumption. */
#pragma once

#include "mcsem/cell.h"

/* A resistive box in layers layers[0] .. layers[1]-1. */
struct generate_body {
    double x[2], y[2]; /* m */
    int layers[2];
    double rho;
};

struct generate_design {
    const char *name;
    int nx, ny, nz;
    double dx, dy, dz, water, rho; /* water: depth of the sea; rho: resistivity of the sediments */
    int lines;
    int receivers[8]; /* number on each line, from the first column to the last */
    double tow, shot, along,
        across;   /* spacing of tow lines, of shots; largest distance from a duo */
    size_t shots; /* to be kept, 0: all */
    int nfreq;
    double freq[4];
    int nbodies;
    struct generate_body body[4];
};

/* EK_USAGE: no such design (the message lists them). */
enum ek_status generate_find(const char *name, const struct generate_design **design);

/* The design with `scale` times its shots, at least one: fewer are kept, or they are spaced more
 * closely. */
struct generate_design generate_scaled(const struct generate_design *design, double scale);

/* The sea floor with its bodies, or without them (`start`). The caller closes it. */
enum ek_status generate_earth(const struct generate_design *design, bool start,
                              struct earth **earth);

/* Sources and receivers, jittered, sorted by cell of `earth`; without data. A seed gives the same
 * survey everywhere. */
enum ek_status generate_survey(const struct generate_design *design, const struct earth *earth,
                               unsigned seed, struct survey **survey);

/* Replaces the existing data, or all if there are none, by the fields of `earth`; their errors are
 * those of `noise`, and add_noise draws and adds such errors. Uses all threads. */
enum ek_status generate_data(struct survey *survey, const struct earth *earth,
                             const struct cell_options *options, const struct survey_noise *noise,
                             bool add_noise, unsigned seed);
