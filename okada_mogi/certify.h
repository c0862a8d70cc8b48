/* okada_mogi/certify.h – a proof that nothing between the points of a grid fits either, or the
 * boxes where something may.
 *
 * Branch and bound over the continuous ranges of a job of one source. Over a box of geometries a
 * response is linear but for the model's remainder(); a slip (or volume change) explains a
 * component there only if it brings some of what the response may be into the component's window.
 * Where none does so for all components, the box is out; else it is halved. Openings are halved
 * with geometries: what they may do is taken from the windows. Constraints and differences of two
 * points are left out: what is proven holds without them. */
#pragma once

#include "okada_mogi/job.h"
#include "src/json.h"

struct certificate {
    bool certified;           /* no point of the ranges fits */
    double reach;             /* as far as predictions might have been away, standard deviations */
    trial_number boxes, open; /* looked at; where something may fit */
    double smallest;          /* edge of the smallest box, part of its range */
    double looks;             /* at stations, of the budget */
};

/* Writes the proof to `path`, as file_create() says; JSON:
 *   certificate   1; model, reach
 *   parameters    [{name min max}] those that boxes are halved along
 *   amplitude, direction   [min, max] of all that is multiplied with responses; null: has none
 *   stations      [{east north height along low high}], three components each or null: windows, m;
 *                 along a unit vector the first
 *   levels        [text] boxes of the same size, in order, the first text is the whole: a digit:
 *                 halved along this parameter, both halves follow on the next level; "." out; "?"
 *                 open
 *   open          [[min, max …]] the first thousand open boxes
 * EK_STOPPED: stop_requested(); proof and certificate are written, what was undecided is open.
 * EK_USAGE: the job has more sources, accepts everything, or its model has no remainder(). */
enum ek_status certify(const struct job *job, const char *path, struct certificate *c);
