/* mcsem/program.c – options, and what is done before a run or instead of one. */
#include "mcsem/program.h"
#include "mcsem/cases.h"
#include "mcsem/generate.h"
#include "mcsem/write.h"
#include "mcsem/results.h"
#include "mcsem/inversion.h"
#include "mcsem/verbs.h"
#include "mcsem/figures.h"
#include "src/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(member)   offsetof(struct inversion, member)
#define SMOOTH(kind) (AT(invert_options.smooth.of) + (kind) * sizeof(double))
static const char *const bounds[] = {"clip", "transform", NULL};
static const char *const bottoms[] = {"free", "tied", NULL};

static const struct opt options[] = {
    {"generate", OPT_TEXT, AT(generate), "NAME",
     .help = "write a synthetic survey to --out, a table or .emdata: tiny, small or published"},
    {"seed", OPT_INT, AT(seed), "N", "seed of the noise and of --generate (2022)", .min = 0,
     .max = 1e9},
    {"scale", OPT_REAL, AT(scale), "X", "of --generate: multiplies the number of shots (1)",
     .min = 1e-4, .max = 100, .rare = true},
    {"truth", OPT_TEXT, AT(truth), "FILE",
     .help = "the true model: --generate writes it, a run compares with it"},
    {"forward", OPT_FILE, AT(forward), "FILE",
     .help = "write the fields of the cases in this table to --out: id,re,im"},
    {"tolerance", OPT_REAL, AT(tolerance), "X",
     "largest relative error of --forward's fields (1e-8)", .min = 1e-14, .max = 1, .rare = true},
    {"forward-survey", OPT_FLAG, AT(forward_survey),
     .help =
         "write the survey to --out with the fields of its earth, with noise if --noise is given"},
    {"out", OPT_TEXT, AT(out), "FILE",
     .help = "output of --generate, --forward or --forward-survey (-)"},
    {"earth", OPT_TEXT, AT(earth_options.keys), "LIST",
     .help = "grid and start, e.g. nx=41,ny=11,nz=89,dz=47.2,seabed=1500, or a model's file (as in "
             "the survey)"},
    {"sea", OPT_TEXT, AT(earth_options.sea), "LIST",
     .help = "resistivity of the sea, or depth:resistivity;… of its layers", .rare = true},
    {"seabed", OPT_TEXT, AT(earth_options.floor), "HOW",
     .help = "flat, receivers, a table [x,] y, depth, or MARE2DEM's .poly (flat if seabed= fits "
             "the receivers)"},
    {"drop-outside", OPT_FLAG, AT(drop_outside),
     .help = "leave out pairs whose midpoint lies more than half a cell outside the grid",
     .rare = true},
    {"mode", OPT_NAME, AT(cell_options.mode), "exact|shared",
     "compute each pair separately, or all pairs of a cell from one table (shared)",
     .names = cell_modes},
    {"difference", OPT_REAL, AT(cell_options.tolerance), "X",
     "largest error of shared mode, relative to the field (1e-5)", .min = 1e-9, .max = 1,
     .rare = true},
    {"residual", OPT_NAME, AT(cell_options.misfit.residual), "log|complex",
     "of log amplitude and phase, or of real and imaginary part (log)", .names = misfit_residuals},
    {"robust", OPT_NAME, AT(invert_options.robust), "none|huber|student",
     "loss: squares, or one that outliers cannot dominate (student)", .names = misfit_losses},
    {"start", OPT_REAL, AT(start_rho), "RHO", "resistivity to start from, ohm m (as in the file)",
     .min = 1e-6, .max = 1e12},
    {"use", OPT_NAME, AT(use), "PART",
     "of each datum: both, real, imaginary, amplitude or phase (both)", .names = survey_parts},
    {"drift", OPT_REAL, AT(drift_sigma), "X",
     "estimate gain (relative) and phase (rad) errors of receivers of about X (0)", .min = 0,
     .max = 1},
    {"errors", OPT_FILE, AT(errors), "FILE",
     "raise errors by a table: relative, floor by freq_hz, component, rec_x, rec_y", .rare = true},
    {"noise", OPT_REAL, AT(noise.relative), "X", "relative error of data without sigma (0.03)",
     .min = 1e-9, .max = 10},
    {"noise-e", OPT_REAL, AT(noise.floor_e), "X", "least error of E, V/(A m^2) (1e-15)",
     .min = 1e-30, .max = 1, .rare = true},
    {"noise-h", OPT_REAL, AT(noise.floor_h), "X", "least error of H, 1/m^2 (1e-12)", .min = 1e-30,
     .max = 1, .rare = true},
    {"reject", OPT_REAL, AT(noise.reject), "X", "ignore data below X times the least error (0)",
     .min = 0, .max = 1e6, .rare = true},
    {"iterations", OPT_INT, AT(invert_options.iterations), "N", "largest number of iterations (40)",
     .min = 0, .max = 10000},
    {"least-iterations", OPT_INT, AT(invert_options.least_iterations), "N",
     "iterations before the target counts (3)", .min = 0, .max = 10000, .rare = true},
    {"target", OPT_REAL, AT(invert_options.target), "X",
     "RMS misfit to end at (1); --json has converged, rms, explained, worst_data, worst_receivers",
     .min = 0, .max = 1e6},
    {"stall", OPT_REAL, AT(invert_options.stall), "X",
     "end after --stall-times iterations that change RMS by less than this share (1e-3)", .min = 0,
     .max = 1, .rare = true},
    {"stall-times", OPT_INT, AT(invert_options.stall_times), "N", "0: never (3)", .min = 0,
     .max = 10000, .rare = true},
    {"smooth-v", OPT_REAL, SMOOTH(PRIOR_VERTICAL), "X", "initial vertical smoothness (1)", .min = 0,
     .max = 1e9},
    {"smooth-h", OPT_REAL, SMOOTH(PRIOR_LATERAL), "X", "initial lateral smoothness (0.03)",
     .min = 0, .max = 1e9},
    {"pull", OPT_REAL, SMOOTH(PRIOR_PULL), "X",
     "initial weight of the distance from the reference (0)", .min = 0, .max = 1e9, .rare = true},
    {"ratio", OPT_REAL, SMOOTH(PRIOR_RATIO), "X",
     "with --vertical: initial weight of rho_v / rho_h against its given value (0.1)", .min = 0,
     .max = 1e9, .rare = true},
    {"vertical", OPT_FLAG, AT(earth_options.vertical),
     .help = "rho_v is unknown too (exact mode, on the host)"},
    {"differences", OPT_INT, AT(prior_options.differences), "1|2",
     "first or second vertical differences are made small (1)", .min = 1, .max = 2, .rare = true},
    {"bottom", OPT_NAME, AT(prior_options.tied), "tied|free",
     "below the last layer the earth equals the reference or, without one, the model's median; or "
     "it is unknown (tied)",
     .names = bottoms, .rare = true},
    {"reference", OPT_FILE, AT(prior_options.reference), "FILE",
     .help = "a model: the difference from it is smooth (uniform)"},
    {"horizons", OPT_TEXT, AT(prior_options.horizons), "LIST",
     "interfaces that interrupt smoothness: m below the sea floor, or tables x, y, depth",
     .rare = true},
    {"controls", OPT_FILE, AT(prior_options.controls), "FILE",
     .help = "a table column,layer,fixed,rho_min,rho_max,reference_ohmm; empty: all, unchanged",
     .rare = true},
    {"bounds", OPT_NAME, AT(prior_options.transform), "clip|transform",
     "steps are cut at --rho-min and --rho-max, or only approach them (clip)", .names = bounds,
     .rare = true},
    {"cooling", OPT_REAL, AT(invert_options.cooling), "X",
     "least share of the smoothness that an iteration keeps (0.1)", .min = 0.01, .max = 1,
     .rare = true},
    {"coolest", OPT_REAL, AT(invert_options.coolest), "X",
     "least share of the initial smoothness (1e-6)", .min = 0, .max = 1, .rare = true},
    {"damping", OPT_REAL, AT(invert_options.damping), "X",
     "initial Levenberg-Marquardt damping (0.01)", .min = 1e-12, .max = 1e6, .rare = true},
    {"step", OPT_REAL, AT(invert_options.step), "X", "largest change of ln rho in an iteration (1)",
     .min = 1e-3, .max = 10, .rare = true},
    {"rho-min", OPT_REAL, AT(prior_options.rho_min), "RHO", "lower bound, ohm m (0.1)", .min = 1e-6,
     .max = 1e12, .rare = true},
    {"rho-max", OPT_REAL, AT(prior_options.rho_max), "RHO", "upper bound, ohm m (1e4)", .min = 1e-6,
     .max = 1e12, .rare = true},
    {"model-in", OPT_FILE, AT(model_in), "FILE",
     .help = "start from this table, as --model-out writes it"},
    {"model-out", OPT_TEXT, AT(model_out), "FILE", .help = "write the model: .vtk, or a table"},
    {"uncertainty", OPT_FLAG, AT(want_uncertainty),
     .help =
         "add standard deviations (for the smoothness that the data make likeliest), resolution "
         "lengths and depths of investigation to the model and the page"},
    {"models", OPT_TEXT, AT(models), "PREFIX",
     .help = "write each iteration's model to PREFIX.N.csv", .rare = true},
    {"responses", OPT_TEXT, AT(responses), "FILE", .help = "write data, responses and residuals"},
    {"history", OPT_TEXT, AT(history), "FILE",
     .help = "write misfit, damping, gain, … of each trial"},
    {"cells", OPT_TEXT, AT(cells), "FILE",
     "write each cell's pairs, misfit and seconds; .json: as tasks for cu-plan", .rare = true},
    {"checkpoint", OPT_TEXT, AT(checkpoint), "FILE",
     .help = "save the state after each step, and resume from it if it exists"},
    {"ranks-schedule", OPT_TEXT, AT(ranks_schedule), "NAME[:OPTS]",
     "policy that divides the cells among ranks (heft)", .rare = true},
    OPT_END,
};

