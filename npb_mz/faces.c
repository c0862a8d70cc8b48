/* npb_mz/faces.c – lists of faces by the memory nodes that they leave and enter. */
#include "npb_mz/faces.h"
#include "src/arena.h"

#include <stdlib.h>
#include <string.h>

/* Lists grow, since a device of a large problem touches a small part of the faces. */
static enum ek_status list_add(struct faces_list *l, long a, long b, long c)
{
    TRY(arena_grow(&l->row, &l->room, l->n, sizeof *l->row, "faces"));
    long *row = l->row[l->n++];
    row[0] = a, row[1] = b, row[2] = c;
    return EK_OK;
}

enum ek_status faces_open(const struct mz *mz, struct remote *remote, int nmemories,
                          struct faces **out)
{
    NEW(struct faces, f, 1, "exchange: out of memory");
    f->mz = mz;
    f->remote = remote;
    f->nmemories = nmemories;
    f->home = ARENA_NEW(&f->arena, mz->nzones, int);
    f->out_at = ARENA_NEW(&f->arena, MZ_SIDES * mz->nzones, size_t);
    f->memory = ARENA_NEW(&f->arena, nmemories, struct faces_memory);
    const enum ek_status st = arena_check(&f->arena, "the faces of %d zones", mz->nzones);
    if (st) {
        faces_close(f);
        return st;
    }
    for (int i = 0; i < mz->nzones; i++)
        f->home[i] = nmemories; /* fits no mapping */
    *out = f;
    return EK_OK;
}

void faces_close(struct faces *f)
{
    if (!f)
        return;
    for (int s = 0; f->memory && s < f->nmemories; s++) {
        struct faces_memory *p = &f->memory[s];
        free(p->copy.row);
        free(p->out.row);
        free(p->in.row);
        free(p->out_buffer);
        free(p->in_buffer);
    }
    arena_free(&f->arena);
    free(f);
}

static void forget(struct faces *f)
{
    for (int s = 0; s < f->nmemories; s++) {
        struct faces_memory *p = &f->memory[s];
        p->copy.n = p->out.n = p->in.n = p->out_size = p->in_size = 0;
    }
}

/* The memory node of a zone, NULL if it is another rank's. */
static struct faces_memory *memory_of(struct faces *f, int zone)
{
    return f->home[zone] == FACES_ELSEWHERE ? NULL : &f->memory[f->home[zone]];
}

/* Lists one face; sizes are known, buffers come later. */
static enum ek_status list_face(struct faces *f, int zone, int side)
{
    const int from = f->mz->zone[zone].neighbour[side];
    const size_t size = mz_face_size(f->mz, zone, (enum mz_side)side);
    struct faces_memory *to_memory = memory_of(f, zone), *from_memory = memory_of(f, from);
    if (to_memory == from_memory)
        return to_memory ? list_add(&to_memory->copy, zone, side, from) : EK_OK;
    if (from_memory && from_memory != &f->memory[0]) {
        f->out_at[MZ_SIDES * zone + side] = from_memory->out_size;
        TRY(list_add(&from_memory->out, from, side ^ 1, (long)from_memory->out_size));
        from_memory->out_size += size;
    }
    if (to_memory) {
        TRY(list_add(&to_memory->in, zone, side, (long)to_memory->in_size));
        to_memory->in_size += size;
    }
    return EK_OK;
}

static enum ek_status size_buffer(double **buffer, size_t size)
{
    double *more = realloc(*buffer, (size ? size : 1) * sizeof *more);
    if (!more)
        FAIL(EK_UNAVAILABLE, "exchange: out of memory for %zu bytes of faces", size * sizeof *more);
    *buffer = more;
    return EK_OK;
}

enum ek_status faces_plan(struct faces *f, const int *home)
{
    const size_t bytes = (size_t)f->mz->nzones * sizeof *home;
    if (!memcmp(f->home, home, bytes))
        return EK_OK;
    memcpy(f->home, home, bytes);
    f->generation++;
    forget(f);
    for (int zone = 0; zone < f->mz->nzones; zone++)
        for (int side = 0; side < MZ_SIDES; side++)
            TRY(list_face(f, zone, side));
    for (int s = 1; s < f->nmemories; s++) {
        TRY(size_buffer(&f->memory[s].out_buffer, f->memory[s].out_size));
        TRY(size_buffer(&f->memory[s].in_buffer, f->memory[s].in_size));
    }
    return EK_OK;
}

/* Where a face lies that a device or another rank has brought to the host. */
static const double *arrived(const struct faces *f, int zone, int side)
{
    const int from = f->mz->zone[zone].neighbour[side];
    if (f->home[from] == FACES_ELSEWHERE)
        return remote_face(f->remote, zone, side);
    return f->memory[f->home[from]].out_buffer + f->out_at[MZ_SIDES * zone + side];
}

static void taken(const struct faces *f, int zone, int side, size_t *bytes)
{
    if (f->remote)
        remote_taken(f->remote, zone, side, bytes);
}

void faces_gather(struct faces *f, int to, size_t *bytes)
{
    const struct faces_memory *p = &f->memory[to];
    for (size_t i = 0; i < p->in.n; i++) {
        const long *row = p->in.row[i];
        const int zone = (int)row[0], side = (int)row[1];
        const int from = f->mz->zone[zone].neighbour[side];
        if (f->home[from] == 0) {
            mz_face_pack(f->mz, from, (enum mz_side)(side ^ 1), p->in_buffer + row[2]);
            continue;
        }
        memcpy(p->in_buffer + row[2], arrived(f, zone, side),
               mz_face_size(f->mz, zone, (enum mz_side)side) * sizeof(double));
        taken(f, zone, side, bytes);
    }
}

void faces_send_remote(struct faces *f, int from)
{
    const struct faces_memory *p = &f->memory[from];
    for (size_t i = 0; f->remote && i < p->out.n; i++) {
        const long *row = p->out.row[i];
        const int zone = (int)row[0], side = (int)row[1];
        if (f->home[f->mz->zone[zone].neighbour[side]] == FACES_ELSEWHERE)
            remote_send(f->remote, zone, side, p->out_buffer + row[2]);
    }
}

/* Bounds of one of `parts` equal parts of a list. */
static void share(const struct faces_list *l, int part, int parts, size_t *begin, size_t *end)
{
    *begin = l->n * (size_t)part / (size_t)parts;
    *end = l->n * (size_t)(part + 1) / (size_t)parts;
}

void faces_copy_host(struct faces *f, int part, int parts)
{
    const struct faces_list *l = &f->memory[0].copy;
    size_t i, end;
    for (share(l, part, parts, &i, &end); i < end; i++)
        mz_face_copy((struct mz *)f->mz, (int)l->row[i][0], (enum mz_side)l->row[i][1]);
}

void faces_unpack_host(struct faces *f, int part, int parts, size_t *bytes)
{
    const struct faces_list *l = &f->memory[0].in;
    size_t i, end;
    for (share(l, part, parts, &i, &end); i < end; i++) {
        const int zone = (int)l->row[i][0], side = (int)l->row[i][1];
        mz_face_unpack((struct mz *)f->mz, zone, (enum mz_side)side, arrived(f, zone, side));
        taken(f, zone, side, bytes);
    }
}
