/* npb_mz/program.c – an NPB-MZ solver as a program: its options, and the verdict and report of a
 * run. */
#include "npb_mz/program.h"
#include "cu/bench/bench_trial.h"
#include "cu/rank/cluster.h"
#include "cu/rank/survive.h"
#include "npb_mz/read_npb.h"
#include "npb_mz/run.h"
#include "npb_mz/write_npb.h"

#include <ctype.h>

static const struct opt options[] = {
    {"class", OPT_TEXT, offsetof(struct run, letter), "LETTER",
     .help = "problem class: S W A B C D E F (S)"},
    {"steps", OPT_INT, offsetof(struct run, steps), "N",
     "time steps (those of the class); any other number cannot be verified", .min = 1, .max = 1e6},
    {"checkpoint", OPT_TEXT, offsetof(struct run, checkpoint_path), "FILE",
     .help = "save the state to FILE, and resume from it if it exists"},
    {"every", OPT_INT, offsetof(struct run, every), "STEPS", "steps between two saves (50)",
     .min = 1, .max = 1e9},
    {"survive", OPT_INT, offsetof(struct run, survive), "STEPS",
     "copy all zones every STEPS steps to memory outside of the ranks; if a rank dies or freezes, "
     "launch all ranks again and resume from the last copy",
     .min = 1, .max = 1e9},
    {"launch", OPT_TEXT, offsetof(struct run, launch), "COMMAND",
     .help = "command with which --survive starts the ranks, such as 'mpirun -n 4' (one process)"},
    {"ranks-schedule", OPT_TEXT, offsetof(struct run, ranks_schedule), "NAME[:OPTS]",
     .help = "policy that divides the zones among ranks (evenkeel)"},
    {"npb", OPT_FLAG, offsetof(struct run, npb), NULL,
     .help = "print the report of the official suite also if several policies run"},
    OPT_END,
};

/* The suite's load file may set the layout of this rank if nothing else does. plan() reports a
 * malformed one. */
static void take_load(const char *solver)
{
    char layout[32];
    int threads;
    status_mute(1);
    if (!getenv("OMP_PLACES") && !read_npb_threads(solver, cluster_launch().rank, &threads) &&
        threads) {
        snprintf(layout, sizeof layout, "1x%d", threads);
        setenv("CU_LAYOUT", layout, 0);
    }
    status_mute(-1);
}

static void defaults(void *st, const struct bench_program *self)
{
    struct run *r = st;
    take_load(self->identity.name);
    r->letter = "S";
    r->ranks_schedule = "evenkeel";
    r->every = 50;
    r->solver = self->identity.name;
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct run *r = st;
    struct read_npb input;
    int threads;
    static const char *const letters[] = {"S", "W", "A", "B", "C", "D", "E", "F"};
    const char upper[2] = {(char)toupper((unsigned char)r->letter[0]), 0};
    if (strlen(r->letter) != 1 || !strchr("SWABCDEF", *upper))
        FAIL(EK_USAGE, "unknown class '%s'%s; there are S W A B C D E F", r->letter,
             opt_suggest(upper, letters, 8));
    r->ops = mz_find(r->solver); /* here the instruction level is known */
    TRY(read_npb(r->ops->name, &input));
    TRY(read_npb_threads(r->ops->name, cluster_launch().rank, &threads));
    r->timers = input.timers;
    if (!r->steps)
        r->steps = input.steps;
    r->class = mz_class_find(r->ops->name, upper[0], r->steps);
    if (!r->class)
        r->class = mz_class_find(r->ops->name, upper[0], 0);
    if (input.dt > 0) {
        r->own = *r->class;
        r->own.dt = input.dt;
        r->class = &r->own;
    }
    if (!r->steps)
        r->steps = r->class->steps;
    TRY(sched_check(r->ranks_schedule, NULL));
    if (r->checkpoint_path)
        TRY(mz_checkpoint_check(r->checkpoint_path));
    *bytes = mz_bytes(r->ops, mz_mesh_find(r->class->letter)) +
             (r->survive ? copies_bytes(r->ops, r->class) : 0);
    snprintf(problem, room, "class %c, %d steps%s%s%s", upper[0], r->steps,
             input.given ? " as input" : "", input.given ? r->ops->name : "",
             input.given ? ".data says" : "");
    if (r->launch && !r->survive)
        FAIL(EK_USAGE, "--launch needs --survive; without it, put '%s' before the program's name",
             r->launch);
    return r->survive && !bench_trial_wanted() ? survive_begin(r->launch ? r->launch : "") : EK_OK;
}

