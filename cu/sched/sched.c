/* cu/sched/sched.c – finds policies, runs them, and passes on the tasks of units that die. */
#include "cu/sched/sched.h"
#include "cu/sched/line.h"
#include "src/arena.h"
#include "src/opt.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SCHED(symbol) extern const struct sched_ops sched_##symbol;
#include "cu/sched/sched_list.h"
#undef SCHED

#define SCHED(symbol) &sched_##symbol,
static const struct sched_ops *const listed[] = {
#include "cu/sched/sched_list.h"
};
#undef SCHED

enum { LISTED = sizeof listed / sizeof *listed, ADDED = 16, POLICIES = LISTED + ADDED };

static const struct sched_ops *added[ADDED];
static int nadded;

#define SCHED(symbol)
#define SCHED_ALIAS(other, policy) {other, policy},
static const struct alias {
    const char *name, *policy;
} aliases[] = {
#include "cu/sched/sched_list.h"
};
#undef SCHED_ALIAS
#undef SCHED

enum { ALIASES = sizeof aliases / sizeof *aliases };

/* Ranges that lost units left behind. */
struct orphans {
    pthread_mutex_t lock;
    struct ek_range *range;
    size_t room, first;  /* index of the first; their order is that of the policy's lists */
    atomic_size_t count; /* read without the lock, usually 0 */
};

/* Work done by a unit, mostly in the last step in which it did any. */
struct history {
    _Alignas(64) double work; /* declared cost; of a unit with a profile its seconds */
    double seconds;           /* measured, without declared launches */
};

/* Speeds that differ from the declared ones by less than this factor, compared with the other
 * units, may be noise. */
static const double CHANGED = 1.2;

/* Weight of a step relative to the next. */
static const double FADES = 0.125;

struct sched {
    const struct sched_ops *ops;
    struct arena arena, policy_arena; /* of the arrays below; of what the policy allocates */
    void *state, *options;
    struct sched_job job;     /* as opened, over all units */
    struct sched_job left;    /* as the policy sees it: living units only */
    struct sched_unit *alive; /* [ncu] array of left.unit */
    int *index;               /* [ncu] the policy's number for each unit, -1 once it has died */
    struct history *history;  /* [ncu] */
    double *before;           /* [n + 1] sums of cost before each task */
    atomic_int retired;       /* units lost since the policy began */
    int living;
    size_t steps; /* done */
    struct orphans orphans;
};

int sched_count(void)
{
    return LISTED + nadded;
}

const struct sched_ops *sched_at(int i)
{
    return i < 0 || i >= sched_count() ? NULL : i < LISTED ? listed[i] : added[i - LISTED];
}

static bool is_policy(const char *word)
{
    for (int i = 0; i < sched_count(); i++)
        if (!strcmp(word, sched_at(i)->name))
            return true;
    return false;
}

enum ek_status sched_add(const struct sched_ops *ops)
{
    if (nadded == ADDED || is_policy(ops->name))
        FAIL(EK_USAGE, "schedule %s: %s", ops->name,
             nadded == ADDED ? "too many policies were added" : "the name is taken");
    added[nadded++] = ops;
    return EK_OK;
}

static enum ek_status find(const char *spec, const struct sched_ops **ops)
{
    const char *names[POLICIES + ALIASES];
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    int at;
    const int n = sched_count();
    for (int i = 0; i < n; i++)
        names[i] = sched_at(i)->name;
    for (int i = 0; i < ALIASES; i++)
        names[n + i] = aliases[i].name;
    TRY(opt_choose("schedule", name, names, sizeof *names, n + ALIASES, &at));
    if (at >= n)
        return find(aliases[at - n].policy, ops);
    *ops = sched_at(at);
    return EK_OK;
}

