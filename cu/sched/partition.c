/* cu/sched/partition.c – the search for the best partition of the tasks among units. */
#include "cu/sched/partition.h"
#include "src/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Budget of a search: less than a millisecond. */
enum { BUDGET = 60000 };

/* Moves while annealing, which do less and cost more with more tasks than that. */
enum { MOVES = 4000, MOVES_TASKS = 256 };

/* There are up to MOST_EFFORT times as many where that takes no more than this share of the steps
 * left, at so many seconds a move. */
static const double ANNEALING = 0.003, MOVE_SECONDS = 9e-8, MOST_EFFORT = 10;

/* More memory nodes besides number 0 are not told apart. */
enum { MOST_OTHERS = 8 };

/* A partition this close to the bound needs no rival. */
static const double GOOD_ENOUGH = 1.0002;

/* With more tasks than the budget can move, migrations below this share of the coming steps do not
 * justify a second search. */
static const double LITTLE = 0.002;

/* Up to this many different slowdowns are distinguished; if there are more, those that differ by
 * less than SAME_SLOWDOWN are grouped. */
enum { MANY_SLOWDOWNS = 256 };
static const double SAME_SLOWDOWN = 0.01;

/* ---- opening ----------------------------------------------------------------------------------*/
/* The number of a memory node. Nodes without units: nmemories is the host, nmemories + 1 a lost
 * device. */
static int number_of(const struct partition *d, int memory)
{
    int number = 0;
    while (number < d->nmemories && d->id[number] != memory)
        number++;
    return number + (number == d->nmemories && memory != CU_HOST_MEMORY);
}

/* Numbers the memory nodes that have units; the one with most units becomes 0. */
static void number_memories(struct partition *d)
{
    const struct sched_job *job = d->job;
    int largest = 0;
    for (int c = 0; c < job->ncu; c++) {
        int number = number_of(d, job->unit[c].memory);
        if (number >= d->nmemories)
            d->id[number = d->nmemories++] = job->unit[c].memory;
        largest = ++d->units[number] > d->units[largest] ? number : largest;
    }
    int id = d->id[largest], units = d->units[largest];
    d->id[largest] = d->id[0];
    d->units[largest] = d->units[0];
    d->id[0] = id;
    d->units[0] = units;
    for (int c = 0; c < job->ncu; c++)
        d->memory[c] = number_of(d, job->unit[c].memory);
    for (int p = 0; p < d->nmemories; p++)
        d->links[p] = d->id[p] != CU_HOST_MEMORY;
    d->links[d->nmemories + 1] = 1;
}

/* Walks along faces, with a stack of tasks in d->follow. */
static bool is_connected(struct partition *d)
{
    const struct sched_job *job = d->job;
    size_t left = job->n, high = 0;
    bool *seen = arena_take(job->arena, job->n, sizeof *seen);
    if (!job->n || !seen)
        return false;
    d->follow[high++] = 0;
    seen[0] = true;
    while (high > 0) {
        const size_t t = d->follow[--high];
        left--;
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++)
            if (!seen[job->neighbour[i]]) {
                seen[job->neighbour[i]] = true;
                d->follow[high++] = job->neighbour[i];
            }
    }
    return left == 0;
}

static void measure_faces(struct partition *d)
{
    const struct sched_job *job = d->job;
    d->fewest_bytes = job->face_bytes ? INFINITY : 0;
    for (size_t t = 0; job->face_bytes && t < job->n; t++) {
        for (size_t i = job->first[t]; i < job->first[t + 1]; i++) {
            d->task_bytes[t] += job->face_bytes[i];
            d->fewest_bytes = partition_less(d->fewest_bytes, job->face_bytes[i]);
        }
        d->face_bytes += d->task_bytes[t];
    }
    d->connected = d->nmemories > 1 && is_connected(d);
}

