/* kirchhoff/migrate.h – 3-D prestack Kirchhoff depth migration of a file of traces.
 *
 * image(x) = sum over traces of W(s, g, x) f(T(s, x) + T(g, x)), where f is the trace or its -d/dt.
 * Weights W, where L is the relative geometrical spreading and a_g the ray's angle at the receiver:
 *
 *   kinematic    1
 *   diffractor   16 pi^2 L_s L_g: recovers the strength a of point diffractors, whose data are
 *                a / (16 pi^2 L_s L_g) w(t - T_s - T_g); no filter; divided by the fold
 *   modelling    1 / (16 pi^2 L_s L_g): the adjoint of modelling such data, for least squares; no
 *                filter
 *   amplitude    2 cos(a_g) / v_g L_s / L_g dx_g dy_g: recovers the reflectivity from each common
 *                shot; filter -d/dt; the user chooses whether to divide by the number of shots */
#pragma once

#include "cu/unit/cu.h"
#include "kirchhoff/batch.h"
#include "kirchhoff/image.h"
#include "kirchhoff/resum.h"
#include "kirchhoff/sum.h"

/* line.c: crooked lines, whose coordinates become distances along a line. */
struct line_fit {
    double length, beside; /* m: extent of the ends along the line; farthest end from it */
};

/* Moves all ends to the line y = `y` of an image: a midpoint to its distance along the survey's
 * line (0 at the first end), source and receiver half the true offset to either side. `where`:
 * "auto", a line through the means of the ends along their principal axis, or FILE.csv with the
 * line's points x, y. EK_USAGE: no such file, or the points are no line; EK_UNAVAILABLE: memory. */
enum ek_status line_project(struct segy *s, const char *where, double y, struct line_fit *fit);

/* EK_USAGE: an end is farther from the line y = `y` than 2 % of the survey's length (plus 1 m). */
enum ek_status line_check(const struct segy *s, double y);

/* mute.c: top mutes, which zero the samples before a time that depends on the offset. */
enum { MUTE_MOST = 64 };

struct mute {
    int n;                                     /* points; 0: nothing is muted */
    double offset[MUTE_MOST], time[MUTE_MOST]; /* m, ascending; s */
    double taper; /* s after the mute time over which samples fade in */
};

/* Parses "OFFSET:TIME,OFFSET:TIME,…"; NULL: no mute. EK_USAGE. */
enum ek_status mute_parse(const char *text, double taper, struct mute *m);

/* Linear between the points, constant outside; -INFINITY if nothing is muted. */
double mute_time(const struct mute *m, double offset);

/* Mutes sample [n]; the first is at `delay` s, the spacing is dt s. Without a taper, a sample at
 * the mute time stays. */
void mute_apply(const struct mute *m, double offset, double delay, double dt, long n,
                float *sample);

enum migrate_weight { MIGRATE_KINEMATIC, MIGRATE_DIFFRACTOR, MIGRATE_AMPLITUDE, MIGRATE_MODELLING };

/* 3-D with point sources; a line over ground that does not change across it, shot with point
 * sources (2.5-D) or line sources (2-D). */
enum migrate_dimension { MIGRATE_3D, MIGRATE_25D, MIGRATE_2D };

/* Names of the values of `weight`, `filter`, `datum` and `dimension`, for options of type
 * OPT_NAME. */
extern const char *const migrate_weights[],
    *const migrate_filters[], *const migrate_datums[], *const migrate_dimensions[];

/* Options. Strings are borrowed. Defaults: migrate_defaults(). */
struct migrate_options {
    const char *data, *words, *set; /* file; where its header words are; values that replace them */
    const char *geometry, *line;    /* table of coordinates; argument of line_project() */
    int dimension;                  /* enum migrate_dimension */
    const char *mute;               /* argument of mute_parse() */
    double mute_taper;              /* s */
    double offset_most, offset_taper; /* m; 0: no limit, no taper */
    const char *tables, *velocity;    /* folder, or the velocity to compute them from */
    const char *grid, *table_grid;    /* of the image; of computed tables */
    double node_spacing;              /* between surface nodes of computed tables, m */
    int weight;                       /* enum migrate_weight */
    int filter;                       /* enum filter_bank_filter, -1: the weight's default */
    double wavelet; /* peak frequency of the traces' Ricker wavelets, Hz; 0: not undone */
    int datum; /* where sources and receivers are: 0 as the headers say, 1 at the tables' surface */
    double aperture, aperture_base; /* radius, m; radius at depth 0, growing with the dip */
    double dip, angle;              /* largest dip, largest opening angle, degrees */
    double taper;                   /* share of the aperture over which contributions fade out */
    double anti_alias;              /* factor on the spacings; 0: none */
    double spacing_source, spacing_receiver; /* m; 0: from the headers; < 0: ignore these ends */
    int oversample;
    int classes;
    double class_first, class_width; /* m; width 0: one class */
    int chunk;
    double max_memory, image_memory; /* GiB for tables; for the image, 0: half of the free memory */
    double unfilled_most, failing_most; /* limits in % of the tables' nodes */
    bool deterministic, trust_geometry;
};

