/* cu/sim/record.c – follows a run's events step by step and collects measurements for a model of
 * it. */
#include "cu/sim/record.h"
#include "cu/rank/cluster.h"
#include "cu/sched/fit.h"
#include "cu/sim/record_fit.h"
#include "cu/sim/sim.h"
#include "src/sort.h"

#include <unistd.h>

enum { RECORD_TASKS = 65536 };
enum { SAMPLES_OF_A_RUN = 4096, STEPS_OF_A_RUN = 1024 }; /* approximate limits; more add nothing */

/* A growing array of measurements of one kind. */
struct samples {
    struct record_sample *at;
    size_t n, room;
};

struct rows {
    struct fit_row *at;
    size_t n, room;
};

struct record {
    struct arena arena; /* of kind and samples */
    const struct cu_set *set;
    const struct sched_job *job;
    int *kind, nkinds;       /* [set->n] units of the same make have the same kind */
    struct samples *samples; /* [nkinds] */
    struct rows moves, exchanges, between;
    int runs; /* added so far */
};

/* A unit's events in a run: its computations, and how far the reader has come. */
struct diary {
    const struct events *events;
    size_t n, next;
    double *start, *end, *before; /* [n] of computations; total seconds of computing before each */
};

/* ---- memory -----------------------------------------------------------------------------------*/
static enum ek_status add_row(struct rows *r, struct fit_row row)
{
    TRY(arena_grow(&r->at, &r->room, r->n, sizeof *r->at, "measurements"));
    r->at[r->n++] = row;
    return EK_OK;
}

static enum ek_status add_sample(struct samples *list, struct record_sample s)
{
    TRY(arena_grow(&list->at, &list->room, list->n, sizeof *list->at, "measurements"));
    list->at[list->n++] = s;
    return EK_OK;
}

bool record_worth(const struct sched_job *job)
{
    return cluster_size() == 1 && job->n <= RECORD_TASKS;
}

static bool same_make(const struct cu *a, const struct cu *b)
{
    if (!a->device || !b->device)
        return a->kind == b->kind && a->width == b->width;
    return a->device->ops == b->device->ops && !strcmp(a->device->info.name, b->device->info.name);
}

enum ek_status record_open(const struct cu_set *set, const struct sched_job *job, struct record **r)
{
    NEW(struct record, made, 1, "out of memory for a record");
    *made = (struct record){.set = set, .job = job};
    made->kind = ARENA_NEW(&made->arena, set->n, int);
    made->samples = ARENA_NEW(&made->arena, set->n, struct samples);
    TRY_OR(arena_check(&made->arena, "a record of %d units", set->n), record_close(made));
    for (int c = 0; c < set->n; c++) {
        int like = 0;
        while (like < c && !same_make(&set->cu[like], &set->cu[c]))
            like++;
        made->kind[c] = like < c ? made->kind[like] : made->nkinds++;
    }
    *r = made;
    return EK_OK;
}

void record_close(struct record *r)
{
    if (!r)
        return;
    for (int k = 0; k < r->nkinds; k++)
        free(r->samples[k].at);
    arena_free(&r->arena);
    free(r->moves.at);
    free(r->exchanges.at);
    free(r->between.at);
    free(r);
}

/* ---- who was busy when ------------------------------------------------------------------------*/
static void open_diary(struct diary *d, const struct events *events, struct arena *arena)
{
    double sum = 0;
    d->events = events;
    d->start = ARENA_NEW(arena, events->n, double);
    d->end = ARENA_NEW(arena, events->n, double);
    d->before = ARENA_NEW(arena, events->n, double);
    for (size_t i = 0; !arena->failed && i < events->n; i++) {
        const struct events_entry *e = &events->entry[i];
        if (e->activity != EVENTS_COMPUTE)
            continue;
        d->start[d->n] = e->start;
        d->end[d->n] = e->start + e->seconds;
        d->before[d->n++] = sum;
        sum += e->seconds;
    }
}

/* How many of a unit's computations had begun by this time. */
static size_t begun_by(const struct diary *d, double time)
{
    size_t low = 0, high = d->n;
    SORT_BISECT(low, high, d->start[middle] <= time)
    return low;
}

/* Seconds that a unit had computed by this time. */
static double busy_until(const struct diary *d, double time)
{
    const size_t n = begun_by(d, time);
    return n ? d->before[n - 1] + fmin(time, d->end[n - 1]) - d->start[n - 1] : 0;
}

