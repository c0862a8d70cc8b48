/* mcsem/generate.h – synthetic surveys over a sea floor with bodies in it.
 *
 * "published" has the counts of the survey in Dagostini's thesis (UFRGS 2022): 451 cells, 189
 * receivers, 353,682 pairs, three frequencies, 1,061,046 data; what the thesis does not say
 * (frequencies, resistivities, the bodies' edges, shots) is chosen here. Receivers work in duos,
 * each shot is recorded by one duo. Shots come from a regular grid, thinned out by a hash of their
 * number to the published count. The data are those of the column under each pair's midpoint, as
 * the inversion assumes, plus noise: a test of the inversion, not of the assumption. */
#pragma once

#include "mcsem/cell.h"

/* A resistive box; layers from .. to-1. */
struct generate_body {
    double x[2], y[2]; /* m */
    int layers[2];
    double rho;
};

struct generate_design {
    const char *name, *summary;
    int nx, ny, nz;
    double dx, dy, dz, water, rho; /* depth of the sea; resistivity of the sediments */
    int lines;
    int receivers[8];                /* on each line, from the first column to the last one */
    double tow, shot, along, across; /* distances of tow lines, of shots; their reach from a duo */
    size_t shots;                    /* to be kept, 0: all */
    int nfreq;
    double freq[4];
    int nbodies;
    struct generate_body body[4];
};

/* EK_USAGE: no such design (the line lists them). */
enum ek_status generate_find(const char *name, const struct generate_design **design);

/* The design with `scale` times its shots, at least one: fewer are kept of those that there are,
 * more follow one another at smaller distances. */
struct generate_design generate_scaled(const struct generate_design *design, double scale);

/* The sea floor with its bodies, or without (`start`). Caller closes. */
enum ek_status generate_earth(const struct generate_design *design, bool start,
                              struct earth **earth);

/* Sources and receivers, jittered, sorted by cell of `earth`; data still empty. The same seed gives
 * the same survey everywhere. */
enum ek_status generate_survey(const struct generate_design *design, const struct earth *earth,
                               unsigned seed, struct survey **survey);

/* Puts the fields of `earth` in place of the data that there are, or of all where there are none;
 * their errors are those of `noise`, and `strays` adds such errors. On all threads. */
enum ek_status generate_data(struct survey *survey, const struct earth *earth,
                             const struct cell_options *options, const struct survey_noise *noise,
                             bool strays, unsigned seed);
