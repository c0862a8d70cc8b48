/* tests/test_npb_mz_blocks.c – LU's sweeps by blocks of lines, whose work-groups wait for one
 * another, against its sweeps by fronts on the same device, bit for bit, and against the host. On
 * the fakes, whose work-groups run on several threads. The memory of a fake is the host's, so that
 * one test can play a block's neighbour. */
#include "npb_mz/device.h"
#include "src/random.h"
#include "tests/backends.h"
#include "tests/mz_alone.h"

#include <math.h>
#include <pthread.h>

enum { STEPS = 5 }; /* from the third on, launches come in a graph */

/* A mesh of zones of equal size; how many zones a launch serves, 0: all; the number of
 * multiprocessors that the device reports; whether the zones live on the host. */
struct problem_of_blocks {
    struct mz_mesh mesh;
    int together, units;
    bool staged;
};

static struct mz_ops lu(void)
{
    struct mz_ops ops = *mz_find("lu-mz");
    ops.zones[0] = ops.zones[1] = 0; /* as the mesh says */
    return ops;
}

/* Largest relative difference of two states, without padding. */
static double distance(const struct mz *mz, const double *a, const double *b)
{
    double worst = 0.0;
    for (int zone = 0; zone < mz->nzones; zone++) {
        const struct mz_zone *z = &mz->zone[zone];
        for (long at = 0; at < MZ_VARS * z->volume; at++) {
            const long row = at % z->volume / z->pitch, i = at % z->volume % z->pitch;
            const double x = a[MZ_VARS * z->first + at], y = b[MZ_VARS * z->first + at];
            const double d = fabs(x - y) / (fabs(x) + 1.0);
            if (row < z->ny * z->nz && i < z->nx)
                worst = d <= worst ? worst : d; /* NaN wins */
        }
    }
    return worst;
}

static struct mz *open_it(const struct problem_of_blocks *p, const struct mz_ops *ops)
{
    struct mz *mz = NULL;
    assert_int_equal(mz_open_mesh(ops, mz_class_find("lu-mz", 'S', 0), &p->mesh, &mz), EK_OK);
    assert_int_equal(mz_claim(mz, NULL, 0), EK_OK);
    return mz;
}

/* The least memory that lets a device work. */
static size_t least_memory(const struct mz *mz)
{
    struct places p;
    size_t memory = 1 << 14;
    status_mute(+1);
    while (places_open(mz, "", memory, memory, false, &p))
        memory += memory / 16;
    status_mute(-1);
    places_close(&p);
    return memory;
}

static void step_on(struct device *d, const struct problem_of_blocks *p, struct mz *mz)
{
    double *seconds = calloc((size_t)mz->nzones, sizeof *seconds);
    const int together = p->together ? p->together : mz->nzones;
    size_t bytes = 0;
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_exchange(mz, zone);
    for (int zone = 0; zone < mz->nzones && !p->staged; zone++)
        assert_int_equal(device_carry(d, NULL, zone, &bytes), EK_OK);
    for (int zone = 0; zone < mz->nzones; zone += together) {
        const int end = zone + together < mz->nzones ? zone + together : mz->nzones;
        assert_int_equal(device_step(d, zone, end, seconds + zone), EK_OK);
    }
    for (int zone = 0; zone < mz->nzones && !p->staged; zone++)
        assert_int_equal(device_carry(NULL, d, zone, &bytes), EK_OK);
    free(seconds);
}

/* The state after STEPS steps on a device, by blocks or by fronts. */
static struct mz *run_on(const char *vendor, const struct problem_of_blocks *p,
                         const struct mz_ops *ops, bool blocks)
{
    struct mz *mz = open_it(p, ops);
    struct backend *b = open_device(vendor, 0);
    struct device *d = NULL;
    assert_true(b->info.groups_wait);
    b->info.groups_wait = blocks;
    b->info.compute_units = p->units;
    b->info.memory = p->staged ? least_memory(mz) : b->info.memory;
    assert_int_equal(device_open(mz, b, &d), EK_OK);
    for (int s = 0; s < STEPS; s++)
        step_on(d, p, mz);
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_settle(mz, zone);
    device_close(d);
    backend_close(b);
    return mz;
}

