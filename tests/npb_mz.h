/* tests/npb_mz.h – tests that every NPB-MZ solver must pass: reference norms, the same bits at any
 * width, devices that agree with the host. The devices are the host compiler's (back end
 * "host"). */
#pragma once

#include "npb_mz/device.h"
#include "npb_mz/mz.h"
#include "src/random.h"
#include "tests/isa.h"
#include "tests/mz_alone.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct rig {
    struct mz *mz;
    struct mz_work *work;
    struct backend *backend;
    struct device *device;
};

static inline struct rig open_rig(const char *solver, char letter, int width)
{
    struct rig r = {NULL, NULL, NULL, NULL};
    const struct mz_ops *ops = mz_find(solver);
    assert_non_null(ops);
    assert_int_equal(mz_open(ops, mz_class_find(solver, letter, 0), &r.mz), EK_OK);
    assert_int_equal(mz_work_open(r.mz, width, &r.work), EK_OK);
    return r;
}

enum { SYSTEM = 5 * 32 }; /* maximum number of equations of a line */

/* Gaussian elimination with row exchanges; x holds the right-hand side and receives the
 * solution. */
static inline void solve_dense(int n, double a[SYSTEM][SYSTEM], double *x)
{
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < n; r++)
            best = fabs(a[r][c]) > fabs(a[best][c]) ? r : best;
        for (int k = 0; k < n; k++) {
            const double t = a[c][k];
            a[c][k] = a[best][k];
            a[best][k] = t;
        }
        const double t = x[c];
        x[c] = x[best];
        x[best] = t;
        for (int r = c + 1; r < n; r++) {
            const double f = a[r][c] / a[c][c];
            for (int k = c; k < n; k++)
                a[r][k] -= f * a[c][k];
            x[r] -= f * x[c];
        }
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int k = r + 1; k < n; k++)
            x[r] -= a[r][k] * x[k];
        x[r] /= a[r][r];
    }
}

/* A test's problems: class S, class W, then random meshes whose zones have at least 6 points (two
 * BT meshes of 23 points have 6 and 17); the last two have a single zone along one axis. */
enum { PROBLEMS = 5 };
static inline struct rig open_problem(const char *solver, int number, int width)
{
    static struct mz_mesh mesh[PROBLEMS];
    const struct mz_ops *ops = mz_find(solver);
    if (number < 2)
        return open_rig(solver, "SW"[number], width);
    struct rig r = {NULL, NULL, NULL, NULL};
    struct mz_mesh *m = &mesh[number];
    uint64_t chance = 2026 + (uint64_t)number;
    *m = (struct mz_mesh){
        'S', {0, 0, 6 + (int)random_below(&chance, 6)}, {number == 3 ? 1 : 2, number == 4 ? 1 : 2}};
    for (int d = 0; d < 2; d++) {
        const int zones = mz_zones_along(ops, m, d), any = (int)random_below(&chance, 11);
        const int uneven = !ops->unit_zones && random_below(&chance, 2);
        m->points[d] = ops->ratio > 1 ? 23 + any : zones * (6 + any) + uneven;
    }
    assert_int_equal(mz_open_mesh(ops, mz_class_find(solver, 'S', 0), m, &r.mz), EK_OK);
    assert_int_equal(mz_claim(r.mz, NULL, 0), EK_OK);
    assert_int_equal(mz_work_open(r.mz, width, &r.work), EK_OK);
    return r;
}

/* batches: the device steps zones together, as a GPU does. memory: its size in bytes, 0 for the
 * real one. */
static inline void open_device(struct rig *r, bool batches, size_t memory)
{
    const struct backend_device which = {backend_find("host"), 0};
    assert_int_equal(backend_open(which, &r->backend), EK_OK);
    r->backend->info.is_cpu = !batches;
    r->backend->info.memory = memory ? memory : r->backend->info.memory;
    assert_int_equal(device_open(r->mz, r->backend, &r->device), EK_OK);
}

static inline void close_rig(struct rig r)
{
    device_close(r.device);
    backend_close(r.backend);
    mz_work_close(r.work);
    mz_close(r.mz);
}

static inline long index_of(const struct mz_zone *z, int i, int j, int k)
{
    return k * z->plane + (long)j * z->pitch + i;
}

