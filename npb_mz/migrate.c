/* npb_mz/migrate.c – sends and receives the state of zones. */
#include "npb_mz/migrate.h"
#include "cu/rank/cluster.h"

#include <stdlib.h>

enum { PARTS = 3 };

/* MPI counts in int: longer parts go in pieces, which arrive in their order. */
static const size_t PIECE = 1 << 28; /* doubles */

struct part {
    double *at;
    size_t doubles;
};

static void set_parts(const struct mz *mz, int zone, struct part part[PARTS])
{
    const struct mz_zone *z = &mz->zone[zone];
    const size_t field = MZ_VARS * (size_t)z->volume, at = MZ_VARS * (size_t)z->first;
    part[0] = (struct part){mz->u + at, field};
    part[1] = (struct part){mz_zone_forcing(mz, zone), mz_shares_forcing(mz) ? 0 : field};
    part[2] = (struct part){mz->carried + z->carried, mz->ops->carried ? mz->ops->carried(z) : 0};
}

/* Adds the messages of a zone to m, or only counts them where m is NULL; returns how many. */
static int list_zone(const struct mz *mz, int zone, int peer, bool sends, struct cluster_message *m)
{
    struct part part[PARTS];
    int n = 0;
    set_parts(mz, zone, part);
    for (int i = 0; i < PARTS; i++)
        for (size_t at = 0; at < part[i].doubles; at += PIECE, n++) {
            const size_t left = part[i].doubles - at;
            if (m)
                m[n] = (struct cluster_message){.peer = peer,
                                                .tag = PARTS * zone + i,
                                                .sends = sends,
                                                .buffer = part[i].at + at,
                                                .doubles = left < PIECE ? left : PIECE};
        }
    return n;
}

static int list_zones(const struct mz *mz, const int *of, const int *next,
                      struct cluster_message *m)
{
    const int me = cluster_rank();
    int n = 0;
    for (int zone = 0; zone < mz->nzones; zone++)
        if (of[zone] != next[zone] && (of[zone] == me || next[zone] == me))
            n += list_zone(mz, zone, of[zone] == me ? next[zone] : of[zone], of[zone] == me,
                           m ? m + n : NULL);
    return n;
}

static void settle(struct mz *mz, const int *of, const int *next)
{
    for (int zone = 0; zone < mz->nzones; zone++) {
        struct part part[PARTS];
        mz->mine[zone] = next[zone] == cluster_rank();
        set_parts(mz, zone, part);
        for (int i = 0; of[zone] == cluster_rank() && !mz->mine[zone] && i < PARTS; i++)
            field_release(part[i].at, part[i].doubles);
    }
}

enum ek_status migrate_zones(struct mz *mz, const int *of, const int *next)
{
    const int n = list_zones(mz, of, next, NULL);
    struct cluster_message *m = calloc((size_t)n + 1, sizeof *m);
    struct cluster_mail *mail = NULL;
    if (!m)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %d messages", mz->ops->name, n);
    list_zones(mz, of, next, m);
    enum ek_status st = cluster_mail_open(m, n, &mail);
    for (int i = 0; !st && i < n; i++)
        cluster_mail_start(mail, i);
    if (!st) {
        cluster_mail_wait(mail);
        settle(mz, of, next);
    }
    cluster_mail_close(mail);
    free(m);
    return st;
}
