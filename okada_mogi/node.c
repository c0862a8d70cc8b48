/* okada_mogi/node.c – trials as tasks of a farm: contents of batches and of their results. */
#include "okada_mogi/node.h"
#include "cu/farm/farm.h"
#include "cu/rank/stop.h"
#include "okada_mogi/ranges.h"
#include "okada_mogi/spool.h"

#include <pthread.h>

/* Longest wait for a batch in one call, s. */
static const double WAITING = 1;

/* Most accepted trials that a worker holds. */
enum { HELD = SPOOL_MEMORY / 4 };

_Static_assert(sizeof(struct trial_range) <= FARM_BRIEF, "a batch's brief is its range of trials");

struct node {
    const struct search *search;
    struct search_state *checkpoint;
    struct farm *farm;
    int units;
    struct farm_batch batch; /* being computed; empty: none */
    struct node_report last;
    struct pieces tasks; /* rank 0 */
    bool keeps_all;      /* keep_all: no batch may have more trials than a worker holds records */
    bool *separate;      /* [tasks.n] the task must not share a batch with the one before */
    double *trials;      /* [ranks] searched, as reported */
    struct ranges gaps;  /* ranges that full workers have left */
    size_t filled;       /* how many of them were searched here */
    /* worker: results of the batch so far, and the ranges they belong to */
    pthread_mutex_t lock;
    struct accepted found;
    struct ranges searched;
    double evaluations;
};

/* Head of a worker's result; the ranges searched and their accepted trials follow. */
struct result {
    _Alignas(16) double evaluations;
    uint64_t ranges, records;
};

/* ---- rank 0 -----------------------------------------------------------------------------------*/

static void say_trials(void *arg, struct farm_batch *batch)
{
    const struct node *n = arg;
    const struct trial_range *task = n->tasks.range, last = task[batch->tasks.end - 1];
    const trial_number first = task[batch->tasks.begin].first;
    memcpy(batch->brief, &(struct trial_range){first, last.first + last.count - first},
           sizeof(struct trial_range));
}

static struct trial_range trials_of(const struct farm_batch *batch)
{
    struct trial_range r = {0, 0};
    if (batch->tasks.end > batch->tasks.begin)
        memcpy(&r, batch->brief, sizeof r);
    return r;
}

/* A worker had no room for all accepted trials of its batch: from now on, batches are single tasks.
 */
static void make_batches_small(struct node *n)
{
    for (size_t t = 1; t < n->tasks.n; t++)
        __atomic_store_n(&n->separate[t], true, __ATOMIC_RELAXED);
}

/* Receives the result of a batch. Rank 0's own trials are already in the results. */
static enum ek_status take(void *arg, int rank, const struct farm_batch *batch, int failed,
                           const void *bytes, size_t size)
{
    struct node *n = arg;
    const struct result *r = bytes;
    if (!rank || failed) {
        n->trials[rank] += failed ? 0 : (double)trials_of(batch).count;
        return EK_OK;
    }
    const struct trial_range *range = (const void *)(r + 1);
    if (size < sizeof *r ||
        size != sizeof *r + r->ranges * sizeof *range + r->records * sizeof(struct accepted_record))
        FAIL(EK_USAGE, "rank %d sent a malformed result", rank);
    const struct accepted_record *record = (const void *)(range + r->ranges),
                                 *end = record + r->records;
    trial_number left = trials_of(batch).count;
    search_state_evaluated(n->checkpoint, r->evaluations);
    enum ek_status st = EK_OK;
    for (size_t i = 0; i < r->ranges && !st; i++) {
        struct accepted found = {0};
        for (; record < end && record->trial - range[i].first < range[i].count && !st; record++)
            st = accepted_add(&found, record);
        THEN(st, search_state_put(n->checkpoint, range[i], &found));
        accepted_free(&found);
        n->trials[rank] += (double)range[i].count;
        left -= range[i].count;
    }
    if (left)
        make_batches_small(n);
    return st;
}

/* ---- opening ----------------------------------------------------------------------------------*/

enum ek_status node_open(const struct search *s, struct search_state *l, uint64_t job_hash,
                         int units, struct node **n)
{
    NEW(struct node, made, 1, "out of memory for the search");
    *made = (struct node){
        .search = s, .checkpoint = l, .units = units, .keeps_all = search_job(s)->accept.all};
    pthread_mutex_init(&made->lock, NULL);
    const struct farm_settings settings = {.ops = {.brief = say_trials, .take = take, .arg = made},
                                           .job = job_hash,
                                           .units = units,
                                           .capacity = {1, 1}};
    enum ek_status st = farm_open(&settings, &made->farm);
    if (!st && !(made->trials = calloc((size_t)farm_size(made->farm), sizeof *made->trials)))
        st = status_fail(EK_UNAVAILABLE, "out of memory for the search");
    return HAND_OUT(st, made, n, node_close);
}

void node_close(struct node *n)
{
    if (!n)
        return;
    farm_close(n->farm);
    pieces_free(&n->tasks);
    accepted_free(&n->found);
    ranges_free(&n->searched);
    ranges_free(&n->gaps);
    pthread_mutex_destroy(&n->lock);
    free(n->separate);
    free(n->trials);
    free(n);
}

