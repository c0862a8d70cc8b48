/* npb_mz/copies.c – copies of zones in memory that outlives the ranks. */
#include "npb_mz/copies.h"
#include "cu/rank/cluster.h"
#include "cu/rank/survive.h"
#include "src/checksum.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { PLACES = 2, PAGE = 4096, PIECE = 16384 }; /* bytes that are copied and summed in one go */

struct copy {
    uint64_t sum;
    int64_t step, zone; /* step 0: it is being written */
    uint64_t fill[5];
    double data[]; /* u, carried */
};

struct copies {
    struct arena arena;
    const struct mz *mz;
    uint64_t *memory; /* of this node: a page with the committed step, then the two places */
    size_t *at;       /* [nzones+1] offset of a zone's copy in a place, bytes */
    int *done;        /* [nzones] the step after which it was copied here last */
    int *rank_of;     /* [nzones] */
    bool *kept;       /* [nzones] this node keeps a copy of it */
    bool *sent;       /* [nzones] its copy was sent since the last commit */
    int *send_of;     /* [nzones] message that sends it, -1 none */
    double *from;     /* [nzones] scratch; then the rank that sends its copy, -1 none */
    int place;        /* the one that is written now */
    int found;        /* the one to load from */
    int n;
    struct cluster_message *message; /* [n] to and from other nodes; room for nzones */
    struct cluster_mail *mail[PLACES];
    atomic_bool expects; /* receives for the place that is written are posted */
    bool trim;           /* there may be copies that this node no longer keeps */
};

static size_t doubles_of(const struct mz *mz, int zone)
{
    return MZ_VARS * (size_t)mz->zone[zone].volume + mz_carried(mz->ops, &mz->zone[zone]);
}

static size_t bytes_of(const struct mz *mz, int zone)
{
    return (sizeof(struct copy) + doubles_of(mz, zone) * sizeof(double) + PAGE - 1) / PAGE * PAGE;
}

static struct copy *copy_at(const struct copies *c, int place, int zone)
{
    return (struct copy *)((char *)c->memory + PAGE + (size_t)place * c->at[c->mz->nzones] +
                           c->at[zone]);
}

/* Copies one part to `to`, unless that is where it is, and adds it to the checksum. */
static void add_part(struct checksum *s, char *to, const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PIECE) {
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (to != from)
            memcpy(to + at, from + at, n);
        checksum_add(s, to + at, n);
    }
}

static uint64_t copy_and_sum(const struct copies *c, int64_t zone, int64_t step, struct copy *to,
                             const double *u, const double *carried)
{
    const size_t doubles = doubles_of(c->mz, (int)zone);
    const size_t first = MZ_VARS * (size_t)c->mz->zone[zone].volume;
    struct checksum s;
    checksum_begin(&s, "npb-mz copy 1");
    checksum_add(&s, &zone, sizeof zone);
    checksum_add(&s, &step, sizeof step);
    add_part(&s, (char *)to->data, (const char *)u, first * sizeof *u);
    add_part(&s, (char *)(to->data + first), (const char *)carried, (doubles - first) * sizeof *u);
    return checksum_end(&s);
}

