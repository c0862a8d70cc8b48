/* tests/mcsem_cells.h – random earths of some columns and surveys over them, for tests of cells. */
#pragma once

#include "mcsem/cell.h"
#include "tests/mcsem.h"

enum { FREQUENCIES = 2 };
static const double freq[FREQUENCIES] = {0.25, 1};

static inline double uniform(double from, double to)
{
    return from + (to - from) * drand48();
}

enum { COLUMN = 200000 }; /* m, from one column to the next */

/* One or two layers of sea, sediments of 0.3 to 100 ohm m, some of them anisotropic. */
static inline struct earth *random_earth(int columns, int nz)
{
    struct earth *e;
    assert_int_equal(earth_open(columns, 1, nz, uniform(20, 300), uniform(60, 2500), 1, &e), EK_OK);
    e->dx = COLUMN;
    e->nwater = 1 + (int)(lrand48() % 2);
    e->water_top[1] = 0.4 * e->seabed[0];
    e->water[1] = 0.25;
    for (int k = 0; k < columns * nz; k++) {
        e->m[k] = uniform(log(0.3), log(lrand48() % 4 ? 10 : 100));
        if (k < nz)
            e->anisotropy[k] = lrand48() % 3 ? 1 : uniform(1, 4);
    }
    return e;
}

/* How the pairs of a survey are drawn. */
struct kind {
    double nearest, farthest, altitude, stray, dip, length;
    bool all_channels, buoyant; /* also H and vertical channels; receivers up in the sea */
};

static inline struct survey_pair random_pair(const struct kind *k, const struct earth *e)
{
    const double towards = uniform(0, 2 * acos(-1)), seabed = e->seabed[0];
    const double offset = exp(uniform(log(k->nearest), log(k->farthest)));
    const double altitude = fmin(k->altitude, 0.5 * seabed);
    struct survey_pair p = {
        .source = {-offset / 2 * cos(towards), -offset / 2 * sin(towards),
                   seabed - altitude + uniform(-k->stray, k->stray)},
        .receiver = {offset / 2 * cos(towards), offset / 2 * sin(towards),
                     k->buoyant ? uniform(0.9, 0.99) * seabed : seabed - CELL_CLEARANCE},
        .azimuth = uniform(-acos(-1), acos(-1)),
        .dip = uniform(-k->dip, k->dip),
        .length = k->length,
        .magnetic = k->all_channels && lrand48() % 2};
    p.direction[k->all_channels ? lrand48() % 3 : lrand48() % 2] = 1;
    return p;
}

/* The pairs of column c are of kind c modulo nkinds. */
static inline struct survey *random_survey(int nkinds, const struct kind *kind, size_t npairs,
                                           const struct earth *e)
{
    struct survey *s;
    assert_int_equal(survey_open(npairs, FREQUENCIES, &s), EK_OK);
    memcpy(s->freq, freq, sizeof freq);
    for (size_t i = 0; i < npairs; i++) {
        const int column = (int)(i % (size_t)earth_columns(e));
        const struct kind *k = &kind[column % nkinds];
        const double scale = (s->pair[i] = random_pair(k, e)).magnetic ? 1e-9 : 1e-12;
        s->pair[i].source[0] += (double)COLUMN * column;
        s->pair[i].receiver[0] += (double)COLUMN * column;
        for (int q = 0; q < FREQUENCIES; q++)
            s->datum[i * FREQUENCIES + (size_t)q] = (struct survey_datum){
                scale * uniform(-1, 1), scale * uniform(-1, 1),
                lrand48() % 5 ? scale * uniform(0.02, 0.3) : INFINITY, SURVEY_BOTH};
    }
    assert_int_equal(survey_bin(s, e, true), EK_OK);
    return s;
}

static const struct kind kinds[] = {
    {500, 12000, 40, 0, 0, 0, false, false},       /* level points: one node in depth */
    {500, 12000, 40, 5, 0.02, 270, false, false},  /* real wires */
    {300, 9000, 30, 10, 0.1, 100, true, false},    /* all channels */
    {300, 5000, 60, 5, 1.5, 0, true, true},        /* steep ones, receivers up in the sea */
    {20, 800, 40, 5, 0.05, 100, false, false},     /* near ones: exact mode takes over */
    {1000, 1000, 40, 0, 0, 0, true, false},        /* a single offset */
    {15000, 40000, 40, 3, 0.02, 270, true, false}, /* far ones, below the floor */
};
enum { KINDS = sizeof kinds / sizeof *kinds };