/* How long the device of this memory node, if any, went on computing after this time. */
static double rest_of_range(const struct record *r, const struct diary *diary, int memory,
                            double time)
{
    const struct diary *d = &diary[r->set->layout.ncpu + memory - 1];
    const size_t n = memory == CU_HOST_MEMORY ? 0 : begun_by(d, time);
    return n ? fmax(d->end[n - 1] - time, 0) : 0;
}

static enum ek_status take_sample(struct record *r, const struct diary *diary, int cu,
                                  const struct events_entry *e)
{
    struct samples *list = &r->samples[r->kind[cu]];
    struct record_sample s = {
        .tasks = e->tasks, .seconds = e->seconds, .run = r->runs, .unit = cu, .step = e->step};
    for (int c = 0; c < r->set->n; c++)
        if (c != cu && e->seconds > 0)
            s.busy[r->set->cu[c].kind] +=
                (busy_until(&diary[c], e->start + e->seconds) - busy_until(&diary[c], e->start)) /
                e->seconds;
    return add_sample(list, s);
}

static enum ek_status take_samples(struct record *r, const struct diary *diary)
{
    for (int c = 0; c < r->set->n; c++) {
        const struct events *events = diary[c].events;
        const size_t stride = 1 + events->n / SAMPLES_OF_A_RUN;
        for (size_t i = 0; i < events->n; i++)
            if (events->entry[i].activity == EVENTS_COMPUTE &&
                (size_t)events->entry[i].step % stride == 0)
                TRY(take_sample(r, diary, c, &events->entry[i]));
    }
    return EK_OK;
}

/* ---- step by step -----------------------------------------------------------------------------*/
struct step {
    int number;
    double opened, exchanged,
        ended; /* start of the first exchange, end of the last one, end of the last task */
};

/* Follows a unit through the step; updates homes. */
static enum ek_status follow_unit(struct record *r, struct diary *diary, int cu, struct step *step,
                                  int *home)
{
    struct diary *d = &diary[cu];
    const int memory = r->set->cu[cu].memory;
    for (; d->next < d->events->n && d->events->entry[d->next].step == step->number; d->next++) {
        const struct events_entry *e = &d->events->entry[d->next];
        const double end = e->start + e->seconds;
        if (e->activity == EVENTS_EXCHANGE) {
            step->opened = fmin(step->opened, e->start);
            step->exchanged = fmax(step->exchanged, end);
            continue;
        }
        step->ended = fmax(step->ended, end);
        if (e->activity == EVENTS_MOVE && r->job->bytes)
            TRY(add_row(
                &r->moves,
                (struct fit_row){.x = {1, r->job->bytes[e->tasks.begin],
                                       rest_of_range(r, diary, home[e->tasks.begin], e->start)},
                                 .y = e->seconds,
                                 .weight = 1}));
        for (size_t t = e->tasks.begin; t < e->tasks.end; t++)
            home[t] = memory;
    }
    return EK_OK;
}

/* Adds the exchange at the beginning of the step, with what it carried. */
static enum ek_status take_exchange(struct record *r, const struct step *step, const int *home,
                                    double *room)
{
    struct fit_row row = {.weight = 1, .y = step->exchanged - step->opened};
    sim_exchange_parts(r->job, home, r->set->nmemories, room, row.x);
    return add_row(&r->exchanges, row);
}

static enum ek_status follow_steps(struct record *r, struct diary *diary, int steps, int *home,
                                   double *room)
{
    const int stride = 1 + steps / STEPS_OF_A_RUN;
    int *before = home + r->job->n;
    double ended = 0;
    for (int s = 0; s < steps; s++) {
        struct step step = {s, INFINITY, 0, 0};
        memcpy(before, home, r->job->n * sizeof *home);
        for (int c = 0; c < r->set->n; c++)
            TRY(follow_unit(r, diary, c, &step, home));
        if (s % stride == 0)
            TRY(take_exchange(r, &step, before, room));
        if (s > 0)
            TRY(add_row(&r->between, (struct fit_row){.y = step.opened - ended, .weight = 1}));
        ended = step.ended;
    }
    return EK_OK;
}

/* Whether every step computed all tasks of the job as it is defined now. */
static bool is_of_job(const struct record *r, int steps, const struct events *const *unit)
{
    size_t tasks = 0;
    for (int c = 0; c < r->set->n; c++)
        for (size_t i = 0; i < unit[c]->n; i++) {
            const struct events_entry *e = &unit[c]->entry[i];
            if (e->activity != EVENTS_COMPUTE)
                continue;
            if (e->tasks.end > r->job->n)
                return false;
            tasks += e->tasks.end - e->tasks.begin;
        }
    return tasks == r->job->n * (size_t)steps;
}