static void open_market(struct partition *d, const struct sched_job *job)
{
    const size_t n = job->n, ncu = (size_t)job->ncu;
    d->market = (struct prices){
        .n = n,
        .seconds = ARENA_NEW(job->arena, ncu, const double *),
        .longest = ARENA_NEW(job->arena, ncu, double),
        .capacity = ARENA_NEW(job->arena, ncu, double),
        .price = ARENA_NEW(job->arena, ncu, double),
        .area = ARENA_NEW(job->arena, ncu, double),
        .best = ARENA_NEW(job->arena, ncu, double),
        .pays = d->scratch,
        .cheapest = d->pick,
    };
}

enum ek_status partition_open(struct partition *d, const struct estimate *e,
                              const struct sched_job *job)
{
    size_t n = job->n, ncu = (size_t)job->ncu;
    *d = (struct partition){.e = e, .job = job, .horizon = 1};
    d->memory = ARENA_NEW(job->arena, ncu, int);
    d->units = ARENA_NEW(job->arena, ncu, int);
    d->member = ARENA_NEW(job->arena, ncu, int);
    d->id = ARENA_NEW(job->arena, ncu, int);
    d->links = ARENA_NEW(job->arena, ncu + 2, int);
    d->home = ARENA_NEW(job->arena, n, int);
    d->trial = ARENA_NEW(job->arena, n, int);
    d->pick = ARENA_NEW(job->arena, n, int);
    d->left = ARENA_NEW(job->arena, n, int);
    d->until = ARENA_NEW(job->arena, n, long);
    d->transfer = ARENA_NEW(job->arena, n, double);
    d->delta = ARENA_NEW(job->arena, n, double);
    d->scratch = ARENA_NEW(job->arena, n + 1, double);
    d->simple = ARENA_NEW(job->arena, 2 * n, float);
    d->class = ARENA_NEW(job->arena, ncu, struct partition_class);
    d->class_of = ARENA_NEW(job->arena, ncu + 1, int);
    d->group = ARENA_NEW(job->arena, ncu, struct partition_group);
    d->heaps.top = ARENA_NEW(job->arena, ncu, struct plan_load);
    open_market(d, job);
    d->load = ARENA_NEW(job->arena, 2 * ncu, double);
    d->full = d->load + ncu;
    d->link_s = ARENA_NEW(job->arena, 2 * ncu, double);
    d->use = ARENA_NEW(job->arena, ncu, double);
    d->inside = ARENA_NEW(job->arena, ncu, double);
    d->whole = ARENA_NEW(job->arena, ncu, double);
    d->shut = ARENA_NEW(job->arena, ncu, bool);
    d->top = ARENA_NEW(job->arena, ncu, double);
    d->slowdown = ARENA_NEW(job->arena, ncu, double);
    d->begin = ARENA_NEW(job->arena, ncu, double);
    d->head = ARENA_NEW(job->arena, ncu, size_t);
    d->by_end = ARENA_NEW(job->arena, ncu, size_t);
    d->room = ARENA_NEW(job->arena, 4 * ncu, double);
    d->follow = ARENA_NEW(job->arena, n, size_t);
    d->order = ARENA_NEW(job->arena, n, size_t);
    TRY(arena_check(job->arena, "a partition of %zu tasks on %d units", n, job->ncu));
    memcpy(d->order, e->order, n * sizeof *d->order);
    number_memories(d);
    if (!job->first)
        return EK_OK;
    d->nodes = d->nmemories <= MOST_OTHERS ? d->nmemories : MOST_OTHERS + 1;
    d->node = ARENA_NEW(job->arena, (size_t)d->nodes * n, double);
    d->task_bytes = ARENA_NEW(job->arena, n, double);
    d->node_of = ARENA_NEW(job->arena, n, int);
    TRY(arena_check(job->arena, "%zu tasks on %d memory nodes", n, d->nodes));
    measure_faces(d);
    return arena_check(job->arena, "the faces of %zu tasks", n);
}

