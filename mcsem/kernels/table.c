/* mcsem/kernels/table.c – shared mode on devices: the tables of several cells, then the fields and
 * derivatives of their pairs, in the steps and with the bits of shared*.c. Build with
 * -DKERNEL_NO_FMA.
 *
 * plan: integers of each cell, and what they refer to; number, filters, layers, line: as in
 * table_plan.h and exact.c; room: all results between kernels. */
#include "mcsem/kernels/exact.h"
#include "mcsem/kernels/table.h"

/* Offset of a work-item's scratch memory, `each` doubles interleaved with its neighbours'. */
FN long table_scratch(int item, int each)
{
    return (long)(item / EXACT_BESIDE) * EXACT_BESIDE * each + item % EXACT_BESIDE;
}

FN GLOBAL const int *table_cell(GLOBAL const int *plan, int cell)
{
    return plan + TABLE_CELL * cell;
}

FN int table_views(GLOBAL const int *cell)
{
    return cell[TABLE_SOURCES] * cell[TABLE_RECEIVERS];
}

/* Impedance of the base, and its derivatives, reach [frequencies][wavenumbers][2][sediments][2]:
 * one work-item per frequency and wavenumber. */
KERNEL(table_base, 64, 1, 1)
(GLOBAL const double *layers, int nlayers, int sediments, GLOBAL const double *line, int nfreq,
 GLOBAL const double *filters, GLOBAL const double *number, GLOBAL const int *plan,
 GLOBAL double *room)
{
    GLOBAL const int *cell = table_cell(plan, GID(1));
    const int item = GID(0), waves = cell[TABLE_WAVES], nz = nlayers - sediments;
    if (item >= nfreq * waves)
        return;
    const int q = item / waves, k = item % waves;
    const double longest = number[cell[TABLE_NUMBERS] + TABLE_LAST];
    GLOBAL const double *ladder = filters + cell[TABLE_FILTER];
    GLOBAL const double *of = layers + cell[TABLE_LAYERS];
    struct line_field f;
    struct field_room r;
    f.l2 = (ladder[k] / longest) * (ladder[k] / longest);
    f.w = line[q];
    f.alone = 0.0;
    r.kept = room + cell[TABLE_SCRATCH] + table_scratch(item, TABLE_BASE_SCRATCH(nlayers));
    r.sum = r.kept;
    r.part = r.kept;
    r.stride = EXACT_BESIDE;
    r.derive = FIELD_BASE;
    const int deepest = exact_descend(exact_surface(sediments), nlayers, of,
                                      ladder[k - k % EXACT_STRANDS] / longest, f.w)
                            .seen;
    const struct field_base base = field_rise(f, of, sediments, deepest, r);
    line_put(room + cell[TABLE_BASE] + 4L * item, 0, 1, base.tm);
    line_put(room + cell[TABLE_BASE] + 4L * item, 1, 1, base.te);
    GLOBAL double *reach = r.kept + 8L * nlayers * EXACT_BESIDE;
    GLOBAL double *to = room + cell[TABLE_REACH] + 4L * nz * item;
    field_reach(sediments, deepest, r, reach);
    for (int te = 0; te < 2; te++)
        for (int layer = 0; layer < nz; layer++) {
            struct cx z = cx_of(0.0, 0.0);
            if (layer <= deepest - sediments)
                z = line_get(reach, 2L * layer + te, EXACT_BESIDE);
            line_put(to, te * nz + layer, 1, z);
        }
}

/* Weights that select one function. */
FN struct field_weights table_choose(GLOBAL const int *choice)
{
    const int which = choice[TABLE_WEIGHT];
    const double sign = choice[TABLE_SIGN];
    struct field_weights w;
    w.v = which == 0 ? sign : 0.0;
    w.i = which == 1 ? sign : 0.0;
    w.v1 = which == 2 ? sign : 0.0;
    w.i1 = which == 3 ? sign : 0.0;
    w.te_v = which == 4 ? sign : 0.0;
    w.te_i = which == 5 ? sign : 0.0;
    return w;
}

/* Each function's value and derivative by the base, seeds [views][functions][frequencies]
 * [wavenumbers][4]: one work-item per view, frequency and wavenumber. */
