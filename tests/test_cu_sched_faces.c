/* tests/test_cu_sched_faces.c – tasks in a grid on a host and several devices, where exchanges take
 * as long as the computation or longer, and nobody says so: evenkeel against all assignments, and
 * against other policies. */
#include "cu/sched/choice.h"
#include "src/arena.h"
#include "tests/random_case.h"
#include "tests/sim_run.h"

#include <math.h>

enum { WIDE = 12, MOST = WIDE * WIDE, FEW = 6, MANY = 600 };

static size_t first[MANY + 1], neighbour[4 * MANY];
static double face[4 * MANY], cost[MANY];

/* The first n tasks of a grid, `wide` in a row. */
static void add_grid(struct sched_job *job, size_t n, size_t wide)
{
    size_t e = 0;
    for (size_t t = 0; t < n; t++) {
        const size_t beside[] = {t - 1, t + 1, t - wide, t + wide};
        const bool there[] = {t % wide > 0, (t + 1) % wide > 0 && t + 1 < n, t >= wide,
                              t + wide < n};
        for (int i = 0; i < 4; i++)
            if (there[i]) {
                neighbour[e] = beside[i];
                face[e++] = 1e5;
            }
        first[t + 1] = e;
    }
    *job = (struct sched_job){.n = n,
                              .grain = 1,
                              .cost = cost,
                              .first = first,
                              .neighbour = neighbour,
                              .face_bytes = face};
}

/* Seconds of a step with these owners, which holds on. */
static double step_of(const struct sim_case *c, const int *owner)
{
    double load[8] = {0}, room[16], most = 0;
    int home[MOST];
    struct exchange_load unused[8], busiest;
    for (size_t t = 0; t < c->job.n; t++) {
        load[owner[t]] += sim_seconds(c, &c->unit[owner[t]], t);
        home[t] = c->unit[owner[t]].memory;
    }
    for (int u = 0; u < c->ncu; u++)
        most = fmax(most, load[u]);
    const struct sched_link none = {0, 0};
    busiest = exchange_crossing(&c->job, home, 3, &none, unused);
    return most + sim_exchange_seconds(c, home, 3, room, &busiest);
}

/* Of all assignments. */
static double least_step(const struct sim_case *c)
{
    double least = INFINITY;
    int owner[FEW] = {0}, all = 1;
    for (size_t t = 0; t < c->job.n; t++)
        all *= c->ncu;
    for (int i = 0; i < all; i++) {
        for (size_t t = 0, rest = (size_t)i; t < c->job.n; t++, rest /= (size_t)c->ncu)
            owner[t] = (int)(rest % (size_t)c->ncu);
        least = fmin(least, step_of(c, owner));
    }
    return least;
}

static const struct sim_unit machine[] = {{.width = 1, .speed = 1},
                                          {.kind = CU_DEVICE, .width = 1, .memory = 1, .speed = 5},
                                          {.kind = CU_DEVICE, .width = 1, .memory = 2, .speed = 5}};

/* Random costs of about a second; a face costs up to half of that where it crosses. */
static struct sim_exchange draw(uint64_t *state, size_t n)
{
    for (size_t t = 0; t < n; t++)
        cost[t] = 0.3 + 2 * random_uniform(state);
    return (struct sim_exchange){{[SIM_FIXED] = 0.05,
                                  [SIM_HOST] = 2e-7 * random_uniform(state),
                                  [SIM_DEVICE] = 2e-7 * random_uniform(state),
                                  [SIM_CROSS] = 0.1 * random_uniform(state),
                                  [SIM_LINK] = 5e-7 + 5e-6 * random_uniform(state)}};
}

/* Over many steps evenkeel comes as near to the best assignment as it takes to find out, though
 * nobody tells it what exchanges cost. */
static void few_tasks_are_where_they_belong(void **state)
{
    enum { CASES = 60, STEPS = 400 };
    uint64_t random = 1;
    int beyond = 0;
    for (int i = 0; i < CASES; i++) {
        struct sim_case c = {.unit = machine, .ncu = 3, .steps = STEPS};
        const struct sim_exchange x = draw(&random, FEW);
        c.exchange = &x;
        add_grid(&c.job, FEW, 3);
        const double least = STEPS * least_step(&c), total = run(&c, "evenkeel").total;
        assert_true(total > 0.98 * least); /* the first exchange is cheaper: all is on the host */
        assert_true(total < 1.05 * least);
        beyond += total > 1.02 * least;
    }
    assert_true(beyond <= CASES / 50);
}

