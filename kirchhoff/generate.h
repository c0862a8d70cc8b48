/* kirchhoff/generate.h – synthetic surveys over v = v0 + k z with known images: point diffractors
 * and plane reflectors, exact times and amplitudes, zero-phase Ricker wavelets.
 *
 * A diffractor of strength a gives a / (16 pi^2 L_s L_g) w(t - T_s - T_g). A plane of reflectivity
 * R gives R / (4 pi L) at its specular point, 1 / L = cos(theta) / (v L_s L_g sqrt|det H|), H the
 * second derivatives of T_s + T_g along the plane. */
#pragma once

#include "src/base.h"

struct generate_survey {
    const char *name, *summary;
    int shots, receivers;         /* along each axis */
    double first_shot, shot_step; /* m */
    double first_receiver, receiver_step;
    long ns;
    double dt, peak; /* s, Hz */
    double v0, k;
};

struct generate_diffractor {
    double at[3], strength;
};

/* z = z0 + slope . (x - x0, y - y0) */
struct generate_plane {
    double z0, x0, y0, slope[2], reflectivity;
};

/* The diffractors and reflectors of a model. */
struct generate_events {
    const char *name, *summary;
    int ndiffractors, nplanes;
    const struct generate_diffractor *diffractor;
    const struct generate_plane *plane;
};

/* Built-in surveys and models. */
enum { GENERATE_SMALL, GENERATE_MEDIUM, GENERATE_S1, GENERATE_SURVEYS };
enum { GENERATE_POINTS, GENERATE_PLANE, GENERATE_FLAT, GENERATE_ALL, GENERATE_EVENTS };
extern const struct generate_survey generate_surveys[];
extern const struct generate_events generate_events[];

/* Source and receiver of trace i, in the order of the file: shot by shot. m. */
void generate_place(const struct generate_survey *g, int i, double source[3], double receiver[3]);
/* The trace between two places: out [ns] is overwritten. */
void generate_trace(const struct generate_survey *g, const struct generate_events *e,
                    const double source[3], const double receiver[3], float *out);

/* Writes all traces to `path`: SU if it ends in .su, else SEG-Y. EK_USAGE: unknown name (the
 * message suggests the nearest); EK_UNAVAILABLE: not writable. */
enum ek_status generate_file(const char *survey, const char *events, const char *path);
