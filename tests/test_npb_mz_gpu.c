/* tests/test_npb_mz_gpu.c – the cost of a step on cards known only from data sheets, by the
 * fakes' virtual clock: a batch of zones costs less than its zones one by one, a faster card is
 * not slower, and zones that travel for each step do so while others are computed. Also zones at
 * the far end of a large card, whose memory takes none where it is not touched. */
#include "npb_mz/device.h"
#include "npb_mz/faces.h"
#include "backends/gpu.h"
#include "tests/backends.h"
#include "tests/mz_alone.h"

#include <dlfcn.h>

static const char *const cards[] = {"h100", "a100", "mi250x", "display"};

/* An event on the fake's clock after all work submitted so far. */
static void *moment(const struct gpu_state *d)
{
    void *event = NULL;
    assert_int_equal(d->driver->event_create(&event, 0), 0);
    assert_int_equal(d->driver->event_record(event, d->stream[BACKEND_COMPUTE]), 0);
    assert_int_equal(d->driver->event_wait(event), 0);
    return event;
}

static double seconds_between(const struct gpu_state *d, void *from, void *to)
{
    void *library = dlopen(d->vendor->found->library, RTLD_NOW | RTLD_NOLOAD);
    const bool hip = !strcmp(d->vendor->name, "hip");
    int (*elapsed)(float *, void *, void *);
    *(void **)&elapsed = dlsym(library, hip ? "hipEventElapsedTime" : "cuEventElapsedTime");
    float milliseconds = 0;
    assert_int_equal(elapsed(&milliseconds, from, to), 0);
    d->driver->event_destroy(from);
    d->driver->event_destroy(to);
    dlclose(library);
    return 1e-3 * (double)milliseconds;
}

/* Virtual seconds of a step of all zones after `before` earlier steps, with `together` zones per
 * launch; memory: the device's bytes, 0 for the card's. */
static double step_behind(int before, const char *vendor, const char *card, const char *solver,
                          char letter, int together, size_t memory)
{
    const struct mz_ops *ops = mz_find(solver);
    struct mz *mz = NULL;
    struct device *d;
    size_t bytes = 0;
    setenv("FAKEGPU_PRICE", card, 1);
    struct backend *b = open_device(vendor, 0);
    b->info.memory = memory ? memory : b->info.memory;
    assert_int_equal(mz_open(ops, mz_class_find(solver, letter, 0), &mz), EK_OK);
    assert_int_equal(device_open(mz, b, &d), EK_OK);
    double *each = calloc((size_t)mz->nzones, sizeof *each);
    for (int zone = 0; zone < mz->nzones; zone++)
        assert_int_equal(device_carry(d, NULL, zone, &bytes), EK_OK);
    void *begun = NULL;
    for (int step = 0; step <= before; step++) {
        if (step == before)
            begun = moment(b->dev);
        for (int zone = 0; zone < mz->nzones; zone += together)
            assert_int_equal(device_step(d, zone, zone + together, each + zone), EK_OK);
    }
    const double seconds = seconds_between(b->dev, begun, moment(b->dev));
    free(each);
    device_close(d);
    mz_close(mz);
    backend_close(b);
    return seconds;
}

static double step_on(const char *vendor, const char *card, const char *solver, char letter,
                      int together, size_t memory)
{
    return step_behind(0, vendor, card, solver, letter, together, memory);
}

/* LU launches a kernel for each front of its sweeps; gathered in a graph, they are launched
 * together. */
static void launches_that_come_again_cost_less(void **state)
{
    (void)state;
    for (int c = 0; c <= 2; c += 2) { /* a driver's first graph is refused once */
        const char *vendor = c == 2 ? "hip" : "cuda";
        setenv("FAKEGPU_FAULT", "graph:1", 1); /* refused: kernels start one by one */
        const double one_by_one = step_behind(2, vendor, cards[c], "lu-mz", 'S', 16, 0);
        unsetenv("FAKEGPU_FAULT");
        const double graph = step_behind(2, vendor, cards[c], "lu-mz", 'S', 16, 0);
        assert_true(graph > 0 && graph < 0.9 * one_by_one);
    }
}

static void a_batch_is_cheaper_than_its_zones(void **state)
{
    static const char *const solvers[] = {"bt-mz", "sp-mz", "lu-mz"};
    (void)state;
    for (int c = 0; c < LENGTH(cards); c++) {
        const char *vendor = c == 2 ? "hip" : "cuda", *solver = solvers[c % LENGTH(solvers)];
        const int zones = !strcmp(solver, "lu-mz") ? 16 : 4;
        const double batch = step_on(vendor, cards[c], solver, 'S', zones, 0);
        const double alone = step_on(vendor, cards[c], solver, 'S', 1, 0);
        assert_true(batch > 0 && alone > 0.6 * zones * batch);
    }
}

static void a_better_card_is_not_slower(void **state)
{
    (void)state;
    double last = 0;
    for (int c = 0; c < LENGTH(cards); c++) {
        const double seconds = step_on("cuda", cards[c], "sp-mz", 'S', 4, 0);
        assert_true(seconds > last);
        last = seconds;
    }
}