/* Where exchanges dominate, whatever other policies put together by chance, evenkeel does better,
 * also with several devices. */
static void a_grid_is_cut_into_few_pieces(void **state)
{
    enum { STEPS = 50 };
    static const char *const others[] = {"static", "static-pcf", "heft", "abe"};
    struct sim_unit unit[8];
    uint64_t random = 7;
    for (int i = 0; i < 8; i++)
        unit[i] = machine[i < 6 ? 0 : i - 5];
    for (int i = 0; i < 10; i++) {
        struct sim_case c = {.unit = unit, .ncu = 8, .steps = STEPS};
        const struct sim_exchange x = draw(&random, MOST);
        c.exchange = &x;
        add_grid(&c.job, MOST, WIDE);
        const double own = run(&c, "evenkeel").total;
        for (size_t p = 0; p < sizeof others / sizeof *others; p++)
            assert_true(own < 1.02 * run(&c, others[p]).total);
    }
}

/* What a search takes limits how often there is one: annealing counts, too. */
static void annealing_is_paid_for(void **state)
{
    enum { A_MOVE = 10 }; /* takes at least as long as so many evaluations */
    struct arena arena = {0};
    struct sched_unit unit[3];
    struct sched_job job;
    struct estimate e;
    struct partition d;
    struct interference f;
    struct incumbent last;
    int owner[MOST] = {0}, other[MOST], rival[MOST];
    uint64_t random = 3;
    draw(&random, MOST);
    for (int i = 0; i < 3; i++)
        unit[i] = (struct sched_unit){.kind = machine[i].kind,
                                      .width = 1,
                                      .memory = machine[i].memory,
                                      .speed = machine[i].speed};
    add_grid(&job, MOST, WIDE);
    job.ncu = 3;
    job.unit = unit;
    job.arena = &arena;
    job.face = &(struct sched_link){0, 5e-6};
    assert_int_equal(estimate_open(&e, &job), EK_OK);
    interference_open(&f, &job, &e);
    incumbent_open(&last, &job);
    assert_int_equal(partition_open(&d, &e, &job), EK_OK);
    struct choice c = {.estimate = &e,
                       .partition = &d,
                       .interference = &f,
                       .incumbent = &last,
                       .horizon = 20,
                       .other = other,
                       .rival = rival};
    choice_refresh(&c);
    partition_bound(&d);
    const long moves = d.moves, exchanges = d.budget;
    assert_true(choice_make(&c, false, false, owner));
    assert_true(d.moves < moves);
    assert_true(c.evaluations >= exchanges - d.budget + A_MOVE * (moves - d.moves));
    arena_free(&arena);
}

static void begin_search(const struct sched_job *job, struct estimate *e, struct partition *d)
{
    assert_int_equal(estimate_open(e, job), EK_OK);
    assert_int_equal(partition_open(d, e, job), EK_OK);
    partition_begin(d, 20);
    partition_bound(d);
}

/* Many tasks, every other one of which belongs on the device: no stretches come near to that, so
 * they are not annealed. Where all belong anywhere, they are. */
static void many_tasks_are_annealed_where_it_may_help(void **state)
{
    for (int mixed = 0; mixed <= 1; mixed++) {
        static double seconds[2][MANY];
        struct arena arena = {0};
        struct sched_job job;
        struct estimate e;
        struct partition d;
        int owner[MANY];
        const struct sched_unit unit[] = {
            {.kind = CU_CPU, .width = 1, .seconds = seconds[0]},
            {.kind = CU_DEVICE, .width = 1, .memory = 1, .seconds = seconds[1]}};
        for (size_t t = 0; t < MANY; t++) {
            seconds[0][t] = cost[t] = mixed && t % 2 ? 5 : 1;
            seconds[1][t] = mixed && t % 2 == 0 ? 5 : 1;
        }
        add_grid(&job, MANY, 24);
        job.ncu = 2;
        job.unit = unit;
        job.arena = &arena;
        job.face = &(struct sched_link){0.1, 0};
        begin_search(&job, &e, &d);
        const long moves = d.moves;
        const struct partition_cost cost_of = partition_search(&d, NULL, owner);
        assert_true(mixed ? d.moves == moves : d.moves < moves);
        assert_true(cost_of.makespan < 1.1 * MANY / 2);
        arena_free(&arena);
    }
}

