/* okada_mogi/slips.h – sets of slips (or volume changes), for certificates: outer bounds of those
 * that the data's windows leave. Rounding never removes a slip that belongs to the set. */
#pragma once

#include "okada_mogi/model.h"

enum { SLIPS_CORNERS = 40, SLIPS_PIECES = 12 };
#define SLIPS_ROUNDING 1e-12 /* relative allowance for the rounding of sums; generous */

/* Slip components: a convex polygon, or one or two points; n = 0: empty. */
struct slips_piece {
    int n;
    double corner[SLIPS_CORNERS][2];
};

struct slips {
    int n;
    struct slips_piece piece[SLIPS_PIECES];
    double most[MODEL_BASES]; /* largest |component| */
};

/* Sets *s (zeroed) to all slips of a model with one or two basis responses within these ranges. */
void slips_list(const struct model *m, struct model_range amplitude, struct model_range direction,
                struct slips *s);
/* Keeps the slips that some responses within g, one range for each slip component, bring into
 * low .. high. False: none is left. */
bool slips_narrow(struct slips *s, const struct model_range *g, double low, double high);