KERNEL(table_functions, 64, 1, 1)
(GLOBAL const double *layers, GLOBAL const double *line, int nfreq, GLOBAL const double *filters,
 GLOBAL const double *number, GLOBAL const int *plan, GLOBAL double *room)
{
    GLOBAL const int *cell = table_cell(plan, GID(1));
    const int item = GID(0), waves = cell[TABLE_WAVES], functions = cell[TABLE_FUNCTIONS];
    const int cases = nfreq * waves, view = item / cases, nth = item % cases;
    if (view >= table_views(cell))
        return;
    GLOBAL const int *at = plan + cell[TABLE_VIEWS] + EXACT_VIEW * view;
    GLOBAL const double *base = room + cell[TABLE_BASE] + 4L * nth;
    const double wave =
        filters[cell[TABLE_FILTER] + nth % waves] / number[cell[TABLE_NUMBERS] + TABLE_LAST];
    struct line_field f;
    struct field_room r;
    const struct field_view v = exact_view(at, number);
    f.l2 = wave * wave;
    f.w = line[nth / waves];
    f.alone = 0.0;
    r.part = room + cell[TABLE_SCRATCH] + table_scratch(item, TABLE_VIEW_SCRATCH(cell[TABLE_MOST]));
    r.sum = r.part;
    r.kept = r.part;
    r.stride = EXACT_BESIDE;
    r.derive = FIELD_BASE;
    for (int n = 0; n < functions; n++) {
        GLOBAL const int *choice =
            plan + cell[TABLE_CHOICES] + TABLE_CHOICE * (view * functions + n);
        const int te = choice[TABLE_TE];
        const struct cx zhat = choice[TABLE_PLAIN] ? cx_of(1.0, 0.0) : cx_of(0.0, f.w);
        const struct field_share share =
            field_mode(f, v, table_choose(choice), zhat, layers + cell[TABLE_LAYERS],
                       line_get(base, te, 1), te, r);
        GLOBAL double *to =
            room + cell[TABLE_SEEDS] + 4L * ((long)(view * functions + n) * cases + nth);
        line_put(to, 0, 1, share.value);
        line_put(to, 1, 1, share.seed);
    }
}

/* The filters' weights, [integrals][nodes][wavenumbers]: one work-item per node and wavenumber. */
KERNEL(table_weights, 64, 1, 1)
(GLOBAL const double *filters, int ladder, GLOBAL const double *number, GLOBAL const int *plan,
 GLOBAL double *room)
{
    GLOBAL const int *cell = table_cell(plan, GID(1));
    const int item = GID(0), waves = cell[TABLE_WAVES], nodes = cell[TABLE_NODES];
    const int node = item / waves, k = item % waves;
    if (node >= nodes)
        return;
    GLOBAL const double *filter = filters + cell[TABLE_FILTER];
    GLOBAL const double *at = number + cell[TABLE_NUMBERS] + TABLE_NODE + 2 * node;
    const int taps = cell[TABLE_TAPS], i = k - plan[cell[TABLE_PLACES] + node];
    const double wave = filter[k] / number[cell[TABLE_NUMBERS] + TABLE_LAST];
    double w0 = 0.0, w1 = 0.0;
    if (i >= 0 && i < taps) {
        w0 = exact_tap(filter + ladder, taps, i, at[1]);
        w1 = exact_tap(filter + ladder + EXACT_SHIFTS * taps, taps, i, at[1]);
    }
    for (int n = 0; n < cell[TABLE_USED]; n++) {
        GLOBAL const int *integral = plan + cell[TABLE_INTEGRALS] + TABLE_INTEGRAL * n;
        double x = (integral[TABLE_NU] ? w1 : w0) / at[0];
        for (int power = 0; power < integral[TABLE_POWER]; power++)
            x *= wave;
        room[cell[TABLE_WEIGHTS] + ((long)n * nodes + node) * waves + k] = x;
    }
}

/* A function of one wavenumber: its value (column 0), or its derivative with respect to the layer
 * whose reach is given. */
FN struct cx table_column(GLOBAL const double *seed, int column, GLOBAL const double *reach)
{
    return column ? cx_mul(line_get(seed, 1, 1), line_get(reach, column - 1, 1))
                  : line_get(seed, 0, 1);
}

/* The table, rows [integrals][views][nodes][frequencies][columns][2], where the columns are the
 * field and the sediments: one work-item per column and TABLE_BLOCK nodes. Each element is a chain
 * of fused operations over ascending wavenumbers. */
