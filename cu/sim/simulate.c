/* cu/sim/simulate.c – runs policies on a case, and puts what a record measured beside its
 * prediction. */
#include "cu/sim/simulate.h"
#include "cu/sim/plan_case.h"
#include "cu/sim/simulate_layout.h"
#include "src/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCHEDULES = 64 };

/* A certificate of more times than this takes too long. */
static const size_t MOST_TIMES = (size_t)1 << 24;

/* A unit in the last step. */
struct did {
    size_t tasks;
    double busy, end; /* s of its tasks; when the last one ended */
};

struct simulation {
    const struct simulate_request *request;
    struct plan_case c;
    const char *spec[MAX_SCHEDULES];
    int n;
    json_t *runs;
    struct simulate_layout layout; /* of the present policy */
    double *span;                  /* [steps] of its run */
    struct did *did;               /* [units] in its last step */
};

/* What a record says of this policy; NULL: nothing. */
static const struct plan_measured *measured(const struct simulation *s, const char *schedule)
{
    for (int i = 0; i < s->c.nmeasured; i++)
        if (!strcmp(s->c.measured[i].schedule, schedule))
            return &s->c.measured[i];
    return NULL;
}

static void note_task(void *arg, const struct sim_event *e)
{
    const struct simulation *s = arg;
    struct did *d = &s->did[e->unit];
    if (e->step + 1 < s->c.sim.steps)
        return;
    d->tasks++;
    d->busy += e->seconds;
    d->end = e->start + e->seconds;
}

/* {"tasks": [of each unit], "busy_s": […], "end_s": […]} of the last step. */
static json_t *units_json(const struct simulation *s)
{
    json_t *tasks = json_array(), *busy = json_array(), *end = json_array();
    for (int u = 0; u < s->c.sim.ncu; u++) {
        json_array_append_new(tasks, json_integer((json_int_t)s->did[u].tasks));
        json_array_append_new(busy, json_real(s->did[u].busy));
        json_array_append_new(end, json_real(s->did[u].end));
    }
    return json_pack("{s:o, s:o, s:o}", "tasks", tasks, "busy_s", busy, "end_s", end);
}

static json_t *run_json(const struct simulation *s, const char *schedule,
                        const struct sim_result *r)
{
    const struct plan_measured *m = measured(s, schedule);
    const struct {
        const char *key;
        double value;
    } number[] = {{"makespan_s", r->makespan},
                  {"total_s", r->total},
                  {"lower_bound_s", r->lower_bound},
                  {"ratio", r->ratio},
                  {"gap", r->ratio - 1},
                  {"worst_ratio_from_step_4", r->worst_ratio},
                  {"computation_s", r->computation},
                  {"communication_s", r->communication},
                  {"bytes_moved", r->bytes_moved}};
    json_t *o = json_object();
    json_object_set_new(o, "schedule", json_string(schedule));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        json_object_set_new(o, number[i].key, json_number_or_null(number[i].value));
    json_object_set_new(o, "steps", json_numbers(s->span, (size_t)s->c.sim.steps));
    json_object_set_new(o, "steps_to_steady", json_integer(r->steps_to_steady));
    json_object_set_new(o, "migrations", json_integer((json_int_t)r->migrations));
    json_object_set_new(o, "loss", loss_json(&r->loss));
    if (s->request->layout)
        json_object_update_new(o, simulate_layout_json(&s->layout));
    else
        json_object_set_new(o, "units", units_json(s));
    if (m)
        json_object_set_new(o, "measured_s", json_real(m->seconds));
    return o;
}

/* {"bound_s", "unit_price", "task_price": [[task, price], …]} of the last step; null: not known, or
 * too large to be worth it. */
static json_t *certificate_json(const struct sim_case *c)
{
    const size_t n = c->job.n;
    double *unit = calloc((size_t)c->ncu + n + 1, sizeof *unit),
           *task = unit ? unit + c->ncu : NULL;
    double bound = NAN;
    if (unit && c->steps > 0 && n <= MOST_TIMES / (size_t)c->ncu)
        bound = sim_certificate(c, c->steps - 1, unit, task);
    json_t *units = json_numbers(unit, bound >= 0 ? (size_t)c->ncu : 0), *tasks = json_array();
    for (size_t t = 0; t < n && bound >= 0; t++)
        if (task[t] > 0)
            json_array_append_new(tasks, json_pack("[I, f]", (json_int_t)t, task[t]));
    free(unit);
    json_t *o = json_pack("{s:f, s:o, s:o}", "bound_s", isnan(bound) ? 0 : bound, "unit_price",
                          units, "task_price", tasks);
    if (!isnan(bound))
        return o;
    json_decref(o);
    return json_null();
}

