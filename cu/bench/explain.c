/* cu/bench/explain.c – reads a run's result and explains its time in words. */
#include "cu/bench/explain.h"
#include "src/demand.h"
#include "src/json.h"
#include "src/opt.h"
#include "src/sort.h"

static const double WORTH = 0.05; /* fraction of the run that is worth a line */

/* The members of "loss". */
static const struct cause {
    const char *key, *what, *advice;
} causes[] = {
    {"imbalance_s", "units had nothing to do, or tasks ran on units that are slow for them",
     "smaller tasks, --compare to find another policy, --profile=make so that times are known"},
    {"launch_s", "starting and finishing ranges of tasks",
     "larger ranges, e.g. dynamic:chunk=8; larger tasks on devices"},
    {"transfer_s", "exchanges between steps, and moving tasks to other memory",
     "a policy that takes neighbours into account (evenkeel, clustered-guided), fewer devices"},
    {"contention_s",
     "tasks took longer than at best: busy neighbours, other programs, cold caches, a slow clock",
     "fewer cores (--layout auto), no other programs, --repeat 3; given a --trace file, this "
     "command tells whether it was the first step, the last ones or a single unit"},
};
enum { CAUSES = sizeof causes / sizeof *causes };

static const char *text(const json_t *o, const char *key)
{
    const char *t = json_string_value(json_object_get(o, key));
    return t ? t : "?";
}

/* Prints one cause, with the fraction of the run's time that it takes. */
static void say(FILE *out, double share, const char *what, const char *advice)
{
    fprintf(out, "\n%3.0f %%  ", 100 * share);
    opt_wrap(out, 7, what);
    fprintf(out, "%7s", "");
    char line[512];
    snprintf(line, sizeof line, "try: %s", advice);
    opt_wrap(out, 12, line);
}

static void say_losses(FILE *out, const json_t *run)
{
    const json_t *loss = json_object_get(run, "loss");
    const double seconds = json_number_of(run, "seconds");
    bool said[CAUSES] = {false};
    for (;;) {
        int worst = -1;
        for (int i = 0; i < CAUSES; i++)
            if (!said[i] && json_number_of(loss, causes[i].key) > WORTH * seconds &&
                (worst < 0 ||
                 json_number_of(loss, causes[i].key) > json_number_of(loss, causes[worst].key)))
                worst = i;
        if (worst < 0)
            return;
        said[worst] = true;
        say(out, json_number_of(loss, causes[worst].key) / seconds, causes[worst].what,
            causes[worst].advice);
    }
}

/* All units wait while a policy decides between two steps. */
static void say_planning(FILE *out, const json_t *run)
{
    const double share = json_number_of(run, "planning_s") / json_number_of(run, "seconds");
    if (share > WORTH)
        say(out, share, "the policy's decisions between steps, which are short",
            "a policy that decides once (heft, static); larger tasks");
}

/* More threads than cores, or cores without a unit. */
static void say_layout(FILE *out, const json_t *run)
{
    const json_t *u;
    char line[256];
    double threads = 0;
    const double cores = json_number_of(run, "cores");
    size_t i;
    json_array_foreach(json_object_get(run, "units"), i, u) threads += json_number_of(u, "width");
    if (json_number_of(run, "ranks") > 1 || cores < 1)
        return; /* `units` are those of all ranks, `cores` those of one node */
    if (threads > cores) {
        snprintf(line, sizeof line, "%.0f threads shared %.0f cores and waited for one another",
                 threads, cores);
        say(out, 1 - cores / threads, line,
            "a smaller --layout (--strict refuses layouts that are too large)");
    } else if (threads < cores) {
        snprintf(line, sizeof line, "%.0f of %.0f cores had no unit", cores - threads, cores);
        say(out, 1 - threads / cores, line, "a larger --layout, or --layout auto");
    }
}

/* Units that hardly worked, devices that were not fed. */
static void say_units(FILE *out, const json_t *run)
{
    const json_t *units = json_object_get(run, "units"), *u;
    char line[512];
    double most = 0;
    size_t i;
    json_array_foreach((json_t *)units, i, u) most = fmax(most, json_number_of(u, "busy_s"));
    json_array_foreach((json_t *)units, i, u)
    {
        const double idle = most > 0 ? 1 - json_number_of(u, "busy_s") / most : 0;
        snprintf(line, sizeof line,
                 "unit %s (%s) was idle for this share of the busiest unit's time", text(u, "name"),
                 text(u, "kind"));
        if (idle > 0.5)
            say(out, idle, line, "another policy, or a layout without the units it waits for");
        const double busy = json_number_of(u, "busy_s");
        const double starving = busy > 0 ? json_number_of(u, "starving_s") / busy : 0;
        snprintf(line, sizeof line,
                 "device %s waited for work during its own tasks: its host thread did not keep up",
                 text(u, "name"));
        if (starving > 0.3)
            say(out, fmin(1, starving), line,
                "more tasks at once, e.g. dynamic:chunk=8; a --layout with a core for its thread");
    }
    if (json_number_of(run, "units_lost") > 0)
        fprintf(out, "\n%.0f units were lost and %.0f steps repeated.\n",
                json_number_of(run, "units_lost"), json_number_of(run, "steps_repeated"));
}

