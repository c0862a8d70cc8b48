/* npb_mz/mz.h – the NAS multi-zone problems: classes, zones, fields, steps, exchange, verification.
 *
 * A mesh is cut into X x Y zones of nz = mesh[2] planes each. A step exchanges the faces of the
 * zones and then advances every zone on its own. A solver is one const struct mz_ops in one file,
 * one kernel text, and one line in mz_list.h.
 *
 * A zone's part of a field is [m][k][j][i], i contiguous, rows of `pitch` doubles. On the host,
 * zone z's part of a field of c components begins c * z.first doubles into the field. Zones of
 * equal size share one forcing. i = 1 is aligned for SIMD.
 *
 * Source of the numerics: NAS-03-010 and RNR-94-007. Conserved u = (rho, rho v, E). */
#pragma once

#include "npb_mz/kernels/row.h"
#include "npb_mz/field.h"

enum { MZ_VARS = 5, MZ_NORMS = 5 };
enum mz_side { MZ_WEST, MZ_EAST, MZ_SOUTH, MZ_NORTH, MZ_SIDES };

/* Largest relative deviation from the reference with which a norm verifies, as in the suite. */
#define MZ_TOLERANCE 1e-8

/* One row of the table of classes. Class F has two: the reference also has norms of a short run. */
struct mz_class {
    const char *solver; /* "bt-mz" */
    char letter;        /* S W A B C D E F */
    int steps;
    double dt;
    double residual[MZ_NORMS], error[MZ_NORMS]; /* reference norms */
    double surface; /* reference surface integral, 0 if the solver does not verify one */
};

/* Mesh and zones of a class letter: the same for all solvers, but LU has 4 x 4 zones always. */
struct mz_mesh {
    char letter;
    int points[3]; /* global mesh */
    int zones[2];  /* zones in x and y */
};

struct mz_zone {
    int nx, ny, nz;          /* points, boundary included */
    int pitch;               /* doubles from (i,j,k) to (i,j+1,k) */
    long plane, volume;      /* doubles from k to k+1, from component m to m+1 */
    long first;              /* offset in u: points of all zones before this one, with padding */
    long forced;             /* offset in the forcing, likewise; 0 if all zones share one */
    long carried;            /* offset in mz->carried, doubles */
    long walls;              /* offset in mz->walls, doubles */
    int neighbour[MZ_SIDES]; /* zone across each side, periodic */
};

/* Constants of the equations, multiplied by the time step, as kernels and solvers use them. */
struct mz_consts {
    struct {
        double tau2;   /* dt / (2h) */
        double spread; /* dt D / h^2 */
        double visc;   /* dt c3 c4 / h^2 */
    } axis[3];
    double damping; /* dt * dssp, of the fourth differences */
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

/* One launch of a solver's step on a device. `arguments` has one letter per kernel argument: u,
 * g forcing, w right-hand side, p derived variables, s scratch, k carried values, c constants,
 * z (table of zones, first zone, number of zones), d direction. With r (rising) or f (falling) the
 * launch is repeated for every hyperplane h = run + j + k that holds interior points, h being the
 * argument; b gives a block's lines in y and in z. */
struct mz_launch {
    const char *kernel;
    enum zone_grid grid;
    const char *arguments;
    int direction;
};

/* A solver. */
struct mz_ops {
    const char *name;      /* "bt-mz" */
    double ratio, ratio_s; /* largest to smallest zone width in x and in y; the same in class S */
    int zones[2];          /* zones in x and y in every class; 0 = as the class' mesh says */
    /* Spacing: true 1 / (points - 1) of the mean zone; false zones / (points - 1) of the mesh. */
    bool unit_zones;
    int error_margin; /* planes at each boundary that the error norm leaves out */
    double work[4];   /* operations per zone and step: coefficients of n^3, surface, mean n, 1 */
    /* Doubles that a zone carries from step to step beside u, and what sets them when u is the
     * initial state (NULL: none). They move with the zone. */
    size_t (*carried)(const struct mz_zone *);
    void (*carried_reset)(struct mz *, int zone);
    /* Doubles of scratch that each thread needs, not counting rhs_scratch(). */
    size_t (*scratch)(const struct mz *);
    /* Doubles that a team of `width` needs in work->w; NULL: the right-hand side of one zone. */
    size_t (*team_scratch)(const struct mz *, int width);
    /* Advances one zone by one step; the bits do not depend on the width. Called on the unit's
     * thread, uses a team of work->width. Units may advance different zones at the same time. */
    void (*step)(struct mz *, struct mz_work *, int zone);
    /* On a device: the solver's kernel text, its launches in order, ended by kernel NULL, and the
     * doubles of scratch per point of a batch. */
    const char *text;
    const struct mz_launch *launches;
    int device_scratch;
    /* Another text and launches, for devices where work-groups may wait; NULL: none. */
    const char *waiting_text;
    const struct mz_launch *waiting;
};

/* Walls of a zone: per side, wall[0] has the boundary values and wall[1] a copy of the interior
 * plane next to them. in: the newest boundary values are in wall[0], not in u. out: wall[1] is up
 * to date (u is, too). */
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
    bool *mine;           /* [nzones] zones that this rank steps; others take no memory */
    long points;          /* of all zones, padding included */
    /* largest of any zone */
    int max_nx, max_ny, max_pitch;
    long max_plane, max_volume;
    double *u;       /* [points * MZ_VARS] */
    double *forcing; /* dt g, 0 on boundaries: mz_zone_forcing() */
    double *carried; /* [size_carried] */
    long size_carried;
    double *walls;            /* memory of all walls, */
    struct mz_walled *walled; /* [nzones] which zone has which */
    struct field memory[4];   /* of u, forcing, carried and walls */
    struct arena arena;       /* of the other arrays */
};

