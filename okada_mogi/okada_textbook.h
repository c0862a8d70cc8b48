/* okada_mogi/okada_textbook.h – displacement of the ground due to a rectangular fault, as Okada
 * (1985) prints it: slow, and independent of kernels/okada.h, which it checks. */
#pragma once

struct okada_fault {
    double east, north, top; /* centre; depth of the upper edge, m */
    double ss, cs, s, c;     /* sine and cosine of strike and dip */
    double length, width;    /* m */
    double slip[3];          /* along strike, up dip, opening; m */
    double nu;
};

/* Displacement u[3] (east, north, up; m) of a point. Returns a bound on its rounding errors, m. Any
 * thread. */
double okada_textbook(const struct okada_fault *f, double east, double north, double *u);