/* Parses the options of a spec into newly allocated values (never NULL on success). */
static enum ek_status parse_options(const struct sched_ops *ops, const char *spec, void **options)
{
    const char *colon = strchr(spec, ':');
    void *values = calloc(1, ops->opts_size ? ops->opts_size : 1);
    if (!values)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", ops->name);
    if (ops->defaults)
        ops->defaults(values);
    enum ek_status st = opt_parse_list(ops->opts, values, ops->name, colon ? colon + 1 : "");
    return HAND_OUT(st, values, options, free);
}

enum ek_status sched_check(const char *spec, const char **name)
{
    const struct sched_ops *ops;
    void *options;
    TRY(find(spec, &ops));
    TRY(parse_options(ops, spec, &options));
    free(options);
    if (name)
        *name = ops->name;
    return EK_OK;
}

enum ek_status sched_split(char *list, const char **spec, int room, int *n)
{
    bool all = !list || !*list || !strcmp(list, "all");
    int count = 0;
    while (all && count < sched_count() && count < room) {
        spec[count] = sched_at(count)->name;
        count++;
    }
    for (char *word; !all && (word = strsep(&list, ","));) {
        if (count > 0 && !strchr(word, ':') &&
            (strchr(word, '=') || (strchr(spec[count - 1], ':') && !is_policy(word)))) {
            word[-1] = ','; /* an option of the previous spec */
            continue;
        }
        if (count == room)
            FAIL(EK_USAGE, "more than %d schedules in one list", room);
        spec[count++] = word;
    }
    for (int i = 0; i < count; i++)
        TRY(sched_check(spec[i], NULL));
    *n = count;
    return EK_OK;
}

/* How many times slower than declared a unit was; its seconds per cost where nothing is; 0: it has
 * not worked. */
static double slowdown_of(const struct sched *s, int cu)
{
    const struct sched_unit *u = &s->job.unit[cu];
    const struct history *h = &s->history[cu];
    const bool declared = !u->seconds && u->speed > 0;
    return h->seconds > 0 && h->work > 0 ? h->seconds / h->work * (declared ? u->speed : 1) : 0;
}

/* Corrects what was declared of a unit by what it did, in comparison with the others: whatever
 * slows all units alike changes no decision. */
static void correct(struct sched *s, struct sched_unit *u, double slowdown, double usual)
{
    const double slower = usual > 0 && slowdown > 0 ? slowdown / usual : 1;
    double *seconds;
    if (fmax(slower, 1 / slower) < CHANGED)
        return;
    if (!u->seconds) {
        u->speed /= slower;
        return;
    }
    seconds = ARENA_NEW(&s->policy_arena, s->job.n, double);
    for (size_t t = 0; seconds && t < s->job.n; t++)
        seconds[t] = slower * u->seconds[t];
    u->seconds = seconds;
}

/* The median slowdown of the living units that have worked; 0: none has. */
static enum ek_status usual_slowdown(struct sched *s, double *usual)
{
    size_t worked = 0;
    double *slowdown = ARENA_NEW(&s->policy_arena, s->job.ncu, double);
    TRY(arena_check(&s->policy_arena, "schedule %s", s->ops->name));
    for (int c = 0; c < s->job.ncu; c++)
        if (s->index[c] >= 0 && slowdown_of(s, c) > 0)
            slowdown[worked++] = slowdown_of(s, c);
    *usual = worked ? line_median(slowdown, worked) : 0;
    return EK_OK;
}

/* Begins the policy with the living units, renumbered. Their work so far tells their speeds; not
 * those of undeclared devices, in whose times launches may hide. */
