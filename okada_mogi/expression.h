/* okada_mogi/expression.h – conditions on parameters that people write: "L_m / W_m < 4".
 *
 * Numbers, names of parameters, pi, + - * / ^, ( ), sqrt abs exp log log10 min max, sin cos tan of
 * degrees; < <= > >= == != (also 1 < x < 4), && || ! or `and`, `or`, `not`. A name without a number
 * is a parameter of each source in turn; those of one source, or of two, have it behind a point:
 * "d_m.1 < d_m.2". A comparison with what is no number (0 / 0) is false. */
#pragma once

#include "okada_mogi/model.h"
#include "src/status.h"

enum { EXPRESSION_STEPS = 128 };

struct expression {
    int n;
    struct expression_step {
        int what;
        bool keeps; /* a comparison whose right side is compared again */
        int parameter, source;
        double number;
        double (*function)(double);
    } step[EXPRESSION_STEPS];
    int source[2];              /* it is about: the larger number first, from 0; -1: each, none */
    struct model_constraint as; /* name (the text), pair and looks_at of a constraint */
};

/* *e from a text, which is borrowed. EK_USAGE: `path` and `key` say where it stands. */
enum ek_status expression_read(const char *path, const char *key, const char *text,
                               const struct model *m, int nsources, struct expression *e);

/* For the source x (of e->source[0], or each) and the other one. Any thread. */
bool expression_holds(const struct expression *e, const double *x, const double *other);
