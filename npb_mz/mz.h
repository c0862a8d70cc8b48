/* npb_mz/mz.h – the NAS multi-zone problems: classes, zones, fields, steps, exchange, verification.
 *
 * A mesh is cut into X x Y zones of nz = mesh[2] planes each; a step exchanges the zones' faces and
 * then advances every zone on its own. A solver is one
 * const struct mz_ops in one file, one kernel text, and one line in mz_list.h.
 *
 * Fields are structures of arrays: [m][k][j][i] of a zone, i contiguous, rows of `pitch` doubles.
 * Zone z's part of a field with c components begins c * first doubles into the field on the host;
 * the forcing of equal zones is there once. i = 1 is aligned for SIMD.
 *
 * Source of the numerics: NAS-03-010 and RNR-94-007. Conserved u = (rho, rho v, E). */
#pragma once

#include "npb_mz/kernels/row.h"
#include "npb_mz/field.h"
#include "src/arena.h"
#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>

enum { MZ_VARS = 5, MZ_PRIMS = 7, MZ_NORMS = 5 };
enum mz_side { MZ_WEST, MZ_EAST, MZ_SOUTH, MZ_NORTH, MZ_SIDES };

/* Largest relative deviation of a norm that verifies, as the suite has it. */
#define MZ_TOLERANCE 1e-8

/* One row of the table of classes; a letter has a second row where the reference has norms for a
 * shorter run too. */
struct mz_class {
    const char *solver; /* "bt-mz" */
    char letter;        /* S W A B C D E F */
    int steps;
    double dt;
    double residual[MZ_NORMS], error[MZ_NORMS]; /* reference norms */
    double surface; /* reference surface integral, 0 where it is no norm of the solver */
};

/* Mesh and zones of a letter, the same for all solvers except the zones of LU. */
struct mz_mesh {
    char letter;
    int points[3]; /* global mesh */
    int zones[2];  /* zones in x and y */
};

struct mz_zone {
    int nx, ny, nz;          /* points, boundary included */
    int pitch;               /* doubles from (i,j,k) to (i,j+1,k) */
    long plane, volume;      /* doubles from k to k+1, from component m to m+1 */
    long first;              /* points (padding included) of the zones before this one */
    long forced;             /* the same in the forcing: equal zones share one */
    long carried;            /* doubles that the zones before this one carry beside u */
    long walls;              /* doubles of their walls */
    int neighbour[MZ_SIDES]; /* zone behind each side, periodic */
};

/* Constants as kernels and solvers use them, the time step already multiplied in. */
struct mz_consts {
    struct {
        double tau2;   /* dt / (2h) */
        double spread; /* dt D / h^2 */
        double visc;   /* dt c3 c4 / h^2 */
    } axis[3];
    double damping; /* dt * dssp, fourth differences */
};

/* Exact solution along one axis: value = constant + sum over axes of part[m][s]. */
struct mz_axis {
    double h;            /* spacing */
    int n;               /* points of the longest zone */
    double *at;          /* [n] coordinate */
    double *part;        /* [MZ_VARS][n] the axis' polynomial */
    double end[MZ_VARS]; /* the polynomial at coordinate 1 */
};

struct mz;
struct mz_work;

/* One launch of a solver's step on a device. Its arguments, a letter each: u, g forcing, w
 * right-hand side, p derived variables, s scratch, k carried, c constants, z (rows of the zones,
 * first zone, number of zones), d direction; r or f: the launch is repeated for each plane
 * run + j + k = h of runs that holds interior points, h rising or falling, and takes h. */
struct mz_launch {
    const char *kernel;
    enum zone_grid grid;
    const char *arguments;
    int direction;
};

