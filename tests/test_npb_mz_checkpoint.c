/* tests/test_npb_mz_checkpoint.c – a checkpoint is loaded only if it is whole and unchanged: any
 * flipped bit, another run and any zone of another step or position are noticed; one run at a time
 * owns the file. */
#include "npb_mz.h"
#include "npb_mz/checkpoint.h"
#include "tests/mz_alone.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/test_checkpoint.XXXXXX";
static char at[64], other[64], link_at[64];

enum { HEADER = 88 }; /* bytes before the first zone */

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(at, sizeof at, "%s/state", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(link_at, sizeof link_at, "%s/link", folder);
    return symlink("state", link_at);
}

static int remove_folder(void **state)
{
    unlink(at);
    unlink(other);
    unlink(link_at);
    return rmdir(folder);
}

static struct checkpoint *opened(const char *path)
{
    struct checkpoint *c;
    assert_int_equal(mz_checkpoint_open(path, &c), EK_OK);
    return c;
}

static void save(const char *path, const struct mz *mz, int step)
{
    struct checkpoint *c = opened(path);
    assert_int_equal(mz_checkpoint_save(c, mz, mz->class->steps, step), EK_OK);
    mz_checkpoint_close(c);
}

static enum ek_status load(const char *path, struct mz *mz, int *step)
{
    struct checkpoint *c = opened(path);
    status_mute(+1);
    const enum ek_status st = mz_checkpoint_load(c, mz, mz->class->steps, step);
    status_mute(-1);
    mz_checkpoint_close(c);
    return st;
}

static void flip(const char *path, long byte, int bits)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, byte, SEEK_SET);
    const int old = getc(f);
    fseek(f, byte, SEEK_SET);
    putc(old ^ bits, f);
    fclose(f);
}

static void copy_bytes(const char *to, long to_byte, const char *from, long byte, long n)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "r+b");
    char *buffer = malloc((size_t)n);
    fseek(in, byte, SEEK_SET);
    fseek(out, to_byte, SEEK_SET);
    assert_int_equal(fread(buffer, 1, (size_t)n, in), n);
    assert_int_equal(fwrite(buffer, 1, (size_t)n, out), n);
    free(buffer);
    fclose(in);
    fclose(out);
}

static long zone_bytes(const struct mz *mz, int zone)
{
    const struct mz_zone *z = &mz->zone[zone];
    return 8 * (1 + MZ_VARS * z->volume + (mz->ops->carried ? (long)mz->ops->carried(z) : 0));
}

static void test_a_state_comes_back_bit_for_bit(void **state)
{
    for (int i = 0; mz_at(i); i++) {
        struct rig a = open_rig(mz_at(i)->name, 'S', 1), b = open_rig(mz_at(i)->name, 'S', 1);
        int step = -1;
        mz_step(a.mz, a.work);
        save(at, a.mz, 1);
        assert_int_equal(load(at, b.mz, &step), EK_OK);
        assert_int_equal(step, 1);
        mz_step(a.mz, a.work);
        mz_step(b.mz, b.work);
        assert_memory_equal(a.mz->u, b.mz->u, sizeof(double) * MZ_VARS * (size_t)a.mz->points);
        close_rig(a);
        close_rig(b);
    }
}

/* Flips the sign bits of two numbers of a zone, which would cancel in a plain sum of words. */
static void test_pairs_of_flipped_bits_are_noticed(void **state)
{
    struct rig r = open_rig("bt-mz", 'S', 1);
    int step = -1;
    save(at, r.mz, 1);
    for (int distance = 1; distance < 200; distance = 2 * distance + 1) {
        const long first = HEADER + 8 + 7, second = first + 8 * distance;
        flip(at, first, 0x80);
        flip(at, second, 0x80);
        assert_int_equal(load(at, r.mz, &step), EK_USAGE);
        flip(at, first, 0x80);
        flip(at, second, 0x80);
    }
    assert_int_equal(load(at, r.mz, &step), EK_OK);
    close_rig(r);
}

static void test_a_zone_of_another_step_or_place_is_noticed(void **state)
{
    struct rig r = open_rig("sp-mz", 'S', 1);
    const long bytes = zone_bytes(r.mz, 0); /* in SP all zones have the same size */
    int step = -1;
    mz_step(r.mz, r.work);
    save(at, r.mz, 1);
    mz_step(r.mz, r.work);
    save(other, r.mz, 2);
    copy_bytes(at, HEADER + bytes, other, HEADER + bytes, bytes);
    assert_int_equal(load(at, r.mz, &step), EK_USAGE);
    assert_non_null(strstr(status_message(), "zone 1 is damaged"));
    save(at, r.mz, 2);
    assert_int_equal(load(at, r.mz, &step), EK_OK);
    copy_bytes(at, 0, other, 0, HEADER); /* the same run and step: an identical header */
    assert_int_equal(load(at, r.mz, &step), EK_OK);
    copy_bytes(at, HEADER + bytes, other, HEADER, bytes); /* intact, but for another zone */
    assert_int_equal(load(at, r.mz, &step), EK_USAGE);
    assert_non_null(strstr(status_message(), "zone 1 is damaged"));
    close_rig(r);
}

