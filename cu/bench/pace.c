/* cu/bench/pace.c – compares what tasks took with what they usually take, step by step and unit by
 * unit. */
#include "cu/bench/pace.h"
#include "src/json.h"
#include "src/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 256, STEPS = 1 << 16 };

/* Seconds that tasks took, and usually take. */
struct sum {
    double took, due;
};

static double ratio(struct sum s)
{
    return s.due > 0 ? s.took / s.due : NAN;
}

static int pid_of(const json_t *events, const char *schedule)
{
    const json_t *e;
    size_t i;
    json_array_foreach((json_t *)events, i, e)
    {
        const char *name = json_string_value(json_object_get(e, "name"));
        const char *of = json_string_value(json_object_get(json_object_get(e, "args"), "name"));
        if (name && of && !strcmp(name, "process_name") && !strcmp(of, schedule))
            return (int)json_number_of(e, "pid");
    }
    return -1;
}

/* What the tasks of an event usually take on this kind of unit; 0: not known. */
static double due_of(const json_t *usual, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    const double first = json_number_of(args, "first"), count = json_number_of(args, "count");
    double sum = 0;
    for (double t = first; t < first + count && t < (double)json_array_size(usual); t++)
        sum += json_number_value(json_array_get(usual, (size_t)t));
    return sum;
}

/* Sums of the run's events by step and by unit; how many steps. */
static int add_up(const json_t *root, const json_t *run, struct sum *step, struct sum *unit)
{
    const json_t *events = json_object_get(root, "traceEvents"), *e;
    const json_t *result = json_object_get(json_object_get(root, "otherData"), "result");
    const json_t *usual = json_object_get(result, "task_seconds");
    const json_t *units = json_object_get(run, "units");
    const char *schedule = json_string_value(json_object_get(run, "schedule"));
    const int pid = schedule ? pid_of(events, schedule) : -1;
    int steps = 0;
    size_t i;
    json_array_foreach((json_t *)events, i, e)
    {
        const char *what = json_string_value(json_object_get(e, "cat"));
        const double c = json_number_of(e, "tid"),
                     k = json_number_of(json_object_get(e, "args"), "step");
        if (!what || strcmp(what, "compute") || (int)json_number_of(e, "pid") != pid ||
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

/* Median of the ratios of some sums; `room` [n]. */
static double middle(const struct sum *s, int n, double *room)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        if (s[i].due > 0)
            room[found++] = ratio(s[i]);
    return sort_median(room, (size_t)found);
}

/* The slowest unit that others of its kind can be compared with. */
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

bool pace_find(const json_t *root, const json_t *run, struct pace *p)
{
    struct sum *step = calloc(STEPS, sizeof *step), unit[UNITS] = {{0}};
    double *room = calloc(STEPS, sizeof *room);
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
    free(step);
    free(room);
    return steps > 0;
}
