/* npb_mz/migrate.c – sends and receives the state of zones. */
#include "npb_mz/ranks.h"
#include "cu/rank/cluster.h"

/* MPI counts in int: longer parts are sent in pieces, which arrive in order. */
static const size_t PIECE = 1 << 28; /* doubles */

/* Adds the messages of a zone to m, or only counts them where m is NULL; returns how many. */
static int list_zone(const struct mz *mz, int zone, int peer, bool sends, struct cluster_message *m)
{
    struct mz_part part[MZ_PARTS];
    int n = 0;
    mz_parts(mz, zone, part);
    for (int i = 0; i < MZ_PARTS; i++)
        for (size_t at = 0; at < part[i].doubles; at += PIECE, n++) {
            const size_t left = part[i].doubles - at;
            if (m)
                m[n] = (struct cluster_message){.peer = peer,
                                                .tag = MZ_PARTS * zone + i,
                                                .sends = sends,
                                                .buffer = part[i].host + at,
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

/* Returns the pages of a zone that has left to the system. */
static void release(const struct mz *mz, int zone)
{
    struct mz_part part[MZ_PARTS];
    mz_parts(mz, zone, part);
    for (int i = 0; i < MZ_PARTS; i++)
        field_release(part[i].host, part[i].doubles);
    field_release(mz_zone_walls(mz, zone), (size_t)mz_walls_size(&mz->zone[zone]));
}

static void settle(struct mz *mz, const int *of, const int *next)
{
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_settle(mz, zone); /* its walls may lie in memory of a zone that leaves */
    for (int zone = 0; zone < mz->nzones; zone++) {
        mz->mine[zone] = next[zone] == cluster_rank();
        mz_walls_forget(mz, zone);
        if (of[zone] == cluster_rank() && !mz->mine[zone])
            release(mz, zone);
    }
}

enum ek_status migrate_zones(struct mz *mz, const int *of, const int *next)
{
    const int n = list_zones(mz, of, next, NULL);
    OWNED_MEMORY NEW(struct cluster_message, m, (size_t)n + 1, "%s: out of memory for %d messages",
                     mz->ops->name, n);
    list_zones(mz, of, next, m);
    TRY(cluster_exchange(m, n));
    settle(mz, of, next);
    return EK_OK;
}