/* A solver. */
struct mz_ops {
    const char *name;      /* "bt-mz" */
    double ratio, ratio_s; /* largest to smallest zone in x and y: all classes but S, class S */
    int zones[2];          /* zones in x and y of every class; 0 = those of the class' mesh */
    /* A zone's points span 0 .. 1; otherwise the mesh' points, shared out evenly, have the spacing
     * of 1 / (their mean number per zone). */
    bool unit_zones;
    int error_margin; /* planes at each boundary that the error norm leaves out */
    double work[4];   /* Mop per zone and step, times 1e6: of n^3, surface, mean n, 1 */
    /* Doubles that a zone carries from step to step beside u, and their value when u is the initial
     * state (NULL: none). They move with the zone. */
    size_t (*carried)(const struct mz_zone *);
    void (*carried_reset)(struct mz *, int zone);
    /* Doubles of scratch that a thread needs beside the right-hand side's. */
    size_t (*scratch)(const struct mz *);
    /* Doubles that a team of `width` needs in work->w, NULL: one right-hand side of any zone. */
    size_t (*team_scratch)(const struct mz *, int width);
    /* Advances one zone by one step, bit for bit the same for any width. On the unit's thread;
     * forms a team of work->width. Different units may advance different zones at the same time. */
    void (*step)(struct mz *, struct mz_work *, int zone);
    /* The same on a device: the solver's kernel text, launches in order, up to kernel NULL, and the
     * doubles of scratch per point of a batch. */
    const char *text;
    const struct mz_launch *launches;
    int device_scratch;
};

/* A zone's walls, and whether its newest state lies there: [0] and `in` boundary values, which are
 * not in u; [1] and `out` the interior planes next to them, which are in u as well. */
struct mz_walled {
    bool in[MZ_SIDES], out[MZ_SIDES];
    double *wall[2][MZ_SIDES];
};

struct mz {
    const struct mz_ops *ops;
    const struct mz_class *class;
    const struct mz_mesh *mesh;
    struct mz_consts consts;
    struct mz_axis axis[3];
    int nzones;
    struct mz_zone *zone; /* [nzones], x fastest */
    bool *mine;           /* [nzones] zones that this process steps; others take no memory */
    long points;          /* of all zones, padding included */
    int most_nx, most_ny, most_pitch;
    long most_plane, most_volume; /* of the largest zone */
    double *u;                    /* [points * MZ_VARS] */
    double *forcing;              /* dt g, 0 on boundaries: mz_zone_forcing() */
    double *carried;              /* [size_carried] */
    long size_carried;
    double *walls; /* what the walls of all zones lie in: walled says whose are where */
    struct mz_walled *walled;
    struct field memory[4]; /* what u, forcing, carried and walls lie in */
    struct arena arena;     /* the other arrays */
};

/* Scratch of one unit: reused for every zone and step, owned by who opened it. */
struct mz_work {
    int width; /* threads of the unit's team */
    struct thread_pool
        *pool;        /* that are ready for work, or NULL: each parallel part starts them anew */
    double *w;        /* right-hand side of one zone, [MZ_VARS][volume], or team_scratch() */
    double **scratch; /* [width] each thread's own */
    struct field memory;
    struct arena arena;
};

/* What moves with a zone: u, what the solver carries, and forcing, which never changes; 0 doubles
 * where all zones share it. mz_parts() settles the zone first. */
enum { MZ_U, MZ_CARRIED, MZ_FORCING, MZ_PARTS };
struct mz_part {
    double *host;
    size_t doubles;
};
void mz_parts(const struct mz *mz, int zone, struct mz_part part[MZ_PARTS]);
/* Doubles that a zone carries. */
size_t mz_carried(const struct mz_ops *ops, const struct mz_zone *zone);

/* ---- classes.c, zones.c ---- */

/* The solver by name ("bt-mz"), NULL if there is none; the i-th, NULL past the end. */
const struct mz_ops *mz_find(const char *name);
const struct mz_ops *mz_at(int i);
/* The row for this solver and letter; steps 0 = the row of the full run. NULL if there is none. */
const struct mz_class *mz_class_find(const char *solver, char letter, int steps);
/* Its time step is that of the row that the reference norms belong to. */
bool mz_is_standard(const struct mz_class *class);
const struct mz_mesh *mz_mesh_find(char letter);