/* Scratch of one unit, reused for every zone and step. */
struct mz_work {
    int width;                /* threads of the unit's team */
    struct thread_pool *pool; /* the team; NULL: OpenMP starts one for each parallel part */
    double *w;                /* right-hand side of a zone, [MZ_VARS][volume], or team_scratch() */
    double **scratch;         /* [width] each thread's own */
    struct field memory;
    struct arena arena;
};

/* What moves with a zone: u, what the solver carries, and the forcing (0 doubles if all zones share
 * one). mz_parts() calls mz_settle() first. */
enum { MZ_U, MZ_CARRIED, MZ_FORCING, MZ_PARTS };
struct mz_part {
    double *host;
    size_t doubles;
};
void mz_parts(const struct mz *mz, int zone, struct mz_part part[MZ_PARTS]);
/* Doubles that a zone carries beside u. */
size_t mz_carried(const struct mz_ops *ops, const struct mz_zone *zone);

/* ---- classes.c, zones.c ---- */

/* The solver of that name ("bt-mz"), or NULL; the i-th solver, NULL past the end. */
const struct mz_ops *mz_find(const char *name);
const struct mz_ops *mz_at(int i);
/* The row of a solver, letter and number of steps (0: the full run), or NULL. */
const struct mz_class *mz_class_find(const char *solver, char letter, int steps);
/* Whether its time step is the one of its reference norms. */
bool mz_is_standard(const struct mz_class *class);
const struct mz_mesh *mz_mesh_find(char letter);

enum { ZONES_ALIGN = 8 }; /* doubles: rows are whole vectors at every instruction level */
enum { ZONES_MAX = 128 }; /* zones along one axis in the largest class */

/* Sizes of the fields of all zones together. */
struct zones_size {
    long points;  /* of u, padding included */
    long forced;  /* points of the forcing */
    long carried; /* doubles */
    long walls;   /* doubles */
};

/* Fills zone[] (x fastest), unless it is NULL; returns the sizes. */
struct zones_size zones_layout(const struct mz_ops *ops, const struct mz_mesh *mesh,
                               struct mz_zone *zone);

/* Cuts `points` mesh points into `zones` sizes whose largest is about `ratio` times the smallest.
 */
void mz_zone_sizes(int points, int zones, double ratio, int *size);
/* Bytes of a mesh's fields if one rank claims all zones; the units' scratch comes on top. */
size_t mz_bytes(const struct mz_ops *ops, const struct mz_mesh *mesh);

/* ---- mz.c ---- */

/* Opens a problem on `mesh`, which may differ from the class' mesh, must have at least 6 points
 * along each axis of every zone (EK_USAGE), at most ZONES_MAX zones, and must outlive *mz. No zone
 * is claimed yet. EK_UNAVAILABLE: out of memory. The caller owns *mz. One thread, outside parallel
 * regions. */
enum ek_status mz_open_mesh(const struct mz_ops *ops, const struct mz_class *class,
                            const struct mz_mesh *mesh, struct mz **mz);
void mz_close(struct mz *mz);
/* This rank claims the zones with rank_of[zone] == rank (NULL: all): computes their forcing and
 * sets their initial state. EK_UNAVAILABLE: out of memory. */
enum ek_status mz_claim(struct mz *mz, const int *rank_of, int rank);
/* Sets all claimed zones to the initial state. */
void mz_reset(struct mz *mz);

/* Scratch for a unit of `width` threads; call it on the unit's thread (first touch). */
enum ek_status mz_work_open(const struct mz *mz, int width, struct mz_work **work);
void mz_work_close(struct mz_work *work);