/* ---- after a run ------------------------------------------------------------------------------*/

static int steps(const void *st)
{
    const struct run *r = st;
    return r->steps - r->begun;
}

static int save_every(const void *st)
{
    const struct run *r = st;
    return r->survive ? r->survive : r->checkpoint_path ? r->every : 0;
}

static double work(const void *st)
{
    const struct run *r = st;
    return mz_mop(r->mz) * steps(r) / r->class->steps;
}

/* Adds the reference and the relative deviation of each norm. */
static void add_references(json_t *o, const struct mz_class *class, const struct mz_norms *norms)
{
    double residual[MZ_NORMS], error[MZ_NORMS];
    for (int m = 0; m < MZ_NORMS; m++) {
        residual[m] = fabs(norms->residual[m] / class->residual[m] - 1);
        error[m] = fabs(norms->error[m] / class->error[m] - 1);
    }
    json_object_set_new(o, "residual_reference", json_numbers(class->residual, MZ_NORMS));
    json_object_set_new(o, "residual_deviation", json_numbers(residual, MZ_NORMS));
    json_object_set_new(o, "error_reference", json_numbers(class->error, MZ_NORMS));
    json_object_set_new(o, "error_deviation", json_numbers(error, MZ_NORMS));
    if (class->surface != 0.0) {
        json_object_set_new(o, "surface_reference", json_real(class->surface));
        json_object_set_new(o, "surface_deviation",
                            json_number_or_null(fabs(norms->surface / class->surface - 1)));
    }
}

static enum ek_status check(void *st, enum bench_verdict *verified, json_t **detail)
{
    struct run *r = st;
    struct mz_norms norms;
    TRY(mz_verify(r->mz, r->judge, &norms));
    const bool verifiable = mz_is_standard(r->class) && r->steps == r->class->steps;
    *verified = verifiable || !isfinite(norms.worst) ? norms.verified : BENCH_UNVERIFIABLE;
    *detail = json_pack("{s:s# s:i s:f s:o s:o s:o}", "class", &r->class->letter, 1, "steps",
                        r->steps, "dt", r->class->dt, "worst_relative_error",
                        json_number_or_null(verifiable ? norms.worst : NAN), "residual",
                        json_numbers(norms.residual, MZ_NORMS), "error",
                        json_numbers(norms.error, MZ_NORMS));
    if (*detail && r->class->surface != 0.0)
        json_object_set_new(*detail, "surface", json_number_or_null(norms.surface));
    if (*detail && verifiable)
        add_references(*detail, r->class, &norms);
    if (!*detail)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the norms", r->ops->name);
    return EK_OK;
}

static enum ek_status interrupted(void *st)
{
    const struct run *r = st;
    const char *launcher =
        cluster_size() > 1 ? " (ranks exit with 4; Open MPI's mpirun with 1 if it got the signal)"
                           : "";
    if (cluster_rank() == 0 && r->checkpoint)
        status_warn("interrupted; the next run resumes from %s%s", r->checkpoint_path, launcher);
    else if (cluster_rank() == 0)
        status_warn("interrupted and nothing saved; use --checkpoint FILE%s", launcher);
    return EK_OK;
}

