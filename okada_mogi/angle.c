/* okada_mogi/angle.c – reduces degrees to -45 .. 45, exactly, before converting to radians. */
#include "okada_mogi/angle.h"
#include "src/base.h"

void angle_sincos(double degrees, double *sine, double *cosine)
{
    const double right_angle = 90;
    int quarter;
    const double rest = remquo(degrees, right_angle, &quarter); /* exact, within 45 degrees */
    const double s = sin(rest * 0x1.1df46a2529d39p-6), c = cos(rest * 0x1.1df46a2529d39p-6);
    const double sines[] = {s, c, -s, -c};
    *sine = sines[quarter & 3] + 0.0; /* no -0 */
    *cosine = sines[(quarter + 1) & 3] + 0.0;
}
