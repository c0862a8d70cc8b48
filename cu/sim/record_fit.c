/* cu/sim/record_fit.c – alternates between the tasks' times, given launches and neighbours, and
 * launches and neighbours, given the times. */
#include "cu/sim/record_fit.h"
#include "cu/sched/fit.h"
#include "cu/sched/line.h"

enum { TURNS = 8 };

struct fitter {
    size_t n, count;
    const double *cost;
    const struct record_sample *sample;
    struct record_kind *kind;
    struct fit_row *row;  /* scratch for every task of every sample */
    size_t *first, *fill; /* [n + 1] rows of each task while times are fitted */
    struct arena arena;   /* of these three */
};

static double cost_of(const struct fitter *f, size_t task)
{
    return f->cost ? f->cost[task] : 1;
}

static double sum_of(const double *x, struct ek_range r)
{
    return line_sum(x + r.begin, r.end - r.begin);
}

static double slowdown_of(const struct fitter *f, const struct record_sample *s)
{
    return 1 + f->kind->slowed[0] * s->busy[0] + f->kind->slowed[1] * s->busy[1];
}

/* ---- the tasks' times -------------------------------------------------------------------------*/
/* Counts each task's samples, so that its rows can lie together. */
static void count_rows(struct fitter *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t t = f->sample[i].tasks.begin; t < f->sample[i].tasks.end; t++)
            f->first[t + 1]++;
    for (size_t t = 0; t < f->n; t++)
        f->first[t + 1] += f->first[t];
}

/* Divides a sample's seconds, without launch and slowdown, among its tasks by `share`, at first
 * their cost. Short ranges say more about a task than long ones. */
static void share_out(struct fitter *f, const double *share)
{
    for (size_t t = 0; t < f->n; t++)
        f->fill[t] = f->first[t];
    for (size_t i = 0; i < f->count; i++) {
        const struct record_sample *s = &f->sample[i];
        double alone = fmax(s->seconds / slowdown_of(f, s) - f->kind->launch, 0);
        double sum = sum_of(share, s->tasks);
        for (size_t t = s->tasks.begin; t < s->tasks.end; t++)
            f->row[f->fill[t]++] = (struct fit_row){
                .y = sum > 0 ? alone * share[t] / sum : 0,
                .weight = 1 / (double)(s->tasks.end - s->tasks.begin),
            };
    }
}

/* Puts tasks that never ran on this kind on the line seconds = a + b * cost of the others. */
static void draw_line(struct fitter *f)
{
    double line[2];
    size_t known = 0;
    for (size_t t = 0; t < f->n; t++)
        if (f->first[t] < f->first[t + 1])
            f->row[known++] =
                (struct fit_row){.x = {1, cost_of(f, t)}, .y = f->kind->seconds[t], .weight = 1};
    fit_rows(f->row, known, 2, FIT_CLOSELY, line);
    for (size_t t = 0; t < f->n; t++)
        if (f->first[t] == f->first[t + 1])
            f->kind->seconds[t] = known ? line[0] + line[1] * cost_of(f, t) : NAN;
}

static void find_seconds(struct fitter *f)
{
    share_out(f, f->kind->seconds);
    for (size_t t = 0; t < f->n; t++)
        f->kind->seconds[t] = fit_median(f->row + f->first[t], f->first[t + 1] - f->first[t]);
    draw_line(f);
}

/* ---- launches ---------------------------------------------------------------------------------*/
/* Only ranges of different lengths tell a launch from per-task overhead. */
static bool lengths_differ(const struct fitter *f)
{
    for (size_t i = 1; i < f->count; i++)
        if (f->sample[i].tasks.end - f->sample[i].tasks.begin !=
            f->sample[0].tasks.end - f->sample[0].tasks.begin)
            return true;
    return false;
}

/* Fits seconds = launch + a * tasks + b * cost, weighted by 1 / length of the range. */
static void find_launch(struct fitter *f)
{
    double beta[3];
    for (size_t i = 0; i < f->count; i++) {
        const struct record_sample *s = &f->sample[i];
        double tasks = (double)(s->tasks.end - s->tasks.begin), cost = tasks;
        if (f->cost)
            cost = sum_of(f->cost, s->tasks);
        f->row[i] = (struct fit_row){
            .x = {1, tasks, cost}, .y = s->seconds / slowdown_of(f, s), .weight = 1 / tasks};
    }
    fit_rows(f->row, f->count, f->cost ? 3 : 2, FIT_CLOSELY, beta);
    f->kind->launch = beta[0];
}

/* ---- neighbours -------------------------------------------------------------------------------*/
/* Fits measured / expected seconds over the number of busy neighbours; the constant absorbs an
 * error common to all expectations. */
static void find_slowness(struct fitter *f)
{
    double beta[3];
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct record_sample *s = &f->sample[i];
        double expected = f->kind->launch + sum_of(f->kind->seconds, s->tasks);
        if (expected > 0)
            f->row[n++] = (struct fit_row){
                .x = {1, s->busy[0], s->busy[1]}, .y = s->seconds / expected, .weight = expected};
    }
    fit_rows(f->row, n, 3, FIT_CLOSELY, beta);
    for (int k = 0; k < 2; k++)
        f->kind->slowed[k] = beta[0] > 0 ? beta[1 + k] / beta[0] : 0;
}

/* ---- noise ------------------------------------------------------------------------------------*/
static enum ek_status find_noise(struct fitter *f)
{
    double *expected = ARENA_NEW(&f->arena, f->count, double);
    TRY(arena_check(&f->arena, "%zu measurements", f->count));
    for (size_t i = 0; i < f->count; i++) {
        const struct record_sample *s = &f->sample[i];
        expected[i] = (f->kind->launch + sum_of(f->kind->seconds, s->tasks)) * slowdown_of(f, s);
    }
    return record_noise(f->n, f->sample, expected, f->count, &f->kind->noise);
}

/* ---- all --------------------------------------------------------------------------------------*/
static enum ek_status open_fitter(struct fitter *f)
{
    size_t rows = f->n;
    for (size_t i = 0; i < f->count; i++)
        rows += f->sample[i].tasks.end - f->sample[i].tasks.begin;
    f->row = ARENA_NEW(&f->arena, rows + f->count, struct fit_row);
    f->first = ARENA_NEW(&f->arena, f->n + 1, size_t);
    f->fill = ARENA_NEW(&f->arena, f->n, size_t);
    TRY(arena_check(&f->arena, "%zu measurements", f->count));
    count_rows(f);
    return EK_OK;
}

enum ek_status record_fit(size_t n, const double *cost, const struct record_sample *sample,
                          size_t count, struct record_kind *kind)
{
    struct fitter f = {.n = n, .count = count, .cost = cost, .sample = sample, .kind = kind};
    enum ek_status st = open_fitter(&f);
    kind->launch = kind->slowed[0] = kind->slowed[1] = 0;
    for (size_t t = 0; t < n; t++)
        kind->seconds[t] = cost_of(&f, t);
    for (int turn = 0; !st && turn < TURNS; turn++) {
        if (lengths_differ(&f))
            find_launch(&f);
        find_seconds(&f);
        find_slowness(&f);
    }
    if (!st) {
        find_seconds(&f);
        st = find_noise(&f);
    }
    arena_free(&f.arena);
    return st;
}
