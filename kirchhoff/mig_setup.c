/* kirchhoff/mig_setup.c – options, and a migration from them, with all checks before it runs. */
#include "cu/bench/memory.h"
#include "cu/rank/cluster.h"
#include "kirchhoff/disk.h"
#include "kirchhoff/mig.h"
#include "src/file.h"

#define AT(member) offsetof(struct mig, member)
static const char *const divisors[] = {"fold", "shots", "nothing", NULL}; /* enum mig_divide */
const struct opt mig_options[] = {
    {"tables", OPT_TEXT, AT(o.tables), "FOLDER", .help = "travel-time tables of kirchhoff-tt"},
    {"velocity", OPT_TEXT, AT(o.velocity), "MODEL",
     .help =
         "compute tables instead: gradient:v0=2000,k=0.5, cube:FILE, segy:FILE, … as kirchhoff-tt"},
    {"node-spacing", OPT_REAL, AT(o.node_spacing), "M",
     "from surface node to surface node of such tables (200)", .min = 1, .max = 1e6},
    {"table-grid", OPT_TEXT, AT(o.table_grid), "GRID", .help = "of such tables (cells of 50 m)",
     .rare = true},
    {"grid", OPT_TEXT, AT(o.grid), "GRID",
     .help = "image, NXxNYxNZ:STEP[@X,Y,Z] (the tables' grid)"},
    {"out", OPT_TEXT, AT(out), "FILE", .help = "image as SEG-Y (.su: SU); output of --generate"},
    {"raw", OPT_TEXT, AT(raw), "PREFIX",
     .help = "image and fold as PREFIX.f32, PREFIX.fold.f32 with PREFIX.json"},
    {"weight", OPT_NAME, AT(o.weight), "NAME",
     "kinematic, diffractor, amplitude or modelling (kinematic)", .names = migrate_weights},
    {"filter", OPT_NAME, AT(o.filter), "derivative|none|half|rho",
     "-d/dt, none, its half, or |omega| (what the weight wants)", .names = migrate_filters},
    {"wavelet", OPT_REAL, AT(o.wavelet), "HZ",
     "of --lsm: the traces have Ricker wavelets of this peak frequency, the image has none (0)",
     .min = 0, .max = 1e4},
    {"lsm", OPT_INT, AT(iterations), "N",
     "least squares: the image that explains the traces best, by N iterations (0)", .min = 0,
     .max = 1000},
    {"divide", OPT_NAME, AT(divide), "BY", "fold, shots or nothing (fold; amplitude: shots)",
     .names = divisors},
    {"aperture", OPT_REAL, AT(o.aperture), "M", "largest distance from the midpoint (any)",
     .min = 1, .max = 1e9},
    {"aperture-base", OPT_REAL, AT(o.aperture_base), "M",
     "that at depth 0, growing with tan of --dip (the whole one)", .min = 0, .max = 1e9,
     .rare = true},
    {"taper", OPT_REAL, AT(o.taper), "X", "share of the aperture that fades out (0.2)", .min = 0,
     .max = 1, .rare = true},
    {"dip", OPT_REAL, AT(o.dip), "DEG", "largest dip (90)", .min = 1, .max = 90},
    {"angle", OPT_REAL, AT(o.angle), "DEG", "largest opening angle of the rays (180)", .min = 1,
     .max = 180},
    {"datum", OPT_NAME, AT(o.datum), "headers|tables",
     "sources and receivers lie as the headers say, or at the tables' surface (headers)",
     .names = migrate_datums},
    {"dimension", OPT_NAME, AT(o.dimension), "3|2.5|2",
     "2.5: a line over ground that does not change across it; 2: data of line sources (3)",
     .names = migrate_dimensions},
    {"line", OPT_TEXT, AT(o.line), "auto|FILE.csv",
     .help = "x is the distance along the survey's crooked line, or along the points x, y of a "
             "table; 2.5-D"},
    {"offset-max", OPT_REAL, AT(o.offset_most), "M", "largest offset (any)", .min = 1, .max = 1e9},
    {"offset-taper", OPT_REAL, AT(o.offset_taper), "M",
     "in which contributions fade out before --offset-max (0)", .min = 0, .max = 1e9, .rare = true},
    {"mute", OPT_TEXT, AT(o.mute), "OFFSET:TIME,…",
     .help = "leave out what comes earlier, m and s, linear between the points"},
    {"mute-taper", OPT_REAL, AT(o.mute_taper), "S", "in which samples fade in behind it (0.04)",
     .min = 0, .max = 100, .rare = true},
    {"anti-alias", OPT_REAL, AT(o.anti_alias), "X", "factor on the spacings, 0: none (1)", .min = 0,
     .max = 100},
    {"spacing-source", OPT_REAL, AT(o.spacing_source), "M",
     "for anti-aliasing, -1: ignore sources (the headers', if denser than receivers)", .min = -1,
     .max = 1e6, .rare = true},
    {"spacing-receiver", OPT_REAL, AT(o.spacing_receiver), "M",
     "for anti-aliasing and --weight amplitude (the headers')", .min = -1, .max = 1e6,
     .rare = true},
    {"oversample", OPT_INT, AT(o.oversample), "N", "finer samples, for linear reading (2)",
     .min = 1, .max = 8, .rare = true},
    {"classes", OPT_INT, AT(o.classes), "N", "offset classes of a gather (1)", .min = 1,
     .max = 1000},
    {"class-width", OPT_REAL, AT(o.class_width), "M", "of an offset class (0: all in one)",
     .min = 0, .max = 1e6},
    {"class-first", OPT_REAL, AT(o.class_first), "M", "least offset of the first class (0)",
     .min = 0, .max = 1e6, .rare = true},
    {"words", OPT_TEXT, AT(o.words), "LIST",
     .help = "header words elsewhere, as sx=73,sy=77,gx=,gy=,scalco=; as=segy|su, "
             "order=big|little, unit=m|feet"},
    {"geometry", OPT_FILE, AT(o.geometry), "FILE.csv",
     .help = "places in place of the headers', as --headers writes: trace, sx, sy, gx, gy[, sz, "
             "gz], m"},
    {"set", OPT_TEXT, AT(o.set), "LIST", .help = "in place of what headers say: ns=,dt=US,delrt=MS",
     .rare = true},
    {"chunk", OPT_INT, AT(o.chunk), "N",
     "traces that a task has at least (0: a 32nd of all, 32 to 1024)", .min = 0, .max = 1e6,
     .rare = true},
    {"max-memory", OPT_REAL, AT(o.max_memory), "GIB", "for tables on the host (2)", .min = 1e-6,
     .max = 1e6, .rare = true},
    {"image-memory", OPT_REAL, AT(o.image_memory), "GIB",
     "for the image: a larger one is made in slabs, one after another (half of what is free)",
     .min = 1e-6, .max = 1e6, .rare = true},
    {"unfilled-max", OPT_REAL, AT(o.unfilled_most), "PERCENT",
     "nodes of the tables that may have no time (5)", .min = 0, .max = 100, .rare = true},
    {"residual-max", OPT_REAL, AT(o.failing_most), "PERCENT",
     "nodes of the tables that may disagree with the eikonal equation (10)", .min = 0, .max = 100,
     .rare = true},
    {"deterministic", OPT_FLAG, AT(o.deterministic),
     .help = "the same bits in any order of summation, on any device"},
    {"save-every", OPT_REAL, AT(saving.every), "S",
     "saves of the image so far in OUT.checkpoint, 0: none (60, or more if they take over 1 %)",
     .min = 0, .max = 1e9, .rare = true},
    {"trust-geometry", OPT_FLAG, AT(o.trust_geometry),
     .help = "migrate although the headers' places can hardly be true", .rare = true},
    {"headers", OPT_TEXT, AT(headers), "FILE",
     .help = "write the geometry of DATA as a table, no more"},
    {"generate", OPT_TEXT, AT(generate), "NAME",
     .help = "write a synthetic survey to --out: small, medium or s1"},
    {"events", OPT_TEXT, AT(events), "NAME",
     .help = "of --generate: diffractors, plane, flat, all (diffractors)"},
    {"part", OPT_TEXT, AT(part), "I/N", .help = "only the I-th of N parts of the chunks, from 0",
     .rare = true},
    {"partial", OPT_TEXT, AT(partial), "FILE", .help = "write the undivided image of the part",
     .rare = true},
    OPT_END,
};

