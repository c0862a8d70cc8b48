/* kirchhoff/tfolder.h – a folder of travel-time tables, one per source, and its index.json.
 *
 * The index says what the tables have in common and where each source lies. Sources on a regular
 * grid at one depth have its shape, so that others can interpolate between them. */
#pragma once

#include "kirchhoff/ttable.h"

/* Sources at (origin + i step_x, origin + j step_y, depth), number i * n[1] + j. */
struct tfolder_surface {
    int n[2]; /* 0, 0: the sources lie anywhere */
    double origin[2], step[2], depth;
};

struct tfolder_source {
    double at[3];           /* m */
    char file[64];          /* name in the folder */
    size_t unfilled;        /* nodes */
    size_t judged, failing; /* sampled nodes, and those that fail their residual (certify.h) */
};

struct tfolder {
    char path[3072]; /* of the folder */
    struct grid grid;
    char velocity[VELOCITY_TEXT];
    struct tfolder_surface surface;
    size_t nsources;
    struct tfolder_source *source; /* [nsources] */
};

/* What the index says of all tables together. */
struct tfolder_total {
    double nodes, unfilled, judged, failing;
};
struct tfolder_total tfolder_total(const struct tfolder *f);

/* What a finished table says of itself; NULL: nothing. Any thread. */
void tfolder_note(struct tfolder *f, size_t source, const struct ttable *t);
/* All ranks know what one of them has noted; the others must have noted nothing. Collective. */
void tfolder_gather(struct tfolder *f);

/* Copies places [n][3] of sources and names their files. EK_UNAVAILABLE: memory. close accepts
 * NULL. */
enum ek_status tfolder_make(const char *path, const struct grid *grid, const char *velocity,
                            const struct tfolder_surface *surface, size_t n,
                            const double (*place)[3], struct tfolder **f);
void tfolder_close(struct tfolder *f);

/* Writes the index, and makes the folder where it is missing. EK_UNAVAILABLE: cannot be written. */
enum ek_status tfolder_write(const struct tfolder *f);
/* Reads the index. EK_USAGE: there is none, or it is not intact (the line says what is wrong). */
enum ek_status tfolder_open(const char *path, struct tfolder **f);

/* Path of a source's table; path [4096]. */
void tfolder_path(const struct tfolder *f, size_t source, char *path);
/* Whether a table is of the index's grid, place and velocity. */
bool tfolder_fits(const struct tfolder *f, size_t source, const struct ttable *t);
/* Its table, which must be of the index's grid and place. EK_USAGE as ttable_open(). */
enum ek_status tfolder_table(const struct tfolder *f, size_t source, struct ttable **t);
