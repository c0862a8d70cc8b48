/* okada_mogi/utm.c – the series of the transverse Mercator projection. */
#include "okada_mogi/utm.h"

static const double pi = 3.14159265358979323846;

int utm_zone(double longitude)
{
    const double turned = longitude - 360 * floor((longitude + 180) / 360); /* -180 .. 180 */
    return (int)floor((turned + 180) / 6) % 60 + 1;
}

void utm_project(int zone, bool south, double longitude, double latitude, double *east,
                 double *north)
{
    const double a = 6378137, f = 1 / 298.257223563, scale = 0.9996; /* WGS84 */
    const double n = f / (2 - f), nn = n * n, e = sqrt(f * (2 - f));
    const double radius = a / (1 + n) * (1 + nn / 4 + nn * nn / 64);
    const double alpha[] = {
        n / 2 - 2 * nn / 3 + 5 * n * nn / 16 + 41 * nn * nn / 180,
        13 * nn / 48 - 3 * n * nn / 5 + 557 * nn * nn / 1440,
        61 * n * nn / 240 - 103 * nn * nn / 140,
        49561 * nn * nn / 161280,
    };
    const double phi = latitude * pi / 180;
    const double lambda = remainder(longitude - (6 * zone - 183), 360) * pi / 180;
    const double t =
        sinh(atanh(sin(phi)) - e * atanh(e * sin(phi))); /* tan of conformal latitude */
    const double xi = atan2(t, cos(lambda)), eta = asinh(sin(lambda) / hypot(t, cos(lambda)));
    double x = eta, y = xi;
    for (int j = 1; j <= 4; j++) {
        x += alpha[j - 1] * cos(2 * j * xi) * sinh(2 * j * eta);
        y += alpha[j - 1] * sin(2 * j * xi) * cosh(2 * j * eta);
    }
    *east = 500000 + scale * radius * x;
    *north = scale * radius * y + (south ? 10000000 : 0);
}

/* Newton's method, with difference quotients over some ten metres as derivatives. */
void utm_invert(int zone, bool south, double east, double north, double *longitude,
                double *latitude)
{
    const double degree = 111e3, step = 1e-4;
    double lon = 6 * zone - 183, lat = (north - (south ? 10000000 : 0)) / degree;
    lon += (east - 500000) / (degree * cos(lat * pi / 180));
    for (int turn = 0; turn < 8; turn++) {
        double e, n, along_e, along_n, up_e, up_n;
        utm_project(zone, south, lon, lat, &e, &n);
        utm_project(zone, south, lon + step, lat, &along_e, &along_n);
        utm_project(zone, south, lon, lat + step, &up_e, &up_n);
        const double a = along_e - e, b = up_e - e, c = along_n - n, d = up_n - n,
                     det = a * d - b * c, x = east - e, y = north - n;
        lon += step * (d * x - b * y) / det;
        lat += step * (a * y - c * x) / det;
    }
    *longitude = remainder(lon, 360);
    *latitude = lat;
}
