/* tests/test_npb_mz_blocks.c – LU's sweeps by blocks of lines, whose work-groups wait for one
 * another, against its sweeps by fronts on the same device, bit for bit, and against the host. On
 * the fakes, whose work-groups run on several threads. */
#include "npb_mz/device.h"
#include "src/random.h"
#include "tests/backends.h"
#include "tests/mz_alone.h"

#include <math.h>

enum { STEPS = 5 }; /* from the third on, launches come in a graph */

/* A mesh of zones of equal size; how many zones a launch serves, 0: all; the number of
 * multiprocessors that the device reports; whether the zones live on the host. */
struct problem_of_blocks {
    struct mz_mesh mesh;
    int together, units;
    bool staged;
};

static struct mz_ops lu(void)
{
    struct mz_ops ops = *mz_find("lu-mz");
    ops.zones[0] = ops.zones[1] = 0; /* as the mesh says */
    return ops;
}

/* Largest relative difference of two states, without padding. */
static double distance(const struct mz *mz, const double *a, const double *b)
{
    double worst = 0.0;
    for (int zone = 0; zone < mz->nzones; zone++) {
        const struct mz_zone *z = &mz->zone[zone];
        for (long at = 0; at < MZ_VARS * z->volume; at++) {
            const long row = at % z->volume / z->pitch, i = at % z->volume % z->pitch;
            const double x = a[MZ_VARS * z->first + at], y = b[MZ_VARS * z->first + at];
            const double d = fabs(x - y) / (fabs(x) + 1.0);
            if (row < z->ny * z->nz && i < z->nx)
                worst = d <= worst ? worst : d; /* NaN wins */
        }
    }
    return worst;
}

static struct mz *open_it(const struct problem_of_blocks *p, const struct mz_ops *ops)
{
    struct mz *mz = NULL;
    assert_int_equal(mz_open_mesh(ops, mz_class_find("lu-mz", 'S', 0), &p->mesh, &mz), EK_OK);
    assert_int_equal(mz_claim(mz, NULL, 0), EK_OK);
    return mz;
}

/* The least memory that lets a device work. */
static size_t least_memory(const struct mz *mz)
{
    struct places p;
    size_t memory = 1 << 14;
    status_mute(+1);
    while (places_open(mz, "", memory, memory, false, &p))
        memory += memory / 16;
    status_mute(-1);
    places_close(&p);
    return memory;
}

static void step_on(struct device *d, const struct problem_of_blocks *p, struct mz *mz)
{
    double *seconds = calloc((size_t)mz->nzones, sizeof *seconds);
    const int together = p->together ? p->together : mz->nzones;
    size_t bytes = 0;
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_exchange(mz, zone);
    for (int zone = 0; zone < mz->nzones && !p->staged; zone++)
        assert_int_equal(device_carry(d, NULL, zone, &bytes), EK_OK);
    for (int zone = 0; zone < mz->nzones; zone += together) {
        const int end = zone + together < mz->nzones ? zone + together : mz->nzones;
        assert_int_equal(device_step(d, zone, end, seconds + zone), EK_OK);
    }
    for (int zone = 0; zone < mz->nzones && !p->staged; zone++)
        assert_int_equal(device_carry(NULL, d, zone, &bytes), EK_OK);
    free(seconds);
}

/* The state after STEPS steps on a device, by blocks or by fronts. */
static struct mz *run_on(const char *vendor, const struct problem_of_blocks *p,
                         const struct mz_ops *ops, bool blocks)
{
    struct mz *mz = open_it(p, ops);
    struct backend *b = open_device(vendor, 0);
    struct device *d = NULL;
    assert_true(b->info.groups_wait);
    b->info.groups_wait = blocks;
    b->info.compute_units = p->units;
    b->info.memory = p->staged ? least_memory(mz) : b->info.memory;
    assert_int_equal(device_open(mz, b, &d), EK_OK);
    for (int s = 0; s < STEPS; s++)
        step_on(d, p, mz);
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_settle(mz, zone);
    device_close(d);
    backend_close(b);
    return mz;
}

static struct mz *run_on_host(const struct problem_of_blocks *p, const struct mz_ops *ops)
{
    struct mz *mz = open_it(p, ops);
    struct mz_work *work = NULL;
    assert_int_equal(mz_work_open(mz, 1, &work), EK_OK);
    for (int s = 0; s < STEPS; s++)
        mz_step(mz, work);
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_settle(mz, zone);
    mz_work_close(work);
    return mz;
}