static void defaults(void *st, const struct bench_program *self)
{
    struct inversion *s = st;
    (void)self;
    s->seed = 2022;
    s->scale = 1;
    s->ranks_schedule = "heft";
    s->out = "-";
    s->tolerance = 1e-8;
    s->cell_options = (struct cell_options){.mode = CELL_SHARED,
                                            .misfit = {MISFIT_LOG, MISFIT_SQUARE, 1},
                                            .tolerance = 1e-5,
                                            .floor = 1e-17};
    s->noise = (struct survey_noise){0, 1e-15, 1e-12, 0};
    s->invert_options = (struct invert_options){.robust = MISFIT_STUDENT,
                                                .iterations = 40,
                                                .least_iterations = 3,
                                                .stall_times = 3,
                                                .target = 1,
                                                .stall = 1e-3,
                                                .smooth = {{1, 0.03, 0, 0.1}},
                                                .damping = 0.01,
                                                .cooling = 0.1,
                                                .coolest = 1e-6,
                                                .step = 1};
    s->prior_options =
        (struct prior_options){.differences = 1, .tied = 1, .rho_min = 0.1, .rho_max = 1e4};
}

/* ---- instead of a run ------------------------------------------------------------------------ */

static enum ek_status generate_into(const struct inversion *s, const struct generate_design *design,
                                    const struct earth *truth, const struct earth *start)
{
    OWNED(owned_survey_close) struct survey *survey = NULL;
    TRY(generate_survey(design, truth, (unsigned)s->seed, &survey));
    TRY(generate_data(survey, truth, &s->cell_options, &s->noise, true, (unsigned)s->seed));
    TRY(survey_file_write(s->out, survey, start));
    return write_model(s->truth, truth, NULL);
}

