/* tests/test_backends_gpu_copy.c – copies through chunks of pinned memory and between devices, on
 * fake GPUs. */
#include "backends/gpu.h"
#include "tests/backends.h"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/resource.h>

/* A buffer on each of two devices and the expected contents of the second. */
struct pair {
    struct backend *b[2];
    struct backend_mem *m[2];
    unsigned char *bytes, *want, *got;
    size_t size;
};

static struct pair pair_of(const char *from, int i, const char *to, int j, size_t size)
{
    struct pair p = {{open_device(from, i), open_device(to, j)},
                     {NULL, NULL},
                     malloc(size),
                     calloc(size, 1),
                     malloc(size),
                     size};
    for (size_t k = 0; k < size; k++)
        p.bytes[k] = (unsigned char)(k * 2654435761u >> 13);
    for (int k = 0; k < 2; k++)
        p.m[k] = alloc_on(p.b[k], size);
    put(p.b[0], p.m[0], p.bytes, size);
    put(p.b[1], p.m[1], p.want, size);
    return p;
}

static void check_pair(struct pair *p)
{
    get(p->b[1], p->got, p->m[1], p->size);
    assert_memory_equal(p->got, p->want, p->size);
}

static void close_pair(struct pair *p)
{
    for (int k = 0; k < 2; k++) {
        backend_free(p->b[k], p->m[k]);
        backend_close(p->b[k]);
    }
    free(p->bytes);
    free(p->want);
    free(p->got);
}

static void move_rows(unsigned char *dst, const unsigned char *src, const struct backend_rect *r)
{
    for (size_t i = 0; i < r->rows * r->slices; i++) {
        const size_t y = i % r->rows, z = i / r->rows;
        memcpy(dst + r->dst_offset + y * r->dst_row + z * r->dst_slice,
               src + r->src_offset + y * r->src_row + z * r->src_slice, r->width);
    }
}

/* Boxes of more bytes than a chunk holds: rows longer than it, many rows, many slices. */
static const struct backend_rect large[] = {
    {.width = 30000001, .rows = 1, .slices = 1, .dst_offset = 17, .src_offset = 5},
    {.width = 5000001,
     .rows = 3,
     .slices = 2,
     .dst_row = 5000003,
     .dst_slice = 15000009,
     .src_row = 5000001,
     .src_slice = 16000000},
    {.width = 1001,
     .rows = 9000,
     .slices = 3,
     .dst_row = 1001,
     .dst_slice = 9009001,
     .src_row = 1003,
     .src_slice = 10000000},
    {.width = 24,
     .rows = 100,
     .slices = 9000,
     .dst_row = 24,
     .dst_slice = 3000,
     .src_row = 30,
     .src_slice = 3000},
};
enum { LARGE_BYTES = 33000000 };

static const char *const gpu[] = {"cuda", "hip"};

/* Without EK_LONG the boxes take turns between the vendors, whose code is the same. */
static void large_boxes_pass_through_small_chunks(void **state)
{
    for (int i = 0; i < LENGTH(large); i++)
        for (int k = 0; k < LENGTH(gpu); k++) {
            if (k != i % 2 && !getenv("EK_LONG"))
                continue;
            struct pair p = pair_of(gpu[k], 0, gpu[k], 1, LARGE_BYTES);
            move_rows(p.want, p.bytes, &large[i]);
            assert_int_equal(backend_write(p.b[1], BACKEND_COPY, p.m[1], p.bytes, &large[i]),
                             EK_OK);
            assert_int_equal(backend_wait(p.b[1], BACKEND_COPY), EK_OK);
            check_pair(&p);

            memset(p.want, 0, p.size);
            memset(p.got, 0, p.size);
            move_rows(p.want, p.bytes, &large[i]);
            assert_int_equal(backend_read(p.b[0], BACKEND_COPY, p.got, p.m[0], &large[i]), EK_OK);
            assert_int_equal(backend_wait(p.b[0], BACKEND_COPY), EK_OK);
            assert_memory_equal(p.got, p.want, p.size);
            close_pair(&p);
        }
}

/* A pool that runs parts in any order and counts its calls. */
static void run_backwards(void *pool, int width, void (*part)(void *arg, int thread), void *arg)
{
    ++*(int *)pool;
    for (int t = width; t-- > 0;)
        part(arg, t);
}

