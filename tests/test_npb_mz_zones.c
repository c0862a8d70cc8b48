/* tests/test_npb_mz_zones.c – zones: sizes against the reference's, neighbours, memory layout. */
#include "tests/npb_mz.h"
#include "src/random.h"

#include <stdio.h>

static const char letters[] = "SWABCDEF";

/* Compares one axis of a class with the rows of the golden file; returns the number of rows. */
static int compare_axis(char letter, char axis, const int *size)
{
    FILE *f = fopen("tests/data/npb_mz/bt_zones.csv", "r");
    char line[80], c, a;
    int index, want, rows = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%c,%c,%d,%d", &c, &a, &index, &want) == 4 && c == letter && a == axis) {
            assert_int_equal(size[index - 1], want);
            rows++;
        }
    fclose(f);
    return rows;
}

static void sizes_are_the_reference_s(void **state)
{
    for (const char *l = letters; *l; l++)
        for (int d = 0; d < 2; d++) {
            const struct mz_mesh *mesh = mz_mesh_find(*l);
            const struct mz_ops *ops = mz_find("bt-mz");
            int size[128];
            mz_zone_sizes(mesh->points[d], mesh->zones[d], *l == 'S' ? ops->ratio_s : ops->ratio,
                          size);
            assert_int_equal(compare_axis(*l, "xy"[d], size), mesh->zones[d]);
        }
}

static void equal_zones_share_the_mesh(void **state)
{
    int size[7], sum = 0;
    mz_zone_sizes(100, 7, 1.0, size);
    for (int i = 0; i < 7; i++) {
        assert_in_range(size[i], 100 / 7, 100 / 7 + 1);
        sum += size[i];
    }
    assert_int_equal(sum, 100);
}

static void one_zone_has_all_points(void **state)
{
    for (int points = 6; points < 200; points++)
        for (double ratio = 1; ratio < 5; ratio += 0.5) {
            int size = 0;
            mz_zone_sizes(points, 1, ratio, &size);
            assert_int_equal(size, points);
        }
}

static void zones_have_six_points_or_are_refused(void **state)
{
    for (int i = 0; mz_at(i); i++)
        for (int d = 0; d < 3; d++) {
            struct mz_mesh mesh = {'S', {48, 48, 12}, {2, 2}};
            struct mz *mz = NULL;
            mesh.points[d] = d < 2 ? 5 * mz_zones_along(mz_at(i), &mesh, d) : 5;
            status_mute(+1);
            assert_int_equal(
                mz_open_mesh(mz_at(i), mz_class_find(mz_at(i)->name, 'S', 0), &mesh, &mz),
                EK_USAGE);
            status_mute(-1);
            assert_null(mz);
        }
}

/* The zones of LU class F have more numbers than an int can index, whatever the memory. */
static void zones_that_kernels_cannot_address_are_refused(void **state)
{
    const size_t memory = (size_t)1 << 50;
    for (int i = 0; mz_at(i); i++)
        for (const char *l = "SCEF"; *l; l++) {
            const struct mz_class *class = mz_class_find(mz_at(i)->name, *l, 0);
            struct mz *mz;
            struct places p;
            assert_int_equal(mz_open_mesh(mz_at(i), class, mz_mesh_find(*l), &mz), EK_OK);
            const bool fits = *l != 'F' || mz_at(i)->zones[0] == 0;
            status_mute(+1);
            assert_int_equal(places_open(mz, "host:0", memory, memory, false, &p),
                             fits ? EK_OK : EK_UNAVAILABLE);
            status_mute(-1);
            if (fits)
                places_close(&p);
            mz_close(mz);
        }
}

/* Bytes of a device's buffers, with the faces of its zones if all neighbours are elsewhere; *most:
 * of the largest but for those. */
static size_t bytes_of(const struct places *p, size_t *most)
{
    const struct places_size s = places_size(p);
    const size_t each[] = {s.u, s.forcing, s.carried, s.w, s.prim, s.scratch, s.rows};
    size_t sum = 0;
    for (size_t i = *most = 0; i < sizeof each / sizeof *each; sum += each[i++])
        *most = each[i] > *most ? each[i] : *most;
    for (int i = 0; i < p->n; i++)
        for (int side = 0; side < MZ_SIDES; side++)
            sum += 2 * sizeof(double) * mz_face_size(p->mz, p->order[i], (enum mz_side)side);
    return sum;
}