static struct mz *run_on_host(const struct problem_of_blocks *p, const struct mz_ops *ops)
{
    struct mz *mz = open_it(p, ops);
    struct mz_work *work = NULL;
    assert_int_equal(mz_work_open(mz, 1, &work), EK_OK);
    for (int s = 0; s < STEPS; s++)
        mz_step(mz, work);
    for (int zone = 0; zone < mz->nzones; zone++)
        mz_settle(mz, zone);
    mz_work_close(work);
    return mz;
}

static void compare(const char *vendor, const struct problem_of_blocks *p)
{
    const struct mz_ops ops = lu();
    struct mz *blocks = run_on(vendor, p, &ops, true), *fronts = run_on(vendor, p, &ops, false);
    struct mz *host = run_on_host(p, &ops);
    assert_true(distance(host, fronts->u, blocks->u) == 0.0);
    assert_true(distance(host, host->u, blocks->u) < 1e-12);
    mz_close(blocks);
    mz_close(fronts);
    mz_close(host);
}

/* Points along x, y and z of a zone, zones along x and y. */
static struct mz_mesh mesh_of(int nx, int ny, int nz, int across, int up)
{
    return (struct mz_mesh){'S', {nx * across, ny * up, nz}, {across, up}};
}

/* One block or many, of unequal width, and higher zones than a block; fewer points along x than
 * steps between a block's first line and its last. */
static void shapes(void **state)
{
    static const int table[][7] = {/* points, zones, together, multiprocessors */
                                   {6, 6, 6, 1, 1, 0, 132},   {6, 6, 6, 2, 2, 3, 1},
                                   {7, 41, 9, 1, 2, 1, 1000}, {23, 13, 7, 3, 1, 2, 12},
                                   {6, 9, 36, 2, 1, 0, 8},    {13, 7, 71, 1, 2, 0, 40},
                                   {9, 17, 101, 1, 1, 0, 2},  {67, 11, 6, 1, 1, 0, 5}};
    for (int i = 0; i < LENGTH(table); i += getenv("EK_LONG") ? 1 : 2) {
        const int *t = table[i];
        const struct problem_of_blocks p = {
            .mesh = mesh_of(t[0], t[1], t[2], t[3], t[4]), .together = t[5], .units = t[6]};
        compare("cuda", &p);
    }
}

static void drawn_shapes(void **state)
{
    uint64_t chance = 1126;
    for (int i = 0; i < (getenv("EK_LONG") ? 60 : 5); i++) {
        const int nx = 6 + (int)random_below(&chance, 20), ny = 6 + (int)random_below(&chance, 40);
        const int nz = 6 + (int)random_below(&chance, i % 4 ? 10 : 70);
        const int across = 1 + (int)random_below(&chance, 3),
                  up = 1 + (int)random_below(&chance, 2);
        const struct problem_of_blocks p = {.mesh = mesh_of(nx, ny, nz, across, up),
                                            .together = (int)random_below(&chance, 3),
                                            .units = 1 + (int)random_below(&chance, 150)};
        compare(i % 2 ? "hip" : "cuda", &p);
    }
}

/* Zones that come for a step only take turns in the same scratch. */
static void zones_that_come_for_a_step(void **state)
{
    const struct problem_of_blocks p = {
        .mesh = mesh_of(11, 19, 8, 3, 2), .units = 20, .staged = true};
    compare("cuda", &p);
}