/* The same boxes packed by a pool with more threads than rows or slices, and with fewer; not on
 * BACKEND_COPY, which other threads may use. */
static void a_pool_packs_and_unpacks(void **state)
{
    for (int width = 2; width <= 7; width += 5)
        for (int i = 0; i < LENGTH(large); i++) {
            int calls = 0, before;
            const struct backend_pool pool = {run_backwards, &calls, width};
            struct pair p = pair_of("cuda", 0, "cuda", 1, LARGE_BYTES);
            move_rows(p.want, p.bytes, &large[i]);
            backend_use_pool(p.b[1], &pool);
            backend_use_pool(p.b[0], &pool);
            assert_int_equal(backend_write(p.b[1], BACKEND_FEED, p.m[1], p.bytes, &large[i]),
                             EK_OK);
            assert_int_equal(backend_wait(p.b[1], BACKEND_FEED), EK_OK);
            assert_true(calls >= 5);
            before = calls;
            const struct backend_rect all = backend_linear(0, 0, p.size);
            assert_int_equal(backend_read(p.b[1], BACKEND_COPY, p.got, p.m[1], &all), EK_OK);
            assert_int_equal(backend_wait(p.b[1], BACKEND_COPY), EK_OK);
            assert_memory_equal(p.got, p.want, p.size);
            assert_int_equal(calls, before);
            memset(p.want, 0, p.size);
            memset(p.got, 0, p.size);
            move_rows(p.want, p.bytes, &large[i]);
            assert_int_equal(backend_read(p.b[0], BACKEND_COMPUTE, p.got, p.m[0], &large[i]),
                             EK_OK);
            assert_int_equal(backend_wait(p.b[0], BACKEND_COMPUTE), EK_OK);
            assert_true(calls >= before + 5);
            assert_memory_equal(p.got, p.want, p.size);
            before = calls;
            backend_use_pool(p.b[0], NULL);
            assert_int_equal(backend_read(p.b[0], BACKEND_COMPUTE, p.got, p.m[0], &large[i]),
                             EK_OK);
            assert_int_equal(backend_wait(p.b[0], BACKEND_COMPUTE), EK_OK);
            assert_int_equal(calls, before);
            close_pair(&p);
        }
}

/* Alternating reads and writes, more than there are chunks, before waiting; of two reads to one
 * place, the later one counts. */
static void chunks_are_used_again_in_order(void **state)
{
    enum { TURNS = 40, BYTES = 1000 };
    struct backend *b = open_device("cuda", 0);
    struct backend_mem *m = alloc_on(b, BYTES);
    static unsigned char out[TURNS][BYTES], in[TURNS][BYTES], last[BYTES];
    const struct backend_rect all = backend_linear(0, 0, BYTES);
    for (int t = 0; t < TURNS; t++) {
        memset(out[t], t + 1, BYTES);
        assert_int_equal(backend_write(b, BACKEND_COPY, m, out[t], &all), EK_OK);
        assert_int_equal(backend_read(b, BACKEND_COPY, in[t], m, &all), EK_OK);
    }
    for (int t = 0; t < 2; t++) {
        assert_int_equal(backend_write(b, BACKEND_COPY, m, out[t], &all), EK_OK);
        assert_int_equal(backend_read(b, BACKEND_COPY, last, m, &all), EK_OK);
    }
    assert_int_equal(backend_wait(b, BACKEND_COPY), EK_OK);
    assert_memory_equal(in, out, sizeof in);
    assert_memory_equal(last, out[1], BYTES);
    backend_free(b, m);
    backend_close(b);
}

/* A chunk pins more memory as soon as, and only if, more passes it. */
static size_t pinned;
static int (*really_pin)(void **byte, size_t bytes, unsigned flags);
static int count_pinned(void **byte, size_t bytes, unsigned flags)
{
    pinned += bytes;
    return really_pin(byte, bytes, flags);
}