static void compare(const char *vendor, const struct problem_of_blocks *p)
{
    const struct mz_ops ops = lu();
    struct mz *blocks = run_on(vendor, p, &ops, true), *fronts = run_on(vendor, p, &ops, false);
    struct mz *host = run_on_host(p, &ops);
    assert_true(distance(host, fronts->u, blocks->u) == 0.0);
    assert_true(distance(host, host->u, blocks->u) < 1e-12);
    mz_close(blocks);
    mz_close(fronts);
    mz_close(host);
}

/* Points along x, y and z of a zone, zones along x and y. */
static struct mz_mesh mesh_of(int nx, int ny, int nz, int across, int up)
{
    return (struct mz_mesh){'S', {nx * across, ny * up, nz}, {across, up}};
}

/* One block or many, of unequal width, and higher zones than a block; fewer points along x than
 * steps between a block's first line and its last. */
static void shapes(void **state)
{
    static const int table[][7] = {/* points, zones, together, multiprocessors */
                                   {6, 6, 6, 1, 1, 0, 132},   {6, 6, 6, 2, 2, 3, 1},
                                   {7, 41, 9, 1, 2, 1, 1000}, {23, 13, 7, 3, 1, 2, 12},
                                   {6, 9, 36, 2, 1, 0, 8},    {13, 7, 71, 1, 2, 0, 40},
                                   {9, 17, 101, 1, 1, 0, 2},  {67, 11, 6, 1, 1, 0, 5}};
    (void)state;
    for (int i = 0; i < LENGTH(table); i++) {
        const int *t = table[i];
        const struct problem_of_blocks p = {
            .mesh = mesh_of(t[0], t[1], t[2], t[3], t[4]), .together = t[5], .units = t[6]};
        compare("cuda", &p);
    }
}

/* The second block has a single line in y, the first one eight: where both run at the same time, it
 * would overtake if it did not wait. */
static void long_lines(void **state)
{
    const struct problem_of_blocks p = {.mesh = mesh_of(1000, 11, 20, 1, 1), .units = 132};
    (void)state;
    compare("cuda", &p);
}

static void drawn_shapes(void **state)
{
    uint64_t chance = 1126;
    (void)state;
    for (int i = 0; i < 12; i++) {
        const int nx = 6 + (int)random_below(&chance, 20), ny = 6 + (int)random_below(&chance, 40);
        const int nz = 6 + (int)random_below(&chance, i % 4 ? 10 : 70);
        const int across = 1 + (int)random_below(&chance, 3),
                  up = 1 + (int)random_below(&chance, 2);
        const struct problem_of_blocks p = {.mesh = mesh_of(nx, ny, nz, across, up),
                                            .together = (int)random_below(&chance, 3),
                                            .units = 1 + (int)random_below(&chance, 150)};
        compare(i % 2 ? "hip" : "cuda", &p);
    }
}

/* Zones that come for a step only take turns in the same scratch. */
static void zones_that_come_for_a_step(void **state)
{
    (void)state;
    const struct problem_of_blocks p = {
        .mesh = mesh_of(11, 19, 8, 3, 2), .units = 20, .staged = true};
    compare("cuda", &p);
}

/* A state that is not a number must not stop anybody who waits. */
static void numbers_that_are_none_pass(void **state)
{
    const struct problem_of_blocks p = {.mesh = mesh_of(9, 25, 40, 1, 1), .units = 100};
    const struct mz_ops ops = lu();
    struct mz *mz = open_it(&p, &ops);
    struct backend *b = open_device("cuda", 0);
    struct device *d = NULL;
    (void)state;
    b->info.compute_units = p.units;
    assert_int_equal(device_open(mz, b, &d), EK_OK);
    mz->u[mz->zone[0].plane + mz->zone[0].pitch + 1] = NAN;
    for (int s = 0; s < 2; s++)
        step_on(d, &p, mz);
    assert_true(isnan(mz->u[mz->zone[0].volume / 2]));
    device_close(d);
    backend_close(b);
    mz_close(mz);
}

static int fake_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(drawn_shapes),
        cmocka_unit_test(zones_that_come_for_a_step),
        cmocka_unit_test(numbers_that_are_none_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return fakes() ? in_process(NULL, fake_tests) : with_fakes_only("fakegpu");
}