static enum ek_status begin_policy(struct sched *s)
{
    const bool declared = sched_knows_speeds(&s->job);
    double usual;
    int n = 0;
    arena_free(&s->policy_arena);
    TRY(usual_slowdown(s, &usual));
    for (int c = 0; c < s->job.ncu; c++)
        if (s->index[c] >= 0) {
            s->alive[n] = s->job.unit[c];
            if (declared)
                correct(s, &s->alive[n], slowdown_of(s, c), usual);
            else if (slowdown_of(s, c) > 0 && !s->alive[n].seconds && s->alive[n].kind == CU_CPU)
                s->alive[n].speed = s->history[c].work / s->history[c].seconds;
            s->index[c] = n++;
        }
    TRY(arena_check(&s->policy_arena, "schedule %s: profiles of %zu tasks", s->ops->name,
                    s->job.n));
    s->left = s->job;
    s->left.ncu = n;
    s->left.unit = s->alive;
    s->left.options = s->options;
    s->left.arena = &s->policy_arena;
    if (s->job.steps)
        s->left.steps = s->job.steps > s->steps ? s->job.steps - s->steps : 1;
    memset(s->state, 0, s->ops->state_size);
    return s->ops->begin(s->state, &s->left);
}

static void free_sched(struct sched *s)
{
    pthread_mutex_destroy(&s->orphans.lock);
    free(s->orphans.range);
    free(s->options);
    arena_free(&s->policy_arena);
    arena_free(&s->arena);
    free(s);
}

enum ek_status sched_open(const char *spec, const struct sched_job *job, struct sched **out)
{
    const struct sched_ops *ops;
    spec = spec ? spec : "evenkeel";
    TRY(find(spec, &ops));
    if (job->ncu < 1)
        FAIL(EK_USAGE, "schedule %s: there are no units", ops->name);
    NEW(struct sched, s, 1, "schedule %s: out of memory", ops->name);
    *s = (struct sched){.ops = ops, .job = *job, .living = job->ncu};
    pthread_mutex_init(&s->orphans.lock, NULL);
    if (s->job.grain < 1)
        s->job.grain = 1;
    s->state = ARENA_NEW(&s->arena, ops->state_size, char);
    s->alive = ARENA_NEW(&s->arena, job->ncu, struct sched_unit);
    s->index = ARENA_NEW(&s->arena, job->ncu, int);
    s->history = ARENA_NEW(&s->arena, job->ncu, struct history);
    s->before = ARENA_NEW(&s->arena, job->n + 1, double);
    enum ek_status st = arena_check(&s->arena, "schedule %s on %d units", ops->name, job->ncu);
    for (size_t t = 0; !st && t < job->n; t++)
        s->before[t + 1] = s->before[t] + (job->cost ? job->cost[t] : 1);
    THEN(st, parse_options(ops, spec, &s->options));
    THEN(st, begin_policy(s));
    return HAND_OUT(st, s, out, free_sched);
}

void sched_close(struct sched *s)
{
    if (!s)
        return;
    if (s->ops->end && s->living)
        s->ops->end(s->state);
    free_sched(s);
}

/* Takes one of the orphaned ranges, if the policy lets this unit have one. */
static bool take_orphan(struct sched *s, int cu, struct ek_range *r)
{
    struct orphans *o = &s->orphans;
    if (!atomic_load_explicit(&o->count, memory_order_acquire))
        return false;
    pthread_mutex_lock(&o->lock);
    size_t count = atomic_load(&o->count), at = 0;
    struct ek_range *left = o->range + o->first;
    if (count && s->ops->adopt)
        at = s->ops->adopt(s->state, s->index[cu], left, count);
    bool takes = at < count;
    if (takes) {
        *r = left[at];
        memmove(left + 1, left, at * sizeof *left);
        o->first = count > 1 ? o->first + 1 : 0;
        atomic_store(&o->count, count - 1);
    }
    pthread_mutex_unlock(&o->lock);
    return takes;
}

/* Leaves a range of a unit that dies to the others that live, in shrinking parts. */
static enum ek_status leave_orphan(struct sched *s, struct ek_range r)
{
    struct orphans *o = &s->orphans;
    const int others = s->living - atomic_load(&s->retired) - 1;
    enum ek_status st = EK_OK;
    pthread_mutex_lock(&o->lock);
    for (size_t count = atomic_load(&o->count); !st && r.begin < r.end;) {
        size_t share = (r.end - r.begin) / (size_t)(others > 1 ? others : 1);
        share = share > s->job.grain ? share : s->job.grain;
        share = share < r.end - r.begin ? share : r.end - r.begin;
        st = arena_grow(&o->range, &o->room, o->first + count, sizeof *o->range,
                        "ranges of a lost unit");
        if (st)
            break;
        o->range[o->first + count] = (struct ek_range){r.begin, r.begin + share};
        atomic_store_explicit(&o->count, ++count, memory_order_release);
        r.begin += share;
    }
    pthread_mutex_unlock(&o->lock);
    return st;
}

