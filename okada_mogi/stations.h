/* okada_mogi/stations.h – stations on the ground, what was observed there and how well. */
#pragma once

#include "src/checksum.h"
#include "src/status.h"
#include <stdbool.h>

struct stations {
    int n;
    char **name;          /* [n] */
    double *east, *north; /* [n] m, UTM or any other plane system */
    double *observed;     /* [n][3] east, north, up, m; NAN: not observed */
    double *sigma;        /* [n][3] standard deviations, m, noise floor included; NAN likewise */
    double *along; /* [n][3] unit vector: the first component is the displacement along it, and
                      there are no others; NAN: three components */
    double *correlation; /* [n] of east and north, -1 < c < 1: chi2 and rms misfits see it */
    double *height;      /* [n] m above the datum of depths */
    double *second;  /* [n][2] east, north: what is along a vector is the displacement there minus
                        the one at the station; NAN: that of the station */
    char **scene;    /* [n] of what is along a vector: "asc"; else NULL */
    int ncomponents; /* observed ones */
    int zone;        /* of UTM, 0: none; below 0: on the southern hemisphere */
    char projection[16]; /* "UTM 45N", or "" where the zone is unknown */
};

/* Station i has one component, along a vector. */
static inline bool stations_scalar(const struct stations *s, int i)
{
    return s->along[3 * i] == s->along[3 * i];
}

static inline bool stations_difference(const struct stations *s, int i)
{
    return s->second[2 * i] == s->second[2 * i];
}

static inline bool stations_high(const struct stations *s, int i)
{
    return s->height[i] > 0;
}

static inline bool stations_correlated(const struct stations *s, int i)
{
    return s->correlation[i] > 0 || s->correlation[i] < 0;
}

/* Some station is so. */
static inline bool stations_any(const struct stations *s,
                                bool (*is)(const struct stations *s, int i))
{
    for (int i = 0; i < s->n; i++)
        if (is(s, i))
            return true;
    return false;
}

/* How a file of stations is to be read. Columns are known by the usual names, capitals or not:
 *   site name station | E x east, N y north (m) | lon longitude, lat latitude (degrees)
 *   uE dE ux u_east, uN dN uy u_north, uU uZ dU u_up | sE sigE sx s_east, …
 *   value obs data los, sigma error, lE lN lU losx losy losz | scene (else the file's own name)
 *   E2 N2, lon2 lat2 the other point of a difference, along its own direction without lE lN lU
 *   correlation corr rho of east and north | z h height elevation, only if they are asked for
 * with the unit behind an underscore (uE_mm) or as `unit` says; a unit that nobody knows is
 * refused, and of other columns that hold more than zeros a warning says that they are not used:
 * elevations, and the correlation of psvelo, too. */
struct stations_format {
    /* Names of the columns of a file that has none, or a usual order by its name: vsm, vsm_sar,
     * geodef, enu, psvelo; NULL: the file's first row has them. */
    const char *columns;
    double unit;     /* m in one unit of displacements and deviations that name none */
    double floor[3]; /* m, added to each deviation in quadrature */
    double sigma[3]; /* m, where the file has no deviations; 0: it must have them */
    int zone;        /* of UTM, below 0: south; 0: E and N may be anything, */
    bool heights;    /* the column of elevations counts */
    int usual;       /* longitudes are projected to this zone; 0: to that of their mean */
};

/* EK_USAGE with file and line: missing columns, no number, a station 45 degrees from its zone,
 * sigma <= 0, a station without any component, a station twice. Caller owns *s; close accepts one
 * that is zeroed. */
enum ek_status stations_read(const char *path, const struct stations_format *format,
                             struct stations *s);
/* Adds the stations of another file, which become theirs. EK_USAGE: another projection, a station
 * of both; EK_UNAVAILABLE: out of memory. */
enum ek_status stations_add(const char *path, struct stations *all, struct stations *more);
void stations_close(struct stations *s);
/* Adds all their numbers to a sum. */
void stations_sum(const struct stations *s, struct checksum *sum);

/* Longitude and latitude of a point; where the zone is unknown, as it is. */
void stations_place(const struct stations *s, double east, double north, double at[2]);