/* FEW tasks in two rows without faces between them. */
static void add_two_rows(struct sched_job *job)
{
    enum { WIDTH = FEW / 2 };
    add_grid(job, WIDTH, WIDTH);
    for (size_t t = 0, e = first[WIDTH]; t < WIDTH; t++) {
        for (size_t f = first[t]; f < first[t + 1]; f++) {
            neighbour[e] = neighbour[f] + WIDTH;
            face[e++] = face[f];
        }
        first[WIDTH + t + 1] = e;
    }
    job->n = FEW;
}

/* No assignment takes less than the bounds say, be the grid in one piece or in two rows apart.
 * Where a face takes longer than all tasks on the host, there is nothing to anneal. */
static void bounds_hold(void **state)
{
    enum { CASES = 200, ALL = 729 };
    uint64_t random = 5;
    int reached = 0;
    for (int i = 0; i < CASES; i++) {
        struct arena arena = {0};
        struct sched_unit unit[3];
        struct sched_job job;
        struct estimate e;
        struct partition d;
        int owner[FEW];
        const bool apart = i % 4 == 0, dear = i % 4 == 1, row = i % 4 == 2;
        draw(&random, FEW);
        for (int t = 0; row && t < FEW; t++) /* halves that one face joins are on the bound */
            cost[t] = 1;
        for (int c = 0; c < 3; c++)
            unit[c] = (struct sched_unit){.kind = machine[c].kind,
                                          .width = 1,
                                          .memory = machine[c].memory,
                                          .speed = row ? (c < 2 ? 1 : 1e-9)
                                                       : 0.2 + 2 * random_uniform(&random)};
        apart ? add_two_rows(&job) : add_grid(&job, FEW, row ? FEW : 3);
        const struct sched_exchange rest = {.host = 2e-7 * random_uniform(&random),
                                            .device = 2e-7 * random_uniform(&random),
                                            .cross = random_uniform(&random)};
        job.ncu = 3;
        job.unit = unit;
        job.arena = &arena;
        job.exchange = &rest;
        job.face = &(struct sched_link){dear ? 100 : random_uniform(&random), 1e-6};
        assert_int_equal(estimate_open(&e, &job), EK_OK);
        assert_int_equal(partition_open(&d, &e, &job), EK_OK);
        assert_true(d.connected == !apart);
        partition_begin(&d, 20);
        partition_bound(&d);
        double best = INFINITY;
        for (int a = 0; a < ALL; a++) {
            bool across = false;
            for (int t = 0, left = a; t < FEW; t++, left /= 3) {
                owner[t] = left % 3;
                across |= owner[t] != owner[0];
            }
            const double total = partition_total(&d, partition_predict(&d, owner));
            assert_true(total > d.total * (1 - 1e-9));
            assert_true(!across || total > d.across * (1 - 1e-9));
            best = fmin(best, total);
        }
        reached += best < 1.01 * d.total;
        const long moves = d.moves;
        const struct partition_cost found = partition_search(&d, NULL, owner);
        assert_true(partition_total(&d, found) < 1.001 * best);
        assert_true(!dear || d.moves == moves);
        arena_free(&arena);
    }
    assert_true(reached > CASES / 4);
}

/* Neighbours in two memory nodes are not exchanged to and fro: 16 equal tasks on a core and a
 * device leave little to weigh. */
static void neighbours_keep_their_places(void **state)
{
    enum { TASKS = 16, WIDTH = 4 };
    struct arena arena = {0};
    struct sched_unit unit[2] = {{.width = 1, .speed = 1},
                                 {.kind = CU_DEVICE, .width = 1, .memory = 1, .speed = 6}};
    const struct sched_exchange rest = {.crossed = true};
    struct sched_job job;
    struct estimate e;
    struct partition d;
    int owner[TASKS];
    for (size_t t = 0; t < TASKS; t++)
        cost[t] = 1;
    add_grid(&job, TASKS, WIDTH);
    job.ncu = 2;
    job.unit = unit;
    job.arena = &arena;
    job.exchange = &rest;
    job.face = &(struct sched_link){0.05, 0};
    begin_search(&job, &e, &d);
    const long budget = d.budget;
    partition_search(&d, NULL, owner);
    assert_true(budget - d.budget < 15000);
    arena_free(&arena);
}

/* As many equal tasks as units, each as long as the step. A trial of what a face costs teaches
 * nothing that could be used: no task moves. */