/* The page takes the norms from the JSON. */
static enum ek_status view(void *st, json_t **out)
{
    (void)st;
    *out = json_pack("{s:f}", "tolerance", MZ_TOLERANCE);
    if (!*out)
        FAIL(EK_UNAVAILABLE, "out of memory for the page");
    return EK_OK;
}

/* The run is complete: the next one starts from the initial state. */
static void written(void *st)
{
    const struct run *r = st;
    if (r->checkpoint)
        mz_checkpoint_forget(r->checkpoint);
}

/* steps_before: steps that an earlier launch or the checkpoint's run had done, which are not in
 * times and rates. With several ranks also how the zones were divided and what faces between ranks
 * cost. */
static json_t *facts(const void *st)
{
    const struct run *r = st;
    json_t *o = json_pack("{s:i}", "steps_before", r->begun);
    if (r->ranks) {
        json_object_set_new(o, "division", ranks_json(r->ranks));
        json_object_set_new(o, "communication", remote_json(r->remote));
    }
    return o;
}

/* "label 11 5", or for more than eight ranks "label 5 to 11". */
static void print_list(FILE *out, const char *label, const json_t *list)
{
    double low = INFINITY, high = -INFINITY;
    size_t i;
    json_t *x;
    fputs(label, out);
    json_array_foreach(list, i, x)
    {
        low = fmin(low, json_number_value(x));
        high = fmax(high, json_number_value(x));
        if (json_array_size(list) <= 8)
            fprintf(out, " %.3g", json_number_value(x));
    }
    if (json_array_size(list) > 8)
        fprintf(out, " %.3g to %.3g", low, high);
}

static void print_ranks(FILE *out, const json_t *d, const json_t *c)
{
    print_list(out, "ranks: zones", json_object_get(d, "zones"));
    print_list(out, ", busy", json_object_get(d, "busy_s"));
    fprintf(out, " s, imbalance %.1f%%; repartitioned %.0f times, %.0f zones moved in %.3f s\n",
            100 * json_number_of(d, "imbalance"), json_number_of(d, "times_divided_anew"),
            json_number_of(d, "zones_moved"), json_number_of(d, "moving_s"));
    fprintf(out,
            "faces between ranks: %.0f messages, %.0f bytes a step, %.1f us without computation",
            json_number_of(c, "messages"), json_number_of(c, "bytes"),
            1e6 * json_number_of(c, "at_once_s"));
    if (json_is_number(json_object_get(c, "hidden")))
        fprintf(out, ", %.1f us after the computation: %.0f%% hidden",
                1e6 * json_number_of(c, "left_s"), 100 * json_number_of(c, "hidden"));
    fputc('\n', out);
}

static void remark(FILE *out, const void *st, const json_t *result)
{
    const struct run *r = st;
    const json_t *division = json_object_get(result, "division");
    if (division)
        print_ranks(out, division, json_object_get(result, "communication"));
    if (r->npb || !r->several)
        write_npb(out, r->mz, r->steps, r->timers, result);
}

/* Notes whether more than one policy runs. */
static void schedule(void *st, const char *spec)
{
    struct run *r = st;
    r->several |= r->policy && strcmp(r->policy, spec);
    r->policy = spec;
}

struct bench_program program_of(const char *name, const char *summary)
{
    return (struct bench_program){
        .identity = {name, summary, "Mop/s", sizeof(struct run)},
        .command = {.table = options, .defaults = defaults},
        .problem = {.plan = plan,
                    .open = run_open,
                    .prepare = run_prepare,
                    .release = run_release,
                    .close = run_close},
        .run = {.ranks = BENCH_RANKS,
                .verbs = &verbs_ops,
                .steps = steps,
                .save_every = save_every,
                .schedule = schedule,
                .reset = run_reset,
                .work = work,
                .interrupted = interrupted},
        .output = {.check = check,
                   .facts = facts,
                   .remark = remark,
                   .written = written,
                   .page = "npb_mz/report.html",
                   .view = view},
    };
}
