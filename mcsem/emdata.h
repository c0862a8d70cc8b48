/* mcsem/emdata.h – the tables of a data file of MARE2DEM (EMData_2.0 to 2.3) or Occam1DCSEM (1.0 to
 * 1.2), unchanged.
 *
 * Text in blocks "token: value" in any order; comments begin with ! or %; lengths in m, angles in
 * degrees. Frame: right-handed, z down, azimuth from x towards y, dip positive down, as in
 * survey.h. Rows:
 *
 *   transmitter  x y z azimuth dip [length [..]] type name          (length since 2.2)
 *   receiver     x y z theta alpha beta [length [..]] name          (length since 2.2)
 *   datum        type frequency transmitter receiver value error    (numbers count from 1)
 *
 * Before 2.0, "Dipole Length: L" holds for all transmitters, data types may be names (ReEx), lines
 * with # but no colon are column headings, and receivers of 1.0 have no angles. Source:
 * mare2dem.bitbucket.io, "Data file format". Blocks of other methods (magnetotellurics, direct
 * current, time domain) are skipped. */
#pragma once

#include "src/base.h"

#define EMDATA_MU0    (4e-7 * acos(-1)) /* B / H */
#define EMDATA_DEGREE (acos(-1) / 180)

struct emdata_transmitter {
    double x, y, z, azimuth, dip, length;
    bool loop; /* bdipole */
    size_t line;
};

struct emdata_receiver {
    double x, y, z, theta, alpha, beta, length;
    size_t line;
};

struct emdata_datum {
    int type, freq, transmitter, receiver; /* indices from 0 */
    double value, error;
    size_t line;
};

struct emdata {
    const char *path; /* borrowed */
    double version;   /* 2.2 */
    double length;    /* of all transmitters, 0: each has its own */
    bool lead;        /* time factor exp(+i w t); else "lag", the format's default */
    char *earth, *sea,
        *floor; /* contents of the comments "! earth …", "! sea …", "! seabed …", or NULL */
    size_t nfreq, ntransmitters, nreceivers, ndata;
    size_t nothers; /* number of data of other methods, which `datum` does not contain */
    double *freq;
    struct emdata_transmitter *transmitter;
    struct emdata_receiver *receiver;
    struct emdata_datum *datum;
    struct arena arena; /* owns everything but the path */
};

/* Whether the file begins like one of these; false if it cannot be opened. */
bool emdata_is(const char *path);

/* Reads all tables. EK_USAGE with file and line: an unknown version, a block cut short, too few
 * numbers in a row, something that is not a number, an index outside its table; EK_UNAVAILABLE:
 * memory. close accepts NULL. */
enum ek_status emdata_open(const char *path, struct emdata **emdata);
void emdata_close(struct emdata *emdata);