static void nothing_is_tried_in_vain(void **state)
{
    enum { TASKS = 8, CORES = 24 };
    struct sim_unit unit[CORES + 1];
    for (int u = 0; u < CORES; u++)
        unit[u] = machine[0];
    unit[CORES] = machine[1];
    for (size_t t = 0; t < TASKS; t++)
        cost[t] = 1;
    const struct sim_exchange x = {
        {[SIM_FIXED] = 0.005, [SIM_HOST] = 5e-8, [SIM_DEVICE] = 5e-8, [SIM_LINK] = 2e-6}};
    struct sim_case c = {.unit = unit, .ncu = CORES + 1, .steps = 12, .exchange = &x};
    add_grid(&c.job, TASKS, 2);
    assert_int_equal(run(&c, "evenkeel").migrations, 0);
}

/* What a face costs is guessed, from the longest mean of tasks' times, until some have crossed; the
 * guess does not follow small changes of these. */
static void faces_are_guessed_until_they_cross(void **state)
{
    struct arena arena = {0};
    struct sched_unit unit[2] = {{.width = 1, .speed = 1},
                                 {.kind = CU_DEVICE, .width = 1, .memory = 1, .speed = 5}};
    struct sched_job job;
    struct estimate e;
    struct partition d;
    struct sched_exchange rest = {.seconds = NAN};
    for (size_t t = 0; t < FEW; t++)
        cost[t] = 1;
    add_grid(&job, FEW, 3);
    job.ncu = 2;
    job.unit = unit;
    job.arena = &arena;
    job.exchange = &rest;
    job.link = &(struct sched_link){0, 0};
    job.face = &(struct sched_link){0, 1e-9}; /* told by nothing that crossed */
    assert_int_equal(estimate_open(&e, &job), EK_OK);
    assert_int_equal(partition_open(&d, &e, &job), EK_OK);
    partition_begin(&d, 20);
    const double guess = d.faces.face.latency;
    assert_true(guess > 0.01 && guess < 0.1 && d.faces.face.per_byte == 0);
    rest.seconds = 1e-3;
    e.of[e.kind[0]].seconds[0] = 2;
    partition_find_homes(&d);
    assert_true(d.faces.face.latency == guess);
    e.of[e.kind[0]].seconds[0] = 20;
    partition_find_homes(&d);
    assert_true(d.faces.face.latency > 3 * guess);
    rest.crossed = true;
    partition_find_homes(&d);
    assert_true(d.faces.face.latency == 0 && d.faces.face.per_byte == 1e-9);
    arena_free(&arena);
}

/* LU-MZ class A on a core and a device: moving a zone takes 0.4 ms, of which its faces, which are
 * packed together, would say little. Without a trial all zones stay on the core: 1.15 of the bound.
 * In a run of a few steps the link is believed. */
static void a_slow_link_says_little_of_faces(void **state)
{
    enum { ZONES = 16, STEPS = 40 };
    static double seconds[2][ZONES], bytes[ZONES], span[STEPS];
    struct sim_case c = {.ncu = 2, .steps = STEPS};
    const struct sched_link link = {4e-4, 0};
    const struct sim_exchange exchange = {{[SIM_FIXED] = 1.8e-4}};
    const struct sim_unit unit[] = {
        {.width = 1, .seconds = seconds[0]},
        {.kind = CU_DEVICE, .width = 1, .memory = 1, .seconds = seconds[1]}};
    add_grid(&c.job, ZONES, 4);
    for (size_t t = 0; t < ZONES; t++) {
        cost[t] = 1;
        bytes[t] = 9e5;
        seconds[0][t] = 3.5e-4;
        seconds[1][t] = 2.2e-3;
    }
    c.unit = unit;
    c.job.bytes = bytes;
    c.job.link = &link;
    c.exchange = &exchange;
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_true(r.migrations > 0 && span[STEPS - 1] < 1.07 * sim_bound(&c, NULL));
    c.steps = 3;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_int_equal(r.migrations, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_tasks_are_where_they_belong),
        cmocka_unit_test(a_grid_is_cut_into_few_pieces),
        cmocka_unit_test(annealing_is_paid_for),
        cmocka_unit_test(many_tasks_are_annealed_where_it_may_help),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(neighbours_keep_their_places),
        cmocka_unit_test(nothing_is_tried_in_vain),
        cmocka_unit_test(faces_are_guessed_until_they_cross),
        cmocka_unit_test(a_slow_link_says_little_of_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
