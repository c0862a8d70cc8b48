/* okada_mogi/stations.h – stations on the ground, what was observed there and how well. */
#ifndef OKADA_MOGI_STATIONS_H
#define OKADA_MOGI_STATIONS_H

#include "src/status.h"

struct stations {
    int n;
    char **name;          /* [n] */
    double *east, *north; /* [n] m, UTM or any other plane system */
    double *observed;     /* [n][3] east, north, up, m; NAN: not observed */
    double *sigma;        /* [n][3] standard deviations, m, noise floor included; NAN likewise */
    int ncomponents;      /* observed ones */
};

/* How a job wants a file of stations to be read. */
struct stations_format {
    const char *columns; /* names of the columns of a file that has none, or a known order: "vsm",
                            "enu", "psvelo", …; NULL: the file's first row has them */
    double metre;        /* metres in one unit of displacement and sigma */
    double floor;        /* m, added to sigma in quadrature */
    double sigma;        /* m, where the file has none; 0: it must have them */
};

/* EK_USAGE with file and line: missing columns, no number, sigma <= 0, a station without any
 * component, a station twice. Caller owns *s; close accepts one that is zeroed. */
enum ek_status stations_read(const char *path, const struct stations_format *format,
                             struct stations *s);
void stations_close(struct stations *s);

#endif
