/* kirchhoff/kernels/migrate.h – the arithmetic of migration, one source for host and devices:
 * single precision without fused operations, so that both give the same bits.
 *
 * An *end* is a source or a receiver. Each end has a row of *nodes* for each image column, with its
 * time, weight and so on at every fourth depth; a trace combines those of its two ends. README.md
 * has the formulas. */

enum { MIGRATE_STEP = 4, MIGRATE_BLOCK = 8 }; /* depths between nodes; in a block */

/* Above depth `fine` (whole blocks) every depth is a node, because near the ends times and weights
 * bend within a step; from there on every fourth one is. migrate_part() is a depth's fraction of
 * the way from its node to the next. */
FN int migrate_node(int depth, int fine)
{
    return depth < fine ? depth : fine + (depth - fine) / MIGRATE_STEP;
}

FN float migrate_part(int depth, int fine)
{
    return depth < fine ? 0.0f : 0.25f * (float)((depth - fine) % MIGRATE_STEP);
}

FN int migrate_depth(int node, int fine)
{
    return node < fine ? node : fine + (node - fine) * MIGRATE_STEP;
}

/* Number of depths from the first node to the last. */
FN int migrate_span(int nodes, int fine)
{
    return migrate_depth(nodes - 1, fine) + 1;
}

/* Fields of a table at its nodes: mean slowness S = T / r, r the distance from the source, s/m;
 * gradient of S, s/m^2; spreading per time L / T, m/s; derivatives of S by the source's x and y,
 * s/m^2. T has the tip of a cone at the source, which interpolation cannot follow; S and L / T are
 * smooth there, and constant where v is. They are interpolated, and T and its gradients follow from
 * them. */
enum { TABLE_S, TABLE_GX, TABLE_GY, TABLE_GZ, TABLE_L, TABLE_HX, TABLE_HY, TABLE_FIELDS };

/* Fields of an end's row at its nodes: time, samples; its change over half a node step, samples;
 * weight; change of time from trace to trace, s; direction of the ray, a unit vector; on lines,
 * sigma (migrate_sigma()). */
enum { NODE_U, NODE_V, NODE_A, NODE_S, NODE_X, NODE_Y, NODE_Z, NODE_Q, NODE_FIELDS };

/* Time, in samples, of a node that no ray reaches. */
#define MIGRATE_NEVER -1e6f

/* Scalar parameters of the kernels. */
enum {
    PAR_SAMPLES,   /* samples per second */
    PAR_HALF_STEP, /* half the distance between nodes, m */
    PAR_ANGLE0,    /* 4 cos^2 of half the largest opening angle, and … */
    PAR_ANGLE1,    /* … 1 / width of its taper */
    PAR_DIP0,      /* cos^2 of the largest dip */
    PAR_DIP1,      /* … 1 / width of its taper */
    PAR_TOP,       /* last sample of a level that may be read */
    PAR_LINE,      /* 1: rows have sigma; 2: and weights have the root of both ends' sum of it */
    PAR_NEAR,      /* least spreading, m */
    PAR_ROUND,     /* added and subtracted to round a contribution; 0: no rounding */
    PAR_LEVEL,     /* [MIGRATE_LEVELS - 1] NODE_S above which the next level is read, s */
    MIGRATE_LEVELS = 8,
    PAR_COUNT = PAR_LEVEL + MIGRATE_LEVELS - 1
};

/* Weight of an end. ONE: scale; SPREAD: scale * L; DECAY: scale / L; EMERGENCE, for receivers in
 * true amplitude: scale * cos(emergence angle) / v / L. On lines SPREAD is divided by sqrt(sigma),
 * and EMERGENCE multiplied. */
enum {
    WEIGHT_ONE,
    WEIGHT_SPREAD,
    WEIGHT_EMERGENCE,
    WEIGHT_SPREAD_LINE,
    WEIGHT_EMERGENCE_LINE,
    WEIGHT_DECAY
};

/* ---- from tables to nodes ---------------------------------------------------------------------*/

/* The half-gradient rule at one corner: S at a point (dx, dy) from the node and for a source (sx,
 * sy) from the table's. */
FN float migrate_corner(float s, float gx, float gy, float hx, float hy, float dx, float dy,
                        float sx, float sy)
{
    return s + 0.5f * ((gx * dx + gy * dy) + (hx * sx + hy * sy));
}

