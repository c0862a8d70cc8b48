/* okada_mogi/slips.c – polygons of slip components, clipped by data. */
#include "okada_mogi/slips.h"

static void add_corner(struct slips_piece *p, const double *u)
{
    if (!p->n || memcmp(u, p->corner[p->n - 1], sizeof *p->corner))
        memcpy(p->corner[p->n++], u, sizeof *p->corner);
}

/* Clips where h, given at the corners and linear between them, is negative. */
static void cut(struct slips_piece *p, const double *h)
{
    const struct slips_piece all = *p;
    p->n = 0;
    for (int i = 0; i < all.n; i++) {
        const int j = (i + 1) % all.n;
        if (h[i] >= 0)
            add_corner(p, all.corner[i]);
        if ((h[i] >= 0) == (h[j] >= 0))
            continue;
        const int in = h[i] >= 0 ? i : j, out = i + j - in; /* the same from both ends */
        const double t = h[in] / (h[in] - h[out]), *u = all.corner[in], *v = all.corner[out];
        add_corner(p, (const double[]){u[0] + t * (v[0] - u[0]), u[1] + t * (v[1] - u[1])});
    }
    while (p->n > 1 && !memcmp(p->corner[0], p->corner[p->n - 1], sizeof *p->corner))
        p->n--;
}

/* Clips where a . u < b. The line is moved outward by thousands of the corners' rounding errors, so
 * that nothing is clipped by rounding. */
static void clip(struct slips_piece *p, double a0, double a1, double b)
{
    double h[SLIPS_CORNERS], slack = fabs(b);
    int in = 0;
    for (int i = 0; i < p->n; i++) {
        const double c0 = a0 * p->corner[i][0], c1 = a1 * p->corner[i][1],
                     size = fabs(c0) + fabs(c1);
        h[i] = c0 + c1 - b;
        slack = size > slack ? size : slack;
    }
    for (int i = 0; i < p->n; i++) {
        h[i] += SLIPS_ROUNDING * slack;
        in += h[i] >= 0;
    }
    if (in == 0)
        p->n = 0;
    if (in < p->n && p->n < SLIPS_CORNERS - 1)
        cut(p, h);
}

/* Relies on all corners of a piece having the same signs. */
static void narrow(struct slips_piece *p, const struct model_range *g, double low, double high)
{
    double most[2], least[2];
    for (int b = 0; b < 2; b++) {
        double sign = 0;
        for (int i = 0; i < p->n; i++)
            sign += p->corner[i][b];
        most[b] = sign < 0 ? g[b].min : g[b].max;
        least[b] = sign < 0 ? g[b].max : g[b].min;
    }
    clip(p, most[0], most[1], low);
    clip(p, -least[0], -least[1], -high);
}

bool slips_narrow(struct slips *s, const struct model_range *g, double low, double high)
{
    bool left = false;
    for (int i = 0; i < s->n; i++) {
        if (s->piece[i].n)
            narrow(&s->piece[i], g, low, high);
        left |= s->piece[i].n > 0;
    }
    return left;
}

/* Appends the slip of this amplitude and direction as a corner. */
static void add_slip(const struct model *m, struct slips *s, double amplitude, double direction)
{
    double x[MODEL_PARAMETERS], w[MODEL_BASES], u[2] = {0, 0};
    for (int p = 0; p < m->nparameters; p++)
        x[p] = direction;
    model_weigh(m, x, w);
    for (int b = 0; b < m->nbasis; b++) {
        u[b] = amplitude * w[b];
        s->most[b] = fmax(s->most[b], fabs(u[b]));
    }
    add_corner(&s->piece[s->n], u);
}

/* Adds a piece: amplitudes of one sign, directions within a quadrant; a chord bounds it from below,
 * tangents from above. */
static void add_quadrant(const struct model *m, struct slips *s, double least, double most,
                         double from, double to)
{
    const int n = to > from ? 8 : 0;
    const double far = most / cos((to - from) / 16 * 0x1.1df46a2529d39p-6);
    add_slip(m, s, least * (1 - SLIPS_ROUNDING), to);
    add_slip(m, s, least * (1 - SLIPS_ROUNDING), from);
    for (int i = 0; i <= n; i++)
        add_slip(m, s, far * (1 + SLIPS_ROUNDING), i < n ? from + (to - from) / 8 * i : to);
    s->n++;
}

void slips_list(const struct model *m, struct model_range amplitude, struct model_range direction,
                struct slips *s)
{
    const double end = fmin(direction.max, direction.min + 360);
    double from, to = direction.min;
    do {
        from = to;
        to = fmin(end, 90 * (floor(from / 90) + 1));
        if (amplitude.max >= 0)
            add_quadrant(m, s, fmax(amplitude.min, 0), amplitude.max, from, to);
        if (amplitude.min < 0)
            add_quadrant(m, s, fmin(amplitude.max, 0), amplitude.min, from, to);
    } while (to < end);
}