static enum ek_status generate(const struct inversion *s)
{
    const struct generate_design *found;
    OWNED(owned_earth_close) struct earth *truth = NULL, *start = NULL;
    TRY(generate_find(s->generate, &found));
    const struct generate_design design = generate_scaled(found, s->scale);
    TRY(generate_earth(&design, false, &truth));
    TRY(generate_earth(&design, true, &start));
    return generate_into(s, &design, truth, start);
}

/* Writes the survey with the fields of its earth, with noise if --noise is given. */
static enum ek_status forward_survey(struct inversion *s)
{
    if (!s->path)
        FAIL(EK_USAGE, "--forward-survey: no survey is given");
    TRY(inversion_read(s));
    TRY(generate_data(s->survey, s->start, &s->cell_options, &s->noise, s->noise.relative > 0,
                      (unsigned)s->seed));
    return survey_file_write(s->out, s->survey, s->start);
}

static enum ek_status answer(void *st, bool *done)
{
    struct inversion *s = st;
    const struct forward_control control = {s->tolerance, 1e-17};
    if (!!s->generate + !!s->forward + s->forward_survey > 1)
        FAIL(EK_USAGE, "--generate, --forward and --forward-survey: give one of them");
    *done = s->generate || s->forward || s->forward_survey;
    if (*done)
        TRY(file_try(s->out));
    if (s->generate)
        return generate(s);
    if (s->forward_survey)
        return forward_survey(s);
    return s->forward ? cases_run(s->forward, s->out, &control) : EK_OK;
}