/* ---- what is known now ------------------------------------------------------------------------*/
/* By memory node (keeping its units together), kind, slowdown (fastest first) and launch. */
static int by_class(const void *a, const void *b, void *ctx)
{
    const struct partition *d = ctx;
    int x = *(const int *)a, y = *(const int *)b;
    const double *slowdown = d->e->slowdown, *launch = d->e->launch;
    if (d->memory[x] != d->memory[y])
        return d->memory[x] - d->memory[y];
    if (d->e->kind[x] != d->e->kind[y])
        return d->e->kind[x] - d->e->kind[y];
    if (slowdown[x] != slowdown[y])
        return slowdown[x] < slowdown[y] ? -1 : 1;
    return launch[x] != launch[y] ? (launch[x] < launch[y] ? -1 : 1) : x - y;
}

static int count_slowdowns(const struct partition *d)
{
    int slowdowns = 0;
    for (int i = 0; i < d->nmembers; i++)
        slowdowns += !i || d->e->slowdown[d->member[i]] != d->e->slowdown[d->member[i - 1]];
    return slowdowns;
}

static void sort_units(struct partition *d)
{
    struct partition_class *k = NULL;
    double same = 1, first = 0, launch = 0;
    d->nclasses = d->ngroups = d->nmembers = 0;
    for (int c = 0; c < d->job->ncu; c++)
        d->member[d->nmembers++] = c;
    qsort_r(d->member, (size_t)d->nmembers, sizeof *d->member, by_class, d);
    if (count_slowdowns(d) > MANY_SLOWDOWNS)
        same += SAME_SLOWDOWN;
    for (int i = 0; i < d->nmembers; i++) {
        int c = d->member[i], kind = d->e->kind[c];
        double slowdown = d->e->slowdown[c];
        bool anew = !k || k->kind != kind || k->memory != d->memory[c];
        if (anew) {
            if (!k || k->memory != d->memory[c])
                d->class_of[d->memory[c]] = d->nclasses;
            k = &d->class[d->nclasses++];
            *k = (struct partition_class){.kind = kind,
                                          .memory = d->memory[c],
                                          .seconds = d->e->of[kind].seconds,
                                          .first = d->ngroups};
        }
        if (anew || slowdown > first * same || d->e->launch[c] != launch) {
            first = slowdown;
            launch = d->e->launch[c];
            d->group[d->ngroups++] =
                (struct partition_group){.unit = d->member + i, .heap = {.top = d->heaps.top + i}};
        }
        d->group[d->ngroups - 1].units++;
        k->end = d->ngroups;
        k->units++;
        k->capacity += 1 / slowdown;
    }
    d->class_of[d->nmemories] = d->nclasses;
}

/* Insertion sort, for an order that is nearly right; false: it takes more than `moves`. */
static bool sort_nearly_sorted(size_t *order, size_t n, const double *key, size_t moves)
{
    for (size_t i = 1; i < n; i++) {
        const size_t task = order[i];
        size_t at = i;
        for (; at > 0 && (key[order[at - 1]] < key[task] ||
                          (key[order[at - 1]] == key[task] && order[at - 1] > task));
             at--)
            order[at] = order[at - 1];
        order[at] = task;
        if (i - at > moves)
            return false;
        moves -= i - at;
    }
    return true;
}

/* Longest first, by the time on the first unit's kind: measurements change the order little. */
static void sort_tasks(struct partition *d)
{
    const double *key = d->e->of[d->e->kind[0]].seconds;
    enum { MOST_MOVES = 1 << 16 };
    if (!sort_nearly_sorted(d->order, d->job->n, key, MOST_MOVES))
        qsort_r(d->order, d->job->n, sizeof *d->order, sort_places_down, (void *)key);
}

/* What a face is supposed to take if the link is said to be free until one has crossed, as a share
 * of a mean task on the slowest kind of unit: then few cross from the first step on. */
static const double FACE = 0.03;

/* The first exchange with faces that cross teaches what they take; a second one before that is
 * known does not, so it must be worth the mean of what it may take, as a multiple of the guess: if
 * ten times that is as likely as a tenth, 2. */
static const double MEAN = 2;

/* A slower link says little: it was measured with whole tasks, while faces are packed. Trying costs
 * what the link says in so many of the steps left: moves there and back, and a step or two. */
