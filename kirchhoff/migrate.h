/* kirchhoff/migrate.h – 3-D prestack Kirchhoff depth migration of a file of traces.
 *
 * image(x) = sum over traces of W(s, g, x) f(T(s, x) + T(g, x)), f the trace or its -d/dt. Weights
 * W, with L the relative geometrical spreading and a_g the ray's angle at the receiver:
 *
 *   kinematic    1
 *   diffractor   16 pi^2 L_s L_g: gives back the strength a of point diffractors, whose data are
 *                a / (16 pi^2 L_s L_g) w(t - T_s - T_g); no filter; divided by the fold
 *   modelling    1 / (16 pi^2 L_s L_g): the adjoint of such data, for least squares; no filter
 *   amplitude    2 cos(a_g) / v_g L_s / L_g dx_g dy_g: gives back the reflectivity from each common
 *                shot; filter -d/dt; divided by the number of shots is the user's choice */
#pragma once

#include "cu/unit/cu.h"
#include "kirchhoff/batch.h"
#include "kirchhoff/image.h"
#include "kirchhoff/line.h"
#include "kirchhoff/resum.h"
#include "kirchhoff/sum.h"

enum migrate_weight { MIGRATE_KINEMATIC, MIGRATE_DIFFRACTOR, MIGRATE_AMPLITUDE, MIGRATE_MODELLING };

/* Space and point sources; a line over ground that does not change across it, from point sources,
 * from line sources. */
enum migrate_dimension { MIGRATE_3D, MIGRATE_25D, MIGRATE_2D };

/* Names of those numbers, for options of type OPT_NAME. */
extern const char *const migrate_weights[],
    *const migrate_filters[], *const migrate_datums[], *const migrate_dimensions[];

/* What is wanted; members that are texts are borrowed. Defaults: migrate_defaults(). */
struct migrate_options {
    const char *data, *words, *set;   /* file; its header words, and what is in place of them */
    const char *geometry, *line;      /* table of places; line_project()'s */
    int dimension;                    /* enum migrate_dimension */
    const char *mute;                 /* mute_parse()'s */
    double mute_taper;                /* s */
    double offset_most, offset_taper; /* m; 0: any, none */
    const char *tables, *velocity;    /* folder, or a velocity that has closed forms */
    const char *grid, *table_grid;    /* image; nodes of computed tables */
    double node_spacing;              /* of computed tables' surface nodes, m */
    int weight;                       /* enum migrate_weight */
    int filter;     /* enum filter_bank_filter, -1: the one that belongs to the weight */
    double wavelet; /* peak frequency of the traces' Ricker wavelets, Hz; 0: it is not undone */
    int datum;      /* where ends lie: 0 as the headers say, 1 at the tables' surface */
    double aperture, aperture_base; /* radius, m; at depth 0, from where it grows with the dip */
    double dip, angle;              /* largest dip, largest opening angle, degrees */
    double taper;                   /* share of the aperture that fades out */
    double anti_alias;              /* factor on the spacings; 0: none */
    double spacing_source, spacing_receiver; /* m; 0: found in the headers; < 0: ignore this end */
    int oversample;
    int classes;
    double class_first, class_width; /* m; width 0: one class */
    int chunk;
    double max_memory, image_memory;    /* GiB for tables; for the image, 0: half of what is free */
    double unfilled_most, failing_most; /* %, of the tables' nodes */
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
    struct grid grid, whole; /* of the slab at hand, of all of them along x */
    int slabs, slab, across; /* how many; which one; its nodes along x, but for the last one's */
    struct batch_input input;
    struct nodes_plan nodes;
    struct sum_plan sum;
    float *par, *reach, *taper; /* [PAR_COUNT], [nodes], [nodes] */
    struct arena arena;
    struct mute mute;
    struct line_fit line; /* of --line */
    atomic_long silent;   /* traces without signal, of all chunks so far */
    enum filter_bank_filter filter;
};

/* What works for one CPU unit: a batch, and scratch for each of its threads. */
struct migrate_worker;

/* Opens the file of traces as the options say; migrate_open() does so itself. EK_USAGE. */
enum ek_status migrate_input(const struct migrate_options *o, struct segy **s);

void migrate_defaults(struct migrate_options *o);

/* Reads headers and index of tables, checks all, makes the plan; no image yet. EK_USAGE,
 * EK_UNAVAILABLE. Caller owns *m; close accepts NULL. One thread. */
enum ek_status migrate_open(const struct migrate_options *o, struct migrate **m);
/* What takes long, before a run: travel times from a velocity without a formula, by so many
 * threads. EK_UNVERIFIED: such as no image is made of; EK_UNAVAILABLE, EK_STOPPED. */
enum ek_status migrate_begin(struct migrate *m, int threads);
void migrate_close(struct migrate *m);

/* slabs.c: says of m->grid how many slabs along x it takes, so that each has room in memory.
 * EK_UNAVAILABLE: not even one x has. */
enum ek_status migrate_slabs_plan(struct migrate *m);
/* From now on this slab is the image, and it is empty. No unit works, and units' workers and
 * devices are opened anew for it. EK_UNAVAILABLE. */
enum ek_status migrate_slab(struct migrate *m, int slab);
/* Whether a chunk has a trace within the aperture of the slab. */
bool migrate_reaches(const struct migrate *m, size_t chunk);

/* Bytes on the host beside the tables, for `units` CPU units. */
size_t migrate_bytes(const struct migrate *m, int units);

enum ek_status migrate_worker_open(const struct migrate *m, int width, struct migrate_worker **w);
void migrate_worker_close(struct migrate_worker *w);

/* Adds a chunk to the image, with all threads of the unit. Units may do so at the same time. On the
 * unit's leading thread. */
enum ek_status migrate_chunk(struct migrate_worker *w, const struct cu *cu, size_t chunk);

/* The adjoint: what the traces of a chunk would be, were `image` [image_points()] all that there
 * is, to out [segy->n][ns]. The last nodes' depths below the image must hold 0. Otherwise the same.
 */
enum ek_status migrate_adjoint(struct migrate_worker *w, const struct cu *cu, size_t chunk,
                               const double *image, float *out);

/* Image points visited by all traces: traces times points within the aperture, about. */
double migrate_updates(const struct migrate *m);
