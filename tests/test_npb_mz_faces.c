/* tests/test_npb_mz_faces.c – the exchange across memory nodes equals the exchange on one host for
 * any mapping of zones to the host and devices; zones that move keep their bits. The devices are
 * the host compiler's (back end "host"), so that this runs everywhere. */
#include "npb_mz/device.h"
#include "tests/mz_alone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MEMORIES = 3, MAPPINGS = 12 };

struct rig {
    struct mz *mz;
    struct faces *faces;
    struct backend *backend[MEMORIES];
    struct device *device[MEMORIES];
};

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

/* apart: the devices cannot reach one another directly, as with two vendors. */
static void open_rig(struct rig *r, char letter, bool apart)
{
    static struct backend_ops lone;
    const struct mz_ops *ops = mz_find("bt-mz");
    assert_int_equal(mz_open(ops, mz_class_find("bt-mz", letter, 0), &r->mz), EK_OK);
    assert_int_equal(faces_open(r->mz, NULL, MEMORIES, &r->faces), EK_OK);
    for (int s = 1; s < MEMORIES; s++) {
        struct backend_device which = {backend_find("host"), s - 1};
        assert_int_equal(backend_open(which, &r->backend[s]), EK_OK);
        lone = *r->backend[s]->ops;
        lone.peer = NULL;
        r->backend[s]->ops = apart ? &lone : r->backend[s]->ops;
        assert_int_equal(device_open(r->mz, r->backend[s], &r->device[s]), EK_OK);
        r->faces->memory[s].device = r->device[s];
    }
}

static void close_rig(struct rig *r)
{
    for (int s = 1; s < MEMORIES; s++) {
        device_close(r->device[s]);
        backend_close(r->backend[s]);
    }
    faces_close(r->faces);
    mz_close(r->mz);
}

/* Gives every number its own value, so that a wrong face cannot look right. */
static void number_points(struct mz *mz)
{
    for (long i = 0; i < MZ_VARS * mz->points; i++)
        mz->u[i] = (double)i + 0.5;
}

static double *copy_of(const struct mz *mz)
{
    const size_t bytes = MZ_VARS * (size_t)mz->points * sizeof(double);
    double *copy = malloc(bytes);
    assert_non_null(copy);
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_settle(mz, zone);
    memcpy(copy, mz->u, bytes);
    return copy;
}

static void exchange(struct rig *r, const int *home, size_t *bytes)
{
    assert_int_equal(faces_plan(r->faces, home), EK_OK);
    for (int s = 1; s < MEMORIES; s++)
        assert_int_equal(device_send_faces(r->device[s], r->faces, s, bytes), EK_OK);
    for (int part = 0; part < 3; part++)
        faces_copy_host(r->faces, part, 3);
    for (int s = 1; s < MEMORIES; s++) {
        faces_gather(r->faces, s, bytes);
        assert_int_equal(device_receive_faces(r->device[s], r->faces, s, bytes), EK_OK);
    }
    for (int part = 0; part < 2; part++)
        faces_unpack_host(r->faces, part, 2, bytes);
}

static void try_mappings(bool apart)
{
    struct rig r = {0};
    open_rig(&r, 'W', apart);
    struct mz *mz = r.mz;
    number_points(mz);
    double *start = copy_of(mz);
    for (int i = 0; i < mz->nzones; i++)
        mz_exchange(mz, i);
    double *wanted = copy_of(mz);
    int home[256];
    for (int mapping = 0; mapping < MAPPINGS; mapping++) {
        memcpy(mz->u, start, MZ_VARS * (size_t)mz->points * sizeof(double));
        size_t moved = 0, crossed = 0;
        for (int i = 0; i < mz->nzones; i++) {
            home[i] = mapping < MEMORIES ? mapping : (int)random_below(MEMORIES);
            if (home[i])
                assert_int_equal(device_carry(r.device[home[i]], NULL, i, &moved), EK_OK);
        }
        exchange(&r, home, &crossed);
        assert_true(mapping >= MEMORIES || crossed == 0); /* a single memory node */
        for (int i = 0; i < mz->nzones; i++) {
            const size_t size = MZ_VARS * (size_t)mz->zone[i].volume * sizeof(double);
            if (home[i]) {
                memset(mz_zone_u(mz, i), 0, size);
                assert_int_equal(device_carry(NULL, r.device[home[i]], i, &moved), EK_OK);
            }
            mz_settle(mz, i);
            assert_memory_equal(mz_zone_u(mz, i), wanted + MZ_VARS * mz->zone[i].first, size);
        }
    }
    free(start);
    free(wanted);
    close_rig(&r);
}