/* A state that is not a number must not stop anybody who waits. */
static void numbers_that_are_none_pass(void **state)
{
    const struct problem_of_blocks p = {.mesh = mesh_of(9, 25, 40, 1, 1), .units = 100};
    const struct mz_ops ops = lu();
    struct mz *mz = open_it(&p, &ops);
    struct backend *b = open_device("cuda", 0);
    struct device *d = NULL;
    b->info.compute_units = p.units;
    assert_int_equal(device_open(mz, b, &d), EK_OK);
    mz->u[mz->zone[0].plane + mz->zone[0].pitch + 1] = NAN;
    for (int s = 0; s < 2; s++)
        step_on(d, &p, mz);
    assert_true(isnan(mz->u[mz->zone[0].volume / 2]));
    device_close(d);
    backend_close(b);
    mz_close(mz);
}

/* ---- one block alone ------------------------------------------------------------------------- */

/* A zone of two blocks, side by side along y or z: the second to start gets mail for each of its
 * lines next to the first. Device memory, as the host sees it. */
enum { NX = 40, WIDE = 8, HIGH = 4, LINES = WIDE * HIGH, MAIL = 5 * NX * WIDE };
enum { HEAD = 8, /* LU_HEAD */ TAKES = 9 };
static const double EMPTY = -1.7976931348623157e308; /* LU_EMPTY */

struct pair {
    struct places places;
    struct backend *b;
    struct backend_program *program;
    struct backend_mem *mem[5]; /* w, derived variables, scratch, constants, the table of zones */
    double *w, *scratch;
    int sign, along;            /* of the sweep; 1: y, 2: z */
    const double *input, *mail; /* w before, what the other block sends */
    bool over;                  /* the launch is */
};

static void open_pair(struct pair *p, struct mz *mz)
{
    /* All texts of lu-mz, which the other tests compile, too. */
    const char *const text[] = {"npb_mz/kernels/rhs.c", "npb_mz/kernels/faces.c", mz->ops->text,
                                mz->ops->waiting_text};
    static const struct backend_kernel sweeps[] = {{"lu_blocks_lower", {BLOCK_GROUP, 1, 1}},
                                                   {"lu_blocks_upper", {BLOCK_GROUP, 1, 1}}};
    uint64_t chance = 1;
    assert_int_equal(places_open(mz, "", 1 << 26, 1 << 26, false, &p->places), EK_OK);
    assert_true(places_take(&p->places, 0));
    const struct places_size size = places_size(&p->places);
    const size_t bytes[] = {size.w, size.prim, size.scratch + 1024, sizeof mz->consts, size.rows};
    p->b = open_device("cuda", 0);
    assert_int_equal(backend_build_texts(p->b, text, LENGTH(text), "", sweeps, 2, &p->program),
                     EK_OK);
    for (int i = 0; i < LENGTH(bytes); i++)
        p->mem[i] = alloc_on(p->b, bytes[i]);
    p->w = backend_address(p->b, p->mem[0]);
    p->scratch = backend_address(p->b, p->mem[2]);
    for (size_t i = 0; i < size.w / sizeof *p->w; i++)
        p->w[i] = 2 * random_uniform(&chance) - 1;
    for (size_t i = 0; i < size.prim / sizeof *p->w; i++)
        ((double *)backend_address(p->b, p->mem[1]))[i] = 0.5 + random_uniform(&chance);
    memcpy(backend_address(p->b, p->mem[3]), &mz->consts, sizeof mz->consts);
    memcpy(backend_address(p->b, p->mem[4]), p->places.row, size.rows);
}

static void close_pair(struct pair *p)
{
    for (int i = 0; i < LENGTH(p->mem); i++)
        backend_free(p->b, p->mem[i]);
    backend_unbuild(p->b, p->program);
    backend_close(p->b);
    places_close(&p->places);
}

/* Takes all mail away. */
static void empty(struct pair *p)
{
    for (int i = 0; i < MAIL; i++)
        p->scratch[HEAD + i] = EMPTY;
}