/* The step of a valid copy, 0 if there is none. */
static int step_of(const struct copies *c, int place, int zone)
{
    struct copy *r = copy_at(c, place, zone);
    const double *carried = r->data + MZ_VARS * (size_t)c->mz->zone[zone].volume;
    return r->step > 0 && r->zone == zone &&
                   r->sum == copy_and_sum(c, zone, r->step, r, r->data, carried)
               ? (int)r->step
               : 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

size_t copies_bytes(const struct mz_ops *ops, const struct mz_class *class)
{
    const struct zones_size size = zones_layout(ops, mz_mesh_find(class->letter), NULL);
    const struct cluster_launch l = cluster_launch();
    return PLACES * (l.size > l.local_size ? 2 : 1) * sizeof(double) *
           (size_t)(MZ_VARS * size.points + size.carried);
}

/* The next rank on another node, -1 if there is none. */
static int buddy_of(int rank)
{
    for (int i = 1; i < cluster_size(); i++) {
        const int other = (rank + i) % cluster_size();
        if (cluster_node(other) != cluster_node(rank))
            return other;
    }
    return -1;
}

static void close_mail(struct copies *c)
{
    for (int place = 0; place < PLACES; place++)
        cluster_mail_close(c->mail[place]);
    memset(c->mail, 0, sizeof c->mail);
}

static struct cluster_message message_of(const struct copies *c, int place, int zone, int peer,
                                         bool sends)
{
    return (struct cluster_message){
        .peer = peer,
        .tag = MZ_SIDES * c->mz->nzones + zone, /* after the tags of faces */
        .sends = sends,
        .buffer = (double *)copy_at(c, place, zone),
        .doubles = sizeof(struct copy) / sizeof(double) + doubles_of(c->mz, zone)};
}

/* Lists the copies of a place that this rank sends to or receives from another node. */
static enum ek_status open_mail(struct copies *c, int place)
{
    const int me = cluster_rank(), here = cluster_node(me);
    c->n = 0;
    for (int zone = 0; zone < c->mz->nzones; zone++) {
        const int owner = c->rank_of[zone], buddy = buddy_of(owner);
        c->kept[zone] = cluster_node(owner) == here || (buddy >= 0 && cluster_node(buddy) == here);
        c->send_of[zone] = owner == me && buddy >= 0 ? c->n : -1;
        if (buddy >= 0 && (owner == me || buddy == me))
            c->message[c->n++] =
                message_of(c, place, zone, owner == me ? buddy : owner, owner == me);
    }
    return cluster_mail_open(c->message, c->n, &c->mail[place]);
}

enum ek_status copies_partition(struct copies *c, const int *rank_of)
{
    close_mail(c);
    c->trim = true;
    for (int zone = 0; zone < c->mz->nzones; zone++)
        c->rank_of[zone] = rank_of ? rank_of[zone] : 0;
    TRY(open_mail(c, 0));
    return open_mail(c, 1);
}

static enum ek_status take(struct copies *c)
{
    const int n = c->mz->nzones;
    c->at = ARENA_NEW(&c->arena, n + 1, size_t);
    c->done = ARENA_NEW(&c->arena, n, int);
    c->rank_of = ARENA_NEW(&c->arena, n, int);
    c->send_of = ARENA_NEW(&c->arena, n, int);
    c->kept = ARENA_NEW(&c->arena, n, bool);
    c->sent = ARENA_NEW(&c->arena, n, bool);
    c->from = ARENA_NEW(&c->arena, n, double);
    c->message = ARENA_NEW(&c->arena, n, struct cluster_message);
    TRY(arena_check(&c->arena, "copies of %d zones", n));
    for (int zone = 0; zone < n; zone++) {
        c->at[zone + 1] = c->at[zone] + bytes_of(c->mz, zone);
        if (doubles_of(c->mz, zone) > INT_MAX - PAGE && cluster_size() > 1)
            FAIL(EK_USAGE, "--survive: zone %d is too large for a message", zone);
    }
    return survive_take(PAGE + PLACES * c->at[n], &c->memory);
}

enum ek_status copies_open(const struct mz *mz, const int *rank_of, struct copies **out)
{
    NEW(struct copies, c, 1, "out of memory for copies of zones");
    c->mz = mz;
    enum ek_status st = take(c);
    THEN(st, copies_partition(c, rank_of));
    return HAND_OUT(st, c, out, copies_close);
}

void copies_close(struct copies *c)
{
    if (!c)
        return;
    survive_leave(cluster_rank() == 0);
    close_mail(c);
    if (c->memory)
        munmap(c->memory, PAGE + PLACES * c->at[c->mz->nzones]);
    arena_free(&c->arena);
    free(c);
}

/* ---- copying --------------------------------------------------------------------------------- */

/* Posts the receives for the place that is written, once. */
static void expect(struct copies *c)
{
    const bool already = atomic_exchange(&c->expects, true);
    for (int i = 0; !already && i < c->n; i++)
        if (!c->message[i].sends)
            cluster_mail_start(c->mail[c->place], i);
}

void copies_zone(struct copies *c, int zone, int step)
{
    struct mz_part part[MZ_PARTS];
    struct copy *r = copy_at(c, c->place, zone);
    mz_parts(c->mz, zone, part);
    expect(c);
    r->step = 0;
    atomic_thread_fence(memory_order_seq_cst);
    r->zone = zone;
    r->sum = copy_and_sum(c, zone, step, r, part[MZ_U].host, part[MZ_CARRIED].host);
    atomic_thread_fence(memory_order_seq_cst);
    r->step = step;
    c->done[zone] = step;
    if (c->send_of[zone] >= 0 && !c->sent[zone])
        cluster_mail_start(c->mail[c->place], c->send_of[zone]);
    c->sent[zone] = true;
}

bool copies_has(const struct copies *c, int zone, int step)
{
    return c->done[zone] == step;
}

/* Frees copies that this node no longer keeps. */
static void trim(struct copies *c)
{
    for (int zone = 0; zone < c->mz->nzones; zone++)
        for (int place = 0; place < PLACES && !c->kept[zone]; place++)
            madvise(copy_at(c, place, zone), bytes_of(c->mz, zone), MADV_REMOVE);
    c->trim = false;
}

void copies_commit(struct copies *c, int step)
{
    expect(c);
    cluster_mail_wait(c->mail[c->place]);
    cluster_barrier();
    c->memory[0] = (uint64_t)step;
    if (c->trim)
        trim(c);
    c->place = !c->place;
    memset(c->sent, 0, (size_t)c->mz->nzones * sizeof *c->sent);
    atomic_store(&c->expects, false);
}

/* ---- resuming -------------------------------------------------------------------------------- */

/* The step that all zones in a place have copies of, 0 if there is none. The ranks of a node share
 * the work of checking. */
static int step_at(const struct copies *c, int place, double *steps)
{
    const int n = c->mz->nzones, me = cluster_rank(), node = cluster_node(me);
    int before = 0, all = 0; /* ranks of this node */
    for (int i = 0; i < cluster_size(); i++) {
        before += i < me && cluster_node(i) == node;
        all += cluster_node(i) == node;
    }
    for (int zone = 0; zone < n; zone++)
        steps[zone] = zone % all == before ? step_of(c, place, zone) : 0;
    cluster_max(steps, (size_t)n);
    for (int zone = 1; zone < n; zone++)
        if (steps[zone] != steps[0])
            return 0;
    return (int)steps[0];
}

int copies_find(struct copies *c)
{
    const int first = step_at(c, 0, c->from), second = step_at(c, 1, c->from);
    c->found = second > first;
    c->place = !c->found;
    memset(c->done, 0, (size_t)c->mz->nzones * sizeof *c->done);
    return c->found ? second : first;
}

/* from[zone] = the rank that sends its copy, -1: the zone's own rank has it. */
static void find_senders(struct copies *c, int step)
{
    const int n = c->mz->nzones, me = cluster_rank();
    double *from = c->from;
    for (int zone = 0; zone < n; zone++)
        from[zone] = c->rank_of[zone] == me && step_of(c, c->found, zone) != step;
    cluster_max(from, (size_t)n);
    for (int zone = 0; zone < n; zone++)
        if (from[zone] > 0 && step_of(c, c->found, zone) == step)
            from[zone] = 1 + cluster_size() - me;
    cluster_max(from, (size_t)n);
    for (int zone = 0; zone < n; zone++)
        from[zone] = from[zone] > 0 ? 1 + cluster_size() - from[zone] : -1;
}

/* Receives the copies that are not on this rank's node, and sends those that others need. */
static enum ek_status fetch(struct copies *c)
{
    const int me = cluster_rank();
    int n = 0;
    OWNED_MEMORY NEW(struct cluster_message, m, c->mz->nzones + 1,
                     "out of memory for copies of zones");
    for (int zone = 0; zone < c->mz->nzones; zone++) {
        const int from = (int)c->from[zone], to = c->rank_of[zone];
        if (from >= 0 && (from == me || to == me))
            m[n++] = message_of(c, c->found, zone, from == me ? to : from, from == me);
    }
    return cluster_exchange(m, n);
}

enum ek_status copies_load(struct copies *c, struct mz *mz, int step)
{
    find_senders(c, step);
    TRY(fetch(c));
    for (int zone = 0; zone < mz->nzones; zone++) {
        struct mz_part part[MZ_PARTS];
        const double *data = copy_at(c, c->found, zone)->data;
        if (!mz->mine[zone])
            continue;
        if (step_of(c, c->found, zone) != step)
            FAIL(EK_UNAVAILABLE, "--survive: the copy of zone %d from rank %.0f is damaged", zone,
                 c->from[zone]);
        mz_parts(mz, zone, part);
        memcpy(part[MZ_U].host, data, part[MZ_U].doubles * sizeof *data);
        memcpy(part[MZ_CARRIED].host, data + part[MZ_U].doubles,
               part[MZ_CARRIED].doubles * sizeof *data);
    }
    return EK_OK;
}
