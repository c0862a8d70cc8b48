/* kirchhoff/traveltime_cache.h – the travel-time tables of a migration: those that are in use,
 * within a budget of memory, each with what interpolation between them needs.
 *
 * Tables belong to nodes of the surface grid, number i * n[1] + j. A source or receiver between
 * nodes takes up to four of them with bilinear weights; where it stands on a node or on a line
 * between two, those without weight are not asked for. */
#pragma once

#include "cu/unit/cu.h"
#include "kirchhoff/tfolder.h"
#include "kirchhoff/velocity.h"
#include <pthread.h>
#include <stddef.h>

enum { TRAVELTIME_CORNERS = 4 };

/* The nodes around a place, their weights, and the way from each of them to the place, m; from the
 * place, at the surface, to the tables' first node. */
struct traveltime_corners {
    int n, node[TRAVELTIME_CORNERS];
    float weight[TRAVELTIME_CORNERS], dx[TRAVELTIME_CORNERS], dy[TRAVELTIME_CORNERS], from[3];
};

struct traveltime_table {
    float *data; /* [columns][TABLE_FIELDS][nz] (kernels/migrate.h), NULL: not here */
    int holders;
    bool coming;        /* somebody loads it */
    unsigned long used; /* when, for the one that is longest unused */
};

struct traveltime_cache {
    struct tfolder *folder;    /* NULL: tables are computed from a velocity with closed forms */
    struct ttable_file **made; /* [nodes] in place of the folder's files, or NULL */
    struct velocity *velocity; /* NULL: nobody asked for it */
    char name[VELOCITY_TEXT];
    struct grid grid;
    struct tfolder_surface surface;
    int nodes;
    struct traveltime_table *table; /* [nodes] */
    size_t bytes;                   /* of one table */
    size_t most, resident;          /* tables that may be here; that are, or are coming */
    unsigned long clock;
    size_t loads; /* tables brought here so far */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* tables were released, or came */
};

/* Tables of a folder, or computed for `surface` and `grid`: where they are needed from a velocity
 * that has a closed form, all of them at once from another one (tables_made.h). `budget`: bytes
 * that tables may take. EK_USAGE: no such folder, sources on no grid, unfilled tables are fine;
 * EK_UNAVAILABLE: memory. Caller owns *t; close accepts NULL. */
enum ek_status traveltime_cache_open(const char *path, size_t budget, struct traveltime_cache **t);
enum ek_status traveltime_cache_compute(const char *velocity, const struct grid *grid,
                                        const struct tfolder_surface *surface, size_t budget,
                                        struct traveltime_cache **t);
void traveltime_cache_close(struct traveltime_cache *t);

/* Where a surface node lies. */
void traveltime_cache_place(const struct traveltime_cache *t, int node, double at[3]);

/* Around (x, y). EK_USAGE: outside the nodes; `what` names the place in the line. */
enum ek_status traveltime_cache_corners(const struct traveltime_cache *t, double x, double y,
                                        const char *what, struct traveltime_corners *c);

/* Brings the tables of nodes node[n] here, all or none, and keeps them until they are released; the
 * threads of the unit, NULL: the caller alone, divide those that nobody brings already. Waits where
 * others hold what must go first. EK_UNAVAILABLE: the budget is too small for so many at once (the
 * line has both numbers); EK_USAGE: a table is damaged. A unit's leader; it holds one set. */
enum ek_status traveltime_cache_hold(struct traveltime_cache *t, const int *node, int n,
                                     const struct cu *cu);
void traveltime_cache_release(struct traveltime_cache *t, const int *node, int n);

/* Reads the velocity that the tables name, unless it is there. EK_USAGE, EK_UNAVAILABLE: it cannot
 * be read. Any thread. */
enum ek_status traveltime_cache_velocity(struct traveltime_cache *t);
/* 1 / v^2 at a place, s^2/m^2. EK_USAGE: the velocity that the tables name cannot be read, or is
 * not positive there. Any thread. */
enum ek_status traveltime_cache_emergence(struct traveltime_cache *t, double x, double y, double z,
                                          float *square);

/* tables_linear.c: data as struct traveltime_table's of a source where v is linear in space. */
void tables_linear(const struct velocity *v, const struct grid *g, const double source[3],
                   float *data);
