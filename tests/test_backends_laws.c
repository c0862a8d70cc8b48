/* tests/test_backends_laws.c – every device of every back end obeys the same laws. Run on the
 * machine's devices, with the cpu device split in two, on fake GPUs, with an older HIP, and with
 * HIP on top of CUDA. */
#include "tests/backends.h"

#include "src/clock.h"
#include <limits.h>
#include <math.h>

/* ---- memory ---- */

/* Allocates far more than the device has, but never at once. */
static void memory_comes_back(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    size_t quarter = b->info.memory / 4;
    size_t bytes = is_host(b)                    ? 1u << 20
                   : quarter < b->info.max_alloc ? quarter
                                                 : b->info.max_alloc;
    for (int i = 0; i < 20; i++)
        backend_free(b, alloc_on(b, bytes));
    backend_free(b, alloc_on(b, 0));
    backend_free(b, NULL);
}

static void too_much_memory_is_refused_with_both_numbers(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    struct backend_mem *m = NULL, *held = alloc_on(b, 8000000);
    size_t bytes = b->info.memory + 1000000;
    char asked[32], all[32];
    snprintf(asked, sizeof asked, "%.1f MB", 1e-6 * (double)bytes);
    snprintf(all, sizeof all, "%.1f MB", 1e-6 * (double)b->info.memory);
    ASSERT_FAILS(EK_UNAVAILABLE, backend_alloc(b, bytes, &m), asked);
    assert_non_null(strstr(status_message(), all));
    assert_non_null(strstr(status_message(), b->label));
    assert_null(m);
    backend_free(b, held);
}

static void budget_counts_what_is_allocated(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    enum { PIECES = 64 };
    struct backend_mem *m[PIECES] = {alloc_on(b, 8000000)}, *none = NULL;
    ASSERT_FAILS(EK_UNAVAILABLE, backend_alloc(b, b->info.memory - 4000000, &none), b->label);
    size_t piece = b->info.max_alloc / 2, taken = 8000000;
    enum ek_status st = is_host(b) ? EK_UNAVAILABLE : EK_OK; /* the host fills memory at allocation
                                                              */
    int n = 1;
    status_mute(+1);
    while (!st && n < PIECES)
        if (!(st = backend_alloc(b, piece, &m[n]))) {
            taken += piece;
            n++;
        }
    status_mute(-1);
    assert_true(taken <= b->info.memory && (st == EK_UNAVAILABLE || n == PIECES));
    while (n)
        backend_free(b, m[--n]);
    backend_free(b, alloc_on(b, 8000000));
}

static void what_is_written_is_read(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    enum { SIZE = 100003 };
    unsigned char *in = malloc(SIZE), *out = malloc(SIZE), *want = malloc(SIZE);
    struct backend_mem *m = alloc_on(b, SIZE);
    for (int i = 0; i < SIZE; i++)
        want[i] = in[i] = (unsigned char)draw(256);
    put(b, m, in, SIZE);
    for (int turn = 0; turn < 50; turn++) {
        size_t bytes = draw(2000), dst = draw(SIZE - 2000), src = draw(SIZE - 2000);
        struct backend_rect r = backend_linear(dst, src, bytes);
        memcpy(want + dst, in + src, bytes);
        assert_int_equal(backend_write(b, turn % BACKEND_QUEUES, m, in, &r), EK_OK);
        assert_int_equal(backend_wait(b, turn % BACKEND_QUEUES), EK_OK);
    }
    get(b, out, m, SIZE);
    assert_memory_equal(out, want, SIZE);
    backend_free(b, m);
    free(in);
    free(out);
    free(want);
}

/* ---- kernels ---- */

static void every_item_runs_once(void **state)
{
    struct subject *s = *state;
    static const int sizes[] = {1, 63, 64, 65, 1000};
    enum { ROOM = 1100 };
    int cell[ROOM];
    struct backend_mem *m = alloc_on(s->b, sizeof cell);
    for (int i = 0; i < LENGTH(sizes); i++) {
        int n = sizes[i];
        memset(cell, 0, sizeof cell);
        put(s->b, m, cell, sizeof cell);
        run(s->b, s->laws, COUNT, n, 1, 1, 2,
            (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(n)});
        get(s->b, cell, m, sizeof cell);
        for (int k = 0; k < ROOM; k++)
            assert_int_equal(cell[k], k < n);
    }
    run(s->b, s->laws, COUNT, 0, 1, 1, 2,
        (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(ROOM)});
    get(s->b, cell, m, sizeof cell);
    assert_int_equal(cell[0], 1);
    backend_free(s->b, m);
}

