/* npb_mz/program.c – an NPB-MZ solver as a program: tasks are zones, spaces are the host and the
 * devices, a step exchanges faces and advances every zone. */
#include "npb_mz/program.h"
#include "npb_mz/device.h"
#include "npb_mz/faces.h"
#include "npb_mz/mz.h"
#include "src/clock.h"

#include <stdlib.h>
#include <string.h>

struct program {
    const char *letter;
    int steps;
    const struct mz_ops *ops;
    const struct mz_class *class;
    struct cu_set *set;
    struct mz *mz;
    struct faces *faces;
    struct mz_work **work;             /* [units] of CPU units, NULL for devices */
    struct mz_work *judge;             /* for the verification */
    struct device **device;            /* [units] of devices, NULL for CPU units */
    double *cost, *bytes, *face_bytes; /* what policies are told of the zones */
    size_t *first, *neighbour;
};

static const struct opt options[] = {
    {"class", OPT_TEXT, offsetof(struct program, letter), "LETTER",
     "problem class: S W A B C D E F (S)", .env = NULL},
    {"steps", OPT_INT, offsetof(struct program, steps), "N",
     "time steps (those of the class; others are not verified)", .min = 1, .max = 1e6},
    OPT_END,
};

static void defaults(void *st, const struct bench_program *self)
{
    struct program *p = st;
    p->letter = "S";
    p->ops = mz_find(self->name);
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct program *p = st;
    static const char *const letters[] = {"S", "W", "A", "B", "C", "D", "E", "F"};
    const char upper[2] = {p->letter[0] & ~0x20, 0};
    if (strlen(p->letter) != 1 || !strchr("SWABCDEF", upper[0]))
        FAIL(EK_USAGE, "unknown class '%s'%s; there are S W A B C D E F", p->letter,
             opt_suggest(upper, letters, 8));
    p->class = mz_class_find(p->ops->name, upper[0], p->steps);
    if (!p->class)
        p->class = mz_class_find(p->ops->name, upper[0], 0);
    if (!p->steps)
        p->steps = p->class->steps;
    *bytes = mz_bytes(p->ops, p->class);
    snprintf(problem, room, "class %c, %d steps", upper[0], p->steps);
    return EK_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void *zeroed(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

static enum ek_status describe_zones(struct program *p, struct sched_job *job)
{
    const struct mz *mz = p->mz;
    const size_t n = (size_t)mz->nzones;
    p->cost = zeroed(n, sizeof *p->cost);
    p->bytes = zeroed(n, sizeof *p->bytes);
    p->first = zeroed(n + 1, sizeof *p->first);
    p->neighbour = zeroed(MZ_SIDES * n, sizeof *p->neighbour);
    p->face_bytes = zeroed(MZ_SIDES * n, sizeof *p->face_bytes);
    if (!p->cost || !p->bytes || !p->first || !p->neighbour || !p->face_bytes)
        FAIL(EK_LACK, "%s: out of memory for %zu zones", p->ops->name, n);
    for (size_t i = 0; i < n; i++) {
        const struct mz_zone *z = &mz->zone[i];
        p->cost[i] = mz_zone_mop(mz, (int)i);
        const double carried = mz->ops->carried ? (double)mz->ops->carried(z) : 0.0;
        p->bytes[i] = (2.0 * MZ_VARS * (double)z->volume + carried) * sizeof(double);
        p->first[i + 1] = MZ_SIDES * (i + 1);
        for (int side = 0; side < MZ_SIDES; side++) {
            p->neighbour[MZ_SIDES * i + (size_t)side] = (size_t)z->neighbour[side];
            p->face_bytes[MZ_SIDES * i + (size_t)side] =
                (double)mz_face_size(mz, (int)i, (enum mz_side)side) * sizeof(double);
        }
    }
    *job = (struct sched_job){.n = n,
                              .grain = 1,
                              .cost = p->cost,
                              .bytes = p->bytes,
                              .first = p->first,
                              .neighbour = p->neighbour,
                              .face_bytes = p->face_bytes};
    return EK_OK;
}

/* Scratch and devices, each on its unit's own thread: first touch, and devices belong to it. */
static enum ek_status open_units(struct program *p)
{
    enum ek_status failed = EK_OK;
#pragma omp parallel num_threads(p->set->n) proc_bind(close)
#pragma omp for schedule(static, 1)
    for (int c = 0; c < p->set->n; c++) {
        const struct cu *u = &p->set->cu[c];
        enum ek_status st = u->kind == CU_CPU ? mz_work_open(p->mz, u->width, &p->work[c])
                                              : device_open(p->mz, u->device, &p->device[c]);
        if (st) {
#pragma omp atomic write
            failed = st;
        }
    }
    return failed;
}

static enum ek_status open(void *st, struct cu_set *set, struct sched_job *job)
{
    struct program *p = st;
    p->set = set;
    p->work = zeroed((size_t)set->n, sizeof(struct mz_work *));
    p->device = zeroed((size_t)set->n, sizeof(struct device *));
    if (!p->work || !p->device)
        FAIL(EK_LACK, "%s: out of memory for %d units", p->ops->name, set->n);
    TRY(mz_open(p->ops, p->class, &p->mz));
    TRY(describe_zones(p, job));
    TRY(faces_open(p->mz, set->nspaces, &p->faces));
    TRY(open_units(p));
    return mz_work_open(p->mz, 1, &p->judge);
}

static void close_units(struct program *p)
{
#pragma omp parallel num_threads(p->set->n) proc_bind(close)
#pragma omp for schedule(static, 1)
    for (int c = 0; c < p->set->n; c++) {
        if (p->work)
            mz_work_close(p->work[c]);
        if (p->device)
            device_close(p->device[c]);
    }
}

static void close(void *st)
{
    struct program *p = st;
    if (p->set)
        close_units(p);
    mz_work_close(p->judge);
    faces_close(p->faces);
    mz_close(p->mz);
    free(p->work);
    free(p->device);
    free(p->cost);
    free(p->bytes);
    free(p->first);
    free(p->neighbour);
    free(p->face_bytes);
}

/* ---- the verbs of a step --------------------------------------------------------------------- */

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct program *p = ctx;
    if (cu->kind == CU_DEVICE)
        return device_step(p->device[cu->index], (int)r.begin, (int)r.end, seconds);
    for (size_t zone = r.begin; zone < r.end; zone++) {
        const double start = clock_now();
        mz_step_zone(p->mz, p->work[cu->index], (int)zone);
        seconds[zone - r.begin] += clock_now() - start;
    }
    return EK_OK;
}

static struct device *device_of(const struct program *p, int space)
{
    return p->device[p->set->layout.ncpu + space - 1];
}

static enum ek_status move(void *ctx, size_t task, int from, int to, size_t *bytes)
{
    struct program *p = ctx;
    if (from != CU_SPACE_HOST)
        TRY(device_get(device_of(p, from), (int)task, bytes));
    if (to != CU_SPACE_HOST)
        TRY(device_put(device_of(p, to), (int)task, bytes));
    return EK_OK;
}

static enum ek_status send_faces(struct program *p, const struct cu *cu, struct team_share share,
                                 size_t *bytes)
{
    if (cu->kind == CU_DEVICE)
        TRY(device_send_faces(p->device[cu->index], p->faces, cu->space, bytes));
    if (share.parts)
        faces_copy_host(p->faces, share.part, share.parts);
    return EK_OK;
}

static enum ek_status receive_faces(struct program *p, const struct cu *cu, struct team_share share,
                                    size_t *bytes)
{
    if (cu->kind == CU_DEVICE) {
        faces_gather(p->faces, cu->space);
        TRY(device_receive_faces(p->device[cu->index], p->faces, cu->space, bytes));
    }
    if (share.parts)
        faces_unpack_host(p->faces, share.part, share.parts);
    return EK_OK;
}

static enum ek_status exchange(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes)
{
    struct program *p = ctx;
    return phase == 0 ? send_faces(p, cu, share, bytes) : receive_faces(p, cu, share, bytes);
}

static int exchange_phases(const void *ctx)
{
    return ((const struct program *)ctx)->set->nspaces > 1 ? 2 : 1;
}

static enum ek_status rehome(void *ctx, const int *home)
{
    return faces_plan(((struct program *)ctx)->faces, home);
}

static enum ek_status reset(void *st)
{
    mz_reset(((struct program *)st)->mz);
    return EK_OK;
}

static const struct team_ops verbs = {
    .compute = compute,
    .move = move,
    .exchange = exchange,
    .exchange_phases = exchange_phases,
    .rehome = rehome,
    .cpu_batch = 1,
    .restore = reset,
};

/* ---- before and after ------------------------------------------------------------------------ */

static int steps(const void *st)
{
    return ((const struct program *)st)->steps;
}

static double work(const void *st)
{
    const struct program *p = st;
    return mz_mop(p->mz) * p->steps / p->class->steps;
}

static json_t *number_list(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_number_or_null(x[i]));
    return list;
}

static enum ek_status check(void *st, bool *verified, json_t **detail)
{
    struct program *p = st;
    struct mz_norms norms;
    mz_verify(p->mz, p->judge, &norms);
    *verified = norms.verified && p->steps == p->class->steps;
    *detail = json_pack("{s:s s:i s:f s:o s:o s:o}", "class", p->letter, "steps", p->steps, "dt",
                        p->class->dt, "worst_relative_error", json_number_or_null(norms.worst),
                        "residual", number_list(norms.residual, MZ_NORMS), "error",
                        number_list(norms.error, MZ_NORMS));
    if (!*detail)
        FAIL(EK_LACK, "%s: out of memory for the norms", p->ops->name);
    if (p->class->surface != 0.0)
        json_object_set_new(*detail, "surface", json_number_or_null(norms.surface));
    return EK_OK;
}

struct bench_program program_of(const char *name)
{
    return (struct bench_program){
        .name = name,
        .summary = mz_find(name)->summary,
        .unit = "Mop/s",
        .size = sizeof(struct program),
        .opts = options,
        .defaults = defaults,
        .plan = plan,
        .open = open,
        .verbs = &verbs,
        .steps = steps,
        .reset = reset,
        .work = work,
        .check = check,
        .close = close,
    };
}