void mig_defaults(void *st, const struct bench_program *self)
{
    struct mig *p = st;
    (void)self;
    migrate_defaults(&p->o);
    p->events = "diffractors";
    p->divide = -1;
    p->silent = NAN;
    p->saving.every = -1;
}

/* ---- a migration -----------------------------------------------------------------------------*/

/* First chunk of part i of n; parts have about the same number of traces. */
static size_t part_begin(const struct chunks *s, long i, long n)
{
    const double wanted = (double)s->n * (double)i / (double)n;
    size_t c = 0;
    while (c < s->nchunks && (double)s->first[c] < wanted)
        c++;
    return i == n ? s->nchunks : c;
}

/* Finds the chunks of this part and this rank. */
static enum ek_status find_part(struct mig *p)
{
    long i = 0, n = 1;
    char end;
    if (p->part && (sscanf(p->part, "%ld/%ld%c", &i, &n, &end) != 2 || n < 1 || i < 0 || i >= n))
        FAIL(EK_USAGE, "--part %s: write I/N with 0 <= I < N, e.g. 0/4", p->part);
    if (n > 1 && (!p->partial || p->out || p->raw))
        FAIL(EK_USAGE, "--part %s is no image for --out or --raw; --partial FILE keeps it",
             p->part);
    const struct cluster_launch launch = cluster_launch();
    const long parts = n * launch.size, here = i * launch.size + launch.rank;
    const struct chunks *s = p->m->survey;
    for (int e = 0; e < 2; e++)
        p->span[e] = part_begin(s, i + e, n);
    p->first = part_begin(s, here, parts);
    p->end = part_begin(s, here + 1, parts);
    p->traces = (double)(s->first[p->span[1]] - s->first[p->span[0]]);
    p->done = ARENA_NEW(&p->arena, s->nchunks, bool);
    p->sum = ARENA_NEW(&p->arena, s->nchunks, uint64_t);
    p->column = ARENA_NEW(&p->arena, p->m->whole.n[2], float);
    return arena_check(&p->arena, "%zu chunks", s->nchunks);
}