static void any_mapping_gives_the_same(void **state)
{
    try_mappings(false);
    try_mappings(true);
}

/* Between two devices a face is transferred once, or twice through the host. */
static void faces_between_devices_go_directly(void **state)
{
    static const int home[4] = {1, 2, 2, 1};
    for (int apart = 0; apart < 2; apart++) {
        struct rig r = {0};
        size_t expected = 0, crossed = 0, moved = 0;
        open_rig(&r, 'S', apart);
        for (int zone = 0; zone < 4; zone++) {
            assert_int_equal(device_carry(r.device[home[zone]], NULL, zone, &moved), EK_OK);
            for (int side = 0; side < MZ_SIDES; side++)
                if (home[r.mz->zone[zone].neighbour[side]] != home[zone])
                    expected += 8 * mz_face_size(r.mz, zone, (enum mz_side)side);
        }
        exchange(&r, home, &crossed);
        assert_true(expected > 0);
        assert_int_equal(crossed, apart ? 2 * expected : expected);
        assert_true(apart || !r.faces->memory[1].to[1]); /* nothing through the host */
        close_rig(&r);
    }
}

static void crossing_bytes_are_the_faces(void **state)
{
    struct rig r = {0};
    open_rig(&r, 'S', false);
    const int home[4] = {0, 0, 0, 1};
    size_t expected = 0, crossed = 0, moved = 0;
    assert_int_equal(device_carry(r.device[1], NULL, 3, &moved), EK_OK);
    for (int side = 0; side < MZ_SIDES; side++) { /* one face in, one out */
        const int behind = r.mz->zone[3].neighbour[side];
        expected += 8 * mz_face_size(r.mz, 3, (enum mz_side)side);
        expected += 8 * mz_face_size(r.mz, behind, (enum mz_side)(side ^ 1));
    }
    exchange(&r, home, &crossed);
    assert_int_equal(crossed, expected);
    exchange(&r, home, &crossed);
    assert_int_equal(crossed, 2 * expected);
    assert_int_equal(r.faces->generation, 1); /* the same mapping is not planned again */
    close_rig(&r);
}

static void device_step_agrees_with_host(void **state)
{
    struct rig r = {0};
    open_rig(&r, 'S', false);
    struct mz *mz = r.mz;
    struct mz_work *work;
    size_t bytes = 0;
    double seconds[4] = {0};
    assert_int_equal(mz_work_open(mz, 1, &work), EK_OK);
    mz_reset(mz);
    for (int i = 0; i < mz->nzones; i++)
        mz_exchange(mz, i);
    for (int i = 0; i < mz->nzones; i++)
        assert_int_equal(device_carry(r.device[1], NULL, i, &bytes), EK_OK);
    assert_int_equal(device_step(r.device[1], 0, mz->nzones, seconds), EK_OK);
    for (int i = 0; i < mz->nzones; i++) {
        assert_true(seconds[i] > 0);
        mz->ops->step(mz, work, i);
    }
    double *host = copy_of(mz);
    for (int i = 0; i < mz->nzones; i++)
        assert_int_equal(device_carry(NULL, r.device[1], i, &bytes), EK_OK);
    for (int z = 0; z < mz->nzones; z++)
        for (int m = 0; m < MZ_VARS; m++)
            for (int k = 0; k < mz->zone[z].nz; k++)
                for (int j = 0; j < mz->zone[z].ny; j++)
                    for (int i = 0; i < mz->zone[z].nx; i++) {
                        const struct mz_zone *zone = &mz->zone[z];
                        const long at = MZ_VARS * zone->first + m * zone->volume + k * zone->plane +
                                        (long)j * zone->pitch + i;
                        const double off = mz->u[at] - host[at], scale = 1e-12 * (1 + host[at]);
                        assert_true(off <= scale && -off <= scale);
                    }
    free(host);
    mz_work_close(work);
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_mapping_gives_the_same),
        cmocka_unit_test(crossing_bytes_are_the_faces),
        cmocka_unit_test(faces_between_devices_go_directly),
        cmocka_unit_test(device_step_agrees_with_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
