/* okada_mogi/angle.h – sines and cosines of degrees. */
#pragma once

/* Exact (0, 1, -1) at multiples of 90 degrees, and with full relative accuracy close to them. */
void angle_sincos(double degrees, double *sine, double *cosine);
