/* okada_mogi/stations.h – stations on the ground: observed displacements and their errors. */
#pragma once

#include "src/checksum.h"

struct stations {
    int n;
    char **name;          /* [n] */
    double *east, *north; /* [n] m, UTM or any other plane system */
    double *observed;     /* [n][3] east, north, up, m; NAN: not observed */
    double *sigma;        /* [n][3] standard deviations, m, noise floor included; NAN likewise */
    double *along; /* [n][3] unit vector; component 0 is then the displacement along it and there
                      are no others; NAN: components are east, north, up */
    double *correlation; /* [n] of the errors of east and north, -1 < c < 1; enters chi2 and rms */
    double *height;      /* [n] m above the datum of depths */
    double *second;  /* [n][2] east, north of a second point: the datum is the displacement there
                        minus that at the station; NAN: no second point */
    char **scene;    /* [n] name of the scene of a datum along a vector, e.g. "asc"; else NULL */
    int ncomponents; /* observed ones, of all stations */
    int zone;        /* UTM zone; 0: unknown; negative: southern hemisphere */
    char projection[16]; /* "UTM 45N"; "" if the zone is unknown */
};

/* Station i has a single datum, along a vector. */
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

/* is() holds for some station. */
static inline bool stations_any(const struct stations *s,
                                bool (*is)(const struct stations *s, int i))
{
    for (int i = 0; i < s->n; i++)
        if (is(s, i))
            return true;
    return false;
}

/* How to read a file of stations. Columns are recognized by the usual names, in any case:
 *   site name station | E x east, N y north (m) | lon longitude, lat latitude (degrees)
 *   uE dE ux u_east, uN dN uy u_north, uU uZ dU u_up | sE sigE sx s_east, …
 *   value obs data los, sigma error, lE lN lU losx losy losz | scene (default: the file's name)
 *   E2 N2, lon2 lat2 second point of a difference; without lE lN lU along the line between both
 *   correlation corr rho of east and north | z h height elevation, only if `heights` is set
 * with the unit after an underscore (uE_mm), else in `unit`. An unknown unit is an error; a warning
 * names the other columns that hold more than zeros, since they are not used. */
struct stations_format {
    /* Column names of a file that has no header, or the name of a known order: vsm, vsm_sar,
     * geodef, enu, psvelo; NULL: the file's first row has the names. */
    const char *columns;
    double unit;     /* m per unit of displacements and deviations whose columns name no unit */
    double floor[3]; /* noise floor, m, added to each deviation in quadrature */
    double sigma[3]; /* default deviation, m; 0: the file must have its own */
    int zone;        /* UTM zone, negative: south; 0: not given */
    bool heights;    /* use the column of elevations */
    int usual;       /* default zone to project longitudes to; 0: the zone of their mean */
};

/* EK_USAGE with file and line: missing columns, not a number, a station more than 45 degrees from
 * its zone, sigma <= 0, a station without any component, a duplicate station. The caller owns *s;
 * close accepts a zeroed one. */
enum ek_status stations_read(const char *path, const struct stations_format *format,
                             struct stations *s);
/* Moves the stations of another file into `all`. EK_USAGE: the projections differ, or a station is
 * in both; EK_UNAVAILABLE: out of memory. */
enum ek_status stations_add(const char *path, struct stations *all, struct stations *more);
void stations_close(struct stations *s);
/* Adds all numbers to a checksum. */
void stations_sum(const struct stations *s, struct checksum *sum);

/* Longitude and latitude of a point; its east and north if the zone is unknown. */
void stations_place(const struct stations *s, double east, double north, double at[2]);
