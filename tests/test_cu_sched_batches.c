/* tests/test_cu_sched_batches.c – devices that compute a range as one batch, so that many tasks
 * launched together cost much less than one by one, and nobody knows that at first: evenkeel
 * against two simple plans, all on the device in one range or all on the cores. */
#include "tests/random_case.h"
#include "tests/sim_run.h"

#include <math.h>

enum { STEPS = 20, MOST_TASKS = 256, MOST_UNITS = 20 };

/* Seconds of a mean task on a core; and on the device, launch + task for each. */
struct hybrid {
    size_t n;
    int cores, devices;
    double core, launch, task;
    const double *cost; /* [n], mean 1; or NULL */
    double bytes, face; /* of a mean task; of each of its faces, 0: none are exchanged */
    struct sched_link link;
    double noise;
    unsigned seed;
    bool warm;
};

/* Tasks on a torus, `wide` of them in a row. */
static void add_faces(struct sched_job *job, size_t wide, double face)
{
    static size_t first[MOST_TASKS + 1], neighbour[4 * MOST_TASKS];
    static double bytes[4 * MOST_TASKS];
    for (size_t t = 0; t < job->n; t++) {
        const size_t row = t / wide * wide;
        const size_t beside[4] = {row + (t + 1) % wide, row + (t + wide - 1) % wide,
                                  (t + wide) % job->n, (t + job->n - wide) % job->n};
        first[t + 1] = 4 * (t + 1);
        for (int i = 0; i < 4; i++) {
            neighbour[4 * t + (size_t)i] = beside[i];
            bytes[4 * t + (size_t)i] = face;
        }
    }
    job->first = first;
    job->neighbour = neighbour;
    job->face_bytes = bytes;
}

static struct sim_result run_hybrid(const struct hybrid *h, double *span)
{
    static double bytes[MOST_TASKS];
    struct sim_unit unit[MOST_UNITS];
    struct sim_result r;
    for (int c = 0; c < h->cores; c++)
        unit[c] = (struct sim_unit){.width = 1, .speed = 1 / h->core};
    for (int c = 0; c < h->devices; c++)
        unit[h->cores + c] = (struct sim_unit){.kind = CU_DEVICE,
                                               .width = 1,
                                               .memory = 1 + c,
                                               .speed = 1 / h->task,
                                               .launch = h->launch,
                                               .batches = true};
    for (size_t t = 0; t < h->n; t++)
        bytes[t] = h->bytes * (h->cost ? h->cost[t] : 1);
    struct sim_case c = {
        .job = {.n = h->n, .grain = 1, .cost = h->cost, .bytes = bytes, .link = &h->link},
        .unit = unit,
        .ncu = h->cores + h->devices,
        .steps = STEPS,
        .cold = !h->warm,
        .noise = h->noise,
        .seed = h->seed};
    if (h->face > 0)
        add_faces(&c.job, (size_t)sqrt((double)h->n), h->face);
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    return r;
}

static double on_device(const struct hybrid *h)
{
    return h->launch + h->task * (double)h->n;
}

/* Class C of NPB-MZ on 15 cores and a card that is worth 55 to 97 of them: the whole run, with all
 * zones brought to the card. */
static void class_c(void **state)
{
    static double size[MOST_TASKS];
    double sum = 0, span[STEPS];
    for (int t = 0; t < MOST_TASKS; t++)
        sum += size[t] = pow(20, (t % 16 + t / 16) / 30.);
    for (int t = 0; t < MOST_TASKS; t++)
        size[t] *= MOST_TASKS / sum;
    const struct hybrid solver[] = {
        {.n = 256,
         .core = 645e-6,
         .launch = 150e-6,
         .task = 8.0e-6,
         .bytes = 3e6,
         .face = 35e3,
         .cost = size}, /* BT */
        {.n = 256, .core = 344e-6, .launch = 150e-6, .task = 5.7e-6, .bytes = 3e6, .face = 35e3},
        {.n = 16, .core = 8.5e-3, .launch = 650e-6, .task = 47e-6, .bytes = 48e6, .face = 134e3},
        {.n = 16, .core = 8.5e-3, .launch = 6e-3, .task = 47e-6, .bytes = 48e6, .face = 134e3}};
    for (int i = 0; i < 8; i++) {
        struct hybrid h = solver[i / 2];
        h.cores = 15;
        h.devices = 1;
        h.link = (struct sched_link){10e-6, 1 / 25e9};
        h.noise = 0.01;
        h.face *= i % 2;
        const struct sim_result r = run_hybrid(&h, span);
        const double moving = (double)h.n * (h.link.latency + h.bytes * h.link.per_byte);
        if (!(r.total < 1.1 * (moving + STEPS * on_device(&h))))
            fail_msg("solver %d: %g s in all, on the device %g", i, r.total,
                     moving + STEPS * on_device(&h));
        for (int s = 3; s < STEPS; s++)
            if (!(span[s] < 1.05 * on_device(&h)))
                fail_msg("solver %d, step %d: %g s, on the device %g", i, s, span[s],
                         on_device(&h));
    }
}