/* Interpolation between two nodes along z: linear, or (bent) by the half-gradient rule. */
FN float migrate_between(float a, float b, float f)
{
    return a + f * (b - a);
}

FN float migrate_between_bent(float a, float b, float pa, float pb, float f, float step)
{
    return (a + f * (b - a)) + (0.5f * step) * ((f * (1.0f - f)) * (pa - pb));
}

/* Extrapolation from a through b to a node `by` times as far from a, along the same parabola; for
 * other fields migrate_between() does it. way: half the distance from a to that node, m. */
FN float migrate_beyond_bent(float a, float b, float pa, float pb, float by, float way)
{
    return migrate_between(a, b, by) + (1.0f - by) * (way * (pa - pb));
}

/* 1 / x and square root in double precision, which every device rounds as IEEE 754 demands. */
FN float migrate_inverse(float x)
{
    return (float)(1.0 / (double)x);
}

FN float migrate_root(float x)
{
    return (float)sqrt((double)x);
}

/* max(x, 0) without branches, so that the host vectorizes it. */
FN float migrate_positive(float x)
{
    return x > 0.0f ? x : 0.0f;
}

/* An arrival at one depth: time, slowness, spreading, derivatives of time by the source's x, y. */
struct migrate_arrival {
    float t, px, py, pz, l, sx, sy;
};

/* At distance r from the source, from the interpolated S: S / r, and by the product rule the
 * derivatives of T = S r by the point and by the source, along an axis where they are x apart. g,
 * h: those of S. */
FN float migrate_over(float s, float r)
{
    const float by = s * migrate_inverse(r);
    return r > 0.0f ? by : 0.0f;
}

FN float migrate_slowness(float over, float x, float r, float g)
{
    return over * x + r * g;
}

FN float migrate_change(float over, float x, float r, float h)
{
    return r * h - over * x;
}

/* The arrival from an end that lies h m below the tables' source. Between the two the ray keeps its
 * angle, at slowness `midway`: exact where v is constant there. Horizontal components and L follow
 * as where v is linear. square: v^2 at the source; turn: v there over v at the end. */
FN struct migrate_arrival migrate_lower(struct migrate_arrival a, float h, float midway,
                                        float square, float turn)
{
    const float flat = 1.0f - (a.sx * a.sx + a.sy * a.sy) * square;
    const float down = midway * migrate_root(migrate_positive(flat));
    const float way = (a.t * a.t - (2.0f * h) * (a.t * down)) + (h * h) * (midway * midway);
    const float t = migrate_root(migrate_positive(way)), turned = (a.t * migrate_inverse(t)) * turn;
    const float by = t > 0.0f ? turned : 1.0f;
    const float p = (a.px * a.px + a.py * a.py) + a.pz * a.pz;
    const int below = a.pz * a.t < h * (midway * midway);
    a.px = a.px * by;
    a.py = a.py * by;
    a.sx = a.sx * by;
    a.sy = a.sy * by;
    const float rest = p - (a.px * a.px + a.py * a.py);
    a.pz = migrate_root(migrate_positive(rest));
    a.pz = below ? 0.0f - a.pz : a.pz;
    a.l = (a.l * (t * migrate_inverse(a.t))) * migrate_inverse(migrate_root(turn));
    a.t = t;
    return a;
}

/* Spreading of a ray across the line: sigma = integral of v along the ray = L sqrt(v v_end), exact
 * where v is linear. square: of the slowness at the point; emergence: 1 / v_end^2. */
FN float migrate_sigma(float spread, float square, float emergence)
{
    const float slowness = migrate_root(migrate_root(emergence) * migrate_root(square));
    return slowness > 0.0f ? spread * migrate_inverse(slowness) : 0.0f;
}

/* emergence: 1 / v^2 at the end. */
FN float migrate_end_weight(int weight, float scale, float spread, float tx, float ty,
                            float emergence, float sigma)
{
    if (weight == WEIGHT_ONE)
        return scale;
    if (weight == WEIGHT_SPREAD)
        return scale * spread;
    if (weight == WEIGHT_DECAY)
        return scale * migrate_inverse(spread);
    if (weight == WEIGHT_SPREAD_LINE)
        return sigma > 0.0f ? (scale * spread) * migrate_inverse(migrate_root(sigma)) : 0.0f;
    const float rest = emergence - (tx * tx + ty * ty);
    const float across = weight == WEIGHT_EMERGENCE_LINE ? migrate_root(sigma) : 1.0f;
    return rest > 0.0f ? ((scale * migrate_root(rest)) * migrate_inverse(spread)) * across : 0.0f;
}