/* Zones that such a device takes, from `zone` on; -1: none of any size. */
static int zones_held(const struct mz *mz, size_t memory, size_t single, int zone)
{
    struct places p;
    size_t most;
    const int first = zone;
    status_mute(+1);
    const enum ek_status st = places_open(mz, "", memory, single, false, &p);
    status_mute(-1);
    if (st)
        return -1;
    while (zone < mz->nzones && places_take(&p, zone)) {
        const size_t end = (size_t)(p.row[zone].place + mz->zone[zone].volume);
        assert_in_range(end, 1, places_size(&p).u / sizeof(double) / MZ_VARS);
        zone++;
    }
    assert_true(bytes_of(&p, &most) <= memory && most <= single);
    places_close(&p);
    return zone - first;
}

/* Classes D and E at their true sizes; no memory is touched. */
static void eight_cards_hold_class_e(void **state)
{
    for (int i = 0; mz_at(i); i++)
        for (const char *l = "DE"; *l; l++) {
            const struct mz_class *class = mz_class_find(mz_at(i)->name, *l, 0);
            struct mz *mz;
            int held = 0;
            assert_int_equal(mz_open_mesh(mz_at(i), class, mz_mesh_find(*l), &mz), EK_OK);
            for (int card = 0; card < 8; card++)
                held += zones_held(mz, 80000000000, 80000000000, held);
            assert_int_equal(held, mz->nzones);
            if (*l == 'D')
                assert_true(zones_held(mz, 6000000000, 6000000000, 0) >= mz->nzones / 2);
            for (size_t memory = 1000000000; memory < 100000000000; memory *= 5)
                zones_held(mz, memory, memory / 4, 0);
            mz_close(mz);
        }
}

static void what_is_no_class_is_not_found(void **state)
{
    assert_null(mz_class_find("bt-mz", 'G', 0));
    assert_null(mz_class_find("bt-mz", 'S', 61));
    assert_null(mz_find("ft"));
}

static void neighbours_are_mutual_and_faces_match(void **state)
{
    struct mz *mz = NULL;
    const struct mz_ops *ops = mz_find("bt-mz");
    assert_int_equal(mz_open(ops, mz_class_find("bt-mz", 'W', 0), &mz), EK_OK);
    long points = 0, walls = 0;
    for (int i = 0; i < mz->nzones; i++) {
        const struct mz_zone *z = &mz->zone[i];
        assert_int_equal(z->walls, walls);
        walls += mz_walls_size(z);
        assert_int_equal(z->first, points);
        points += z->volume;
        assert_true(z->pitch >= z->nx && z->plane >= (long)z->pitch * z->ny);
        for (int side = 0; side < MZ_SIDES; side++) {
            const struct mz_zone *n = &mz->zone[z->neighbour[side]];
            assert_int_equal(n->neighbour[side ^ 1], i);
            assert_int_equal(side < MZ_SOUTH ? n->ny : n->nx, side < MZ_SOUTH ? z->ny : z->nx);
        }
    }
    assert_int_equal(points, mz->points);
    assert_int_equal(mz_bytes(ops, mz->mesh),
                     (size_t)(points * 2 * MZ_VARS + walls) * sizeof(double));
    mz_close(mz);
}

/* Lines 4 KiB apart share a set of the first-level cache; a point's components must not. */
static void components_lie_in_different_sets(void **state)
{
    static const char *const solvers[] = {"sp-mz", "lu-mz"};
    static struct mz_zone zone[ZONES_MAX * ZONES_MAX];
    for (size_t s = 0; s < 2; s++)
        for (const char *l = letters; *l; l++) {
            zones_layout(mz_find(solvers[s]), mz_mesh_find(*l), zone);
            assert_true(zone->volume >= zone->plane * zone->nz);
            assert_int_not_equal(zone->volume % 512, 0);
            assert_int_not_equal(2 * zone->volume % 512, 0);
        }
}