enum ek_status record_add(struct record *r, int steps, const struct events *const *unit)
{
    if (!is_of_job(r, steps, unit))
        return EK_OK;
    OWNED(arena_free) struct arena arena = {0};
    struct diary *diary = ARENA_NEW(&arena, r->set->n, struct diary);
    int *home = ARENA_NEW(&arena, 2 * r->job->n, int);
    double *room = ARENA_NEW(&arena, 2 * r->set->nmemories, double);
    for (int c = 0; diary && c < r->set->n; c++)
        open_diary(&diary[c], unit[c], &arena);
    TRY(arena_check(&arena, "a run's events"));
    TRY(take_samples(r, diary));
    r->runs++;
    return follow_steps(r, diary, steps, home, room);
}

enum ek_status record_team(struct record *r, const struct team *team)
{
    const struct team_result *result = team_result(team);
    OWNED_MEMORY NEW(const struct events *, unit, r->set->n, "record: out of memory for %d units",
                     r->set->n);
    for (int c = 0; c < r->set->n; c++)
        unit[c] = team_events(team, c);
    return result->retired ? EK_OK : record_add(r, result->steps, unit);
}

static enum ek_status merge_rows(struct rows *to, const struct rows *from)
{
    for (size_t i = 0; i < from->n; i++)
        TRY(add_row(to, from->at[i]));
    return EK_OK;
}

enum ek_status record_merge(struct record *r, const struct record *from)
{
    if (!from)
        return EK_OK;
    for (int k = 0; k < r->nkinds; k++)
        for (size_t i = 0; i < from->samples[k].n; i++) {
            struct record_sample s = from->samples[k].at[i];
            s.run += r->runs;
            TRY(add_sample(&r->samples[k], s));
        }
    r->runs += from->runs;
    TRY(merge_rows(&r->moves, &from->moves));
    TRY(merge_rows(&r->exchanges, &from->exchanges));
    return merge_rows(&r->between, &from->between);
}

/* ---- the case ---------------------------------------------------------------------------------*/
static double mean_of(const struct rows *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += r->at[i].y;
    return r->n ? fmax(sum / (double)r->n, 0) : 0;
}

/* Fits the middle of the measurements, then scales to their mean: disturbances add up over a run.
 */
static void fit_to_mean(const struct rows *r, int p, double *beta)
{
    double fitted = 0;
    fit_rows(r->at, r->n, p, FIT_CLOSELY, beta);
    for (size_t i = 0; i < r->n; i++)
        for (int j = 0; j < p; j++)
            fitted += r->at[i].x[j] * beta[j];
    for (int j = 0; fitted > 0 && j < p; j++)
        beta[j] *= mean_of(r) * (double)r->n / fitted;
}

/* Sets what the moves took but for their waits, by the share of a device's rest that they waited: a
 * copy waits at most until the end of the range. */
static enum ek_status without_waits(const struct record *r, struct rows *copies, double *waits)
{
    double beta[3];
    fit_to_mean(&r->moves, 3, beta);
    *waits = fmin(beta[2], 1);
    for (size_t i = 0; i < r->moves.n; i++) {
        struct fit_row row = r->moves.at[i];
        row.y = fmax(row.y - *waits * row.x[2], 0);
        TRY(add_row(copies, row));
    }
    return EK_OK;
}

/* The measured link; NULL: nothing moved between memory nodes, or out of memory. */
static json_t *link_json(const struct record *r)
{
    struct rows copies = {.n = 0};
    double beta[2], waits;
    json_t *link = NULL;
    if (!without_waits(r, &copies, &waits) && copies.n) {
        fit_to_mean(&copies, 2, beta);
        link = json_pack("{s:f s:f s:f}", "latency_s", beta[0], "bandwidth_Bps",
                         beta[1] > 0 ? 1 / beta[1] : 1e15, "waits", waits);
    }
    free(copies.at);
    return link;
}

