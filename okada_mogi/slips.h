/* okada_mogi/slips.h – sets of slips (or changes of volume), for certificates: what of a job's is
 * left when windows of data were looked at. Nothing is ever cut off that should not be. */
#pragma once

#include "okada_mogi/model.h"

enum { SLIPS_CORNERS = 40, SLIPS_PIECES = 12 };
#define SLIPS_HAIR 1e-12 /* of what is added up, for its rounding: plenty */

/* Slip components: a convex polygon, or one or two corners; n = 0: none. */
struct slips_piece {
    int n;
    double corner[SLIPS_CORNERS][2];
};

struct slips {
    int n;
    struct slips_piece piece[SLIPS_PIECES];
    double most[MODEL_BASES]; /* size of all components */
};

/* All slips of a model with one or two basis responses, within these ranges; *s is zeroed. */
void slips_list(const struct model *m, struct model_range amplitude, struct model_range direction,
                struct slips *s);
/* Leaves those that some responses within g, one for each slip component, bring into low .. high.
 * False: none. */
bool slips_narrow(struct slips *s, const struct model_range *g, double low, double high);
