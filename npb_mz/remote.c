/* npb_mz/remote.c – faces between zones of different ranks. */
#include "npb_mz/remote.h"
#include "cu/cluster.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct remote {
    const struct mz *mz;
    int n; /* messages */
    struct cluster_message *message;
    atomic_bool *started;      /* [n] sends since the last exchange */
    int *send_of, *receive_of; /* [4*nzones] message that sends / receives it, -1 none */
    double *memory;            /* all faces */
    struct cluster_mail *mail;
};

/* A message for face (zone, side), from the rank of the zone behind it to the zone's own. */
static void add_message(struct remote *r, int zone, int side, int peer, bool sends, size_t *at)
{
    const int from = r->mz->zone[zone].neighbour[side];
    const int face = MZ_SIDES * zone + side;
    struct cluster_message *m = &r->message[r->n];
    *m = (struct cluster_message){.peer = peer, .tag = face, .sends = sends};
    m->doubles = mz_face_size(r->mz, zone, (enum mz_side)side);
    m->buffer = r->memory ? r->memory + *at : NULL;
    *at += m->doubles;
    if (sends)
        r->send_of[MZ_SIDES * from + (side ^ 1)] = r->n++;
    else
        r->receive_of[face] = r->n++;
}

/* Lists all messages of this rank; returns the doubles that they take. */
static size_t list_messages(struct remote *r, const int *rank_of)
{
    const int me = cluster_rank();
    size_t doubles = 0;
    r->n = 0;
    for (int zone = 0; zone < r->mz->nzones; zone++)
        for (int side = 0; side < MZ_SIDES; side++) {
            const int to = rank_of[zone], from = rank_of[r->mz->zone[zone].neighbour[side]];
            if (to != from && to == me)
                add_message(r, zone, side, from, false, &doubles);
            if (to != from && from == me)
                add_message(r, zone, side, to, true, &doubles);
        }
    return doubles;
}

static enum ek_status allocate(struct remote *r, const int *rank_of)
{
    const size_t faces = MZ_SIDES * (size_t)r->mz->nzones;
    r->send_of = malloc(faces * sizeof *r->send_of);
    r->receive_of = malloc(faces * sizeof *r->receive_of);
    r->message = malloc(2 * faces * sizeof *r->message);
    r->started = calloc(2 * faces, sizeof *r->started);
    if (!r->send_of || !r->receive_of || !r->message || !r->started)
        FAIL(EK_LACK, "exchange: out of memory for %zu faces", faces);
    memset(r->send_of, -1, faces * sizeof *r->send_of);
    memset(r->receive_of, -1, faces * sizeof *r->receive_of);
    const size_t doubles = list_messages(r, rank_of); /* first for the size only */
    r->memory = calloc(doubles + 1, sizeof *r->memory);
    if (!r->memory)
        FAIL(EK_LACK, "exchange: out of memory for %zu bytes of faces", doubles * sizeof(double));
    list_messages(r, rank_of);
    return cluster_mail_open(r->message, r->n, &r->mail);
}

static void start_receives(struct remote *r)
{
    for (int i = 0; i < r->n; i++)
        if (!r->message[i].sends)
            cluster_mail_start(r->mail, i);
}

enum ek_status remote_open(const struct mz *mz, const int *rank_of, struct remote **out)
{
    struct remote *r = calloc(1, sizeof *r);
    if (!r)
        FAIL(EK_LACK, "exchange: out of memory");
    r->mz = mz;
    enum ek_status st = allocate(r, rank_of);
    if (st) {
        free(r->send_of);
        free(r->receive_of);
        free(r->message);
        free(r->started);
        free(r->memory);
        free(r);
        return st;
    }
    start_receives(r);
    *out = r;
    return EK_OK;
}

/* Every rank sends what it has not sent yet, whatever it holds, so that no message stays behind. */
static void drain(struct remote *r)
{
    for (int i = 0; i < r->n; i++)
        if (r->message[i].sends && !atomic_exchange(&r->started[i], true))
            cluster_mail_start(r->mail, i);
    remote_wait(r);
}

void remote_close(struct remote *r)
{
    if (!r)
        return;
    drain(r);
    cluster_mail_close(r->mail);
    free(r->send_of);
    free(r->receive_of);
    free(r->message);
    free(r->started);
    free(r->memory);
    free(r);
}

void remote_begin(struct remote *r)
{
    drain(r);
    start_receives(r);
}

void remote_send_zone(struct remote *r, int zone)
{
    for (int side = 0; side < MZ_SIDES; side++) {
        const int i = r->send_of[MZ_SIDES * zone + side];
        if (i < 0 || atomic_exchange(&r->started[i], true))
            continue;
        mz_face_pack(r->mz, zone, (enum mz_side)side, r->message[i].buffer);
        cluster_mail_start(r->mail, i);
    }
}

void remote_send_packed(struct remote *r, int zone, int side, const double *packed)
{
    const int i = r->send_of[MZ_SIDES * zone + side];
    if (i < 0 || atomic_exchange(&r->started[i], true))
        return;
    memcpy(r->message[i].buffer, packed, r->message[i].doubles * sizeof *packed);
    cluster_mail_start(r->mail, i);
}

void remote_wait(struct remote *r)
{
    cluster_mail_wait(r->mail);
    for (int i = 0; i < r->n; i++)
        atomic_store(&r->started[i], false);
}

void remote_progress(struct remote *r)
{
    cluster_mail_progress(r->mail);
}

const double *remote_face(const struct remote *r, int zone, int side)
{
    const int i = r->receive_of[MZ_SIDES * zone + side];
    return i < 0 ? NULL : r->message[i].buffer;
}

void remote_taken(struct remote *r, int zone, int side, size_t *bytes)
{
    const int i = r->receive_of[MZ_SIDES * zone + side];
    if (i < 0)
        return;
    *bytes += r->message[i].doubles * sizeof(double);
    cluster_mail_start(r->mail, i);
}
