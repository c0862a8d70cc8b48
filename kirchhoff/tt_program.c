/* kirchhoff/tt_program.c – options of kirchhoff-tt, and the verification of a run. */
#include "cu/bench/memory.h"
#include "cu/rank/cluster.h"
#include "kirchhoff/certify.h"
#include "kirchhoff/disk.h"
#include "kirchhoff/tt.h"
#include "src/opt.h"

#include <unistd.h>

#define AT(member) offsetof(struct tt, member)
static const char *const arrivals[] = {"first", "strongest", NULL};
static const struct opt options[] = {
    {"velocity", OPT_TEXT, AT(velocity_text), "MODEL",
     .help = "const:v=, gradient:v0=,k= (or kx=,ky=,kz=), lens:…, layers:0:1500,800:2500, "
             "cube:FILE, segy:FILE"},
    {"grid", OPT_TEXT, AT(grid_text), "GRID",
     .help = "nodes of the tables, NXxNYxNZ:STEP[@X,Y,Z], metres, z down"},
    {"shots", OPT_INT, AT(shots), "N", "sources spread evenly over the top of the grid (1)",
     .min = 1, .max = 1 << 24},
    {"sources", OPT_TEXT, AT(sources_text), "WHERE",
     .help = "a grid NXxNY:STEP[@X,Y[,Z]] of sources, or FILE.csv with x, y, z"},
    {"out", OPT_TEXT, AT(out), "PATH",
     .help = "folder of the tables (tt); file of --times and --rays (-)"},
    {"resume", OPT_FLAG, AT(resume), .help = "keep what a former run of the same has finished"},
    {"arrival", OPT_NAME, AT(arrival), "first|strongest",
     "by the eikonal equation, or by fronts, and by that where these fail (strongest)",
     .names = arrivals},
    {"edge", OPT_REAL, AT(shot.edge), "M",
     "longest edge of a front's triangles (eight steps of the grid, about 250 m at most)",
     .min = 1e-3, .max = 1e6, .rare = true},
    {"angle", OPT_REAL, AT(shot.angle), "DEG", "largest between neighbouring rays (5)", .min = 0.2,
     .max = 45, .rare = true},
    {"front-max", OPT_INT, AT(shot.most), "N",
     "rays of a front; there edge and angle are raised (200000)", .min = 1000, .max = 100000000,
     .rare = true},
    {"margin", OPT_REAL, AT(shot.margin), "M",
     "how far outside rays are followed where they may come back (half the longest side)", .min = 0,
     .max = 1e7, .rare = true},
    {"last", OPT_REAL, AT(shot.last), "S", "end fronts at this time (when all rays have left)",
     .min = 1e-6, .max = 1e6, .rare = true},
    {"unfilled-max", OPT_REAL, AT(unfilled_most), "PERCENT",
     "nodes of a table that may stay unfilled before it fails verification (1)", .min = 0,
     .max = 100, .rare = true},
    {"donation", OPT_NAME, AT(donation), "off|static|on",
     "devices: none, fixed to units, or passed to the longest fronts (on)", .names = donate_modes},
    {"share", OPT_INT, AT(share), "N", "units that use a device at once (2)", .min = 1, .max = 64,
     .rare = true},
    {"tolerance", OPT_REAL, AT(tolerance), "PERCENT",
     "gain, or a front's length, by which a device must do better elsewhere (50)", .min = 0,
     .max = 1000, .rare = true},
    {"poll", OPT_INT, AT(poll), "N", "steps between two looks at who has a device (4)", .min = 1,
     .max = 10000, .rare = true},
    {"times", OPT_TEXT, AT(times), "CASES.csv",
     .help = "answer single cases with closed forms instead: id,t_strong,t_first"},
    {"rays", OPT_TEXT, AT(rays), "CASES.csv",
     .help = "trace single rays instead: id,x,y,z,qx,qy,qz,spread_L,zmax,kmah"},
    {"residual-max", OPT_REAL, AT(failing_most), "PERCENT",
     "nodes whose times may disagree with the eikonal equation by 5 % before a table fails (10)",
     .min = 0, .max = 100, .rare = true},
    OPT_END,
};