/* Cuts what remains to be searched into tasks. */
static enum ek_status cut_tasks(struct node *n)
{
    struct ranges gaps = {0};
    enum ek_status st = search_state_gaps(n->checkpoint, &gaps);
    THEN(st, pieces_cut(&n->tasks, n->search, gaps.range, gaps.n, n->units * farm_size(n->farm)));
    ranges_free(&gaps);
    TRY(st);
    free(n->separate);
    n->separate = calloc(n->tasks.n + 1, sizeof *n->separate);
    if (!n->separate)
        FAIL(EK_UNAVAILABLE, "out of memory for %zu tasks", n->tasks.n);
    const struct trial_range *task = n->tasks.range;
    trial_number together = n->tasks.n ? task[0].count : 0;
    for (size_t t = 1; t < n->tasks.n; t++) {
        n->separate[t] = task[t].first != task[t - 1].first + task[t - 1].count ||
                         (n->keeps_all && together + task[t].count > HELD);
        together = task[t].count + (n->separate[t] ? 0 : together);
    }
    return EK_OK;
}

enum ek_status node_begin(struct node *n, const char *schedule)
{
    n->batch = (struct farm_batch){.tasks = {0, 0}};
    n->last = (struct node_report){0};
    n->found.n = n->searched.n = n->filled = 0;
    n->evaluations = 0;
    ranges_free(&n->gaps);
    if (farm_is_worker(n->farm))
        return farm_begin(n->farm, NULL);
    memset(n->trials, 0, (size_t)farm_size(n->farm) * sizeof *n->trials);
    TRY(search_state_begin(n->checkpoint));
    TRY(cut_tasks(n));
    const struct farm_job job = {.schedule = farm_size(n->farm) > 1 ? schedule : "static",
                                 /* alone: all of it */ .n = n->tasks.n,
                                 .cost = n->tasks.cost,
                                 .apart = n->separate};
    TRY(farm_begin(n->farm, &job));
    search_state_evaluated(n->checkpoint, search_prepared(n->search));
    return EK_OK;
}

/* ---- batches ----------------------------------------------------------------------------------*/

/* Sends the batch's results to rank 0. */
static enum ek_status report_to_rank_0(struct node *n)
{
    const size_t ranges = n->searched.n * sizeof *n->searched.range,
                 records = n->found.n * sizeof *n->found.record;
    const struct result head = {n->evaluations, n->searched.n, n->found.n};
    OWNED_MEMORY NEW(char, result, sizeof head + ranges + records,
                     "out of memory for %zu accepted trials", n->found.n);
    accepted_sort(&n->found);
    memcpy(result, &head, sizeof head);
    if (ranges)
        memcpy(result + sizeof head, n->searched.range, ranges);
    if (records)
        memcpy(result + sizeof head + ranges, n->found.record, records);
    const enum ek_status st =
        farm_report(n->farm, &n->batch, 0, n->last.rate, result, sizeof head + ranges + records);
    n->found.n = n->searched.n = 0;
    n->evaluations = 0;
    return st;
}

/* After the farm is done, rank 0 itself searches the ranges that full workers have left. */
static enum ek_status next_gap(struct node *n, struct trial_range *batch)
{
    if (n->filled == n->gaps.n) {
        n->filled = 0;
        ranges_free(&n->gaps);
        TRY(search_state_gaps(n->checkpoint, &n->gaps));
    }
    if (n->filled < n->gaps.n && !stop_requested())
        *batch = n->gaps.range[n->filled++];
    return EK_OK;
}

enum ek_status node_next(struct node *n, const struct node_report *r, struct trial_range *batch)
{
    const bool worker = farm_is_worker(n->farm);
    bool over = false;
    *batch = (struct trial_range){0, 0};
    n->last = *r;
    n->evaluations += r->evaluations;
    if (!worker)
        search_state_evaluated(n->checkpoint, r->evaluations);
    if (trials_of(&n->batch).count)
        TRY(worker ? report_to_rank_0(n) : farm_report(n->farm, &n->batch, 0, r->rate, NULL, 0));
    do
        TRY(farm_next(n->farm, WAITING, &n->batch, &over));
    while (!over && !trials_of(&n->batch).count);
    *batch = trials_of(&n->batch);
    return over && !worker ? next_gap(n, batch) : EK_OK;
}

static enum ek_status append(void *node, struct trial_range range, struct accepted *found)
{
    (void)range;
    for (size_t i = 0; i < found->n; i++)
        TRY(accepted_add(&((struct node *)node)->found, &found->record[i]));
    return EK_OK;
}

enum ek_status node_put(void *node, struct trial_range range, struct accepted *found)
{
    struct node *n = node;
    if (!farm_is_worker(n->farm))
        return search_state_put(n->checkpoint, range, found);
    pthread_mutex_lock(&n->lock);
    /* if there is no room, nothing is kept, and rank 0 notices that the range is missing */
    const enum ek_status st = n->found.n + found->n > HELD
                                  ? EK_OK
                                  : ranges_add_new(&n->searched, range, found, append, n);
    pthread_mutex_unlock(&n->lock);
    accepted_free(found);
    return st;
}

/* ---- statistics -------------------------------------------------------------------------------*/

double node_rate(const struct node *n)
{
    double sum = n->last.rate;
    for (int r = 1; r < farm_size(n->farm) && !farm_is_worker(n->farm); r++)
        sum += farm_worker(n->farm, r).rate;
    return sum;
}

json_t *node_json(const struct node *n)
{
    if (farm_is_worker(n->farm) || farm_size(n->farm) < 2)
        return NULL;
    json_t *list = json_array();
    for (int r = 0; r < farm_size(n->farm); r++) {
        const struct coordinator_node c = coordinator_node(farm_coordinator(n->farm), r);
        const struct farm_worker w = farm_worker(n->farm, r);
        json_array_append_new(list,
                              json_pack("{s:i s:f s:i s:f s:f s:i s:i}", "rank", r, "trials",
                                        n->trials[r], "batches", (int)c.batches, "busy_s", c.busy,
                                        "rate", w.rate, "lost", (int)c.lost, "units", w.units));
    }
    return list;
}
