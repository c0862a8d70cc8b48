/* cu/moldable/outcome.c – plans and measured runs as JSON, text and HTML pages. */
#include "cu/moldable/outcome.h"
#include "src/page.h"
#include "src/json.h"

/* ---- plans ------------------------------------------------------------------------------------*/
/* A task on one node has "node" and "core"; one on several has a list "nodes" of such objects. */
static json_t *placed_json(const struct moldable_problem *p, int task,
                           const struct moldable_placed *t)
{
    json_t *o = json_pack("{s:i, s:s}", "task", task, "name", p->kinds[p->kind[task]].name);
    json_t *nodes = t->nparts > 1 ? json_array() : NULL;
    for (int k = 0; k < t->nparts; k++) {
        const struct moldable_part *part = &t->part[k];
        json_t *one = nodes ? json_object() : json_incref(o);
        json_object_set_new(one, "node", json_string(p->node[part->node].name));
        json_object_set_new(one, "core", json_integers(part->core, (size_t)part->ncores));
        if (nodes)
            json_array_append_new(nodes, one);
        else
            json_decref(one);
    }
    if (nodes)
        json_object_set_new(o, "nodes", nodes);
    json_object_set_new(o, "cores", json_integer(t->cores));
    json_object_set_new(o, "start_s", json_real(t->start));
    json_object_set_new(o, "finish_s", json_real(t->finish));
    json_object_set_new(o, "after", json_integers(t->after, (size_t)t->nafter));
    return o;
}

json_t *run_plan_json(const struct moldable_problem *p, const struct moldable_plan *plan,
                      double bound)
{
    json_t *schedule = json_array();
    for (int i = 0; i < plan->ntasks; i++)
        json_array_append_new(schedule, placed_json(p, i, &plan->task[i]));
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:o}", "method", plan->method, "makespan_s",
                     plan->makespan, "lower_bound_s", bound, "ratio", plan->makespan / bound,
                     "planning_s", plan->planning, "schedule", schedule);
}

/* ---- pages ------------------------------------------------------------------------------------*/
enum ek_status run_page(const char *path, const char *title, const struct moldable_problem *p,
                        const json_t *plans)
{
    json_t *nodes = json_array();
    for (int n = 0; n < p->nnodes; n++)
        json_array_append_new(nodes, json_pack("{s:s, s:i, s:f}", "name", p->node[n].name, "cores",
                                               p->node[n].cores, "factor", p->node[n].factor));
    json_auto_t *data = json_pack("{s:s, s:i, s:o, s:O}", "title", title, "tasks", p->ntasks,
                                  "nodes", nodes, "plans", plans);
    return page_write(path, "cu/moldable/run.html", title, NULL, data);
}

/* ---- runs -------------------------------------------------------------------------------------*/
static const char *const state_names[] = {[RUN_WAITS] = "waits",
                                          [RUN_RUNS] = "runs",
                                          [RUN_DONE] = "done",
                                          [RUN_FAILED] = "failed",
                                          [RUN_SKIPPED] = "skipped"};

/* A task of the plan, with the measured times in place of the planned ones. */
static json_t *entry_json(const struct run_history *h, int task)
{
    const struct run_entry *e = &h->entry[task];
    const struct moldable_problem *p = &h->job->problem;
    json_t *o;
    if (e->placed) {
        o = placed_json(&e->epoch->problem, 0, e->placed);
        json_object_set_new(o, "predicted_start_s", json_real(e->epoch->begin + e->placed->start));
        json_object_set_new(o, "predicted_finish_s",
                            json_real(e->epoch->begin + e->placed->finish));
        json_t *after = json_array();
        for (int k = 0; k < e->placed->nafter; k++)
            json_array_append_new(after, json_integer(e->epoch->task[e->placed->after[k]]));
        json_object_set_new(o, "after", after);
    } else {
        o = json_object();
    }
    bool measured = e->state == RUN_DONE || e->state == RUN_FAILED;
    json_object_set_new(o, "task", json_integer(task));
    json_object_set_new(o, "name", json_string(p->kinds[p->kind[task]].name));
    json_object_set_new(o, "state", json_string(state_names[e->state]));
    json_object_set_new(o, "exit", measured ? json_integer(e->status) : json_null());
    json_object_set_new(o, "attempts", json_integer(e->attempts));
    json_object_set_new(o, "start_s", measured ? json_real(e->start) : json_null());
    json_object_set_new(o, "finish_s", measured ? json_real(e->finish) : json_null());
    json_object_set_new(o, "seconds", measured ? json_real(e->seconds) : json_null());
    json_object_set_new(o, "finished_before", json_boolean(e->before));
    return o;
}

