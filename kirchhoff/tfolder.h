/* kirchhoff/tfolder.h – a folder of travel-time tables, one per source, and its index.json.
 *
 * The index holds what the tables have in common and the position of each source; if the sources
 * form a regular grid at one depth, also that grid, for interpolation between them. */
#pragma once

#include "kirchhoff/ttable.h"

/* Sources at (origin + i step_x, origin + j step_y, depth), number i * n[1] + j. */
struct tfolder_surface {
    int n[2]; /* 0, 0: the sources form no grid */
    double origin[2], step[2], depth;
};

struct tfolder_source {
    double at[3];           /* m */
    char file[64];          /* its table's file name in the folder */
    size_t unfilled;        /* nodes */
    size_t judged, failing; /* nodes sampled, and those that fail the eikonal test (certify.h) */
};

struct tfolder {
    char path[3072]; /* of the folder */
    struct grid grid;
    char velocity[VELOCITY_TEXT]; /* the model as text (velocity.h) */
    struct tfolder_surface surface;
    size_t nsources;
    struct tfolder_source *source; /* [nsources] */
};

/* Numbers of nodes of all tables together. */
struct tfolder_total {
    double nodes, unfilled, judged, failing;
};
struct tfolder_total tfolder_total(const struct tfolder *f);

/* Copies a finished table's counts to f's source; NULL: zeros. Any thread, each its own source. */
void tfolder_note(struct tfolder *f, size_t source, const struct ttable *t);
/* Adds up the counts of all ranks, of which only one may have noted a source. Collective. */
void tfolder_gather(struct tfolder *f);

/* A new index of sources at place [n][3]; names their files, writes nothing. EK_UNAVAILABLE:
 * memory. The caller owns *f; close accepts NULL. */
enum ek_status tfolder_make(const char *path, const struct grid *grid, const char *velocity,
                            const struct tfolder_surface *surface, size_t n,
                            const double (*place)[3], struct tfolder **f);
void tfolder_close(struct tfolder *f);

/* Writes the index, creating the folder if needed. EK_UNAVAILABLE: cannot be written. */
enum ek_status tfolder_write(const struct tfolder *f);
/* Reads the index. EK_USAGE: missing or damaged (the message says what is wrong). */
enum ek_status tfolder_open(const char *path, struct tfolder **f);

/* Writes the path of a source's table to path [4096]. */
void tfolder_path(const struct tfolder *f, size_t source, char *path);
/* Whether a table has the index's grid, velocity and source position. */
bool tfolder_fits(const struct tfolder *f, size_t source, const struct ttable *t);
/* Reads a source's table. EK_USAGE: as ttable_open(), or it does not fit the index. */
enum ek_status tfolder_table(const struct tfolder *f, size_t source, struct ttable **t);
