/* okada_mogi/model.c – the list of models, and their responses at a single point. */
#include "okada_mogi/model.h"

const struct model *model_find(const char *name)
{
    for (int i = 0; model_at(i); i++)
        if (!strcmp(model_at(i)->name, name))
            return model_at(i);
    return NULL;
}

int model_parameter_values(const struct model *m, int p)
{
    const struct model_parameter *q = &m->parameter[p];
    return q->role != MODEL_GEOMETRY ? 0 : q->derive ? q->nvalues : 1;
}

int model_values_before(const struct model *m, int p)
{
    int n = 0;
    for (int q = 0; q < p; q++)
        n += model_parameter_values(m, q);
    return n;
}

int model_values(const struct model *m)
{
    return model_values_before(m, m->nparameters);
}

int model_parameter_find(const struct model *m, const char *name, int size)
{
    for (int p = 0; p < m->nparameters; p++)
        if ((int)strlen(m->parameter[p].name) == size &&
            !strncmp(m->parameter[p].name, name, (size_t)size))
            return p;
    return -1;
}

const struct model *model_with(const struct model *m, const char *name, int size)
{
    for (const struct model *w = m; w; w = w->wider)
        if (model_parameter_find(w, name, size) >= 0)
            return w;
    return m;
}

int model_amplitude(const struct model *m)
{
    for (int p = 0; p < m->nparameters; p++)
        if (m->parameter[p].role == MODEL_AMPLITUDE)
            return p;
    return -1;
}

double model_magnitude(double moment)
{
    return moment > 0 ? (log10(moment) - 9.1) / 1.5 : NAN;
}

void model_derive(const struct model *m, int p, double x, double *value)
{
    if (m->parameter[p].derive)
        m->parameter[p].derive(x, value);
    else
        *value = x;
}

void model_weigh(const struct model *m, const double *x, double *w)
{
    w[0] = 1;
    if (m->weigh)
        m->weigh(m, x, w);
}

void model_derive_all(const struct model *m, const double *x, double *value)
{
    for (int p = 0; p < m->nparameters; p++) {
        const int n = model_parameter_values(m, p);
        if (n)
            model_derive(m, p, x[p], value);
        value += n;
    }
}

void model_respond(const struct model *m, const double *const *value, const double *east,
                   const double *north, const double *height, double *out)
{
    _Alignas(MODEL_ALIGN) double depth[MODEL_LANES];
    const double *own[MODEL_VALUES];
    memcpy(own, value, (size_t)model_values(m) * sizeof *own);
    for (int l = 0; l < MODEL_LANES && m->depth; l++)
        depth[l] = value[m->depth][l] + height[l];
    if (m->depth)
        own[m->depth] = depth;
    m->respond(m, own, east, north, out);
}

bool model_undefined(const struct model *m, const double *value, double east, double north,
                     double height)
{
    return m->undefined && m->undefined(m, value, east, north, height);
}

void *model_alloc(size_t bytes)
{
    const size_t whole = (bytes / MODEL_ALIGN + 1) * MODEL_ALIGN;
    void *made = aligned_alloc(MODEL_ALIGN, whole);
    if (made)
        memset(made, 0, whole);
    return made;
}

void model_forward(const struct model *m, const double *x, double east, double north, double *u)
{
    double value[MODEL_VALUES], lane[MODEL_VALUES][MODEL_LANES], out[MODEL_BASES * 3 * MODEL_LANES];
    double e[MODEL_LANES], n[MODEL_LANES], w[MODEL_BASES];
    const double *lanes[MODEL_VALUES];
    const int nvalues = model_values(m), amplitude = model_amplitude(m);
    model_derive_all(m, x, value);
    model_fill(e, east);
    model_fill(n, north);
    for (int v = 0; v < nvalues; v++) {
        model_fill(lane[v], value[v]);
        lanes[v] = lane[v];
    }
    m->respond(m, lanes, e, n, out);
    model_weigh(m, x, w);
    const bool undefined = model_undefined(m, value, east, north, 0);
    for (int c = 0; c < 3; c++) {
        double sum = undefined ? NAN : 0;
        for (int b = 0; b < m->nbasis; b++)
            sum += w[b] * out[(3 * b + c) * MODEL_LANES];
        u[c] = amplitude < 0 ? sum : x[amplitude] * sum;
    }
}
