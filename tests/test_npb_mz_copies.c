/* tests/test_npb_mz_copies.c – copies of zones in memory: a new launch finds the last state in
 * which all zones were copied, whatever was being written or is damaged. The test owns the
 * memory. */
#include "npb_mz.h"
#include "cu/rank/survive.h"
#include "npb_mz/copies.h"
#include "src/random.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int memory = -1; /* a file without a name */
static size_t size;

enum ek_status survive_take(size_t bytes, uint64_t **out)
{
    size = bytes;
    if (memory < 0)
        memory = memfd_create("copies", 0);
    assert_int_equal(ftruncate(memory, (off_t)bytes), 0);
    *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    assert_ptr_not_equal(*out, MAP_FAILED);
    return EK_OK;
}

void survive_leave(bool over)
{
}

static void fill(struct mz *mz, double x)
{
    for (long i = 0; i < MZ_VARS * mz->points; i++)
        mz->u[i] = x + (double)i;
    for (long i = 0; i < mz->size_carried; i++)
        mz->carried[i] = -x - (double)i;
}

static void copy_all(struct copies *c, const struct mz *mz, int step)
{
    for (int zone = 0; zone < mz->nzones; zone++)
        copies_zone(c, zone, step);
}

static void keep(struct copies *c, struct mz *mz, int step)
{
    fill(mz, step);
    copy_all(c, mz, step);
    copies_commit(c, step);
}

/* Opens the copies as a launch does: it must find `step`, and every number of the state, padding
 * included, must be that of fill(step). */
static struct copies *found(struct mz *mz, int step)
{
    struct copies *c;
    assert_int_equal(copies_open(mz, NULL, &c), EK_OK);
    assert_int_equal(copies_find(c), step);
    fill(mz, -1);
    if (step)
        assert_int_equal(copies_load(c, mz, step), EK_OK);
    for (long i = 0; step && i < MZ_VARS * mz->points; i++)
        assert_true(mz->u[i] == step + (double)i);
    for (long i = 0; step && i < mz->size_carried; i++)
        assert_true(mz->carried[i] == -step - (double)i);
    return c;
}

static void flip(size_t byte)
{
    char x;
    assert_int_equal(pread(memory, &x, 1, (off_t)byte), 1);
    x ^= 1;
    assert_int_equal(pwrite(memory, &x, 1, (off_t)byte), 1);
}

/* Whatever a launch was writing when it died, the next one finds the last complete state. */
static void torn(const char *solver)
{
    struct rig r = open_rig(solver, 'S', 1);
    uint64_t seed = 7;
    struct copies *c = found(r.mz, 0);
    copies_zone(c, 0, 10);
    copies_close(c);
    c = found(r.mz, 0); /* a single zone is no state */
    keep(c, r.mz, 10);
    copies_close(c);
    c = found(r.mz, 10);
    for (int step = 20; step <= 60; step += 10) {
        keep(c, r.mz, step);
        fill(r.mz, step + 10); /* some zones of the next step are copied, but not the last */
        for (int zone = (int)random_below(&seed, (uint64_t)r.mz->nzones); zone-- > 0;)
            copies_zone(c, zone, step + 10);
        copies_close(c);
        c = found(r.mz, step);
    }
    copies_close(c);
    close_rig(r);
    close(memory);
    memory = -1;
}

static void test_torn(void **state)
{
    torn("bt-mz");
    torn("lu-mz"); /* LU's zones carry additional state */
}

/* A bit flipped anywhere in the newer state: the older one is found. */
static void test_damaged(void **state)
{
    struct rig r = open_rig("lu-mz", 'S', 1);
    uint64_t seed = 19;
    for (int i = 0; i < 40; i++) {
        struct copies *c = found(r.mz, 0);
        keep(c, r.mz, 3);
        keep(c, r.mz, 6);
        copies_close(c);
        struct copies *again = found(r.mz, 6);
        copies_close(again);
        const size_t zone = (size - 4096) / 2 / (size_t)r.mz->nzones; /* step 6 lies first */
        const size_t data = sizeof(double) * (MZ_VARS * (size_t)r.mz->zone[0].volume +
                                              mz_carried(r.mz->ops, &r.mz->zone[0]));
        const size_t byte = i % 4 ? 64 + random_below(&seed, data) : random_below(&seed, 24);
        flip(4096 + random_below(&seed, (uint64_t)r.mz->nzones) * zone + byte);
        copies_close(found(r.mz, 3));
        close(memory);
        memory = -1;
    }
    close_rig(r);
}

/* A copy in the place of another zone is not valid, even of the same size and step. */
static void test_displaced(void **state)
{
    struct rig r = open_rig("sp-mz", 'S', 1);
    struct copies *c = found(r.mz, 0);
    keep(c, r.mz, 4);
    copies_close(c);
    const size_t zone = (size - 4096) / 2 / (size_t)r.mz->nzones;
    char *bytes = malloc(zone);
    assert_int_equal(pread(memory, bytes, zone, (off_t)(size - zone)), (ssize_t)zone);
    assert_int_equal(pwrite(memory, bytes, zone, (off_t)(size - 2 * zone)), (ssize_t)zone);
    free(bytes);
    copies_close(found(r.mz, 0));
    close_rig(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torn),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_displaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