KERNEL(table_nodes, 64, 1, 1)
(int columns, int nfreq, GLOBAL const int *plan, GLOBAL double *room)
{
    GLOBAL const int *cell = table_cell(plan, GID(1));
    const int nodes = cell[TABLE_NODES], waves = cell[TABLE_WAVES], views = table_views(cell);
    const int functions = cell[TABLE_FUNCTIONS], blocks = (nodes + TABLE_BLOCK - 1) / TABLE_BLOCK;
    int item = GID(0);
    const int column = item % columns;
    item /= columns;
    const int first = item % blocks * TABLE_BLOCK;
    item /= blocks;
    const int q = item % nfreq;
    item /= nfreq;
    const int view = item % views, n = item / views;
    if (n >= cell[TABLE_USED])
        return;
    GLOBAL const int *integral = plan + cell[TABLE_INTEGRALS] + TABLE_INTEGRAL * n;
    GLOBAL const int *places = plan + cell[TABLE_PLACES];
    GLOBAL const int *choice = plan + cell[TABLE_CHOICES];
    GLOBAL const double *seed = room + cell[TABLE_SEEDS];
    GLOBAL const double *reach = room + cell[TABLE_REACH] + 4L * (columns - 1) * q * waves;
    const int left = nodes - first, few = left < TABLE_BLOCK ? left : TABLE_BLOCK;
    const int begin = places[first + few - 1], end = places[first] + cell[TABLE_TAPS];
    const int less = integral[TABLE_LESS], other = less < 0 ? 0 : less;
    const long of = ((long)(view * functions + integral[TABLE_FUNCTION]) * nfreq + q) * waves;
    const long of_less = ((long)(view * functions + other) * nfreq + q) * waves;
    const int te = choice[TABLE_CHOICE * integral[TABLE_FUNCTION] + TABLE_TE];
    const int te_less = choice[TABLE_CHOICE * other + TABLE_TE];
    GLOBAL const double *weight[TABLE_BLOCK];
    double re[TABLE_BLOCK], im[TABLE_BLOCK];
    UNROLL
    for (int a = 0; a < TABLE_BLOCK; a++) {
        const int node = first + (a < few ? a : few - 1);
        weight[a] = room + cell[TABLE_WEIGHTS] + ((long)n * nodes + node) * waves;
        re[a] = 0.0;
        im[a] = 0.0;
    }
    for (int k = begin; k < end; k++) {
        GLOBAL const double *by = reach + 4L * (columns - 1) * k;
        struct cx z = table_column(seed + 4 * (of + k), column, by + 2 * (columns - 1) * te);
        if (less >= 0)
            z = cx_sub(z, table_column(seed + 4 * (of_less + k), column,
                                       by + 2 * (columns - 1) * te_less));
        UNROLL
        for (int a = 0; a < TABLE_BLOCK; a++) {
            re[a] = MAD(weight[a][k], z.re, re[a]);
            im[a] = MAD(weight[a][k], z.im, im[a]);
        }
    }
    UNROLL
    for (int a = 0; a < TABLE_BLOCK; a++)
        if (a < few) {
            const long row = ((long)(n * views + view) * nodes + first + a) * nfreq + q;
            line_put(room + cell[TABLE_ROWS], row * columns + column, 1, cx_of(re[a], im[a]));
        }
}

/* The position of an element among the nodes. */
FN double table_position(GLOBAL const double *number, GLOBAL const double *element)
{
    return ((element[TABLE_LN_R] + element[TABLE_R] / number[TABLE_BEND]) - number[TABLE_ORIGIN]) /
           number[TABLE_SPACING];
}

/* Interpolation weights of the elements, from room[points] on, and the range of nodes that each
 * pair needs, from room[windows] on: one work-item per pair. */