/* For the solvers: calls part(mz, work, zone, t) on each thread t = 0 .. width-1 of the unit. */
void mz_parallel(struct mz *mz, struct mz_work *work, int zone,
                 void (*part)(struct mz *, struct mz_work *, int zone, int t));

static inline long mz_min(long a, long b)
{
    return a < b ? a : b;
}

static inline long mz_max(long a, long b)
{
    return a > b ? a : b;
}

/* The t-th of `width` equal shares of first .. first+n-1: *begin .. *end-1. */
static inline void mz_share(int first, int n, int t, int width, int *begin, int *end)
{
    *begin = first + t * n / width;
    *end = first + (t + 1) * n / width;
}

/* Nominal operations of class->steps steps, in Mop. */
double mz_mop(const struct mz *mz);
/* Nominal operations of one step of a zone, in Mop: its declared cost. */
double mz_zone_mop(const struct mz *mz, int zone);
/* Fills the table of zones that kernels take, rows[nzones + 1], with no zone on the device yet. */
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

/* Zones of equal size have the same coordinates, so one forcing serves all. */
static inline bool mz_shares_forcing(const struct mz *mz)
{
    return mz->nzones > 1 && !mz->zone[1].forced;
}

/* ---- exact.c ---- */

/* Fills at, part and end of axis d (0, 1, 2); the caller has set h and n and allocated the rest. */
void exact_axis(struct mz_axis *axis, int d);

/* Exact solution at point (i,j,k) of any zone: all zones have the same spacing and origin. */
void exact_point(const struct mz *mz, int i, int j, int k, double *u);

/* Exact solution at all points of `zone`, padding included, to u[MZ_VARS][volume]. */
void exact_fill(const struct mz *mz, const struct mz_zone *zone, double *u);

/* Initial state of `zone`, padding included: transfinite interpolation inside; on the faces the
 * exact solution with the face-normal coordinate set to 0 or 1. */
void exact_initial(const struct mz *mz, const struct mz_zone *zone, double *u);

/* ---- exchange.c: faces between zones that are on the host ---- */

/* Sets the boundary values of `zone` at `side`, in its walls, from the neighbour's first interior
 * plane. All faces may be copied at once, in any order. */
void mz_face_copy(struct mz *mz, int zone, enum mz_side side);
/* Doubles of one face in a buffer, [m][k][along the face], without its edges. */
size_t mz_face_size(const struct mz *mz, int zone, enum mz_side side);
/* pack: copies the plane that the neighbour across `side` needs to a buffer. unpack: sets the
 * boundary at `side` from what that neighbour packed. */
void mz_face_pack(const struct mz *mz, int zone, enum mz_side side, double *buffer);
void mz_face_unpack(struct mz *mz, int zone, enum mz_side side, const double *buffer);
/* For the solvers. begin: call it first in a step; then all boundary values are in the walls. keep:
 * call it once for each row and plane, when u of rows j0 .. j1-1 of planes k0 .. k1-1 is final; it
 * fills wall[1]. */
void mz_walls_begin(struct mz *mz, int zone);
void mz_walls_keep(const struct mz *mz, int zone, int j0, int j1, int k0, int k1);
/* Copies boundary values from the walls to u, which is then complete and may be changed. */
void mz_settle(const struct mz *mz, int zone);
/* Drops what is in the walls and gives the zone those at mz_zone_walls() again. Zones swap walls in
 * an exchange, so call it for all zones. */
void mz_walls_forget(struct mz *mz, int zone);

/* ---- rhs.c ---- */

/* Doubles of a thread's scratch that a sweep of the right-hand side uses. */
size_t rhs_scratch(const struct mz *mz);
/* Computes the right-hand side of a whole zone with the unit's team: work->w[MZ_VARS][volume]. */
void rhs_zone_all(const struct mz *mz, struct mz_work *work, int zone, const double *u,
                  const double *forcing);

/* ---- norms.c ---- */

struct mz_norms {
    double residual[MZ_NORMS], error[MZ_NORMS];
    double surface; /* integral of the pressure, 0 if the solver does not verify one */
    double worst;   /* largest relative deviation from the class' reference; NAN if any is NAN */
    bool verified;  /* every deviation is at most MZ_TOLERANCE */
};

/* What a zone contributes to the norms: residual, error, surface integral. */
enum { MZ_VALUES = 2 * MZ_NORMS + 1 };

/* The contribution of a zone whose u is on the host. */
void mz_zone_values(struct mz *mz, struct mz_work *work, int zone, double value[MZ_VALUES]);

/* The norms of all zones, each of which must be on the host of its rank. The bits do not depend on
 * width or ranks. EK_UNAVAILABLE: out of memory. Collective. */
enum ek_status mz_verify(struct mz *mz, struct mz_work *work, struct mz_norms *norms);
