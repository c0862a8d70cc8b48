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
#include <math.h>

static const char *const cards[] = {"h200", "h100", "a100", "mi250x", "display"};

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

/* LU's sweeps are a launch for each front, as on devices whose work-groups must not wait. */
static bool fronts;

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
    b->info.groups_wait &= !fronts;
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

/* Launches of many fronts, gathered in a graph, are launched together. */
static void launches_that_come_again_cost_less(void **state)
{
    fronts = true;
    for (int c = 0; c <= 2; c += 2) { /* a driver's first graph is refused once */
        const char *vendor = c == 2 ? "hip" : "cuda";
        setenv("FAKEGPU_FAULT", "graph:1", 1); /* refused: kernels start one by one */
        const double one_by_one = step_behind(2, vendor, cards[c], "lu-mz", 'S', 16, 0);
        unsetenv("FAKEGPU_FAULT");
        const double graph = step_behind(2, vendor, cards[c], "lu-mz", 'S', 16, 0);
        assert_true(graph > 0 && graph < 0.9 * one_by_one);
    }
    fronts = false;
}

/* Batches that begin alike and end elsewhere have graphs of their own. */
static void a_graph_serves_its_own_batch_alone(void **state)
{
    enum { STEPS = 4 };
    static const int batch[2][STEPS] = {{2, 2, 4, 2}, {4, 4, 4, 4}}; /* zones */
    const struct mz_class *class = mz_class_find("sp-mz", 'S', 0);
    struct mz *mz[2];
    for (int way = 0; way < 2; way++) {
        struct backend *b = open_device("cuda", 0);
        struct device *d;
        double seconds[4] = {0};
        size_t bytes = 0;
        assert_int_equal(mz_open(mz_find("sp-mz"), class, &mz[way]), EK_OK);
        assert_int_equal(device_open(mz[way], b, &d), EK_OK);
        for (int zone = 0; zone < 4; zone++)
            assert_int_equal(device_carry(d, NULL, zone, &bytes), EK_OK);
        for (int step = 0; step < STEPS; step++)
            for (int zone = 0; zone < 4; zone += batch[way][step])
                assert_int_equal(device_step(d, zone, zone + batch[way][step], seconds), EK_OK);
        for (int zone = 0; zone < 4; zone++)
            assert_int_equal(device_carry(NULL, d, zone, &bytes), EK_OK);
        device_close(d);
        backend_close(b);
    }
    assert_memory_equal(mz[0]->u, mz[1]->u, MZ_VARS * (size_t)mz[0]->points * sizeof *mz[0]->u);
    mz_close(mz[0]);
    mz_close(mz[1]);
}

