/* tests/test_kirchhoff_geometry.c – spacings and areas of receivers that are regular, jittered,
 * rotated, on lines or all at one place; impossible surveys. */
#include "kirchhoff/geometry.h"
#include "tests/kirchhoff.h"

enum { MOST = 1 << 17 };

static struct segy_trace trace[MOST];
static uint32_t order[MOST];
static struct segy segy = {.path = "survey", .trace = trace};

static double draw(double size)
{
    return size * (2 * ((double)rand() / RAND_MAX) - 1);
}

/* `shots` shots over nx x ny receivers, dx and dy apart, jittered and rotated. */
static void survey(int shots, int nx, int ny, double dx, double dy, double jitter, double turn)
{
    segy.n = 0;
    for (int s = 0; s < shots; s++)
        for (int i = 0; i < nx; i++)
            for (int j = 0; j < ny; j++, segy.n++) {
                const double x = i * dx + draw(jitter), y = j * dy + draw(jitter);
                trace[segy.n] = (struct segy_trace){.sx = 300.0 * s,
                                                    .sy = 100.0 * (s % 2),
                                                    .gx = x * cos(turn) - y * sin(turn),
                                                    .gy = x * sin(turn) + y * cos(turn),
                                                    .record = s + 1};
                order[segy.n] = (uint32_t)segy.n;
            }
}

static struct geometry found(void)
{
    struct geometry g;
    assert_int_equal(geometry_find(&segy, order, segy.n, GEOMETRY_AREA, &g), EK_OK);
    return g;
}

static double mean_share(const struct geometry *g)
{
    double sum = 0;
    for (size_t i = 0; i < segy.n; i++)
        sum += (double)g->share[i] / (double)segy.n;
    return sum;
}

static void regular_ones_have_their_steps(void **state)
{
    static const double steps[][2] = {{50, 50}, {25, 200}, {12.5, 12.5}, {400, 100}, {1, 7}};
    for (int i = 0; i < 5; i++)
        for (int turned = 0; turned < 2; turned++) {
            survey(3, 13, 11, steps[i][0], steps[i][1], 0, turned * 0.3);
            struct geometry g = found();
            assert_int_equal(g.shots, 3);
            assert_int_equal(g.repeated, 0);
            assert_true(fabs(g.spacing[1] - fmin(steps[i][0], steps[i][1])) < 1e-6);
            assert_true(fabs(g.spacing[0] - hypot(300, 100)) < 1e-6);
            assert_true(fabs(g.area / (steps[i][0] * steps[i][1]) - 1) < 1e-6);
            for (size_t t = 0; t < segy.n; t++)
                assert_true(g.share[t] == 1);
            geometry_close(&g);
        }
}

static void jitter_changes_little(void **state)
{
    srand(18);
    for (int i = 0; i < 4; i++) {
        survey(2, 21, 17, 50, 50 * (1 + i), 2, 0.1 * i);
        struct geometry g = found();
        assert_true(fabs(g.spacing[1] / 50 - 1) < 0.08);
        assert_true(fabs(g.area * mean_share(&g) / (50 * 50 * (1 + i)) - 1) < 0.03);
        geometry_close(&g);
    }
}

/* Half of the receivers are twice as dense: the areas of the halves differ by a factor of two and
 * the sum stays. */
static void areas_follow_the_density(void **state)
{
    segy.n = 0;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 20; j++, segy.n++) {
            const double x = i < 20 ? 100 * i : 1950 + 50 * (i - 20);
            trace[segy.n] = (struct segy_trace){.gx = x, .gy = 100 * j};
            order[segy.n] = (uint32_t)segy.n;
        }
    struct geometry g = found();
    assert_true(fabs(g.area * (double)g.share[10 * 20 + 10] - 10000) < 1);
    assert_true(fabs(g.area * (double)g.share[30 * 20 + 10] - 5000) < 1);
    geometry_close(&g);
}

