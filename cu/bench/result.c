/* cu/bench/result.c – collects the results of runs and writes them as a table and as JSON. */
#include "cu/bench/result.h"
#include "cu/sim/bound.h"
#include "cu/rank/cluster.h"
#include "cu/unit/topology.h"
#include "src/isa.h"
#include "src/version.h"
#include "src/sort.h"

#include <unistd.h>

static const char *const kind_names[] = {[CU_CPU] = "cpu", [CU_DEVICE] = "device"};

json_t *result_gather(json_t *list)
{
    if (cluster_size() == 1)
        return list;
    OWNED_MEMORY char *own = json_dumps(list, JSON_EMBED); /* without the brackets */
    OWNED_MEMORY char *all = cluster_gather_text(own ? own : "");
    OWNED_MEMORY char *text = NULL;
    json_t *gathered = NULL;
    if (all && asprintf(&text, "[%s]", all) > 0)
        gathered = json_loads(text, 0, NULL);
    json_decref(list);
    return gathered;
}

static json_t *describe_unit(const struct cu *u, const struct team *team)
{
    json_t *o = json_pack("{s:s s:s s:i s:I s:f}", "kind", kind_names[u->kind], "name", u->name,
                          "width", u->width, "tasks", (json_int_t)team_unit_tasks(team, u->index),
                          "busy_s", team_unit_spent(team, u->index).computing);
    if (u->kind == CU_DEVICE)
        json_object_set_new(o, "starving_s",
                            json_number_or_null(team_unit_spent(team, u->index).starving));
    if (cluster_size() > 1)
        json_object_set_new(o, "rank", json_integer(cluster_rank()));
    return o;
}

static json_t *describe_units(const struct cu_set *set, const struct team *team)
{
    json_t *units = json_array();
    for (int c = 0; c < set->n; c++)
        json_array_append_new(units, describe_unit(&set->cu[c], team));
    return result_gather(units);
}

/* Times are those of the slowest rank; moved bytes, migrations and lost units add up. */
static struct team_result of_all_ranks(struct team_result r)
{
    double most[] = {r.seconds,  r.computation_s, r.communication_s,
                     r.moving_s, r.planning_s,    r.imbalance};
    double sum[] = {(double)r.bytes_moved, (double)r.migrations, r.retired};
    cluster_max(most, sizeof most / sizeof *most);
    cluster_sum(sum, sizeof sum / sizeof *sum);
    r.seconds = most[0];
    r.computation_s = most[1];
    r.communication_s = most[2];
    r.moving_s = most[3];
    r.planning_s = most[4];
    r.imbalance = most[5];
    r.bytes_moved = (size_t)sum[0];
    r.migrations = (size_t)sum[1];
    r.retired = (int)sum[2];
    return r;
}

static void free_run(struct result_run *run)
{
    json_decref(run->units);
    json_decref(run->verification);
    json_decref(run->facts);
    arena_free(&run->arena);
}