static const double TRIAL = 8;

/* Kept while tasks' times change by less than a factor of two: what is planned must not change with
 * them. */
static double guess_face(struct partition *d)
{
    double slowest = 0;
    for (int k = 0; k < d->e->nkinds; k++)
        slowest = partition_more(slowest, line_sum(d->e->of[k].seconds, d->job->n));
    slowest *= FACE / partition_more((double)d->job->n, 1);
    if (!(d->guess < 2 * slowest && slowest < 2 * d->guess))
        d->guess = slowest;
    return d->guess;
}

static struct exchange_cost face_cost(struct partition *d)
{
    const struct sched_job *job = d->job;
    struct exchange_cost x = {.face = job->face ? *job->face : d->link};
    if (!job->first || !job->exchange)
        return x;
    x.rest = *job->exchange;
    const bool free = !(d->link.latency > 0) && !(d->link.per_byte > 0);
    if (x.rest.crossed || (d->nmemories == 1 && !free))
        return x;
    const double guess = (partition_crosses(d, NULL) ? MEAN : 1) * guess_face(d);
    if (free)
        x.face = (struct sched_link){.latency = guess};
    else if (guess < x.face.latency)
        x.face.latency = guess + (x.face.latency - guess) * partition_less(1, TRIAL / d->horizon);
    return x;
}

void partition_find_homes(struct partition *d)
{
    const struct sched_job *job = d->job;
    int last = CU_HOST_MEMORY, number = number_of(d, last);
    d->link = job->link ? *job->link : SCHED_LINK_USUAL;
    d->bound = false;
    for (size_t t = 0; t < job->n; t++) {
        int home = job->home ? job->home[t] : CU_HOST_MEMORY;
        if (home != last)
            number = number_of(d, last = home);
        double bytes = job->bytes ? job->bytes[t] : 0;
        d->home[t] = number;
        d->transfer[t] = d->link.latency + bytes * d->link.per_byte;
        d->bound |= d->transfer[t] > 0 && (d->nmemories > 1 || number > 0);
    }
    d->faces = face_cost(d);
    d->exchange = -1;
}

void partition_begin(struct partition *d, double horizon)
{
    d->horizon = horizon;
    d->least = 0;
    d->budget = BUDGET + 32L * d->job->ncu;
    d->launches = false;
    for (int c = 0; c < d->job->ncu; c++)
        d->launches |= d->e->launch[c] > 0 && !WITHOUT(LAUNCHES);
    sort_units(d);
    sort_tasks(d);
    partition_find_homes(d);
}

/* ---- what a partition costs -------------------------------------------------------------------*/
/* The exchange is left at 0. */
static struct partition_cost predict_work(struct partition *d, const int *owner)
{
    double first = 0;
    struct partition_cost cost = {0};
    partition_load(d, owner);
    for (int c = 0; c < d->job->ncu; c++) {
        cost.makespan = partition_more(cost.makespan, d->load[c]);
        first = partition_more(first, d->full[c]);
    }
    cost.moving = first - cost.makespan;
    return cost;
}

struct partition_cost partition_predict(struct partition *d, const int *owner)
{
    struct partition_cost cost = predict_work(d, owner);
    cost.exchange = partition_exchange(d, owner);
    return cost;
}

/* ---- the search -------------------------------------------------------------------------------*/
struct search {
    double best;
    double last;     /* lower bound of the mean step of the partition compared last */
    double exchange; /* its exchange; negative: not computed */
    bool scatters;   /* a list scatters tasks too much, see scatters() */
    int *owner;
    struct partition_cost cost;
};

static void compare(struct partition *d, struct search *s)
{
    struct partition_cost c = predict_work(d, d->trial);
    double total = s->last = partition_total(d, c);
    s->exchange = -1;
    if (total >= s->best)
        return;
    c.exchange = s->exchange = partition_exchange(d, d->trial);
    total = partition_total(d, c);
    if (total < s->best) {
        s->best = total;
        s->cost = c;
        memcpy(s->owner, d->trial, d->job->n * sizeof *s->owner);
    }
}