/* Names the checkpoint; "" if an interrupted run keeps nothing, as it has no output file, makes
 * several images or a part, or does least squares on several ranks. */
static void name_checkpoint(struct mig *p)
{
    const char *image = p->out ? p->out : p->raw;
    *p->checkpoint = '\0';
    if (image && p->run && !p->run->compare && p->run->repeat == 1 && !p->part &&
        (cluster_launch().size == 1 || !p->iterations) && file_replaceable(image))
        snprintf(p->checkpoint, sizeof p->checkpoint, "%.4000s.checkpoint", image);
    mig_slab_name(p, 0);
}

/* Only a single process with a checkpoint's name can make slabs, as it keeps them in files between
 * steps. */
static enum ek_status check_slabs(const struct mig *p)
{
    char size[32];
    if (p->m->slabs > 1 &&
        (!*p->checkpoint || p->iterations || p->partial || cluster_launch().size > 1))
        FAIL(EK_USAGE,
             "the image takes %s, more than --image-memory; it can be made in slabs by one run of "
             "one process with --out or --raw, but not by --lsm, --part, --compare, --repeat, "
             "ranks and jobs",
             memory_text(image_bytes(&p->m->whole, &p->m->classes), size, sizeof size));
    return EK_OK;
}

/* Least squares needs all traces at once, and its image is not divided, as it models the traces. */
static enum ek_status check_lsm(struct mig *p)
{
    if (p->o.weight == MIGRATE_MODELLING && p->o.dimension != MIGRATE_3D)
        FAIL(EK_USAGE, "--weight modelling is that of --dimension 3");
    if (!p->iterations && p->o.wavelet > 0)
        FAIL(EK_USAGE, "--wavelet %g is undone by least squares alone; add --lsm N", p->o.wavelet);
    if (!p->iterations)
        return EK_OK;
    if (p->part || p->partial)
        FAIL(EK_USAGE, "--lsm %d wants all traces at once, not --part or --partial", p->iterations);
    if (p->divide >= 0 && p->divide != MIG_NOTHING)
        FAIL(EK_USAGE, "--lsm %d: its image is not divided by %s; leave out --divide",
             p->iterations, divisors[p->divide]);
    p->divide = MIG_NOTHING;
    return EK_OK;
}

