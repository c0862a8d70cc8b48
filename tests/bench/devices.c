/* tests/bench/devices.c – each device's best figures, to compare results with: bytes/s of a copy on
 * the device (reads plus writes), of the kernel a = b + s*c, from and to the host's plain memory by
 * one thread and with the help of FEEDERS threads (8, at most one for each cpu), between two
 * devices of a back end; seconds of an empty launch and of waiting for it. Arguments: devices such
 * as cuda:0; default: all that `auto` would use. Prints a Markdown table. MEGABYTES (256) is the
 * size of buffers. */
#include "backends/backend.h"
#include "src/clock.h"
#include "src/embed.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 32, ROUNDS = 7, GROUP = 256 };

static const struct backend_kernel kernels[] = {{"devices_empty", {GROUP, 1, 1}},
                                                {"devices_triad", {GROUP, 1, 1}}};
static const char text[] =
    "#line 1 \"tests/bench/devices.c\"\n"
    "KERNEL(devices_empty, 256, 1, 1)(GLOBAL double *a, int n)\n{\n"
    "    if (GID(0) >= n)\n        a[0] = 0.0;\n}\n"
    "KERNEL(devices_triad, 256, 1, 1)\n"
    "(GLOBAL double *a, GLOBAL const double *b, GLOBAL const double *c, double s, int n)\n{\n"
    "    int i = GID(0);\n    if (i < n)\n        a[i] = b[i] + s * c[i];\n}\n";

/* The device under test; the buffers have `bytes` each. */
struct bench {
    struct backend *b;
    struct backend_program *program;
    struct backend_mem *mem[3];
    unsigned char *host;
    size_t bytes;
};

static enum ek_status copy(struct bench *x, int times)
{
    const struct backend_rect all = backend_linear(0, 0, x->bytes);
    for (int i = 0; i < times; i++)
        TRY(backend_within(x->b, BACKEND_COMPUTE, x->mem[0], x->mem[1], &all));
    return EK_OK;
}

static enum ek_status write(struct bench *x, int times)
{
    const struct backend_rect all = backend_linear(0, 0, x->bytes);
    for (int i = 0; i < times; i++)
        TRY(backend_write(x->b, BACKEND_COMPUTE, x->mem[0], x->host, &all));
    return EK_OK;
}

static enum ek_status read(struct bench *x, int times)
{
    const struct backend_rect all = backend_linear(0, 0, x->bytes);
    for (int i = 0; i < times; i++)
        TRY(backend_read(x->b, BACKEND_COMPUTE, x->host, x->mem[0], &all));
    return EK_OK;
}

/* Copies with the help of several threads, as on a unit that several threads feed. */
static void run_team(void *threads, int width, void (*part)(void *arg, int thread), void *arg)
{
    (void)threads;
#pragma omp parallel for num_threads(width) schedule(static, 1)
    for (int t = 0; t < width; t++)
        part(arg, t);
}

static int feeders(void)
{
    const char *given = getenv("FEEDERS");
    const int most = omp_get_num_procs(), wanted = given ? atoi(given) : 8;
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

static enum ek_status helped(struct bench *x, int times,
                             enum ek_status (*copies)(struct bench *, int))
{
    const struct backend_pool pool = {.run = run_team, .width = feeders()};
    backend_use_pool(x->b, &pool);
    enum ek_status st = copies(x, times);
    THEN(st, backend_wait(x->b, BACKEND_COMPUTE));
    backend_use_pool(x->b, NULL);
    return st;
}

static enum ek_status write_helped(struct bench *x, int times)
{
    return helped(x, times, write);
}

static enum ek_status read_helped(struct bench *x, int times)
{
    return helped(x, times, read);
}

static enum ek_status triad(struct bench *x, int times)
{
    const int n = (int)(x->bytes / sizeof(double));
    const long global[3] = {n, 1, 1};
    const struct backend_arg args[] = {backend_arg_mem(x->mem[0]), backend_arg_mem(x->mem[1]),
                                       backend_arg_mem(x->mem[2]), backend_arg_double(3),
                                       backend_arg_int(n)};
    for (int i = 0; i < times; i++)
        TRY(backend_launch(x->b, BACKEND_COMPUTE, x->program, 1, global, 5, args));
    return EK_OK;
}

static enum ek_status empty(struct bench *x, int times)
{
    const long global[3] = {1, 1, 1};
    const struct backend_arg args[] = {backend_arg_mem(x->mem[0]), backend_arg_int(1)};
    for (int i = 0; i < times; i++)
        TRY(backend_launch(x->b, BACKEND_COMPUTE, x->program, 0, global, 2, args));
    return EK_OK;
}

static enum ek_status empty_and_wait(struct bench *x, int times)
{
    for (int i = 0; i < times; i++) {
        TRY(empty(x, 1));
        TRY(backend_wait(x->b, BACKEND_COMPUTE));
    }
    return EK_OK;
}

/* Seconds for one of `times` calls, the best of several rounds. */
static enum ek_status best(struct bench *x, enum ek_status (*what)(struct bench *, int), int times,
                           double *seconds)
{
    *seconds = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double start = clock_now();
        TRY(what(x, times));
        TRY(backend_wait(x->b, BACKEND_COMPUTE));
        const double sec = (clock_now() - start) / times;
        if (round && (*seconds == 0 || sec < *seconds)) /* the first round warms up */
            *seconds = sec;
    }
    return EK_OK;
}