/* A move takes at least this many evaluations per unit. */
enum { COST_OF_MOVE = 4 };

/* Improving a partition of `seconds` to the best one takes more moves than the budget allows. */
static bool out_of_reach(const struct partition *d, const struct search *s, double seconds)
{
    const double moves = (1 - s->best / seconds) * (double)d->job->n;
    return moves * COST_OF_MOVE * d->job->ncu > (double)partition_budget(d);
}

static void compare_found(struct partition *d, void *s)
{
    compare(d, s);
}

/* Improves the partition compared last, d->trial. */
static void improve(struct partition *d, struct search *s, bool anywhere)
{
    if (WITHOUT(IMPROVEMENT) || out_of_reach(d, s, s->last))
        return;
    partition_improve(d, d->trial, anywhere);
    compare(d, s);
}

static bool good_enough(const struct partition *d, const struct search *s)
{
    return s->best <= GOOD_ENOUGH * d->total;
}

static void try_units(struct partition *d, struct search *s, enum partition_by by)
{
    if (d->launches && partition_cut(d, by)) {
        compare(d, s);
        improve(d, s, true);
    }
}

static void try_stretches(struct partition *d, struct search *s)
{
    if (d->job->first) {
        if (!partition_cut(d, PARTITION_BY_MEMORY))
            return;
        compare(d, s);
        improve(d, s, false);
        if (d->nmemories > 1)
            improve(d, s, true);
    }
    try_units(d, s, PARTITION_BY_UNIT);
}

/* A list ignores faces. If the faces that cross in d->trial, compared last, even halved by
 * improvements, cost more than any list can gain, lists are not worth improving. */
static bool scatters(struct partition *d, const struct search *s)
{
    if (!out_of_reach(d, s, INFINITY))
        return false;
    const double exchange = s->exchange < 0 ? partition_exchange(d, d->trial) : s->exchange;
    return d->least + partition_exchanges(d) * exchange / 2 > s->best;
}

/* List scheduling in this order: d->order, or by cost as in `heft`, which differs where times on
 * the first unit rank tasks otherwise. */
static void try_list(struct partition *d, struct search *s, int pick, enum partition_by by,
                     size_t *order)
{
    size_t *own = d->order;
    for (size_t t = 0; pick != PARTITION_PICKED && t < d->job->n; t++)
        d->pick[t] = pick;
    d->order = order;
    partition_pack(d, by, d->trial);
    d->order = own;
    compare(d, s);
    s->scatters = scatters(d, s);
    if (!s->scatters)
        improve(d, s, by == PARTITION_BY_KIND);
}

/* Tries the shapes. d->weight says whether transfers count while tasks are assigned or only in
 * comparisons. */
static void search_shapes(struct partition *d, struct search *s)
{
    if (!WITHOUT(STRETCHES))
        try_stretches(d, s);
    if (!good_enough(d, s))
        try_list(d, s, PARTITION_ANY, PARTITION_BY_KIND, d->order);
    if (d->proportional || WITHOUT(PRICES) || d->weight > 0 || good_enough(d, s) || s->scatters)
        return;
    if (!WITHOUT(BY_COST))
        try_list(d, s, PARTITION_ANY, PARTITION_BY_KIND, d->e->order);
    partition_pick(d);
    try_list(d, s, PARTITION_PICKED, PARTITION_BY_KIND, d->order);
}

double partition_apart(struct partition *d)
{
    d->weight = 0;
    for (size_t t = 0; t < d->job->n; t++)
        d->pick[t] = PARTITION_ANY;
    partition_pack(d, PARTITION_BY_KIND, d->trial);
    return predict_work(d, d->trial).makespan;
}

static void try_memory(struct partition *d, struct search *s, int memory)
{
    double rate = 0; /* executions of the whole job per second */
    for (const struct partition_class *k = d->class; k < d->class + d->nclasses; k++)
        if (k->memory == memory)
            rate += k->capacity / line_sum(d->e->of[k->kind].seconds, d->job->n);
    if (WITHOUT(ONE_MEMORY) || out_of_reach(d, s, 1 / rate))
        return;
    try_list(d, s, memory, PARTITION_BY_MEMORY, d->order);
    improve(d, s, true);
}

