/* cu/run_plan.c – cu-run plan: every method's schedule, as a table and as JSON. */
#include "cu/moldable.h"
#include "cu/run.h"
#include "src/json.h"
#include "src/opt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_METHODS = 32 };

struct settings {
    const char *tasks, *nodes, *method, *json;
    bool help;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {.name = "tasks",
     .type = OPT_TEXT,
     .offset = AT(tasks),
     .arg = "LIST",
     .help = "tasks and their run times in s on p cores: \"10 x 71.07/p^0.42+4.47, fem = 2 x "
             "[9,5,4], cluster 90/p\""},
    {.name = "nodes",
     .type = OPT_TEXT,
     .offset = AT(nodes),
     .arg = "LIST",
     .help = "name:cores:factor[:cluster], factor = speed against the reference node: "
             "\"cs1:8:1.0,5 x ws:12:1.4\""},
    {.name = "method",
     .type = OPT_TEXT,
     .offset = AT(method),
     .arg = "LIST",
     .help = "only these, as wlsearch,evenkeel (all)"},
    {.name = "json",
     .type = OPT_TEXT,
     .offset = AT(json),
     .arg = "FILE",
     .help = "write the schedules to the file, or instead of text (-)"},
    {.name = "help", .type = OPT_FLAG, .offset = AT(help), .help = "this text"},
    OPT_END,
};

static void print_help(const struct opt_group *groups)
{
    puts("usage: cu-run plan --tasks LIST --nodes LIST [options]\n\n"
         "Predicts what each method makes of the tasks: makespan, and which task runs when, on\n"
         "which cores and behind which others.\n");
    opt_help(stdout, groups, 1);
    puts("\nmethods:");
    for (int i = 0; moldable_methods[i]; i++)
        printf("  %-10s %s\n", moldable_methods[i]->name, moldable_methods[i]->summary);
}

/* ---- JSON -------------------------------------------------------------------------------------*/
static json_t *numbers(const int *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer(x[i]));
    return list;
}

/* One node: "node" and "cpus"; a cluster task has "nodes" with the same of each instead. */
static json_t *placed_json(const struct moldable_problem *p, int task,
                           const struct moldable_placed *t)
{
    json_t *o = json_pack("{s:i, s:s}", "task", task, "name", p->kinds[p->kind[task]].name);
    json_t *nodes = t->nparts > 1 ? json_array() : NULL;
    for (int k = 0; k < t->nparts; k++) {
        const struct moldable_part *part = &t->part[k];
        json_t *one = nodes ? json_object() : json_incref(o);
        json_object_set_new(one, "node", json_string(p->node[part->node].name));
        json_object_set_new(one, "core", numbers(part->core, part->ncores));
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
    json_object_set_new(o, "after", numbers(t->after, t->nafter));
    return o;
}

static json_t *plan_json(const struct moldable_problem *p, const struct moldable_plan *plan,
                         double bound)
{
    json_t *schedule = json_array();
    for (int i = 0; i < plan->ntasks; i++)
        json_array_append_new(schedule, placed_json(p, i, &plan->task[i]));
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:o}", "method", plan->method, "makespan_s",
                     plan->makespan, "lower_bound_s", bound, "ratio", plan->makespan / bound,
                     "planning_s", plan->planning, "schedule", schedule);
}

/* ---- all methods ------------------------------------------------------------------------------*/
static enum ek_status plan_with(const struct moldable_problem *p, const struct moldable_method *m,
                                double bound, bool text, json_t *methods)
{
    struct moldable_plan plan;
    TRY(moldable_plan_open(&plan, p, m));
    if (text)
        printf("%-10s %14.6g %9.4f %12.3f\n", m->name, plan.makespan, plan.makespan / bound,
               plan.planning);
    if (methods)
        json_array_append_new(methods, plan_json(p, &plan, bound));
    moldable_plan_close(&plan);
    return EK_OK;
}

static enum ek_status choose_methods(const char *list, const struct moldable_method **method,
                                     int *n)
{
    for (*n = 0; !list && moldable_methods[*n]; ++*n)
        method[*n] = moldable_methods[*n];
    char *copy = list ? strdup(list) : NULL, *rest = copy;
    for (char *name; rest && (name = strsep(&rest, ",")) && *n < MOST_METHODS;)
        if (!(method[(*n)++] = moldable_find(name)))
            return free(copy), EK_USAGE;
    free(copy);
    return EK_OK;
}

static enum ek_status plan_all(const struct moldable_problem *p, const struct settings *s)
{
    const struct moldable_method *method[MOST_METHODS];
    int n;
    bool text = !s->json || strcmp(s->json, "-");
    TRY(choose_methods(s->method, method, &n));
    double bound = moldable_bound(p);
    if (isnan(bound))
        return EK_LACK;
    json_t *methods = s->json ? json_array() : NULL;
    if (text)
        printf("%d tasks on %d nodes, no schedule is shorter than %.6g s\n\n%-10s %14s %9s %12s\n",
               p->ntasks, p->nnodes, bound, "method", "makespan s", "/ bound", "planning s");
    enum ek_status st = EK_OK;
    for (int i = 0; i < n && !st; i++)
        st = plan_with(p, method[i], bound, text, methods);
    if (!st && methods) {
        json_t *root = json_pack("{s:i, s:i, s:f, s:O}", "tasks", p->ntasks, "nodes", p->nnodes,
                                 "lower_bound_s", bound, "methods", methods);
        st = root ? json_write(s->json, root) : status_fail(EK_LACK, "out of memory for JSON");
        json_decref(root);
    }
    json_decref(methods);
    return st;
}

enum ek_status run_plan(int argc, char **argv)
{
    struct settings s = {0};
    struct moldable_problem p = {0};
    const struct opt_group groups[] = {{"options:", options, &s}};
    TRY(opt_parse(groups, 1, argc, argv, NULL, NULL));
    if (s.help)
        return print_help(groups), EK_OK;
    if (!s.tasks || !s.nodes)
        FAIL(EK_USAGE, "plan wants --tasks and --nodes; try cu-run plan --help");
    enum ek_status st = moldable_tasks_parse(&p, s.tasks);
    if (!st)
        st = moldable_nodes_parse(&p, s.nodes);
    if (!st)
        st = moldable_check(&p);
    if (!st)
        st = plan_all(&p, &s);
    moldable_problem_close(&p);
    return st;
}