/* Items take numbers from a common counter: each number exactly once. */
static void items_count_together(void **state)
{
    struct subject *s = *state;
    enum { N = 5000 };
    static int cell[1 + N];
    static bool seen[N];
    struct backend_mem *m = alloc_on(s->b, sizeof cell);
    memset(cell, 0, sizeof cell);
    memset(seen, 0, sizeof seen);
    put(s->b, m, cell, sizeof cell);
    run(s->b, s->laws, TAKE, N, 1, 1, 2,
        (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(N)});
    get(s->b, cell, m, sizeof cell);
    assert_int_equal(cell[0], N);
    for (int i = 1; i <= N; i++) {
        assert_in_range(cell[i], 0, N - 1);
        assert_false(seen[cell[i]]);
        seen[cell[i]] = true;
    }
    backend_free(s->b, m);
}

static void indices_are_three_dimensional(void **state)
{
    struct subject *s = *state;
    enum { NX = 9, NY = 5, NZ = 3, N = NX * NY * NZ };
    int cell[N];
    struct backend_mem *m = alloc_on(s->b, sizeof cell);
    for (int kernel = INDEX; kernel <= GROUPED; kernel++) {
        memset(cell, 0xff, sizeof cell);
        put(s->b, m, cell, sizeof cell);
        run(s->b, s->laws, kernel, NX, NY, NZ, 4,
            (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(NX), backend_arg_int(NY),
                                   backend_arg_int(NZ)});
        get(s->b, cell, m, sizeof cell);
        for (int i = 0; i < N; i++)
            assert_int_equal(cell[i], i % NX + 1000 * (i / NX % NY) + 1000000 * (i / NX / NY));
    }
    backend_free(s->b, m);
}

static void arguments_of_every_type_arrive(void **state)
{
    struct subject *s = *state;
    const int in[2] = {11, -22};
    const long l = 123456789012345L;
    const double want[6] = {
        -3,        (double)(l / 1000000007L), (double)(l % 1000000007L), 0x1.fedcba98765p-7, -22,
        2147483647};
    double out[6];
    struct backend_mem *o = alloc_on(s->b, sizeof out), *i = alloc_on(s->b, sizeof in);
    put(s->b, i, in, sizeof in);
    run(s->b, s->laws, ARGUMENTS, 1, 1, 1, 6,
        (struct backend_arg[]){backend_arg_int(-3), backend_arg_mem(o), backend_arg_long(l),
                               backend_arg_double(want[3]), backend_arg_mem(i),
                               backend_arg_int(2147483647)});
    get(s->b, out, o, sizeof out);
    assert_memory_equal(out, want, sizeof want);
    backend_free(s->b, o);
    backend_free(s->b, i);
}

static void wrong_arguments_are_refused(void **state)
{
    struct subject *s = *state;
    struct backend_mem *m = alloc_on(s->b, 64);
    const long one[3] = {1, 1, 1};
    const struct backend_arg good[] = {backend_arg_mem(m), backend_arg_int(1), backend_arg_int(1)},
                             bad[] = {backend_arg_mem(m), backend_arg_double(1)};
    ASSERT_FAILS(EK_USAGE, backend_launch(s->b, BACKEND_COMPUTE, s->laws, COUNT, one, 3, good),
                 "laws_count");
    ASSERT_FAILS(EK_USAGE, backend_launch(s->b, BACKEND_COMPUTE, s->laws, COUNT, one, 2, bad),
                 s->b->label);
    backend_free(s->b, m);
}

/* A kernel's index is an int; a size that overflowed must not pass for "nothing to do". */
static void grids_beyond_an_int_are_refused(void **state)
{
    struct subject *s = *state;
    const long wrong[][3] = {{INT_MAX, 1, 1}, {1, 1L << 32, 1}, {1, 1, -1}, {-64, 0, 1}};
    const long none[][3] = {{0, 1, 1}, {64, 0, 7}};
    struct backend_mem *m = alloc_on(s->b, 64);
    const struct backend_arg args[] = {backend_arg_mem(m), backend_arg_int(1)};
    for (int i = 0; i < LENGTH(wrong); i++)
        ASSERT_FAILS(EK_UNAVAILABLE,
                     backend_launch(s->b, BACKEND_COMPUTE, s->laws, COUNT, wrong[i], 2, args),
                     "work-items in direction");
    for (int i = 0; i < LENGTH(none); i++)
        assert_int_equal(backend_launch(s->b, BACKEND_COMPUTE, s->laws, COUNT, none[i], 2, args),
                         EK_OK);
    backend_free(s->b, m);
}