/* Parts are separate processes, each of which would compute the tables: only velocities with a
 * formula are cheap enough for that. */
static enum ek_status check_parts(const struct mig *p)
{
    struct velocity *v;
    if (!p->o.velocity || (p->run && !p->part))
        return EK_OK;
    TRY(velocity_open(p->o.velocity, &v));
    const bool linear = v->kind == VELOCITY_LINEAR;
    velocity_close(v);
    if (!linear)
        FAIL(EK_USAGE,
             "--velocity %.200s: each part would compute its travel times anew; let kirchhoff-tt "
             "make tables once, and use --tables",
             p->o.velocity);
    return EK_OK;
}

/* Checks that there is disk space for the output. */
static enum ek_status check_disks(const struct mig *p)
{
    const struct grid *g = &p->m->whole;
    const size_t columns = grid_columns(g) * (size_t)p->m->classes.n;
    const size_t floats = 4 * columns * (size_t)g->n[2];
    if (p->out)
        TRY(disk_check(p->out, 1, 3600 + 240 * columns + floats));
    if (p->raw)
        TRY(disk_check(p->raw, 2, floats));
    const char *beside = p->m->slabs > 1 ? p->checkpoint : p->partial;
    return beside ? disk_check(beside, 1, image_bytes(g, &p->m->classes)) : EK_OK;
}

enum ek_status mig_plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct mig *p = st;
    char grid[128];
    if (p->o.classes > 1 && !(p->o.class_width > 0))
        FAIL(EK_USAGE, "--classes %d: how wide is a class? --class-width M", p->o.classes);
    TRY(check_lsm(p));
    TRY(check_parts(p));
    if (p->divide < 0)
        p->divide = p->o.weight == MIGRATE_AMPLITUDE ? MIG_SHOTS : MIG_FOLD;
    TRY(migrate_open(&p->o, &p->m));
    TRY(find_part(p));
    name_checkpoint(p);
    TRY(check_slabs(p));
    TRY(check_disks(p));
    grid_text(&p->m->whole, grid, sizeof grid);
    snprintf(problem, room, "%s, %zu traces, image %s, %s", p->o.data, p->m->survey->n, grid,
             migrate_weights[p->o.weight]);
    *bytes = migrate_bytes(p->m, 1) + (p->iterations ? lsm_bytes(p->m) : 0);
    return EK_OK;
}

enum ek_status mig_open(int argc, char **argv, struct mig **out)
{
    char problem[256];
    size_t bytes;
    int nwords = 0;
    OWNED_MEMORY NEW(const char *, word, argc, "out of memory");
    NEW(struct mig, p, 1, "out of memory");
    const struct opt_group group = {"options", mig_options, p};
    mig_defaults(p, NULL);
    enum ek_status st = opt_parse(&group, 1, argc, argv, word, &nwords);
    if (!st) {
        p->o.data = nwords ? word[0] : NULL;
        st = p->iterations
                 ? status_fail(EK_USAGE,
                               "jobs are parts of one image; --lsm %d wants all traces at once",
                               p->iterations)
                 : mig_plan(p, problem, sizeof problem, &bytes);
    }
    return HAND_OUT(st, p, out, mig_close);
}

void mig_close(struct mig *p)
{
    if (!p)
        return;
    migrate_close(p->m);
    arena_free(&p->arena);
    free(p->kept_rank);
    free(p);
}

/* Steps of a run: slabs left, or a migration and a demigration for each iteration left. */
int mig_steps(const void *st)
{
    const struct mig *p = st;
    return p->iterations ? 2 * p->iterations - p->kept_steps : p->m->slabs - p->kept_slabs;
}

double mig_work(const void *st)
{
    const struct mig *p = st;
    const double share = (double)mig_steps(p) / (p->iterations ? 1 : p->m->slabs);
    return 1e-6 * share * migrate_updates(p->m) * (p->traces - p->kept) / (double)p->m->survey->n;
}
