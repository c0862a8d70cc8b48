/* tests/test_kirchhoff_device.c – rays on every available device against rays on the host, and the
 * tables of a shot that alternates between both. */
#include "kirchhoff/ray_device.h"
#include "kirchhoff/shot.h"
#include "tests/kirchhoff.h"

static const char *const models[] = {"gradient:v0=1800,kx=0.1,ky=-0.2,kz=0.5",
                                     "lens:v0=2000,kz=0.5,dv=500,x=600,y=600,z=500,sigma=150",
                                     "layers:0:1500,600:2500,smooth=300"};
enum { MODELS = sizeof models / sizeof *models };
static const struct grid grid = {{31, 31, 31}, {0, 0, 0}, {40, 40, 40}};
static const double source[1][3] = {{610, 580, 0}};
static struct backend_device device;

static void open_job(const char *model, struct velocity **v, struct shot_job *job)
{
    assert_int_equal(velocity_open(model, v), EK_OK);
    assert_int_equal(shot_job_open(job, &grid, *v, &SHOT_OPTIONS, 1, source), EK_OK);
}

static void test_rays(void **state)
{
    const struct ray_layer way[] = {{0.01, 20}, {0.005, 30}};
    for (int m = 0; m < MODELS; m++) {
        struct velocity *v;
        struct shot_job job;
        struct front f, g;
        struct ray_device *d;
        open_job(models[m], &v, &job);
        assert_int_equal(ray_device_open(device, &job.field, &d), EK_OK);
        const double speed = ray_field_at(&job.field, source[0]);
        assert_int_equal(front_open(&f, source[0], speed, 3), EK_OK);
        assert_int_equal(front_open(&g, source[0], speed, 3), EK_OK);
        ray_advance_front(&job.field, f.state, f.room, 0, f.n, way, 2);
        for (size_t first = 0; first < g.n; first += 200) { /* in pieces, as new rays arrive */
            const size_t count = g.n - first < 200 ? g.n - first : 200;
            assert_int_equal(ray_device_start(d, &g, first, count, way, 2), EK_OK);
            assert_int_equal(ray_device_finish(d, &g), EK_OK);
        }
        for (size_t row = 0; row < RAY_ROWS; row++)
            for (size_t i = 0; i < f.n; i++) {
                const double a = f.state[row * f.room + i], b = g.state[row * g.room + i];
                /* the host interpolates a cube's numbers in float */
                assert_true(fabs(a - b) <= (row < 3 ? 0.05 : 3e-8));
                if (m == 0)
                    assert_true(fabs(a - b) <= (row < 3 ? 1e-8 : 1e-14));
            }
        front_close(&f);
        front_close(&g);
        ray_device_close(d);
        shot_job_close(&job);
        velocity_close(v);
    }
}

/* Runs a shot with the device in none, every, or every other group of steps. */
static struct ttable *run(const struct shot_job *job, struct ray_device *d, int every)
{
    struct shot *s;
    bool done = false;
    assert_int_equal(shot_open(job, source[0], &s), EK_OK);
    while (!done) {
        const bool there = every && s->numbers.steps / 3 % (size_t)every == 0;
        assert_int_equal(shot_step(s, NULL, there ? d : NULL, &done), EK_OK);
    }
    assert_int_equal(s->numbers.device_steps > 0, every > 0);
    struct ttable *t = shot_take(s);
    shot_close(s);
    return t;
}

static void test_switching(void **state)
{
    struct velocity *v;
    struct shot_job job;
    struct ray_device *d;
    open_job(models[0], &v, &job);
    assert_int_equal(ray_device_open(device, &job.field, &d), EK_OK);
    struct ttable *host = run(&job, d, 0);
    assert_int_equal(host->unfilled, 0);
    for (int every = 1; every <= 2; every++) {
        struct ttable *t = run(&job, d, every);
        for (size_t i = 0; i < grid_nodes(&grid); i++) {
            assert_true(fabsf(t->time[i] - host->time[i]) <= 1e-6F);
            assert_true(fabsf(t->spread[i] - host->spread[i]) <= 1e-3F * host->spread[i] + 1e-3F);
            assert_int_equal(t->kmah[i], host->kmah[i]);
        }
        ttable_close(t);
    }
    ttable_close(host);
    ray_device_close(d);
    shot_job_close(&job);
    velocity_close(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rays),
        cmocka_unit_test(test_switching),
    };
    int n = 0;
    status_mute(1);
    const enum ek_status st = backend_parse("auto", 1, &device, 1, &n);
    status_mute(-1);
    if (st || !n) {
        printf("no device: %s\n", status_message());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