/* Largest relative difference of two states over the points of all zones, without padding. */
static inline double distance(const struct mz *mz, const double *a, const double *b)
{
    double worst = 0.0;
    for (int zone = 0; zone < mz->nzones; zone++) {
        const struct mz_zone *z = &mz->zone[zone];
        for (int m = 0; m < MZ_VARS; m++)
            for (int row = 0; row < z->ny * z->nz; row++)
                for (int i = 0; i < z->nx; i++) {
                    long at = MZ_VARS * z->first + m * z->volume + (long)row * z->pitch + i;
                    double d = fabs(a[at] - b[at]) / (fabs(a[at]) + 1.0);
                    worst = d <= worst ? worst : d; /* NaN wins */
                }
    }
    return worst;
}

/* Brings u up to date for every zone. */
static inline void settle_all(const struct mz *mz)
{
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_settle(mz, zone);
}

/* Each reference counts: 1.1e-8 off any of them is too much, 0.9e-8 is not. */
static inline void each_norm_is_judged(struct rig r)
{
    static const double off[] = {0.9e-8, -0.9e-8, 1.1e-8, -1.1e-8, NAN};
    const struct mz_class *right = r.mz->class;
    struct mz_class class;
    struct mz_norms norms;
    r.mz->class = &class;
    for (int n = 0; n < 2 * MZ_NORMS + (right->surface != 0); n++)
        for (int k = 0; k < 5; k++) {
            class = *right;
            *(n < MZ_NORMS       ? &class.residual[n]
              : n < 2 * MZ_NORMS ? &class.error[n - MZ_NORMS]
                                 : &class.surface) *= 1 + off[k];
            mz_verify(r.mz, r.work, &norms);
            assert_int_equal(norms.verified, k < 2);
        }
    r.mz->class = right;
}

static inline void reaches_reference_norms(const char *solver, char letter, int width)
{
    struct rig r = open_rig(solver, letter, width);
    struct mz_norms norms;
    for (int s = 0; s < r.mz->class->steps; s++)
        mz_step(r.mz, r.work);
    mz_verify(r.mz, r.work, &norms);
    assert_true(norms.verified);
    assert_true(norms.worst < 1e-11);
    if (letter == 'S')
        each_norm_is_judged(r);
    mz_reset(r.mz); /* one step too few must not verify; after a reset the run starts afresh */
    for (int s = 0; s < r.mz->class->steps - 1; s++)
        mz_step(r.mz, r.work);
    mz_verify(r.mz, r.work, &norms);
    assert_false(norms.verified);
    mz_step(r.mz, r.work);
    mz_verify(r.mz, r.work, &norms);
    assert_true(norms.verified);
    close_rig(r);
}

static inline void gives_the_same_bits_for_any_width(const char *solver, char letter)
{
    struct rig one = open_rig(solver, letter, 1);
    for (int s = 0; s < 3; s++)
        mz_step(one.mz, one.work);
    for (int width = 2; width < 8; width++) {
        struct rig r = open_rig(solver, letter, width);
        for (int s = 0; s < 3; s++)
            mz_step(r.mz, r.work);
        settle_all(one.mz);
        settle_all(r.mz);
        assert_true(distance(r.mz, one.mz->u, r.mz->u) == 0.0);
        close_rig(r);
    }
    close_rig(one);
}

struct problem {
    const char *solver;
    int number;
};

/* The norms of all zones after three steps. */
static inline void norms_of_zones(void *problem, double *to)
{
    const struct problem *p = problem;
    struct rig r = open_problem(p->solver, p->number, 2);
    for (int s = 0; s < 3; s++)
        mz_step(r.mz, r.work);
    for (int zone = 0; zone < r.mz->nzones; zone++)
        mz_zone_values(r.mz, r.work, zone, to + zone * MZ_VALUES);
    close_rig(r);
}

static inline void gives_the_same_bits_on_every_level(const char *solver)
{
    for (int i = 0; i < PROBLEMS; i++) {
        struct problem p = {solver, i};
        struct rig r = open_problem(solver, i, 1);
        const int zones = r.mz->nzones;
        close_rig(r);
        isa_compare(solver, zones * MZ_VALUES, true, 1e-12, norms_of_zones, &p);
    }
}

/* In each step the device computes the zones for which away(step, zone) holds and the host the
 * others. */