static json_t *graph(const struct sched_job *job, bool faces)
{
    json_t *list = json_array();
    for (size_t t = 0; t < job->n; t++) {
        json_t *row = json_array();
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++)
            json_array_append_new(row, faces ? json_real(job->face_bytes[i])
                                             : json_integer((json_int_t)job->neighbour[i]));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *tasks_json(const struct sched_job *job)
{
    json_t *tasks = json_object(), *equal = json_array();
    for (size_t t = 0; !job->cost && t < job->n; t++)
        json_array_append_new(equal, json_integer(1));
    json_object_set_new(tasks, "cost",
                        job->cost ? json_numbers(job->cost, job->n) : json_incref(equal));
    json_decref(equal);
    if (job->bytes)
        json_object_set_new(tasks, "bytes", json_numbers(job->bytes, job->n));
    if (job->first)
        json_object_set_new(tasks, "neighbours", graph(job, false));
    if (job->first && job->face_bytes)
        json_object_set_new(tasks, "face_bytes", graph(job, true));
    return tasks;
}

static json_t *noise_json(size_t n, const struct record_noise *noise)
{
    json_t *steps = json_array();
    for (int s = 0; s < record_steps(n); s++)
        json_array_append_new(steps, json_numbers(noise->factor + (size_t)s * n, n));
    return steps;
}

/* One entry for `count` adjacent units of the same make. */
static json_t *unit_json(const struct record *r, int first, int count,
                         const struct record_kind *kind)
{
    const struct cu *cu = &r->set->cu[first];
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    json_t *o = json_pack(
        "{s:s s:s s:i s:i s:s s:f s:{s:f s:f} s:o s:o}", "kind",
        cu->kind == CU_CPU ? "cpu" : "device", "name", cu->name, "count", count, "width",
        cu->kind == CU_CPU ? cu->width : 1, "node", host, "launch_s", kind->launch, "contention",
        "cpu", kind->slowed[CU_CPU], "device", kind->slowed[CU_DEVICE], "seconds",
        json_numbers(kind->seconds, r->job->n), "noise", noise_json(r->job->n, &kind->noise));
    if (cu->kind == CU_DEVICE)
        json_object_set_new(o, "space", json_string(cu->name));
    return o;
}

/* For a unit that never worked, the times given to policies are used. */
static enum ek_status fit_kind(const struct record *r, int first, struct record_kind *kind)
{
    const struct samples *s = &r->samples[r->kind[first]];
    const double *known = r->job->unit ? r->job->unit[first].seconds : NULL;
    TRY(record_fit(r->job->n, r->job->cost, s->at, s->n, kind));
    for (size_t t = 0; t < r->job->n; t++)
        if (isnan(kind->seconds[t]) && known)
            kind->seconds[t] = known[t];
    return EK_OK;
}

/* All CPU units are one entry, every device is one. */
static int entry_end(const struct record *r, int first)
{
    return r->set->cu[first].kind == CU_CPU ? r->set->layout.ncpu : first + 1;
}

/* EK_UNAVAILABLE also if a unit's times are not known. */
static enum ek_status units_json(const struct record *r, json_t *units, double *hold)
{
    OWNED(arena_free) struct arena arena = {0};
    const size_t n = r->job->n;
    struct record_kind kind = {.seconds = ARENA_NEW(&arena, n, double),
                               .noise.factor =
                                   ARENA_NEW(&arena, n * (size_t)record_steps(n), double)};
    TRY(arena_check(&arena, "a record of %zu tasks", n));
    for (int c = 0, end; c < r->set->n; c = end) {
        end = entry_end(r, c);
        TRY(fit_kind(r, c, &kind));
        if (n && isnan(kind.seconds[0]))
            FAIL(EK_UNAVAILABLE, "record: nothing is known of unit %s", r->set->cu[c].name);
        json_array_append_new(units, unit_json(r, c, end - c, &kind));
        *hold = fmax(*hold, kind.noise.hold);
    }
    return EK_OK;
}

static json_t *exchange_json(const struct record *r)
{
    double beta[SIM_PARTS];
    json_t *o = json_object();
    fit_to_mean(&r->exchanges, SIM_PARTS, beta);
    for (int i = 0; i < SIM_PARTS; i++)
        json_object_set_new(o, sim_exchange_names[i], json_real(beta[i]));
    return o;
}

json_t *record_case(struct record *r, const char *name, int steps)
{
    json_t *units = json_array(), *link;
    double hold = 1;
    if (MUTED(units_json(r, units, &hold))) {
        json_decref(units);
        return json_null();
    }
    json_t *o = json_pack("{s:s s:o s:o s:i s:f s:f s:o s:b}", "name", name, "units", units,
                          "tasks", tasks_json(r->job), "steps", steps, "hold", hold, "between_s",
                          mean_of(&r->between), "exchange", exchange_json(r), "cold",
                          !(r->job->unit && r->job->unit[0].seconds));
    if (o && (link = link_json(r)))
        json_object_set_new(o, "link", link);
    return o;
}