KERNEL(table_points, 64, 1, 1)
(GLOBAL const double *number, GLOBAL const int *plan, GLOBAL const double *pairs,
 GLOBAL const double *elements, int npairs, int points, int windows, GLOBAL double *room)
{
    const int pair = GID(0);
    if (pair >= npairs)
        return;
    GLOBAL const double *p = pairs + TABLE_PAIR * pair;
    GLOBAL const int *cell = table_cell(plan, (int)p[TABLE_OF]);
    GLOBAL const double *at = number + cell[TABLE_NUMBERS];
    const int first = (int)p[TABLE_FIRST], n = (int)p[TABLE_ELEMENTS];
    int begin = cell[TABLE_NODES], end = 0;
    for (int e = first; e < first + n; e++) {
        GLOBAL const double *element = elements + (long)TABLE_ELEMENT * e;
        GLOBAL double *to = room + points + (long)TABLE_INTERPOLATE * e;
        const double t = table_position(at, element);
        const int from = table_begin(t);
        begin = from < begin ? from : begin;
        end = from + TABLE_STENCIL > end ? from + TABLE_STENCIL : end;
        if (p[TABLE_COPY] != 0.0)
            continue;
        table_along(t - from, to + TABLE_ALONG);
        for (int i = 0; i < cell[TABLE_SOURCES]; i++)
            to[TABLE_ACROSS + i] =
                table_across(at + TABLE_SOURCE, cell[TABLE_SOURCES], i, element[TABLE_Z]);
        to[TABLE_BEGIN] = from;
    }
    room[windows + 2 * pair] = begin;
    room[windows + 2 * pair + 1] = end;
}

/* Interpolation weights of the pairs, [integrals][views][nodes]: one work-item per pair, integral
 * and view. The elements are added one after another. */
KERNEL(table_pairs, 64, 1, 1)
(GLOBAL const double *number, GLOBAL const int *plan, GLOBAL const double *pairs,
 GLOBAL const double *elements, int npairs, int points, GLOBAL double *room)
{
    const int pair = GID(0), part = GID(1);
    if (pair >= npairs)
        return;
    GLOBAL const double *p = pairs + TABLE_PAIR * pair;
    GLOBAL const int *cell = table_cell(plan, (int)p[TABLE_OF]);
    const int views = table_views(cell), nodes = cell[TABLE_NODES];
    const int place = part / views, view = part % views;
    const int source = view / cell[TABLE_RECEIVERS], receiver = view % cell[TABLE_RECEIVERS];
    if (place >= cell[TABLE_USED])
        return;
    const int magnetic = (int)p[TABLE_MAGNETIC];
    const int integrals = magnetic ? TABLE_ALL - TABLE_E_INTEGRALS : TABLE_E_INTEGRALS;
    GLOBAL const int *places = plan + cell[TABLE_PLACE] + (magnetic ? TABLE_E_INTEGRALS : 0);
    GLOBAL double *weight = room + (long)p[TABLE_AT] + (long)part * nodes;
    const double across = table_across(number + cell[TABLE_NUMBERS] + TABLE_RECEIVER,
                                       cell[TABLE_RECEIVERS], receiver, p[TABLE_DEPTH]);
    int which = 0;
    for (int node = 0; node < nodes; node++)
        weight[node] = 0.0;
    while (which < integrals && places[which] != place)
        which++;
    if (which == integrals)
        return;
    for (int n = 0; n < (int)p[TABLE_ELEMENTS]; n++) {
        const int e = (int)p[TABLE_FIRST] + n;
        GLOBAL const double *element = elements + (long)TABLE_ELEMENT * e;
        GLOBAL const double *by = room + points + (long)TABLE_INTERPOLATE * e;
        const double factor = element[TABLE_SHARE] * element[TABLE_FACTORS + which] *
                              by[TABLE_ACROSS + source] * across;
        GLOBAL double *to = weight + (int)by[TABLE_BEGIN];
        for (int i = 0; i < TABLE_STENCIL; i++)
            to[i] += factor * by[TABLE_ALONG + i];
    }
}

/* The sums of the pairs, which follow `first` others: sum [pairs][frequencies][1 + layers][2], and
 * a copy of the field, field [pairs][frequencies][2]. One work-item per column of TABLE_GROUP pairs
 * of one cell; each element is a chain of fused operations over integrals, views and nodes. */
