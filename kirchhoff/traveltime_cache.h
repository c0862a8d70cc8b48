/* kirchhoff/traveltime_cache.h – keeps a migration's travel-time tables that are in use in memory,
 * within a budget, in a form prepared for interpolation between sources.
 *
 * Each node of the surface grid, number i * n[1] + j, has a table. A source or receiver between
 * nodes uses the tables of up to four with bilinear weights; nodes with weight 0, where it lies on
 * a node or on the line between two, are left out. */
#pragma once

#include "cu/unit/cu.h"
#include "kirchhoff/kernels/device.h"
#include "kirchhoff/tfolder.h"
#include "kirchhoff/velocity.h"
#include <pthread.h>

struct traveltime_table {
    float *data;        /* [columns][TABLE_FIELDS][nz] (kernels/migrate.h), NULL: not loaded */
    int holders;        /* units that hold it; 0: it may be evicted */
    bool coming;        /* being loaded */
    unsigned long used; /* the cache's clock at its last use */
};

struct traveltime_cache {
    struct tfolder *folder;    /* NULL: tables are computed from a velocity with closed forms */
    struct ttable_file **made; /* [nodes] tables of this run, instead of the folder's; or NULL */
    struct velocity *velocity; /* NULL: not read yet */
    char name[VELOCITY_TEXT];  /* the velocity model as text */
    struct grid grid;
    struct tfolder_surface surface;
    int nodes;
    struct traveltime_table *table; /* [nodes] */
    size_t bytes;                   /* of one table */
    size_t most, resident;          /* tables that fit the budget; loaded or being loaded */
    unsigned long clock;            /* counts uses */
    size_t loads;                   /* tables loaded so far */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* tables were released or loaded */
};

/* Tables from a folder, or computed for `surface` and `grid`: on demand if the velocity has closed
 * forms, else all at once (tables_made()). `budget`: bytes that tables may take. EK_USAGE: no such
 * folder, or its sources form no grid (unfilled nodes are allowed); EK_UNAVAILABLE: memory. The
 * caller owns *t; close accepts NULL. */
enum ek_status traveltime_cache_open(const char *path, size_t budget, struct traveltime_cache **t);
enum ek_status traveltime_cache_compute(const char *velocity, const struct grid *grid,
                                        const struct tfolder_surface *surface, size_t budget,
                                        struct traveltime_cache **t);
void traveltime_cache_close(struct traveltime_cache *t);

/* Position of a surface node, m. */
void traveltime_cache_place(const struct traveltime_cache *t, int node, double at[3]);

/* Finds the nodes around (x, y). EK_USAGE: outside the surface grid; `what` names the place in the
 * message. */
enum ek_status traveltime_cache_corners(const struct traveltime_cache *t, double x, double y,
                                        const char *what, struct traveltime_corners *c);

/* Loads the tables of nodes node[n], all or none, and holds them until they are released. The
 * unit's threads (NULL: the caller alone) share the loading; tables that others are loading are
 * waited for, and so is room while others hold too many. EK_UNAVAILABLE: the budget is too small
 * for this many (the message has both sizes); EK_USAGE: a table is damaged. For a unit's leader,
 * which may hold one set at a time. */
enum ek_status traveltime_cache_hold(struct traveltime_cache *t, const int *node, int n,
                                     const struct cu *cu);
void traveltime_cache_release(struct traveltime_cache *t, const int *node, int n);

/* Reads the tables' velocity model if that has not been done. EK_USAGE, EK_UNAVAILABLE: it cannot
 * be read. Any thread. */
enum ek_status traveltime_cache_velocity(struct traveltime_cache *t);
/* *square = 1 / v^2 at a place, s^2/m^2. EK_USAGE: the velocity cannot be read or is not positive
 * there. Any thread. */
enum ek_status traveltime_cache_emergence(struct traveltime_cache *t, double x, double y, double z,
                                          float *square);

/* tables_linear.c: fills data, as in struct traveltime_table, for v linear in space. */
void tables_linear(const struct velocity *v, const struct grid *g, const double source[3],
                   float *data);

/* tables_made.c: a migration's own tables for velocities without closed forms, with strongest
 * arrivals by wavefronts, and first arrivals where those fail, as in kirchhoff-tt. Computes them
 * for t's grid, surface and velocity, `threads` sources at a time, into t->made, and their counts
 * into t->folder; does nothing if there are tables or closed forms. The tables are files in $TMPDIR
 * (/tmp) that are unlinked at once, so nothing is left however the process ends. EK_USAGE: the
 * velocity; EK_UNAVAILABLE: no room; EK_STOPPED. */
enum ek_status tables_made(struct traveltime_cache *t, int threads);