static inline void moves_between_host_and_device(const char *solver, char letter,
                                                 bool (*away)(int step, int zone))
{
    struct rig host = open_rig(solver, letter, 1), r = open_rig(solver, letter, 1);
    size_t bytes = 0;
    double seconds = 0.0;
    open_device(&r, false, 0);
    for (int s = 0; s < 6; s++) {
        mz_step(host.mz, host.work);
        for (int zone = 0; zone < r.mz->nzones; zone++)
            mz_exchange(r.mz, zone);
        for (int zone = 0; zone < r.mz->nzones; zone++) {
            if (!away(s, zone)) {
                r.mz->ops->step(r.mz, r.work, zone);
                continue;
            }
            assert_int_equal(device_carry(r.device, NULL, zone, &bytes), EK_OK);
            assert_int_equal(device_step(r.device, zone, zone + 1, &seconds), EK_OK);
            assert_int_equal(device_carry(NULL, r.device, zone, &bytes), EK_OK);
        }
        settle_all(host.mz);
        settle_all(r.mz);
        assert_true(distance(r.mz, host.mz->u, r.mz->u) < 1e-12);
    }
    assert_true(bytes > 0);
    close_rig(host);
    close_rig(r);
}

/* The device steps all zones but the first (a batch that does not begin at zone 0) in one call.
 * `memory`: bytes of the device, 0 for enough; zones that do not fit travel there for each step.
 * Returns the number of zones that live on the device. */
static inline int a_launch_serves_many_zones_in(const char *solver, char letter, size_t memory)
{
    struct rig host = open_rig(solver, letter, 1), r = open_rig(solver, letter, 1);
    const int nzones = r.mz->nzones;
    double *seconds = calloc(nzones, sizeof *seconds);
    size_t bytes = 0;
    int living = 0;
    open_device(&r, true, memory);
    for (int s = 0; s < 3; s++) {
        mz_step(host.mz, host.work);
        for (int zone = 0; zone < nzones; zone++)
            mz_exchange(r.mz, zone);
        r.mz->ops->step(r.mz, r.work, 0);
        for (int zone = 1; zone < nzones; zone++)
            assert_int_equal(device_carry(r.device, NULL, zone, &bytes), EK_OK);
        assert_int_equal(device_step(r.device, 1, nzones, seconds), EK_OK);
        for (int zone = 1; zone < nzones; zone++)
            assert_int_equal(device_carry(NULL, r.device, zone, &bytes), EK_OK);
        settle_all(host.mz);
        settle_all(r.mz);
        assert_true(distance(r.mz, host.mz->u, r.mz->u) < 1e-12);
    }
    for (int zone = 0; zone < nzones - 1; zone++)
        assert_true(seconds[zone] > 0.0);
    for (int zone = 1; zone < nzones; zone++)
        living += device_holds(r.device, zone);
    free(seconds);
    close_rig(host);
    close_rig(r);
    return living;
}

/* The least memory with which a device can work, and the most with which some zones still do not
 * fit. */
static inline void tight_memories(const char *solver, char letter, size_t *least, size_t *most)
{
    struct rig r = open_rig(solver, letter, 1);
    struct places p;
    *least = *most = 0;
    status_mute(+1);
    for (size_t memory = 1 << 16; memory < 1 << 26; memory += memory / 16)
        if (!places_open(r.mz, "host:0", memory, memory, false, &p)) {
            *least = *least ? *least : memory;
            *most = p.stage ? memory : *most;
            const struct places_size s = places_size(&p);
            assert_true(s.u + s.forcing + s.carried + s.w + s.prim + s.scratch + s.rows < memory);
            places_close(&p);
        }
    status_mute(-1);
    close_rig(r);
}

static inline void a_launch_serves_many_zones(const char *solver, char letter)
{
    assert_true(a_launch_serves_many_zones_in(solver, letter, 0) > 0);
}

static inline void zones_that_do_not_fit_come_for_a_step(const char *solver, char letter)
{
    size_t least, most;
    tight_memories(solver, letter, &least, &most);
    assert_true(least > 0 && most > least);
    const int few = a_launch_serves_many_zones_in(solver, letter, least);
    assert_true(few < a_launch_serves_many_zones_in(solver, letter, most));
}

static inline bool always(int step, int zone)
{
    return true;
}

static inline bool now_and_then(int step, int zone)
{
    return (step + zone) % 3 == 0;
}
