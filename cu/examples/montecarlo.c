/* cu/examples/montecarlo.c – pi from points in a square: batches of unlike sizes, the same random
 * numbers whoever draws them, and a main() that goes on after the run. */
#include <evenkeel.h>
#include <evenkeel/src/kernel.h>
#include <math.h>

enum { BATCHES = 200 };

static long hits[BATCHES], points[BATCHES];

EK_KERNELS(text,
/* Steele, Lea & Flood 2014: a number of its own for every point. */
FN double uniform(long number) {
    unsigned long z = (unsigned long)number * 0x9e3779b97f4a7c15ul + 0x9e3779b97f4a7c15ul;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

FN long count(long first, long n) {
    long in = 0;
    for (long i = first; i < first + n; i++) {
        const double x = uniform(2 * i);
        const double y = uniform(2 * i + 1);
        in += x * x + y * y < 1.0;
    }
    return in;
}

/* 64 work-items share a batch. */
KERNEL(batch, 64, 1, 1)(GLOBAL long *out, long first, long n) {
    out[GID(0)] = count(first + n * GID(0) / 64, n * (GID(0) + 1) / 64 - n * GID(0) / 64);
})

static long first_of(size_t batch)
{
    long sum = 0;
    for (size_t b = 0; b < batch; b++)
        sum += points[b];
    return sum;
}

static enum ek_status on_core(void *context, const struct ek_unit *unit, size_t b)
{
    (void)context, (void)unit;
    hits[b] = count(first_of(b), points[b]);
    return EK_OK;
}

static enum ek_status on_device(void *context, const struct ek_unit *unit, struct ek_range r)
{
    long part[64];
    (void)context;
    for (size_t b = r.begin; b < r.end; b++) {
        EK_TRY(EK_LAUNCH(unit, "batch", 64, ek_buffer(unit, 0), backend_arg_long(first_of(b)),
                         backend_arg_long(points[b])));
        EK_TRY(ek_read(unit, 0, 0, part, sizeof part));
        hits[b] = 0;
        for (int i = 0; i < 64; i++)
            hits[b] += part[i];
    }
    return EK_OK;
}

/* Within five standard deviations. */
static bool right(void *context)
{
    double in = 0, all = (double)first_of(BATCHES);
    for (int b = 0; b < BATCHES; b++)
        in += (double)hits[b];
    *(double *)context = 4 * in / all;
    return fabs(4 * in / all - acos(-1.)) < 5 * 1.65 / sqrt(all);
}

int main(int argc, char **argv)
{
    double cost[BATCHES], pi = 0;
    const struct embed_host_kernel host[] = {{"batch", (void (*)(void))batch}, {0}};
    const size_t buffers[] = {64 * sizeof(long), 0};
    const struct ek_tasks job = {.name = "montecarlo", .n = BATCHES, .cost = cost, .context = &pi,
                                 .cpu = on_core, .device = on_device, .kernels = text,
                                 .host = host, .buffers = buffers, .right = right};
    struct ek_summary summary;
    for (int b = 0; b < BATCHES; b++)
        cost[b] = (double)(points[b] = 20000 * (1 + b % 7));
    (void)argc;
    const enum ek_status st = ek_run(&job, argv, &summary);
    ek_print(stdout, &summary);
    if (summary.seconds > 0)
        printf("pi is %.4f, by %s in %.3f s\n", pi, summary.schedule, summary.seconds);
    ek_free(&summary);
    return status_exit_code(st);
}