enum { ZONES_ALIGN = 8 };  /* doubles: rows are whole vectors at every instruction level */
enum { ZONES_MOST = 128 }; /* zones along one axis in the largest class */

/* What all zones take together. */
struct zones_size {
    long points;  /* padding included */
    long forced;  /* of them those that have a forcing of their own */
    long carried; /* doubles carried beside u */
    long walls;
};

/* Fills zone[] (x fastest; may be NULL). */
struct zones_size zones_layout(const struct mz_ops *ops, const struct mz_mesh *mesh,
                               struct mz_zone *zone);

/* Sizes of `zones` zones that share `points` mesh points, largest/smallest about `ratio`. */
void mz_zone_sizes(int points, int zones, double ratio, int *size);
/* Bytes that mz_open_mesh() takes for a class, without the scratch of the units. */
size_t mz_bytes(const struct mz_ops *ops, const struct mz_class *class);

/* ---- mz.c ---- */

/* Allocates the zones on a mesh that may be another than the class', with 6 points and more along
 * each axis, and outlives *mz; none is claimed. EK_UNAVAILABLE: no memory, the line says how much.
 * Caller owns *mz. One thread, outside parallel regions. */
enum ek_status mz_open_mesh(const struct mz_ops *ops, const struct mz_class *class,
                            const struct mz_mesh *mesh, struct mz **mz);
void mz_close(struct mz *mz);
/* From now on the zones with rank_of[zone] == rank (NULL: all) are stepped here: computes their
 * forcing, or the one of all. EK_UNAVAILABLE. */
enum ek_status mz_claim(struct mz *mz, const int *rank_of, int rank);
/* Puts the initial state into all claimed zones. */
void mz_reset(struct mz *mz);

/* Scratch for a unit of `width` threads; allocate it on the unit's thread (first touch). */
enum ek_status mz_work_open(const struct mz *mz, int width, struct mz_work **work);
void mz_work_close(struct mz_work *work);

/* For the solvers: part(mz, work, zone, t) on every thread t = 0 .. width-1 of the unit. */
void mz_parallel(struct mz *mz, struct mz_work *work, int zone,
                 void (*part)(struct mz *, struct mz_work *, int zone, int t));

static inline long mz_most(long a, long b)
{
    return a > b ? a : b;
}

/* The t-th of `width` shares of what lies at first .. first+n-1: *begin .. *end-1. */
static inline void mz_share(int first, int n, int t, int width, int *begin, int *end)
{
    *begin = first + t * n / width;
    *end = first + (t + 1) * n / width;
}

/* Nominal operations of a run of class->steps steps, in Mop. */
double mz_mop(const struct mz *mz);
/* Nominal operations of one step of a zone: its declared cost. */
double mz_zone_mop(const struct mz *mz, int zone);
/* What kernels take: rows[nzones + 1]; no zone has a place yet. */
void mz_zone_rows(const struct mz *mz, struct zone_row *rows);

/* Number of zones along x or y (d = 0, 1; 1 in z). */
int mz_zones_along(const struct mz_ops *ops, const struct mz_mesh *mesh, int d);

static inline double *mz_zone_u(const struct mz *mz, int zone)
{
    return mz->u + MZ_VARS * mz->zone[zone].first;
}

static inline double *mz_zone_forcing(const struct mz *mz, int zone)
{
    return mz->forcing + MZ_VARS * mz->zone[zone].forced;
}

/* Doubles of one face. */
static inline long mz_wall_size(const struct mz_zone *z, enum mz_side side)
{
    return MZ_VARS * (z->nz - 2L) * ((side < MZ_SOUTH ? z->ny : z->nx) - 2);
}

/* Doubles of all walls of a zone. */
static inline long mz_walls_size(const struct mz_zone *z)
{
    return 4 * (mz_wall_size(z, MZ_WEST) + mz_wall_size(z, MZ_SOUTH));
}