/* ---- tasks that took longer than usual --------------------------------------------------------*/

/* What a trace tells and sums do not, step by step and unit by unit. */
enum { UNITS = 256, STEPS = 1 << 16 };

/* How many times as long as usual, and what all units lost by it, as seconds of the run. */
struct pace {
    double seconds;        /* of the run */
    double first, first_s; /* tasks of the first step against those of the others */
    double late, late_s;   /* those of the last quarter of the steps against the first half */
    double unit, unit_s;   /* those of the slowest unit against others of its kind */
    const char *slow;      /* its name; borrowed from the run */
};

/* Seconds that tasks took, and usually take. */
struct sum {
    double took, due;
};

static double ratio(struct sum s)
{
    return s.due > 0 ? s.took / s.due : NAN;
}

/* -1: none. */
static double pid_of(const json_t *events, const char *schedule)
{
    const json_t *e;
    size_t i;
    json_array_foreach((json_t *)events, i, e)
    {
        const char *name = json_string_value(json_object_get(e, "name"));
        const char *of = json_string_value(json_object_get(json_object_get(e, "args"), "name"));
        if (name && of && !strcmp(name, "process_name") && !strcmp(of, schedule))
            return json_number_of(e, "pid");
    }
    return -1;
}

/* The usual seconds of an event's tasks on this kind of unit; 0: unknown. */
static double due_of(const json_t *usual, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    const double first = json_number_of(args, "first"), count = json_number_of(args, "count");
    double sum = 0;
    for (double t = fmax(first, 0); t < first + count && t < (double)json_array_size(usual); t++)
        sum += json_number_value(json_array_get(usual, (size_t)t));
    return sum;
}

/* Sums the run's events by step and by unit; returns the number of steps. */
static int add_up(const json_t *root, const json_t *run, struct sum *step, struct sum *unit)
{
    const json_t *events = json_object_get(root, "traceEvents"), *e;
    const json_t *result = json_object_get(json_object_get(root, "otherData"), "result");
    const json_t *usual = json_object_get(result, "task_seconds");
    const json_t *units = json_object_get(run, "units");
    const char *schedule = json_string_value(json_object_get(run, "schedule"));
    const double pid = schedule ? pid_of(events, schedule) : -1;
    int steps = 0;
    size_t i;
    json_array_foreach((json_t *)events, i, e)
    {
        const char *what = json_string_value(json_object_get(e, "cat"));
        const double c = json_number_of(e, "tid"),
                     k = json_number_of(json_object_get(e, "args"), "step");
        if (!what || strcmp(what, "compute") || json_number_of(e, "pid") != pid ||
            !(c >= 0 && c < UNITS && k >= 0 && k < STEPS))
            continue;
        const char *kind =
            json_string_value(json_object_get(json_array_get(units, (size_t)c), "kind"));
        const struct sum add = {1e-6 * json_number_of(e, "dur"),
                                due_of(kind ? json_object_get(usual, kind) : NULL, e)};
        if (!(add.due > 0))
            continue;
        step[(int)k].took += add.took, step[(int)k].due += add.due;
        unit[(int)c].took += add.took, unit[(int)c].due += add.due;
        steps = (int)k + 1 > steps ? (int)k + 1 : steps;
    }
    return steps;
}

/* Median of the ratios of n sums; room [n] is scratch. */
static double middle(const struct sum *s, int n, double *room)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        if (s[i].due > 0)
            room[found++] = ratio(s[i]);
    return sort_median(room, (size_t)found);
}

/* Finds the unit that is slowest compared with others of its kind. */
static void compare_units(const json_t *units, const struct sum *unit, struct pace *p)
{
    const int n = json_array_size(units) < UNITS ? (int)json_array_size(units) : UNITS;
    double room[UNITS];
    struct sum others[UNITS];
    for (int c = 0; c < n; c++) {
        const json_t *u = json_array_get(units, (size_t)c);
        int found = 0;
        for (int o = 0; o < n; o++)
            if (o != c && json_equal(json_object_get(json_array_get(units, (size_t)o), "kind"),
                                     json_object_get(u, "kind")))
                others[found++] = unit[o];
        const double slower = ratio(unit[c]) / middle(others, found, room);
        if (slower > p->unit) {
            p->unit = slower;
            p->unit_s = unit[c].took * (1 - 1 / slower) / n;
            p->slow = json_string_value(json_object_get(u, "name"));
        }
    }
}