/* The makespan of the first plan, or of the last one if a node was lost. */
static double predicted(const struct run_history *h)
{
    bool lost = false;
    for (int n = 0; n < h->job->problem.nnodes; n++)
        lost = lost || h->lost[n];
    const struct run_epoch *e = h->epoch[lost ? h->nepochs - 1 : 0];
    return e->begin + e->plan.makespan;
}

static json_t *run_json(const struct run_history *h, int done, int failed)
{
    json_t *schedule = json_array();
    double plan = predicted(h);
    for (int i = 0; i < h->job->problem.ntasks; i++)
        json_array_append_new(schedule, entry_json(h, i));
    return json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:o, s:o, s:o}", "job", h->job->path, "method",
        h->method->name, "tasks", h->job->problem.ntasks, "done", done, "failed", failed, "plans",
        h->nepochs, "makespan_s", h->makespan, "predicted_makespan_s", plan, "ratio",
        json_number_or_null(plan > 0 ? h->makespan / plan : 0. / 0.), "lower_bound_s",
        json_number_or_null(moldable_bound(&h->epoch[0]->problem)), "schedule", schedule);
}

/* The page with the measured schedule and the first plan. */
static enum ek_status write_page(const struct run_history *h, const char *path, const json_t *run)
{
    const struct run_epoch *first = h->epoch[0];
    json_auto_t *plans = json_array();
    json_t *measured = json_deep_copy(run);
    json_object_set_new(measured, "method", json_string("measured"));
    json_array_append_new(plans, measured);
    if (first->plan.ntasks)
        json_array_append_new(
            plans, run_plan_json(&first->problem, &first->plan, moldable_bound(&first->problem)));
    return run_page(path, "cu-run run", &h->job->problem, plans);
}

static void print_outcome(const struct run_history *h, int done, int failed)
{
    double plan = predicted(h);
    printf("%s: %d tasks, %d done, %d failed; makespan %.3f s, planned %.3f s", h->method->name,
           h->job->problem.ntasks, done, failed, h->makespan, plan);
    if (plan > 0)
        printf(" (%.3f of it)", h->makespan / plan);
    printf("; output in %s\n", h->folder);
}

static enum ek_status name_failed(const struct run_history *h)
{
    char list[256] = "";
    for (int i = 0, n = 0; i < h->job->problem.ntasks; i++) {
        const struct run_entry *e = &h->entry[i];
        size_t at = strlen(list);
        if (e->state == RUN_FAILED && at < sizeof list - 32)
            snprintf(list + at, sizeof list - at, "%s%d (exit %d)", n++ ? ", " : "", i, e->status);
        else if (e->state == RUN_FAILED && at < sizeof list - 4)
            strcpy(list + at, "…");
    }
    FAIL(EK_UNVERIFIED, "failed tasks: %s; their output is in %s, and --resume tries them again",
         list, h->folder);
}

enum ek_status run_outcome(const struct run_history *h, const char *json, const char *report)
{
    int done = 0, failed = 0;
    for (int i = 0; i < h->job->problem.ntasks; i++) {
        done += h->entry[i].state == RUN_DONE;
        failed += h->entry[i].state == RUN_FAILED;
    }
    if (!json || strcmp(json, "-"))
        print_outcome(h, done, failed);
    json_auto_t *run = json || report ? run_json(h, done, failed) : NULL;
    TRY(json ? json_write(json, run) : EK_OK);
    TRY(report ? write_page(h, report, run) : EK_OK);
    return failed ? name_failed(h) : EK_OK;
}