/* The least memory with which a device can step SP class S. */
static size_t least_memory(void)
{
    const struct mz_ops *ops = mz_find("sp-mz");
    struct mz *mz = NULL;
    struct places p;
    size_t memory = 1 << 16;
    assert_int_equal(mz_open(ops, mz_class_find("sp-mz", 'S', 0), &mz), EK_OK);
    status_mute(+1);
    while (places_open(mz, "", memory, memory, false, &p))
        memory += memory / 16;
    status_mute(-1);
    assert_true(p.stage > 0);
    places_close(&p);
    mz_close(mz);
    return memory;
}

/* A zone stepped alone waits for its transfer; in a batch, the transfer overlaps with the
 * computation of the zone before. */
static void zones_travel_while_others_are_computed(void **state)
{
    const size_t memory = least_memory();
    (void)state;
    for (int c = 0; c < LENGTH(cards); c += LENGTH(cards) - 1) {
        const double stay = step_on("cuda", cards[c], "sp-mz", 'S', 4, 0);
        const double come = step_on("cuda", cards[c], "sp-mz", 'S', 4, memory);
        const double one_by_one = step_on("cuda", cards[c], "sp-mz", 'S', 1, memory);
        assert_true(stay < come && come < one_by_one);
    }
}

/* ---- the far end of a large card ------------------------------------------------------------- */

/* Both fields of two zones, once they have exchanged faces, done a step and exchanged them again.
 */
static double *two_zones_later(const struct mz_ops *ops, size_t memory, size_t *doubles)
{
    static const struct mz_mesh mesh = {'E', {128 * 24, 128 * 24, 52}, {128, 128}};
    struct mz *mz = NULL;
    struct device *d;
    struct faces *faces;
    size_t bytes = 0;
    assert_int_equal(mz_open_mesh(ops, mz_class_find(ops->name, 'E', 0), &mesh, &mz), EK_OK);
    const int end = mz->nzones, begin = end - 2;
    int *rank_of = calloc((size_t)end, sizeof *rank_of), *home = calloc((size_t)end, sizeof *home);
    for (int zone = 0; zone < end; zone++)
        rank_of[zone] = zone < begin;
    for (int zone = begin; zone < end; home[zone++] = 1)
        for (int side = 0; side < MZ_SIDES; side++)
            rank_of[mz->zone[zone].neighbour[side]] = 0;
    assert_int_equal(mz_claim(mz, rank_of, 0), EK_OK);
    struct backend *b = open_device("cuda", 0);
    b->info.memory = memory ? memory : b->info.memory;
    assert_int_equal(device_open(mz, b, &d), EK_OK);
    assert_int_equal(faces_open(mz, NULL, 2, &faces), EK_OK);
    faces->memory[1].device = d;
    for (int zone = begin; zone < end; zone++)
        assert_int_equal(device_carry(d, NULL, zone, &bytes), EK_OK);
    assert_int_equal(faces_plan(faces, home), EK_OK);
    for (int step = 0; step < 2; step++) {
        double seconds[2] = {0};
        assert_int_equal(device_send_faces(d, faces, 1, &bytes), EK_OK);
        faces_gather(faces, 1, &bytes);
        assert_int_equal(device_receive_faces(d, faces, 1, &bytes), EK_OK);
        if (step == 0)
            assert_int_equal(device_step(d, begin, end, seconds), EK_OK);
    }
    *doubles = 0;
    double *all = NULL;
    for (int zone = begin; zone < end; zone++) {
        struct mz_part part[MZ_PARTS];
        assert_int_equal(device_carry(NULL, d, zone, &bytes), EK_OK);
        mz_parts(mz, zone, part);
        for (int i = MZ_U; i <= MZ_CARRIED; *doubles += part[i++].doubles) {
            all = realloc(all, (*doubles + part[i].doubles) * sizeof *all);
            if (part[i].doubles)
                memcpy(all + *doubles, part[i].host, part[i].doubles * sizeof *all);
        }
    }
    free(rank_of);
    free(home);
    faces_close(faces);
    device_close(d);
    backend_close(b);
    mz_close(mz);
    return all;
}

/* Behind 2^31 doubles. LU has zones as small as the others' here. */
static void zones_lie_anywhere_on_a_card_of_80_GB(void **state)
{
    (void)state;
    setenv("FAKEGPU_PRICE", "h100", 1);
    for (int i = 0; mz_at(i); i++) {
        struct mz_ops ops = *mz_at(i);
        ops.zones[0] = ops.zones[1] = 0;
        size_t n, m;
        double *far = two_zones_later(&ops, 0, &n), *near = two_zones_later(&ops, 1 << 30, &m);
        assert_int_equal(n, m);
        assert_memory_equal(far, near, n * sizeof *far);
        for (size_t at = 0; at < n; at++)
            assert_true(far[at] == far[at]);
        free(far);
        free(near);
    }
}

static int fake_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_that_come_again_cost_less),
        cmocka_unit_test(a_batch_is_cheaper_than_its_zones),
        cmocka_unit_test(a_better_card_is_not_slower),
        cmocka_unit_test(zones_travel_while_others_are_computed),
        cmocka_unit_test(zones_lie_anywhere_on_a_card_of_80_GB),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return fakes() ? in_process(NULL, fake_tests) : with_fakes_only("fakegpu");
}