/* ---- before a run ---------------------------------------------------------------------------- */

/* Checks that all outputs can be written before a run starts. */
static enum ek_status try_outputs(const struct inversion *s)
{
    const char *const paths[] = {s->model_out, s->responses, s->history, s->cells, s->checkpoint};
    char first[4096];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i] && *paths[i])
            TRY(file_try(paths[i]));
    snprintf(first, sizeof first, "%s.0.csv", s->models ? s->models : "");
    return file_try(s->models ? first : NULL);
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct inversion *s = st;
    struct stat file;
    if (!s->path)
        FAIL(EK_USAGE, "no survey is given: mcsem SURVEY, or --generate small --out SURVEY");
    if (strcmp(s->out, "-"))
        FAIL(EK_USAGE, "--out %s: an inversion writes nothing there; --model-out is for its model",
             s->out);
    TRY(sched_check(s->ranks_schedule, NULL));
    if (s->drift_sigma > 0 && (s->checkpoint || s->cell_options.misfit.residual == MISFIT_COMPLEX ||
                               s->use == SURVEY_REAL || s->use == SURVEY_IMAGINARY))
        FAIL(EK_USAGE,
             "--drift: receivers' gains follow from logarithms, and a checkpoint does not hold "
             "them; leave out --residual complex, --use real or imaginary, --checkpoint");
    if (stat(s->path, &file))
        FAIL(EK_USAGE, "%s: %s", s->path, strerror(errno));
    file_input(s->path);
    if (s->truth)
        file_input(s->truth);
    TRY(try_outputs(s));
    s->cell_options.misfit.robust = s->invert_options.robust;
    *bytes = 4 * (size_t)file.st_size + ((size_t)64 << 20); /* text, table, pairs, data */
    const char *name = strrchr(s->path, '/');
    snprintf(problem, room, "%s (%lld bytes), %s mode", name ? name + 1 : s->path,
             (long long)file.st_size, cell_modes[s->cell_options.mode]);
    return EK_OK;
}

/* An upper limit: the number is unknown beforehand, as trials may be rejected. */
static int steps(const void *st)
{
    const struct inversion *s = st;
    return s->inv->room - s->inv->nrecords;
}

static int save_every(const void *st)
{
    return ((const struct inversion *)st)->checkpoint ? 1 : 0;
}

static double work(const void *st)
{
    return ((const struct inversion *)st)->pairs_done;
}

static enum ek_status view(void *st, json_t **out)
{
    return figures_open(st, out);
}

const struct bench_program program_mcsem = {
    .identity = {"mcsem", "inversion of marine controlled-source electromagnetic data", "pairs/s",
                 sizeof(struct inversion)},
    .command = {.table = options,
                .operand = "[SURVEY]",
                .operand_at = AT(path),
                .defaults = defaults,
                .answer = answer},
    .problem = {.plan = plan,
                .open = inversion_open,
                .prepare = inversion_prepare,
                .release = inversion_release,
                .close = inversion_close},
    .run = {.ranks = BENCH_RANKS,
            .cold = true,
            .verbs = &verbs_mcsem,
            .steps = steps,
            .save_every = save_every,
            .reset = inversion_reset,
            .work = work,
            .interrupted = results_interrupted},
    .output = {.check = results_judge,
               .facts = results_facts,
               .remark = results_remark,
               .page = "mcsem/report.html",
               .view = view,
               .written = results_written},
};