/* ---- where exchanges matter -------------------------------------------------------------------*/
/* How much longer than the best partition's the step may be that an annealing leaves (of many
 * tasks: begins with), for local search (annealing) to be worth it. */
static const double WORTH_IMPROVING = 1.02;

/* Share of a step that there must be to gain. */
static const double WORTH_ANNEALING = 0.005;

/* Where an annealing begins: with the best partition so far, or consecutive tasks
 * dealt to the first `others` memory nodes besides number 0, and to that one unless it is shut. */
struct start {
    const int *owner;
    bool shut, back;
    int others;
};

static void begin_with(struct partition *d, struct start b)
{
    for (size_t t = 0; b.owner && t < d->job->n; t++)
        d->pick[t] = d->memory[b.owner[t]];
    for (int p = 0; p < d->nmemories; p++)
        d->shut[p] = p ? p > b.others : b.shut;
    if (!b.owner)
        partition_deal(d, b.back);
}

/* parts: of the moves left, this may take one part. */
static void anneal(struct partition *d, struct search *s, struct start b, int parts)
{
    enum { TURNS = 2 };
    const long most = d->moves / (parts * TURNS);
    begin_with(d, b);
    bool again = true;
    for (int i = 0; i < TURNS && again; i++) {
        partition_anneal(d, most);
        partition_pack(d, PARTITION_BY_MEMORY, d->trial);
        partition_load(d, d->trial);
        again = partition_learn_use(d);
    }
    const double before = s->best;
    compare(d, s);
    if (s->best < before || (parts > 1 && partition_value(d, INFINITY) < WORTH_IMPROVING * before))
        improve(d, s, true);
}

static void try_faces(struct partition *d, struct search *s)
{
    partition_tabulate(d);
    for (int p = 0; p < d->nmemories; p++)
        d->use[p] = 1;
    /* Of many tasks all memory nodes get some, and annealing does little. */
    const bool many = d->job->n > 2 * MOVES_TASKS;
    const int last = d->nmemories <= MOST_OTHERS ? d->nmemories - 1 : MOST_OTHERS;
    const double limit = many ? WORTH_IMPROVING * s->best : INFINITY;
    struct start best = {0};
    double least = limit;
    for (int i = many ? last : 1; i < d->nmemories && i <= MOST_OTHERS; i++)
        for (int way = 0; way < 4; way++) {
            struct start b = {
                .shut = way & 1, .back = way & 2, .others = i < MOST_OTHERS ? i : d->nmemories - 1};
            begin_with(d, b);
            const double value = partition_value(d, least);
            if (value < least) {
                least = value;
                best = b;
            }
        }
    if (!many || least < limit)
        anneal(d, s, best, many ? 1 : 2);
    if (!many)
        anneal(d, s, (struct start){.owner = s->owner}, 1);
}

/* Where only times count, a partition that exceeds the bound by this share, and by noise, may have
 * a much better one behind some that are worse. */
static const double WORTH_PRICING = 0.005;

/* Where a better partition ends, more tasks are too long for some kinds; that may show the next
 * one. */
static const double WORTH_REPEATING = 0.99;

/* With more tasks for each unit, the budget of a tabu search lasts for a few moves only, and a list
 * balances units well. */
enum { FEW_PER_UNIT = 25 };

static bool few_tasks(const struct partition *d)
{
    return d->job->n <= FEW_PER_UNIT * (size_t)d->job->ncu;
}

static void try_within(struct partition *d, struct search *s)
{
    const bool few = few_tasks(d) && !WITHOUT(TABU);
    for (double before = INFINITY; s->best < before * WORTH_REPEATING;) {
        before = s->best;
        partition_price_within(d, s->best);
        partition_pack(d, PARTITION_BY_KIND, d->trial);
        if (few)
            partition_tabu(d, d->trial);
        compare(d, s);
        if (!few)
            improve(d, s, true);
    }
    memcpy(d->trial, s->owner, d->job->n * sizeof *d->trial);
    if (few && partition_tabu(d, d->trial))
        compare(d, s);
}

