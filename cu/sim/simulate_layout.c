/* cu/sim/simulate_layout.c – removes units from a case, and searches for the best subset. */
#include "cu/sim/simulate_layout.h"

#include <strings.h>

/* Context of tune_search(); `room` must come first. */
struct trials {
    struct tune_room room;
    const struct sim_case *c;
    const char *schedule;
};

static int count_units(const struct sim_case *c, enum cu_kind kind)
{
    int n = 0;
    for (int u = 0; u < c->ncu; u++)
        n += c->unit[u].kind == kind;
    return n;
}

static int width_of(const struct sim_case *c)
{
    for (int u = 0; u < c->ncu; u++)
        if (c->unit[u].kind == CU_CPU)
            return c->unit[u].width;
    return 1;
}

/* New number of each unit that stays (the first ncpu CPU units, and devices by mask), -1 for the
 * others; returns how many stay. */
static int choose(const struct sim_case *c, int ncpu, unsigned devices, int *number)
{
    int n = 0, cpu = 0, device = 0;
    for (int u = 0; u < c->ncu; u++) {
        const bool is_cpu = c->unit[u].kind == CU_CPU;
        number[u] = -1;
        if (is_cpu ? cpu++ < ncpu : devices >> device++ & 1)
            number[u] = n++;
    }
    return n;
}

/* Keeps the changes of units that stay, renumbered. */
static int keep_changes(const struct sim_case *c, const int *number, struct sim_change *kept)
{
    int n = 0;
    for (int i = 0; i < c->nchanges; i++)
        if (number[c->change[i].unit] >= 0) {
            kept[n] = c->change[i];
            kept[n++].unit = number[c->change[i].unit];
        }
    return n;
}

static enum ek_status run_some(const struct sim_case *c, const struct cu_layout *layout,
                               unsigned devices, const char *schedule, double *span,
                               struct sim_result *result)
{
    struct sim_case some = *c;
    OWNED(arena_free) struct arena arena = {0};
    int *number = ARENA_NEW(&arena, c->ncu, int);
    struct sim_unit *unit = ARENA_NEW(&arena, c->ncu, struct sim_unit);
    struct sim_change *change = ARENA_NEW(&arena, c->nchanges, struct sim_change);
    TRY(arena_check(&arena, "a layout of %d units", c->ncu));
    some.ncu = choose(c, layout->ncpu, devices, number);
    for (int u = 0; u < c->ncu; u++)
        if (number[u] >= 0)
            unit[number[u]] = c->unit[u];
    some.unit = unit;
    some.nchanges = keep_changes(c, number, change);
    some.change = change;
    return sim_run(&some, schedule, span, result);
}

static enum ek_status measure(void *ctx, const struct tune_point *point, double *rate)
{
    struct trials *t = ctx;
    struct sim_result r;
    unsigned devices;
    const struct cu_layout layout = tune_layout_of(point, &devices);
    TRY(run_some(t->c, &layout, devices, t->schedule, NULL, &r));
    *rate = r.total > 0 ? t->c->steps / r.total : 0;
    return EK_OK;
}

/* Under the clock of the simulator the smallest gain is real. */
static enum ek_status search(const struct sim_case *c, const char *schedule,
                             struct simulate_layout *l)
{
    static const struct tune_ops ops = {tune_layout_move, measure};
    const int ndev = count_units(c, CU_DEVICE);
    struct trials t = {.room = {.cores = count_units(c, CU_CPU),
                                .ndev = ndev < TUNE_DEVICES ? ndev : TUNE_DEVICES,
                                .rigid = true,
                                .fine = true,
                                .width = 1},
                       .c = c,
                       .schedule = schedule};
    const struct tune_point first = tune_layout_first(&t.room);
    TRY(tune_search(&ops, &t, tune_layout_moves(&t.room), &first, 1e-6, &l->tune));
    l->layout =
        tune_layout_of(&l->tune.trial[l->tune.best < 0 ? 0 : l->tune.best].point, &l->devices);
    return EK_OK;
}

static enum ek_status take(const struct sim_case *c, const char *text, struct simulate_layout *l)
{
    const int ncpu = count_units(c, CU_CPU), ndev = count_units(c, CU_DEVICE);
    TRY(cu_layout_parse(text, &l->layout));
    if (l->layout.ncpu > ncpu || l->layout.ndev > ndev)
        FAIL(EK_USAGE, "layout %s: the case has %d CPU units and %d devices", text, ncpu, ndev);
    if (l->layout.ncpu && l->layout.width != width_of(c))
        FAIL(EK_USAGE, "layout %s: the case's CPU units have %d cores", text, width_of(c));
    if (l->layout.feeders > 1)
        FAIL(EK_USAGE, "layout %s: a case does not say how many threads feed a device", text);
    l->devices = l->layout.ndev < 32 ? (1u << l->layout.ndev) - 1 : ~0u;
    return EK_OK;
}

enum ek_status simulate_layout(const struct sim_case *c, const char *layout, const char *schedule,
                               struct simulate_layout *l, double *span, struct sim_result *result)
{
    l->tune.n = 0;
    if (!layout)
        return sim_run(c, schedule, span, result);
    TRY(strcasecmp(layout, "auto") ? take(c, layout, l) : search(c, schedule, l));
    if (l->layout.ncpu)
        l->layout.width = width_of(c);
    return run_some(c, &l->layout, l->devices, schedule, span, result);
}

json_t *simulate_layout_json(const struct simulate_layout *l)
{
    json_t *tried = json_array();
    for (int i = 0; i < l->tune.n; i++) {
        unsigned devices;
        const struct cu_layout layout = tune_layout_of(&l->tune.trial[i].point, &devices);
        json_array_append_new(tried, json_pack("{s:s s:I s:f}", "layout", cu_layout_text(&layout),
                                               "devices", (json_int_t)devices, "steps_per_s",
                                               l->tune.trial[i].rate));
    }
    return json_pack("{s:s s:o}", "layout", cu_layout_text(&l->layout), "layouts_tried", tried);
}
