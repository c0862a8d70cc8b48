/* okada_mogi/expression.h – conditions on parameters as text: "L_m / W_m < 4".
 *
 * Numbers, names of parameters, pi, + - * / ^, ( ), sqrt abs exp log log10 min max, sin cos tan of
 * degrees; < <= > >= == != (also 1 < x < 4), && || ! or `and`, `or`, `not`. A name without a source
 * number means each source in turn; conditions on one particular source, or on two, append it to
 * every name: "d_m.1 < d_m.2". A comparison with NaN (0 / 0) is false. */
#pragma once

#include "okada_mogi/model.h"

enum { EXPRESSION_STEPS = 128 };

struct expression {
    int n;
    struct expression_step {
        int what;
        bool keeps; /* a comparison that leaves its right side on the stack: a < b < c */
        int parameter, source;
        double number;
        double (*function)(double);
    } step[EXPRESSION_STEPS];
    int source[2];              /* its sources, from 0, the larger first; -1: each source, none */
    struct model_constraint as; /* name (the text), pair and looks_at, as those of the model */
};

/* Parses a text (borrowed). EK_USAGE: a syntax error; `path` and `key` locate the text. */
enum ek_status expression_read(const char *path, const char *key, const char *text,
                               const struct model *m, int nsources, struct expression *e);

/* Evaluates it for source x (e->source[0], or each one) and the other one. Any thread. */
bool expression_holds(const struct expression *e, const double *x, const double *other);
