/* cu/bench/explain.c – reads a result and says what stands in it. */
#include "cu/bench/explain.h"
#include "cu/bench/pace.h"
#include "src/demand.h"
#include "src/json.h"
#include "src/opt.h"

#include <math.h>
#include <string.h>

static const double WORTH = 0.05; /* of the run: less is not worth a line */

/* Members of "loss". */
static const struct cause {
    const char *key, *what, *advice;
} causes[] = {
    {"imbalance_s", "units had nothing to do, or tasks ran on units that others suit better",
     "smaller tasks, --compare for another policy, --profile=make so that times are known"},
    {"launch_s", "beginning and ending ranges of tasks",
     "larger ranges, as dynamic:chunk=8; larger tasks on devices"},
    {"transfer_s", "exchanges, and tasks that were brought to other memory",
     "a policy that knows of neighbours (evenkeel, clustered-guided), fewer devices"},
    {"contention_s",
     "tasks took longer than they can: busy neighbours, other programs, a cold "
     "cache, a slow clock",
     "fewer cores (--layout auto), nothing beside it, --repeat 3; of a --trace this command tells "
     "whether it was the first step, the end or one unit"},
};
enum { CAUSES = sizeof causes / sizeof *causes };

static const char *text(const json_t *o, const char *key)
{
    const char *t = json_string_value(json_object_get(o, key));
    return t ? t : "?";
}

/* By how much of the run's seconds it is slower. */
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

/* More threads than cores, or cores that nobody had. */
static void say_layout(FILE *out, const json_t *run)
{
    const json_t *u;
    char line[256];
    double threads = 0;
    const double cores = json_number_of(run, "cores");
    size_t i;
    json_array_foreach(json_object_get(run, "units"), i, u) threads += json_number_of(u, "width");
    if (json_number_of(run, "ranks") > 1 || cores < 1)
        return; /* cores of one rank's node are known, units of all ranks */
    if (threads > cores) {
        snprintf(line, sizeof line, "%.0f threads shared %.0f cores and waited for one another",
                 threads, cores);
        say(out, 1 - cores / threads, line, "a smaller --layout; --strict refuses such ones");
    } else if (threads < cores) {
        snprintf(line, sizeof line, "%.0f of %.0f cores had no unit", cores - threads, cores);
        say(out, 1 - threads / cores, line, "a --layout with more of them, or --layout auto");
    }
}

/* What the units say: one that hardly worked, a device that was not fed. */
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
                 "unit %s (%s) did nothing for that share of the busiest "
                 "one's time",
                 text(u, "name"), text(u, "kind"));
        if (idle > 0.5)
            say(out, idle, line, "another policy, or a layout without the units that it waits for");
        const double busy = json_number_of(u, "busy_s");
        const double starving = busy > 0 ? json_number_of(u, "starving_s") / busy : 0;
        snprintf(line, sizeof line,
                 "device %s had nothing to do in tasks of its own: its thread on the "
                 "host did not keep up",
                 text(u, "name"));
        if (starving > 0.3)
            say(out, fmin(1, starving), line,
                "more tasks at once, as dynamic:chunk=8; a --layout with a core for its thread");
    }
    if (json_number_of(run, "units_lost") > 0)
        fprintf(out, "\n%.0f units were lost, %.0f steps done again.\n",
                json_number_of(run, "units_lost"), json_number_of(run, "steps_repeated"));
}

/* What a trace tells beyond that. */
static void say_pace(FILE *out, const json_t *root, const json_t *run)
{
    struct pace pace;
    char line[256];
    if (!pace_find(root, run, &pace))
        return;
    if (pace.first_s > WORTH * pace.seconds) {
        snprintf(line, sizeof line,
                 "tasks of the first step took %.2g times as long as later: memory touched and "
                 "caches filled for the first time",
                 pace.first);
        say(out, pace.first_s / pace.seconds, line, "more steps in one run; --repeat 3");
    }
    if (pace.late_s > WORTH * pace.seconds) {
        snprintf(line, sizeof line,
                 "tasks of the last quarter took %.2g times as long as those of the first half: a "
                 "clock that falls (heat, power), or another program that began",
                 pace.late);
        say(out, pace.late_s / pace.seconds, line,
            "fewer cores, a pause before it, nothing beside it; --repeat 3");
    }
    if (pace.unit_s > WORTH * pace.seconds) {
        snprintf(line, sizeof line,
                 "unit %s took %.2g times as long for the same tasks as others of its kind: a "
                 "slower core, memory far away, another program on its cores",
                 pace.slow, pace.unit);
        say(out, pace.unit_s / pace.seconds, line,
            "OMP_PLACES without its cores; a policy that measures (evenkeel, dynamic)");
    }
}

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
                "No division of these tasks computes them in less than %.4g s; this one took "
                "%.4g s,\nand %.4g s for exchanges.\n",
                bound, json_number_of(run, "computation_s"),
                json_number_of(run, "communication_s"));
    else
        opt_wrap(out, 0,
                 "Some task never ran on some kind of unit, so there is no lower bound: "
                 "add --compare, or --profile=make.");
    say_losses(out, run);
    say_layout(out, run);
    say_units(out, run);
    say_pace(out, root, run);
    if (json_is_false(json_object_get(run, "verified")))
        fputs("\nThe result is wrong: how long it took does not matter.\n", out);
}

enum ek_status explain_run(FILE *out, const char *path)
{
    json_t *root;
    TRY(demand_open(path, &root));
    const json_t *trace = json_object_get(json_object_get(root, "otherData"), "result");
    const json_t *result = trace ? trace : root, *runs = json_object_get(result, "runs");
    const json_t *run = runs ? json_array_get(runs, 0) : result;
    const bool known = json_number_of(run, "seconds") > 0 && json_object_get(run, "loss");
    if (known)
        explain(out, root, run, runs);
    json_decref(root);
    if (!known)
        FAIL(EK_USAGE,
             "%s: no finished run in it; give what a program wrote with --json or "
             "--trace",
             path);
    return EK_OK;
}