static void compare_steps(const struct sum *step, int steps, int units, double *room,
                          struct pace *p)
{
    const double later = middle(step + 1, steps - 1, room);
    p->first = ratio(step[0]) / later;
    p->first_s = (step[0].took - later * step[0].due) / units;
    const int half = steps / 2, quarter = steps - steps / 4;
    if (steps < 8)
        return;
    const double early = middle(step + 1, half - 1, room);
    p->late = middle(step + quarter, steps - quarter, room) / early;
    for (int k = half; p->late > 1.1 && k < steps; k++)
        p->late_s += fmax(0, step[k].took - early * step[k].due) / units;
}

/* Finds slow steps and units of a run in a trace (`root`, as --trace writes it); false if it is no
 * trace of this run, or has too little in it. */
static bool find_pace(const json_t *root, const json_t *run, struct pace *p)
{
    OWNED_MEMORY struct sum *step = calloc(STEPS, sizeof *step);
    OWNED_MEMORY double *room = calloc(STEPS, sizeof *room);
    struct sum unit[UNITS] = {{0}};
    const json_t *units = json_object_get(run, "units");
    const int n = (int)json_array_size(units);
    int steps = 0;
    *p = (struct pace){.seconds = json_number_of(run, "seconds"), .unit = 1.1};
    if (step && room && n > 0 && json_number_of(run, "ranks") < 2)
        steps = add_up(root, run, step, unit);
    if (steps > 0)
        compare_units(units, unit, p);
    if (steps > 2)
        compare_steps(step, steps, n, room, p);
    return steps > 0;
}

static void say_pace(FILE *out, const json_t *root, const json_t *run)
{
    struct pace pace;
    char line[256];
    if (!find_pace(root, run, &pace))
        return;
    if (pace.first_s > WORTH * pace.seconds) {
        snprintf(line, sizeof line,
                 "tasks of the first step took %.2g times as long as later ones: memory is touched "
                 "and caches are filled for the first time",
                 pace.first);
        say(out, pace.first_s / pace.seconds, line, "more steps in one run; --repeat 3");
    }
    if (pace.late_s > WORTH * pace.seconds) {
        snprintf(
            line, sizeof line,
            "tasks of the last quarter took %.2g times as long as those of the first half: the "
            "clock has slowed (heat, power), or another program has started",
            pace.late);
        say(out, pace.late_s / pace.seconds, line,
            "fewer cores, a pause before the run, no other programs; --repeat 3");
    }
    if (pace.unit_s > WORTH * pace.seconds) {
        snprintf(line, sizeof line,
                 "unit %s took %.2g times as long for the same tasks as others of its kind: slower "
                 "cores, distant memory, or another program on its cores",
                 pace.slow, pace.unit);
        say(out, pace.unit_s / pace.seconds, line,
            "OMP_PLACES without its cores; a policy that adapts (evenkeel, dynamic)");
    }
}

/* ---- the explanation --------------------------------------------------------------------------*/

static void explain(FILE *out, const json_t *root, const json_t *run, const json_t *runs)
{
    const double seconds = json_number_of(run, "seconds"),
                 bound = json_number_of(run, "lower_bound_s");
    fprintf(out, "%s %s: %s on %s took %.4g s\n", text(run, "program"), text(run, "problem"),
            text(run, "schedule"), text(run, "layout"), seconds);
    if (json_array_size(runs) > 1)
        fprintf(out, "It is the fastest of %zu policies.\n", json_array_size(runs));
    if (bound > 0)
        fprintf(out,
                "No division of these tasks can compute them in less than %.4g s; this one took "
                "%.4g s,\nplus %.4g s for exchanges.\n",
                bound, json_number_of(run, "computation_s"),
                json_number_of(run, "communication_s"));
    else
        opt_wrap(out, 0,
                 "There is no lower bound, because some task never ran on some kind of unit: add "
                 "--compare or --profile=make.");
    say_losses(out, run);
    say_planning(out, run);
    say_layout(out, run);
    say_units(out, run);
    say_pace(out, root, run);
    if (json_is_false(json_object_get(run, "verified")))
        fputs("\nThe result is wrong, so its time does not matter.\n", out);
}

enum ek_status explain_run(FILE *out, const char *path)
{
    json_auto_t *root = NULL;
    TRY(demand_open(path, &root));
    const json_t *trace = json_object_get(json_object_get(root, "otherData"), "result");
    const json_t *result = trace ? trace : root, *runs = json_object_get(result, "runs");
    const json_t *run = runs ? json_array_get(runs, 0) : result;
    if (!(json_number_of(run, "seconds") > 0) || !json_object_get(run, "loss"))
        FAIL(EK_USAGE,
             "%s: no finished run in it; give a file that a program wrote with --json or --trace",
             path);
    explain(out, root, run, runs);
    return EK_OK;
}