static void a_batch_is_cheaper_than_its_zones(void **state)
{
    static const char *const solvers[] = {"bt-mz", "sp-mz", "lu-mz"};
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
    double last = 0;
    for (int c = 0; c < LENGTH(cards); c++) {
        const double seconds = step_on("cuda", cards[c], "sp-mz", 'S', 4, 0);
        assert_true(seconds >= last);
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
    for (int c = 0; c < LENGTH(cards); c += LENGTH(cards) - 1) {
        const double stay = step_on("cuda", cards[c], "sp-mz", 'S', 4, 0);
        const double come = step_on("cuda", cards[c], "sp-mz", 'S', 4, memory);
        const double one_by_one = step_on("cuda", cards[c], "sp-mz", 'S', 1, memory);
        assert_true(stay < come && come < one_by_one);
    }
}

/* ---- the far end of a large card ------------------------------------------------------------- */

/* Two cards; `memory` of each is used, 0: all 80 GB. */
struct cards {
    struct mz *mz;
    struct backend *backend[2];
    struct device *device[2];
    struct faces *faces;
};

/* The last two zones are on the first card; they and their neighbours are claimed. LU has zones as
 * small as the others' here. */
static void open_cards(struct cards *c, const struct mz_ops *ops, size_t memory)
{
    static const struct mz_mesh mesh = {'E', {128 * 24, 128 * 24, 52}, {128, 128}};
    struct mz *mz;
    size_t bytes = 0;
    assert_int_equal(mz_open_mesh(ops, mz_class_find(ops->name, 'E', 0), &mesh, &mz), EK_OK);
    int *rank_of = calloc((size_t)mz->nzones, sizeof *rank_of);
    int *home = calloc((size_t)mz->nzones, sizeof *home);
    for (int zone = 0; zone < mz->nzones - 2; zone++)
        rank_of[zone] = 1;
    for (int zone = mz->nzones - 2; zone < mz->nzones; home[zone++] = 1)
        for (int side = 0; side < MZ_SIDES; side++)
            rank_of[mz->zone[zone].neighbour[side]] = 0;
    assert_int_equal(mz_claim(mz, rank_of, 0), EK_OK);
    assert_int_equal(faces_open(mz, NULL, 3, &c->faces), EK_OK);
    for (int i = 0; i < 2; i++) {
        c->backend[i] = open_device("cuda", i);
        if (memory)
            c->backend[i]->info.memory = memory;
        assert_int_equal(device_open(mz, c->backend[i], &c->device[i]), EK_OK);
        c->faces->memory[1 + i].device = c->device[i];
    }
    for (int zone = mz->nzones - 2; zone < mz->nzones; zone++)
        assert_int_equal(device_carry(c->device[0], NULL, zone, &bytes), EK_OK);
    assert_int_equal(faces_plan(c->faces, home), EK_OK);
    c->mz = mz;
    free(rank_of);
    free(home);
}

static void close_cards(struct cards *c)
{
    faces_close(c->faces);
    for (int i = 0; i < 2; i++) {
        device_close(c->device[i]);
        backend_close(c->backend[i]);
    }
    mz_close(c->mz);
}

static void exchange(struct cards *c)
{
    size_t bytes = 0;
    assert_int_equal(device_send_faces(c->device[0], c->faces, 1, &bytes), EK_OK);
    faces_gather(c->faces, 1, &bytes);
    assert_int_equal(device_receive_faces(c->device[0], c->faces, 1, &bytes), EK_OK);
    const struct faces_memory *p = &c->faces->memory[1];
    for (size_t i = 0; i < p->to[1]; i++) /* fresh memory is NaN: it had been packed */
        assert_false(isnan(p->out_buffer[i]));
}

/* Brings a zone home: at once, or by way of the second card. */
static void bring(struct cards *c, int zone, bool around)
{
    size_t bytes = 0;
    struct device *from = c->device[around];
    if (around)
        assert_int_equal(device_carry(from, c->device[0], zone, &bytes), EK_OK);
    assert_int_equal(device_carry(NULL, from, zone, &bytes), EK_OK);
}

static void same_part(struct mz_part a, struct mz_part b)
{
    assert_int_equal(a.doubles, b.doubles);
    if (a.doubles)
        assert_memory_equal(a.host, b.host, a.doubles * sizeof *a.host);
}

/* Behind 2^31 doubles, zones step and exchange faces as at the beginning. They leave the large card
 * while it has not begun the last exchange; the small one has ended it. */
static void zones_lie_anywhere_on_a_card_of_80_GB(void **state)
{
    setenv("FAKEGPU_PRICE", "h100", 1);
    for (int i = 0; mz_at(i); i++) {
        struct mz_ops ops = *mz_at(i);
        struct cards card[2];
        ops.zones[0] = ops.zones[1] = 0;
        for (int small = 0; small < 2; small++) {
            struct cards *c = &card[small];
            double seconds[2] = {0};
            open_cards(c, &ops, small ? 1 << 30 : 0);
            exchange(c);
            assert_int_equal(device_step(c->device[0], c->mz->nzones - 2, c->mz->nzones, seconds),
                             EK_OK);
            exchange(c);
            if (small)
                assert_int_equal(backend_wait(c->backend[0], BACKEND_COMPUTE), EK_OK);
        }
        for (int zone = card[0].mz->nzones - 2; zone < card[0].mz->nzones; zone++) {
            struct mz_part part[2][MZ_PARTS];
            for (int small = 0; small < 2; small++) {
                bring(&card[small], zone, !small);
                mz_parts(card[small].mz, zone, part[small]);
            }
            same_part(part[0][MZ_U], part[1][MZ_U]);
            same_part(part[0][MZ_CARRIED], part[1][MZ_CARRIED]);
            assert_false(isnan(part[0][MZ_U].host[card[0].mz->zone[zone].volume / 2]));
        }
        close_cards(&card[0]);
        close_cards(&card[1]);
    }
}

static int fake_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_that_come_again_cost_less),
        cmocka_unit_test(a_graph_serves_its_own_batch_alone),
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