static void small_copies_pin_little(void **state)
{
    enum { TURNS = 40, LARGE = 1 << 20 };
    static unsigned char out[LARGE], in[LARGE];
    struct backend *b = open_device("cuda", 0);
    struct gpu_state *d = b->dev;
    const struct gpu_driver *const driver = d->driver;
    struct gpu_driver counting = *driver;
    struct backend_mem *m = alloc_on(b, LARGE);
    size_t small = 0;
    pinned = 0;
    really_pin = driver->pinned_alloc;
    counting.pinned_alloc = count_pinned;
    d->driver = &counting;
    for (size_t bytes = 1000; bytes <= LARGE; bytes = bytes < LARGE ? LARGE : LARGE + 1) {
        for (int t = 0; t < TURNS; t++) {
            const struct backend_rect part = backend_linear(0, 0, bytes);
            memset(out, t + 1, bytes);
            memset(in, 0, bytes);
            assert_int_equal(backend_write(b, BACKEND_COPY, m, out, &part), EK_OK);
            assert_int_equal(backend_read(b, BACKEND_COPY, in, m, &part), EK_OK);
            assert_int_equal(backend_wait(b, BACKEND_COPY), EK_OK);
            assert_memory_equal(in, out, bytes);
        }
        small = small ? small : pinned;
    }
    assert_true(small > 0 && small < LARGE && pinned > LARGE);
    d->driver = driver;
    backend_free(b, m);
    backend_close(b);
}

static void copies_do_without_pinned_memory(void **state)
{
    setenv("FAKEGPU_FAULT", "pinned:1,pinned:2,pinned:3", 1);
    large_boxes_pass_through_small_chunks(state);
    unsetenv("FAKEGPU_FAULT");
}

#ifndef __SANITIZE_ADDRESS__ /* it ends the process where memory is short */
static int nothing_pinned(void **byte, size_t bytes, unsigned flags)
{
    (void)byte, (void)bytes, (void)flags;
    return GPU_OUT_OF_MEMORY;
}