static void defaults(void *st, const struct bench_program *self)
{
    struct tt *t = st;
    (void)self;
    t->shot = SHOT_OPTIONS;
    t->shots = 1;
    t->share = 2;
    t->poll = 4;
    t->tolerance = 50;
    t->unfilled_most = 1;
    t->failing_most = 10;
    t->arrival = 1;
    t->donation = DONATE_ON;
}

static enum ek_status answer(void *st, bool *done)
{
    struct tt *t = st;
    *done = t->times || t->rays;
    if (t->times && t->rays)
        FAIL(EK_USAGE, "--times and --rays are two questions; ask one at a time");
    if (t->times)
        return times_run(t->times, t->out ? t->out : "-");
    return t->rays ? times_rays(t->rays, t->out ? t->out : "-") : EK_OK;
}

/* ---- the problem ------------------------------------------------------------------------------*/

/* Each unit has one; at most one per processor, as the units are not known yet. */
static size_t tables_at_once(const struct tt *t)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return t->sources.n < (size_t)cpus ? t->sources.n : (size_t)cpus;
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct tt *t = st;
    char grid[128], size[32];
    if (!t->velocity_text || !t->grid_text)
        FAIL(EK_USAGE, "--velocity and --grid are needed, e.g. --velocity gradient:v0=1500,k=0.6 "
                       "--grid 101x101x101:20m --shots 4 --out tt/");
    if (!t->out)
        t->out = "tt";
    if (strlen(t->out) > 3000)
        FAIL(EK_USAGE, "--out '%.40s': no name of a folder", t->out);
    t->shot.first = t->arrival == 0;
    TRY(grid_parse("--grid", t->grid_text, &t->grid));
    TRY(velocity_open(t->velocity_text, &t->velocity));
    TRY(source_positions_open(t->sources_text, t->shots, &t->grid, &t->sources));
    grid_text(&t->grid, grid, sizeof grid);
    snprintf(problem, room, "%zu shot%s, %s, %.90s, %s of tables", t->sources.n,
             t->sources.n == 1 ? "" : "s", grid, t->velocity->text,
             memory_text(t->sources.n * ttable_bytes(&t->grid), size, sizeof size));
    if (!t->resume)
        TRY(disk_check(t->out, t->sources.n, ttable_bytes(&t->grid)));
    *bytes = tables_at_once(t) * ttable_bytes(&t->grid);
    return EK_OK;
}

static int steps(const void *st)
{
    return ((const struct tt *)st)->runs_a_step;
}

static double work(const void *st)
{
    const struct tt *t = st;
    return 1e-6 * (double)t->ntodo * (double)grid_nodes(&t->grid) * cluster_size();
}

/* ---- verification -----------------------------------------------------------------------------*/

/* A table with larger errors than these, in s, is wrong. */
static const double rms_most = 0.2e-3, error_most = 1e-3;

/* Whether this rank has not done all its shots, as when it was stopped. */
static bool misses(const struct tt *t)
{
    size_t left = 0;
    for (size_t i = 0; i < t->ntodo; i++)
        left += !t->record[t->todo[i]].finished;
    return left > 0;
}

/* Collects the counts and times of all ranks and writes them to the index. */
static enum ek_status gather(struct tt *t)
{
    for (size_t i = 0; i < t->sources.n; i++)
        if (!t->record[i].finished)
            tfolder_note(t->folder, i, NULL);
    tfolder_gather(t->folder);
    cluster_sum(t->between, t->mutual * t->mutual);
    return cluster_rank() == 0 ? tfolder_write(t->folder) : EK_OK;
}

static double percent(size_t part, size_t all)
{
    return all ? 100 * (double)part / (double)all : 0;
}