static enum ek_status prepare(struct bench *x, size_t wanted)
{
    const size_t most = x->b->info.memory / 8;
    x->bytes = wanted < most ? wanted : most;
    x->host = malloc(x->bytes);
    if (!x->host)
        FAIL(EK_UNAVAILABLE, "devices: out of memory");
    memset(x->host, 1, x->bytes); /* else all of it is one page of zeros, in cache */
    for (int i = 0; i < 3; i++)
        TRY(backend_alloc(x->b, x->bytes, &x->mem[i]));
    for (int i = 0; i < 3; i++) {
        const struct backend_rect all = backend_linear(0, 0, x->bytes);
        TRY(backend_write(x->b, BACKEND_COMPUTE, x->mem[i], x->host, &all));
    }
    char *head = embed_join(NULL, 0), *joined = NULL;
    if (!head || asprintf(&joined, "%s%s", head, text) < 0)
        FAIL(EK_UNAVAILABLE, "devices: out of memory");
    enum ek_status st = backend_build(x->b, joined, "", kernels, 2, &x->program);
    free(head);
    free(joined);
    return st;
}

static enum ek_status measure(struct bench *x)
{
    const struct {
        enum ek_status (*what)(struct bench *, int times);
        int times;
        double unit; /* unit of the number in the table, per second or second */
        bool rate;
    } table[] = {{copy, 5, 2e-9 * (double)x->bytes, true},
                 {triad, 5, 3e-9 * (double)x->bytes, true},
                 {write, 1, 1e-9 * (double)x->bytes, true},
                 {read, 1, 1e-9 * (double)x->bytes, true},
                 {write_helped, 1, 1e-9 * (double)x->bytes, true},
                 {read_helped, 1, 1e-9 * (double)x->bytes, true},
                 {empty, 200, 1e6, false},
                 {empty_and_wait, 50, 1e6, false}};
    printf("| %s | %s %s |", x->b->label, x->b->info.name, x->b->info.arch);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double seconds;
        TRY(best(x, table[i].what, table[i].times, &seconds));
        printf(" %.1f |", table[i].rate ? table[i].unit / seconds : table[i].unit * seconds);
    }
    putchar('\n');
    fflush(stdout);
    return EK_OK;
}

static void release(struct bench *x)
{
    for (int i = 0; i < 3; i++)
        backend_free(x->b, x->mem[i]);
    backend_unbuild(x->b, x->program);
    backend_close(x->b);
    free(x->host);
}

static enum ek_status one(struct backend_device d, size_t bytes)
{
    struct bench x = {0};
    TRY(backend_open(d, &x.b));
    enum ek_status st = prepare(&x, bytes);
    if (!st)
        st = measure(&x);
    release(&x);
    return st;
}

/* Between two devices, directly and through the host. */
static enum ek_status between(const struct backend_device d[2], size_t bytes)
{
    struct backend *b[2] = {NULL, NULL};
    struct backend_mem *m[2] = {NULL, NULL};
    const struct backend_rect all = backend_linear(0, 0, bytes);
    double least = 0;
    enum ek_status st = EK_OK;
    for (int i = 0; !st && i < 2; i++) {
        st = backend_open(d[i], &b[i]);
        if (!st)
            st = backend_alloc(b[i], bytes, &m[i]);
    }
    for (int round = 0; !st && round < ROUNDS; round++) {
        const double start = clock_now();
        st = backend_copy(b[1], m[1], b[0], m[0], &all);
        const double sec = clock_now() - start;
        if (round && (least == 0 || sec < least))
            least = sec;
    }
    if (!st)
        printf("| %s to %s | %.1f GB/s |\n", b[0]->label, b[1]->label,
               1e-9 * (double)bytes / least);
    for (int i = 0; i < 2; i++) {
        if (b[i])
            backend_free(b[i], m[i]);
        backend_close(b[i]);
    }
    return st;
}

int main(int argc, char **argv)
{
    struct backend_device d[MAX];
    char list[1024] = "auto";
    const char *mb = getenv("MEGABYTES");
    const size_t bytes = (size_t)(mb ? atol(mb) : 256) << 20;
    int n;
    status_program("devices");
    for (int i = 1; i < argc; i++)
        snprintf(list + (i > 1 ? strlen(list) : 0), sizeof list - (i > 1 ? strlen(list) : 0),
                 "%s%s", i > 1 ? "," : "", argv[i]);
    enum ek_status st = backend_parse(list, -1, d, MAX, &n);
    printf("| device | | copy, GB/s | triad, GB/s | from host, GB/s | to host, GB/s | from host, "
           "%d threads | to host, %d threads | launch, µs | launch and wait, µs |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n",
           feeders(), feeders());
    for (int i = 0; !st && i < n; i++)
        st = one(d[i], bytes);
    if (!st && n > 1)
        puts("\n| from device to device | |\n|---|---|");
    for (int i = 0; !st && i < n && n > 1; i++)
        st = between((struct backend_device[]){d[i], d[(i + 1) % n]}, bytes / 8);
    return status_exit_code(st);
}