/* West, east, south, north, one behind the other. */
static inline void mz_walls_of(const struct mz_zone *z, double *at, double *wall[MZ_SIDES])
{
    for (int side = 0; side < MZ_SIDES; at += mz_wall_size(z, (enum mz_side)side), side++)
        wall[side] = at;
}

static inline double *mz_zone_walls(const struct mz *mz, int zone)
{
    return mz->walls + mz->zone[zone].walls;
}

/* Zones of equal size, at the same coordinates therefore, have one forcing. */
static inline bool mz_shares_forcing(const struct mz *mz)
{
    return mz->nzones > 1 && !mz->zone[1].forced;
}

/* ---- exact.c ---- */

/* Fills at, part and end of axis d (0, 1, 2); h, n and the room are there. */
void exact_axis(struct mz_axis *axis, int d);

/* Exact solution at point (i,j,k) of any zone: zones share spacing and origin. */
void exact_point(const struct mz *mz, int i, int j, int k, double *u);

/* Exact solution at all points of `zone`, padding included, to u[MZ_VARS][volume]. */
void exact_fill(const struct mz *mz, const struct mz_zone *zone, double *u);

/* Initial state of `zone`, padding included: transfinite interpolation inside, exact values on the
 * faces with the normal coordinate 0 or 1 there. */
void exact_initial(const struct mz *mz, const struct mz_zone *zone, double *u);

/* ---- exchange.c: faces between zones that are on the host ---- */

/* Gives `zone` the boundary values at `side` from its neighbour's interior points; all faces at
 * once, in any order. They lie in walls; a step reads them there. */
void mz_face_copy(struct mz *mz, int zone, enum mz_side side);
/* Doubles of one face in a buffer, [m][k][along the face], inner points only. */
size_t mz_face_size(const struct mz *mz, int zone, enum mz_side side);
/* The plane that the neighbour behind `side` wants, to a buffer; what that neighbour packed (on its
 * opposite side), from a buffer into the boundary. */
void mz_face_pack(const struct mz *mz, int zone, enum mz_side side, double *buffer);
void mz_face_unpack(struct mz *mz, int zone, enum mz_side side, const double *buffer);
/* A step begins with the first: all boundary values are in the walls then. Once rows j0 .. j1-1 of
 * the planes k0 .. k1-1 are done it calls the second, for each row and plane once. */
void mz_walls_begin(struct mz *mz, int zone);
void mz_walls_keep(const struct mz *mz, int zone, int j0, int j1, int k0, int k1);
/* From now on u holds all of the zone, and may be changed. */
void mz_settle(const struct mz *mz, int zone);
/* The zone's walls, of which nothing is wanted any more, are those of mz_zone_walls(), as they are
 * at first: for all zones together, since walls change hands. */
void mz_walls_forget(struct mz *mz, int zone);

/* ---- rhs.c ---- */

/* Doubles that a sweep of the right-hand side takes from a thread's scratch. */
size_t rhs_scratch(const struct mz *mz);
/* The right-hand side of the whole zone to work->w[MZ_VARS][volume] by the unit's team. */
void rhs_zone_all(const struct mz *mz, struct mz_work *work, int zone, const double *u,
                  const double *forcing);

/* ---- norms.c ---- */

struct mz_norms {
    double residual[MZ_NORMS], error[MZ_NORMS];
    double surface; /* integral of the pressure, 0 where it is no norm of the solver */
    double worst;   /* largest relative deviation from the class' reference; NAN if any is NAN */
    bool verified;  /* every deviation at most 1e-8 */
};

/* A zone's part of the norms: residual, error, surface integral. */
enum { MZ_VALUES = 2 * MZ_NORMS + 1 };

/* The part of a zone on the host, from its present u. */
void mz_zone_values(struct mz *mz, struct mz_work *work, int zone, double value[MZ_VALUES]);

/* The norms of all zones, which are on the host of the rank that claims them. The same bits for any
 * width and ranks. EK_UNAVAILABLE: out of memory. Collective. */
enum ek_status mz_verify(struct mz *mz, struct mz_work *work, struct mz_norms *norms);