/* How far from the bound a few units are packed anew; less is soon lost where neighbours slow one
 * another. */
static const double WORTH_REPACKING = 0.01;

/* Packs what is in d->trial anew. */
static void repack(struct partition *d, struct search *s)
{
    if (partition_repack(d, d->trial))
        compare(d, s);
}

/* Times on other kinds that are only guessed do not deserve that effort. */
static void try_repacking(struct partition *d, struct search *s)
{
    if (!(d->proportional || d->e->known) || !few_tasks(d) || WITHOUT(REPACK))
        return;
    memcpy(d->trial, s->owner, d->job->n * sizeof *d->trial);
    repack(d, s);
    if (d->proportional && partition_fit(d, s->cost.makespan, d->trial) && !WITHOUT(MULTIFIT)) {
        compare(d, s);
        repack(d, s);
    }
}

/* Where only times count. */
static void search_on(struct partition *d, struct search *s)
{
    const bool faces = d->job->first && d->nmemories > 1;
    const double noise = estimate_noise(d->e);
    if (d->bound || faces || d->launches)
        return;
    if (!d->proportional && s->best > (1 + WORTH_PRICING + noise) * d->least && !WITHOUT(WITHIN))
        try_within(d, s);
    if (s->best > (1 + WORTH_REPACKING + noise) * d->least)
        try_repacking(d, s);
}

static void try_present(struct partition *d, struct search *s, const int *present)
{
    memcpy(d->trial, present, d->job->n * sizeof *d->trial);
    compare(d, s);
    improve(d, s, true);
}

/* ---- all shapes -------------------------------------------------------------------------------*/
static void allow_moves(struct partition *d)
{
    const size_t n = d->job->n;
    const double usual = n > MOVES_TASKS ? (double)MOVES * MOVES_TASKS / (double)n : MOVES,
                 afford = ANNEALING * d->horizon * d->total / (MOVE_SECONDS * usual);
    d->effort = partition_less(partition_more(afford, 1), MOST_EFFORT);
    d->moves = (long)(d->effort * usual);
}

double partition_bound(struct partition *d)
{
    partition_find_bounds(d);
    allow_moves(d);
    return d->least;
}

struct partition_cost partition_search(struct partition *d, const int *present, int *owner)
{
    struct search s = {.best = INFINITY, .owner = owner};
    if (!d->job->n)
        return s.cost;
    d->weight = 0;
    d->continues = false;
    if (!(d->least > 0))
        partition_bound(d);
    search_shapes(d, &s);
    const double little = out_of_reach(d, &s, INFINITY) ? LITTLE : 0;
    if (s.cost.moving > little * d->horizon * s.best) {
        d->weight = 1 / d->horizon;
        search_shapes(d, &s);
        if (s.cost.moving > little * d->horizon * s.best && d->weight < 1) {
            const double before = s.best;
            d->weight = 1; /* only what can be brought while the others work */
            search_shapes(d, &s);
            d->continues = s.best < before && !WITHOUT(CONTINUING);
        }
    }
    for (int p = 0; (d->bound || d->job->first) && p < d->nmemories && !good_enough(d, &s); p++)
        try_memory(d, &s, p);
    d->weight = 0;
    if (present && (s.cost.moving > 0 || d->job->first || d->launches))
        try_present(d, &s, present);
    if (d->job->first && d->nmemories > 1 && s.best > (1 + WORTH_ANNEALING) * d->across)
        try_faces(d, &s);
    if (!good_enough(d, &s) && !WITHOUT(BACK))
        try_units(d, &s, PARTITION_BY_UNIT_BACK);
    const bool all =
        !good_enough(d, &s) && !WITHOUT(EXACT) && partition_try_all(d, &s.best, compare_found, &s);
    if (!all)
        search_on(d, &s);
    return s.cost;
}