static void refuses(struct mz *mz, const char *why)
{
    int step = -1;
    assert_int_equal(load(at, mz, &step), EK_USAGE);
    assert_non_null(strstr(status_message(), why));
    assert_int_equal(step, -1);
}

static void test_files_of_other_runs_are_refused(void **state)
{
    for (int i = 0; mz_at(i); i++) {
        struct rig r = open_rig(mz_at(i)->name, 'S', 1);
        const struct mz_class *own = r.mz->class;
        const int steps[] = {-1, own->steps + 1};
        for (int k = 0; k < 2; k++) {
            struct mz_class changed = *own;
            save(at, r.mz, steps[k]);
            refuses(r.mz, "claims to be at step");
            changed.steps += k;
            changed.dt *= 2 - k;
            r.mz->class = &changed;
            save(at, r.mz, 1);
            r.mz->class = own;
            refuses(r.mz, "but this run is");
        }
        struct rig foreign = open_rig(mz_at(i ? 0 : 1)->name, 'S', 1);
        save(at, foreign.mz, 1);
        refuses(r.mz, "but this run is");
        close_rig(foreign);
        save(at, r.mz, 1);
        flip(at, 40, 1); /* in the step */
        refuses(r.mz, "header is damaged");
        flip(at, 40, 1);
        flip(at, HEADER + (long)(zone_bytes(r.mz, 0) - 1), 1); /* the last number of a zone */
        refuses(r.mz, "zone 0 is damaged");
        assert_int_equal(truncate(at, HEADER + 1), 0);
        refuses(r.mz, "cut short");
        save(at, r.mz, 1);
        FILE *f = fopen(at, "ab");
        assert_true(f && putc(0, f) == 0 && !fclose(f));
        refuses(r.mz, "too long");
        close_rig(r);
    }
}

static void test_one_run_at_a_time(void **state)
{
    struct rig r = open_rig("bt-mz", 'S', 1);
    struct checkpoint *c = opened(at), *second;
    status_mute(+1);
    assert_int_equal(mz_checkpoint_open(at, &second), EK_USAGE);
    assert_non_null(strstr(status_message(), "works on it"));
    save(other, r.mz, 3); /* another file is not locked */
    assert_int_equal(mz_checkpoint_save(c, r.mz, 60, 3), EK_OK);
    assert_int_equal(mz_checkpoint_open(link_at, &second), EK_USAGE); /* another name for it */
    status_mute(-1);
    mz_checkpoint_close(c);
    c = opened(link_at);
    assert_true(mz_checkpoint_exists(c));
    mz_checkpoint_forget(c);
    assert_false(mz_checkpoint_exists(c));
    mz_checkpoint_close(c);
    close_rig(r);
}

static int fsync_fails; /* with this errno */

int fsync(int fd)
{
    (void)fd;
    errno = fsync_fails;
    return fsync_fails ? -1 : 0;
}

/* Some file systems do not support fsync(); others say by it that the disk is full. */
static void test_a_state_is_synced_where_that_can_be(void **state)
{
    struct rig r = open_rig("bt-mz", 'S', 1);
    struct checkpoint *c = opened(at);
    int step = -1;
    save(other, r.mz, 2);
    fsync_fails = EINVAL;
    assert_int_equal(mz_checkpoint_save(c, r.mz, r.mz->class->steps, 1), EK_OK);
    fsync_fails = EDQUOT;
    assert_int_equal(EK_MUTED(mz_checkpoint_save(c, r.mz, r.mz->class->steps, 2)), EK_UNAVAILABLE);
    fsync_fails = 0;
    mz_checkpoint_close(c);
    assert_int_equal(load(at, r.mz, &step), EK_OK);
    assert_int_equal(step, 1);
    close_rig(r);
}

static void test_what_a_killed_run_left_is_removed(void **state)
{
    char part[80];
    snprintf(part, sizeof part, "%s.part-1", at);
    fclose(fopen(part, "w"));
    mz_checkpoint_close(opened(at));
    assert_int_equal(access(part, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_state_comes_back_bit_for_bit),
        cmocka_unit_test(test_pairs_of_flipped_bits_are_noticed),
        cmocka_unit_test(test_a_zone_of_another_step_or_place_is_noticed),
        cmocka_unit_test(test_files_of_other_runs_are_refused),
        cmocka_unit_test(test_one_run_at_a_time),
        cmocka_unit_test(test_a_state_is_synced_where_that_can_be),
        cmocka_unit_test(test_what_a_killed_run_left_is_removed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