/* Replaces x[i] by its maximum over the ranks where it is not NAN. */
static void share_most(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = isnan(x[i]) ? -INFINITY : x[i];
    cluster_max(x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = isinf(x[i]) ? NAN : x[i];
}

static void negate(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = -x[i];
}

/* Whether this rank knows its tasks' numbers among those of all ranks. */
static bool knows_all(const struct result_host *h)
{
    return cluster_size() == 1 || (h->job && h->job->number);
}

/* Takes the counts and times of this rank's tasks, then combines those of all ranks. */
static void take_times(struct result_run *run, const struct result_host *h, const struct team *team)
{
    const size_t n = h->ntasks, here = h->job ? h->job->n : n;
    for (size_t i = 0; i < 2 * n; i++)
        run->seconds[i] = run->least[i] = NAN;
    for (size_t t = 0; t < here; t++)
        for (int kind = 0; kind < 2; kind++) {
            const size_t number = h->job && h->job->number ? (size_t)h->job->number[t] : t;
            const size_t at = (size_t)kind * n + number;
            run->seconds[at] = team_task_seconds(team, t, (enum cu_kind)kind);
            run->least[at] = team_task_least(team, t, (enum cu_kind)kind);
            run->runs[at] = team_task_runs(team, t, (enum cu_kind)kind);
        }
    if (cluster_size() == 1 || !knows_all(h))
        return;
    for (size_t i = 0; i < 2 * n; i++) {
        run->least[i] = fmin(run->least[i], team_past_least(team, i % n, (enum cu_kind)(i / n)));
        run->runs[i] += team_past_runs(team, i % n, (enum cu_kind)(i / n));
    }
    share_most(run->seconds, 2 * n);
    negate(run->least, 2 * n);
    share_most(run->least, 2 * n);
    negate(run->least, 2 * n);
    cluster_sum(run->runs, 2 * n);
}

/* Sums the time spent by the units of each kind, on all ranks. */
static void take_spent(struct result_run *run, const struct cu_set *set, const struct team *team)
{
    double sum[2][5] = {{0}};
    for (int c = 0; c < set->n; c++) {
        const struct team_spent unit = team_unit_spent(team, c);
        double *of = sum[set->cu[c].kind];
        of[0] += unit.computing;
        of[1] += unit.launching;
        of[2] += unit.moving;
        of[3] += unit.starving;
        of[4]++;
    }
    cluster_sum(*sum, 10);
    for (int kind = 0; kind < 2; kind++) {
        run->spent[kind] =
            (struct team_spent){sum[kind][0], sum[kind][1], sum[kind][2], sum[kind][3]};
        run->unit_count[kind] = (int)sum[kind][4];
    }
}

enum ek_status result_take(struct result_run *run, const struct result_host *host,
                           const struct team *team, const char *schedule)
{
    size_t n = host->ntasks;
    struct result_run taken = {.schedule = schedule,
                               .team = of_all_ranks(*team_result(team)),
                               .units = describe_units(host->set, team)};
    taken.seconds = ARENA_NEW(&taken.arena, 2 * n, double);
    taken.least = ARENA_NEW(&taken.arena, 2 * n, double);
    taken.runs = ARENA_NEW(&taken.arena, 2 * n, double);
    taken.arena.failed |= !taken.units;
    TRY_OR(arena_check(&taken.arena, "the measurements of %zu tasks", n), free_run(&taken));
    take_times(&taken, host, team);
    take_spent(&taken, host->set, team);
    *run = taken;
    return EK_OK;
}

void result_free(struct result_set *set)
{
    for (int i = 0; set->run && i < set->nschedules * set->repeat; i++)
        free_run(&set->run[i]);
    free(set->run);
    set->run = NULL;
}

/* Sorts wrong results after right ones, and interrupted runs after both. */
static int trouble(const struct result_run *run)
{
    return run->interrupted ? 2 : run->verified == BENCH_WRONG;
}

static int by_seconds(const void *a, const void *b)
{
    const struct result_run *x = *(const struct result_run *const *)a;
    const struct result_run *y = *(const struct result_run *const *)b;
    if (trouble(x) != trouble(y))
        return trouble(x) - trouble(y);
    return (x->team.seconds > y->team.seconds) - (x->team.seconds < y->team.seconds);
}

int result_middle(const struct result_set *set, int s)
{
    const struct result_run *found[64];
    int n = 0;
    for (int r = 0; r < set->repeat && n < 64; r++) {
        const struct result_run *run = &set->run[s * set->repeat + r];
        if (run->schedule && !run->interrupted)
            found[n++] = run;
    }
    qsort(found, (size_t)n, sizeof *found, by_seconds);
    return n ? (int)(found[(n - 1) / 2] - set->run) : -1;
}

const struct result_run *result_median(const struct result_set *set, int s)
{
    for (int r = 0; r < set->repeat; r++) {
        const struct result_run *run = &set->run[s * set->repeat + r];
        if (run->schedule && trouble(run))
            return run;
    }
    const int middle = result_middle(set, s);
    return middle < 0 ? NULL : &set->run[middle];
}

/* Median over all runs that timed this task on this kind. */
static double task_seconds(const struct result_set *set, int kind, size_t task)
{
    double found[256];
    int n = 0;
    for (int i = 0; i < set->nschedules * set->repeat && n < 256; i++) {
        const struct result_run *run = &set->run[i];
        double sec = run->schedule ? run->seconds[(size_t)kind * set->host.ntasks + task] : NAN;
        if (!isnan(sec))
            found[n++] = sec;
    }
    return sort_median(found, (size_t)n);
}

/* The task's time according to a profile; NAN: none. */
static double task_foreknown(const struct result_set *set, int kind, size_t task)
{
    const struct cu_set *units = set->host.set;
    const struct sched_unit *known = set->host.job ? set->host.job->unit : NULL;
    for (int c = 0; known && cluster_size() == 1 && c < units->n; c++)
        if ((int)units->cu[c].kind == kind && known[c].seconds && task < set->host.job->n)
            return known[c].seconds[task];
    return NAN;
}

/* The task's shortest time in all runs, or that of a profile if it never ran there. */
static double task_least(const struct result_set *set, int kind, size_t task)
{
    double least = NAN;
    for (int i = 0; i < set->nschedules * set->repeat; i++)
        if (set->run[i].schedule)
            least = fmin(least, set->run[i].least[(size_t)kind * set->host.ntasks + task]);
    return isnan(least) ? task_foreknown(set, kind, task) : least;
}

/* The existing kinds of units, and the shortest times of all tasks on them. */
struct best {
    int kinds, kind[2], units[2];
    double *row[2]; /* [ntasks] of each kind */
};

static bool best_open(struct best *u, const struct result_set *set, const int *units)
{
    const size_t n = set->host.ntasks;
    *u = (struct best){.row = {calloc(2 * n + 1, sizeof **u->row)}};
    if (!u->row[0] || !knows_all(&set->host))
        return false;
    u->row[1] = u->row[0] + n;
    for (int kind = 0; kind < 2; kind++) {
        if (!units[kind])
            continue;
        u->kind[u->kinds] = kind;
        u->units[u->kinds] = units[kind];
        for (size_t t = 0; t < n; t++)
            u->row[u->kinds][t] = task_least(set, kind, t);
        u->kinds++;
    }
    return true;
}

static void best_close(struct best *u)
{
    free(u->row[0]);
}

/* Lower bound of a step, and the price of a second of each kind's units; NAN: unknown. With several
 * ranks only the area counts: a run's time is the longest sum of one rank's steps, which the
 * longest task does not bound if tasks move from rank to rank. */
static double bound_of_step(const struct best *u, size_t n, double price[2])
{
    const double *const *row = (const double *const *)u->row;
    const double area = bound_prices(n, u->kinds, u->units, row, price);
    return isnan(area) || cluster_size() > 1 ? area : bound_step(n, u->kinds, u->units, row);
}

/* Lower bound of a run's computation in seconds, from the shortest time of each task in all steps
 * of all runs, so that no run is below it; NAN if some task was never timed on some kind of unit,
 * not even by a profile. */
static double bound_of(const struct result_set *set)
{
    struct best u;
    double bound = NAN, price[2];
    const struct result_run *longest = NULL;
    for (int i = 0; i < set->nschedules * set->repeat; i++)
        if (set->run[i].schedule && (!longest || set->run[i].team.steps > longest->team.steps))
            longest = &set->run[i];
    const int none[2] = {0, 0}, steps = longest ? longest->team.steps : 0;
    if (best_open(&u, set, longest ? longest->unit_count : none))
        bound = steps * bound_of_step(&u, set->host.ntasks, price);
    best_close(&u);
    /* No bound if tasks report more time than their run took, as concurrent kernels do. */
    for (int i = 0; i < set->nschedules * set->repeat; i++)
        if (set->run[i].schedule && set->run[i].team.steps == steps &&
            set->run[i].team.computation_s < bound * (1 - 1e-9))
            bound = NAN;
    return bound;
}

/* How the units of a kind spent their time. */
static struct loss_share share_of(const struct result_run *run, const double *best, size_t n,
                                  int kind, double price)
{
    const struct team_spent *spent = &run->spent[kind];
    struct loss_share share = {.price = price,
                               .tasks = spent->computing,
                               .launches = spent->launching,
                               .moving = spent->moving};
    for (size_t t = 0; t < n; t++)
        share.rule += run->runs[(size_t)kind * n + t] * best[t];
    return share;
}

/* The seconds by which a run exceeds the bound, by cause; NAN if there is no bound. */
static struct loss loss_in(const struct result_set *set, const struct result_run *run)
{
    const size_t n = set->host.ntasks;
    struct best u;
    struct loss_share share[2];
    double price[2], bound = NAN;
    if (best_open(&u, set, run->unit_count)) {
        bound = run->team.steps * bound_of_step(&u, n, price);
        for (int k = 0; k < u.kinds; k++)
            share[k] = share_of(run, u.row[k], n, u.kind[k], price[k]);
    }
    struct loss l = loss_of(run->team.computation_s, run->team.communication_s, bound,
                            isnan(bound) ? 0 : u.kinds, share);
    best_close(&u);
    return l;
}

/* ---- confidence interval --------------------------------------------------------------------- */

/* Confidence interval of the median of a policy's runs. */
struct interval {
    double low, high, confidence; /* 0: unknown, there is only one run */
    int n;
};

/* The interval of the policy's finished runs. */
static struct interval interval_of(const struct result_set *set, const char *schedule)
{
    double seconds[64];
    struct interval i = {.n = 0};
    for (int r = 0; r < set->nschedules * set->repeat && i.n < 64; r++) {
        const struct result_run *run = &set->run[r];
        if (run->schedule && !run->interrupted && !strcmp(run->schedule, schedule))
            seconds[i.n++] = run->team.seconds;
    }
    if (i.n)
        i.confidence = sort_median_interval(seconds, (size_t)i.n, &i.low, &i.high);
    return i;
}

/* ---- the table ------------------------------------------------------------------------------- */

static double rate(const struct result_host *h, const struct result_run *run)
{
    return run->team.seconds > 0 && !run->interrupted ? h->work / run->team.seconds : NAN;
}

/* Sorts the policies' median runs, best first, failed ones last. Returns their number. */
static int rank_runs(const struct result_set *set, const struct result_run **ranked)
{
    int n = 0;
    for (int s = 0; s < set->nschedules; s++) {
        const struct result_run *run = result_median(set, s);
        if (run)
            ranked[n++] = run;
    }
    qsort(ranked, (size_t)n, sizeof *ranked, by_seconds);
    return n;
}

const struct result_run *result_best(const struct result_set *set)
{
    const struct result_run *best = NULL;
    for (int s = 0; s < set->nschedules; s++) {
        const struct result_run *run = result_median(set, s);
        if (run && !trouble(run) && (!best || by_seconds(&run, &best) < 0))
            best = run;
    }
    return best;
}

static const char *verdict(const struct result_run *run)
{
    static const char *const words[] = {
        [BENCH_WRONG] = "NO", [BENCH_VERIFIED] = "yes", [BENCH_UNVERIFIABLE] = "not verifiable"};
    return run->interrupted ? "interrupted" : words[run->verified];
}

/* Prints " value" right-aligned, "-" if it is NAN. */
static void cell(FILE *out, int width, int digits, double value)
{
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.*f", width, digits, value);
}

static void table_row(FILE *out, const struct result_set *set, const struct result_run *run,
                      int width, double bound)
{
    const struct team_result *t = &run->team;
    fprintf(out, "%-*s", width, run->schedule);
    cell(out, 9, 3, t->seconds);
    if (set->repeat > 1) {
        const struct interval i = interval_of(set, run->schedule);
        cell(out, 9, 3, i.confidence > 0 ? i.low : NAN);
        cell(out, 9, 3, i.confidence > 0 ? i.high : NAN);
    }
    cell(out, 10, 1, rate(&set->host, run));
    cell(out, 9, 3, t->computation_s);
    cell(out, 9, 3, t->communication_s);
    cell(out, 7, 3, run->interrupted ? NAN : t->computation_s / bound);
    cell(out, 9, 2, 1e-6 * (double)t->bytes_moved);
    fprintf(out, " %6zu %8.1f%%  %s", t->migrations, 100 * t->imbalance, verdict(run));
    if (t->retired)
        fprintf(out, "  (%d unit%s lost, %d steps repeated)", t->retired, t->retired > 1 ? "s" : "",
                t->repeated);
    fputc('\n', out);
}

static void table_losses(FILE *out, const struct result_set *set,
                         const struct result_run *const *ranked, int n, int width)
{
    fputc('\n', out);
    loss_print_heading(out, width);
    for (int i = 0; i < n; i++) {
        struct loss l = loss_in(set, ranked[i]);
        loss_print(out, width, ranked[i]->schedule, &l, ranked[i]->team.seconds);
    }
}

/* A separate table, because starving is part of a task's best time, too. */
static void table_feeding(FILE *out, const struct result_run *const *ranked, int n, int width)
{
    if (!n || !ranked[0]->unit_count[CU_DEVICE] || isnan(ranked[0]->spent[CU_DEVICE].starving))
        return;
    fprintf(out, "\n%-*s %20s  time within tasks in which devices had no work from the host\n",
            width, "lost to", "feeding");
    for (int i = 0; i < n; i++) {
        const struct team_spent *spent = &ranked[i]->spent[CU_DEVICE];
        if (isnan(spent->starving))
            continue;
        fprintf(out, "%-*s %10.4g s %6.1f%%\n", width, ranked[i]->schedule, spent->starving,
                100 * spent->starving / fmax(spent->computing + spent->launching, 1e-300));
    }
}

void result_table(FILE *out, const struct result_set *set)
{
    OWNED_MEMORY const struct result_run **ranked = calloc((size_t)set->nschedules, sizeof *ranked);
    if (!ranked)
        return;
    int n = rank_runs(set, ranked), width = 10;
    double bound = bound_of(set);
    for (int i = 0; i < n; i++)
        if ((int)strlen(ranked[i]->schedule) > width)
            width = (int)strlen(ranked[i]->schedule);
    fprintf(out, "%-*s %9s%s %10s %9s %9s %7s %9s %6s %9s  %s\n", width, "schedule", "seconds",
            set->repeat > 1 ? "      from        to" : "", set->host.unit, "comput. s", "commun. s",
            "/ bound", "moved MB", "migr.", "imbalance", "verified");
    for (int i = 0; i < n; i++)
        table_row(out, set, ranked[i], width, bound);
    if (n && set->repeat > 1) {
        const struct interval i = interval_of(set, ranked[0]->schedule);
        if (i.confidence > 0)
            fprintf(
                out,
                "seconds: median of %d runs; from and to: its %.0f%% confidence interval (order "
                "statistics)\n",
                i.n, 100 * i.confidence);
    }
    if (!isnan(bound))
        table_losses(out, set, ranked, n, width);
    table_feeding(out, ranked, n, width);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *all_seconds(const struct result_set *set, const char *schedule)
{
    json_t *list = json_array();
    for (int i = 0; i < set->nschedules * set->repeat; i++) {
        const struct result_run *run = &set->run[i];
        if (run->schedule && !strcmp(run->schedule, schedule))
            json_array_append_new(list, json_real(run->team.seconds));
    }
    return list;
}

/* {"low": …, "high": …, "confidence": …}; null for fewer than two runs. */
static json_t *interval_json(const struct result_set *set, const char *schedule)
{
    const struct interval i = interval_of(set, schedule);
    return i.confidence > 0 ? json_pack("{s:f s:f s:f}", "low", i.low, "high", i.high, "confidence",
                                        i.confidence)
                            : json_null();
}

static json_t *run_json(const struct result_set *set, const struct result_run *run, double bound)
{
    const struct result_host *h = &set->host;
    const struct team_result *t = &run->team;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const bool judged = !run->interrupted && run->verified != BENCH_UNVERIFIABLE;
    const struct loss loss = loss_in(set, run);
    json_t *o = json_pack(
        "{s:s s:s s:s s:s s:s s:s s:f s:o s:o s:o s:s s:o s:b s:i s:f s:f s:f s:f s:I s:I s:o s:f "
        "s:o s:I s:i s:i s:i s:s s:s s:O*}",
        "program", h->program, "version", EK_VERSION, "problem", h->problem, "layout",
        cu_layout_text(&h->set->layout), "devices", h->devices, "schedule", run->schedule,
        "seconds", t->seconds, "seconds_all", all_seconds(set, run->schedule), "seconds_interval",
        interval_json(set, run->schedule), "rate", json_number_or_null(rate(h, run)), "unit",
        h->unit, "verified", judged ? json_boolean(run->verified) : json_null(), "interrupted",
        run->interrupted, "steps", t->steps, "computation_s", t->computation_s, "communication_s",
        t->communication_s, "moving_s", t->moving_s, "planning_s", t->planning_s, "bytes_moved",
        (json_int_t)t->bytes_moved, "migrations", (json_int_t)t->migrations, "lower_bound_s",
        json_number_or_null(bound), "imbalance", t->imbalance, "loss", loss_json(&loss),
        "memory_bytes", (json_int_t)h->bytes, "ranks", cluster_size(), "units_lost", t->retired,
        "steps_repeated", t->repeated, "host", host, "isa", isa_name(), "units", run->units);
    if (h->profile)
        json_object_set_new(o, "profile", json_string(h->profile));
    if (run->verification)
        json_object_set(o, "verification", run->verification);
    if (run->facts)
        json_object_update(o, run->facts);
    return o;
}

json_t *result_run_json(const struct result_set *set, const struct result_run *run)
{
    return run_json(set, run, bound_of(set));
}

/* The tasks' median times over all runs, for cu-plan. */
static json_t *seconds_json(const struct result_set *set)
{
    json_t *root = json_object();
    for (int kind = 0; kind < 2; kind++) {
        json_t *list = json_array();
        for (size_t t = 0; list && t < set->host.ntasks; t++) {
            double sec = task_seconds(set, kind, t);
            if (isfinite(sec)) {
                json_array_append_new(list, json_real(sec));
                continue;
            }
            json_decref(list);
            list = NULL;
        }
        json_object_set_new(root, kind_names[kind], list ? list : json_null());
    }
    return root;
}

static json_t *with_seconds(const struct result_set *set, json_t *root)
{
    if (root && set->host.ntasks <= RESULT_TASKS && knows_all(&set->host))
        json_object_set_new(root, "task_seconds", seconds_json(set));
    return root;
}

json_t *result_json(const struct result_set *set, bool compare)
{
    double bound = bound_of(set);
    OWNED_MEMORY const struct result_run **ranked = calloc((size_t)set->nschedules, sizeof *ranked);
    json_t *runs = json_array();
    int n = ranked ? rank_runs(set, ranked) : 0;
    const int cores = topology_lent_cores();
    for (int i = 0; i < n; i++) {
        json_t *run = run_json(set, ranked[i], bound);
        json_object_set_new(run, "cores", json_integer(cores));
        json_array_append_new(runs, run);
    }
    if (compare)
        return with_seconds(set, json_pack("{s:o}", "runs", runs));
    json_t *only = json_incref(json_array_get(runs, 0));
    json_decref(runs);
    return with_seconds(set, only);
}