/* y = f(x, y) for values of all magnitudes, as computed on a device. */
static void arithmetic_on(struct backend *b, struct backend_program *p, double *y, int n)
{
    double *x = malloc((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        x[i] = ldexp(1.0 + i / (double)n, i % 40 - 20);
        y[i] = sin(i);
    }
    size_t bytes = (size_t)n * sizeof *x;
    struct backend_mem *mx = alloc_on(b, bytes), *my = alloc_on(b, bytes);
    put(b, mx, x, bytes);
    put(b, my, y, bytes);
    run(b, p, ARITHMETIC, n, 1, 1, 4,
        (struct backend_arg[]){backend_arg_mem(mx), backend_arg_mem(my), backend_arg_double(1 / 3.),
                               backend_arg_int(n)});
    get(b, y, my, bytes);
    backend_free(b, mx);
    backend_free(b, my);
    free(x);
}

static void arithmetic_has_the_bits_of_the_host(void **state)
{
    struct subject *s = *state;
    enum { N = 5000 };
    static double got[N], want[N];
    struct backend *host = open_device("host", 3);
    struct backend_program *oracle = build_laws(host, "-DKERNEL_NO_FMA");
    struct backend_program *exact = build_laws(s->b, "-DKERNEL_NO_FMA");
    arithmetic_on(host, oracle, want, N);
    arithmetic_on(s->b, exact, got, N);
    assert_memory_equal(got, want, sizeof want);
    backend_unbuild(s->b, exact);
    backend_unbuild(host, oracle);
    backend_close(host);
}

static void barriers_hold(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    enum { N = 1000, GROUPS = (N + 63) / 64 };
    const struct backend_kernel sum = {"barrier_sum", {64, 1, 1}};
    struct backend_program *p = NULL;
    char *text = joined("tests/kernels/barrier.c");
    if (is_host(b)) {
        ASSERT_FAILS(EK_UNAVAILABLE, backend_build(b, text, "", &sum, 1, &p), "barrier_sum");
        free(text);
        return;
    }
    assert_int_equal(backend_build(b, text, "", &sum, 1, &p), EK_OK);
    free(text);
    double in[N], out[GROUPS];
    for (int i = 0; i < N; i++)
        in[i] = i;
    struct backend_mem *mi = alloc_on(b, sizeof in), *mo = alloc_on(b, sizeof out);
    put(b, mi, in, sizeof in);
    run(b, p, 0, N, 1, 1, 3,
        (struct backend_arg[]){backend_arg_mem(mi), backend_arg_mem(mo), backend_arg_int(N)});
    get(b, out, mo, sizeof out);
    for (int g = 0; g < GROUPS; g++) {
        int first = 64 * g, n = N - first < 64 ? N - first : 64;
        assert_true(out[g] == n * first + n * (n - 1) / 2);
    }
    backend_free(b, mi);
    backend_free(b, mo);
    backend_unbuild(b, p);
}

/* Far more groups than a device runs at a time. The threads that compute for fakes spin while they
 * wait; where others use the cores, each group costs a time slice of all of them. */
static void groups_wait_for_earlier_ones(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    enum { MOST = 20000 };
    const int groups = fakes() ? 300 : MOST;
    const struct backend_kernel chain = {"waiting_chain", {64, 1, 1}};
    struct backend_program *p = NULL;
    static double cell[MOST + 1];
    int started = 0;
    if (!b->info.groups_wait)
        return;
    char *text = joined("tests/kernels/waiting.c");
    assert_int_equal(backend_build(b, text, "", &chain, 1, &p), EK_OK);
    free(text);
    for (int g = 1; g <= groups; g++)
        cell[g] = -1;
    struct backend_mem *mc = alloc_on(b, sizeof cell), *ms = alloc_on(b, sizeof started);
    put(b, mc, cell, sizeof cell);
    put(b, ms, &started, sizeof started);
    run(b, p, 0, 64 * groups, 1, 1, 2,
        (struct backend_arg[]){backend_arg_mem(mc), backend_arg_mem(ms)});
    get(b, cell, mc, sizeof cell);
    for (int g = 0; g <= groups; g++)
        assert_true(cell[g] == g);
    backend_free(b, mc);
    backend_free(b, ms);
    backend_unbuild(b, p);
}

/* ---- queues and events ---- */

static void a_queue_runs_in_order(void **state)
{
    struct subject *s = *state;
    int cell[2] = {0, 0};
    struct backend_mem *m = alloc_on(s->b, sizeof cell);
    for (int turn = 1; turn <= 50; turn++) {
        run(s->b, s->laws, PUT, 1, 1, 1, 3,
            (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(0), backend_arg_int(turn)});
        run(s->b, s->laws, SLOW, 1, 1, 1, 4,
            (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(0), backend_arg_int(1),
                                   backend_arg_int(0)});
        get(s->b, cell, m, sizeof cell);
        assert_int_equal(cell[1], turn);
    }
    backend_free(s->b, m);
}

struct chain {
    struct subject *s;
    struct backend_mem *m;
    int links, broken; /* index of an invalid link, or -1 */
};

/* Each link depends on the one before it. */
static enum ek_status launch_chain(void *arg)
{
    const struct chain *c = arg;
    for (int i = 0; i < c->links; i++)
        TRY(backend_launch_items(
            c->s->b, c->s->laws, SLOW, 1, i == c->broken ? 3 : 4,
            ((struct backend_arg[]){backend_arg_mem(c->m), backend_arg_int(i % 2),
                                    backend_arg_int((i + 1) % 2), backend_arg_int(3 + i)})));
    return EK_OK;
}

/* Starts the chain `times` times from the same numbers, as a graph or as launches. */
static void run_chain(struct chain *c, struct backend_graph *graph, int times, int out[2])
{
    put(c->s->b, c->m, (int[]){17, 4}, 2 * sizeof(int));
    for (int i = 0; i < times; i++)
        assert_int_equal(graph ? backend_graph_start(c->s->b, graph) : launch_chain(c), EK_OK);
    get(c->s->b, out, c->m, 2 * sizeof(int));
}

static void a_graph_is_its_launches(void **state)
{
    struct subject *s = *state;
    struct chain c = {s, alloc_on(s->b, 2 * sizeof(int)), 7, -1};
    struct backend_graph *graph, *other;
    int launched[2], started[2], before[2];
    run_chain(&c, NULL, 3, launched);
    get(s->b, before, c.m, sizeof before);
    backend_capture(s->b, launch_chain, &c, &graph);
    get(s->b, started, c.m, sizeof started); /* capturing starts nothing */
    assert_memory_equal(started, before, sizeof before);
    if (s->b->ops->graph_begin)
        assert_non_null(graph);
    if (graph) {
        run_chain(&c, graph, 3, started);
        assert_memory_equal(started, launched, sizeof launched);
        c.broken = 3;
        backend_capture(s->b, launch_chain, &c, &other); /* half a chain gives no graph */
        assert_null(other);
        c.broken = -1;
        run_chain(&c, graph, 3, started);
        assert_memory_equal(started, launched, sizeof launched);
    }
    backend_graph_free(s->b, graph);
    backend_free(s->b, c.m);
}

/* A slow kernel on one queue, its result fetched through the other. */
static void events_order_two_queues(void **state)
{
    struct subject *s = *state;
    const struct backend_ops *ops = s->b->ops;
    enum { TURNS = 300000, ROUNDS = 10 };
    struct backend_mem *m = alloc_on(s->b, 2 * sizeof(int));
    const struct backend_rect second = backend_linear(0, sizeof(int), sizeof(int));
    for (int round = 0; round < ROUNDS; round++) {
        int want = round, got = -1, event = round % BACKEND_EVENTS;
        for (int t = 0; t < TURNS; t++)
            want = (want * 5 + t) & 0xffff;
        put(s->b, m, (int[]){round, -2}, 2 * sizeof(int));
        run(s->b, s->laws, SLOW, 1, 1, 1, 4,
            (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(0), backend_arg_int(1),
                                   backend_arg_int(TURNS)});
        assert_int_equal(ops->record(s->b->dev, BACKEND_COMPUTE, event), EK_OK);
        assert_int_equal(ops->after(s->b->dev, BACKEND_COPY, event), EK_OK);
        assert_int_equal(backend_read(s->b, BACKEND_COPY, &got, m, &second), EK_OK);
        assert_int_equal(ops->wait(s->b->dev, BACKEND_COPY), EK_OK);
        assert_int_equal(got, want);
    }
    backend_free(s->b, m);
}

/* A kernel sees data copied by another queue after its event, and by its own queue without one. */
static void kernels_find_what_was_brought(void **state)
{
    struct subject *s = *state;
    enum { N = 200, ROUNDS = 6 };
    static int cell[N], got[N];
    struct backend_mem *m = alloc_on(s->b, sizeof cell);
    const struct backend_arg args[] = {backend_arg_mem(m), backend_arg_int(N)};
    const long items[] = {N, 1, 1};
    for (int round = 0; round < ROUNDS; round++) {
        const int queue = round % 2 ? BACKEND_FEED : BACKEND_COMPUTE;
        for (int i = 0; i < N; i++)
            cell[i] = 1000 * round + i;
        assert_int_equal(backend_send(s->b, BACKEND_FEED, m, cell, sizeof cell), EK_OK);
        if (queue == BACKEND_COMPUTE) {
            assert_int_equal(backend_record(s->b, BACKEND_FEED, round), EK_OK);
            assert_int_equal(backend_after(s->b, BACKEND_COMPUTE, round), EK_OK);
        }
        assert_int_equal(backend_launch(s->b, queue, s->laws, COUNT, items, 2, args), EK_OK);
        assert_int_equal(backend_fetch(s->b, queue, got, m, sizeof got), EK_OK);
        assert_int_equal(backend_wait(s->b, queue), EK_OK);
        for (int i = 0; i < N; i++)
            assert_int_equal(got[i], cell[i] + 1);
    }
    backend_free(s->b, m);
}

static void events_are_reached(void **state)
{
    struct subject *s = *state;
    const struct backend_ops *ops = s->b->ops;
    struct backend *fresh = open_device(ops->name, s->b->index);
    ASSERT_FAILS(EK_USAGE, backend_reach(fresh, 1), "never recorded");
    assert_int_equal(ops->after(fresh->dev, BACKEND_COPY, 5), EK_OK);
    assert_int_equal(ops->wait(fresh->dev, BACKEND_COPY), EK_OK);
    backend_close(fresh);

    enum { TURNS = 1000000 };
    const struct backend_rect second = backend_linear(0, sizeof(int), sizeof(int));
    struct backend_mem *m = alloc_on(s->b, 2 * sizeof(int));
    int want = 3, got = -1;
    for (int t = 0; t < TURNS; t++)
        want = (want * 5 + t) & 0xffff;
    put(s->b, m, (int[]){3, -2}, 2 * sizeof(int));
    run(s->b, s->laws, SLOW, 1, 1, 1, 4,
        (struct backend_arg[]){backend_arg_mem(m), backend_arg_int(0), backend_arg_int(1),
                               backend_arg_int(TURNS)});
    assert_int_equal(ops->record(s->b->dev, BACKEND_COMPUTE, 1), EK_OK);
    assert_int_equal(backend_reach(s->b, 1), EK_OK);
    /* the other queue does not wait: it sees older data */
    assert_int_equal(backend_read(s->b, BACKEND_COPY, &got, m, &second), EK_OK);
    assert_int_equal(ops->wait(s->b->dev, BACKEND_COPY), EK_OK);
    assert_int_equal(got, want);
    assert_int_equal(ops->wait(s->b->dev, BACKEND_COMPUTE), EK_OK);
    backend_free(s->b, m);
}

/* backend_fed() counts from the first work on the compute queue to the end of the next wait. */
static void a_device_without_work_starves(void **state)
{
    struct subject *s = *state;
    int word = 7;
    const struct backend_rect all = backend_linear(0, 0, sizeof word);
    struct backend_mem *m = alloc_on(s->b, sizeof word);
    const double before = backend_fed(s->b);
    assert_int_equal(backend_write(s->b, BACKEND_COPY, m, &word, &all), EK_OK);
    assert_int_equal(backend_wait(s->b, BACKEND_COPY), EK_OK);
    usleep(1000);
    assert_true(backend_fed(s->b) == before);
    assert_int_equal(backend_write(s->b, BACKEND_COMPUTE, m, &word, &all), EK_OK);
    usleep(1000);
    assert_true(backend_fed(s->b) >= before + 1e-3);
    assert_int_equal(backend_wait(s->b, BACKEND_COMPUTE), EK_OK);
    const double after = backend_fed(s->b);
    usleep(1000);
    assert_true(after >= before + 1e-3 && backend_fed(s->b) == after);
    backend_free(s->b, m);
}

/* ---- what goes wrong ---- */

static void foreign_buffers_are_refused(void **state)
{
    struct subject *s = *state;
    struct backend *other = open_device(s->b->ops->name, s->b->index);
    struct backend_mem *ours = alloc_on(s->b, 64), *theirs = alloc_on(other, 64);
    char bytes[64] = "";
    const struct backend_rect all = backend_linear(0, 0, sizeof bytes);
    const long one[3] = {1, 1, 1};
    const struct backend_arg args[] = {backend_arg_mem(theirs), backend_arg_int(1)};
    ASSERT_FAILS(EK_USAGE, backend_write(s->b, BACKEND_COPY, theirs, bytes, &all), "buffer");
    ASSERT_FAILS(EK_USAGE, backend_read(s->b, BACKEND_COPY, bytes, theirs, &all), "buffer");
    ASSERT_FAILS(EK_USAGE, backend_within(s->b, BACKEND_COPY, ours, theirs, &all), "buffer");
    ASSERT_FAILS(EK_USAGE, backend_launch(s->b, BACKEND_COMPUTE, s->laws, COUNT, one, 2, args),
                 "buffer");
    backend_free(s->b, ours);
    backend_free(other, theirs);
    backend_close(other);
}

static void a_bad_text_names_file_and_line(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    const struct backend_kernel k = {"bad", {1, 1, 1}};
    struct backend_program *p = NULL;
    if (is_host(b)) /* compiles nothing at run time */
        return;
    char *head = embed_join(NULL, 0), *text = NULL;
    assert_true(asprintf(&text, "%s%s", head,
                         "#line 1 \"a/kernels/bad.c\"\n"
                         "KERNEL(bad, 1, 1, 1)(GLOBAL int *out)\n{\n    out[0] = missing;\n}\n") >
                0);
    ASSERT_FAILS(EK_USAGE, backend_build(b, text, "", &k, 1, &p), "a/kernels/bad.c:3");
    assert_non_null(strstr(status_message(), "missing"));
    assert_null(p);
    free(head);
    free(text);
}

static void a_missing_kernel_is_named(void **state)
{
    struct backend *b = ((struct subject *)*state)->b;
    const struct backend_kernel k[] = {law_kernels[COUNT], {"laws_nowhere", {1, 1, 1}}};
    struct backend_program *p = NULL;
    char *text = joined("tests/kernels/laws.c");
    ASSERT_FAILS(EK_USAGE, backend_build(b, text, "", k, 2, &p), "laws_nowhere");
    assert_null(p);
    free(text);
}

static const struct law laws[] = {
    LAW(memory_comes_back),
    LAW(too_much_memory_is_refused_with_both_numbers),
    LAW(budget_counts_what_is_allocated),
    LAW(what_is_written_is_read),
    LAW(every_item_runs_once),
    LAW(items_count_together),
    LAW(indices_are_three_dimensional),
    LAW(arguments_of_every_type_arrive),
    LAW(wrong_arguments_are_refused),
    LAW(grids_beyond_an_int_are_refused),
    LAW(a_device_without_work_starves),
    LAW(arithmetic_has_the_bits_of_the_host),
    LAW(barriers_hold),
    LAW(groups_wait_for_earlier_ones),
    LAW(a_queue_runs_in_order),
    LAW(a_graph_is_its_launches),
    LAW(events_order_two_queues),
    LAW(kernels_find_what_was_brought),
    LAW(events_are_reached),
    LAW(foreign_buffers_are_refused),
    LAW(a_bad_text_names_file_and_line),
    LAW(a_missing_kernel_is_named),
};

static int all_devices(void)
{
    return over_devices(laws, LENGTH(laws));
}

/* If only the path to the devices differs, one device suffices. */
static int gpus(void)
{
    if (strcmp(fakes(), "fakegpu"))
        return try_laws(backend_find("hip"), 0, laws, LENGTH(laws));
    return over_devices_of("cuda", laws, LENGTH(laws)) + over_devices_of("hip", laws, LENGTH(laws));
}

int main(void)
{
    if (fakes())
        return in_process(NULL, gpus);
    return in_process(NULL, all_devices) + in_process("2", all_devices) + with_fakes("fakegpu") +
           with_fakes("fakegpu/hip5") + with_fakes("fakegpu/hip2cuda:fakegpu");
}
