/* cu/moldable/run_plan.c – cu-run plan: every method's schedule as a table, JSON or a page. */
#include "cu/moldable/outcome.h"
#include "cu/moldable/run.h"
#include "src/json.h"
#include "src/opt.h"

enum { MOST_METHODS = 32, MOST_WORDS = 64 };

struct settings {
    const char *tasks, *nodes, *method, *json, *report;
    const char *help; /* NULL: not asked for */
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {"tasks", OPT_TEXT, AT(tasks), "LIST",
     .help = "tasks and their run times in s on p cores: \"10 x 71.07/p^0.42+4.47, fem = 2 x "
             "[9,5,4], cluster 90/p\""},
    {"nodes", OPT_TEXT, AT(nodes), "LIST",
     .help = "name:cores:factor[:cluster], where factor is the speed relative to the reference "
             "node: \"cs1:8:1.0,5 x ws:12:1.4\""},
    {"method", OPT_TEXT, AT(method), "LIST", .help = "only these, as wlsearch,evenkeel (all)"},
    {"json", OPT_TEXT, AT(json), "FILE",
     .help = "write the schedules to the file; - prints them in place of the table"},
    {"report", OPT_TEXT, AT(report), "FILE", .help = "write an HTML page with all schedules"},
    {"help", OPT_TEXT, AT(help), "all", "this text", .optional = true},
    OPT_END,
};

enum ek_status run_words(int argc, char **argv, const struct opt *table, void *values,
                         const char *const *help, const char *text, const char **job)
{
    const char *args[MOST_WORDS];
    int nargs = 0;
    const struct opt_group groups[] = {{"options:", table, values}};
    if (argc > MOST_WORDS)
        FAIL(EK_USAGE, "too many arguments; try cu-run %s --help", argv[0]);
    TRY(opt_parse(groups, 1, argc, argv, args, &nargs));
    if (*help) {
        puts(text);
        opt_help(stdout, groups, 1, true);
    } else if (nargs > 1) {
        FAIL(EK_USAGE, "%s takes only one job file; try cu-run %s --help", argv[0], argv[0]);
    }
    *job = nargs ? args[0] : NULL;
    return EK_OK;
}

/* ---- all methods ------------------------------------------------------------------------------*/
static enum ek_status plan_with(const struct moldable_problem *p, const struct moldable_method *m,
                                double bound, bool text, json_t *methods)
{
    OWNED(moldable_plan_close) struct moldable_plan plan = {0};
    TRY(moldable_plan_open(&plan, p, m));
    if (text)
        printf("%-10s %14.6g %9.4f %12.3f\n", m->name, plan.makespan, plan.makespan / bound,
               plan.planning);
    if (methods)
        json_array_append_new(methods, run_plan_json(p, &plan, bound));
    return EK_OK;
}

static enum ek_status choose_methods(const char *list, const struct moldable_method **method,
                                     int *n)
{
    for (*n = 0; !list && moldable_methods[*n]; ++*n)
        method[*n] = moldable_methods[*n];
    OWNED_MEMORY char *copy = list ? strdup(list) : NULL;
    char *rest = copy;
    for (char *name; rest && (name = strsep(&rest, ",")) && *n < MOST_METHODS;)
        if (!(method[(*n)++] = moldable_find(name)))
            return EK_USAGE;
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
        return EK_UNAVAILABLE;
    json_auto_t *methods = s->json || s->report ? json_array() : NULL;
    if (text)
        printf("%d tasks on %d nodes, no schedule is shorter than %.6g s\n\n%-10s %14s %9s %12s\n",
               p->ntasks, p->nnodes, bound, "method", "makespan s", "/ bound", "planning s");
    for (int i = 0; i < n; i++)
        TRY(plan_with(p, method[i], bound, text, methods));
    if (s->report)
        TRY(run_page(s->report, "cu-run plan", p, methods));
    if (!s->json)
        return EK_OK;
    json_auto_t *root = json_pack("{s:i, s:i, s:f, s:O}", "tasks", p->ntasks, "nodes", p->nnodes,
                                  "lower_bound_s", bound, "methods", methods);
    return json_write(s->json, root);
}

static enum ek_status plan_words(const struct settings *s)
{
    OWNED(moldable_problem_close) struct moldable_problem p = {0};
    TRY(moldable_tasks_parse(&p, s->tasks));
    TRY(moldable_nodes_parse(&p, s->nodes));
    TRY(moldable_check(&p));
    return plan_all(&p, s);
}

static enum ek_status plan_job(const struct settings *s, const char *path)
{
    OWNED(run_job_close) struct run_job job = {0};
    TRY(run_job_open(&job, path));
    TRY(run_job_timed(&job));
    return plan_all(&job.problem, s);
}

enum ek_status run_plan(int argc, char **argv)
{
    struct settings s = {0};
    const char *job = NULL;
    TRY(run_words(argc, argv, options, &s, &s.help,
                  "Usage: cu-run plan --tasks LIST --nodes LIST [options]\n"
                  "       cu-run plan JOB.json [options]\n\n"
                  "Plans the tasks by each method: the makespan, and which task runs when, on\n"
                  "which cores and after which others.",
                  &job));
    if (s.help) {
        puts("\nmethods:");
        for (int i = 0; moldable_methods[i]; i++) {
            printf("  %-10s ", moldable_methods[i]->name);
            opt_wrap(stdout, 13, moldable_methods[i]->summary);
        }
        return EK_OK;
    }
    if (job && !s.tasks && !s.nodes)
        return plan_job(&s, job);
    if (job || !s.tasks || !s.nodes)
        FAIL(EK_USAGE, "plan needs --tasks and --nodes, or a job file; try cu-run plan --help");
    return plan_words(&s);
}