/* Leaves the process no more memory than it has. */
static struct rlimit no_more_memory(void)
{
    unsigned long pages = 0;
    struct rlimit old;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    const struct rlimit none = {(rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE), old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    return old;
}

/* The fakes report what a failed attempt leaves behind when the device is closed. */
static void copies_without_any_memory_can_be_tried_again(void **state)
{
    struct backend *b = open_device("cuda", 2);
    struct gpu_state *d = b->dev;
    struct gpu_driver poor = *d->driver;
    static const int out[1 << 18] = {7};
    static int in[1 << 18];
    struct backend_mem *m = alloc_on(b, sizeof out);
    poor.pinned_alloc = nothing_pinned;
    d->driver = &poor;
    mallopt(M_MMAP_THRESHOLD, 1 << 20); /* no chunk fits into what was freed before */
    const struct rlimit old = no_more_memory();
    for (int try = 0; try < 2; try++)
        ASSERT_FAILS(EK_UNAVAILABLE, backend_send(b, BACKEND_COMPUTE, m, out, sizeof out),
                     "out of host memory for copies");
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    put(b, m, out, sizeof out);
    get(b, in, m, sizeof in);
    assert_memory_equal(in, out, sizeof in);
    backend_free(b, m);
    backend_close(b);
}
#endif

/* Rows beyond the driver's pitch limit are copied one by one. */
static void rows_far_apart_are_copied(void **state)
{
    const struct backend_rect far = {.width = 24,
                                     .rows = 30,
                                     .slices = 5,
                                     .dst_offset = 16,
                                     .dst_row = 200,
                                     .dst_slice = 6000,
                                     .src_row = 120,
                                     .src_slice = 4800};
    setenv("FAKEGPU_PITCH", "100", 1);
    for (int k = 0; k < LENGTH(gpu); k++) {
        struct pair p = pair_of(gpu[k], 0, gpu[k], 1, 60000);
        struct backend_mem *within = alloc_on(p.b[1], p.size);
        put(p.b[1], within, p.bytes, p.size);
        move_rows(p.want, p.bytes, &far);
        assert_int_equal(backend_within(p.b[1], BACKEND_COMPUTE, p.m[1], within, &far), EK_OK);
        assert_int_equal(backend_wait(p.b[1], BACKEND_COMPUTE), EK_OK);
        check_pair(&p);
        memset(p.got, 0, p.size);
        assert_int_equal(backend_read(p.b[1], BACKEND_FEED, p.got, within, &far), EK_OK);
        assert_int_equal(backend_wait(p.b[1], BACKEND_FEED), EK_OK);
        assert_memory_equal(p.got, p.want, p.size);
        backend_free(p.b[1], within);
        close_pair(&p);
    }
    unsetenv("FAKEGPU_PITCH");
}

static void devices_of_all_kinds_copy_to_one_another(void **state)
{
    static const struct {
        const char *from;
        int i;
        const char *to;
        int j;
    } ways[] = {{"cuda", 0, "cuda", 1}, {"cuda", 1, "hip", 0},  {"hip", 0, "hip", 1},
                {"hip", 1, "cuda", 0},  {"cuda", 0, "host", 0}, {"host", 1, "hip", 0},
                {"host", 0, "host", 1}, {"cuda", 0, "cuda", 0}};
    const struct backend_rect boxes[] = {backend_linear(100, 31, 50000),
                                         {.width = 40,
                                          .rows = 20,
                                          .slices = 10,
                                          .dst_offset = 8,
                                          .dst_row = 50,
                                          .dst_slice = 1500,
                                          .src_row = 44,
                                          .src_slice = 2000},
                                         backend_linear(0, 0, 0)};
    for (int w = 0; w < LENGTH(ways); w++)
        for (int i = 0; i < LENGTH(boxes); i++) {
            struct pair p = pair_of(ways[w].from, ways[w].i, ways[w].to, ways[w].j, 60000);
            if (boxes[i].width)
                move_rows(p.want, p.bytes, &boxes[i]);
            assert_int_equal(backend_copy(p.b[1], p.m[1], p.b[0], p.m[0], &boxes[i]), EK_OK);
            check_pair(&p);
            close_pair(&p);
        }
}

/* Peer access is enabled at the first copy, not before each. */
static void ways_between_devices_are_opened_once(void **state)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*calls)(void) = (int (*)(void))dlsym(library, "fakegpu_peer_calls");
    const struct backend_rect some = backend_linear(0, 0, 100);
    struct pair p = pair_of("cuda", 0, "cuda", 1, 100);
    const int before = calls();
    for (int i = 0; i < 5; i++)
        assert_int_equal(backend_copy(p.b[1], p.m[1], p.b[0], p.m[0], &some), EK_OK);
    assert_int_equal(calls(), before + 1);
    struct backend *third = open_device("cuda", 2);
    struct backend_mem *m = alloc_on(third, 100);
    put(third, m, p.bytes, 100);
    assert_int_equal(backend_copy(p.b[1], p.m[1], third, m, &some), EK_OK);
    assert_int_equal(calls(), before + 2);
    backend_free(third, m);
    backend_close(third);
    close_pair(&p);
    dlclose(library);
}

static void boxes_that_do_not_fit_between_devices_are_refused(void **state)
{
    const struct backend_rect beyond = backend_linear(1, 0, 1000);
    static const char *const to[] = {"cuda", "hip"};
    for (int i = 0; i < LENGTH(to); i++) {
        struct pair p = pair_of("cuda", 0, to[i], 1, 1000);
        ASSERT_FAILS(EK_USAGE, backend_copy(p.b[1], p.m[1], p.b[0], p.m[0], &beyond),
                     p.b[1]->label);
        ASSERT_FAILS(EK_USAGE, backend_copy(p.b[1], p.m[0], p.b[0], p.m[1], &beyond), "buffer");
        check_pair(&p);
        close_pair(&p);
    }
}

static int fake_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_do_without_pinned_memory),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(copies_without_any_memory_can_be_tried_again),
#endif
        cmocka_unit_test(large_boxes_pass_through_small_chunks),
        cmocka_unit_test(a_pool_packs_and_unpacks),
        cmocka_unit_test(chunks_are_used_again_in_order),
        cmocka_unit_test(small_copies_pin_little),
        cmocka_unit_test(rows_far_apart_are_copied),
        cmocka_unit_test(ways_between_devices_are_opened_once),
        cmocka_unit_test(devices_of_all_kinds_copy_to_one_another),
        cmocka_unit_test(boxes_that_do_not_fit_between_devices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    setenv("FAKEGPU_DEVICES", "3", 1);
    return fakes() ? in_process(NULL, fake_tests) : with_fakes_only("fakegpu");
}
