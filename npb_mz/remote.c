/* npb_mz/remote.c – faces between zones of different ranks. */
#include "npb_mz/remote.h"
#include "cu/rank/cluster.h"
#include "cu/team/samples.h"
#include "src/clock.h"

#include <stdatomic.h>

enum { STEPS_TO_MEASURED = 8, TRIALS = SAMPLES };

struct remote {
    struct arena arena;
    const struct mz *mz;
    int n; /* messages */
    struct cluster_message *message;
    atomic_bool *started;      /* [n] sent or receive posted since the last exchange */
    bool *here;                /* [n] the last receive was posted for host memory */
    int *send_of, *receive_of; /* [4*nzones] message of a face, -1 none */
    double *memory;            /* host memory of all faces */
    struct cluster_mail *mail; /* NULL between remote_end() and remote_partition() */
    int exchanges;             /* since the partition or the run began */
    struct samples left;       /* seconds waited in measured steps, after a barrier */
    double waited;             /* seconds waited in this run, for messages and slower ranks */
};

/* Adds the message of face (zone, side), from the rank of the zone across that side. */
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

/* Lists all messages of this rank; returns the doubles that they need. */
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

static enum ek_status list_faces(struct remote *r, const int *rank_of)
{
    const size_t faces = MZ_SIDES * (size_t)r->mz->nzones;
    memset(r->send_of, -1, faces * sizeof *r->send_of);
    memset(r->receive_of, -1, faces * sizeof *r->receive_of);
    free(r->memory);
    r->memory = NULL;
    const size_t doubles = list_messages(r, rank_of); /* first for the size only */
    r->memory = calloc(doubles + 1, sizeof *r->memory);
    if (!r->memory)
        FAIL(EK_UNAVAILABLE, "exchange: out of memory for %zu bytes of faces",
             doubles * sizeof(double));
    list_messages(r, rank_of);
    return cluster_mail_open(r->message, r->n, &r->mail);
}

/* Once in an exchange. */
static void set_off(struct remote *r, int i, double *there)
{
    if (atomic_exchange(&r->started[i], true))
        return;
    r->here[i] = there == r->message[i].buffer;
    cluster_mail_start_at(r->mail, i, there);
}

/* Starts all sends, or all receives, that are not started; their contents do not matter. */
static void start_all(struct remote *r, bool sends)
{
    for (int i = 0; i < r->n; i++)
        if (r->message[i].sends == sends)
            set_off(r, i, r->message[i].buffer);
}

static void forget(struct remote *r)
{
    r->exchanges = 0;
    r->left = (struct samples){.count = 0};
}

enum ek_status remote_partition(struct remote *r, const int *rank_of)
{
    TRY(list_faces(r, rank_of));
    forget(r);
    start_all(r, false);
    return EK_OK;
}

enum ek_status remote_open(const struct mz *mz, const int *rank_of, struct remote **out)
{
    const size_t faces = MZ_SIDES * (size_t)mz->nzones;
    NEW(struct remote, r, 1, "exchange: out of memory");
    r->mz = mz;
    r->send_of = ARENA_NEW(&r->arena, faces, int);
    r->receive_of = ARENA_NEW(&r->arena, faces, int);
    r->message = ARENA_NEW(&r->arena, 2 * faces, struct cluster_message);
    r->started = ARENA_NEW(&r->arena, 2 * faces, atomic_bool);
    r->here = ARENA_NEW(&r->arena, 2 * faces, bool);
    enum ek_status st = arena_check(&r->arena, "%zu faces between ranks", faces);
    THEN(st, remote_partition(r, rank_of));
    return HAND_OUT(st, r, out, remote_close);
}

/* Waits until all messages are complete; the next exchange may start them again. */
static void finish(struct remote *r)
{
    cluster_mail_wait(r->mail);
    for (int i = 0; i < r->n; i++)
        atomic_store(&r->started[i], false);
}

/* Completes all messages, so that none is pending. */
static void drain(struct remote *r)
{
    start_all(r, false);
    start_all(r, true);
    finish(r);
}

void remote_end(struct remote *r)
{
    if (!r->mail)
        return;
    drain(r);
    cluster_mail_close(r->mail);
    r->mail = NULL;
}

void remote_close(struct remote *r)
{
    if (!r)
        return;
    remote_end(r);
    arena_free(&r->arena);
    free(r->memory);
    free(r);
}

void remote_begin(struct remote *r)
{
    drain(r);
    forget(r);
    r->waited = 0;
    start_all(r, false);
}

void remote_send(struct remote *r, int zone, int side, double *packed)
{
    const int i = r->send_of[MZ_SIDES * zone + side];
    if (i < 0 || atomic_load(&r->started[i]))
        return;
    if (!packed)
        mz_face_pack(r->mz, zone, (enum mz_side)side, r->message[i].buffer);
    set_off(r, i, packed ? packed : r->message[i].buffer);
}

void remote_expect(struct remote *r, int zone, int side, double *there)
{
    const int i = r->receive_of[MZ_SIDES * zone + side];
    if (i >= 0)
        set_off(r, i, there ? there : r->message[i].buffer);
}

void remote_wait(struct remote *r)
{
    const double start = clock_now();
    const bool measured = ++r->exchanges % STEPS_TO_MEASURED == 0;
    if (measured)
        cluster_barrier();
    const double met = clock_now();
    finish(r);
    if (measured)
        samples_add(&r->left, clock_now() - met);
    r->waited += clock_now() - start;
}

void remote_progress(struct remote *r)
{
    cluster_mail_progress(r->mail);
}

const double *remote_face(const struct remote *r, int zone, int side)
{
    const int i = r->receive_of[MZ_SIDES * zone + side];
    return i < 0 || !r->here[i] ? NULL : r->message[i].buffer;
}

void remote_taken(struct remote *r, int zone, int side, size_t *bytes)
{
    const int i = r->receive_of[MZ_SIDES * zone + side];
    if (i < 0)
        return;
    *bytes += r->message[i].doubles * sizeof(double);
    set_off(r, i, r->message[i].buffer);
}

/* ---- what messages cost -----------------------------------------------------------------------*/

/* Median seconds of all messages without computation. Receives are posted before and after. */
static double try_at_once(struct remote *r)
{
    struct samples taken = {.count = 0};
    drain(r);
    start_all(r, false);
    for (int i = 0; i < TRIALS; i++) {
        cluster_barrier();
        const double start = clock_now();
        start_all(r, true);
        finish(r);
        samples_add(&taken, clock_now() - start);
        start_all(r, false);
    }
    return samples_median(&taken);
}

json_t *remote_json(struct remote *r)
{
    enum { AT_ONCE, LEFT, WAITED, LONGEST };
    double longest[LONGEST] = {try_at_once(r), samples_median(&r->left), r->waited};
    double sums[] = {0, 0}; /* messages, bytes */
    for (int i = 0; i < r->n; i++)
        if (r->message[i].sends) {
            sums[0]++;
            sums[1] += (double)(r->message[i].doubles * sizeof(double));
        }
    cluster_max(longest, LONGEST);
    cluster_sum(sums, 2);
    const double hidden = 1 - longest[LEFT] / longest[AT_ONCE];
    return json_pack("{s:I s:I s:f s:o s:o s:f}", "messages", (json_int_t)sums[0], "bytes",
                     (json_int_t)sums[1], "at_once_s", longest[AT_ONCE], "left_s",
                     json_number_or_null(longest[LEFT]), "hidden", json_number_or_null(hidden),
                     "waited_s", longest[WAITED]);
}
