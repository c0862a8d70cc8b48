/* npb_mz/faces.c – lists which faces each memory node copies, sends and receives. */
#include "npb_mz/faces.h"
#include "npb_mz/device.h"

/* Lists grow as needed: a device of a large problem may have few of its faces. */
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
    for (int s = 0; f->memory && s < nmemories; s++) {
        f->memory[s].to = ARENA_NEW(&f->arena, nmemories + 2, size_t);
        f->memory[s].from = ARENA_NEW(&f->arena, nmemories + 2, size_t);
    }
    const enum ek_status st = arena_check(&f->arena, "the faces of %d zones", mz->nzones);
    for (int i = 0; !st && i < mz->nzones; i++)
        f->home[i] = nmemories; /* differs from any mapping, so the first plan is not skipped */
    return HAND_OUT(st, f, out, faces_close);
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

/* The memory node of a zone, NULL if it is another rank's. */
static struct faces_memory *memory_of(struct faces *f, int zone)
{
    return f->home[zone] == FACES_ELSEWHERE ? NULL : &f->memory[f->home[zone]];
}

/* Lists one face, without its place in a buffer. */
static enum ek_status list_face(struct faces *f, int zone, int side)
{
    const int from = f->mz->zone[zone].neighbour[side];
    struct faces_memory *to_memory = memory_of(f, zone), *from_memory = memory_of(f, from);
    if (to_memory == from_memory)
        return to_memory ? list_add(&to_memory->copy, zone, side, from) : EK_OK;
    if (from_memory && from_memory != &f->memory[0])
        TRY(list_add(&from_memory->out, from, side ^ 1, 0));
    return to_memory ? list_add(&to_memory->in, zone, side, 0) : EK_OK;
}

static enum ek_status list_all(struct faces *f)
{
    for (int s = 0; s < f->nmemories; s++)
        f->memory[s].copy.n = f->memory[s].out.n = f->memory[s].in.n = 0;
    for (int zone = 0; zone < f->mz->nzones; zone++)
        for (int side = 0; side < MZ_SIDES; side++)
            TRY(list_face(f, zone, side));
    return EK_OK;
}

/* The part of device m's buffers in which the face of row[] = zone, side lies: the part of the
 * device across that side, if the two reach one another; of other ranks; or 0, the host's. */
static int part_of(const struct faces *f, int m, const long row[3])
{
    const int other = f->home[f->mz->zone[row[0]].neighbour[row[1]]];
    if (other == FACES_ELSEWHERE && f->mails_devices)
        return f->nmemories;
    return other > 0 && device_reaches(f->memory[m].device, f->memory[other].device) ? other : 0;
}

/* Assigns the faces of a list to places in a buffer of device m, part by part. Within a part they
 * keep the order of the list, so that both ends of a copy between devices agree. */
static void place(const struct faces *f, int m, const struct faces_list *l, size_t *part)
{
    size_t at = 0;
    for (int p = 0; p <= f->nmemories; p++) {
        part[p] = at;
        for (size_t i = 0; i < l->n; i++) {
            long *row = l->row[i];
            if (part_of(f, m, row) != p)
                continue;
            row[2] = (long)at;
            at += mz_face_size(f->mz, (int)row[0], (enum mz_side)row[1]);
        }
    }
    part[f->nmemories + 1] = at;
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
    TRY(list_all(f));
    for (int s = 1; s < f->nmemories; s++) {
        struct faces_memory *p = &f->memory[s];
        place(f, s, &p->out, p->to);
        place(f, s, &p->in, p->from);
        for (size_t i = 0; i < p->out.n; i++) {
            const long *row = p->out.row[i];
            const int to = f->mz->zone[row[0]].neighbour[row[1]];
            f->out_at[MZ_SIDES * to + (row[1] ^ 1)] = (size_t)row[2];
        }
        TRY(size_buffer(&p->out_buffer, p->to[1]));
        TRY(size_buffer(&p->in_buffer, p->from[1]));
    }
    return EK_OK;
}

/* Where a face from a device or another rank has arrived on the host. */
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
        if ((size_t)row[2] >= p->from[1])
            continue; /* does not go through the host */
        if (f->home[from] == 0) {
            mz_face_pack(f->mz, from, (enum mz_side)(side ^ 1), p->in_buffer + row[2]);
            continue;
        }
        memcpy(p->in_buffer + row[2], arrived(f, zone, side),
               mz_face_size(f->mz, zone, (enum mz_side)side) * sizeof(double));
        taken(f, zone, side, bytes);
    }
}

void faces_mail(struct faces *f, int from)
{
    const struct faces_memory *p = &f->memory[from];
    double *out, *in;
    device_buffers(p->device, &out, &in);
    for (size_t i = 0; f->remote && i < p->out.n; i++) {
        const long *row = p->out.row[i];
        const int zone = (int)row[0], side = (int)row[1];
        if (f->home[f->mz->zone[zone].neighbour[side]] == FACES_ELSEWHERE)
            remote_send(f->remote, zone, side, (f->mails_devices ? out : p->out_buffer) + row[2]);
    }
    for (size_t i = 0; f->mails_devices && i < p->in.n; i++) {
        const long *row = p->in.row[i];
        remote_expect(f->remote, (int)row[0], (int)row[1], in + row[2]);
    }
}

/* Rows *begin .. *end-1 of a list are its share `part` of `parts`. */
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