static void lines_and_single_places(void **state)
{
    survey(2, 40, 1, 25, 1, 0, 0.4);
    struct geometry g = found();
    assert_true(fabs(g.spacing[1] - 25) < 1e-6 && fabs(g.area - 625) < 1e-6);
    geometry_close(&g);
    survey(1, 1, 1, 25, 25, 0, 0);
    g = found();
    assert_true(isinf(g.spacing[0]) && isinf(g.spacing[1]) && g.area == 0);
    geometry_close(&g);
    survey(1, 12, 12, 25, 25, 0, 0); /* each receiver twice: half the area each */
    memcpy(trace + segy.n, trace, segy.n * sizeof *trace);
    for (size_t i = 0; i < segy.n; i++)
        order[segy.n + i] = (uint32_t)(segy.n + i);
    segy.n *= 2;
    g = found();
    assert_true(fabs(g.area - 312.5) < 1e-3);
    assert_int_equal(g.repeated, 144);
    assert_fails(geometry_check(&segy, segy.n, &g), EK_UNVERIFIED);
    geometry_close(&g);
}

static void receiver(double x, double y)
{
    trace[segy.n] = (struct segy_trace){.gx = x, .gy = y};
    order[segy.n] = (uint32_t)segy.n;
    segy.n++;
}

/* Half of them are at one place; in time that grows with the square of their number, this would
 * take minutes. */
static void many_at_one_place(void **state)
{
    segy.n = 0;
    for (int i = 0; i < MOST / 2 - 2; i++)
        receiver(100, 100);
    for (int i = 0; i < MOST / 2; i++)
        receiver(i % 256 * 100, i / 256 * 100);
    struct geometry g = found();
    assert_true(g.spacing[1] == 100 && fabs(g.area / 1e4 - 1) < 1e-6);
    assert_true(fabs((double)g.share[7] * (MOST / 2 - 1) - 1) < 1e-4);
    geometry_close(&g);
}

/* Two uneven lines that a rotation by half a turn exchanges: so it does their cells. A far line has
 * dozens of bisectors in common with a cell that near places have not clipped yet. */
static void cells_in_any_order(void **state)
{
    srand(13);
    segy.n = 0;
    for (int i = 0; i < 2500; i++) {
        const double x = 10.97 * i, y = 5.99 * i + draw(0.5);
        receiver(x, y);
        receiver(10.97 * 2499 - x, 5.99 * 2499 + 3000 - y);
    }
    struct geometry g = found();
    for (int i = 0; i < 5000; i += 2)
        assert_true(fabsf(g.share[i] / g.share[i + 1] - 1) < 1e-3F);
    geometry_close(&g);
}

static void impossible_ones_are_refused(void **state)
{
    survey(4, 5, 5, 50, 50, 0, 0);
    struct geometry g = found();
    assert_int_equal(geometry_check(&segy, segy.n, &g), EK_OK);
    segy.offsets = 100;
    segy.odd_offset = 11;
    assert_fails(geometry_check(&segy, segy.n, &g), EK_UNVERIFIED);
    segy.odd_offset = 0;
    geometry_close(&g);
    for (size_t i = 0; i < segy.n; i++)
        trace[i].sx = trace[i].sy = 0;
    g = found();
    assert_fails(geometry_check(&segy, segy.n, &g), EK_UNVERIFIED);
    geometry_close(&g);
    for (size_t i = 0; i < segy.n; i++)
        trace[i].gx = trace[i].gy = 0;
    g = found();
    assert_fails(geometry_check(&segy, segy.n, &g), EK_UNVERIFIED);
    geometry_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_ones_have_their_steps),
        cmocka_unit_test(jitter_changes_little),
        cmocka_unit_test(areas_follow_the_density),
        cmocka_unit_test(lines_and_single_places),
        cmocka_unit_test(many_at_one_place),
        cmocka_unit_test(cells_in_any_order),
        cmocka_unit_test(impossible_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