struct migrate {
    struct migrate_options o;
    struct segy *segy;
    struct traveltime_cache *travel;
    struct chunks *survey;
    struct filter_bank *bank;
    struct image *image;
    struct resum *resum;
    struct grid grid, whole; /* of the current slab; of the whole image */
    int slabs, slab, across; /* slabs along x; the current one; nodes along x of all but the last */
    struct chunks_classes classes;
    struct batch_weights weights;
    /* [segy->n][ns] samples to migrate instead of the file's, and the file's; or NULL. */
    const float *residual, *observed;
    struct nodes_plan nodes;
    struct sum_plan sum;
    float *par; /* [PAR_COUNT] */
    struct arena arena;
    struct mute mute;
    struct line_fit line; /* of --line */
    enum filter_bank_filter filter;
};

/* Worker of one CPU unit: a batch, and scratch memory for each thread. */
struct migrate_worker;

/* Opens the file of traces as the options say; migrate_open() calls it. EK_USAGE. */
enum ek_status migrate_input(const struct migrate_options *o, struct segy **s);

void migrate_defaults(struct migrate_options *o);

/* Reads the traces' headers and the tables' index, checks all input and makes the plan and an empty
 * image. EK_USAGE, EK_UNAVAILABLE. Caller owns *m; close accepts NULL. One thread. */
enum ek_status migrate_open(const struct migrate_options *o, struct migrate **m);
/* The slow part of the preparation: computes travel times, with this many threads, from a velocity
 * without a formula. EK_UNVERIFIED: the tables are too poor to migrate with; EK_UNAVAILABLE,
 * EK_STOPPED. */
enum ek_status migrate_begin(struct migrate *m, int threads);
void migrate_close(struct migrate *m);

/* slabs.c: decides into how many slabs along x m->grid is divided so that each fits in memory.
 * EK_UNAVAILABLE: not even a slab of one x does. */
enum ek_status migrate_slabs_plan(struct migrate *m);
/* Makes this slab the image, empty. No unit may be at work; units' workers and devices must be
 * opened again for it. EK_UNAVAILABLE. */
enum ek_status migrate_slab(struct migrate *m, int slab);
/* Place of a column of the slab along x or y (axis 0, 1), m from the whole image's first one:
 * floats, which hold large coordinates to half a metre, hold this. */
static inline float migrate_place(const struct migrate *m, int axis, int i)
{
    return (float)((i + (axis ? 0 : m->slab * m->across)) * m->grid.step[axis]);
}
/* Whether any trace of a chunk has the slab within its aperture. */
bool migrate_reaches(const struct migrate *m, size_t chunk);

/* Bytes on the host besides the tables, for `units` CPU units. */
size_t migrate_bytes(const struct migrate *m, int units);

enum ek_status migrate_worker_open(const struct migrate *m, int width, struct migrate_worker **w);
void migrate_worker_close(struct migrate_worker *w);

/* Adds a chunk to the image, with all threads of the unit. Call it on the unit's leading thread;
 * several units may do so at the same time. */
enum ek_status migrate_chunk(struct migrate_worker *w, const struct cu *cu, size_t chunk);

/* The adjoint: models a chunk's traces from `image` [image_points()] into out [segy->n][ns]. Depths
 * that pad columns below the image must hold 0. Otherwise like migrate_chunk(). */
enum ek_status migrate_adjoint(struct migrate_worker *w, const struct cu *cu, size_t chunk,
                               const double *image, float *out);

/* Approximate number of updates: traces times image points within the aperture. */
double migrate_updates(const struct migrate *m);