/* Drawn tasks, some cores, and a device whose launch takes up to a hundred tasks. */
static struct hybrid draw_hybrid(unsigned seed)
{
    static double cost[MOST_TASKS];
    uint64_t draw = 7770 + seed;
    double sum = 0;
    struct hybrid h = {.n = 8 + (size_t)(random_uniform(&draw) * 90),
                       .cores = 1 + (int)(random_uniform(&draw) * 15),
                       .devices = 1,
                       .task = 0.001 * pow(10, -2 * random_uniform(&draw)),
                       .noise = seed / 3 % 3 ? 0.01 : 0,
                       .seed = seed};
    h.launch = h.task * pow(10, 2 * random_uniform(&draw));
    h.core = (h.launch + h.task) * pow(10, 0.2 + 2 * random_uniform(&draw));
    if (seed % 3 > 0) {
        h.bytes = 1e6;
        h.link = (struct sched_link){10e-6, 1 / 25e9};
    }
    for (size_t t = 0; t < h.n; t++)
        sum += cost[t] = pow(8, random_uniform(&draw));
    for (size_t t = 0; t < h.n; t++)
        cost[t] *= (double)h.n / sum;
    if (seed % 3 > 1)
        h.cost = cost;
    return h;
}

/* Where speeds and launches are declared, hidden launches do not make the device look slow: no step
 * takes longer than the first, which was planned by what was declared. */
static void declared(void **state)
{
    for (unsigned seed = 1; seed <= 100; seed++) {
        double span[STEPS];
        struct hybrid h = draw_hybrid(seed);
        h.warm = true;
        h.noise = 0;
        h.devices = 1 + (int)(seed % 4);
        run_hybrid(&h, span);
        for (int s = 1; s < STEPS; s++)
            if (!(span[s] <= 1.1 * span[0]))
                fail_msg("seed %u: step %d takes %g s, the first %g", seed, s, span[s], span[0]);
    }
}

/* Drawn cases whose devices look far slower than they are until launches are told from tasks. */
static void misjudged(void **state)
{
    static const struct {
        unsigned seed;
        double most; /* times the best policy's seconds */
    } once[] = {
        {9010219, 1.02},  /* first has the smallest task of all; is tried with larger ones */
        {9052636, 1.025}, /* a task of another size tells the device's line, not its speed */
        {9072523, 1.025}, /* launches that come to light are not in the line any more; */
        {9071760, 1.025}, /* nor after the first step */
        {9052869, 1.025}, /* a task that runs in a longer range does not tell units' speeds */
        {9052366, 1.025}, /* the device's neighbours are too large: it is lent two other tasks */
        {9051316, 1.025}, /* two lengths of ranges are evidence enough */
        {9030196, 1.15},  /* a unit that was misjudged launches like the others */
        {9120417, 1.06},  /* devices that launches made look unlike are alike */
        {9221679, 1.025}, /* launches are not in what tells whether they are */
        {9221242, 1.025}, /* two tasks that are tried together are not parted by helpers */
        {9121073, 1.04},  /* a declared launch of a device that begins late is hidden, too */
        {9120503, 1.05},  /* ranges tell launches even if a speed seems to have changed */
        {9220556, 1.025}, /* two tasks are tried in short runs, too */
        {9220950, 1.025}, /* a share of a batch says nothing about its task elsewhere */
        {9120910, 1.025}, /* a longer range tells launches while the first step runs */
        {9071934, 1.4},   /* tasks of a batch get shares of its time, of which no median is taken */
    };
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        static struct random_case c;
        struct random_match m;
        random_case(&c, RANDOM_LAUNCHES, once[i].seed, 128);
        for (int u = 0; u < c.sim.ncu; u++)
            c.unit[u].batches = c.unit[u].kind == CU_DEVICE;
        assert_int_equal(random_match(&c, &m), EK_OK);
        if (!(m.ratio < once[i].most))
            fail_msg("%s: %g s instead of %g", c.text, m.own.total, m.best.total);
        random_close(&c);
    }
}