struct ek_range sched_next(struct sched *s, int cu)
{
    struct ek_range r = {0, 0};
    if (s->index[cu] < 0)
        return r;
    if (!take_orphan(s, cu, &r)) /* first: they are late already */
        r = s->ops->next(s->state, s->index[cu]);
    return r;
}

void sched_done(struct sched *s, int cu, struct ek_range r, double sec, const double *each)
{
    const struct sched_unit *u = &s->job.unit[cu];
    struct history *h = &s->history[cu];
    h->seconds += sec > u->launch ? sec - u->launch : 0;
    h->work += u->seconds ? line_sum(u->seconds + r.begin, r.end - r.begin)
                          : s->before[r.end] - s->before[r.begin];
    if (s->ops->done)
        s->ops->done(s->state, s->index[cu], r, sec, each);
}

enum ek_status sched_retire(struct sched *s, int cu, struct ek_range unfinished)
{
    int policy_index = s->index[cu];
    if (policy_index < 0)
        return EK_OK;
    if (s->ops->lost)
        s->ops->lost(s->state, policy_index);
    TRY(leave_orphan(s, unfinished));
    for (;;) { /* what was still planned for it */
        struct ek_range r = s->ops->next(s->state, policy_index);
        if (r.begin == r.end)
            break;
        TRY(leave_orphan(s, r));
    }
    s->index[cu] = -1;
    if (atomic_fetch_add(&s->retired, 1) + 1 == s->living)
        FAIL(EK_UNAVAILABLE, "schedule %s: the last unit is lost", s->ops->name);
    return EK_OK;
}

bool sched_rests(struct sched *s, int cu)
{
    return s->ops->rests && s->index[cu] >= 0 && s->ops->rests(s->state, s->index[cu]);
}

bool sched_pending(const struct sched *s)
{
    return atomic_load_explicit(&s->orphans.count, memory_order_acquire) > 0;
}

enum ek_status sched_restart(struct sched *s)
{
    if (s->ops->end)
        s->ops->end(s->state);
    s->living -= atomic_exchange(&s->retired, 0);
    atomic_store(&s->orphans.count, 0);
    s->orphans.first = 0;
    if (s->living == 0)
        FAIL(EK_UNAVAILABLE, "schedule %s: no unit is left", s->ops->name);
    enum ek_status st = begin_policy(s);
    if (st)
        s->living = 0; /* the policy holds nothing: sched_close() must not end it */
    return st;
}

enum ek_status sched_step(struct sched *s)
{
    s->steps++;
    for (int c = 0; c < s->job.ncu; c++) {
        s->history[c].work *= FADES;
        s->history[c].seconds *= FADES;
    }
    if (atomic_load(&s->retired))
        return sched_restart(s);
    s->ops->step(s->state);
    return EK_OK;
}

void sched_print(FILE *out)
{
    for (int i = 0; i < sched_count(); i++) {
        fprintf(out, "%-20s %s\n", sched_at(i)->name, sched_at(i)->summary);
        for (const struct opt *o = sched_at(i)->opts; o && o->name; o++)
            fprintf(out, "  :%s%s%-*s %s\n", o->name, o->arg ? "=" : "",
                    (o->arg ? 16 : 17) - (int)strlen(o->name), o->arg ? o->arg : "", o->help);
    }
    for (int i = 0; i < ALIASES; i++)
        fprintf(out, "(%s: another name of %s)\n", aliases[i].name, aliases[i].policy);
}