static void print_heading(const struct simulation *s)
{
    printf("%s: %zu tasks on %d units, %d steps, lower bound %.6g s\n\n"
           "%-20s %12s %7s %7s %7s %12s %12s %7s %10s%s\n",
           s->c.name, s->c.sim.job.n, s->c.sim.ncu, s->c.sim.steps, sim_bound(&s->c.sim, NULL),
           "schedule", "last step s", "/bound", "gap", "worst*", "total s", "exchange s", "steady",
           "migrations",
           s->c.nmeasured       ? "   measured s predicted"
           : s->request->layout ? "  layout"
                                : "");
}

static void print_run(const struct simulation *s, const char *schedule, const struct sim_result *r)
{
    const struct plan_measured *m = measured(s, schedule);
    char worst[16] = "-"; /* of a run of less than four steps */
    if (isfinite(r->worst_ratio))
        snprintf(worst, sizeof worst, "%.3f", r->worst_ratio);
    printf("%-20s %12.6g %7.3f %5.1f %% %7s %12.6g %12.6g %7d %10zu", schedule, r->makespan,
           r->ratio, 100 * (r->ratio - 1), worst, r->total, r->communication, r->steps_to_steady,
           r->migrations);
    if (m)
        printf(" %12.6g %+7.1f %%", m->seconds, 100 * (r->total / m->seconds - 1));
    if (s->request->layout)
        printf("  %s", cu_layout_text(&s->layout.layout));
    if (s->layout.tune.n > 1)
        printf(" of %d tried", s->layout.tune.n);
    putchar('\n');
}

static void print_losses(const struct simulation *s, const struct sim_result *r)
{
    puts("\n* of any step from the fourth on\n");
    loss_print_heading(stdout, 20);
    for (int i = 0; i < s->n; i++)
        loss_print(stdout, 20, s->spec[i], &r[i].loss, r[i].total);
}

static enum ek_status run_all(struct simulation *s)
{
    struct sim_result r[MAX_SCHEDULES];
    const bool text = !s->request->json || strcmp(s->request->json, "-");
    for (int i = 0; i < s->n; i++) {
        memset(s->did, 0, (size_t)s->c.sim.ncu * sizeof *s->did);
        TRY(simulate_layout(&s->c.sim, s->request->layout, s->spec[i], &s->layout, s->span, &r[i]));
        json_array_append_new(s->runs, run_json(s, s->spec[i], &r[i]));
        if (text && i == 0)
            print_heading(s);
        if (text)
            print_run(s, s->spec[i], &r[i]);
    }
    if (text)
        print_losses(s, r);
    return EK_OK;
}

/* Those asked for; of a record, those that it has. */
static enum ek_status choose_schedules(struct simulation *s)
{
    if (s->request->schedules || !s->c.nmeasured)
        return sched_split(s->request->schedules, s->spec, MAX_SCHEDULES, &s->n);
    for (s->n = 0; s->n < s->c.nmeasured && s->n < MAX_SCHEDULES; s->n++)
        s->spec[s->n] = s->c.measured[s->n].schedule;
    return EK_OK;
}

enum ek_status simulate_case(const struct simulate_request *request)
{
    struct simulation s = {.request = request};
    TRY(plan_case_open(&s.c, request->path));
    s.c.sim.cold |= request->cold;
    s.runs = json_array();
    s.span = calloc((size_t)s.c.sim.steps + 1, sizeof *s.span);
    s.did = calloc((size_t)s.c.sim.ncu + 1, sizeof *s.did);
    if (!request->layout) {
        s.c.sim.on_task = note_task;
        s.c.sim.on_task_arg = &s;
    }
    json_t *root =
        json_pack("{s:s, s:I, s:i, s:i, s:o}", "case", s.c.name, "tasks", (json_int_t)s.c.sim.job.n,
                  "units", s.c.sim.ncu, "steps", s.c.sim.steps, "runs", s.runs);
    enum ek_status st =
        root && s.span && s.did ? EK_OK : status_fail(EK_UNAVAILABLE, "out of memory for JSON");
    if (!st && s.c.nmeasured && request->layout)
        s.c.nmeasured = 0; /* other units than those that were measured */
    THEN(st, choose_schedules(&s));
    THEN(st, run_all(&s));
    if (!st && !request->layout)
        json_object_set_new(root, "certificate", certificate_json(&s.c.sim));
    if (!st && request->json)
        st = json_write(request->json, root);
    json_decref(root);
    free(s.span);
    free(s.did);
    plan_case_close(&s.c);
    return st;
}