/* From the third step on as fast as the better plan, but for some cases in which that step still
 * brings tasks, or the device never got two tasks in a row. */
static void drawn(void **state)
{
    enum { CASES = 300, UNLUCKY = 16 };
    char last[200] = "";
    int slow = 0;
    for (unsigned seed = 1; seed <= CASES; seed++) {
        double span[STEPS], longest = 0;
        const struct hybrid h = draw_hybrid(seed);
        run_hybrid(&h, span);
        for (int s = 2; s < STEPS; s++)
            longest = fmax(longest, span[s]);
        const double best = fmin(on_device(&h), h.core * ceil((double)h.n / h.cores));
        if (longest <= 1.05 * best)
            continue;
        slow++;
        snprintf(last, sizeof last,
                 "seed %u: %zu tasks on %d cores of %g s and a device of %g + %g s: %g s instead "
                 "of %g",
                 seed, h.n, h.cores, h.core, h.launch, h.task, longest, best);
    }
    if (slow > UNLUCKY)
        fail_msg("%d of %d cases, the last of them %s", slow, CASES, last);
}

/* Launches take so much longer than tasks that one task takes a device longer than a core, and all
 * tasks take it as long: nothing tells launches from tasks until a device runs two together. */
static void launches_above_all(void **state)
{
    enum { CASES = 40, UNLUCKY = 6 };
    static double cost[MOST_TASKS];
    int slow = 0;
    for (unsigned seed = 1; seed <= CASES; seed++) {
        uint64_t draw = 330 + seed;
        double span[STEPS], sum = 0;
        struct hybrid h = {.n = 10 + (size_t)(random_uniform(&draw) * 20),
                           .cores = 2 + (int)(random_uniform(&draw) * 2),
                           .devices = 1 + (int)(random_uniform(&draw) * 3),
                           .core = 7e-5,
                           .launch = 1e-4,
                           .task = 5e-6,
                           .cost = cost};
        for (size_t t = 0; t < h.n; t++)
            sum += cost[t] = pow(2, random_uniform(&draw));
        for (size_t t = 0; t < h.n; t++)
            cost[t] *= (double)h.n / sum;
        run_hybrid(&h, span);
        slow += !(span[STEPS - 1] < 1.3 * on_device(&h));
    }
    if (slow > UNLUCKY)
        fail_msg("%d of %d cases", slow, CASES);
}

/* When a device dies in the first step, the others' launches are found all the same. */
static void one_dies(void **state)
{
    enum { UNITS = 7, DEATH = 5 };
    struct sim_unit unit[UNITS];
    double span[4];
    struct sim_result r;
    for (int c = 0; c < UNITS; c++)
        unit[c] = c < 3 ? (struct sim_unit){.width = 1, .speed = 1}
                        : (struct sim_unit){.kind = CU_DEVICE,
                                            .width = 1,
                                            .memory = c,
                                            .speed = 40,
                                            .launch = 1,
                                            .batches = true};
    const struct sim_change dies = {.unit = DEATH, .step = 0, .after = 0.2};
    struct sim_case c = {.job = {.n = 119, .grain = 1},
                         .unit = unit,
                         .ncu = UNITS,
                         .steps = 4,
                         .cold = true,
                         .change = &dies,
                         .nchanges = 1};
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_true(span[2] < span[0] / 5);
}

/* Devices without cores beside them, of which nothing is known, share the first step evenly. */
static void devices_alone(void **state)
{
    double span[STEPS];
    const struct hybrid h = {.n = 30, .devices = 8, .task = 1};
    run_hybrid(&h, span);
    assert_float_equal(span[0], 4, 1e-9); /* at most four tasks each */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_c),      cmocka_unit_test(drawn),
        cmocka_unit_test(declared),     cmocka_unit_test(launches_above_all),
        cmocka_unit_test(misjudged),    cmocka_unit_test(one_dies),
        cmocka_unit_test(devices_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
