/* okada_mogi/angle.h – sines and cosines of degrees. */
#pragma once

/* Exact (0, 1, -1) at multiples of 90 degrees, and as exact close to them as anywhere else. */
void angle_sincos(double degrees, double *sine, double *cosine);