KERNEL(table_rows, 64, 1, 1)
(int nlayers, int sediments, int nfreq, GLOBAL const int *plan, GLOBAL const double *pairs,
 int npairs, int windows, GLOBAL const double *room, int first, GLOBAL double *sum,
 GLOBAL double *field)
{
    const int columns = 1 + nlayers - sediments;
    const int column = GID(0) % columns, nth = GID(0) / columns;
    const int q = nth % nfreq, group = nth / nfreq * TABLE_GROUP;
    if (group >= npairs)
        return;
    GLOBAL const int *cell = table_cell(plan, (int)pairs[TABLE_PAIR * group + TABLE_OF]);
    const int nodes = cell[TABLE_NODES], parts = cell[TABLE_USED] * table_views(cell);
    const long step = 2L * nfreq * columns;
    double re[TABLE_GROUP], im[TABLE_GROUP];
    GLOBAL const double *weight[TABLE_GROUP];
    int begin = nodes, end = 0;
    UNROLL
    for (int a = 0; a < TABLE_GROUP; a++) {
        const int from = (int)room[windows + 2 * (group + a)];
        const int to = (int)room[windows + 2 * (group + a) + 1];
        begin = from < begin ? from : begin;
        end = to > end ? to : end;
        weight[a] = room + (long)pairs[TABLE_PAIR * (group + a) + TABLE_AT];
        re[a] = 0.0;
        im[a] = 0.0;
    }
    for (int part = 0; part < parts; part++) {
        GLOBAL const double *row =
            room + cell[TABLE_ROWS] + (long)part * nodes * step + 2 * (q * columns + column);
        for (int node = begin; node < end; node++) {
            const struct cx z = line_get(row + node * step, 0, 1);
            UNROLL
            for (int a = 0; a < TABLE_GROUP; a++) {
                const double w = weight[a][part * nodes + node];
                re[a] = MAD(w, z.re, re[a]);
                im[a] = MAD(w, z.im, im[a]);
            }
        }
    }
    UNROLL
    for (int a = 0; a < TABLE_GROUP; a++) {
        const long at = (long)(first + group + a) * nfreq + q;
        line_put(sum, at * (1 + nlayers) + (column ? sediments + column : 0), 1,
                 cx_of(re[a], im[a]));
        if (!column)
            line_put(field, at, 1, cx_of(re[a], im[a]));
    }
}

/* As shared_parts(): the sizes of the parts of a pair's field and the size of their sum, parts
 * [pairs][frequencies][2], one work-item for each. */
KERNEL(table_parts, 64, 1, 1)
(int columns, int nfreq, GLOBAL const double *number, GLOBAL const int *plan,
 GLOBAL const double *pairs, GLOBAL const double *elements, int npairs, GLOBAL const double *room,
 GLOBAL double *parts)
{
    const int q = GID(0) % nfreq, pair = GID(0) / nfreq;
    if (pair >= npairs)
        return;
    GLOBAL const double *p = pairs + TABLE_PAIR * pair;
    GLOBAL const int *cell = table_cell(plan, (int)p[TABLE_OF]);
    const int views = table_views(cell), nodes = cell[TABLE_NODES];
    const int magnetic = (int)p[TABLE_MAGNETIC];
    const int integrals = magnetic ? TABLE_ALL - TABLE_E_INTEGRALS : TABLE_E_INTEGRALS;
    GLOBAL const int *places = plan + cell[TABLE_PLACE] + (magnetic ? TABLE_E_INTEGRALS : 0);
    double size = 0.0, re = 0.0, im = 0.0;
    for (int n = 0; n < (int)p[TABLE_POINTS]; n++) {
        GLOBAL const double *element =
            elements + (long)TABLE_ELEMENT * ((int)p[TABLE_FIRST] + (int)p[TABLE_ELEMENTS] + n);
        const double t = table_position(number + cell[TABLE_NUMBERS], element);
        const int node = (int)fmin(fmax(t, 0.0), (double)(nodes - 1));
        for (int i = 0; i < integrals; i++)
            if (element[TABLE_FACTORS + i] != 0.0 && places[i] >= 0) {
                const long row = (long)(places[i] * views + views / 2) * nodes + node;
                const struct cx z =
                    cx_scale(line_get(room + cell[TABLE_ROWS], (row * nfreq + q) * columns, 1),
                             element[TABLE_SHARE] * element[TABLE_FACTORS + i]);
                re += z.re;
                im += z.im;
                size += sqrt(z.re * z.re + z.im * z.im);
            }
    }
    parts[2 * ((long)pair * nfreq + q)] = size;
    parts[2 * ((long)pair * nfreq + q) + 1] = sqrt(re * re + im * im);
}