/* Zones of the same size share one forcing, which is right for each of them. */
static void equal_zones_share_a_forcing(void **state)
{
    static const char *const solvers[] = {"sp-mz", "lu-mz"};
    for (size_t s = 0; s < 2; s++) {
        struct rig r = open_rig(solvers[s], 'S', 1);
        const struct mz_zone *z = &r.mz->zone[0];
        assert_true(mz_shares_forcing(r.mz));
        assert_int_equal(mz_bytes(r.mz->ops, r.mz->mesh),
                         (size_t)(MZ_VARS * (r.mz->points + z->volume) + r.mz->size_carried +
                                  r.mz->nzones * mz_walls_size(z)) *
                             sizeof(double));
        for (int zone = 0; zone < r.mz->nzones; zone++, z++) {
            exact_fill(r.mz, z, mz_zone_u(r.mz, zone));
            rhs_zone_all(r.mz, r.work, zone, mz_zone_u(r.mz, zone), mz_zone_forcing(r.mz, zone));
            for (int m = 0; m < MZ_VARS; m++)
                assert_true(fabs(r.work->w[m * z->volume + index_of(z, 2, 3, 2)]) <
                            1e-12); /* terms of up to 100 */
        }
        close_rig(r);
    }
    struct rig r = open_rig("bt-mz", 'S', 1);
    assert_false(mz_shares_forcing(r.mz));
    close_rig(r);
}

/* Fields that no address space holds are refused with the size of this mesh, not of its class. */
static void fields_too_large_are_named(void **state)
{
    const struct mz_ops *ops = mz_find("sp-mz");
    const struct mz_mesh mesh = {'S', {89600, 89600, 700}, {128, 128}};
    char megabytes[32];
    struct mz *mz;
    status_mute(1);
    assert_int_equal(mz_open_mesh(ops, mz_class_find("sp-mz", 'S', 0), &mesh, &mz), EK_UNAVAILABLE);
    status_mute(-1);
    snprintf(megabytes, sizeof megabytes, " %.1f MB", 1e-6 * (double)mz_bytes(ops, &mesh));
    assert_true(mz_bytes(ops, &mesh) > (size_t)200 << 40);
    assert_non_null(strstr(status_message(), megabytes));
}

/* Settling zones (as moving, saving or reading does) at any moment, before or after their faces
 * arrive. */
static void settling_a_zone_changes_no_bit(void **state)
{
    uint64_t chance = 20260107;
    for (int s = 0; mz_at(s); s++) {
        struct rig a = open_rig(mz_at(s)->name, 'S', 1), b = open_rig(mz_at(s)->name, 'S', 2);
        for (int step = 0; step < 5; step++) {
            mz_step(a.mz, a.work);
            for (int zone = 0; zone < b.mz->nzones; zone++)
                if (random_below(&chance, 2))
                    mz_settle(b.mz, zone);
            for (int zone = 0; zone < b.mz->nzones; zone++)
                mz_exchange(b.mz, zone);
            for (int zone = 0; zone < b.mz->nzones; zone++)
                if (random_below(&chance, 2))
                    mz_exchange(b.mz, zone); /* again, after walls were swapped */
            for (int zone = 0; zone < b.mz->nzones; zone++) {
                if (random_below(&chance, 2))
                    mz_settle(b.mz, zone);
                b.mz->ops->step(b.mz, b.work, zone);
            }
        }
        settle_all(a.mz);
        settle_all(b.mz);
        assert_true(distance(a.mz, a.mz->u, b.mz->u) == 0.0);
        close_rig(a);
        close_rig(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_the_reference_s),
        cmocka_unit_test(one_zone_has_all_points),
        cmocka_unit_test(zones_that_kernels_cannot_address_are_refused),
        cmocka_unit_test(eight_cards_hold_class_e),
        cmocka_unit_test(zones_have_six_points_or_are_refused),
        cmocka_unit_test(equal_zones_share_the_mesh),
        cmocka_unit_test(what_is_no_class_is_not_found),
        cmocka_unit_test(neighbours_are_mutual_and_faces_match),
        cmocka_unit_test(components_lie_in_different_sets),
        cmocka_unit_test(settling_a_zone_changes_no_bit),
        cmocka_unit_test(fields_too_large_are_named),
        cmocka_unit_test(equal_zones_share_a_forcing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