/* ---- from nodes to contributions --------------------------------------------------------------*/

FN float migrate_clamp(float x)
{
    return x < 0.0f ? 0.0f : (x > 1.0f ? 1.0f : x);
}

/* Where a point is among the limits of opening angle and dip: 0 at the limit, 1 where contributions
 * are whole. From the sum of both ends' directions: its square is 4 cos^2 of half the opening
 * angle, z^2 / square cos^2 of the dip for any such angle. dip0 < 0: any dip. */
FN float migrate_opening(float square, float angle0, float angle1)
{
    return (square - angle0) * angle1;
}

FN float migrate_upright(float z, float square, float dip0, float dip1)
{
    const float upright = z < 0.0f ? 0.0f - z * z : z * z;
    return dip0 < 0.0f ? 1.0f : (upright * migrate_inverse(square + 1e-12f) - dip0) * dip1;
}

/* Product of all tapers. aperture: likewise 0 at the limit, 1 where contributions are whole. */
FN float migrate_taper(float open, float upright, float aperture)
{
    return (migrate_clamp(open) * migrate_clamp(upright)) * migrate_clamp(aperture);
}

/* The cubic through four nodes, t steps from the first. */
FN float migrate_cubic(float a, float b, float c, float d, float t)
{
    const float p = t - 1.0f, q = t - 2.0f, r = t - 3.0f;
    return 0.5f * (((t * q) * r) * b - ((t * p) * r) * c) +
           0.16666667f * (((t * p) * q) * d - ((p * q) * r) * a);
}

/* Below the first `fine` depths, limits between nodes k and k + 1 are interpolated from the four
 * nodes around them, `end` being the last: the first of these, in steps from node `fine`; and the
 * number of a node that is q steps from there. */
FN int migrate_around(int k, int fine, int end)
{
    const int before = k - fine - 1, last = end - fine - 3, first = -(fine / MIGRATE_STEP);
    const int from = before < last ? before : last;
    return from > first ? from : first;
}

FN int migrate_step_node(int q, int fine)
{
    return q < 0 ? fine + q * MIGRATE_STEP : fine + q;
}

/* A limit at fraction f between nodes `at` and at + 1 of these four: a cubic through all, or a
 * straight line unless rays reach all of them. */
FN float migrate_limit(float a, float b, float c, float d, int reached, int at, float f)
{
    const float above = at == 0 ? a : (at == 1 ? b : c), below = at == 0 ? b : (at == 1 ? c : d);
    return reached ? migrate_cubic(a, b, c, d, f + (float)at) : migrate_between(above, below, f);
}

/* Time at fraction f between nodes a and b; c: half-slowness correction of both ends. */
FN float migrate_time(float a, float b, float c, float f)
{
    return migrate_between(a, b, f) + (f * (1.0f - f)) * c;
}

FN float migrate_reach(float u, float top)
{
    return u < 0.0f ? 0.0f : (u > top ? top : u);
}

/* Whether a contribution of weight w at time u counts for the fold. */
FN int migrate_counts(float u, float w, float first, float last)
{
    return w > 0.0f && u >= first && u <= last;
}

/* A contribution rounded to a multiple of the last bit of `round`. */
FN float migrate_rounded(float x, float round)
{
    return (x + round) - round;
}

/* Whether all depths of a block of three nodes lie behind the trace's last sample. c bends the
 * times in between, by a quarter of itself at most. */
FN int migrate_behind(float u0, float u1, float u2, float c0, float c1, float last)
{
    const float bend0 = c0 < 0.0f ? 0.25f * c0 : 0.0f, bend1 = c1 < 0.0f ? 0.25f * c1 : 0.0f;
    return u0 + bend0 > last + 2.0f && u1 + bend0 > last + 2.0f && u1 + bend1 > last + 2.0f &&
           u2 + bend1 > last + 2.0f;
}