/* Runs one work-group, the nth to start. */
static void run_group(struct pair *p, int nth)
{
    struct backend_arg args[TAKES];
    ((int *)p->scratch)[p->sign < 0] = nth;
    for (int i = 0; i < LENGTH(p->mem); i++)
        args[i] = backend_arg_mem(p->mem[i]);
    const int numbers[] = {0, 1, WIDE, HIGH}; /* first zone, zones, a block's lines */
    for (int i = 0; i < LENGTH(numbers); i++)
        args[LENGTH(p->mem) + i] = backend_arg_int(numbers[i]);
    run(p->b, p->program, p->sign < 0, BLOCK_GROUP, 1, 1, TAKES, args);
    assert_int_equal(backend_wait(p->b, BACKEND_COMPUTE), EK_OK);
}

/* Index in w of point i, in the order of the sweep, of the n-th line that gets mail. */
static int place_of(const struct pair *p, int n, int i)
{
    const bool up = p->sign > 0;
    const int a = p->along == 2 ? n : up ? 0 : WIDE - 1, c = p->along == 1 ? n : up ? 0 : HIGH - 1;
    const int step = i + (up ? a + c : WIDE - 1 - a + HIGH - 1 - c);
    const int row = up ? step : NX + WIDE + HIGH - 3 - step;
    return (up ? NX * LINES : 0) + a + c * WIDE + row % NX * LINES;
}

/* Sends the mail of a point when the one before it has been computed, not sooner: the block cannot
 * go on alone. */
static void *be_the_other_block(void *pair)
{
    struct pair *p = pair;
    const int lines = p->along == 1 ? HIGH : WIDE;
    int sent[WIDE] = {0}, left = lines * NX;
    while (left && !__atomic_load_n(&p->over, __ATOMIC_ACQUIRE))
        for (int n = 0; n < lines; n++) {
            const int i = sent[n], before = i ? place_of(p, n, i - 1) : 0;
            double now;
            __atomic_load(p->w + before, &now, __ATOMIC_ACQUIRE);
            if (i == NX || (i && now == p->input[before]))
                continue;
            for (int m = 0; m < 5; m++) {
                const int at = 5 * (NX * n + i) + m;
                __atomic_store(p->scratch + HEAD + at, (double *)p->mail + at, __ATOMIC_RELEASE);
            }
            sent[n]++;
            left--;
        }
    return NULL;
}

/* The second group to start, as the only one at the time: it gets its number and mail from nowhere
 * but the scratch, and waits for mail that comes late. */
static void block_waits(int sign, int along)
{
    const struct problem_of_blocks problem = {
        .mesh = mesh_of(NX + 2, WIDE * (along == 1 ? 2 : 1) + 2, HIGH * along + 2, 1, 1)};
    const struct mz_ops ops = lu();
    struct mz *mz = open_it(&problem, &ops);
    struct pair p = {.sign = sign, .along = along};
    pthread_t other;
    open_pair(&p, mz);
    const size_t bytes = places_size(&p.places).w;
    double *input = malloc(bytes), *want = malloc(bytes), mail[MAIL];
    empty(&p);
    run_group(&p, 0);
    memcpy(input, p.w, bytes);
    memcpy(mail, p.scratch + HEAD, sizeof mail);
    run_group(&p, 1);
    memcpy(want, p.w, bytes);
    memcpy(p.w, input, bytes);
    empty(&p);
    p.input = input;
    p.mail = mail;
    assert_int_equal(pthread_create(&other, NULL, be_the_other_block, &p), 0);
    run_group(&p, 1);
    __atomic_store_n(&p.over, true, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
    assert_memory_equal(p.w, want, bytes);
    const int at = place_of(&p, 0, 0);
    assert_true(want[at] != input[at]);
    close_pair(&p);
    mz_close(mz);
    free(input);
    free(want);
}

static void a_block_waits_for_its_mail(void **state)
{
    for (int along = 1; along <= 2; along++)
        for (int sign = 1; sign >= -1; sign -= 2)
            block_waits(sign, along);
}

static int fake_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(a_block_waits_for_its_mail),
        cmocka_unit_test(drawn_shapes),
        cmocka_unit_test(zones_that_come_for_a_step),
        cmocka_unit_test(numbers_that_are_none_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return fakes() ? in_process(NULL, fake_tests) : with_fakes_only("fakegpu");
}
