/* tests/test_cu_grid.c – the grid for outside programs: however its zones lie on the host and on
 * two devices, and move between them, its cells are those of the whole rectangle. */
#include "cu/team/ek_grid_internal.h"
#include "src/base.h"
#include "src/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { NX = 23, NY = 17, STEPS = 12, ROW = NX + 2, MEMORIES = 3 };

static double value(void *context, int x, int y)
{
    (void)context;
    return sin(1 + x) * cos(2 + y);
}

/* The mean of four neighbours, one of which weighs more, so that sides are told apart. */
static double next_of(const double *at, int row)
{
    return (at[-1] + 2 * at[1] + 3 * at[-row] + 4 * at[row]) / 10;
}

/* A step of the whole rectangle, cell (x, y) at [y + 1][x + 1]. */
static void step_whole(double (*now)[ROW], double (*next)[ROW], bool periodic)
{
    for (int y = 1; periodic && y <= NY; y++) {
        now[y][0] = now[y][NX];
        now[y][NX + 1] = now[y][1];
    }
    for (int x = 1; periodic && x <= NX; x++) {
        now[0][x] = now[NY][x];
        now[NY + 1][x] = now[1][x];
    }
    for (int y = 1; y <= NY; y++)
        for (int x = 1; x <= NX; x++)
            next[y][x] = next_of(&now[y][x], ROW);
}

/* A step of one zone where it lies. */
static void step_zone(const struct ek_grid *g, const struct cu *cu, size_t zone)
{
    const struct ek_zone z = ek_zone(g, cu, zone);
    const size_t bytes = 2 * (size_t)(z.nx + 2) * (size_t)(z.ny + 2) * sizeof(double);
    assert_int_equal(!z.host, cu->kind == CU_DEVICE);
    OWNED_MEMORY double *copy = malloc(bytes);
    double *at = z.host ? z.host : copy;
    if (!z.host)
        assert_int_equal(backend_fetch(cu->device, BACKEND_COMPUTE, at, z.buffer.as.mem, bytes) ||
                             backend_wait(cu->device, BACKEND_COMPUTE),
                         EK_OK);
    for (int y = 0; y < z.ny; y++)
        for (int x = 0; x < z.nx; x++)
            at[z.next + y * z.row + x] = next_of(&at[z.now + y * z.row + x], z.row);
    if (!z.host)
        assert_int_equal(backend_send(cu->device, BACKEND_COMPUTE, z.buffer.as.mem, at, bytes) ||
                             backend_wait(cu->device, BACKEND_COMPUTE),
                         EK_OK);
}

/* All units in turn do their parts of the exchange; the CPU units divide the host's. */
static size_t exchange(struct ek_grid *g, const struct cu_set *set)
{
    size_t bytes = 0;
    for (int phase = 0; phase < GRID_PHASES; phase++)
        for (int c = 0; c < set->n; c++) {
            const int parts = set->cu[c].kind == CU_CPU ? set->layout.ncpu : 0;
            assert_int_equal(ek_grid_exchange(g, &set->cu[c], phase, c, parts, &bytes), EK_OK);
        }
    return bytes;
}

static void check_zones(const struct cu_set *set, const struct ek_grid_shape *shape)
{
    static double whole[2][NY + 2][ROW];
    int home[NX * NY] = {0};
    uint64_t chance = 7;
    struct ek_grid *g;
    struct sched_job job = {0};
    assert_int_equal(ek_grid_new(shape, &g), EK_OK);
    assert_int_equal(ek_grid_open(g, set, &job), EK_OK);
    assert_int_equal(job.n, shape->zones[0] * shape->zones[1]);
    ek_grid_set(g, value, NULL);
    for (int y = -1; y <= NY; y++)
        for (int x = -1; x <= NX; x++)
            whole[0][y + 1][x + 1] = whole[1][y + 1][x + 1] = value(NULL, x, y);
    for (int step = 0; step < STEPS; step++) {
        size_t moved = 0;
        ek_grid_set_placement(g, home);
        exchange(g, set);
        for (size_t t = 0; t < job.n; t++) {
            const int to = (int)random_below(&chance, MEMORIES), from = home[t];
            if (to != from)
                assert_int_equal(ek_grid_move(g, t, from, to, &moved), EK_OK);
            home[t] = to;
            step_zone(g, &set->cu[to == CU_HOST_MEMORY ? 0 : set->layout.ncpu + to - 1], t);
        }
        ek_grid_set_step(g, step + 1);
        step_whole(whole[step % 2], whole[1 - step % 2], shape->periodic);
    }
    for (size_t t = 0; t < job.n; t++) {
        size_t moved = 0;
        if (home[t] != CU_HOST_MEMORY)
            assert_int_equal(ek_grid_move(g, t, home[t], CU_HOST_MEMORY, &moved), EK_OK);
    }
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            assert_true(ek_grid_at(g, x, y) == whole[STEPS % 2][y + 1][x + 1]);
    for (int d = 0; d < set->layout.ndev; d++)
        ek_grid_close_device(g, &set->cu[set->layout.ncpu + d]);
    ek_grid_close(g);
    ek_grid_free(g);
}

/* Also zones that are their own neighbours, or each other's on both sides. */
static void zones_make_up_the_rectangle(void **state)
{
    static const int zones[][2] = {{1, 1}, {2, 1}, {5, 4}, {1, 17}, {23, 2}};
    struct cu_set *set;
    assert_int_equal(
        cu_open(&(struct cu_options){.layout = "2x1+2", .devices = "host:0,host:1"}, &set), EK_OK);
    for (int periodic = 0; periodic < 2; periodic++)
        for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
            check_zones(set,
                        &(struct ek_grid_shape){{NX, NY}, {zones[i][0], zones[i][1]}, periodic});
    cu_close(set);
}

static void shapes_without_sense_are_refused(void **state)
{
    static const struct ek_grid_shape wrong[] = {{{0, 1}, {1, 1}, false},
                                                 {{4, 4}, {5, 1}, false},
                                                 {{4, 4}, {0, 1}, false},
                                                 {{1 << 25, 4}, {4, 4}, false},
                                                 {{1 << 15, 1 << 15}, {1, 1}, true},
                                                 {{1 << 16, 1 << 16}, {1 << 16, 1 << 16}, true}};
    struct ek_grid *g;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(MUTED(ek_grid_new(&wrong[i], &g)), EK_USAGE);
    ek_grid_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_make_up_the_rectangle),
        cmocka_unit_test(shapes_without_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