static bool judge_shot(const struct tt *t, size_t source)
{
    const struct tt_record *r = &t->record[source];
    const struct tfolder_source *s = &t->folder->source[source];
    const size_t nodes = grid_nodes(&t->grid);
    const double share = percent(s->unfilled, nodes), wrong = percent(s->failing, s->judged);
    const char *file = s->file;
    if (r->numbers.raised)
        status_warn("%s: the front reached %d rays; its edges were raised to %.3g m", file,
                    t->shot.most, r->numbers.edge);
    if (r->numbers.given_up)
        status_warn("%s: sharp velocities tore the front, which was given up at %.3g s; later "
                    "nodes have first arrivals; a smoother velocity, or --arrival first",
                    file, r->numbers.last);
    if (share > t->unfilled_most)
        status_warn("%s: %zu of %zu nodes (%.3g %%) have no travel time, more than --unfilled-max "
                    "%g %%; finer --edge or more --margin may reach them",
                    file, s->unfilled, nodes, share, t->unfilled_most);
    if (r->rms > rms_most || r->most > error_most)
        status_warn("%s: times differ from the closed form by %.3g ms rms, %.3g ms at most; take a "
                    "finer --%s",
                    file, 1e3 * r->rms, 1e3 * r->most, t->shot.first ? "grid" : "edge");
    if (wrong > t->failing_most)
        status_warn(
            "%s: %.3g %% of the nodes disagree with the eikonal equation by more than 5 %%, more "
            "than --residual-max %g %%: a finer --grid or a smoother velocity may help",
            file, wrong, t->failing_most);
    return share <= t->unfilled_most && wrong <= t->failing_most && !(r->rms > rms_most) &&
           !(r->most > error_most);
}

/* Reciprocity fails if more than one pair of twenty does. */
static bool judge_pairs(const struct certify_pairs *c)
{
    if (20 * c->failing <= c->pairs)
        return true;
    status_warn(
        "times between %zu of %zu pairs of sources depend on the direction, by %.3g ms at most",
        c->failing, c->pairs, 1e3 * c->most);
    return false;
}

static enum ek_status check(void *st, enum bench_verdict *verified, json_t **detail)
{
    struct tt *t = st;
    double unfilled = 0, rms = 0, most = 0;
    *verified = true;
    TRY(gather(t));
    if (cluster_any(misses(t)))
        return EK_STOPPED;
    for (size_t i = 0; i < t->sources.n; i++) {
        const struct tt_record *r = &t->record[i];
        if (!r->finished) /* another rank's */
            continue;
        *verified = judge_shot(t, i) && *verified;
        unfilled = fmax(unfilled, (double)t->folder->source[i].unfilled);
        rms = fmax(rms, r->rms); /* fmax() ignores NAN */
        most = fmax(most, r->most);
    }
    const struct certify_pairs pairs = certify_reciprocity(t->mutual, t->between);
    *verified = judge_pairs(&pairs) && *verified;
    const bool closed = t->velocity->kind == VELOCITY_LINEAR;
    *detail = json_pack("{s:f s:o s:o}", "unfilled_most", unfilled, "rms_s",
                        closed ? json_real(rms) : json_null(), "error_most_s",
                        closed ? json_real(most) : json_null());
    if (!*detail)
        FAIL(EK_UNAVAILABLE, "out of memory for the results");
    return EK_OK;
}

const struct bench_program tt_program = {
    .identity = {"kirchhoff-tt", "travel-time tables by wavefront construction", "Mnodes/s",
                 sizeof(struct tt)},
    .command = {.table = options, .defaults = defaults, .answer = answer},
    .problem = {.plan = plan, .open = tt_open, .close = tt_close},
    .run = {.ranks = BENCH_RANKS,
            .cold = true,
            .verbs = &tt_verbs,
            .steps = steps,
            .reset = tt_reset,
            .work = work},
    .output = {.check = check, .facts = tt_facts, .remark = tt_remark},
};
