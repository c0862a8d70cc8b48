/* cu/moldable/outcome.c – schedules and runs as JSON, table and page. */
#include "cu/moldable/outcome.h"
#include "src/page.h"
#include "src/json.h"

#include <stdio.h>
#include <string.h>

/* ---- plans ------------------------------------------------------------------------------------*/
/* One node: "node" and "core"; a cluster task has "nodes" with the same of each instead. */
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

/* A task as the plan has it, with what was measured in place of what was planned. */
static json_t *entry_json(const struct run_history *b, int task)
{
    const struct run_entry *e = &b->entry[task];
    const struct moldable_problem *p = &b->job->problem;
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

/* The first plan's, or the last one's behind the loss of a node. */
static double predicted(const struct run_history *b)
{
    bool lost = false;
    for (int n = 0; n < b->job->problem.nnodes; n++)
        lost = lost || b->lost[n];
    const struct run_epoch *e = b->epoch[lost ? b->nepochs - 1 : 0];
    return e->begin + e->plan.makespan;
}

static json_t *run_json(const struct run_history *b, int done, int failed)
{
    json_t *schedule = json_array();
    double plan = predicted(b);
    for (int i = 0; i < b->job->problem.ntasks; i++)
        json_array_append_new(schedule, entry_json(b, i));
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:o, s:o, s:o}", "job", b->job->path,
                     "method", b->method->name, "tasks", b->job->problem.ntasks, "done", done,
                     "failed", failed, "plans", b->nepochs, "makespan_s", b->makespan,
                     "predicted_makespan_s", plan, "ratio",
                     json_number_or_null(plan > 0 ? b->makespan / plan : 0. / 0.), "lower_bound_s",
                     json_number_or_null(moldable_bound(&b->job->problem)), "schedule", schedule);
}

/* The first plan beside what was measured. */
static enum ek_status write_page(const struct run_history *b, const char *path, const json_t *run)
{
    const struct run_epoch *first = b->epoch[0];
    json_auto_t *plans = json_array();
    json_t *measured = json_deep_copy(run);
    json_object_set_new(measured, "method", json_string("measured"));
    json_array_append_new(plans, measured);
    if (first->plan.ntasks)
        json_array_append_new(
            plans, run_plan_json(&first->problem, &first->plan, moldable_bound(&b->job->problem)));
    return run_page(path, "cu-run run", &b->job->problem, plans);
}

static void print_outcome(const struct run_history *b, int done, int failed)
{
    double plan = predicted(b);
    printf("%s: %d tasks, %d done, %d failed; makespan %.3f s, planned %.3f s", b->method->name,
           b->job->problem.ntasks, done, failed, b->makespan, plan);
    if (plan > 0)
        printf(" (%.3f of it)", b->makespan / plan);
    printf("; output in %s\n", b->folder);
}

static enum ek_status name_failed(const struct run_history *b)
{
    char list[256] = "";
    for (int i = 0, n = 0; i < b->job->problem.ntasks; i++) {
        const struct run_entry *e = &b->entry[i];
        size_t at = strlen(list);
        if (e->state == RUN_FAILED && at < sizeof list - 32)
            snprintf(list + at, sizeof list - at, "%s%d (exit %d)", n++ ? ", " : "", i, e->status);
        else if (e->state == RUN_FAILED && at < sizeof list - 4)
            strcpy(list + at, "…");
    }
    FAIL(EK_UNVERIFIED, "failed tasks: %s; their output is in %s, and --resume tries them again",
         list, b->folder);
}

enum ek_status run_outcome(const struct run_history *b, const char *json, const char *report)
{
    int done = 0, failed = 0;
    for (int i = 0; i < b->job->problem.ntasks; i++) {
        done += b->entry[i].state == RUN_DONE;
        failed += b->entry[i].state == RUN_FAILED;
    }
    if (!json || strcmp(json, "-"))
        print_outcome(b, done, failed);
    json_auto_t *run = json || report ? run_json(b, done, failed) : NULL;
    TRY(json ? json_write(json, run) : EK_OK);
    TRY(report ? write_page(b, report, run) : EK_OK);
    return failed ? name_failed(b) : EK_OK;
}
