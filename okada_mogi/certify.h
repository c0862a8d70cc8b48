/* okada_mogi/certify.h – proves that nothing in the continuous ranges of a job fits, or lists the
 * boxes where something may.
 *
 * Branch and bound over the ranges of a job of one source. Over a box of geometries a response is a
 * linear function of the parameters plus at most the model's remainder(). A slip (or volume change)
 * may explain a component only if it brings some possible value of the response into the
 * component's window. If no slip does so for all components, the box is excluded; else it is
 * halved. Openings are halved like geometries, and windows widened by their possible effect.
 * Constraints and differences of two points are ignored: the proof holds without them. */
#pragma once

#include "okada_mogi/job.h"
#include "src/json.h"

struct certificate {
    bool certified;           /* no point of the ranges fits */
    double reach;             /* acceptable residual, standard deviations */
    trial_number boxes, open; /* boxes examined; open: something may fit there */
    double smallest;          /* longest edge of the smallest open box, as a share of its range */
    double visits;            /* boxes x stations examined */
};

/* Writes the proof to `path`, as file_create() says; JSON:
 *   certificate   1; model, reach
 *   parameters    [{name min max}] those that boxes are halved along
 *   fixed         {name: value} the others of a single value
 *   amplitude, direction   [min, max] of the slip; null: the model has none
 *   stations      [{name east north height along low high}], low and high: windows of the three
 *                 components, m, or null; along: unit vector of the only component, or null
 *   levels        [text] one character for each box of a level, the first level is the whole:
 *                 a digit: halved along this parameter, both halves are on the next level, in
 *                 order; ".": excluded; "?": open
 *   open          [[[min, max] …] …] the first thousand open boxes
 * EK_STOPPED: stop_requested(); proof and certificate are written, undecided boxes are open.
 * EK_USAGE: the job has more sources, accepts everything, or its model has no remainder(). */
enum ek_status certify(const struct job *job, const char *path, struct certificate *c);

/* ---- the points of the grid alone ------------------------------------------------------------ */

/* Whether certify() and certify_grid() know jobs of this kind. */
bool certify_knows(const struct job *job);

/* Boxes of trials: the places first .. last of each of the job's axes. */
struct certify_box {
    long first[MODEL_PARAMETERS], last[MODEL_PARAMETERS];
};
struct certify_rest {
    size_t n;
    struct certify_box *box; /* [n]; free() */
    double trials;           /* in all of them */
};
/* Lists disjoint boxes outside of which no trial of the job fits, as small as about `visits` visits
 * of boxes to stations allow: a single geometry, if they suffice. EK_UNAVAILABLE: memory. */
enum ek_status certify_grid(const struct job *job, double visits, struct certify_rest *rest);
